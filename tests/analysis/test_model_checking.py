"""What cores come to for all numbers, against their events for given ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from loomir.analysis.event_graph import Event, EventGraph, RingBuffer
from loomir.analysis.model_checking.control_trees import Branch, EventNode, Exit, Loop, Node, iteration
from loomir.analysis.model_checking.search import explore
from loomir.analysis.model_checking.verdicts import Outcome, Verdict
from loomir.analysis.symbolic_integers import (
    Affine,
    Bounds,
    Condition,
    IsNegative,
    IsTrue,
    IsZero,
    Not,
    add,
    condition_text,
    scale,
    symbol,
)

from ..searches import examples

N, M = symbol("%n"), symbol("%m")
RINGS: Mapping[str, RingBuffer] = {
    "ideal": RingBuffer(4, 1, drained=False),
    "a2a3": RingBuffer(8, 4, frees_at_pop=True),
    "a5": RingBuffer(8, 4, initial_credits=4),
    "odd": RingBuffer(5, 2),
}
PUSH, POP, FREE = (EventNode(Event("r", action)) for action in ("push", "pop", "free"))
SEND, TAKE, GIVE = (EventNode(Event("s", action)) for action in ("push", "pop", "free"))


def loop(key: object, count: Affine, *body: Node) -> Loop:
    return Loop(key, IsNegative(add(iteration(key), count, -1)), body)


def less(left: Affine, right: Affine) -> Condition:
    return IsNegative(add(left, right, -1))


def outcomes(cube: Sequence[Node], vector: Sequence[Node], ring: str = "ideal", least: int | None = None) -> Verdict:
    used = {"r": RINGS[ring], "s": RINGS[ring]}
    events = {node.event.ring for node in flat([*cube, *vector])}
    known = {} if least is None else {N.terms: (least, None)}
    return explore({"cube": cube, "vector": vector}, {name: used[name] for name in sorted(events)}, known)


def flat(nodes: Sequence[Node]) -> list[EventNode]:
    found: list[EventNode] = []
    for node in nodes:
        match node:
            case EventNode():
                found.append(node)
            case Loop():
                found += flat(node.body)
            case Branch():
                found += flat([*node.then, *node.otherwise])
            case Exit():
                pass
    return found


def kinds(verdict: Verdict) -> set[Outcome]:
    return {kind for kind, _ in verdict.outcomes}


@pytest.mark.parametrize("ring", ["ideal", "a2a3"])
def test_as_many_rounds_on_both_sides(ring: str) -> None:
    """For every n, also in loops within loops and one behind the other."""
    assert outcomes([loop(0, N, PUSH)], [loop(1, N, POP, FREE)], ring).is_clean
    nested = [loop(0, N, loop(1, M, PUSH))], [loop(2, N, loop(3, M, POP, FREE))]
    assert outcomes(*nested, ring).is_clean
    twice = [loop(0, N, PUSH), loop(1, N, PUSH)], [loop(2, N, POP, FREE), loop(3, N, POP, FREE)]
    assert outcomes(*twice, ring).is_clean


def test_another_number_of_rounds() -> None:
    fewer = add(N, Affine(-1))
    verdict = outcomes([loop(0, N, PUSH)], [loop(1, fewer, POP, FREE)])
    assert not verdict.is_clean and not verdict.is_wrong
    assert outcomes([loop(0, N, PUSH)], [loop(1, fewer, POP, FREE)], least=1).is_wrong
    assert kinds(outcomes([loop(0, fewer, PUSH)], [loop(1, N, POP, FREE)], least=1)) == {"deadlock"}
    assert not outcomes([loop(0, N, PUSH)], [loop(1, scale(N, 2), POP, FREE)]).is_clean
    assert not outcomes([loop(0, N, PUSH)], [loop(1, M, POP, FREE)]).is_clean


def test_the_same_number_written_otherwise() -> None:
    """By steps of two to 2n, and from -3 on to n - 3."""
    by_two = Loop(1, less(scale(iteration(1), 2), scale(N, 2)), [POP, FREE])
    assert outcomes([loop(0, N, PUSH)], [by_two]).is_clean
    lower = Loop(1, less(add(iteration(1), Affine(-3)), add(N, Affine(-3))), [POP, FREE])
    assert outcomes([loop(0, N, PUSH)], [lower]).is_clean


def test_conditions_that_both_sides_ask() -> None:
    go, stop = IsTrue(symbol("%if")), Not(IsTrue(symbol("%if")))
    assert outcomes([Branch(go, [PUSH], [])], [Branch(go, [POP, FREE], [])]).is_clean
    assert outcomes([Branch(go, [PUSH], [])], [Branch(stop, [], [POP, FREE])]).is_clean
    assert outcomes([Branch(go, [PUSH], [])], [Branch(stop, [POP, FREE], [])]).is_wrong

    # In each round another, as that of an element of an array.
    def element(key: object) -> Condition:
        return IsTrue(symbol("%mask", iteration(key)))

    both = [loop(0, N, Branch(element(0), [PUSH], []))], [loop(1, N, Branch(element(1), [POP, FREE], []))]
    assert outcomes(*both).is_clean
    next_one = IsTrue(symbol("%mask", add(iteration(1), Affine(1))))
    assert not outcomes(both[0], [loop(1, N, Branch(next_one, [POP, FREE], []))]).is_clean


def test_rounds_that_differ() -> None:
    """The first takes two entries out, the last none."""
    first = Branch(less(Affine(0), N), [POP], [])
    rest = Branch(less(add(iteration(1), Affine(1)), N), [POP], [])
    assert outcomes([loop(0, N, PUSH)], [first, loop(1, N, rest, FREE)]).is_clean
    start = Branch(IsZero(iteration(1)), [POP], [])
    assert outcomes([loop(0, N, PUSH)], [loop(1, N, start, rest, FREE)]).is_clean
    assert not outcomes([loop(0, N, PUSH)], [loop(1, N, start, POP, FREE)]).is_clean


def test_loops_that_a_signal_ends() -> None:
    """The vector core tells the cube core in each round whether there is another."""
    again = symbol("%again", iteration(1))
    told = symbol("%told", iteration(0), instance=("cube",))
    push, pop = EventNode(Event("s", "push"), signal=IsTrue(again)), EventNode(Event("s", "pop"), received=told)
    cube = [Loop(0, True, [PUSH, pop, GIVE, Exit(IsTrue(told))])]
    vector = [Loop(1, True, [POP, FREE, push, Exit(IsTrue(again))])]
    for ring in RINGS:
        assert outcomes(cube, vector, ring).is_clean
    assert not outcomes(cube, [Loop(1, True, [POP, FREE, push, Exit(Not(IsTrue(again)))])]).is_clean


def test_overwriting_and_waiting_forever() -> None:
    assert kinds(outcomes([loop(0, N, PUSH)], [loop(1, N, POP, FREE)], "odd")) == {"end", "overwrite"}
    assert outcomes([loop(0, N, PUSH)], [loop(1, N, POP, FREE)], "odd", least=6).is_wrong
    assert not outcomes([loop(0, N, PUSH)], [loop(1, N, POP, FREE)], "odd", least=5).is_wrong
    assert kinds(outcomes([loop(0, N, PUSH)], [loop(1, N, POP, FREE)], "a5")) == {"end", "overwrite"}
    # Not if the consumer answers before the next.
    answered = [loop(0, N, PUSH, TAKE, GIVE)], [loop(1, N, POP, FREE, SEND)]
    assert outcomes(*answered, "a5").is_clean
    assert kinds(outcomes([loop(0, N, TAKE, GIVE, PUSH)], answered[1], least=1)) == {"deadlock"}


def test_long_loops_are_not_written_out() -> None:
    def long(key: object, count: int, *body: Node) -> Loop:
        return Loop(key, less(iteration(key), Affine(count)), body, count)

    verdict = outcomes([long(0, 10**9, PUSH)], [long(1, 10**9, POP, FREE)])
    assert verdict.is_clean and verdict.states < 100
    assert not outcomes([long(0, 10**9, PUSH)], [long(1, 10**9 + 1, POP, FREE)]).is_clean


def test_what_does_not_stay_together_is_given_up() -> None:
    """One side goes on while the other has nothing to do, which no number of states tells."""
    one, other = IsTrue(symbol("%mask", iteration(0))), IsTrue(symbol("%other", iteration(1)))
    verdict = outcomes(
        [loop(0, N, Branch(one, [PUSH], [])), loop(2, N, PUSH)], [loop(1, N, Branch(other, [POP, FREE], []))]
    )
    assert not verdict.is_complete and not verdict.is_clean and not verdict.is_wrong


def test_limits_of_sums() -> None:
    known = Bounds()
    question = known.decide(less(Affine(3), N))
    assert not isinstance(question, bool)
    known.record(question, False)
    assert known.decide(less(Affine(2), N)) is True
    assert known.decide(less(Affine(2), scale(N, 3))) is True
    assert not isinstance(known.decide(less(Affine(4), N)), bool)
    assert known.decide(IsZero(add(scale(N, 2), Affine(-5)))) is False
    assert known.decide(less(N, Affine(4))) is False
    assert condition_text(less(add(scale(N, 2), Affine(1)), M)) == "2 * %n + 1 < %m"


# ---------------------------------------------------------------------------------------------
# Any cores
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Exchange:
    """So many entries through a ring."""

    ring: str
    times: int
    together: bool


@dataclass(frozen=True)
class RandomLoop:
    count: Affine
    body: tuple[object, ...]


@dataclass(frozen=True)
class RandomBranch:
    kind: str
    body: tuple[object, ...]


counts = st.sampled_from([N, M, add(N, Affine(-1)), add(N, Affine(1)), scale(N, 2), Affine(2)])
exchanges = st.builds(Exchange, st.sampled_from("rs"), st.integers(1, 2), st.booleans())
plans = st.recursive(
    exchanges,
    lambda inner: st.one_of(
        st.builds(RandomLoop, counts, st.lists(inner, min_size=1, max_size=2).map(tuple)),
        st.builds(
            RandomBranch,
            st.sampled_from(["first", "not last", "small", "mask"]),
            st.lists(inner, min_size=1, max_size=2).map(tuple),
        ),
    ),
    max_leaves=4,
)


@dataclass
class Maker:
    """Makes one core of a plan that both have; now and then it deviates."""

    core: str
    deviations: list[int]
    loops: int = 0

    def deviates(self) -> bool:
        return bool(self.deviations) and self.deviations.pop() == 0

    def nodes(self, plan: Sequence[object], around: list[object]) -> list[Node]:
        found: list[Node] = []
        for part in plan:
            match part:
                case Exchange(ring, times, together):
                    times += self.deviates()
                    if (self.core == "cube") == (ring == "r"):
                        found += [EventNode(Event(ring, "push"))] * times
                    elif together:
                        found += [EventNode(Event(ring, "pop"))] * times + [EventNode(Event(ring, "free"))] * times
                    else:
                        found += [EventNode(Event(ring, "pop")), EventNode(Event(ring, "free"))] * times
                case RandomLoop(count, body):
                    self.loops += 1
                    key = self.core, self.loops
                    count = add(count, Affine(1)) if self.deviates() else count
                    found.append(loop(key, count, *self.nodes(body, [*around, key])))
                case RandomBranch(kind, body):
                    number = iteration(around[-1]) if around else M
                    conditions: dict[str, Condition] = {
                        "first": IsZero(number),
                        "not last": less(add(number, Affine(1)), N),
                        "small": less(N, Affine(3)),
                        "mask": IsTrue(symbol("%mask", number)),
                    }
                    other = self.deviates()
                    inner = self.nodes(body, around)
                    found.append(Branch(conditions[kind], [] if other else inner, inner if other else []))
                case _:
                    raise AssertionError(part)
        return found


Values = Mapping[str, int]


def value(number: Affine, values: Values, turns: Mapping[object, int], mask: int) -> int:
    total = number.constant
    for part, times in number.terms:
        if part.instance:
            one = turns[part.instance[0]]
        elif part.operands:
            one = mask >> (value(part.operands[0], values, turns, mask) % 8) & 1
        else:
            one = values[part.name]
        total += times * one
    return total


def carry_out(
    nodes: Sequence[Node], values: Values, mask: int, turns: dict[object, int], done: list[Event]
) -> list[Event]:
    def holds(condition: Condition) -> bool:
        match condition:
            case IsNegative(number):
                return value(number, values, turns, mask) < 0
            case IsZero(number):
                return value(number, values, turns, mask) == 0
            case IsTrue(number):
                return value(number, values, turns, mask) == 1
            case _:
                raise AssertionError(condition)

    for node in nodes:
        match node:
            case EventNode():
                done.append(node.event)
            case Branch():
                carry_out(node.then if holds(node.condition) else node.otherwise, values, mask, turns, done)
            case Loop():
                turns[node.key] = 0
                while holds(node.condition):
                    carry_out(node.body, values, mask, turns, done)
                    turns[node.key] += 1
            case Exit():
                raise AssertionError(node)
    return done


def wrong(events: Mapping[str, Sequence[Event]], rings: Mapping[str, RingBuffer]) -> set[str]:
    """What is wrong with cores that do these events."""
    found: set[str] = set()
    for name, ring in rings.items():
        for done in events.values():
            popped = freed = told = 0
            for event in done:
                popped += event == Event(name, "pop")
                if event == Event(name, "free") and not ring.frees_at_pop:
                    freed += 1
                    told += ring.period if popped % ring.period == 0 else 0
                    found |= {"early"} if told > freed else set()
                found |= {"held"} if popped - freed > ring.slots and not ring.frees_at_pop else set()
    graph = EventGraph(events, rings)
    if graph.deadlock() is not None:
        return found | {"deadlock"}
    found |= {"overwrite"} if graph.overwriting_pushes() else set()
    total = [event for done in events.values() for event in done]
    if any(total.count(Event(name, "push")) > total.count(Event(name, "pop")) for name in rings):
        found.add("left")
    return found


@pytest.mark.thorough
@settings(max_examples=examples(120), deadline=None)
@given(
    st.lists(plans, min_size=1, max_size=2),
    st.lists(st.integers(0, 9), max_size=6),
    st.sampled_from(
        [RingBuffer(slots, 1, drained=False) for slots in (1, 2, 4)]
        + [RingBuffer(4, 2, initial_credits=2), *RINGS.values()]
    ),
)
def test_what_is_told_of_all_numbers_is_so_for_each(
    plan: list[object], deviations: list[int], ring: RingBuffer
) -> None:
    cores = {"cube": Maker("cube", []).nodes(plan, []), "vector": Maker("vector", deviations).nodes(plan, [])}
    used = {(do.event.ring, do.event.action) for nodes in cores.values() for do in flat(nodes)}
    rings = {name: ring for name in "rs" if (name, "push") in used}
    assume(all((name, "pop") in used for name in rings))
    verdict = explore(cores, rings)
    for n in (-1, 0, 1, 2, 3, 6, 11):
        for m, mask in ((0, 0b10110100), (1, 0b01), (2, 0b1101), (5, 0xFF)):
            events = {core: carry_out(nodes, {"%n": n, "%m": m}, mask, {}, []) for core, nodes in cores.items()}
            found = wrong(events, rings)
            assert not (found and verdict.is_clean), (n, m, mask, found)
            assert found or not verdict.is_wrong, (n, m, mask, verdict)
            if verdict.is_complete and not found & {"held", "deadlock"}:
                assert found <= kinds(verdict), (n, m, mask, verdict)
