"""What cores that hand entries to each other can come to, whatever the numbers are that their loops and branches ask.

A core is a tree of loops, branches and events. What it does next may depend on numbers that are not known: then it is
followed both ways, and what the answer tells of the number is kept for all cores that ask. As cores wait for each
other by counted entries and credits alone, what they come to does not depend on the order in which they take turns,
so one order is enough; whether a push comes behind the free of its slot in every order is told by what each token
knows of frees. A state is where each core stands, relative to the others, the tokens on their way, and what is known
of numbers: there are finitely many where cores that go round loops stay together, and if all have been seen, what is
not among them cannot happen, however often the loops go round. Loops of unknown length pass through more states than
there are: what was known of a number of rounds may be forgotten, so that an outcome that is found need not happen.

Knows the arithmetic of pipes and numbers, nothing of IR.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from ..operations import pipe_protocol
from .event_graph import Event, Ring
from .symbolic_integers import (
    ROUND,
    Below,
    Condition,
    Knowledge,
    Limits,
    Linear,
    Question,
    Terms,
    Unknown,
    normal,
    numbers_in,
    plus,
    replaced,
    unknown,
)

MAX_STATES = 5_000
"""States after which a search is given up."""

MAX_MOVES = 400_000
"""Events and tests, each as often as something is known, after which a search is given up."""

MAX_KNOWN = 40
"""Numbers of which something is known, and loops that cores are in, after which a search is given up."""

MAX_TOKENS = 40
"""Entries and credits on their way from one core to another, after which a search is given up."""

MAX_ROUNDS = 256
"""Rounds of a loop that are told apart."""

MAX_COPIES = 512
"""Nodes as which a loop of known length may be written out."""

# ---------------------------------------------------------------------------------------------
# What a core does
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Do:
    """An event; a push may carry a signal, a condition, and a pop receive one, a flag."""

    event: Event
    origin: Any = None
    signal: Condition | None = None
    received: Linear | None = None


@dataclass(frozen=True, eq=False)
class Repeat:
    """A loop that goes on while `test` holds, in which its round is `rounds(self)`; `count` is how often, if known."""

    key: object
    test: Condition
    body: Sequence[Node]
    count: int | None = None
    origin: Any = None
    trips: Linear | None = None
    """How often the loop goes round, if that is one number; as far as it is not negative."""


@dataclass(frozen=True, eq=False)
class Choose:
    """A branch."""

    condition: Condition
    then: Sequence[Node]
    other: Sequence[Node]
    origin: Any = None


@dataclass(frozen=True, eq=False)
class Leave:
    """Leaves the innermost loop unless a condition holds."""

    condition: Condition
    origin: Any = None


Node: TypeAlias = Do | Repeat | Choose | Leave


def rounds(key: object) -> Linear:
    """How often the loop of this key has come round, as a number in conditions within it."""
    return Linear(0, ((Unknown(ROUND, (), (key,)), 1),))


Kind: TypeAlias = Literal["end", "left", "deadlock", "overwrite", "early", "held", "unfreed"]
"""What cores come to: their ends; their ends with entries left; waiting forever; a push that may overwrite; free
slots that are told of before there are so many; all slots held by a consumer that asks for another entry; entries
taken out that are not freed, or freed before."""


@dataclass
class Verdict:
    """What cores may come to; they come to nothing else if all states have been seen.

    `asked` are the numbers that it depends on, with where they are asked for.
    """

    outcomes: dict[tuple[Kind, str], None] = field(default_factory=dict[tuple[Kind, str], None])
    is_complete: bool = True
    asked: dict[tuple[Condition, Any], None] = field(default_factory=dict[tuple[Condition, Any], None])
    states: int = 0

    @property
    def is_clean(self) -> bool:
        """Whether nothing goes wrong, for certain."""
        return self.is_complete and all(kind == "end" for kind, _ in self.outcomes)

    @property
    def is_wrong(self) -> bool:
        """Whether something goes wrong, for certain."""
        return self.is_complete and bool(self.outcomes) and all(kind != "end" for kind, _ in self.outcomes)


# ---------------------------------------------------------------------------------------------
# Instructions
# ---------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Step:
    """One instruction: an event, a test with where to go on if it fails, or a jump."""

    what: Literal["do", "enter", "test", "again", "branch", "leave", "jump", "end"]
    do: Do | None = None
    condition: Condition = True
    target: int = 0
    origin: Any = None
    heads: tuple[int, ...] = ()
    """Where the loops around it begin, outermost first."""
    tests: tuple[_Step, ...] = ()
    """The tests of these loops."""


@dataclass(eq=False)
class _Code:
    """A core's instructions, with how deep each loop that is told apart by its rounds stands in others."""

    steps: list[_Step] = field(default_factory=list[_Step])
    depths: dict[object, int] = field(default_factory=dict[object, int])
    last_loop: int = -1
    """Where the last loop begins that is in no other."""
    asked: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    """Where numbers of one kind are asked for, see `_shape`."""

    def add(self, step: _Step, loops: Sequence[tuple[int, _Step]]) -> None:
        """Append a step that stands in loops that begin at these places, with these tests."""
        step.heads, step.tests = tuple(head for head, _ in loops), tuple(test for _, test in loops)
        conditions = [step.condition] if step.do is None or step.do.signal is None else [step.do.signal]
        for number in (number for condition in conditions for number in numbers_in(condition)):
            for shape in {_shape(number.terms), *(_shape((term,)) for term in number.terms)}:
                self.asked.setdefault(shape, []).append(len(self.steps))
        self.steps.append(step)


def _is_plain(node: Node) -> bool:
    """Whether a node is written out: without conditions, and as often as is known."""
    if isinstance(node, Do):
        return node.signal is None and node.received is None
    return (
        isinstance(node, Repeat)
        and node.count is not None
        and all(map(_is_plain, node.body))
        and node.count * _length(node.body) <= MAX_COPIES
    )


def _length(nodes: Sequence[Node]) -> int:
    return sum(_length(node.body) * (node.count or 0) if isinstance(node, Repeat) else 1 for node in nodes)


def _compiled(nodes: Sequence[Node], drains: Sequence[Event]) -> _Code:
    code = _Code()
    _compile(code, nodes, (), [])
    for event in drains:
        code.add(_Step("do", Do(event)), ())
    code.add(_Step("end"), ())
    return code


def _test(loop: Repeat) -> Condition:
    """The test of a loop; one of very many rounds is like one of an unknown number."""
    if loop.count is None or loop.count < MAX_ROUNDS:
        return loop.test
    return Below(plus(rounds(loop.key), unknown(str(loop.count)), -1))


def _compile(code: _Code, nodes: Sequence[Node], loops: tuple[tuple[int, _Step], ...], leaves: list[_Step]) -> None:
    for node in nodes:
        match node:
            case Do():
                code.add(_Step("do", node), loops)
            case Repeat() if _is_plain(node):
                for _ in range(node.count or 0):
                    _compile(code, node.body, loops, leaves)
            case Repeat():
                code.depths[node.key] = len(loops)
                code.last_loop = code.last_loop if loops else max(code.last_loop, len(code.steps))
                code.add(_Step("enter"), loops)
                test = _Step("test", condition=_test(node), origin=node.origin)
                head = len(code.steps)
                inside = (*loops, (head, test))
                code.add(test, inside)
                inner: list[_Step] = []
                _compile(code, node.body, inside, inner)
                code.add(_Step("again", target=head), inside)
                for step in (test, *inner):
                    step.target = len(code.steps)
            case Choose():
                branch = _Step("branch", condition=node.condition, origin=node.origin)
                code.add(branch, loops)
                _compile(code, node.then, loops, leaves)
                jump = _Step("jump")
                code.add(jump, loops)
                branch.target = len(code.steps)
                _compile(code, node.other, loops, leaves)
                jump.target = len(code.steps)
            case Leave():
                leave = _Step("leave", condition=node.condition, origin=node.origin)
                code.add(leave, loops)
                leaves.append(leave)


# ---------------------------------------------------------------------------------------------
# Where cores stand
# ---------------------------------------------------------------------------------------------

_Group: TypeAlias = tuple[tuple[int, ...], ...]
"""A loop as all cores see it: its number among those entered in the round of the loop around it, with that loop's
number and round, and so on; outermost first. `((0, 3), (1,))` is the second loop in the fourth round of the first."""

_Path: TypeAlias = tuple[tuple[int, int], ...]
"""The number and round of each loop a core is in; outermost first."""


@dataclass
class _Core:
    place: int = 0
    path: _Path = ()
    entered: tuple[int, ...] = (0,)
    """How many loops were entered, and left, at each depth."""

    def group(self, depth: int) -> _Group:
        return (*self.path[:depth], self.path[depth][:1])

    def order(self) -> tuple[tuple[int, int], ...]:
        """Grows while the core goes on."""
        return (*self.path, (self.entered[-1], -1))

    has_loops: bool = True
    """Whether the core comes to more loops."""

    def where(self, group: _Group) -> int:
        """-1 before a loop, or a round of one, 0 in it, 1 behind it."""
        if not self.has_loops:
            return 1
        for depth, part in enumerate(group):
            if depth >= len(self.path):
                return 1 if self.entered[depth] > part[0] else -1
            for mine, other in zip(self.path[depth], part, strict=False):
                if mine != other:
                    return 1 if mine > other else -1
        return 0


@dataclass
class _Token:
    """An entry or a credit on its way: how many frees its sender did not know of, and the signal it carries."""

    lags: list[int]
    signal: bool | None = None


@dataclass
class _End:
    """What one core has done with one ring."""

    acquires: int = 0
    popped: int = 0
    outstanding: int = 0
    told: int = 0
    """Slots that were told to be free, less those freed; not less than a ring's negative."""


_Pair: TypeAlias = tuple[str, int, int]
"""A ring, its producer and its consumer."""


@dataclass
class _State:
    cores: list[_Core]
    ends: dict[tuple[str, int], _End]
    ahead: dict[_Pair, int]
    """How many entries a producer is ahead of those a consumer is done with."""
    entries: dict[_Pair, list[_Token]]
    credits: dict[_Pair, list[_Token]]
    lags: list[list[int]]
    """Of each core, how many frees of each consumer it does not know of."""
    known: Knowledge
    bases: dict[_Group, int]
    """The round of each loop from which those of cores in it are counted."""
    frames: dict[Terms, _Group]
    """The round in which something became known that is not asked in others."""
    is_wrong: bool = False

    def copy(self) -> _State:
        def tokens(queues: dict[_Pair, list[_Token]]) -> dict[_Pair, list[_Token]]:
            return {pair: [_Token(list(t.lags), t.signal) for t in queue] for pair, queue in queues.items()}

        return _State(
            [_Core(core.place, core.path, core.entered, core.has_loops) for core in self.cores],
            {key: _End(end.acquires, end.popped, end.outstanding, end.told) for key, end in self.ends.items()},
            dict(self.ahead),
            tokens(self.entries),
            tokens(self.credits),
            [list(lags) for lags in self.lags],
            Knowledge(self.known),
            dict(self.bases),
            dict(self.frames),
            self.is_wrong,
        )

    def key(self) -> object:
        def tokens(queues: dict[_Pair, list[_Token]]) -> object:
            return tuple(tuple((*t.lags, t.signal) for t in queue) for queue in queues.values())

        return (
            tuple((core.place, core.path, core.entered) for core in self.cores),
            tuple((end.acquires, end.popped, end.outstanding, end.told) for end in self.ends.values()),
            tuple(self.ahead.values()),
            tokens(self.entries),
            tokens(self.credits),
            tuple(map(tuple, self.lags)),
            frozenset(self.known.items()),
            frozenset(self.bases.items()),
            self.is_wrong,
        )


_Numbers: TypeAlias = tuple[int, ...]
"""The number of a loop among those around it, of the loop around it, and so on; outermost first."""


class _TooFew(Exception):
    """More rounds of a loop have to be told apart."""

    def __init__(self, loop: _Numbers, needed: int) -> None:
        super().__init__(loop, needed)
        self.loop = loop
        self.needed = needed


def _numbers(group: _Group) -> _Numbers:
    return tuple(part[0] for part in group)


def explore(
    cores: Mapping[str, Sequence[Node]], rings: Mapping[str, Ring], known: Mapping[Terms, Limits] | None = None
) -> Verdict:
    """What cores come to, all numbers being such as is `known` of them.

    Every ring has at least one core that pushes and one that pops.
    """
    least = max((low for low, _ in (known or {}).values() if low is not None), default=0)
    apart: dict[_Numbers, int] = {(): min(least, MAX_ROUNDS)}
    while True:
        try:
            return _Search(cores, rings, known or {}, apart).verdict
        except _TooFew as more:
            apart[more.loop] = more.needed


class _Search:
    def __init__(
        self,
        cores: Mapping[str, Sequence[Node]],
        rings: Mapping[str, Ring],
        known: Mapping[Terms, Limits],
        apart: Mapping[_Numbers, int],
    ) -> None:
        self.verdict = Verdict()
        self._rings = rings
        self._apart = apart
        uses = [{(do.event.ring, do.event.action) for do in events_in(nodes)} for nodes in cores.values()]
        self._producers = {
            ring: [core for core, use in enumerate(uses) if use & {(ring, "push"), (ring, "alloc"), (ring, "commit")}]
            for ring in rings
        }
        self._consumers = {
            ring: [core for core, use in enumerate(uses) if use & {(ring, "pop"), (ring, "free")}] for ring in rings
        }
        self._codes = [
            _compiled(
                nodes,
                [Event(ring, "drain") for ring in rings if rings[ring].drained and core in self._producers[ring]],
            )
            for core, nodes in enumerate(cores.values())
        ]
        watched = ((ring, core) for ring in rings for core in self._consumers[ring])
        self._watched = {pair: index for index, pair in enumerate(watched)}
        self._seen: set[object] = set()
        self._moves = 0
        self._gives_up = False
        self._pending = [self._start(known)]
        while self._pending:
            if self._gives_up:
                break
            self._run(self._pending.pop())
        self.verdict.is_complete = not self._gives_up
        self.verdict.states = len(self._seen)

    def _start(self, known: Mapping[Terms, Limits]) -> _State:
        pairs = [
            (ring, producer, consumer)
            for ring in self._rings
            for producer in self._producers[ring]
            for consumer in self._consumers[ring]
        ]
        none = [0] * len(self._watched)
        return _State(
            [_Core() for _ in self._codes],
            {
                (ring, core): _End()
                for ring in self._rings
                for core in dict.fromkeys((*self._producers[ring], *self._consumers[ring]))
            },
            dict.fromkeys(pairs, 0),
            {pair: [] for pair in pairs},
            {pair: [_Token(list(none)) for _ in range(self._rings[pair[0]].seed)] for pair in pairs},
            [list(none) for _ in self._codes],
            Knowledge(known),
            {},
            {},
        )

    # -----------------------------------------------------------------------------------------
    # Going on
    # -----------------------------------------------------------------------------------------

    def _run(self, state: _State) -> None:
        """Go on until the cores end, wait forever, have been here before, or an unknown number decides."""
        while True:
            size = len(state.known) + len(state.bases)
            tokens = sum(map(len, state.entries.values())) + sum(map(len, state.credits.values()))
            self._moves += 1 + size + tokens // 4
            if (
                self._moves > MAX_MOVES
                or len(self._seen) > MAX_STATES
                or size > MAX_KNOWN
                or tokens > MAX_TOKENS * len(state.entries)
            ):
                self._gives_up = True
                return
            moved, comes_round, asking = False, False, -1
            for core in sorted(range(len(self._codes)), key=lambda core: state.cores[core].order()):
                step = self._codes[core].steps[state.cores[core].place]
                if step.what == "end":
                    continue
                found = self._move(state, core, step)
                if isinstance(found, Question):
                    # Others come first: what they know already is then soon forgotten.
                    asking = core if asking < 0 else asking
                elif found:
                    moved, comes_round = True, step.what == "again"
                    break
            if not moved and asking >= 0:
                if self._been_here(state, "asks"):
                    return
                # What is asked may have been learnt, and rounds be counted otherwise.
                question = self._move(state, asking, self._codes[asking].steps[state.cores[asking].place])
                if isinstance(question, Question):
                    other = state.copy()
                    self._learn(other, asking, question, False)
                    self._pending.append(other)
                    self._learn(state, asking, question, True)
            elif not moved:
                self._finish(state)
                return
            elif state.cores[0].place < 0 or (comes_round and self._been_here(state, "comes round")):
                return

    def _learn(self, state: _State, core: int, question: Question, answer: bool) -> None:
        state.known.learn(question, answer)
        self._note_frame(state, core, question.terms)

    def _note_frame(self, state: _State, core: int, terms: Terms) -> None:
        """Note in which round a core learns something that is about one."""
        depth = _inner_depth(terms)
        if depth:
            state.frames.setdefault(terms, state.cores[core].path[:depth])

    def _been_here(self, state: _State, why: str) -> bool:
        self._normalize(state)
        key = why, state.key()
        if key in self._seen:
            return True
        self._seen.add(key)
        return False

    def _finish(self, state: _State) -> None:
        if any(self._codes[core].steps[at.place].what != "end" for core, at in enumerate(state.cores)):
            self._found("deadlock", "")
            return
        wrong = False
        for (ring, _, _), queue in state.entries.items():
            if queue:
                self._found("left", ring)
                wrong = True
        for (ring, _), end in state.ends.items():
            if end.outstanding:
                self._found("unfreed", ring)
                wrong = True
        if not wrong and not state.is_wrong:
            self._found("end", "")

    def _found(self, kind: Kind, ring: str) -> None:
        self.verdict.outcomes[kind, ring] = None
        kinds = {kind for kind, _ in self.verdict.outcomes}
        # More states would not decide anything.
        self._gives_up = "end" in kinds and not kinds <= {"end", "overwrite"}

    def _move(self, state: _State, core: int, step: _Step) -> bool | Question:
        """Let a core do its next step; returns whether it can, or what it has to know."""
        at = state.cores[core]
        match step.what:
            case "do":
                assert step.do is not None
                return self._do(state, core, step.do)
            case "enter":
                at.path = (*at.path, (at.entered[-1], 0))
                at.entered = (*at.entered, 0)
                state.bases.setdefault(at.group(len(at.path) - 1), 0)
            case "again":
                number, turn = at.path[-1]
                at.path = (*at.path[:-1], (number, turn + 1))
                at.entered = (*at.entered[:-1], 0)
                at.place = step.target
                return True
            case "jump":
                at.place = step.target
                return True
            case "test" | "leave" | "branch":
                holds = self._ask(state, core, step.condition, step.origin)
                if isinstance(holds, Question):
                    return holds
                if not holds:
                    at.place = step.target
                    if step.what != "branch":
                        at.path = at.path[:-1]
                        at.entered = (*at.entered[:-2], at.entered[-2] + 1)
                    return True
            case "end":
                return False
        at.place += 1
        return True

    # -----------------------------------------------------------------------------------------
    # Numbers
    # -----------------------------------------------------------------------------------------

    def _ask(self, state: _State, core: int, condition: Condition, origin: Any) -> bool | Question:
        """Whether a condition holds where a core stands, or what has to be known for that."""
        if isinstance(condition, bool):
            return condition
        at = state.cores[core]
        here = replaced(condition, lambda value: self._here(value, core, at.path))
        counted = replaced(here, lambda value: self._counted(value, state))
        found = state.known.decide(counted)
        if isinstance(found, Question):
            if all(value.name == ROUND for value, _ in found.terms):
                for value, _ in found.terms:
                    place: Any = value.place
                    needed = max(abs(found.bound), self._apart_in(place) + 1) + 1
                    if needed <= MAX_ROUNDS and state.bases[place] > self._apart_in(place):
                        raise _TooFew(_numbers(place), needed)
            self.verdict.asked[condition, origin] = None
        elif counted != here:
            state.known.assume(here, found)
            for number in numbers_in(here):
                if number.terms:
                    self._note_frame(state, core, normal(number.terms))
        return found

    def _here(self, value: Linear, core: int, path: _Path) -> Linear:
        """A number with the rounds of a core's loops as those of all cores."""
        return _placed(value, tuple(self._codes[core].depths.items()), path) if value.terms else value

    def _counted(self, value: Linear, state: _State) -> Linear:
        """A number with rounds that are known."""
        found = Linear(value.constant)
        for part, times in value.terms:
            place: Any = part.place
            base = state.bases.get(place) if part.name == ROUND else None
            if base is None or base > self._apart_in(place):
                found = plus(found, Linear(0, ((part, times),)))
            else:
                found = plus(found, Linear(times * base))
        return found

    def _apart_in(self, group: _Group) -> int:
        """How many rounds of a loop are told apart."""
        return self._apart.get(_numbers(group), self._apart[()])

    # -----------------------------------------------------------------------------------------
    # States that are the same
    # -----------------------------------------------------------------------------------------

    def _normalize(self, state: _State) -> None:
        """Count rounds from that of the last core, and forget what no core asks again."""
        for core, at in enumerate(state.cores):
            at.has_loops = bool(at.path) or at.place <= self._codes[core].last_loop
        for group in sorted(state.bases, key=len):
            if group not in state.bases:
                continue
            where = [at.where(group) for at in state.cores]
            if all(place > 0 for place in where):
                del state.bases[group]
                continue
            if any(place < 0 for place in where):
                continue
            depth = len(group) - 1
            ahead = min(at.path[depth][1] for at, place in zip(state.cores, where, strict=True) if place == 0)
            if ahead:
                self._shift(state, group, ahead)
        for terms in list(state.known):
            frame = state.frames.get(terms) or _frame(terms)
            if not any(self._asks(core, at, frame, terms) for core, at in enumerate(state.cores)):
                del state.known[terms]
                state.frames.pop(terms, None)

    def _asks(self, core: int, at: _Core, frame: _Group, terms: Terms) -> bool:
        """Whether a core may still ask for a number that it does not ask for behind a loop, or a round of one."""
        if all(part.name == ROUND for part, _ in terms):
            # What is known of rounds tells of sums with them.
            return at.where(frame) <= 0
        places = self._codes[core].asked.get(_shape(terms))
        if places is None or at.place < 0:
            return False
        where = at.where(frame) if frame else 0
        if where:
            return where < 0
        step = self._codes[core].steps[at.place]
        # A round of a loop comes once, what lies in it may come again.
        is_round = bool(frame) and len(frame[-1]) > 1
        depth = len(frame) if is_round or not frame else len(frame) - 1
        first = step.heads[depth] if len(step.heads) > depth else at.place
        behind = step.tests[depth - 1].target if is_round and len(step.tests) >= depth else len(self._codes[core].steps)
        return any(first <= place < behind for place in places)

    def _shift(self, state: _State, group: _Group, by: int) -> None:
        """Count the rounds of a loop from a later one."""
        depth = len(group) - 1
        for at in state.cores:
            if at.where(group) == 0:
                number, turn = at.path[depth]
                at.path = (*at.path[:depth], (number, turn - by), *at.path[depth + 1 :])
        state.bases = {_moved(other, group, by): base for other, base in state.bases.items()}
        state.bases[group] = base = min(state.bases[group] + by, self._apart_in(group) + 1)
        known, frames = Knowledge(), dict[Terms, _Group]()
        for terms, (low, high) in state.known.items():
            value = _shifted(Linear(0, terms), group, by)
            low, high = (None if limit is None else limit - value.constant for limit in (low, high))
            if value.terms[0][1] < 0:
                low, high = (None if limit is None else -limit for limit in (high, low))
                value = Linear(0, tuple((part, -times) for part, times in value.terms))
            known[value.terms] = low, high
            if terms in state.frames:
                frames[value.terms] = _moved(state.frames[terms], group, by)
        state.known, state.frames = known, frames
        this = ((Unknown(ROUND, (), group), 1),)
        if base > self._apart_in(group):
            state.known[this] = base, None

    # -----------------------------------------------------------------------------------------
    # Events
    # -----------------------------------------------------------------------------------------

    def _do(self, state: _State, core: int, do: Do) -> bool | Question:
        name, action = do.event.ring, do.event.action
        ring, end = self._rings[name], state.ends[name, core]
        signal: bool | None = None
        if do.signal is not None:
            found = self._ask(state, core, do.signal, do.origin)
            if isinstance(found, Question):
                return found
            signal = found
        waits = 0
        if action in ("push", "alloc"):
            waits = int(pipe_protocol.push_waits(end.acquires, ring.slots, ring.period))
        elif action == "drain":
            waits = ring.seed or pipe_protocol.pending_free_credits(end.acquires, ring.slots, ring.period)
        queues = [state.credits[name, core, consumer] for consumer in self._consumers[name]] if waits else []
        if action == "pop":
            waits, queues = 1, [state.entries[name, producer, core] for producer in self._producers[name]]
        if any(len(queue) < waits for queue in queues):
            return False
        for queue in queues:
            for token in queue[:waits]:
                state.lags[core] = list(map(min, state.lags[core], token.lags))
                if token.signal is not None and do.received is not None:
                    received = self._here(do.received, core, state.cores[core].path)
                    state.known[received.terms] = int(token.signal), int(token.signal)
                    self._note_frame(state, core, received.terms)
            del queue[:waits]
        state.cores[core].place += 1
        match action:
            case "push" | "alloc" | "commit":
                if action != "commit":
                    self._acquire(state, core, name, ring, end)
                if action != "alloc":
                    for consumer in self._consumers[name]:
                        state.entries[name, core, consumer].append(_Token(list(state.lags[core]), signal))
            case "pop":
                end.popped = end.popped % ring.period + 1
                if ring.frees_at_pop:
                    self._free(state, core, name, ring, end)
                else:
                    end.outstanding += 1
                    if end.outstanding > ring.slots:
                        self._stop(state, "held", name)
            case "free":
                if not ring.frees_at_pop:
                    end.outstanding -= 1
                    if end.outstanding < 0:
                        self._stop(state, "unfreed", name)
                    self._free(state, core, name, ring, end)
            case _:
                pass
        return True

    def _stop(self, state: _State, kind: Kind, ring: str) -> None:
        """End a way on which something has gone wrong."""
        self._found(kind, ring)
        state.cores[0].place = -1

    def _acquire(self, state: _State, core: int, name: str, ring: Ring, end: _End) -> None:
        end.acquires += 1
        if end.acquires >= ring.slots + ring.period:
            end.acquires -= ring.period
        for consumer in self._consumers[name]:
            lag = state.lags[core][self._watched[name, consumer]]
            if state.ahead[name, core, consumer] + lag >= ring.slots:
                self._found("overwrite", name)
                state.is_wrong = True
            state.ahead[name, core, consumer] += 1

    def _free(self, state: _State, core: int, name: str, ring: Ring, end: _End) -> None:
        """An entry is done with; tell producers, if the number of pops is one after which they are told."""
        index = self._watched[name, core]
        for producer in self._producers[name]:
            state.ahead[name, producer, core] -= 1
        knowing = [lags for other, lags in enumerate(state.lags) if other != core]
        for queues in (state.entries, state.credits):
            knowing += [token.lags for queue in queues.values() for token in queue]
        for lags in knowing:
            lags[index] = min(lags[index] + 1, ring.slots)
        end.told = max(-2 * ring.slots, end.told + (ring.period if end.popped == ring.period else 0) - 1)
        if end.told > 0:
            self._found("early", name)
            state.is_wrong = True
            end.told = 0
        if end.popped == ring.period:
            for producer in self._producers[name]:
                state.credits[name, producer, core].append(_Token(list(state.lags[core])))


def events_in(nodes: Sequence[Node]) -> Iterator[Do]:
    """What is done in some nodes, each once however often it is repeated."""
    for node in nodes:
        match node:
            case Do():
                yield node
            case Repeat():
                yield from events_in(node.body)
            case Choose():
                yield from events_in(node.then)
                yield from events_in(node.other)
            case Leave():
                pass


# ---------------------------------------------------------------------------------------------
# Rounds in numbers
# ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 14)
def _placed(value: Linear, depths: tuple[tuple[object, int], ...], path: _Path) -> Linear:
    """A number in which the rounds of loops are counted from those of all cores."""
    found = Linear(value.constant)
    by_key = dict(depths)
    for part, times in value.terms:
        if part.name == ROUND and part.place and part.place[0] in by_key:
            depth = by_key[part.place[0]]
            number, turn = path[depth]
            group: tuple[object, ...] = (*path[:depth], (number,))
            found = plus(found, Linear(times * turn, ((Unknown(ROUND, (), group), times),)))
        else:
            operands = tuple(_placed(operand, depths, path) for operand in part.operands)
            found = plus(found, Linear(0, ((Unknown(part.name, operands, part.place), times),)))
    return found


def _moved(group: _Group, by: _Group, rounds: int) -> _Group:
    """A loop or round, where the rounds of the loop `by` around it are counted from a later one."""
    depth = len(by) - 1
    if len(group) < len(by) or group[:depth] != by[:depth] or group[depth][0] != by[depth][0]:
        return group
    if len(group[depth]) == 1:
        return group
    number, turn = group[depth]
    return (*group[:depth], (number, turn - rounds), *group[depth + 1 :])


@lru_cache(maxsize=1 << 14)
def _shifted(value: Linear, group: _Group, by: int) -> Linear:
    """A number, where the rounds of a loop are counted from a later one."""
    found = Linear(value.constant)
    for part, times in value.terms:
        place: Any = part.place
        if part.name == ROUND:
            constant = -times * by if place == group else 0
            place = _moved(place, group, by)
        else:
            constant = 0
        operands = tuple(_shifted(operand, group, by) for operand in part.operands)
        found = plus(found, Linear(constant, ((Unknown(part.name, operands, place), times),)))
    return found


@lru_cache(maxsize=1 << 14)
def _shape(terms: Terms) -> str:
    """What numbers have in common that are the same but for rounds of loops."""
    parts = {
        f"{part.name}({', '.join(_shape(operand.terms) for operand in part.operands)})"
        for part, _ in terms
        if part.name != ROUND
    }
    return " + ".join(sorted(parts))


@lru_cache(maxsize=1 << 14)
def _frame(terms: Terms) -> _Group:
    """The innermost loop whose round a sum is counted with; none if there is none."""
    places: list[Any] = [part.place for part, _ in terms if part.name == ROUND]
    return max(places, key=len, default=())


@lru_cache(maxsize=1 << 14)
def _inner_depth(terms: Terms) -> int:
    """How many loops are around what the unknowns of a sum follow from: 0 if they are the same in all rounds."""
    deepest = 0
    for part, _ in terms:
        for operand in part.operands:
            places = [len(inner.place) for inner, _ in operand.terms if inner.name == ROUND]
            deepest = max(deepest, _inner_depth(operand.terms), *places, 0)
    return deepest
