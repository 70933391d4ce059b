"""Channels between the units of a row: entries in order, flow control by credits, and hazards it does not prevent.

Rows of the grid in step share one `Rows` of counters; rows that part ways part theirs. A producer that finds no credit,
and a consumer that finds no entry, is suspended at its instruction and tries again when something has been given.

Beside the credits a channel remembers what they guarantee: how many entries had been released when each was given.
So a push that overwrites an entry that may not have been read is found whatever the order in which this run happens
to execute the units. Nothing here moves data.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from ...diagnostics.errors import LoomError
from ..places import Unit
from ..reports.channel_remedies import Counts, remedy
from .channel_findings import by_lane, report_imbalance, report_overwrite
from .channel_rows import Place, Rows, Waiter, runs
from .units import Rectangle, UnitSet, from_mask, intersect, rectangle
from .waits import Wait
from .warp import SUSPENDED, Warp, diverge

if TYPE_CHECKING:
    from .machine import WarpMachine
    from .unit_class import UnitClass


class Channel:
    """A channel of every row of the grid."""

    def __init__(
        self,
        machine: WarpMachine,
        name: str,
        producer: UnitClass,
        consumer: UnitClass,
        *,
        depth: int,
        period: int,
        lanes: int,
        seed: int,
        where: str | None,
    ):
        self.machine = machine
        self.name = name
        self.producer = producer
        self.consumer = consumer
        self.depth = depth
        self.period = period
        self.lanes = lanes
        self.seed = seed
        self.where = where
        self.many_produce = producer.shape[1] > 1
        self.many_consume = consumer.shape[1] > 1
        for cls, many in ((producer, self.many_produce), (consumer, self.many_consume)):
            if many and cls.shape[1] < lanes:
                raise LoomError(
                    f"channel @{name} has {lanes} lanes, but units @{cls.name} have only {cls.shape[1]}", where
                )
        if lanes > 1 and not (self.many_produce or self.many_consume):
            raise LoomError(f"channel @{name} has {lanes} lanes, but one unit on each side", where)
        self.leaves_out = any(
            many and cls.shape[1] > lanes
            for cls, many in ((producer, self.many_produce), (consumer, self.many_consume))
        )
        """True if a class on one of its sides has units that take no part."""
        self.groups: list[Rows] = []
        for block in producer.blocks:
            if isinstance(block, Rectangle):
                self.groups.append(self._fresh(block.rows))
        self.producing: dict[UnitSet, Place] = {}
        self.consuming: dict[UnitSet, Place] = {}
        """The place of units of each side; units of both have the same coordinates, each in their class."""
        self.drained = False
        """True if producers take back the credits at the end: flags then outlive a launch."""

    def _fresh(self, rows: range) -> Rows:
        producers = self.lanes if self.many_produce else 1
        consumers = self.lanes if self.many_consume else 1
        return Rows(rows, producers, consumers, self.lanes, self.seed)

    # Places of units

    def place(self, warp: Warp, *, producing: bool) -> Place | None:
        """Return the place of the units of a warp; None if they are not all at one place."""
        units = warp.units
        known = self.producing if producing else self.consuming
        found = known.get(units)
        if found is None:
            found = self._place(warp, producing=producing)
            if found is not None:
                known[units] = found
        return found

    def _place(self, warp: Warp, *, producing: bool) -> Place | None:
        units = warp.units
        if type(units) is not Rectangle:
            return None
        many = self.many_produce if producing else self.many_consume
        members = range(units.columns.start, units.columns[-1] + 1) if many else range(1)
        if many and (members.stop > self.lanes or units.columns.step != 1):
            raise LoomError(
                f"a unit of @{warp.cls.name} beyond lane {self.lanes - 1} takes part in channel @{self.name}, which "
                f"has {self.lanes}; let only the first do so",
                self.where,
            )
        for group in self.groups:
            if group.rows == units.rows:
                return Place(group, members, members if many else range(self.lanes))
        covered = [group for group in self.groups if set(group.rows) & set(units.rows)]
        if len(covered) == 1:
            self._split(covered[0], units.rows)
            return self._place(warp, producing=producing)
        return None

    def _split(self, group: Rows, rows: range) -> None:
        """Split rows off a group that diverge from it."""
        rest = [row for row in group.rows if row not in rows]
        self.groups.remove(group)
        group.left = True
        parts = [group.part(rows), *(group.part(run) for run in runs(rest))]
        self.groups += parts
        self.producing.clear()
        self.consuming.clear()
        for waiter in group.waiters:
            for part in parts:
                common = intersect(waiter.warp.units, rectangle(part.rows, waiter.warp.units.columns))  # type: ignore[union-attr]
                if common is not None:
                    warp = waiter.warp if common is waiter.warp.units else waiter.warp.part(common)
                    warp.stop = -1
                    part.waiters.append(Waiter(warp, waiter.action, waiter.members, waiter.where))

    def taking_part(self, units: UnitSet, *, producing: bool) -> UnitSet | None:
        """Return those of some units of one side that take part in its entries."""
        if not (self.many_produce if producing else self.many_consume):
            return units
        rows, _ = (self.producer if producing else self.consumer).shape
        return intersect(units, rectangle(range(rows), range(self.lanes)))

    def within(self, rows: range) -> list[Rows]:
        """Return the state of the channel on some rows, split from that of others."""
        for group in list(self.groups):
            if group.rows == rows:
                return [group]
            common = [row for row in group.rows if row in rows]
            if 0 < len(common) < len(group.rows):
                for run in runs(common):
                    self._split(next(part for part in self.groups if run.start in part.rows), run)
        return [group for group in self.groups if group.rows[0] in rows]

    def uneven(self, warp: Warp, *, producing: bool) -> bool:
        """Return True if the units of a warp, all at one place, are at different entries or cannot all go on."""
        place = (self.producing if producing else self.consuming)[warp.units]
        group, members = place.rows, place.members
        if len(members) < 2:
            return False
        counts = group.acquired if producing else group.waited
        there = group.credits if producing else group.ready
        return len({counts[m] for m in members}) > 1 or len({there[lane] > 0 for lane in place.lanes}) > 1

    def apart(self, warp: Warp, here: int, *, producing: bool) -> int:
        """Run an instruction for the units of a warp place by place."""
        units = warp.units
        ways: list[tuple[int, UnitSet]] = []
        if type(units) is Rectangle:
            many = self.many_produce if producing else self.many_consume
            groups = [group for group in self.groups if set(group.rows) & set(units.rows)]
            if len(groups) > 1 or (len(groups) == 1 and groups[0].rows != units.rows):
                for group in groups:
                    part = intersect(units, rectangle(group.rows, units.columns))
                    if part is not None:
                        ways.append((here, part))
            elif many and len(units.columns) > 1:
                ways = [(here, rectangle(units.rows, range(c, c + 1))) for c in units.columns]
        if not ways:
            rows, columns = units.cells()
            for row in sorted(set(rows.ravel().tolist())):
                for column in sorted(set(columns[rows == row].tolist())):
                    ways += [(here, part) for part in from_mask(units, (rows == row) & (columns == column))]
        return diverge(warp, ways, here + 1, None)

    # What units do

    def acquire(self, warp: Warp, where: str | None) -> int | None:
        """Return the number of the producer's next entry; None if the units have to part or to wait."""
        place = self.producing.get(warp.units) or self.place(warp, producing=True)
        if place is None:
            return None
        group, members, lanes = place
        acquired = group.acquired
        number = acquired[members.start]
        if len(members) > 1 and any(acquired[member] != number for member in members):
            return None
        depth = self.depth
        if number >= depth:
            if number % self.period == 0:
                credits = group.credits
                for lane in lanes:
                    if credits[lane] < 1:
                        return None
                for lane in lanes:
                    self.take(group, lane)
            self.check_slot(group, lanes, number, where)
        for member in members:
            acquired[member] = number + 1
        return number

    def take(self, group: Rows, lane: int) -> None:
        """Take a credit of a lane, and what it guarantees."""
        group.credits[lane] -= 1
        group.consumed[lane] += 1
        granted = group.granted[lane]
        if granted:
            safe = granted.popleft()
            if safe > group.safe[lane]:
                group.safe[lane] = safe

    @cached_property
    def answered(self) -> list[Channel]:
        """Return the channels in the other direction whose credits alone do not protect their entries.

        Consumers of this channel are producers there, so an entry here proves what its sender had released there."""
        return [
            other
            for other in self.machine.channels.values()
            if (other.seed or other.depth % other.period)
            and other.producer is self.consumer
            and other.consumer is self.producer
        ]

    def record_answers(self, group: Rows, lanes: range) -> None:
        """Record with an entry what its sender has released on the channels it answers."""
        answers: list[list[int]] = []
        for other in self.answered:
            there = [rows.released for rows in other.groups if any(row in group.rows for row in rows.rows)]
            answers.append([min(counts) for counts in zip(*there, strict=True)])
        for lane in lanes:
            group.answers[lane].append(answers)

    def apply_answers(self, group: Rows, lanes: range) -> None:
        """Apply what an entry proves to have been released."""
        for lane in lanes:
            if not group.answers[lane]:
                continue
            for other, released in zip(self.answered, group.answers[lane].popleft(), strict=True):
                if lane >= other.lanes:
                    continue
                count = released[lane if other.many_consume else 0]
                for rows in other.within(group.rows):
                    rows.safe[lane] = max(rows.safe[lane], count)

    def check_slot(self, group: Rows, lanes: range, number: int, where: str | None) -> None:
        """Report an entry whose slot is reused before it is released, or is not sure to be."""
        old = number - self.depth
        for lane in lanes:
            if group.safe[lane] > old:
                continue
            consumer = lane if self.many_consume else 0
            if group.released[consumer] > old:
                report_overwrite(self, "warning", group, lane, number, where)
            elif group.waited[consumer] > old:
                report_overwrite(self, "error", group, lane, number, where, "while its consumer still uses it")
            else:
                report_overwrite(self, "error", group, lane, number, where, "before its consumer has read it")

    def commit(self, warp: Warp, where: str | None) -> Rows | None:
        """Complete the producer's entry and return its rows; None if the units have to part."""
        place = self.producing.get(warp.units) or self.place(warp, producing=True)
        if place is None:
            return None
        group, members, lanes = place
        for member in members:
            if group.written[member] < group.committed[member]:
                self.machine.findings.add(
                    "error", "unwritten-slot", self.name, where,
                    f"entry {group.committed[member]} of channel @{self.name} is pushed, but nothing has been written "
                    "to its slot; store the data before the push",
                )  # fmt: skip
            group.committed[member] += 1
        ready = group.ready
        for lane in lanes:
            ready[lane] += 1
        if self.answered:
            self.record_answers(group, lanes)
        return group

    def wait(self, warp: Warp, where: str | None) -> int | None:
        """Return the number of the consumer's next entry; None if the units have to part or to wait."""
        place = self.consuming.get(warp.units) or self.place(warp, producing=False)
        if place is None:
            return None
        group, members, lanes = place
        waited = group.waited
        number = waited[members.start]
        if len(members) > 1 and any(waited[member] != number for member in members):
            return None
        ready = group.ready
        for lane in lanes:
            if ready[lane] < 1:
                return None
        for lane in lanes:
            ready[lane] -= 1
        if self.answered:
            self.apply_answers(group, lanes)
        if not self.complete(group, lanes, number):
            self.machine.findings.add(
                "error", "stale-entry", self.name, where,
                f"entry {number} of channel @{self.name} is popped before it is complete: a signal is left from an "
                "earlier launch; push and pop equally often in every launch",
            )  # fmt: skip
        for member in members:
            waited[member] = number + 1
        return number

    def complete(self, group: Rows, lanes: range, number: int) -> bool:
        """Return True if the producers of some lanes have committed an entry."""
        committed = group.committed
        if not self.many_produce:
            return committed[0] > number
        return all(committed[lane] > number for lane in lanes)

    def release(self, warp: Warp, where: str | None) -> Rows | None:
        """Release the consumer's entry and return its rows; None if the units have to part."""
        place = self.consuming.get(warp.units) or self.place(warp, producing=False)
        if place is None:
            return None
        group, members, lanes = place
        waited = group.waited
        if len(members) > 1 and any(waited[member] != waited[members.start] for member in members):
            return None
        self.give(group, members, lanes, where)
        return group

    def give(self, group: Rows, members: range, lanes: range, where: str | None) -> None:
        """Release an entry for some consumers, which have waited for equally many."""
        waited, released = group.waited[members.start], group.released
        for member in members:
            released[member] += 1
            if released[member] > waited:
                frees, pops = _counted(released[member], "free"), _counted(waited, "pop")
                self.machine.findings.add(
                    "error", "freed-twice", self.name, where,
                    f"channel @{self.name} has {frees} for {pops}; free each entry once, and on a5 do not free a "
                    "tile popped from global memory: the pop frees it (H6)",
                )  # fmt: skip
        if waited % self.period:
            return
        due = waited // self.period
        for lane in lanes:
            group.credits[lane] += 1
            group.issued[lane] += 1
            group.granted[lane].append(min(released[lane if self.many_consume else 0], waited))
            if group.issued[lane] > due:
                self.machine.findings.add(
                    "error", "early-credit", f"{self.name} {lane}", where,
                    f"channel @{self.name} has returned {group.issued[lane]} credits for {waited} pops, but one is due "
                    f"for every {self.period}: a free counts the entries popped, not freed, so frees that come "
                    "together return one credit each (H3, H6); free each entry before the next pop",
                )  # fmt: skip

    def still_to_come(self, group: Rows, lane: int, pushes: int) -> int:
        """Return the credits given for so many entries that no push has taken."""
        return self.seed if self.seed else pushes // self.period - group.consumed[lane]

    def drain(self, warp: Warp) -> bool | None:
        """Take the outstanding credits; return whether all were there, None if the units have to part."""
        place = self.producing.get(warp.units) or self.place(warp, producing=True)
        if place is None:
            return None
        group, members, lanes = place
        pushes = group.acquired[members.start]
        if len(members) > 1 and any(group.acquired[member] != pushes for member in members):
            return None
        wanted = {lane: self.still_to_come(group, lane, pushes) for lane in lanes}
        if any(group.credits[lane] < count for lane, count in wanted.items()):
            return False
        for lane, count in wanted.items():
            for _ in range(count):
                self.take(group, lane)
        return True

    # Waiting

    def suspend(self, warp: Warp, here: int, action: str, where: str | None, group: Rows, members: range) -> int:
        """Suspend the units of a warp, all at one place, at an instruction, which they try again."""
        warp.pc, warp.stop = here, -1
        self.machine.scheduler.suspend(warp)
        group.waiters.append(Waiter(warp, action, members, where))
        return SUSPENDED

    def let_others(self, warp: Warp, following: int) -> int:
        """Suspend the units of a warp until nobody else can go on."""
        warp.pc, warp.stop = following, -1
        self.machine.scheduler.suspend(warp)
        self.machine.scheduler.paused.append(warp)
        return SUSPENDED

    def wake(self, group: Rows) -> bool:
        """Resume the waiters that can go on; return whether there are any."""
        if not group.waiters:
            return False
        still: list[Waiter] = []
        woken = False
        for waiter in group.waiters:
            if self._can_go_on(group, waiter):
                self.machine.scheduler.resume(waiter.warp)
                woken = True
            else:
                still.append(waiter)
        group.waiters = still
        return woken

    def _can_go_on(self, group: Rows, waiter: Waiter) -> bool:
        pops = waiter.action == "wait"
        if self.lanes == 1 and waiter.action != "drain":
            return (group.ready if pops else group.credits)[0] > 0
        many = self.many_consume if pops else self.many_produce
        lanes = waiter.members if many else range(self.lanes)
        if pops:
            return (
                any(group.ready[lane] > 0 for lane in lanes) if many else all(group.ready[lane] > 0 for lane in lanes)
            )
        if waiter.action == "acquire":
            credits = [group.credits[lane] > 0 for lane in lanes]
            return any(credits) if many else all(credits)
        pushes = group.acquired[waiter.members.start]
        return all(group.credits[lane] >= self.still_to_come(group, lane, pushes) for lane in lanes)

    # Who waits here

    def waits(self) -> Iterator[Wait]:
        """Yield who waits for entries or credits that never come."""
        for group in self.groups:
            for waiter in group.waiters:
                warp = waiter.warp
                yield Wait(warp.cls, warp.units, self._lacks(group, waiter), waiter.where, self, warp.code.name)

    def _lacks(self, group: Rows, waiter: Waiter) -> str:
        """Return in words what units wait for."""
        member = waiter.members.start
        name, where = waiter.warp.code.name, f" ({waiter.where})" if waiter.where else ""
        pushed, popped, freed = (by_lane(counts) for counts in (group.committed, group.waited, group.released))
        state = f"{pushed} pushed, {popped} popped, {freed} freed"
        credits = f"{state}, a credit for every {self.period} freed"
        if lost := self._lost(group):
            credits += (
                f", of which {lost} {'was' if lost == 1 else 'were'} never returned: frees came after later pops (H3)"
            )
        match waiter.action:
            case "wait":
                entry = group.waited[member]
                late = [f"lane {lane}" for lane, count in enumerate(group.committed) if count <= entry]
                some = 0 < len(late) < len(group.committed)
                return (
                    f"@{name} waits to pop entry {entry} of channel @{self.name}, which "
                    f"{' and '.join(late) + ' has not' if some else 'nobody has'} pushed{where}: {state}"
                )
            case "acquire":
                return (
                    f"@{name} waits for a free slot to push entry {group.acquired[member]} to channel @{self.name} of "
                    f"{self.depth}{where}: {credits}"
                )
            case _:
                return f"@{name} waits at its end for the last credits of channel @{self.name}{where}: {credits}"

    def _lost(self, group: Rows) -> int:
        """Return the credits due for the entries released that have not been given."""
        released = [group.released[lane if self.many_consume else 0] for lane in range(self.lanes)]
        due = [count // self.period for count in released]
        return max(0, *(count - given for count, given in zip(due, group.issued, strict=True)))

    def pairs(self, wait: Wait) -> Iterator[tuple[Unit, Unit, str]]:
        """Yield each unit with those of its row on the other side that have not done their part, and the channel."""
        pops = wait.cls is self.consumer
        other = self.producer if pops else self.consumer
        rows, columns = wait.units.cells()
        for row, column in zip(rows.ravel().tolist(), columns.ravel().tolist(), strict=True):
            ready = next(group.ready for group in self.groups if row in group.rows)
            for across in other.units.columns if isinstance(other.units, Rectangle) else ():
                done = pops and self.many_produce and across < self.lanes and ready[across] > 0
                if not done:
                    yield wait.cls.grid_position(row, column), other.grid_position(row, across), self.name

    def remedy(self, *, held: bool) -> str:
        """Return what to do about units that wait for each other's entries or credits."""
        others = [
            other.counts()
            for other in self.machine.channels.values()
            if other is not self and (other.producer, other.consumer) == (self.producer, self.consumer)
        ]
        return remedy(self.counts(), others)

    def counts(self) -> Counts:
        """Return the progress of the channel, the least of its rows."""
        return Counts(
            self.name,
            self.depth,
            min(min(group.waited) for group in self.groups),
            min(min(group.released) for group in self.groups),
            any(self._lost(group) for group in self.groups),
        )

    # The end of a launch

    def finish(self) -> None:
        """Report what does not balance at the end of a launch, and reset for the next."""
        report_imbalance(self)
        for group in self.groups:
            group.renew(self.seed, keep=self.drained)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
