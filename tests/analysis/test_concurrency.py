"""Which operations may run at once: cases by name, and random programs run by a random scheduler."""

from __future__ import annotations

import random
from collections.abc import Hashable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.analysis.concurrency import Concurrency
from loomir.analysis.skeleton import Branch, Call, Function, Loop, Operation, Program, Signal, Statement, Task

from ..searches import examples


def start(key: str, *signals: Signal) -> Operation:
    return Operation(key, True, (signals,))


def wait(key: str) -> Operation:
    return Operation(key)


def activate(task: str) -> Signal:
    return Signal("activate", task)


def block(task: str) -> Signal:
    return Signal("block", task)


def unblock(task: str) -> Signal:
    return Signal("unblock", task)


def pairs(
    main: tuple[Statement, ...] = (), tasks: dict[Hashable, Task] | None = None, **functions: Function
) -> set[tuple[str, str]]:
    program = Program(tasks or {}, {"main": Function(main, exported=True), **functions})
    found = [sorted((str(one), str(other))) for one, other in Concurrency(program).pairs()]
    return {(one, other) for one, other in found}


def test_two_starts_in_one_body_overlap() -> None:
    assert pairs((start("a"), start("b"))) == {("a", "b")}


def test_a_synchronous_operation_overlaps_what_is_under_way() -> None:
    assert pairs((wait("w"), start("a"), wait("x"))) == {("a", "x")}


def test_a_chain_of_activations_does_not_overlap() -> None:
    chain: dict[Hashable, Task] = {"t": Task((start("b", activate("u")),)), "u": Task((start("c"),))}
    assert pairs((start("a", activate("t")),), chain) == set()


def test_a_task_that_starts_itself_again_does_not_overlap_itself() -> None:
    again = Task((Branch(((start("a", activate("t")),), ())),))
    assert pairs((activate("t"),), {"t": again}) == set()


def test_a_task_activated_beside_its_operation_overlaps_itself() -> None:
    assert pairs((activate("t"),), {"t": Task((start("a"), activate("t")))}) == {("a", "a")}


def test_the_arms_of_a_branch_do_not_overlap() -> None:
    assert pairs((Branch(((start("a"),), (start("b"),))), start("c"))) == {("a", "c"), ("b", "c")}


def test_a_loop_starts_its_operations_again() -> None:
    assert pairs((Loop((start("a"),)),)) == {("a", "a")}


def test_a_join_of_activation_and_unblocking_is_exact() -> None:
    again = Task((block("t"), start("a", activate("t")), start("b", unblock("t"))), blocked=True)
    assert pairs((start("c", activate("t")), start("d", unblock("t"))), {"t": again}) == {("a", "b"), ("c", "d")}


def test_a_join_that_forgets_to_block_itself_is_none() -> None:
    again = Task((start("a", activate("t")), start("b", unblock("t"))), blocked=True)
    found = pairs((start("c", activate("t")), start("d", unblock("t"))), {"t": again})
    assert ("b", "b") in found


def test_a_counted_join_is_taken_to_go_on_at_once() -> None:
    counting = Task((Branch(((start("c"),), ())),))
    found = pairs((start("a", activate("t")), start("b", activate("t"))), {"t": counting})
    assert {("a", "c"), ("b", "c")} <= found


def test_a_data_task_may_run_at_any_time() -> None:
    assert pairs(tasks={"d": Task((start("a"),), "data"), "e": Task((start("b"),), "control")}) == {
        ("a", "a"),
        ("a", "b"),
        ("b", "b"),
    }


def test_a_data_task_that_blocks_itself_until_the_end_does_not_overlap_itself() -> None:
    assert pairs(tasks={"d": Task((block("d"), start("a", unblock("d"))), "data")}) == set()


def test_control_wavelets_may_end_an_operation_another_way() -> None:
    either = Operation("a", True, ((activate("t"),), (activate("u"),)))
    found = pairs((either, start("x")), {"t": Task((start("b"),)), "u": Task((start("c"),))})
    assert found == {("a", "x"), ("b", "x"), ("c", "x")}


def test_a_call_returns_to_its_caller_only() -> None:
    functions = {"f": Function((start("a"),)), "g": Function((Call("f"), start("b")), True)}
    assert pairs((Call("f"), start("c")), None, **functions) == {("a", "b"), ("a", "c")}


def test_recursion_is_followed() -> None:
    functions = {"f": Function((start("a"), Branch(((Call("f"),), ()))))}
    assert pairs((Call("f"),), None, **functions) == {("a", "a")}


def test_the_host_launches_when_all_is_at_rest() -> None:
    assert pairs((start("a"),), other=Function((start("b"),), True)) == set()


def test_a_task_unblocked_for_good_stays_so_for_the_next_launch() -> None:
    late = Task((start("a"),), blocked=True)
    opened = Function((unblock("t"),), True)
    assert ("a", "b") in pairs((activate("t"), start("b")), {"t": late}, opened=opened)


def test_active_tasks_run_first() -> None:
    assert pairs(tasks={"t": Task((start("a"), activate("u")), active=True), "u": Task((start("b"),))}) == {("a", "b")}


def certain(program: Program, *keys: str) -> set[tuple[str, str]]:
    concurrency = Concurrency(program)
    keys = tuple(key for key in keys if any(key == each.key for each in program.operations()))
    return {(a, b) for a in keys for b in keys if a <= b and concurrency.certainly_overlap(a, b)}


def test_only_what_every_run_starts_together_is_certain() -> None:
    body = (start("a"), Branch(((start("b"),), (start("c"),))), start("d"), wait("e"))
    program = Program(functions={"main": Function(body, True)})
    assert certain(program, *"abcde") == {
        *(("a", other) for other in "bcde"),
        *((other, "d") for other in "bc"),
        *((other, "e") for other in "bcd"),
    }


def receive(key: str) -> Operation:
    return Operation(key, waits=True)


def test_what_ends_while_the_task_waits_is_not_certain() -> None:
    """A synchronous receive between two operations may last as long as the first: in line, in a function, in an arm."""
    functions = {
        "f": Function((Branch(((receive("g"),), ())),)),
        "h": Function((Call("f"),)),
        "s": Function((wait("x"),)),
    }

    def of(*body: Statement) -> set[tuple[str, str]]:
        return certain(Program(functions={**functions, "main": Function(body, True)}), *"abw")

    assert of(start("a"), receive("w"), start("b")) == {("a", "w")}
    assert of(start("a"), wait("w"), start("b")) == {("a", "b"), ("a", "w")}
    assert of(start("a"), Call("h"), start("b")) == set()
    assert of(start("a"), Call("s"), start("b")) == {("a", "b")}
    assert of(start("a"), Branch(((receive("w"),), ())), start("b")) == {("a", "w")}
    assert of(receive("w"), start("a"), start("b")) == {("a", "b")}
    assert of(start("a"), start("b"), receive("w")) == {("a", "b"), ("a", "w"), ("b", "w")}


def test_a_loop_that_waits_each_trip_starts_nothing_twice() -> None:
    def of(*body: Statement, trips: int = 2) -> set[tuple[str, str]]:
        return certain(Program(functions={"main": Function((Loop(body, trips),), True)}), *"abw")

    assert of(start("a"), receive("w")) == {("a", "w")}
    assert of(receive("w"), start("a")) == {("a", "w")} - {("a", "w")}
    assert of(start("a"), start("b"), receive("w")) == {("a", "b"), ("a", "w"), ("b", "w")}
    assert of(start("a"), Loop((receive("w"),))) == {("a", "w")}
    assert ("a", "a") in of(start("a"), wait("w"))


def test_what_loops_start_twice_is_certain() -> None:
    program = Program(functions={"main": Function((Loop((start("a"),), 2), Loop((start("b"),), 1)), True)})
    assert certain(program, *"ab") == {("a", "a"), ("a", "b")}


def test_what_follows_a_completion_is_not_certain() -> None:
    program = Program(tasks={"t": Task((start("b"),))}, functions={"main": Function((start("a"), activate("t")), True)})
    assert certain(program, *"ab") == set()


def test_what_a_called_function_always_starts_is_certain() -> None:
    program = Program(
        functions={
            "main": Function((Call("f"), start("c")), True),
            "f": Function((start("a"), Branch(((start("b"),), ())))),
        }
    )
    assert certain(program, *"abc") == {("a", "b"), ("a", "c")}


class Scheduler:
    """Runs a program, choosing at random what happens next, and notes which operations are under way together."""

    def __init__(self, program: Program, chance: random.Random):
        self.program, self.chance = program, chance
        self.seen: set[frozenset[Hashable]] = set()
        self.under_way: list[Operation] = []
        self.pending = {name for name, task in program.tasks.items() if task.active}
        self.blocked = {name for name, task in program.tasks.items() if task.blocked}
        self.budget = 60

    def run(self) -> None:
        launched = False
        while self.budget > 0:
            self.budget -= 1
            ready = [
                name
                for name, task in self.program.tasks.items()
                if name not in self.blocked and (name in self.pending or task.kind == "data")
            ]
            choices = ["complete"] * bool(self.under_way) + ["task"] * bool(ready) + ["launch"] * (not launched)
            match self.chance.choice(choices or [""]):
                case "complete":
                    self.complete()
                case "task":
                    name = self.chance.choice(ready)
                    self.pending.discard(name)
                    self.body(self.program.tasks[name].body)
                case "launch":
                    launched = True
                    self.body(self.program.functions["main"].body)
                case _:
                    return

    def complete(self) -> None:
        operation = self.under_way.pop(self.chance.randrange(len(self.under_way)))
        for signal in self.chance.choice(operation.completions):
            self.signal(signal)

    def signal(self, signal: Signal) -> None:
        match signal.action:
            case "activate":
                self.pending.add(signal.task)
            case "block":
                self.blocked.add(signal.task)
            case "unblock":
                self.blocked.discard(signal.task)

    def body(self, body: tuple[Statement, ...]) -> None:
        for statement in body:
            self.budget -= 1
            if self.budget < 0:
                return
            while self.under_way and self.chance.random() < 0.3:
                self.complete()
            match statement:
                case Signal():
                    self.signal(statement)
                case Operation():
                    self.seen |= {frozenset((statement.key, other.key)) for other in self.under_way}
                    if statement.asynchronous:
                        self.under_way.append(statement)
                case Call():
                    self.body(self.program.functions[statement.function].body)
                case Branch():
                    self.body(self.chance.choice(statement.arms))
                case Loop():
                    for _ in range(statement.at_least + self.chance.randrange(3)):
                        self.body(statement.body)


@st.composite
def programs(draw) -> Program:
    counter = iter(range(10_000))
    tasks = ["t", "u", "v"]

    def signal() -> Signal:
        return Signal(draw(st.sampled_from(["activate", "block", "unblock"])), draw(st.sampled_from(tasks)))

    def completion() -> tuple[Signal, ...]:
        task = draw(st.sampled_from(tasks))
        return draw(st.sampled_from([(), (activate(task),), (unblock(task),)]))

    def statement(depth: int) -> Statement:
        match draw(st.integers(0, 7)):
            case 0:
                return signal()
            case 1 if depth:
                return Branch((body(depth - 1), body(depth - 1)))
            case 2 if depth:
                return Loop(body(depth - 1), draw(st.integers(0, 2)))
            case 3:
                return Call("f")
            case 4:
                return Operation(f"s{next(counter)}")
            case _:
                ends = tuple(completion() for _ in range(draw(st.integers(1, 2))))
                return Operation(f"a{next(counter)}", True, ends)

    def body(depth: int) -> tuple[Statement, ...]:
        return tuple(statement(depth) for _ in range(draw(st.integers(0, 3))))

    program = Program()
    for name in tasks:
        kind = draw(st.sampled_from(["local", "local", "data"]))
        active = kind == "local" and draw(st.booleans())
        program.tasks[name] = Task(body(1), kind, active=active, blocked=draw(st.booleans()))
    program.functions["f"] = Function((Operation("f", True, (completion(),)),))
    program.functions["main"] = Function(body(2), exported=True)
    return program


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(programs(), st.integers(0, 2**32))
def test_whatever_overlaps_in_a_run_was_foreseen(program: Program, seed: int) -> None:
    concurrency = Concurrency(program)
    foreseen = {frozenset(pair) for pair in concurrency.pairs()}
    for run in range(10):
        scheduler = Scheduler(program, random.Random(seed + run))
        scheduler.run()
        assert scheduler.seen <= foreseen
