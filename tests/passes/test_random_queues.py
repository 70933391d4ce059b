"""Queue ids and microthreads of random programs, against every state that the programs can reach.

The checker knows the rules of the manual alone: no two operations under way share a queue or a microthread, a queue of
WSE-3 keeps its color, and an operation runs on the microthread it names or that of its first fabric operand's queue.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects import get_all_dialects as get_xdsl_dialects
from xdsl.dialects.builtin import ModuleOp

from loomir import targets
from loomir.diagnostics.errors import LoomError
from loomir.dialects import dsd, get_all_dialects, wse
from loomir.dialects.ir_text import LocatingParser
from loomir.passes.dsd_assign_microthreads import DsdAssignMicrothreadsPass
from loomir.passes.dsd_assign_queues import DsdAssignQueuesPass

from ..searches import examples


@dataclass(frozen=True)
class Move:
    """A copy between memory and queues; asynchronous ones may name a task to activate and a microthread."""

    number: int
    into: str | None
    out_of: str | None
    is_async: bool
    activate: str | None
    ut: int | None

    @property
    def queues(self) -> list[str]:
        return [name for name in (self.into, self.out_of) if name is not None]


Step = Move | str
"""A move, or the task that is activated."""


@dataclass
class Case:
    """A program: queues with the ids and colors they are given, and the steps of each body."""

    target: str
    size: int
    """How many queues of each kind there are: few, so that they must be shared, or as many as on the machine."""
    ids: dict[str, int | None] = field(default_factory=dict[str, int | None])
    colors: dict[str, int] = field(default_factory=dict[str, int])
    bodies: dict[str, list[Step]] = field(default_factory=dict[str, list[Step]])
    data: dict[str, str] = field(default_factory=dict[str, str])
    """The queue of each data task."""

    def moves(self) -> list[Move]:
        return [step for body in self.bodies.values() for step in body if isinstance(step, Move)]

    def text(self) -> str:
        lines = [f'wse.program @p target "{self.target}" rectangle 1 x 1 {{']
        lines += [f"wse.color @c{number}" for number in sorted(set(self.colors.values()))]
        lines += ["wse.pe @e on [:, :] {", "wse.buffer @A : memref<8xi16>", "wse.export @main"]
        for name, number in self.ids.items():
            way = "input" if name[0] == "i" else "output"
            lines.append(
                f"wse.{way}_queue @{name} color @c{self.colors[name]}" + ("" if number is None else f" id {number}")
            )
        for name, body in self.bodies.items():
            if name == "main":
                lines.append("wse.func @main() {")
            elif name in self.data:
                lines.append(f"wse.task @{name} data @{self.data[name]} (%value: i16) {{")
            else:
                lines.append(f"wse.task @{name} local {{")
            lines += ["%A = wse.get_buffer @A : memref<8xi16>", "%m = dsd.mem1d %A extent 4 : memref<8xi16>"]
            for step in body:
                lines += [f"wse.activate @{step}"] if isinstance(step, str) else self._lines(step)
            lines += ["wse.return", "}"]
        return "\n".join([*lines, "}", "}"])

    @staticmethod
    def _lines(move: Move) -> Iterator[str]:
        operands, types = ["%m", "%m"], ["!dsd.mem1d<i16>"] * 2
        for position, (queue, kind) in enumerate(((move.into, "fabout"), (move.out_of, "fabin"))):
            if queue is not None:
                operands[position], types[position] = f"%{kind}{move.number}", f"!dsd.{kind}<i16>"
                yield f"{operands[position]} = dsd.{kind} @{queue} extent 4 : {types[position]}"
        given = [f"activate = @{move.activate}"] if move.activate else []
        given += [] if move.ut is None else [f"ut = {move.ut}"]
        suffix = f" async({', '.join(given)})" if move.is_async else ""
        yield f"dsd.mov16 {', '.join(operands)}{suffix} : {', '.join(types)}"


State = tuple[tuple[str, int] | None, frozenset[int], frozenset[str]]
"""The next step of the body that runs, if one does; the moves under way; the active tasks."""


def together(case: Case) -> set[tuple[int, int]]:
    """The pairs of moves that some order of events has under way at the same time, the lesser number first."""
    locals_ = [name for name in case.bodies if name != "main" and name not in case.data]
    found: set[tuple[int, int]] = set()
    moves = {move.number: move for move in case.moves()}
    pending: list[State] = [(None, frozenset(), frozenset())]
    seen = set(pending)
    while pending:
        here, under_way, active = pending.pop()
        following: list[State] = []
        for number in under_way:
            told = moves[number].activate
            following.append((here, under_way - {number}, active | ({told} if told else set())))
        if here is None:
            following += [((name, 0), under_way, active - {name}) for name in locals_ if name in active]
            following += [((name, 0), under_way, active) for name in case.data]
            if not under_way and not active:
                following.append((("main", 0), under_way, active))
        elif here[1] == len(case.bodies[here[0]]):
            following.append((None, under_way, active))
        else:
            step, after = case.bodies[here[0]][here[1]], (here[0], here[1] + 1)
            if isinstance(step, str):
                following.append((after, under_way, active | {step}))
            else:
                found |= {(min(step.number, other), max(step.number, other)) for other in under_way}
                following.append((after, under_way | {step.number} if step.is_async else under_way, active))
        for state in following:
            if state not in seen:
                seen.add(state)
                pending.append(state)
    return found


@st.composite
def cases(draw: st.DrawFn) -> Case:
    case = Case(draw(st.sampled_from(["wse2", "wse3", "wse3"])), draw(st.sampled_from([2, 3, 8, 8])))
    for way in "io":
        for number in range(draw(st.integers(2, 4))):
            name = f"{way}{number}"
            case.ids[name] = draw(st.sampled_from([*[None] * 8, *range(min(case.size, 3))]))
            case.colors[name] = draw(st.sampled_from([0, 0, 1])) + (0 if way == "i" else 3)
    inputs = [name for name in case.ids if name[0] == "i"]
    outputs = [name for name in case.ids if name[0] == "o"]
    tasks = [f"t{n}" for n in range(draw(st.integers(0, 2)))]
    if draw(st.integers(0, 3)) == 0:
        case.data["d"] = draw(st.sampled_from(inputs))
    count = 0
    for name in ("main", *tasks, *case.data):
        body: list[Step] = []
        for _ in range(draw(st.integers(1, 2))):
            if tasks and draw(st.integers(0, 3)) == 0:
                body.append(draw(st.sampled_from(tasks)))
                continue
            # Mostly a queue that nothing uses yet: programs that break the rules by themselves teach little.
            inputs, outputs = ([*names[1:], names[0]] for names in (inputs, outputs))
            into = draw(st.sampled_from([None, outputs[-1], outputs[-1], *outputs]))
            out_of = draw(st.sampled_from([inputs[-1]] * 4 + inputs if into is None else [None, None, inputs[-1]]))
            is_async = draw(st.integers(0, 3)) > 0
            told = draw(st.sampled_from([None, *tasks])) if is_async else None
            ut = draw(st.sampled_from([None, 0, 1, 2])) if is_async and case.target == "wse3" else None
            body.append(Move(count, into, out_of, is_async, told, ut))
            count += 1
        case.bodies[name] = body
    return case


def parsed(text: str) -> ModuleOp:
    context = Context()
    for dialect, get in {**get_xdsl_dialects(), **get_all_dialects()}.items():
        context.register_dialect(dialect, get)
    return LocatingParser(context, text, "random.mlir").parse_module()


def same(first: int | None, second: int | None) -> bool:
    return first is not None and first == second


def is_wrong_as_it_stands(case: Case, pairs: set[tuple[int, int]]) -> bool:
    """Whether the program breaks a rule by what it says itself, whatever the rest is given."""
    moves = {move.number: move for move in case.moves()}
    threads = {n: move.ut if move.ut is not None else case.ids[move.queues[0]] for n, move in moves.items()}
    for one, two in pairs:
        for first in moves[one].queues:
            for second in moves[two].queues:
                if first == second or (first[0] == second[0] and same(case.ids[first], case.ids[second])):
                    return True
        if moves[one].is_async and moves[two].is_async and same(threads[one], threads[two]):
            return True
    named = [(name, case.ids[name]) for name in case.ids]
    return any(
        a < b and a[0] == b[0] and same(m, n) and case.colors[a] != case.colors[b] for a, m in named for b, n in named
    )


@pytest.mark.slow
@settings(max_examples=examples(100), deadline=None)
@given(cases())
def test_ids_and_microthreads_of_random_programs(case: Case) -> None:
    """DSD-208, DSD-209, DSD-223, DSD-224, AMB-14."""
    pairs = together(case)
    module = parsed(case.text())
    target = targets.get(case.target)
    small = replace(
        target,
        input_queue_words=target.input_queue_words[: case.size],
        output_queue_words=target.output_queue_words[: case.size],
    )
    try:
        with patch.object(targets, "get", lambda name: small):
            DsdAssignQueuesPass().apply(Context(), module)
            DsdAssignMicrothreadsPass().apply(Context(), module)
    except LoomError as error:
        is_short = case.size < 8 and "too few" in str(error)
        assert is_short or is_wrong_as_it_stands(case, pairs), str(error)
        return
    ids = {op.sym_name.data: op.queue_id for op in module.walk() if isinstance(op, wse.QueueOp)}
    threads: dict[int, int | None] = {}
    for move, op in zip(case.moves(), (op for op in module.walk() if isinstance(op, dsd.DsdOperation)), strict=True):
        threads[move.number] = None if op.settings is None else op.settings.microthread
        expected = move.ut if move.ut is not None else ids[move.queues[0]]
        assert threads[move.number] == (expected if move.is_async else None)
    for name, number in case.ids.items():
        limit = len(small.output_queue_words if name[0] == "o" else small.input_queue_words)
        assert ids[name] in range(limit) and (number is None or ids[name] == number)
    for first, second in combinations_with_replacement(case.ids, 2):
        if (
            first == second
            or first[0] != second[0]
            or ids[first] != ids[second]
            or None not in (case.ids[first], case.ids[second])
        ):
            continue
        assert case.target == "wse2" or case.colors[first] == case.colors[second], "a queue of WSE-3 keeps its color"
        is_own = case.target == "wse3" or case.size == 8
        assert not is_own or not set(case.data.values()) & {first, second} or case.colors[first] == case.colors[second]
    moves = {move.number: move for move in case.moves()}
    for one, two in pairs:
        if one == two or set(moves[one].queues) & set(moves[two].queues):
            continue  # The program breaks the rule itself; the run reports it.
        for first in moves[one].queues:
            for second in moves[two].queues:
                if first[0] == second[0] and None in (case.ids[first], case.ids[second]):
                    assert ids[first] != ids[second], f"{first} and {second} are in use at the same time"
        if not (moves[one].is_async and moves[two].is_async):
            continue
        chosen = [moves[n].ut is None and case.ids[moves[n].queues[0]] is None for n in (one, two)]
        if any(chosen) and case.size == 8:
            assert threads[one] != threads[two], f"moves {one} and {two} run at the same time"


@st.composite
def crowds(draw: st.DrawFn) -> Case:
    """Up to six moves that are all under way at once, each on queues of its own, with distinct numbers where given."""
    case = Case(draw(st.sampled_from(["wse2", "wse3"])), 8)
    numbers = draw(st.permutations(range(6)))
    body: list[Step] = []
    for count in range(draw(st.integers(2, 6))):
        way = draw(st.sampled_from("io"))
        name = f"{way}{count}"
        given = draw(st.sampled_from(["nothing", "queue", "microthread"]))
        case.ids[name] = numbers[count] if given == "queue" else None
        case.colors[name] = count
        ut = numbers[count] if given == "microthread" and case.target == "wse3" else None
        body.append(Move(count, name if way == "o" else None, name if way == "i" else None, True, None, ut))
    case.bodies["main"] = body
    return case


@pytest.mark.slow
@settings(max_examples=examples(100), deadline=None)
@given(crowds())
def test_operations_under_way_at_once_have_their_own_microthreads(case: Case) -> None:
    """DSD-207, DSD-209, DSD-223, DSD-224: ids are chosen around all that is given."""
    module = parsed(case.text())
    DsdAssignQueuesPass().apply(Context(), module)
    DsdAssignMicrothreadsPass().apply(Context(), module)
    threads = [op.settings.microthread for op in module.walk() if isinstance(op, dsd.DsdOperation) and op.settings]
    assert len(threads) == len(case.moves()) == len(set(threads))
