"""Registers: random programs run on a model of the register files; every operand must be found where it is read."""

from __future__ import annotations

import random
from collections.abc import Hashable
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.analysis.coloring import Graph, graph_of
from loomir.analysis.concurrency import Concurrency
from loomir.analysis.register_allocation import (
    Demand,
    File,
    Files,
    OutOfRegisters,
    Plan,
    Register,
    _inseparable,  # pyright: ignore[reportPrivateUsage]
    fewest_to_end,
    plan_registers,
)
from loomir.analysis.skeleton import (
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
)

from ..searches import examples

SIZES: Files = {"dest": 3, "src0": 3, "src1": 3, "xdsr": 5, "sr": 9}
FILES: tuple[File, ...] = ("dest", "src0", "src1")


def one(name: str, file: File = "src0") -> Demand:
    return Demand(name, file)


class Machine:
    """Runs a program with its plan and checks what every operation reads; knows nothing of how it was planned."""

    def __init__(self, program: Program, demands: dict, plan: Plan, chance: random.Random):
        self.program, self.demands, self.plan, self.chance = program, demands, plan, chance
        self.registers: dict[Register, Hashable] = {}
        self.locked: dict[Register, Hashable] = {}
        self.running: list[Operation] = []
        self.pending: list[Hashable] = []
        self.generation: dict[Hashable, int] = {}
        self.loads_before: dict[Hashable, list] = {}
        for load in plan.loads:
            self.loads_before.setdefault(load.before, []).append(load)
        self.budget = 400

    def run(self) -> None:
        for function in self.program.functions.values():
            if function.exported:
                self.body(function.body)
                while self.running or self.pending:
                    if self.budget < 0:
                        return
                    if self.pending and (not self.running or self.chance.random() < 0.5):
                        task = self.pending.pop(self.chance.randrange(len(self.pending)))
                        self.body(self.program.tasks[task].body)
                    else:
                        self.complete()

    def complete(self) -> None:
        operation = self.running.pop(self.chance.randrange(len(self.running)))
        for position in range(len(self.demands[operation.key])):
            for register in self.plan.operands[operation.key, position].registers:
                assert self.locked.pop(register) == operation.key
        for signal in self.chance.choice(operation.completions):
            self.pending.append(signal.task)

    def load(self, key: Hashable) -> None:
        for load in self.loads_before.get(key, ()):
            for register in load.registers:
                assert register not in self.locked, f"{load} overwrites what {self.locked[register]} still uses"
                self.registers[register] = load.demand.descriptor, self.generation.get(load.demand.descriptor, 0)

    def body(self, body: tuple[Statement, ...]) -> None:
        for statement in body:
            self.budget -= 1
            if self.budget < 0:
                return
            while self.running and self.chance.random() < 0.2:
                self.complete()
            match statement:
                case Signal():
                    self.pending.append(statement.task)
                case Operation():
                    self.operation(statement)
                case Call():
                    self.body(self.program.functions[statement.function].body)
                case Branch():
                    self.body(self.chance.choice(statement.arms))
                case Loop():
                    self.load(statement.key)
                    for _ in range(max(statement.at_least, self.chance.randrange(3))):
                        # What is made inside is another descriptor each time.
                        for name in self.generation:
                            if made_in(name, statement.key):
                                self.generation[name] += 1
                        self.body(statement.body)

    def operation(self, operation: Operation) -> None:
        if operation.asynchronous and operation in self.running:
            return  # Issuing it again while it runs is an error of the program.
        self.load(operation.key)
        for position, demand in enumerate(self.demands[operation.key]):
            generation = self.generation.get(demand.descriptor, 0)
            load = self.plan.operands[operation.key, position]
            assert [file for file, _ in load.registers] == demand.units()
            assert all(number < SIZES[file] for file, number in load.registers)
            for register in load.registers:
                assert self.registers[register] == (demand.descriptor, generation), operation
                assert register not in self.locked, f"{operation} reads what {self.locked[register]} still uses"
                if operation.asynchronous:
                    self.locked[register] = operation.key
        if operation.asynchronous:
            self.running.append(operation)


def made_in(descriptor: Hashable, loop: Hashable) -> bool:
    """Descriptors are named `<loop>.<number>` after the innermost loop that makes them, nested loops `a/b`."""
    return str(descriptor).rpartition(".")[0].startswith(str(loop))


def is_invariant(loop: Hashable, descriptor: Hashable) -> bool:
    return not made_in(descriptor, loop)


@st.composite
def programs(draw) -> tuple[Program, dict]:
    counter = iter(range(10_000))
    demands: dict[Hashable, list[Demand]] = {}
    tasks = ["t", "u"]

    def operation(scopes: list[str]) -> Operation:
        key = f"op{next(counter)}"
        demands[key] = [
            Demand(f"{draw(st.sampled_from(scopes))}.{number}", file, number < 2, int(number == 0))
            for file in FILES
            if draw(st.booleans())
            for number in [draw(st.integers(0, 3))]
        ]
        asynchronous = draw(st.integers(0, 4)) == 0
        activated = draw(st.sampled_from([(), ("t",), ("u",)])) if asynchronous else ()
        return Operation(key, asynchronous, (tuple(Signal("activate", task) for task in activated),))

    def body(scopes: list[str], depth: int) -> tuple[Statement, ...]:
        return tuple(statement(scopes, depth) for _ in range(draw(st.integers(0, 4))))

    def statement(scopes: list[str], depth: int) -> Statement:
        kind = draw(st.integers(0, 9))
        if kind == 0 and depth:
            return Branch((body(scopes, depth - 1), body(scopes, depth - 1)))
        if kind in (1, 2) and depth:
            name = f"{scopes[-1]}/loop{next(counter)}"
            return Loop(body([*scopes, name], depth - 1), draw(st.integers(0, 1)), name)
        if kind == 3:
            return Call(draw(st.sampled_from(["f", "g"])))
        return operation(scopes)

    program = Program()
    program.functions["g"] = Function((*body(["g"], 0)[:2], Call("f")) if draw(st.booleans()) else ())
    program.functions["f"] = Function((operation(["f"]),))
    for task in tasks:
        program.tasks[task] = Task(body([task], 2))
    program.functions["main"] = Function(body(["main"], 3), exported=True)
    return program, demands


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(programs(), st.integers(0, 2**32))
def test_every_operand_is_where_it_is_read(case: tuple[Program, dict], seed: int) -> None:
    program, demands = case
    try:
        plan = plan_registers(program, demands, SIZES, is_invariant=is_invariant)
    except OutOfRegisters:
        return
    for run in range(5):
        machine = Machine(program, demands, plan, random.Random(seed + run))
        machine.generation = {demand.descriptor: 0 for needed in demands.values() for demand in needed}
        machine.run()


def single(*body: Statement) -> Program:
    return Program(functions={"main": Function(body, exported=True)})


def test_a_descriptor_still_held_is_not_loaded_again() -> None:
    program = single(Operation("a"), Operation("b"))
    plan = plan_registers(program, {"a": [one("x")], "b": [one("x")]}, SIZES)
    assert [load.before for load in plan.loads] == ["a"]
    assert plan.operands["a", 0] is plan.operands["b", 0]


def test_files_are_kept_apart() -> None:
    program = single(Operation("a"))
    plan = plan_registers(program, {"a": [one("x", file) for file in FILES]}, SIZES)
    assert [load.registers for load in plan.loads] == [[(file, 0)] for file in FILES]


def test_what_was_used_longest_ago_makes_room() -> None:
    names = ["x", "y", "z", "x", "w", "x", "y"]
    program = single(*(Operation(number) for number in range(len(names))))
    plan = plan_registers(program, {n: [one(name)] for n, name in enumerate(names)}, SIZES)
    # w takes the place of y, the fourth and sixth find x still there, the last loads y again.
    assert [load.before for load in plan.loads] == [0, 1, 2, 4, 6]


def calling(*called: Statement) -> list[Hashable]:
    """Return where x is loaded around a call of a function, and its own y, with the statements `called`."""
    program = single(Operation("a"), Call("f"), Operation("b"))
    program.functions["f"] = Function(called)
    demands = {"a": [one("x")], "b": [one("x")], "c": [one("y")], "d": [one("z", "dest")]}
    return [load.before for load in plan_registers(program, demands, SIZES).loads if load.before in ("a", "b")]


def test_a_call_overwrites_what_its_function_loads() -> None:
    assert calling() == ["a"]
    assert calling(Operation("d")) == ["a"]
    assert calling(Operation("c")) == ["a", "b"]


def test_a_function_that_calls_itself_may_overwrite_every_register() -> None:
    assert calling(Operation("d"), Branch(((Call("f"),), ()))) == ["a", "b"]


def test_a_loop_with_calls_loads_once_what_it_does_not_change() -> None:
    """Before it, into registers that the functions do not load; not if one may call itself."""
    program = single(Loop((Operation("a"), Call("f")), key="loop"))
    program.functions["f"] = Function((Operation("c"), Call("g")))
    program.functions["g"] = Function((Operation("d"),))
    demands = {"a": [one("main.x")], "c": [one("f.y")], "d": [one("g.z", "src0"), one("g.z", "dest")]}
    plan = plan_registers(program, demands, SIZES, is_invariant=is_invariant)
    (load,) = (load for load in plan.loads if load.demand.descriptor == "main.x")
    assert load.before == "loop"
    inside = {register for other in plan.loads if other is not load for register in other.registers}
    assert not inside & set(load.registers)
    program.functions["g"] = Function((Operation("d"), Branch(((Call("f"),), ()))))
    plan = plan_registers(program, demands, SIZES, is_invariant=is_invariant)
    assert [load.before for load in plan.loads if load.demand.descriptor == "main.x"] == ["a"]


def test_callees_are_first() -> None:
    program = Program()
    for name, called in {"a": "bc", "b": "c", "c": "", "d": "ed", "e": "f", "f": "eb"}.items():
        program.functions[name] = Function(tuple(Call(other) for other in called))
    found = callees_first(program)
    assert sorted(map(str, found)) == ["a", "b", "c"]
    assert found.index("c") < found.index("b") < found.index("a")


def test_a_loop_loads_once_what_it_does_not_change() -> None:
    program = single(Loop((Operation("a"), Operation("b")), key="loop"))
    demands = {"a": [one("main.x"), one("main.y", "dest")], "b": [one("loop.z")]}
    plan = plan_registers(program, demands, SIZES, is_invariant=is_invariant)
    assert [(load.demand.descriptor, load.before) for load in plan.loads] == [
        ("main.x", "loop"),
        ("main.y", "loop"),
        ("loop.z", "b"),
    ]


def test_a_loop_keeps_a_register_for_what_changes() -> None:
    program = single(Loop(tuple(Operation(n) for n in range(4)), key="loop"))
    demands = {n: [one(f"main.{n}")] for n in range(3)} | {3: [one("loop.x")]}
    plan = plan_registers(program, demands, SIZES, is_invariant=is_invariant)
    assert [load.before for load in plan.loads] == ["loop", "loop", 2, 3]


def test_an_asynchronous_operation_holds_its_registers_until_it_ends() -> None:
    # b follows the end of a and may have its register; c does not.
    program = Program(
        tasks={"t": Task((Operation("b"),))},
        functions={"main": Function((Operation("a", True, ((Signal("activate", "t"),),)), Operation("c")), True)},
    )
    plan = plan_registers(program, {key: [one(key)] for key in "abc"}, SIZES)
    number = {key: plan.operands[key, 0].registers[0][1] for key in "abc"}
    assert number["a"] == number["b"] != number["c"]


def loads_of(body: tuple[Statement, ...], demands: dict, **options) -> list[tuple[Hashable, Hashable]]:
    """Return the descriptors that are loaded in `body`, and before what."""
    plan = plan_registers(single(*body), demands, SIZES, is_invariant=is_invariant, **options)
    return [(load.demand.descriptor, load.before) for load in plan.loads]


def test_an_asynchronous_operation_does_not_load_what_its_registers_hold() -> None:
    """Before the loop if it is not under way there; at its issue if it may be, or if the descriptor changes."""
    start = Operation("a", asynchronous=True)
    demands = {"a": [one("main.x")], "b": [one("main/loop.y")]}
    loop = Loop((start,), key="main/loop")
    assert loads_of((loop,), demands) == [("main.x", "main/loop")]
    assert loads_of((loop, Loop((start,), key="main/second")), demands) == [("main.x", "main/loop")]
    changed = Loop((Operation("b", asynchronous=True),), key="main/loop")
    assert loads_of((changed,), demands) == [("main/loop.y", "b")]
    # Inside another loop the operation may be under way when the inner one starts again.
    demands = {"a": [one("main/outer.x")]}
    nested = Loop((Loop((start,), key="main/outer/loop"),), key="main/outer")
    assert loads_of((nested,), demands) == [("main/outer.x", "a")]


def test_operations_of_one_microthread_share_registers_and_what_these_hold() -> None:
    first, second = Operation("a", asynchronous=True), Operation("b", asynchronous=True)
    one_microthread = {"microthreads": {"a": 1, "b": 1}}
    loop = Loop((first, second), key="main/loop")
    assert loads_of((loop,), {"a": [one("main.x")], "b": [one("main.x")]}, **one_microthread) == [
        ("main.x", "main/loop")
    ]
    # Each throws out what the other needs.
    found = loads_of((loop,), {"a": [one("main.x")], "b": [one("main.y")]}, **one_microthread)
    assert found == [("main.x", "a"), ("main.y", "b")]


def test_a_function_of_a_loop_loads_the_registers_of_an_operation_on_the_same_microthread() -> None:
    program = single(Loop((Operation("a", asynchronous=True), Call("f")), key="main/loop"))
    program.functions["f"] = Function((Operation("b", asynchronous=True),))
    demands = {"a": [one("main.x")], "b": [one("f.y")]}
    plan = plan_registers(program, demands, SIZES, is_invariant=is_invariant, microthreads={"a": 1, "b": 1})
    assert sorted(str(load.before) for load in plan.loads) == ["a", "b"]


def test_a_synchronous_operation_takes_no_register_of_one_under_way() -> None:
    plan = plan_registers(single(Operation("a", True), Operation("b")), {"a": [one("x")], "b": [one("x")]}, SIZES)
    assert plan.operands["a", 0].registers != plan.operands["b", 0].registers


def test_extended_and_stride_registers_are_counted() -> None:
    program = single(Operation("a"))
    plan = plan_registers(program, {"a": [Demand("x", "dest", True, 2), Demand("y", "src0", True, 1)]}, SIZES)
    assert [load.registers for load in plan.loads] == [
        [("dest", 0), ("xdsr", 0), ("sr", 0), ("sr", 1)],
        [("src0", 0), ("xdsr", 1), ("sr", 2)],
    ]


def test_reserved_registers_are_left_alone() -> None:
    program = single(Operation("a"))
    plan = plan_registers(program, {"a": [one("x")]}, SIZES, reserved=[("src0", 0)])
    assert plan.loads[0].registers == [("src0", 1)]


@pytest.mark.parametrize("asynchronous", [True, False])
def test_a_file_that_is_full_is_named_with_what_is_live(asynchronous: bool) -> None:
    running = [Operation(n, True) for n in range(3)]
    program = single(*running, Operation(3, asynchronous))
    with pytest.raises(OutOfRegisters) as error:
        plan_registers(program, {n: [one(str(n))] for n in range(4)}, SIZES)
    assert (error.value.file, error.value.operation, error.value.live) == ("src0", 3, (0, 1, 2))


def test_the_fewest_operations_that_have_to_end_first() -> None:
    """No fewer operations leave enough registers for the others, and one at least has to end."""
    for needs in product(range(1, 4), repeat=4):
        needed: dict[Hashable, int] = dict(enumerate(needs))
        for size in range(max(needs), 13):
            found = fewest_to_end(OutOfRegisters("src0", 3, (0, 1, 2)), needed, size)
            fitting = [
                count
                for count in range(1, 4)
                if any(sum(needs) - sum(needs[op] for op in ended) <= size for ended in combinations(range(3), count))
            ]
            assert len(found) == min(fitting)
            assert sum(needs) - sum(needed[op] for op in found) <= size


def fits(program: Program, demands: dict, sizes: Files) -> bool:
    """Return True if some choice of registers suits all operations that may run at the same time."""
    concurrency = Concurrency(program)
    operations = [operation for operation in program.operations() if demands[operation.key]]
    running = [operation.key for operation in operations if operation.asynchronous]
    for file, size in sizes.items():
        needed = {key: sum(demand.units().count(file) for demand in demands[key]) for key in demands}

        def suits(operation: Operation, held: dict, size: int = size, needed: dict = needed) -> bool:
            others = [other for other in concurrency.overlapping(operation.key) if other != operation.key]
            busy = {number for other in others for number in held.get(other, ())}
            own = held.get(operation.key)
            return size - len(busy) >= needed[operation.key] if own is None else not busy & set(own)

        choices = [list(combinations(range(size), needed[key])) for key in running]
        held = (dict(zip(running, chosen, strict=True)) for chosen in product(*choices))
        if not any(all(suits(operation, each) for operation in operations) for each in held):
            return False
    return True


@st.composite
def crowds(draw) -> tuple[Program, dict]:
    """Return a program with few operations in tasks that start each other."""
    demands: dict[Hashable, list[Demand]] = {}
    tasks = ["t", "u", "v"]

    def operation() -> Operation:
        key = f"op{len(demands)}"
        demands[key] = [one(f"{key}.{n}") for n in range(draw(st.integers(1, 2)))]
        asynchronous = draw(st.integers(0, 2)) > 0
        ends = ((Signal("activate", draw(st.sampled_from(tasks))),) if draw(st.booleans()) else (),)
        return Operation(key, asynchronous, ends)

    bodies = [tuple(operation() for _ in range(draw(st.integers(0, 2)))) for _ in range(5)]
    program = Program(functions={name: Function(bodies.pop(), exported=True) for name in ("first", "second")})
    program.tasks |= {name: Task(body) for name, body in zip(tasks, bodies, strict=True)}
    return program, demands


@settings(max_examples=examples(400))
@given(crowds(), st.integers(2, 4))
def test_registers_are_found_exactly_when_there_are_enough(case: tuple[Program, dict], size: int) -> None:
    program, demands = case
    sizes: Files = {"src0": size}
    try:
        plan_registers(program, demands, sizes)
    except OutOfRegisters as error:
        named = [error.operation, *error.live]
        ended = fewest_to_end(error, {op: len(demands[op]) for op in named}, size)
        only = {key: demands[key] if key in named else [] for key in demands}
        assert not fits(program, only, sizes)
        assert not error.live or fits(program, {key: [] if key in ended else only[key] for key in only}, sizes)
    else:
        assert fits(program, demands, sizes)


def test_a_synchronous_operation_beside_asynchronous_ones_that_could_share() -> None:
    """b and c never run at once, but each may beside s, which gets a register if both have the same."""
    then = ((Signal("activate", "t"),),)
    program = Program(
        tasks={"t": Task((Operation("s"),))},
        functions={
            "first": Function((Operation("b", True), Operation("d", True, then)), exported=True),
            "second": Function((Operation("e", True, then), Operation("c", True)), exported=True),
        },
    )
    demands = {key: [one(key)] for key in "bdecs"}
    plan = plan_registers(program, demands, {"src0": 2})
    number = {key: plan.operands[key, 0].registers[0][1] for key in demands}
    assert number["b"] == number["c"] != number["s"]


def test_a_circle_of_operations_names_all_of_it() -> None:
    """Five of which each runs beside two others need three registers, although no three run at once."""
    keys = "abcde"
    graph = graph_of(range(5), [(n, (n + 1) % 5) for n in range(5)])
    found = _inseparable(graph, [[n] for n in range(5)], range(2))
    assert [keys[n] for n in found] == list(keys)
    assert _inseparable(graph_of(range(6), [*graph_edges(graph), (5, 0)]), [[n] for n in range(6)], range(2)) == found


def graph_edges(graph: Graph[int]) -> list[tuple[int, int]]:
    return [(a, b) for a in graph for b in graph[a] if a < b]
