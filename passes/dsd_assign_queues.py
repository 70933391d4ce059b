"""Pass `dsd-assign-queues`: every fabric descriptor gets a queue and every queue an id."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, count, product
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from .. import targets
from ..analysis.coloring import Exhausted, Graph, color_by_weight, color_graph, graph_of
from ..analysis.issue_counts import issue_counts
from ..analysis.wse.pe_program import (
    PeCode,
    ProgramReader,
    Registers,
    described,
    descriptor_makers,
    members_of,
    programs,
)
from ..diagnostics.errors import LoomError, Mistakes
from ..diagnostics.locations import location_of
from ..diagnostics.output import tell
from ..dialects import dsd, dsr, wse
from ..dialects.building import integer
from ..dialects.machine.code import Bodies, CodeOperation
from ..dialects.machine.sharing import part
from ..dialects.machine.source_names import shown_name
from ..dialects.traversal import walk
from ..dialects.verification import verify_dominance
from ..targets import Target


@dataclass(frozen=True)
class DsdAssignQueuesPass(ModulePass):
    """Gives every queue of a PE program an id, and every fabric descriptor that has only a color a queue.

    Ids that are given are kept. Queues get different ids if they serve different colors on one PE (WSE-3, where a
    queue keeps its color; AMB-11) or if operations on them may run at the same time; a queue that starts a task is
    always in use, except on WSE-2, where data tasks belong to colors and share ids if there are too few. Further ones
    are kept apart as long as ids suffice. An operation runs on the microthread of its queue (DSD-223, AMB-14), unless
    it gives another (DSD-224), so an input and an output queue of operations that may run at the same time differ too
    as long as ids suffice. Of what is left, the heaviest stream gets the longest queue that it can have (DSD-215 to
    DSD-218), then the next: a stream weighs the wavelets that its operations move, as often as loops with known bounds
    issue them. A remark says so where that makes a difference.

    A color in place of a queue is for WSE-2 only (DSD-096, DSD-097). Two asynchronous operations on one queue of
    which one is always started before the other can have ended are an error (DSD-208), as is a program that needs
    more queues than there are (DSD-215 to DSD-220).
    """

    name = "dsd-assign-queues"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        has_moved, mistakes = False, Mistakes()
        for program in programs(op):
            has_moved |= _make_queues(program, mistakes)
            reader, solved = ProgramReader(program), _Solved()
            remarks: dict[str, str | None] = {}
            for pe in program.pes:
                code = PeCode(pe, reader)
                key = solved.key(code)
                numbers = solved.numbers.get(key)
                if numbers is None:
                    numbers = solved.numbers[key] = _stand_in(pe)
                    with mistakes.going_on():
                        assignment = _Assignment(code)
                        numbers[:] = assignment.numbers()
                        remarks.setdefault(*assignment.remark)
                for queue, number in zip(members_of(pe, wse.QueueOp), numbers, strict=True):
                    queue.id = integer(number)
            for text, location in remarks.items():
                if text and not mistakes:
                    tell("remark", text, location)
        mistakes.end()
        if has_moved:
            verify_dominance(op)


def _stand_in(pe: wse.PeOp) -> list[int]:
    """Return ids to go on with after an error: those that are given, and for other queues some that no queue has."""
    queues = members_of(pe, wse.QueueOp)
    given = [queue.queue_id for queue in queues]
    free = count(1 + max((number for number in given if number is not None), default=0))
    return [next(free) if number is None else number for number in given]


MAX_QUEUES_SHOWN = 8
"""Queues that a remark on their lengths names, the heaviest first."""

_Node = str | int
"""A queue by its name, or a microthread that the program gives."""


class _Solved:
    """The PE programs of a program that have been looked at, by all that decides their queues."""

    def __init__(self) -> None:
        self.numbers: dict[Hashable, list[int]] = {}
        """The ids of queues in order."""
        self._facts: dict[CodeOperation, Hashable] = {}

    def key(self, code: PeCode) -> Hashable:
        """Return what is equal for PE programs with the same queues."""
        places: dict[str, int] = {}
        queues = tuple(
            (type(op), op.sym_name, op.id, self._colors(op, places), op.unblocked)
            for op in members_of(code.pe, wse.QueueOp)
        )
        tasks = tuple((op.sym_name.data, op.queue) for op in members_of(code.pe, wse.TaskOp))
        homes = tuple(map(code.bodies.home, code.members.values()))
        # What registers may hold is said by all bodies together.
        uses = homes if code.takes_registers else tuple(map(self._uses, homes))
        return code.outline, queues, tasks, uses

    @staticmethod
    def _colors(queue: wse.QueueOp, places: dict[str, int]) -> Hashable:
        """Return the colors of a queue and where it serves each; of the colors only which of them are the same."""
        return tuple((places.setdefault(entry.color_name, len(places)), entry.regions) for entry in queue.colors)

    def _uses(self, home: CodeOperation) -> Hashable:
        """Return the queues and settings of the DSD operations of a body."""
        found = self._facts.get(home)
        if found is None:
            found = self._facts[home] = tuple(
                (str(queues_of_operands(op, Registers(()))), op.settings, tuple(map(_wavelets, op.fabric_operands)))
                for op in walk(home)
                if isinstance(op, dsd.DsdOperation)
            )
        return found


def _make_queues(program: wse.ProgramOp, mistakes: Mistakes) -> bool:
    """Replace every color that a descriptor has in place of a queue by a queue; return True if there are any.

    Where the machine takes no color, that is a mistake.

    The queue is one of the PE program. Programs in which the queues have the same names go on sharing bodies.
    """
    target = targets.get(program.target.data)
    bodies, found = Bodies(program), dict[CodeOperation, list[dsd.FabricDescriptorOp]]()
    decisions: list[tuple[CodeOperation, tuple[str, ...]]] = []
    for pe in program.pes:
        for code in pe.body.block.ops:
            if not isinstance(code, CodeOperation):
                continue
            home = bodies.home(code)
            if home not in found:
                found[home] = [op for op in walk(home) if isinstance(op, dsd.FabricDescriptorOp) and op.queue is None]
            if found[home]:
                decisions.append((code, tuple(_queue_for(pe, op, target, mistakes) for op in found[home])))
    for each in part(bodies, decisions):
        colored = (op for op in walk(each.op) if isinstance(op, dsd.FabricDescriptorOp) and op.queue is None)
        for op, queue in zip(list(colored), each.decision, strict=True):
            Rewriter.replace_op(op, op.with_queue(queue))
    return bool(decisions)


def _queue_for(pe: wse.PeOp, op: dsd.FabricDescriptorOp, target: Target, mistakes: Mistakes) -> str:
    """Return the queue of a PE program that a descriptor with a color gets; it is made if there is none."""
    block, color = pe.body.block, op.color_name
    assert color is not None
    way = wse.InputQueueOp if isinstance(op, dsd.FabinOp) else wse.OutputQueueOp
    if target.queues_keep_color:
        noun = "an input queue" if way is wse.InputQueueOp else "an output queue"
        message = (
            f"{op.name} names only color @{color}, but {target.name} needs {noun}; declare one for "
            "the color and name it here"
        )
        mistakes.add(LoomError(message, location_of(op)))
    taken: set[str | None] = {wse.symbol_name(other) for other in block.ops}
    for queue in block.ops:
        if isinstance(queue, way) and any(entry.color_name == color for entry in queue.colors):
            return queue.sym_name.data
    taken |= {wse.symbol_name(other) for other in pe.program.body.block.ops}
    base = f"{color}_{'in' if way is wse.InputQueueOp else 'out'}"
    names = (base, *(f"{base}_{number}" for number in range(len(taken) + 1)))
    name = next(name for name in names if name not in taken)
    new = way(name, color)
    new.location = op.location
    code = next((other for other in block.ops if isinstance(other, wse.FuncOp | wse.TaskOp)), None)
    Rewriter.insert_op(new, InsertPoint.at_end(block) if code is None else InsertPoint.before(code))
    return name


class _Assignment:
    """The queues of one PE program."""

    def __init__(self, code: PeCode):
        self._code = code
        self._pe = code.pe
        self._target: Target = targets.get(self._pe.program.target.data)
        self._queues = {op.sym_name.data: op for op in members_of(self._pe, wse.QueueOp)}
        self._registers = code.registers
        self._users: dict[str, list[Operation]] = {name: [] for name in self._queues}
        self._operations: list[dsd.DsdOperation] = []
        self._queues_of: dict[Operation, list[list[str]]] = {}
        for op in code.bodies.walk(self._pe):
            if isinstance(op, dsd.DsdOperation):
                operands = queues_of_operands(op, self._registers)
                if operands:
                    self._operations.append(op)
                    self._queues_of[op] = operands
                for name in dict.fromkeys(name for names in operands for name in names):
                    self._users[name].append(op)
            elif isinstance(op, wse.TaskOp) and op.queue is not None:
                self._users[op.queue.string_value()].append(op)
        self._names = {op: {name for names in found for name in names} for op, found in self._queues_of.items()}
        self._threads = {op: self._threads_of(op) for op in self._operations if self._registers.is_async(op)}
        self._order = {op: position for position, op in enumerate(self._operations)}
        self.remark: tuple[str, str | None] = "", None
        """What is to be said of the ids, if weights of streams decide them, and where."""

    def numbers(self) -> list[int]:
        """Return the ids of the queues, in order."""
        mistakes = Mistakes()
        for error in self._sharing():
            mistakes.add(error)
        mistakes.end()
        fixed: dict[_Node, int] = {
            name: queue.queue_id for name, queue in self._queues.items() if queue.queue_id is not None
        }
        allowed: dict[_Node, range] = {
            name: range(len(queue.queue_words(self._target))) for name, queue in self._queues.items()
        }
        given = {node for nodes in self._threads.values() for node in nodes if isinstance(node, int)}
        fixed |= {number: number for number in given}
        allowed |= {number: range(number, number + 1) for number in given}
        needed = list(self._conflicts(fixed))
        possible = list(self._same_microthread(fixed, surely=False))
        wanted = [*needed, *possible]
        for first, second in combinations(self._queues, 2):
            if not (first in fixed and second in fixed) and self._meet(first, second):
                same_way = type(self._queues[first]) is type(self._queues[second])
                if same_way or self._may_overlap(first, second):
                    wanted.append((first, second))
        # What is merely possible on a microthread is left to the run (DSD-209).
        certain = self._same_microthread(fixed, surely=True)
        numbers: dict[_Node, int] = {}
        for edges, is_last in ((wanted, False), ([*needed, *possible], False), (chain(needed, certain), True)):
            try:
                graph, exact = graph_of([*self._queues, *given], edges), edges is not wanted
                numbers = self._by_weight(graph, allowed, fixed, color_graph(graph, allowed, fixed, exact=exact), exact)
                break
            except Exhausted as error:
                if is_last:
                    raise self._too_few([node for node in error.competitors if isinstance(node, str)]) from None
        return [numbers[name] for name in self._queues]

    def _by_weight(
        self,
        graph: Graph[_Node],
        allowed: Mapping[_Node, range],
        fixed: Mapping[_Node, int],
        numbers: dict[_Node, int],
        exact: bool,
    ) -> dict[_Node, int]:
        """Return the numbers with which heavier streams have longer queues."""
        words = {name: queue.queue_words(self._target) for name, queue in self._queues.items()}
        open_names = [name for name in self._queues if name not in fixed]
        if not any(max(words[name]) > words[name][numbers[name]] for name in open_names):
            return numbers
        weights = self._weights()
        if len({weights.get(name, 0) for name in self._queues}) < 2:
            return numbers
        found = color_by_weight(
            graph, allowed, fixed, numbers, weights, lambda node, number: words[cast(str, node)][number], exact=exact
        )
        longer = [name for name in open_names if words[name][found[name]] > words[name][numbers[name]]]
        if longer:
            order = sorted(open_names, key=lambda name: -weights.get(name, 0))
            rows = [
                f"{self._shown(name)} gets id {found[name]}, of {words[name][found[name]]} words, for "
                + (f"{weights[name]} wavelets" if weights.get(name) else "an unknown number of wavelets")
                for name in order[:MAX_QUEUES_SHOWN]
            ]
            if len(order) > MAX_QUEUES_SHOWN:
                rows.append(f"{len(order) - MAX_QUEUES_SHOWN} lighter ones have what is left")
            first = self._queues[max(longer, key=lambda name: weights.get(name, 0))]
            self.remark = f"heavier streams get longer queues: {'; '.join(rows)}", location_of(first)
        return found

    def _shown(self, name: str) -> str:
        queue = self._queues[name]
        way = "input" if isinstance(queue, wse.InputQueueOp) else "output"
        return f"{way} queue {shown_name(queue)}"

    def _weights(self) -> dict[_Node, int]:
        """Return how many wavelets the operations on each queue move, as far as that is known."""
        counts = issue_counts(self._code.outline.program)
        found: dict[_Node, int] = {}
        for op in self._operations:
            times = counts[self._code.position(op)]
            for operand in op.table_operands:
                for descriptor in self._registers.descriptors(operand):
                    if isinstance(descriptor.type, dsd.FabricDescriptorType):
                        wavelets = _wavelets(descriptor)
                        for maker in descriptor_makers(descriptor):
                            if isinstance(maker, dsd.FabricDescriptorOp) and maker.queue_name is not None:
                                found[maker.queue_name] = found.get(maker.queue_name, 0) + times * wavelets
        return found

    def _sharing(self) -> Iterator[LoomError]:
        """Yield errors about asynchronous operations that always overlap on one queue, each once, and about ids given
        to two queues at once."""
        told: set[dsd.DsdOperation] = set()
        surely = {
            op: {names[0] for names in self._queues_of[op] if len(names) == 1}
            for op in self._operations
            if self._registers.is_async(op, surely=True)
        }
        users: dict[str, list[dsd.DsdOperation]] = {}
        for op, own in surely.items():
            for name in own:
                users.setdefault(name, []).append(op)
        for op, own in surely.items():
            sharers = {other for name in own for other in users[name]}
            for other in self._code.overlapping(op):
                if other in sharers and other not in told and self._start_together(op, other):
                    shared = own & surely[other]
                    told.add(other)
                    yield self._shared(op, other, f"queue {shown_name(self._queues[min(shared)])}")
        for first, second in combinations(self._queues, 2):
            one, two = self._queues[first], self._queues[second]
            if one.queue_id is None or one.queue_id != two.queue_id or type(one) is not type(two):
                continue
            if not self._meet(first, second):
                continue
            if self._colors_differ(first, second) and self._keeps_color(first, second):
                message = (
                    f"queues {shown_name(one)} and {shown_name(two)} have the same id {one.queue_id} but serve "
                    "different colors; give one of them another id"
                )
                yield LoomError(message, location_of(two))
            on_one, on_two = ([op for op, own in surely.items() if name in own] for name in (first, second))
            for op, other in (*product(on_one, on_two), *product(on_two, on_one)):
                if other in self._code.overlapping(op) and self._start_together(op, other):
                    yield self._shared(
                        op, other, f"id {one.queue_id} of queues {shown_name(one)} and {shown_name(two)}"
                    )

    def _start_together(self, op: dsd.DsdOperation, other: dsd.DsdOperation) -> bool:
        """Return True if `other` is `op` or comes after it, and both run at the same time in every run."""
        return self._order[other] >= self._order[op] and self._code.certainly_overlap(op, other)

    def _shared(self, first: dsd.DsdOperation, second: dsd.DsdOperation, what: str) -> LoomError:
        if first is second or described(first) == described(second):
            message = (
                f"{described(first)} is issued again while it may still run, on the same {what}; issue it again from a "
                "task that its completion activates"
            )
        else:
            message = (
                f"{described(first)} and {described(second)} run at the same time on the same {what}; issue the second "
                "from a task that the completion of the first activates, or give it another queue"
            )
        return LoomError(message, location_of(second))

    def _conflicts(self, fixed: Container[_Node]) -> Iterator[tuple[_Node, _Node]]:
        """Yield pairs of queues that must not have one id.

        Two `fixed` ones are checked by themselves: what is merely possible is not an error.
        """
        for first, second in combinations(self._queues, 2):
            if (first in fixed and second in fixed) or not self._meet(first, second):
                continue
            if type(self._queues[first]) is type(self._queues[second]):
                bound = self._colors_differ(first, second) and self._keeps_color(first, second)
                if bound or self._may_overlap(first, second):
                    yield first, second

    def _same_microthread(self, fixed: Container[_Node], *, surely: bool) -> Iterator[tuple[_Node, _Node]]:
        """Yield pairs of queues, or of a queue and a given microthread, that may not have one number.

        An operation without a given microthread runs on that of its queue. The pairs are of operations that may be
        under way at the same time, or with `surely` that always are.
        """
        found: set[tuple[_Node, _Node]] = set()
        threads = {op: tuple(own) for op, own in self._threads.items()}
        # Most pairs of operations name the same few numbers: what is not found of these yet.
        left: dict[tuple[tuple[_Node, ...], tuple[_Node, ...]], list[tuple[_Node, _Node]]] = {}
        for op, own in threads.items():
            for other in self._code.overlapping(op):
                others = threads.get(other)
                if other is op or others is None:
                    continue
                pairs = left.get((own, others))
                if pairs is None:
                    pairs = [
                        (first, second)
                        for first, second in product(own, others)
                        if first != second and not (first in fixed and second in fixed)
                    ]
                pairs = left[own, others] = [pair for pair in pairs if pair not in found]
                if not pairs:
                    continue
                # To tell if two overlap takes longest.
                if (not surely and not self._share_a_queue(op, other)) or self._code.certainly_overlap(op, other):
                    found.update(pairs)
                    yield from pairs

    def _share_a_queue(self, op: dsd.DsdOperation, other: dsd.DsdOperation) -> bool:
        """Return True if two operations may use the same queue, which then serializes them (DSD-208)."""
        return not self._names[op].isdisjoint(self._names[other])

    def _threads_of(self, op: dsd.DsdOperation) -> list[_Node]:
        """Return the numbers of the microthreads that an operation may run on: given ones, and the queues that have
        them."""
        found: dict[_Node, None] = {}
        for way in self._registers.settings(op):
            if way is None:
                continue
            if way.microthread is not None and not self._target.microthread_of_queue:
                found[way.microthread] = None
            else:
                found |= dict.fromkeys(self._queues_of[op][0])
        return list(found)

    def _keeps_color(self, first: str, second: str) -> bool:
        """Return True if one of the queues is bound to its color as long as the program runs."""
        return self._target.queues_keep_color or any(
            # Where data tasks belong to colors, one alone takes no queue for good.
            (self._queues[name].queue_id is not None or not self._target.data_tasks_by_color)
            and (self._queues[name].unblocked is not None or self._has_task(name))
            for name in (first, second)
        )

    def _has_task(self, name: str) -> bool:
        return any(isinstance(user, wse.TaskOp) for user in self._users[name])

    def _may_overlap(self, first: str, second: str) -> bool:
        others = set(self._users[second])
        return any(
            other in others
            for op in self._users[first]
            if isinstance(op, dsd.DsdOperation)
            for other in self._code.overlapping(op)
        )

    def _entries_that_meet(self, first: str, second: str) -> Iterator[tuple[str, str]]:
        width, height = self._pe.program.rectangle
        for one in self._queues[first].colors:
            for two in self._queues[second].colors:
                for region in one.regions:
                    for other in two.regions:
                        ranges = zip(region.resolve(width, height), other.resolve(width, height), strict=True)
                        if all(ranges_meet(a, b) for a, b in ranges):
                            yield one.color_name, two.color_name

    def _meet(self, first: str, second: str) -> bool:
        return any(True for _ in self._entries_that_meet(first, second))

    def _colors_differ(self, first: str, second: str) -> bool:
        return any(one != two for one, two in self._entries_that_meet(first, second))

    def _too_few(self, names: Sequence[str]) -> LoomError:
        kinds = {type(self._queues[name]) for name in names}
        if kinds == {wse.InputQueueOp}:
            noun, count = "input queues", self._target.input_queues
        elif kinds == {wse.OutputQueueOp}:
            noun, count = "output queues", self._target.output_queues
        else:
            noun, count = "queue ids, which are also the microthreads,", self._target.input_queues
        listed = ", ".join(f"@{name}{self._use(name)}" for name in names)
        message = (
            f"{self._target.name} has {count} {noun}, too few for the queues in use at the same time: {listed}; "
            "run the operations of two of them one after the other, or give queues that are never in use together the "
            "same id"
        )
        return LoomError(message, location_of(self._queues[names[-1]]))

    def _use(self, name: str) -> str:
        user = next(iter(self._users[name]), None)
        if isinstance(user, dsd.DsdOperation):
            return f" for {described(user)}"
        if isinstance(user, wse.TaskOp):
            return f" for task @{user.sym_name.data}"
        return ""


def _wavelets(descriptor: SSAValue) -> int:
    """Return the wavelets of a fabric descriptor, 0 if their number is not known at compile time."""
    owner = descriptor.owner
    match owner:
        case dsr.LoadOp():
            return _wavelets(owner.descriptor)
        case dsd.SetLengthOp():
            length = owner.value
            return length if isinstance(length, int) else 0
        case dsd.FabricDescriptorOp():
            extent = owner.extent
            return 0 if not isinstance(extent, int) else -(-extent // 2) if owner.is_packed else extent
        case _:
            return 0


def queues_of_operands(op: dsd.DsdOperation, registers: Registers) -> list[list[str]]:
    """Return the queues that each fabric operand may be on, destination before sources.

    There are several for one operand if its descriptor is chosen at run time.
    """
    found: list[list[str]] = []
    for operand in op.table_operands:
        names: dict[str, None] = {}
        for descriptor in registers.descriptors(operand):
            if isinstance(descriptor.type, dsd.FabricDescriptorType):
                makers = [m for m in descriptor_makers(descriptor) if isinstance(m, dsd.FabricDescriptorOp)]
                names |= dict.fromkeys(maker.queue_name for maker in makers if maker.queue_name is not None)
        if names:
            found.append(list(names))
    return found


def ranges_meet(first: range, second: range) -> bool:
    """Return True if two ranges of positive step intersect; the work is bounded by a step, not by their length."""
    if not first or not second:
        return False
    if second.step < first.step:
        first, second = second, first
    lowest, highest = max(first[0], second[0]), min(first[-1], second[-1])
    start = lowest + (second[0] - lowest) % second.step
    candidates = range(start, highest + 1, second.step)[: first.step]
    return any(candidate in first for candidate in candidates)
