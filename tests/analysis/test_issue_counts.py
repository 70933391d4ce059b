"""How often operations are issued, against running the program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from hypothesis import given
from hypothesis import strategies as st

from loomir.analysis.issue_counts import MAX_COUNT, issue_counts
from loomir.analysis.skeleton import Branch, Call, Function, Loop, Operation, Program, Signal, Statement, Task


def run(program: Program, body: tuple[Statement, ...], seen: Counter[Hashable]) -> None:
    for statement in body:
        match statement:
            case Operation():
                seen[statement.key] += 1
            case Call():
                run(program, program.functions[statement.function].body, seen)
            case Branch():
                for arm in statement.arms:
                    run(program, arm, seen)
            case Loop():
                for _ in range(max(1, statement.at_least)):
                    run(program, statement.body, seen)
            case Signal():
                pass


@st.composite
def programs(draw) -> Program:
    """Return a program in which functions call those with lower numbers."""
    keys = iter(range(1000))

    def body(callees: int, depth: int = 2) -> tuple[Statement, ...]:
        return tuple(statement(callees, depth) for _ in range(draw(st.integers(0, 3))))

    def statement(callees: int, depth: int) -> Statement:
        match draw(st.integers(0, 4)):
            case 0 if depth:
                return Loop(body(callees, depth - 1), draw(st.integers(0, 3)))
            case 1 if depth:
                return Branch((body(callees, depth - 1), body(callees, depth - 1)))
            case 2 if callees:
                return Call(draw(st.integers(0, callees - 1)))
            case 3:
                return Signal("activate", "t")
            case _:
                return Operation(next(keys), draw(st.booleans()))

    program = Program()
    for number in range(draw(st.integers(0, 3))):
        program.functions[number] = Function(body(number), exported=draw(st.booleans()))
    program.tasks["t"] = Task(body(len(program.functions)))
    return program


@given(programs())
def test_as_often_as_a_run_issues_them(program: Program) -> None:
    seen: Counter[Hashable] = Counter()
    for body in [task.body for task in program.tasks.values()] + [
        function.body for function in program.functions.values() if function.exported
    ]:
        run(program, body, seen)
    assert {key: count for key, count in issue_counts(program).items() if count} == seen


def test_functions_that_call_each_other_end() -> None:
    """Each runs as often as it is called from outside the circle, and by the one that comes before it there."""
    program = Program(
        functions={
            "main": Function((Call("a"), Call("a")), exported=True),
            "a": Function((Operation(1), Call("b"), Call("b"), Call("b"))),
            "b": Function((Operation(2), Call("a"), Call("b"))),
        }
    )
    assert issue_counts(program) == {1: 2, 2: 6}


def test_huge_loops_have_a_limit() -> None:
    body: tuple[Statement, ...] = (Operation(0),)
    for _ in range(5):
        body = (Loop(body, 1 << 16),)
    assert issue_counts(Program(tasks={"t": Task(body)})) == {0: MAX_COUNT}
