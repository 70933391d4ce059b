"""Routing of links: the routers that each goes through, by shortest paths and negotiated congestion.

Every lane of a link is routed by A*, with a small price for turns and a high one for PEs of blocks, whose programs do
not notice. Lanes that need the same value on the same PE, and PEs with more colors than there are, become more
expensive from round to round, and those lanes are routed again (PathFinder; McMurchie and Ebeling, 1995).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import pairwise
from typing import cast

import numpy as np

from .conflicts import ColorClass, Kind, Uses
from .disjoint_paths import DisjointPaths
from .netlist import EDGES, OPPOSITE, PE, STEPS, Block, Fabric, Hop, ImpossibleLayout, Lane, Link, Net, Port
from .placement import port_pes

HOP = 8
"""The price of a router on the way."""

TURN = 1
"""Extra, where a link turns."""

TURN_LATER = 1 / 4096
"""Extra for each PE between the source and a turn."""

OVER_BLOCK = 16 * HOP
"""Extra, for a router of a PE with a program."""

ALONE = 32 * HOP
"""Extra, for a router that is not beside the lane to follow."""

LONG_SEARCHES = (200, 2_000)
"""Steps of a search after which the other end is looked at too."""

MAX_SEARCH = 200_000
"""Lanes of a link times PEs around it up to which they are searched for all at once."""

MAX_ROUNDS = 60
"""Rounds of negotiation."""

MAX_STEPS = 3_000_000
"""Steps of all searches after which no further round begins: about ten seconds."""

MAX_ROUNDS_ALONE = 6
"""Rounds in which links are in nobody's way but their own."""

SHARED = 2 * HOP
"""Extra in the first round, for a PE that another lane needs too; it grows by half from round to round."""

MAX_SHARED = 512 * HOP

HISTORY = 2 * HOP
"""Extra in all later rounds, for a PE that was contested in one."""


DIRECTIONS = ("north", "east", "south", "west")
"""In the order in which two steps of one number and its number with bit 1 changed are opposite."""

UNREACHED = float("inf")

FREE, REACHED_ONLY, IN_BLOCK, OUTSIDE = range(4)
"""Kinds of PEs: with nothing on it, without a program but with a color in use, with a program, not on the fabric."""


class _Ground:
    """The fabric as a line of PEs, with a border that no lane crosses, so that a step is one number."""

    def __init__(self, fabric: Fabric, grid: np.ndarray, uses: Uses) -> None:
        self.row = fabric.width + 2
        kinds = np.full((fabric.height + 2, self.row), OUTSIDE, dtype=np.uint8)
        kinds[1:-1, 1:-1] = np.where(grid >= 0, IN_BLOCK, FREE)
        for x, y in uses.cells:
            if 0 <= x < fabric.width and 0 <= y < fabric.height and kinds[y + 1, x + 1] == FREE:
                kinds[y + 1, x + 1] = REACHED_ONLY
        self.kinds = kinds.tobytes()

    def index(self, pe: PE) -> int:
        """Return the number of a PE."""
        return (pe[1] + 1) * self.row + pe[0] + 1

    def pe(self, index: int) -> PE:
        """Return the PE of a number."""
        y, x = divmod(index, self.row)
        return x - 1, y - 1


@dataclass(eq=False)
class _Wire:
    """A lane to route."""

    link: Link
    lane: int
    source: PE
    target: PE
    leaves: tuple[str, ...]
    """Directions it may take out of the source."""
    enters: tuple[str, ...]
    """Directions it may take into the target."""
    color: ColorClass
    path: list[PE] = field(default_factory=list[PE])
    """PEs from the source to the target, both included."""

    @property
    def inner(self) -> list[PE]:
        return self.path[1:-1]


class Router:
    """Routes the links of a placed layout."""

    def __init__(
        self,
        links: Sequence[Link],
        nets: Sequence[Net],
        blocks: Mapping[str, Block],
        places: Mapping[str, PE],
        classes: Mapping[str, ColorClass],
        uses: Uses,
        fabric: Fabric,
        grid: np.ndarray,
    ) -> None:
        self.fabric, self.uses = fabric, uses
        self.ground = _Ground(fabric, grid, uses)
        self.by_number = {each.number: each for each in classes.values()}
        by_name = {net.name: net for net in nets}
        self.bundles = [_wires(link, by_name, blocks, places, classes[link.source.net]) for link in links]
        """The lanes of each link."""
        self.wires = [wire for bundle in self.bundles for wire in bundle]
        self.keys: dict[int, Counter[tuple[str, int]]] = {}
        """How many lanes need each value at a PE."""
        self.numbers: dict[int, Counter[int]] = {}
        """How many lanes of each class go through a PE."""
        self.history: Counter[int] = Counter()
        self.steps = 0
        """Of all searches until now."""
        self.shared = float(SHARED)
        """The current extra price of a PE that another lane needs too."""

    def route(self) -> None:
        """Find a path for every lane, such that no two lanes need the same value on one PE."""
        # Short links have the least choice.
        again = sorted(self.bundles, key=lambda bundle: sum(_distance(wire.source, wire.target) for wire in bundle))
        alone = 0
        for _ in range(MAX_ROUNDS):
            self._route_again(again)
            again = self._contested()
            if not again:
                return
            alone += all(_meets_itself(bundle) for bundle in again)
            if alone == MAX_ROUNDS_ALONE or self.steps > MAX_STEPS:
                break
            self.shared = min(self.shared * 1.5, MAX_SHARED)
        raise self._unsolved([wire for bundle in again for wire in bundle])

    def _route_again(self, bundles: Iterable[Sequence[_Wire]]) -> None:
        for bundle in bundles:
            for wire in bundle:
                self._count(wire, -1)
            self._find_all(bundle)
            for wire in bundle:
                self._count(wire, 1)

    def avoid(self, numbers: Iterable[int]) -> bool:
        """Route the lanes of classes again that are too many on some PE, and make these PEs more expensive.

        Return False if nothing can be done: no two of them meet on a lane.
        """
        crowd = set(numbers)
        wires = [wire for wire in self.wires if wire.color.number in crowd]
        met = [pe for wire in wires for pe in wire.inner if len(crowd & self._classes_at(pe)) > 1]
        if not met:
            return False
        for pe in set(met):
            self.history[self.ground.index(pe)] += HISTORY * 4
        self._route_again(bundle for bundle in self.bundles if bundle[0].color.number in crowd)
        self.route()
        return True

    def lanes(self) -> dict[str, tuple[Lane, ...]]:
        """Return the lanes of every link."""
        found: dict[str, list[Lane]] = {}
        for wire in self.wires:
            found.setdefault(wire.link.name, []).append(_lane(wire.path))
        return {name: tuple(lanes) for name, lanes in found.items()}

    def edges(self) -> dict[tuple[int, int], PE]:
        """Return the pairs of classes that need different values because of lanes, each with a PE."""
        edges: dict[tuple[int, int], PE] = {}
        for wire in self.wires:
            for pe in wire.inner:
                for other in self._classes_at(pe):
                    if other != wire.color.number:
                        pair = (min(other, wire.color.number), max(other, wire.color.number))
                        edges.setdefault(pair, pe)
        return edges

    # Shortest paths

    def _find_all(self, bundle: Sequence[_Wire]) -> None:
        """Route the lanes of a link, if possible apart from each other."""
        if len(bundle) == 1:
            if not self._find(bundle[0]):
                raise self._no_path(bundle[0])
            return
        best: list[list[PE]] | None = None
        least = UNREACHED
        shortest = sum(_distance(wire.source, wire.target) for wire in bundle)
        # Where lanes turn together, those inside have to go first, and leave room for the others.
        for lanes, roomy in ((bundle, True), (bundle[::-1], True), (bundle, False), (bundle[::-1], False)):
            length = self._find_apart(lanes, roomy=roomy)
            if length < least:
                best, least = [wire.path for wire in bundle], length
            if length == shortest or (best and not roomy):
                break
        if best is None:
            best = self._find_together(bundle)
        # They may have to follow each other around blocks, on ways that are not their shortest.
        for lanes, roomy in ((bundle, True), (bundle[::-1], True), (bundle, False), (bundle[::-1], False)):
            if best is None and self._find_apart(lanes, roomy=roomy, follow=True) < UNREACHED:
                best = [wire.path for wire in bundle]
        for number, wire in enumerate(bundle):
            if best is not None:
                wire.path = best[number]
            elif not self._find(wire):
                raise self._no_path(wire)

    def _find_together(self, bundle: Sequence[_Wire]) -> list[list[PE]] | None:
        """Return paths for all lanes at once, of the least total price, or None if none are found near them."""
        first = bundle[0]
        starts = [self.ground.index(_step(wire.source, wire.leaves[0])) for wire in bundle]
        ends = [self.ground.index(_step(wire.target, OPPOSITE[wire.enters[0]])) for wire in bundle]
        pes = [pe for wire in bundle for pe in (wire.source, wire.target)]
        margin = 2 * len(bundle) + 8
        (x0, x1), (y0, y1) = ((min(axis) - margin, max(axis) + margin) for axis in zip(*pes, strict=True))
        if (x1 - x0 + 1) * (y1 - y0 + 1) * len(bundle) > MAX_SEARCH or set(starts) & {
            self.ground.index(wire.target) for wire in bundle
        }:
            return None
        price = self._passable(first, starts)
        sources = {self.ground.index(wire.source) for wire in bundle}

        def whole_price(at: int) -> float | None:
            x, y = self.ground.pe(at)
            if at in sources or not (x0 <= x <= x1 and y0 <= y <= y1) or (extra := price(at)) is None:
                return None
            return HOP + extra

        row = self.ground.row
        found = DisjointPaths(starts, ends, (-row, 1, row, -1), whole_price).find()
        if found is None or [path[-1] for path in found] != ends:
            return None
        return [
            [wire.source, *map(self.ground.pe, path), wire.target] for wire, path in zip(bundle, found, strict=True)
        ]

    def _find_apart(self, lanes: Sequence[_Wire], *, roomy: bool, follow: bool = False) -> float:
        """Route lanes one after the other, each around those before; return their length, infinite if one is stuck.

        Each keeps away from where those after it leave and arrive, if `roomy` so far that they can still turn there.
        To `follow`, each goes beside the one before where it can.
        """
        taken: set[int] = set()
        length = 0
        for number, wire in enumerate(lanes):
            after = lanes[number + 1 :]
            away = len(after) if roomy else 1
            closed = taken.union(*(self._ends(other, away) for other in after)) - self._ends(wire, 1)
            if not self._find(wire, closed, lanes[number - 1].path if follow and number else ()):
                return UNREACHED
            taken.update(map(self.ground.index, wire.inner))
            length += len(wire.path) - 1
        return length

    def _ends(self, wire: _Wire, away: int) -> set[int]:
        """Return the PEs before both ends of a lane, as far away, where it can go one way only."""
        ends: set[int] = set()
        for pe, sides in ((wire.source, wire.leaves), (wire.target, tuple(OPPOSITE[side] for side in wire.enters))):
            for _ in range(away if len(sides) == 1 else 0):
                pe = _step(pe, sides[0])
                if not (0 <= pe[0] < self.fabric.width and 0 <= pe[1] < self.fabric.height):
                    break
                ends.add(self.ground.index(pe))
        return ends

    def _find(self, wire: _Wire, closed: Collection[int] = (), leader: Sequence[PE] = ()) -> bool:
        """Route one lane, as cheap as possible, not through the `closed` PEs; return False if there is no path.

        Of equal paths those are better that turn early, and with a `leader` those beside it.
        """
        ground = self.ground
        steps = (-ground.row, 1, ground.row, -1)
        beside = {
            at + row + column
            for at in map(ground.index, leader)
            for row in (-ground.row, 0, ground.row)
            for column in (-1, 0, 1)
        }
        source, target = ground.index(wire.source), ground.index(wire.target)
        from_x, from_y = wire.source[0] + 1, wire.source[1] + 1
        to_x, to_y = wire.target[0] + 1, wire.target[1] + 1
        enters = {DIRECTIONS.index(side) for side in wire.enters}
        price = self._passable(wire)
        cost: dict[int, float] = {}
        before: dict[int, int] = {}
        prices: dict[int, float | None] = {}
        heap: list[tuple[float, float, int]] = []

        def reach(at: int, direction: int, spent: float, state: int) -> None:
            """Note a step to a PE in a direction, if that is the cheapest way to it so far."""
            if at == target:
                if direction not in enters:
                    return
                spent += HOP
            else:
                if at not in prices:
                    prices[at] = None if at in closed else price(at)
                known = prices[at]
                if known is None:
                    return
                spent += HOP + known + (ALONE if beside and at not in beside else 0)
            reached = at * 4 + direction
            if spent < cost.get(reached, UNREACHED):
                cost[reached] = spent
                before[reached] = state
                y, x = divmod(at, ground.row)
                heappush(heap, (spent + HOP * (abs(x - to_x) + abs(y - to_y)), -spent, reached))

        for side in wire.leaves:
            direction = DIRECTIONS.index(side)
            reach(source + steps[direction], direction, 0.0, -1)
        count, length = 0, max(_distance(wire.source, wire.target), len(leader))
        while heap:
            count += 1
            self.steps += 1
            if (count in LONG_SEARCHES and self._is_closed_in(wire, count, closed)) or (
                closed and count > 64 * (length + 16)
            ):
                break
            _, negative, state = heappop(heap)
            spent = -negative
            if spent > cost[state]:
                continue
            at, came = state >> 2, state & 3
            if at == target:
                path = [wire.target]
                while (state := before[state]) >= 0:
                    path.append(ground.pe(state >> 2))
                wire.path = [wire.source, *reversed(path)]
                return True
            y, x = divmod(at, ground.row)
            turned = spent + TURN + (abs(x - from_x) + abs(y - from_y)) * TURN_LATER
            for direction in range(4):
                if direction != came ^ 2:
                    reach(at + steps[direction], direction, spent if direction == came else turned, state)
        return False

    def _is_closed_in(self, wire: _Wire, most: int, closed: Collection[int]) -> bool:
        """Return True if fewer PEs than `most` can reach the target, and the source is none of them."""
        reached, _ = self._around(wire.target, wire.enters, wire, most, closed, back=True)
        return len(reached) < most and wire.source not in reached

    def _passable(self, wire: _Wire, exits: Collection[int] | None = None) -> Callable[[int], float | None]:
        """Return the function that says the extra price of a PE for a lane, None if it cannot go there.

        `exits` are the PEs that the routes of the source lead to.
        """
        number, key, value = wire.color.number, wire.color.key, wire.color.value
        ground, kinds = self.ground, self.ground.kinds
        if exits is None:
            exits = {ground.index(_step(wire.source, side)) for side in wire.leaves}
        most = len(self.fabric.colors)
        source = ground.index(wire.source)

        def price(at: int) -> float | None:
            kind = kinds[at]
            if kind == OUTSIDE or at == source:
                return None
            extra = float(self.history[at])
            others = 0
            if kind != FREE:
                used = self.uses.at(ground.pe(at))
                if number in used and (at not in exits or used[number][1] > Kind.REACHED):
                    return None
                if value is not None and any(self.by_number[each].value == value for each in used if each != number):
                    return None
                if kind != REACHED_ONLY:
                    extra += OVER_BLOCK
                others = len(used) - (number in used)
                if value is None and others >= most:
                    return None
            lanes = self.keys.get(at)
            if lanes and (key in lanes or len(lanes) + others >= most):
                extra += self.shared
            return extra

        return price

    # Negotiation

    def _count(self, wire: _Wire, change: int) -> None:
        """Note a lane's path at its PEs, or with a change of -1 forget it."""
        for pe in map(self.ground.index, wire.inner):
            for counters, key in ((self.keys, wire.color.key), (self.numbers, wire.color.number)):
                lanes = cast("dict[int, Counter[object]]", counters).setdefault(pe, Counter())
                lanes[key] += change
                if not lanes[key]:
                    del lanes[key]
        if change < 0:
            wire.path = []

    def _contested(self) -> list[Sequence[_Wire]]:
        """Return the links that share a PE with another of the same value, or with too many."""
        contested: set[PE] = set()
        most = len(self.fabric.colors)
        for at, lanes in self.keys.items():
            crowded = len(lanes) > 1 and len(self._classes_at(self.ground.pe(at))) > most
            if crowded or any(count > 1 for count in lanes.values()):
                contested.add(self.ground.pe(at))
                self.history[at] += HISTORY
        if not contested:
            return []
        return [bundle for bundle in self.bundles if any(contested.intersection(wire.inner) for wire in bundle)]

    def _classes_at(self, pe: PE) -> set[int]:
        return set(self.numbers.get(self.ground.index(pe), ())) | self.uses.at(pe).keys()

    # Errors

    def _no_path(self, wire: _Wire) -> ImpossibleLayout:
        """Return the error for a lane that has no path even alone."""
        # The end that is closed in, which need not be searched for on the whole fabric.
        for most in (64, 4096, self.fabric.width * self.fabric.height + 1):
            sides = [
                self._around(wire.source, wire.leaves, wire, most),
                self._around(wire.target, wire.enters, wire, most, back=True),
            ]
            which = 0 if len(sides[0][0]) <= len(sides[1][0]) else 1
            if len(sides[which][0]) < most:
                break
        reached, taken = sides[which]
        port, pe = (wire.link.source, wire.source) if which == 0 else (wire.link.target, wire.target)
        color = f"'{port.net}'" + (f" with the value {wire.color.value}" if wire.color.value is not None else "")
        shown = ", ".join(f"({x}, {y})" for x, y in taken[:6]) + (f" and {len(taken) - 6} more" * (len(taken) > 6))
        where = f"PE ({pe[0]}, {pe[1]}) of code region '{port.block}'"
        if port.side:
            where = f"the {EDGES[port.side]} edge of {where}"
        if taken:
            free = [self._free_values(wire.color, pe) for pe in taken]
            why = (
                f"its color {color} is in use already at PE{'s' * (len(taken) > 1)} {shown}"
                if max(free) > 0
                else f"all {len(self.fabric.colors)} colors are in use at PE{'s' * (len(taken) > 1)} {shown}"
            ) + f", and inside these it reaches {len(reached)} PE{'s' * (len(reached) != 1)}"
        else:
            why = "that is the edge of the fabric"
        return ImpossibleLayout(
            f"link '{wire.link.name}' has no free path {'to' if which else 'from'} {where}: {why}; use another color "
            "there, or move the regions apart",
            [wire.link.name, wire.link.source.block, wire.link.target.block],
        )

    def _free_values(self, color: ColorClass, pe: PE) -> int:
        """Return how many values are left to a color at a PE."""
        return len(self.fabric.colors) - len(self.uses.at(pe).keys() - {color.number})

    def _around(
        self,
        start: PE,
        directions: Iterable[str],
        wire: _Wire,
        most: int,
        closed: Collection[int] = (),
        *,
        back: bool = False,
    ) -> tuple[set[PE], list[PE]]:
        """Return the PEs that a lane can reach from one end, at least `most` if there are so many, and those in use
        that stop it."""
        price = self._passable(wire)
        other = wire.source if back else wire.target
        reached: set[PE] = set()
        taken: set[PE] = set()
        pending = [(start, tuple(OPPOSITE[side] for side in directions) if back else tuple(directions))]
        while pending and len(reached) < most:
            pe, sides = pending.pop()
            for side in sides:
                following = _step(pe, side)
                if following in reached or following in (start, other):
                    reached |= {following} & {other}
                elif (at := self.ground.index(following)) not in closed and price(at) is not None:
                    reached.add(following)
                    pending.append((following, tuple(STEPS)))
                elif 0 <= following[0] < self.fabric.width and 0 <= following[1] < self.fabric.height:
                    taken.add(following)
        return reached, sorted(taken)

    def _unsolved(self, wires: Sequence[_Wire]) -> ImpossibleLayout:
        """Return the error for lanes that have paths, but not all at once."""
        most = len(self.fabric.colors)
        crowds = Counter(pe for wire in wires for pe in wire.inner)
        for pe in sorted(crowds, key=lambda pe: (-crowds[pe], pe)):
            here = [wire for wire in wires if pe in wire.inner]
            names = list(dict.fromkeys(wire.link.name for wire in here))
            listed = " and ".join(f"'{name}'" for name in names[:3]) + (
                f" and {len(names) - 3} more" * (len(names) > 3)
            )
            key = next((key for key, count in self.keys[self.ground.index(pe)].items() if count > 1), None)
            if key is not None:
                color = next(wire.color for wire in here if wire.color.key == key)
                value = f"the value {color.value}" if color.value is not None else f"{color.names}"
                return ImpossibleLayout(
                    f"link{'s' * (len(names) > 1)} {listed} found no paths apart: "
                    f"{self.keys[self.ground.index(pe)][key]} lanes with {value} meet at PE {pe}, and a PE routes a "
                    "color for one only; move the regions apart"
                    + (", or use more colors" if len(names) > 1 else ", or place their edges opposite each other"),
                    names,
                )
            used = len(self._classes_at(pe))
            if used > most:
                return ImpossibleLayout(
                    f"link{'s' * (len(names) > 1)} {listed} found no free path: {used} colors "
                    f"would go through PE {pe}, and there are {most}; move the regions apart, each with place()",
                    names,
                )
        raise AssertionError("contested lanes share a PE")


def _wires(
    link: Link,
    nets: Mapping[str, Net],
    blocks: Mapping[str, Block],
    places: Mapping[str, PE],
    color: ColorClass,
) -> list[_Wire]:
    """Return the lanes of a link, with their ends."""
    ends: list[list[PE]] = []
    for port in (link.source, link.target):
        x, y = places[port.block]
        ends.append([(x + dx, y + dy) for dx, dy in port_pes(blocks[port.block], port.side)])
    sources, targets = ends
    leaves = _open_sides(link.source, nets[link.source.net], output=True)
    enters = tuple(OPPOSITE[side] for side in _open_sides(link.target, nets[link.target.net], output=False))
    return [
        _Wire(link, lane, source, target, leaves, enters, color)
        for lane, (source, target) in enumerate(zip(sources, targets, strict=True))
    ]


def _open_sides(port: Port, net: Net, *, output: bool) -> tuple[str, ...]:
    """Return the sides on which a link may leave or enter a block: not where the color goes the other way."""
    if port.side:
        return (port.side,)
    painted = [position for paint in net.paints if paint.block == port.block for position in paint.positions]
    other_way = {side for position in painted for side in (position.rx if output else position.tx)}
    return tuple(side for side in STEPS if side not in other_way)


def _meets_itself(bundle: Sequence[_Wire]) -> bool:
    """Return True if two lanes of a link share a PE."""
    pes = [pe for wire in bundle for pe in wire.inner]
    return len(pes) != len(set(pes))


def _step(pe: PE, side: str) -> PE:
    return pe[0] + STEPS[side][0], pe[1] + STEPS[side][1]


def _distance(first: PE, second: PE) -> int:
    return abs(first[0] - second[0]) + abs(first[1] - second[1])


def _direction(first: PE, second: PE) -> str:
    return next(name for name, (x, y) in STEPS.items() if (first[0] + x, first[1] + y) == second)


def _lane(path: Sequence[PE]) -> Lane:
    """Return the lane along PEs from source to target."""
    moves = [_direction(first, second) for first, second in pairwise(path)]
    hops = tuple(
        Hop(pe[0], pe[1], OPPOSITE[came], goes) for pe, came, goes in zip(path[1:-1], moves, moves[1:], strict=False)
    )
    return Lane(moves[0], hops, OPPOSITE[moves[-1]])
