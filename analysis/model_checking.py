"""Symbolic model checking of communicating cores: deadlock, overwritten slots, leftover credits.

A core is a tree of loops, branches and events on ring buffers. Where the next event depends on a symbolic integer, the
search splits and records the outcome of the comparison for all cores. Cores wait for each other by counted entries and
credits alone, so outcomes do not depend on the interleaving and one interleaving is searched; whether a push follows
the free of its slot in every interleaving is derived from the frees that each token has not seen, a vector clock.

A state is the position of each core relative to the others, the tokens in flight, and the bounds of integers. Their
number is finite if cores in loops stay together; once all have been visited, no other outcome is possible for any trip
count. Loops of unknown trip count are abstracted: bounds of old iterations are dropped, so an outcome that is found
may be spurious.

Knows the arithmetic of pipes and of symbolic integers, nothing of IR.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from ..operations import pipe_protocol
from .event_graph import Event, RingBuffer
from .symbolic_integers import (
    ITERATION,
    Affine,
    Bounds,
    CaseSplit,
    Condition,
    Interval,
    IsNegative,
    Symbol,
    Terms,
    add,
    normalized,
    substitute,
    symbol,
    values_in,
)

MAX_STATES = 5_000
"""States after which the search stops."""

MAX_WORK = 400_000
"""Instructions, weighted by the bounds in their states, after which the search stops."""

MAX_BOUNDS = 40
"""Bounds and active loops of one state after which the search stops."""

MAX_TOKENS = 40
"""Entries and credits in flight between two cores after which the search stops."""

MAX_ROUNDS = 256
"""Iterations of a loop that are counted exactly."""

MAX_COPIES = 512
"""Nodes into which a loop of known trip count may be unrolled."""

# ---------------------------------------------------------------------------------------------
# Control trees
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class EventNode:
    """An event. A push may send a signal, which is a condition; a pop may receive one, as an integer of 0 or 1."""

    event: Event
    origin: Any = None
    signal: Condition | None = None
    received: Affine | None = None


@dataclass(frozen=True, eq=False)
class Loop:
    """A loop that runs while `condition` holds; `iteration(key)` is its iteration number in conditions.

    `trip_count` is the number of iterations, if it is known.
    """

    key: object
    condition: Condition
    body: Sequence[Node]
    trip_count: int | None = None
    origin: Any = None
    symbolic_trip_count: Affine | None = None
    """The number of iterations as an integer, where it can be expressed; a negative one means none."""


@dataclass(frozen=True, eq=False)
class Branch:
    """A branch."""

    condition: Condition
    then: Sequence[Node]
    otherwise: Sequence[Node]
    origin: Any = None


@dataclass(frozen=True, eq=False)
class Exit:
    """An exit of the innermost loop, taken unless a condition holds."""

    condition: Condition
    origin: Any = None


Node: TypeAlias = EventNode | Loop | Branch | Exit


def iteration(key: object) -> Affine:
    """Return the iteration number of a loop, counted from 0, as conditions within the loop use it."""
    return Affine(0, ((Symbol(ITERATION, (), (key,)), 1),))


Outcome: TypeAlias = Literal["end", "left", "deadlock", "overwrite", "early", "held", "unfreed"]
"""Outcome of cores: `end`, all of them end; `left`, with entries that nobody pops; `deadlock`; `overwrite`, a push that
may reuse a slot in use; `early`, a credit for slots that are not free yet; `held`, a pop while the consumer holds all
slots; `unfreed`, popped entries that are not freed, or freed before their pop."""


@dataclass
class Verdict:
    """The outcomes that are possible; the only ones if the search is complete.

    `conditions` are those that outcomes depend on, with the origin of each.
    """

    outcomes: dict[tuple[Outcome, str], None] = field(default_factory=dict[tuple[Outcome, str], None])
    is_complete: bool = True
    conditions: dict[tuple[Condition, Any], None] = field(default_factory=dict[tuple[Condition, Any], None])
    states: int = 0

    @property
    def is_clean(self) -> bool:
        """True if `end` is the only possible outcome."""
        return self.is_complete and all(kind == "end" for kind, _ in self.outcomes)

    @property
    def is_wrong(self) -> bool:
        """True if `end` is impossible."""
        return self.is_complete and bool(self.outcomes) and all(kind != "end" for kind, _ in self.outcomes)


# ---------------------------------------------------------------------------------------------
# Instructions
# ---------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Instruction:
    """One instruction: an event, a test with its target if it fails, or a jump."""

    opcode: Literal["event", "enter", "test", "repeat", "branch", "exit", "jump", "end"]
    node: EventNode | None = None
    condition: Condition = True
    target: int = 0
    origin: Any = None
    heads: tuple[int, ...] = ()
    """The indices at which the loops around it begin, outermost first."""
    loop_tests: tuple[_Instruction, ...] = ()
    """The tests of these loops."""


@dataclass(eq=False)
class _Code:
    """The instructions of a core, with the depth of each loop that is not unrolled."""

    instructions: list[_Instruction] = field(default_factory=list[_Instruction])
    loop_depths: dict[object, int] = field(default_factory=dict[object, int])
    last_loop: int = -1
    """The index at which the last outermost loop begins."""
    queries: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    """The indices of the instructions whose conditions have integers of one signature, see `_signature`."""

    def add(self, instruction: _Instruction, loops: Sequence[tuple[int, _Instruction]]) -> None:
        """Append an instruction inside loops given by their first index and their test."""
        instruction.heads, instruction.loop_tests = tuple(head for head, _ in loops), tuple(test for _, test in loops)
        conditions = (
            [instruction.condition]
            if instruction.node is None or instruction.node.signal is None
            else [instruction.node.signal]
        )
        for number in (number for condition in conditions for number in values_in(condition)):
            for shape in {_signature(number.terms), *(_signature((term,)) for term in number.terms)}:
                self.queries.setdefault(shape, []).append(len(self.instructions))
        self.instructions.append(instruction)


def _is_unrolled(node: Node) -> bool:
    """Return True if a node is unrolled: it has no conditions, and a known trip count."""
    if isinstance(node, EventNode):
        return node.signal is None and node.received is None
    return (
        isinstance(node, Loop)
        and node.trip_count is not None
        and all(map(_is_unrolled, node.body))
        and node.trip_count * _length(node.body) <= MAX_COPIES
    )


def _length(nodes: Sequence[Node]) -> int:
    return sum(_length(node.body) * (node.trip_count or 0) if isinstance(node, Loop) else 1 for node in nodes)


def _compile_core(nodes: Sequence[Node], drains: Sequence[Event]) -> _Code:
    code = _Code()
    _compile(code, nodes, (), [])
    for event in drains:
        code.add(_Instruction("event", EventNode(event)), ())
    code.add(_Instruction("end"), ())
    return code


def _test(loop: Loop) -> Condition:
    """Return the test of a loop; a very large trip count is treated as unknown."""
    if loop.trip_count is None or loop.trip_count < MAX_ROUNDS:
        return loop.condition
    return IsNegative(add(iteration(loop.key), symbol(str(loop.trip_count)), -1))


def _compile(
    code: _Code, nodes: Sequence[Node], loops: tuple[tuple[int, _Instruction], ...], exits: list[_Instruction]
) -> None:
    for node in nodes:
        match node:
            case EventNode():
                code.add(_Instruction("event", node), loops)
            case Loop() if _is_unrolled(node):
                for _ in range(node.trip_count or 0):
                    _compile(code, node.body, loops, exits)
            case Loop():
                code.loop_depths[node.key] = len(loops)
                code.last_loop = code.last_loop if loops else max(code.last_loop, len(code.instructions))
                code.add(_Instruction("enter"), loops)
                test = _Instruction("test", condition=_test(node), origin=node.origin)
                head = len(code.instructions)
                inside = (*loops, (head, test))
                code.add(test, inside)
                inner: list[_Instruction] = []
                _compile(code, node.body, inside, inner)
                code.add(_Instruction("repeat", target=head), inside)
                for instruction in (test, *inner):
                    instruction.target = len(code.instructions)
            case Branch():
                branch = _Instruction("branch", condition=node.condition, origin=node.origin)
                code.add(branch, loops)
                _compile(code, node.then, loops, exits)
                jump = _Instruction("jump")
                code.add(jump, loops)
                branch.target = len(code.instructions)
                _compile(code, node.otherwise, loops, exits)
                jump.target = len(code.instructions)
            case Exit():
                leave = _Instruction("exit", condition=node.condition, origin=node.origin)
                code.add(leave, loops)
                exits.append(leave)


# ---------------------------------------------------------------------------------------------
# States
# ---------------------------------------------------------------------------------------------

_LoopInstance: TypeAlias = tuple[tuple[int, ...], ...]
"""A loop as all cores count it: its number among the loops entered in one iteration of the loop around it, preceded by
the number and iteration of that loop, and so on. `((0, 3), (1,))` is the second loop in the fourth iteration of the
first."""

_IterationPath: TypeAlias = tuple[tuple[int, int], ...]
"""The number and iteration of each loop a core is in; outermost first."""


@dataclass
class _Core:
    pc: int = 0
    path: _IterationPath = ()
    entered: tuple[int, ...] = (0,)
    """The number of loops entered, and exited, at each depth."""

    def loop_instance(self, depth: int) -> _LoopInstance:
        return (*self.path[:depth], self.path[depth][:1])

    def order(self) -> tuple[tuple[int, int], ...]:
        """Return a key that grows as the core advances."""
        return (*self.path, (self.entered[-1], -1))

    has_loops: bool = True
    """True if the core may enter more loops."""

    def position_of(self, loop_instance: _LoopInstance) -> int:
        """Return -1 before a loop, or an iteration of one, 0 in it, 1 after it."""
        if not self.has_loops:
            return 1
        for depth, part in enumerate(loop_instance):
            if depth >= len(self.path):
                return 1 if self.entered[depth] > part[0] else -1
            for mine, other in zip(self.path[depth], part, strict=False):
                if mine != other:
                    return 1 if mine > other else -1
        return 0


@dataclass
class _Token:
    """An entry or a credit in flight: the frees that its sender had not seen, and its signal."""

    unseen_frees: list[int]
    signal: bool | None = None


@dataclass
class _EndState:
    """The progress of one core on one ring buffer."""

    acquires: int = 0
    popped: int = 0
    outstanding: int = 0
    credit_surplus: int = 0
    """Slots for which credits were returned, less the freed ones; bounded below."""


_Pair: TypeAlias = tuple[str, int, int]
"""A ring buffer, a producer and a consumer."""


@dataclass
class _State:
    cores: list[_Core]
    ends: dict[tuple[str, int], _EndState]
    occupancy: dict[_Pair, int]
    """The entries that a producer has pushed and a consumer has not freed."""
    entries: dict[_Pair, list[_Token]]
    credits: dict[_Pair, list[_Token]]
    unseen_frees: list[list[int]]
    """The frees of each consumer that each core has not seen."""
    bounds: Bounds
    base_iterations: dict[_LoopInstance, int]
    """The iteration of each loop from which the iterations of cores in it are counted."""
    scopes: dict[Terms, _LoopInstance]
    """The iteration in which a bound was recorded that other iterations do not query."""
    is_wrong: bool = False

    def copy(self) -> _State:
        def tokens(queues: dict[_Pair, list[_Token]]) -> dict[_Pair, list[_Token]]:
            return {pair: [_Token(list(t.unseen_frees), t.signal) for t in queue] for pair, queue in queues.items()}

        return _State(
            [_Core(core.pc, core.path, core.entered, core.has_loops) for core in self.cores],
            {
                key: _EndState(end.acquires, end.popped, end.outstanding, end.credit_surplus)
                for key, end in self.ends.items()
            },
            dict(self.occupancy),
            tokens(self.entries),
            tokens(self.credits),
            [list(unseen_frees) for unseen_frees in self.unseen_frees],
            Bounds(self.bounds),
            dict(self.base_iterations),
            dict(self.scopes),
            self.is_wrong,
        )

    def key(self) -> object:
        def tokens(queues: dict[_Pair, list[_Token]]) -> object:
            return tuple(tuple((*t.unseen_frees, t.signal) for t in queue) for queue in queues.values())

        return (
            tuple((core.pc, core.path, core.entered) for core in self.cores),
            tuple((end.acquires, end.popped, end.outstanding, end.credit_surplus) for end in self.ends.values()),
            tuple(self.occupancy.values()),
            tokens(self.entries),
            tokens(self.credits),
            tuple(map(tuple, self.unseen_frees)),
            frozenset(self.bounds.items()),
            frozenset(self.base_iterations.items()),
            self.is_wrong,
        )


_LoopNumbers: TypeAlias = tuple[int, ...]
"""The numbers of a loop and of the loops around it, outermost first."""


class _MoreIterationsNeeded(Exception):
    """Raised when more iterations of a loop have to be counted exactly."""

    def __init__(self, loop: _LoopNumbers, needed: int) -> None:
        super().__init__(loop, needed)
        self.loop = loop
        self.needed = needed


def _loop_numbers(loop_instance: _LoopInstance) -> _LoopNumbers:
    return tuple(part[0] for part in loop_instance)


def explore(
    cores: Mapping[str, Sequence[Node]],
    rings: Mapping[str, RingBuffer],
    bounds: Mapping[Terms, Interval] | None = None,
    max_work: int = MAX_WORK,
) -> Verdict:
    """Return the outcomes that are possible for integers within `bounds`, found with `max_work` at most.

    Every ring buffer has at least one core that pushes and one that pops.
    """
    least = max((low for low, _ in (bounds or {}).values() if low is not None), default=0)
    exact_iterations: dict[_LoopNumbers, int] = {(): min(least, MAX_ROUNDS)}
    while True:
        try:
            return _Search(cores, rings, bounds or {}, exact_iterations, max_work).verdict
        except _MoreIterationsNeeded as more:
            exact_iterations[more.loop] = more.needed


class _Search:
    def __init__(
        self,
        cores: Mapping[str, Sequence[Node]],
        rings: Mapping[str, RingBuffer],
        bounds: Mapping[Terms, Interval],
        exact_iterations: Mapping[_LoopNumbers, int],
        max_work: int,
    ) -> None:
        self._max_work = max_work
        self.verdict = Verdict()
        self._rings = rings
        self._exact_iterations = exact_iterations
        uses = [{(do.event.ring, do.event.action) for do in event_nodes_in(nodes)} for nodes in cores.values()]
        self._producers = {
            ring: [core for core, use in enumerate(uses) if use & {(ring, "push"), (ring, "alloc"), (ring, "commit")}]
            for ring in rings
        }
        self._consumers = {
            ring: [core for core, use in enumerate(uses) if use & {(ring, "pop"), (ring, "free")}] for ring in rings
        }
        self._codes = [
            _compile_core(
                nodes,
                [Event(ring, "drain") for ring in rings if rings[ring].drained and core in self._producers[ring]],
            )
            for core, nodes in enumerate(cores.values())
        ]
        consumers = ((ring, core) for ring in rings for core in self._consumers[ring])
        self._consumer_index = {pair: index for index, pair in enumerate(consumers)}
        self._seen: set[object] = set()
        self._work = 0
        self._is_aborted = False
        self._pending = [self._start(bounds)]
        while self._pending:
            if self._is_aborted:
                break
            self._run(self._pending.pop())
        self.verdict.is_complete = not self._is_aborted
        self.verdict.states = len(self._seen)

    def _start(self, bounds: Mapping[Terms, Interval]) -> _State:
        pairs = [
            (ring, producer, consumer)
            for ring in self._rings
            for producer in self._producers[ring]
            for consumer in self._consumers[ring]
        ]
        none = [0] * len(self._consumer_index)
        return _State(
            [_Core() for _ in self._codes],
            {
                (ring, core): _EndState()
                for ring in self._rings
                for core in dict.fromkeys((*self._producers[ring], *self._consumers[ring]))
            },
            dict.fromkeys(pairs, 0),
            {pair: [] for pair in pairs},
            {pair: [_Token(list(none)) for _ in range(self._rings[pair[0]].initial_credits)] for pair in pairs},
            [list(none) for _ in self._codes],
            Bounds(bounds),
            {},
            {},
        )

    # -----------------------------------------------------------------------------------------
    # Search
    # -----------------------------------------------------------------------------------------

    def _run(self, state: _State) -> None:
        """Run the cores until they end, deadlock, reach a visited state, or split on a comparison."""
        while True:
            size = len(state.bounds) + len(state.base_iterations)
            tokens = sum(map(len, state.entries.values())) + sum(map(len, state.credits.values()))
            self._work += 1 + size + tokens // 4
            if (
                self._work > self._max_work
                or len(self._seen) > MAX_STATES
                or size > MAX_BOUNDS
                or tokens > MAX_TOKENS * len(state.entries)
            ):
                self._is_aborted = True
                return
            moved, is_repeat, asking = False, False, -1
            for core in sorted(range(len(self._codes)), key=lambda core: state.cores[core].order()):
                instruction = self._codes[core].instructions[state.cores[core].pc]
                if instruction.opcode == "end":
                    continue
                found = self._step(state, core, instruction)
                if isinstance(found, CaseSplit):
                    # Other cores run first, so that bounds they share are soon dropped.
                    asking = core if asking < 0 else asking
                elif found:
                    moved, is_repeat = True, instruction.opcode == "repeat"
                    break
            if not moved and asking >= 0:
                if self._is_visited(state, "splits"):
                    return
                # The normal form may decide the comparison, or count iterations from another base.
                split = self._step(state, asking, self._codes[asking].instructions[state.cores[asking].pc])
                if isinstance(split, CaseSplit):
                    other = state.copy()
                    self._assume(other, asking, split, False)
                    self._pending.append(other)
                    self._assume(state, asking, split, True)
            elif not moved:
                self._conclude(state)
                return
            elif state.cores[0].pc < 0 or (is_repeat and self._is_visited(state, "repeats")):
                return

    def _assume(self, state: _State, core: int, split: CaseSplit, answer: bool) -> None:
        state.bounds.record(split, answer)
        self._note_scope(state, core, split.terms)

    def _note_scope(self, state: _State, core: int, terms: Terms) -> None:
        """Record the iteration of a bound that holds in one iteration only."""
        depth = _inner_depth(terms)
        if depth:
            state.scopes.setdefault(terms, state.cores[core].path[:depth])

    def _is_visited(self, state: _State, why: str) -> bool:
        self._normalize(state)
        key = why, state.key()
        if key in self._seen:
            return True
        self._seen.add(key)
        return False

    def _conclude(self, state: _State) -> None:
        if any(self._codes[core].instructions[at.pc].opcode != "end" for core, at in enumerate(state.cores)):
            self._report("deadlock", "")
            return
        wrong = False
        for (ring, _, _), queue in state.entries.items():
            if queue:
                self._report("left", ring)
                wrong = True
        for (ring, _), end in state.ends.items():
            if end.outstanding:
                self._report("unfreed", ring)
                wrong = True
        if not wrong and not state.is_wrong:
            self._report("end", "")

    def _report(self, kind: Outcome, ring: str) -> None:
        self.verdict.outcomes[kind, ring] = None
        kinds = {kind for kind, _ in self.verdict.outcomes}
        # More states would not change the verdict.
        self._is_aborted = "end" in kinds and not kinds <= {"end", "overwrite"}

    def _step(self, state: _State, core: int, instruction: _Instruction) -> bool | CaseSplit:
        """Execute an instruction; return whether the core can, or the comparison to split on."""
        at = state.cores[core]
        match instruction.opcode:
            case "event":
                assert instruction.node is not None
                return self._execute_event(state, core, instruction.node)
            case "enter":
                at.path = (*at.path, (at.entered[-1], 0))
                at.entered = (*at.entered, 0)
                state.base_iterations.setdefault(at.loop_instance(len(at.path) - 1), 0)
            case "repeat":
                number, iterations = at.path[-1]
                at.path = (*at.path[:-1], (number, iterations + 1))
                at.entered = (*at.entered[:-1], 0)
                at.pc = instruction.target
                return True
            case "jump":
                at.pc = instruction.target
                return True
            case "test" | "exit" | "branch":
                holds = self._evaluate(state, core, instruction.condition, instruction.origin)
                if isinstance(holds, CaseSplit):
                    return holds
                if not holds:
                    at.pc = instruction.target
                    if instruction.opcode != "branch":
                        at.path = at.path[:-1]
                        at.entered = (*at.entered[:-2], at.entered[-2] + 1)
                    return True
            case "end":
                return False
        at.pc += 1
        return True

    # -----------------------------------------------------------------------------------------
    # Conditions
    # -----------------------------------------------------------------------------------------

    def _evaluate(self, state: _State, core: int, condition: Condition, origin: Any) -> bool | CaseSplit:
        """Return True if a condition holds at a core's position, or the comparison to split on."""
        if isinstance(condition, bool):
            return condition
        at = state.cores[core]
        here = substitute(condition, lambda value: self._in_shared_iterations(value, core, at.path))
        counted = substitute(here, lambda value: self._with_exact_iterations(value, state))
        found = state.bounds.decide(counted)
        if isinstance(found, CaseSplit):
            if all(value.name == ITERATION for value, _ in found.terms):
                for value, _ in found.terms:
                    instance: Any = value.instance
                    needed = max(abs(found.bound), self._exact_iterations_of(instance) + 1) + 1
                    if needed <= MAX_ROUNDS and state.base_iterations[instance] > self._exact_iterations_of(instance):
                        raise _MoreIterationsNeeded(_loop_numbers(instance), needed)
            self.verdict.conditions[condition, origin] = None
        elif counted != here:
            state.bounds.assume(here, found)
            for number in values_in(here):
                if number.terms:
                    self._note_scope(state, core, normalized(number.terms))
        return found

    def _in_shared_iterations(self, value: Affine, core: int, path: _IterationPath) -> Affine:
        """Return an integer in which iterations of the core's loops are those shared by all cores."""
        return (
            _on_shared_iterations(value, tuple(self._codes[core].loop_depths.items()), path) if value.terms else value
        )

    def _with_exact_iterations(self, value: Affine, state: _State) -> Affine:
        """Return an integer with exactly counted iterations replaced by their numbers."""
        found = Affine(value.constant)
        for part, times in value.terms:
            instance: Any = part.instance
            base = state.base_iterations.get(instance) if part.name == ITERATION else None
            if base is None or base > self._exact_iterations_of(instance):
                found = add(found, Affine(0, ((part, times),)))
            else:
                found = add(found, Affine(times * base))
        return found

    def _exact_iterations_of(self, loop_instance: _LoopInstance) -> int:
        """Return how many iterations of a loop are counted exactly."""
        return self._exact_iterations.get(_loop_numbers(loop_instance), self._exact_iterations[()])

    # -----------------------------------------------------------------------------------------
    # Normal form of states
    # -----------------------------------------------------------------------------------------

    def _normalize(self, state: _State) -> None:
        """Count iterations from the last core's, and drop bounds that no core queries again."""
        for core, at in enumerate(state.cores):
            at.has_loops = bool(at.path) or at.pc <= self._codes[core].last_loop
        for loop_instance in sorted(state.base_iterations, key=len):
            if loop_instance not in state.base_iterations:
                continue
            positions = [at.position_of(loop_instance) for at in state.cores]
            if all(position > 0 for position in positions):
                del state.base_iterations[loop_instance]
                continue
            if any(position < 0 for position in positions):
                continue
            depth = len(loop_instance) - 1
            passed = min(
                at.path[depth][1] for at, position in zip(state.cores, positions, strict=True) if position == 0
            )
            if passed:
                self._rebase(state, loop_instance, passed)
        for terms in list(state.bounds):
            scope = state.scopes.get(terms) or _innermost_loop(terms)
            if not any(self._may_query(core, at, scope, terms) for core, at in enumerate(state.cores)):
                del state.bounds[terms]
                state.scopes.pop(terms, None)

    def _may_query(self, core: int, at: _Core, scope: _LoopInstance, terms: Terms) -> bool:
        """Return True if a core may still query an integer that it does not query after a loop, or an iteration."""
        if all(part.name == ITERATION for part, _ in terms):
            # Bounds of iterations imply bounds of sums with them.
            return at.position_of(scope) <= 0
        indices = self._codes[core].queries.get(_signature(terms))
        if indices is None or at.pc < 0:
            return False
        position = at.position_of(scope) if scope else 0
        if position:
            return position < 0
        instruction = self._codes[core].instructions[at.pc]
        # An iteration runs once; a loop in it may run again.
        is_iteration = bool(scope) and len(scope[-1]) > 1
        depth = len(scope) if is_iteration or not scope else len(scope) - 1
        first = instruction.heads[depth] if len(instruction.heads) > depth else at.pc
        behind = (
            instruction.loop_tests[depth - 1].target
            if is_iteration and len(instruction.loop_tests) >= depth
            else len(self._codes[core].instructions)
        )
        return any(first <= index < behind for index in indices)

    def _rebase(self, state: _State, loop: _LoopInstance, by: int) -> None:
        """Count the iterations of a loop from a later one."""
        depth = len(loop) - 1
        for at in state.cores:
            if at.position_of(loop) == 0:
                number, iterations = at.path[depth]
                at.path = (*at.path[:depth], (number, iterations - by), *at.path[depth + 1 :])
        state.base_iterations = {
            _rebased_instance(other, loop, by): base for other, base in state.base_iterations.items()
        }
        state.base_iterations[loop] = base = min(state.base_iterations[loop] + by, self._exact_iterations_of(loop) + 1)
        bounds, scopes = Bounds(), dict[Terms, _LoopInstance]()
        for terms, (low, high) in state.bounds.items():
            value = _rebased_value(Affine(0, terms), loop, by)
            low, high = (None if limit is None else limit - value.constant for limit in (low, high))
            if value.terms[0][1] < 0:
                low, high = (None if limit is None else -limit for limit in (high, low))
                value = Affine(0, tuple((part, -times) for part, times in value.terms))
            bounds[value.terms] = low, high
            if terms in state.scopes:
                scopes[value.terms] = _rebased_instance(state.scopes[terms], loop, by)
        state.bounds, state.scopes = bounds, scopes
        this = ((Symbol(ITERATION, (), loop), 1),)
        if base > self._exact_iterations_of(loop):
            state.bounds[this] = base, None

    # -----------------------------------------------------------------------------------------
    # Events
    # -----------------------------------------------------------------------------------------

    def _execute_event(self, state: _State, core: int, do: EventNode) -> bool | CaseSplit:
        name, action = do.event.ring, do.event.action
        ring, end = self._rings[name], state.ends[name, core]
        signal: bool | None = None
        if do.signal is not None:
            found = self._evaluate(state, core, do.signal, do.origin)
            if isinstance(found, CaseSplit):
                return found
            signal = found
        waits = 0
        if action in ("push", "alloc"):
            waits = int(pipe_protocol.push_waits(end.acquires, ring.slots, ring.period))
        elif action == "drain":
            waits = ring.initial_credits or pipe_protocol.pending_free_credits(end.acquires, ring.slots, ring.period)
        queues = [state.credits[name, core, consumer] for consumer in self._consumers[name]] if waits else []
        if action == "pop":
            waits, queues = 1, [state.entries[name, producer, core] for producer in self._producers[name]]
        if any(len(queue) < waits for queue in queues):
            return False
        for queue in queues:
            for token in queue[:waits]:
                state.unseen_frees[core] = list(map(min, state.unseen_frees[core], token.unseen_frees))
                if token.signal is not None and do.received is not None:
                    received = self._in_shared_iterations(do.received, core, state.cores[core].path)
                    state.bounds[received.terms] = int(token.signal), int(token.signal)
                    self._note_scope(state, core, received.terms)
            del queue[:waits]
        state.cores[core].pc += 1
        match action:
            case "push" | "alloc" | "commit":
                if action != "commit":
                    self._acquire(state, core, name, ring, end)
                if action != "alloc":
                    for consumer in self._consumers[name]:
                        state.entries[name, core, consumer].append(_Token(list(state.unseen_frees[core]), signal))
            case "pop":
                end.popped = end.popped % ring.period + 1
                if ring.frees_at_pop:
                    self._free(state, core, name, ring, end)
                else:
                    end.outstanding += 1
                    if end.outstanding > ring.slots:
                        self._abort_path(state, "held", name)
            case "free":
                if not ring.frees_at_pop:
                    end.outstanding -= 1
                    if end.outstanding < 0:
                        self._abort_path(state, "unfreed", name)
                    self._free(state, core, name, ring, end)
            case _:
                pass
        return True

    def _abort_path(self, state: _State, kind: Outcome, ring: str) -> None:
        """Report an outcome and stop following this state."""
        self._report(kind, ring)
        state.cores[0].pc = -1

    def _acquire(self, state: _State, core: int, name: str, ring: RingBuffer, end: _EndState) -> None:
        end.acquires += 1
        if end.acquires >= ring.slots + ring.period:
            end.acquires -= ring.period
        for consumer in self._consumers[name]:
            lag = state.unseen_frees[core][self._consumer_index[name, consumer]]
            if state.occupancy[name, core, consumer] + lag >= ring.slots:
                self._report("overwrite", name)
                state.is_wrong = True
            state.occupancy[name, core, consumer] += 1

    def _free(self, state: _State, core: int, name: str, ring: RingBuffer, end: _EndState) -> None:
        """Free an entry, and return a credit to the producers if the number of pops is one after which it is due."""
        index = self._consumer_index[name, core]
        for producer in self._producers[name]:
            state.occupancy[name, producer, core] -= 1
        observers = [unseen_frees for other, unseen_frees in enumerate(state.unseen_frees) if other != core]
        for queues in (state.entries, state.credits):
            observers += [token.unseen_frees for queue in queues.values() for token in queue]
        for unseen_frees in observers:
            unseen_frees[index] = min(unseen_frees[index] + 1, ring.slots)
        end.credit_surplus = max(
            -2 * ring.slots, end.credit_surplus + (ring.period if end.popped == ring.period else 0) - 1
        )
        if end.credit_surplus > 0:
            self._report("early", name)
            state.is_wrong = True
            end.credit_surplus = 0
        if end.popped == ring.period:
            for producer in self._producers[name]:
                state.credits[name, producer, core].append(_Token(list(state.unseen_frees[core])))


def event_nodes_in(nodes: Sequence[Node]) -> Iterator[EventNode]:
    """Yield the events in a tree, each once however often it repeats."""
    for node in nodes:
        match node:
            case EventNode():
                yield node
            case Loop():
                yield from event_nodes_in(node.body)
            case Branch():
                yield from event_nodes_in(node.then)
                yield from event_nodes_in(node.otherwise)
            case Exit():
                pass


# ---------------------------------------------------------------------------------------------
# Iterations in integers
# ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 14)
def _on_shared_iterations(value: Affine, loop_depths: tuple[tuple[object, int], ...], path: _IterationPath) -> Affine:
    """Return an integer in which iterations of loops are those shared by all cores."""
    found = Affine(value.constant)
    by_key = dict(loop_depths)
    for part, times in value.terms:
        if part.name == ITERATION and part.instance and part.instance[0] in by_key:
            depth = by_key[part.instance[0]]
            number, iterations = path[depth]
            loop_instance: tuple[object, ...] = (*path[:depth], (number,))
            found = add(found, Affine(times * iterations, ((Symbol(ITERATION, (), loop_instance), times),)))
        else:
            operands = tuple(_on_shared_iterations(operand, loop_depths, path) for operand in part.operands)
            found = add(found, Affine(0, ((Symbol(part.name, operands, part.instance), times),)))
    return found


def _rebased_instance(loop_instance: _LoopInstance, by: _LoopInstance, count: int) -> _LoopInstance:
    """Return a loop or iteration where the loop `by` around it counts from a later iteration."""
    depth = len(by) - 1
    if len(loop_instance) < len(by) or loop_instance[:depth] != by[:depth] or loop_instance[depth][0] != by[depth][0]:
        return loop_instance
    if len(loop_instance[depth]) == 1:
        return loop_instance
    number, iterations = loop_instance[depth]
    return (*loop_instance[:depth], (number, iterations - count), *loop_instance[depth + 1 :])


@lru_cache(maxsize=1 << 14)
def _rebased_value(value: Affine, loop_instance: _LoopInstance, by: int) -> Affine:
    """Return an integer where a loop counts its iterations from a later one."""
    found = Affine(value.constant)
    for part, times in value.terms:
        instance: Any = part.instance
        if part.name == ITERATION:
            constant = -times * by if instance == loop_instance else 0
            instance = _rebased_instance(instance, loop_instance, by)
        else:
            constant = 0
        operands = tuple(_rebased_value(operand, loop_instance, by) for operand in part.operands)
        found = add(found, Affine(constant, ((Symbol(part.name, operands, instance), times),)))
    return found


@lru_cache(maxsize=1 << 14)
def _signature(terms: Terms) -> str:
    """Return a text that is equal for integers that differ only in loop iterations."""
    parts = {
        f"{part.name}({', '.join(_signature(operand.terms) for operand in part.operands)})"
        for part, _ in terms
        if part.name != ITERATION
    }
    return " + ".join(sorted(parts))


@lru_cache(maxsize=1 << 14)
def _innermost_loop(terms: Terms) -> _LoopInstance:
    """Return the innermost loop whose iteration a sum contains; empty without one."""
    places: list[Any] = [part.instance for part, _ in terms if part.name == ITERATION]
    return max(places, key=len, default=())


@lru_cache(maxsize=1 << 14)
def _inner_depth(terms: Terms) -> int:
    """Return the depth of the innermost loop that the symbols of a sum depend on; 0 if they are loop-invariant."""
    deepest = 0
    for part, _ in terms:
        for operand in part.operands:
            places = [len(inner.instance) for inner, _ in operand.terms if inner.name == ITERATION]
            deepest = max(deepest, _inner_depth(operand.terms), *places, 0)
    return deepest
