"""The search: cores run until they end, wait for each other or split on a comparison; no state is searched twice."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

from ...operations import pipe_protocol
from ..event_graph import Event, RingBuffer
from ..symbolic_integers import (
    ITERATION,
    Affine,
    Bounds,
    CaseSplit,
    Condition,
    Interval,
    Symbol,
    Terms,
    normalized,
    substitute,
    values_in,
)
from .control_trees import EventNode, Node, event_nodes_in
from .instructions import MAX_ROUNDS, Instruction, compile_core
from .iterations import (
    IterationPath,
    LoopInstance,
    LoopNumbers,
    inner_depth,
    innermost_loop,
    loop_numbers,
    on_shared_iterations,
    rebased_instance,
    rebased_value,
    signature,
)
from .states import Core, EndState, State, Token
from .verdicts import Outcome, Verdict

MAX_STATES = 5_000
"""States after which the search stops."""

MAX_WORK = 400_000
"""Instructions, weighted by the bounds in their states, after which the search stops."""

MAX_BOUNDS = 40
"""Bounds and active loops of one state after which the search stops."""

MAX_TOKENS = 40
"""Entries and credits in flight between two cores after which the search stops."""


_ONE_PAIR = 2


class _MoreIterationsNeeded(Exception):
    """Raised when more iterations of a loop have to be counted exactly."""

    def __init__(self, loop: LoopNumbers, needed: int) -> None:
        super().__init__(loop, needed)
        self.loop = loop
        self.needed = needed


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
    exact_iterations: dict[LoopNumbers, int] = {(): min(least, MAX_ROUNDS)}
    while True:
        try:
            return _Search(cores, rings, bounds or {}, exact_iterations, max_work).verdict
        except _MoreIterationsNeeded as more:
            exact_iterations[more.loop] = more.needed


def _least_advanced_first(state: State) -> Sequence[int]:
    """Return the cores in the order in which they may go on."""
    cores = state.cores
    if len(cores) == _ONE_PAIR:  # as nearly always
        return (0, 1) if cores[0].order() <= cores[1].order() else (1, 0)
    return sorted(range(len(cores)), key=lambda core: cores[core].order())


class _Search:
    def __init__(
        self,
        cores: Mapping[str, Sequence[Node]],
        rings: Mapping[str, RingBuffer],
        bounds: Mapping[Terms, Interval],
        exact_iterations: Mapping[LoopNumbers, int],
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
            compile_core(
                nodes,
                [Event(ring, "drain") for ring in rings if rings[ring].drained and core in self._producers[ring]],
            )
            for core, nodes in enumerate(cores.values())
        ]
        consumers = ((ring, core) for ring in rings for core in self._consumers[ring])
        self._consumer_index = {pair: index for index, pair in enumerate(consumers)}
        self._seen: set[object] = set()
        self._conditions: dict[tuple[int, int, IterationPath], tuple[Condition, bool]] = {}
        """Conditions of the code in the iterations all cores share, and whether they count iterations, by where they
        are asked for."""
        self._work = 0
        self._is_aborted = False
        self._pending = [self._start(bounds)]
        while self._pending:
            if self._is_aborted:
                break
            self._run(self._pending.pop())
        self.verdict.is_complete = not self._is_aborted
        self.verdict.states = len(self._seen)

    def _start(self, bounds: Mapping[Terms, Interval]) -> State:
        pairs = [
            (ring, producer, consumer)
            for ring in self._rings
            for producer in self._producers[ring]
            for consumer in self._consumers[ring]
        ]
        none = [0] * len(self._consumer_index)
        return State(
            [Core() for _ in self._codes],
            {
                (ring, core): EndState()
                for ring in self._rings
                for core in dict.fromkeys((*self._producers[ring], *self._consumers[ring]))
            },
            dict.fromkeys(pairs, 0),
            {pair: [] for pair in pairs},
            {pair: [Token(list(none)) for _ in range(self._rings[pair[0]].initial_credits)] for pair in pairs},
            [list(none) for _ in self._codes],
            Bounds(bounds),
            {},
            {},
        )

    # -----------------------------------------------------------------------------------------
    # Search
    # -----------------------------------------------------------------------------------------

    def _run(self, state: State) -> None:
        """Run the cores until they end, deadlock, reach a visited state, or split on a comparison."""
        weight = 0
        while True:
            # Weighed where it may have been before: elsewhere it grows by the few events up to the next such place.
            if not weight:
                size = len(state.bounds) + len(state.base_iterations)
                tokens = sum(map(len, state.entries.values())) + sum(map(len, state.credits.values()))
                weight = 1 + size + tokens // 4
                if len(self._seen) > MAX_STATES or size > MAX_BOUNDS or tokens > MAX_TOKENS * len(state.entries):
                    self._is_aborted = True
            self._work += weight
            if self._is_aborted or self._work > self._max_work:
                self._is_aborted = True
                return
            moved, is_repeat, asking = False, False, -1
            for core in _least_advanced_first(state):
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
                weight = 0
            elif not moved:
                self._conclude(state)
                return
            elif state.cores[0].pc < 0:
                return
            elif is_repeat:
                if self._is_visited(state, "repeats"):
                    return
                weight = 0

    def _assume(self, state: State, core: int, split: CaseSplit, answer: bool) -> None:
        state.bounds.record(split, answer)
        self._note_scope(state, core, split.terms)

    def _note_scope(self, state: State, core: int, terms: Terms) -> None:
        """Record the iteration of a bound that holds in one iteration only."""
        depth = inner_depth(terms)
        if depth:
            state.scopes.setdefault(terms, state.cores[core].path[:depth])

    def _is_visited(self, state: State, why: str) -> bool:
        self._normalize(state)
        key = why, state.key()
        if key in self._seen:
            return True
        self._seen.add(key)
        return False

    def _conclude(self, state: State) -> None:
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

    def _step(self, state: State, core: int, instruction: Instruction) -> bool | CaseSplit:
        """Execute an instruction; return True if the core can, or the comparison to split on."""
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

    def _evaluate(self, state: State, core: int, condition: Condition, origin: Any) -> bool | CaseSplit:
        """Return True if a condition holds at a core's position, or the comparison to split on."""
        if isinstance(condition, bool):
            return condition
        at = state.cores[core]
        # By identity, which lasts as long as the code does: hashing takes longer.
        place = id(condition), core, at.path
        known = self._conditions.get(place)
        if known is None:
            here = substitute(condition, lambda value: self._in_shared_iterations(value, core, at.path))
            counts = any(part.name == ITERATION for value in values_in(here) for part, _ in value.terms)
            known = self._conditions[place] = here, counts
        here, counts = known
        counted = substitute(here, lambda value: self._with_exact_iterations(value, state)) if counts else here
        found = state.bounds.decide(counted)
        if isinstance(found, CaseSplit):
            if all(value.name == ITERATION for value, _ in found.terms):
                for value, _ in found.terms:
                    instance: Any = value.instance
                    needed = max(abs(found.bound), self._exact_iterations_of(instance) + 1) + 1
                    if needed <= MAX_ROUNDS and state.base_iterations[instance] > self._exact_iterations_of(instance):
                        raise _MoreIterationsNeeded(loop_numbers(instance), needed)
            self.verdict.conditions[condition, origin] = None
        elif counted != here:
            state.bounds.assume(here, found)
            for number in values_in(here):
                if number.terms:
                    self._note_scope(state, core, normalized(number.terms))
        return found

    def _in_shared_iterations(self, value: Affine, core: int, path: IterationPath) -> Affine:
        """Return an integer in which iterations of the core's loops are those shared by all cores."""
        return on_shared_iterations(value, tuple(self._codes[core].loop_depths.items()), path) if value.terms else value

    def _with_exact_iterations(self, value: Affine, state: State) -> Affine:
        """Return an integer with exactly counted iterations replaced by their numbers."""
        if not any(part.name == ITERATION for part, _ in value.terms):
            return value
        constant, kept = value.constant, list[tuple[Symbol, int]]()
        for part, times in value.terms:
            instance: Any = part.instance
            base = state.base_iterations.get(instance) if part.name == ITERATION else None
            if base is None or base > self._exact_iterations_of(instance):
                kept.append((part, times))
            else:
                constant += times * base
        return Affine(constant, tuple(kept))

    def _exact_iterations_of(self, loop_instance: LoopInstance) -> int:
        """Return how many iterations of a loop are counted exactly."""
        return self._exact_iterations.get(loop_numbers(loop_instance), self._exact_iterations[()])

    # -----------------------------------------------------------------------------------------
    # Normal form of states
    # -----------------------------------------------------------------------------------------

    def _normalize(self, state: State) -> None:
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
        positions_in: dict[LoopInstance, list[int]] = {}
        for terms in list(state.bounds):
            scope = state.scopes.get(terms) or innermost_loop(terms)
            positions = positions_in.get(scope)
            if positions is None:
                positions = positions_in[scope] = [at.position_of(scope) if scope else 0 for at in state.cores]
            shape = signature(terms)
            for core, position in enumerate(positions):
                # A sum of iterations has no shape: its bounds imply bounds of sums with them.
                if position <= 0 if not shape else self._may_query(core, state.cores[core].pc, position, scope, shape):
                    break
            else:
                del state.bounds[terms]
                state.scopes.pop(terms, None)

    def _may_query(self, core: int, pc: int, position: int, scope: LoopInstance, shape: str) -> bool:
        """Return True if a core may still query an integer that it does not query after a loop, or an iteration.

        `scope` is that loop or iteration, `position` where the core is to it, and `shape` the signature of the integer.
        """
        code = self._codes[core]
        indices = code.queries.get(shape)
        if indices is None or pc < 0:
            return False
        if position:
            return position < 0
        instruction = code.instructions[pc]
        # An iteration runs once; a loop in it may run again.
        is_iteration = bool(scope) and len(scope[-1]) > 1
        depth = len(scope) if is_iteration or not scope else len(scope) - 1
        first = instruction.heads[depth] if len(instruction.heads) > depth else pc
        behind = (
            instruction.loop_tests[depth - 1].target
            if is_iteration and len(instruction.loop_tests) >= depth
            else len(code.instructions)
        )
        # They are in order.
        place = bisect_left(indices, first)
        return place < len(indices) and indices[place] < behind

    def _rebase(self, state: State, loop: LoopInstance, by: int) -> None:
        """Count the iterations of a loop from a later one."""
        depth = len(loop) - 1
        for at in state.cores:
            if at.position_of(loop) == 0:
                number, iterations = at.path[depth]
                at.path = (*at.path[:depth], (number, iterations - by), *at.path[depth + 1 :])
        state.base_iterations = {
            rebased_instance(other, loop, by): base for other, base in state.base_iterations.items()
        }
        state.base_iterations[loop] = base = min(state.base_iterations[loop] + by, self._exact_iterations_of(loop) + 1)
        bounds, scopes = Bounds(), dict[Terms, LoopInstance]()
        for terms, (low, high) in state.bounds.items():
            value = rebased_value(Affine(0, terms), loop, by)
            low, high = (None if limit is None else limit - value.constant for limit in (low, high))
            if value.terms[0][1] < 0:
                low, high = (None if limit is None else -limit for limit in (high, low))
                value = Affine(0, tuple((part, -times) for part, times in value.terms))
            bounds[value.terms] = low, high
            if terms in state.scopes:
                scopes[value.terms] = rebased_instance(state.scopes[terms], loop, by)
        state.bounds, state.scopes = bounds, scopes
        this = ((Symbol(ITERATION, (), loop), 1),)
        if base > self._exact_iterations_of(loop):
            state.bounds[this] = base, None

    # -----------------------------------------------------------------------------------------
    # Events
    # -----------------------------------------------------------------------------------------

    def _execute_event(self, state: State, core: int, do: EventNode) -> bool | CaseSplit:
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
                        state.entries[name, core, consumer].append(Token(list(state.unseen_frees[core]), signal))
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

    def _abort_path(self, state: State, kind: Outcome, ring: str) -> None:
        """Report an outcome and stop following this state."""
        self._report(kind, ring)
        state.cores[0].pc = -1

    def _acquire(self, state: State, core: int, name: str, ring: RingBuffer, end: EndState) -> None:
        end.acquires += 1
        if end.acquires >= ring.slots + ring.period:
            end.acquires -= ring.period
        for consumer in self._consumers[name]:
            lag = state.unseen_frees[core][self._consumer_index[name, consumer]]
            if state.occupancy[name, core, consumer] + lag >= ring.slots:
                self._report("overwrite", name)
                state.is_wrong = True
            state.occupancy[name, core, consumer] += 1

    def _free(self, state: State, core: int, name: str, ring: RingBuffer, end: EndState) -> None:
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
                state.credits[name, producer, core].append(Token(list(state.unseen_frees[core])))
