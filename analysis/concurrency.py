"""Concurrency of DSD operations in a PE program: which may run at the same time, and which do so in every run.

May run concurrently
--------------------
A PE program is read as a Petri net. Places are the states something can be in: a point in a body, the idle PE, a
pending activation, a task being blocked or unblocked, an asynchronous operation under way. Transitions are what
happens: an issue turns a point into the next point and an operation under way; a completion turns the operation
under way into the activation of its task; a task starts by taking the idle PE and its activation. Of the pairs of
places that can be occupied at the same time the least set closed under these rules is computed (the concurrency
relation of Kovalyov and Esparza): what one transition puts down together is concurrent, and what is concurrent with
everything a transition takes is concurrent with everything it puts down.

The result contains every pair that can really occur, and may contain more:
- branches are taken either way, loops any number of times above their stated minimum, and data is not looked at, so a
  join that counts completions in a variable is seen as going on after the first one; a join by `activate` and
  `unblock` is seen exactly;
- two places concurrent with a third are not checked all three at once;
- an activation of a task that is already active counts as a second activation.
Two things are assumed of the host and the program at rest: a function is launched when nothing runs any more, so an
operation that is still waiting then (a receive that nobody will ever serve) is not held against the next launch; and
a task that the program both blocks and unblocks is then back in the state it started in.

Certainly concurrent
--------------------
Two operations overlap in every run that reaches both, if one body issues both without a chance to wait in between: a
task is never interrupted, so a completion cannot be acted on before it ends. They are found with dominators: the
first, which is asynchronous, dominates the second or the second follows the first on all paths (networkx), and no
path between them passes a synchronous operation that waits for wavelets or for a FIFO, since the first may end
meanwhile. Only these are errors to report at compile time; the rest is for the run-time check (DSD-208, DSD-209).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import count
from typing import TYPE_CHECKING, cast

from ..diagnostics.records import record
from .skeleton import (
    Branch,
    Call,
    Function,
    Loop,
    Operation,
    Program,
    Signal,
    Statement,
    Task,
    callees_first,
    statements,
)

if TYPE_CHECKING:
    import networkx as nx


class Concurrency:
    """The two relations over the operations of one program."""

    def __init__(self, program: Program):
        self._keys = list(dict.fromkeys(operation.key for operation in program.operations()))
        self._numbers = {key: number for number, key in enumerate(self._keys)}
        loops = (each for body in program.bodies() for each in statements(body) if isinstance(each, Loop))
        self._loops = {loop.key: number for number, loop in enumerate(loops)}
        self._relations = _relations_of(*_numbered(program, self._numbers))

    def overlapping(self, key: Hashable) -> tuple[Hashable, ...]:
        """Return the operations that may be under way while `key` is, in order of appearance; `key` itself is one if it
        may be issued again before it has ended."""
        return tuple(self._keys[other] for other in self._relations.may[self._numbers[key]])

    def before(self, loop: Hashable) -> tuple[Hashable, ...]:
        """Return the operations that may be under way when the loop with a key is entered, in order of appearance."""
        return tuple(self._keys[number] for number in self._relations.before[self._loops[loop]])

    def certainly_overlap(self, first: Hashable, second: Hashable) -> bool:
        """Return True if every run that issues both has them under way together, whatever their timing."""
        return self._relations.certainly_overlap(self._numbers[first], self._numbers[second])

    def pairs(self) -> Iterator[tuple[Hashable, Hashable]]:
        """Yield every pair that may overlap, once, in order of appearance; a pair of equals for a self-overlap."""
        for number, key in enumerate(self._keys):
            for other in self._relations.may[number]:
                if other >= number:
                    yield key, self._keys[other]


_Tasks = tuple[tuple[Hashable, Task], ...]
_Functions = tuple[tuple[Hashable, Function], ...]


def _numbered(program: Program, numbers: Mapping[Hashable, int]) -> tuple[_Tasks, _Functions]:
    """Return a program whose operations and loops are called by their numbers: equal for programs that differ only in
    what they compute, as those of one file for different PEs mostly do."""
    loops = count()

    def body(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
        return tuple(map(statement, statements))

    def statement(one: Statement) -> Statement:
        match one:
            case Operation():
                return replace(one, key=numbers[one.key])
            case Branch():
                return Branch(tuple(map(body, one.arms)), one.separate)
            case Loop():
                number = next(loops)
                return Loop(body(one.body), one.at_least, number)
            case _:
                return one

    tasks = tuple((name, replace(task, body=body(task.body))) for name, task in program.tasks.items())
    return tasks, tuple((name, replace(code, body=body(code.body))) for name, code in program.functions.items())


@lru_cache(maxsize=64)
def _relations_of(tasks: _Tasks, functions: _Functions) -> _Relations:
    """Return the relations of a program; three passes ask for them, for every PE program."""
    return _Relations(Program(dict(tasks), dict(functions)))


class _Relations:
    """The two relations over numbered operations."""

    def __init__(self, program: Program):
        self._program = program
        net = _Net(program)
        related = net.concurrent_places()
        places = {place: cast(int, key) for key, place in net.under_way.items()}
        mask = sum(1 << place for place in places)
        self.may: dict[int, tuple[int, ...]] = {
            number: tuple(sorted(places[other] for other in _members(related[place] & mask)))
            for place, number in places.items()
        }
        self.before: dict[int, tuple[int, ...]] = {
            loop: tuple(sorted(places[other] for other in _members(related[place] & mask)))
            for loop, place in net.before_loop.items()
        }

    def certainly_overlap(self, first: int, second: int) -> bool:
        return any(
            body.both(first, second) or body.both(second, first) or (first == second and first in body.repeated)
            for body in self._issues[first]
        )

    @cached_property
    def _issues(self) -> dict[Hashable, list[_Issues]]:
        """Return the bodies that issue each operation."""
        issued: dict[Hashable, Sequence[Operation]] = {}
        waiting = _waiting_functions(self._program)
        bodies: list[_Issues] = []
        # Functions that may call themselves are left out: they issue nothing for certain.
        for name in callees_first(self._program):
            bodies.append(_Issues(self._program.functions[name].body, issued, waiting))
            issued[name] = bodies[-1].certain
        bodies.extend(_Issues(task.body, issued, waiting) for task in self._program.tasks.values())
        found: dict[Hashable, list[_Issues]] = defaultdict(list)
        for body in bodies:
            for key in body.nodes:
                found[key].append(body)
        return found


@record
class _Transition:
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class _Net:
    """The Petri net of a program; a place is a number, a set of places the bits of an int."""

    def __init__(self, program: Program):
        self._count = 0
        self._transitions: list[_Transition] = []
        self.under_way: dict[Hashable, int] = {}
        self.before_loop: dict[int, int] = {}
        self._program = program
        self._idle = self._place()
        self._host = self._place()
        signals = [signal for signal in _signals(program) if signal.task in program.tasks]
        is_blocked = {signal.task for signal in signals if signal.action == "block"}
        is_unblocked = {signal.task for signal in signals if signal.action == "unblock"}
        can_block = is_blocked | {name for name, task in program.tasks.items() if task.blocked}
        self._pending = {name: self._place() for name, task in program.tasks.items() if task.kind == "local"}
        self._state = {name: (self._place(), self._place()) for name in program.tasks if name in can_block}
        self._entry = {name: (self._place(), self._place()) for name in program.functions}
        # What one launch leaves to the next: states that are entered for good.
        self._kept = sum(
            1 << place
            for name, pair in self._state.items()
            if not (name in is_blocked and name in is_unblocked)
            for place in (*pair, *([self._pending[name]] if name in self._pending else []))
        )
        for name, function in program.functions.items():
            start, end = self._entry[name]
            self._connect(start, function.body, end)
            if function.exported:
                self._launch(start, end)
        for name, task in program.tasks.items():
            start, end = self._place(), self._place()
            self._connect(start, task.body, end)
            self._add((end,), (self._idle,))
            awaited = (self._pending[name],) if name in self._pending else ()
            unblocked = (self._state[name][1],) if name in self._state else ()
            self._add((self._idle, *awaited, *unblocked), (start, *unblocked))

    def _place(self) -> int:
        self._count += 1
        return self._count - 1

    def _add(self, inputs: Iterable[int], outputs: Iterable[int]) -> None:
        self._transitions.append(_Transition(tuple(inputs), tuple(outputs)))

    def _launch(self, start: int, end: int) -> None:
        launched = self._place()
        self._add((self._idle, self._host), (start, launched))
        self._add((end, launched), (self._idle,))

    def _operation_place(self, key: Hashable) -> int:
        if key not in self.under_way:
            self.under_way[key] = self._place()
        return self.under_way[key]

    def _connect(self, start: int, body: tuple[Statement, ...], end: int) -> None:
        """Add the transitions that lead from point `start` through `body` to point `end`."""
        here = start
        for statement in body:
            following = self._place()
            self._step(here, statement, following)
            here = following
        self._add((here,), (end,))

    def _step(self, here: int, statement: Statement, following: int) -> None:
        match statement:
            case Signal():
                self._signal((here,), (statement,), (following,))
            case Operation():
                under_way = self._operation_place(statement.key)
                if statement.asynchronous:
                    self._add((here,), (following, under_way))
                    for completion in statement.completions:
                        self._signal((under_way,), completion, ())
                else:
                    # The PE stalls meanwhile: the operation is itself the point the program is at.
                    self._add((here,), (under_way,))
                    self._add((under_way,), (following,))
            case Call():
                start, end = self._entry[statement.function]
                returning = self._place()
                self._add((here,), (start, returning))
                self._add((end, returning), (following,))
            case Branch():
                for arm in statement.arms:
                    self._connect(here, arm, following)
            case Loop():
                self.before_loop[cast(int, statement.key)] = here
                entry, last = self._place(), self._place()
                self._add((here,), (entry,))
                self._connect(entry, statement.body, last)
                self._add((last,), (entry,))
                self._add((last if statement.at_least else entry,), (following,))

    def _signal(self, inputs: tuple[int, ...], signals: tuple[Signal, ...], outputs: tuple[int, ...]) -> None:
        """Add a transition that also signals; blocking and unblocking look at the state they find."""
        variants = [(inputs, outputs)]
        for signal in signals:
            if signal.action == "activate":
                if signal.task in self._pending:
                    pending = self._pending[signal.task]
                    variants = [(before, (*after, pending)) for before, after in variants]
            elif signal.task in self._state:
                new = self._state[signal.task][signal.action == "unblock"]
                variants = [
                    ((*before, old), (*after, new)) for before, after in variants for old in self._state[signal.task]
                ]
        for before, after in variants:
            self._add(before, after)

    def _start(self) -> list[int]:
        marked = [self._idle, self._host]
        for name, task in self._program.tasks.items():
            if task.active and name in self._pending:
                marked.append(self._pending[name])
            if name in self._state:
                marked.append(self._state[name][not task.blocked])
        return marked

    def concurrent_places(self) -> list[int]:
        """Return for every place the set of places that may be occupied together with it."""
        related = [0] * self._count
        consumers: dict[int, list[int]] = defaultdict(list)
        for number, transition in enumerate(self._transitions):
            for place in transition.inputs:
                consumers[place].append(number)
        waiting = deque(range(len(self._transitions)))
        queued = [True] * len(self._transitions)
        kept = self._kept

        def touch(place: int) -> None:
            for number in consumers[place]:
                if not queued[number]:
                    queued[number] = True
                    waiting.append(number)

        def relate(place: int, others: int) -> None:
            new = others & ~related[place]
            if not new:
                return
            related[place] |= new
            touch(place)
            bit = 1 << place
            for other in _members(new):
                if not related[other] & bit:
                    related[other] |= bit
                    touch(other)
            if place == self._idle and new & kept:
                relate(self._host, new & kept)

        marked = self._start()
        reachable = sum(1 << place for place in marked)
        for place in marked:
            relate(place, reachable & ~(1 << place))
        while waiting:
            number = waiting.popleft()
            queued[number] = False
            inputs, outputs = self._transitions[number].inputs, self._transitions[number].outputs
            if not all(reachable >> place & 1 for place in inputs):
                continue
            if any(not related[place] >> other & 1 for place in inputs for other in inputs if place < other):
                continue
            beside = ~0
            for place in inputs:
                beside &= related[place]
            everything = sum(1 << place for place in set(outputs))
            for place in outputs:
                if not reachable >> place & 1:
                    reachable |= 1 << place
                    touch(place)
                # What the transition only reads stays beside what it puts down, never beside itself.
                relate(place, (beside | everything) & ~(1 << place) | beside & 1 << place)
        return related


def _members(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _signals(program: Program) -> Iterator[Signal]:
    for body in program.bodies():
        for statement in statements(body):
            if isinstance(statement, Signal):
                yield statement
            elif isinstance(statement, Operation):
                for completion in statement.completions:
                    yield from completion


def _waiting_functions(program: Program) -> set[Hashable]:
    """Return the functions in which, or in what they call, a synchronous operation may wait."""
    found: set[Hashable] = set()
    callers: dict[Hashable, set[Hashable]] = defaultdict(set)
    for name, function in program.functions.items():
        for statement in statements(function.body):
            if isinstance(statement, Operation) and statement.waits:
                found.add(name)
            elif isinstance(statement, Call):
                callers[statement.function].add(name)
    pending = list(found)
    while pending:
        new = callers[pending.pop()] - found
        found |= new
        pending += new
    return found


class _Issues:
    """Which issues follow which on every path through one body."""

    def __init__(
        self,
        body: tuple[Statement, ...],
        issued_by: Mapping[Hashable, Sequence[Operation]],
        waiting_functions: Container[Hashable],
    ):
        import networkx as nx

        self._graph: nx.DiGraph[int] = nx.DiGraph()
        self._issued_by = issued_by
        self._waiting_functions = waiting_functions
        self._waits: set[int] = set()
        self._repeated: list[tuple[int, int, int]] = []
        self.nodes: dict[Hashable, list[int]] = defaultdict(list)
        """Where each operation is issued; a call issues what its function issues for certain."""
        self._operations: dict[Hashable, Operation] = {}
        start = self._node()
        end = self._follow(start, body)
        self._before = _Dominance(self._graph, start)
        self._after = _Dominance(self._graph.reverse(copy=False), end)
        self.certain = [
            operation
            for key, operation in self._operations.items()
            if any(self._before.holds(node, end) for node in self.nodes[key])
        ]
        self.repeated = {
            key
            for first, last, exit in self._repeated
            for key, operation in self._operations.items()
            if operation.asynchronous
            and any(
                first <= node < last and self._before.holds(node, exit) and not self._may_wait_between(node, node)
                for node in self.nodes[key]
            )
        }
        """The asynchronous operations that a loop issues at least twice."""

    def _node(self) -> int:
        node = len(self._graph)
        self._graph.add_node(node)
        return node

    def _follow(self, here: int, body: tuple[Statement, ...]) -> int:
        for statement in body:
            here = self._step(here, statement)
        return here

    def _step(self, here: int, statement: Statement) -> int:
        match statement:
            case Signal():
                return here
            case Operation() | Call():
                if isinstance(statement, Operation):
                    issued: Sequence[Operation] = (statement,)
                else:
                    issued = self._issued_by.get(statement.function, ())
                node = self._node()
                self._graph.add_edge(here, node)
                if isinstance(statement, Operation):
                    waits = statement.waits
                else:
                    waits = statement.function in self._waiting_functions
                if waits:
                    self._waits.add(node)
                for operation in issued:
                    self._operations[operation.key] = operation
                    self.nodes[operation.key].append(node)
                return node
            case Branch():
                ends = [self._follow(here, arm) for arm in statement.arms]
                following = self._node()
                self._graph.add_edges_from((end, following) for end in ends or [here])
                return following
            case Loop():
                entry = self._node()
                self._graph.add_edge(here, entry)
                last = self._follow(entry, statement.body)
                following = self._node()
                self._graph.add_edge(last, entry)
                self._graph.add_edge(last if statement.at_least else entry, following)
                if statement.at_least > 1:
                    self._repeated.append((entry, following, last))
                return following

    def both(self, first: Hashable, second: Hashable) -> bool:
        """Return True if the asynchronous `first` precedes `second` in every run of the body that issues both."""
        if first not in self._operations or not self._operations[first].asynchronous:
            return False
        return any(
            (self._before.holds(a, b) or self._after.holds(b, a)) and not self._may_wait_between(a, b)
            for a in self.nodes[first]
            for b in self.nodes.get(second, ())
            if a != b
        )

    def _may_wait_between(self, first: int, second: int) -> bool:
        """Return True if a path from `first` to `second`, which passes neither in between, passes a wait."""
        if not self._waits:
            return False
        behind = _walked(self._graph.successors, first, second)
        before = _walked(self._graph.predecessors, second, first)
        return not self._waits.isdisjoint(behind & before)


def _walked(following: Callable[[int], Iterable[int]], start: int, end: int) -> set[int]:
    """Return the nodes that follow `start` up to `end`, without these two."""
    found: set[int] = set()
    pending = list(following(start))
    while pending:
        node = pending.pop()
        if node not in (start, end) and node not in found:
            found.add(node)
            pending += following(node)
    return found


class _Dominance:
    """The dominator tree of a graph, numbered so that dominance is a comparison."""

    def __init__(self, graph: nx.DiGraph[int], start: int):
        import networkx as nx

        # The stubs of networkx do not know the result.
        dominators = cast(
            "dict[int, int | None]",
            nx.immediate_dominators(graph, start),  # pyright: ignore[reportUnknownMemberType]
        )
        children: dict[int, list[int]] = defaultdict(list)
        for node, parent in dominators.items():
            if parent is not None and parent != node:
                children[parent].append(node)
        self._enter: dict[int, int] = {}
        self._leave: dict[int, int] = {}
        pending = [(start, False)]
        while pending:
            node, done = pending.pop()
            if done:
                self._leave[node] = len(self._enter)
                continue
            self._enter[node] = len(self._enter)
            pending.append((node, True))
            pending.extend((child, False) for child in children[node])

    def holds(self, above: int, below: int) -> bool:
        """Return True if every path from the start to `below` passes `above`."""
        if above not in self._enter or below not in self._enter:
            return False
        return self._enter[above] <= self._enter[below] < self._leave[above]
