"""Random code of structured control flow and calls: what the tables say is what the IR says.

A small machine for integers runs the tables here. It knows nothing of the assembler, of costs but what `tick` charges,
or of how registers were allocated, and never reads a register that has not been written.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from loomir import targets
from loomir.backend.tables import assemble
from loomir.dialects import flow
from loomir.operations import integers
from loomir.runtime.tables.format import Tables
from loomir.runtime.tables.instructions import CONTROL, COSTS, FIRST_SCALAR, NO_REGISTER, SCALARS

from ...runtime.flow_modules import parse
from .ir_interpreter import Interpreter

BITS = {"i1": 1, "i16": 16, "index": 64}


class Code:
    """Writes random code: values by type, nested control flow, calls of the functions before."""

    def __init__(self, seed: int):
        self.random = Random(seed)
        self.lines: list[str] = []
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def value(self, scope: list[str], text: str) -> None:
        name = self.name()
        self.lines.append(f"{name} = {text}")
        scope.append(name)

    def some(self, scope: list[str]) -> str:
        # Recent values more often, so that the others die.
        return self.random.choice(scope[-6:] if self.random.random() < 0.7 else scope)

    def condition(self, scope: list[str]) -> str:
        name = self.name()
        predicate = self.random.choice(["slt", "eq", "ugt", "ne", "sle"])
        self.lines.append(f"{name} = arith.cmpi {predicate}, {self.some(scope)}, {self.some(scope)} : i16")
        return name

    def index(self, scope: list[str]) -> str:
        masked, index = self.name(), self.name()
        self.lines += [f"{masked} = arith.andi {self.some(scope)}, %seven : i16"]
        self.lines += [f"{index} = arith.index_cast {masked} : i16 to index"]
        return index

    def block(self, outer: list[str], depth: int, functions: list[tuple[str, int, int]]) -> list[str]:
        scope = list(outer)
        for _ in range(self.random.randint(1, 5)):
            self.statement(scope, depth, functions)
        return scope

    def statement(self, scope: list[str], depth: int, functions: list[tuple[str, int, int]]) -> None:
        random = self.random
        kind = random.randrange(12 if depth else 7)
        if kind < 2:
            name = random.choice(["addi", "subi", "muli", "xori", "maxsi", "shrui"])
            self.value(scope, f"arith.{name} {self.some(scope)}, {self.some(scope)} : i16")
        elif kind == 2:
            self.value(scope, f"arith.constant {random.randint(-9, 9)} : i16")
        elif kind == 3:
            condition = self.condition(scope)
            self.value(scope, f"arith.select {condition}, {self.some(scope)}, {self.some(scope)} : i16")
        elif kind == 4:
            self.value(scope, f"flow.load @memory[{self.index(scope)}] : i16")
        elif kind == 5:
            self.lines.append(f"flow.store {self.some(scope)}, @memory[{self.index(scope)}] : i16")
        elif kind == 6:
            if functions:
                name, arguments, results = random.choice(functions)
                given = ", ".join(self.some(scope) for _ in range(arguments))
                made = [self.name() for _ in range(results)]
                left = f"{', '.join(made)} = " if made else ""
                types = f"({', '.join(['i16'] * arguments)}) -> ({', '.join(['i16'] * results)})"
                self.lines.append(f"{left}flow.call @{name}({given}) : {types}")
                scope += made
        elif kind < 9:
            self.branch(scope, depth, functions)
        elif kind < 11:
            self.count_loop(scope, depth, functions)
        else:
            self.while_loop(scope, depth, functions)

    def branch(self, scope: list[str], depth: int, functions: list[tuple[str, int, int]]) -> None:
        condition, count = self.condition(scope), self.random.randint(0, 3)
        made = [self.name() for _ in range(count)]
        left = f"{', '.join(made)} = " if made else ""
        types = f" -> ({', '.join(['i16'] * count)})" if made else ""
        self.lines.append(f"{left}scf.if {condition}{types} {{")
        for last in (False, True):
            if last and not made and self.random.random() < 0.5:
                break
            if last:
                self.lines.append("} else {")
            inner = self.block(scope, depth - 1, functions)
            if made:
                self.lines.append(
                    f"scf.yield {', '.join(self.some(inner) for _ in made)} : {', '.join(['i16'] * count)}"
                )
        self.lines.append("}")
        scope += made

    def carried(self, scope: list[str]) -> tuple[list[str], str, str]:
        names = [self.name() for _ in range(self.random.randint(0, 3))]
        given = ", ".join(f"{name} = {self.some(scope)}" for name in names)
        return names, given, ", ".join(["i16"] * len(names))

    def yields(self, scope: list[str], names: list[str]) -> str:
        # Often only in another order, so that the values change places.
        pool = names if self.random.random() < 0.5 else scope
        return ", ".join(self.random.choice(pool) for _ in names)

    def count_loop(self, scope: list[str], depth: int, functions: list[tuple[str, int, int]]) -> None:
        names, given, types = self.carried(scope)
        made = [self.name() for _ in names]
        counter, low, high, step = (self.name() for _ in range(4))
        for name, number in ((low, self.random.randint(-2, 2)), (high, self.random.randint(-1, 4)), (step, 1)):
            self.lines.append(f"{name} = arith.constant {number} : index")
        left = f"{', '.join(made)} = " if made else ""
        arguments = f" iter_args({given}) -> ({types})" if names else ""
        self.lines.append(f"{left}scf.for {counter} = {low} to {high} step {step}{arguments} {{")
        cast = self.name()
        self.lines.append(f"{cast} = arith.index_cast {counter} : index to i16")
        inner = self.block([*scope, *names, cast], depth - 1, functions)
        if names:
            self.lines.append(f"scf.yield {self.yields(inner, names)} : {types}")
        self.lines.append("}")
        scope += made

    def while_loop(self, scope: list[str], depth: int, functions: list[tuple[str, int, int]]) -> None:
        names, given, _ = self.carried(scope)
        rounds, limit = self.name(), self.random.randint(0, 3)
        start, bound, one = (self.name() for _ in range(3))
        for name, number in ((start, 0), (bound, limit), (one, 1)):
            self.lines.append(f"{name} = arith.constant {number} : i16")
        everything = ", ".join(["i16"] * (len(names) + 1))
        made = [self.name() for _ in range(len(names) + 1)]
        arguments = f"{rounds} = {start}" + (f", {given}" if given else "")
        self.lines.append(f"{', '.join(made)} = scf.while ({arguments}) : ({everything}) -> ({everything}) {{")
        inner = self.block([*scope, rounds, *names], 0, functions)
        more = self.name()
        self.lines.append(f"{more} = arith.cmpi slt, {rounds}, {bound} : i16")
        passed = "".join(f", {value}" for value in self.yields(inner, names).split(", ") if value)
        self.lines.append(f"scf.condition({more}) {rounds}{passed} : {everything}")
        after = [self.name() for _ in made]
        self.lines.append(f"}} do {{ ^bb0({', '.join(f'{name}: i16' for name in after)}):")
        inner = self.block([*scope, *after], depth - 1, functions)
        following = self.name()
        self.lines.append(f"{following} = arith.addi {after[0]}, {one} : i16")
        yielded = "".join(f", {value}" for value in self.yields(inner, after[1:]).split(", ") if value)
        self.lines.append(f"scf.yield {following}{yielded} : {everything}")
        self.lines.append("}")
        scope += made


def program(seed: int) -> str:
    random = Random(seed)
    functions: list[tuple[str, int, int]] = []
    texts: list[str] = []
    for number in range(4):
        code = Code(seed * 10 + number)
        arguments, results = random.randint(0, 3), random.randint(0, 3)
        name = "main" if number == 3 else f"f{number}"
        scope = [f"%a{k}" for k in range(arguments)]
        code.lines += [
            "%seven = arith.constant 7 : i16",
            "%x = flow.coordinate x : i16",
            "%p = flow.get_param @p : i16",
        ]
        scope = code.block([*scope, "%seven", "%x", "%p"], 3, functions)
        given = [code.some(scope) for _ in range(results)] if number < 3 else []
        types = ", ".join(["i16"] * len(given))
        code.lines.append(f"flow.return {', '.join(given)} : {types}" if given else "flow.return")
        signature = ", ".join(f"%a{k}: i16" for k in range(arguments))
        texts.append(
            f"flow.func @{name}({signature}){f' -> ({types})' if given else ''} {{\n" + "\n".join(code.lines) + "\n}"
            if arguments
            else f"flow.func @{name}(){f' -> ({types})' if given else ''} {{\n" + "\n".join(code.lines) + "\n}"
        )
        functions.append((name, arguments, len(given)))
    return f"""flow.fabric @f target "wse3" grid 2 by 1 {{
      flow.units @u on [:, :] words 16 {{
        flow.buffer @memory at 4 : memref<8xi16> = dense<[1, 2, 3, -4, 5, 600, 7, -8]>
        flow.param @p = dense<[[5, -3]]> : tensor<1x2xi16>
        flow.export @memory as "memory"
        flow.export @main as "main"
        {chr(10).join(texts)}
      }}
    }}"""


class OnePe:
    """Runs scalar code of tables for one PE."""

    def __init__(self, tables: Tables, place: int):
        self.tables = tables
        self.place = place
        timing = targets.get(tables.strings[tables["program"][0]["target"]]).timing
        self.prices = [getattr(timing, name) for name in COSTS]
        self.memory = bytearray(64)
        for image in tables["images"]:
            start, size = int(image["bytes"]), int(image["size"])
            piece = tables["image_bytes"][start : start + size].tobytes()
            self.memory[image["address"] : image["address"] + size] = piece
        self.clock = self.steps = 0

    def launch(self, arguments: list[int]) -> None:
        (task,) = self.tables["tasks"]
        self.clock += targets.get("wse3").timing.task_start
        self.steps += 1
        self.run(int(task["use"]), arguments)

    def run(self, use: int, arguments: list[int]) -> list[int]:
        tables = self.tables
        body = tables["bodies"][tables["uses"][use]["body"]]
        numbers, descriptors = int(body["numbers"]), int(body["descriptors"])
        rows = tables["rows"][int(tables["uses"][use]["rows"]) :]
        slots = rows[numbers + descriptors :]
        frame: dict[int, int] = {place: int(tables["numbers"][row]) for place, row in enumerate(rows[:numbers])}
        frame |= {numbers + place: value for place, value in enumerate(arguments)}
        code = tables["code"][int(body["code"]) : int(body["code"]) + int(body["length"])].tolist()
        at = 0
        while True:
            op, a, b, c = code[at]
            at += 1
            if op >= FIRST_SCALAR:
                self.scalar(op, frame, a, b, c)
                continue
            match CONTROL[op]:
                case "tick":
                    counts = tables["costs"][a]["counts"]
                    self.clock += sum(int(n) * price for n, price in zip(counts, self.prices, strict=False))
                case "jump":
                    at = b | c << 16
                case "branch_false":
                    at = at if frame[a] else b | c << 16
                case "for_test":
                    if frame[a] < frame[a + 1]:
                        self.steps += 1
                    else:
                        at = b | c << 16
                case "step":
                    self.steps += 1
                case "call":
                    called = int(slots[a])
                    callee = tables["bodies"][tables["uses"][called]["body"]]
                    given = [frame[b + k] for k in range(int(callee["arguments"]))]
                    for k, value in enumerate(self.run(called, given)):
                        frame[c + k] = value
                case "return":
                    return [frame[a + k] for k in range(int(body["results"]))]
                case "end":
                    return []
                case "move":
                    frame[a] = frame[b]
                case "select":
                    frame[a] = frame[c] if frame[b] else frame[a]
                case "coordinate":
                    frame[a] = 0 if b else self.place
                case "column":
                    frame[a] = int(tables["column_values"][int(tables["columns"][slots[b]]["values"]) + self.place])
                case "load":
                    address = self.address(int(slots[c]), frame, b)
                    frame[a] = int.from_bytes(self.memory[address : address + 2], "little", signed=True)
                case "store":
                    address = self.address(int(slots[c]), frame, b)
                    self.memory[address : address + 2] = frame[a].to_bytes(2, "little", signed=True)
                case name:
                    raise AssertionError(name)

    def address(self, row: int, frame: dict[int, int], first: int) -> int:
        access = self.tables["accesses"][row]
        address = int(access["base"])
        assert access["rank"] or first == NO_REGISTER
        for k in range(int(access["rank"])):
            dim = self.tables["access_dims"][int(access["dims"]) + k]
            assert 0 <= frame[first + k] < dim["extent"]
            address += frame[first + k] * int(dim["scale"])
        return address

    def scalar(self, op: int, frame: dict[int, int], a: int, b: int, c: int) -> None:
        row = SCALARS[op - FIRST_SCALAR]
        bits = BITS[row.kinds[0]]
        if row.name == "arith.cmpi":
            frame[a] = int(integers.comparison(row.predicate, bits)(frame[b], frame[c]))
        elif row.name in integers.CONVERSIONS:
            frame[a] = integers.conversion(row.name, bits, BITS[row.result])(frame[b])
        else:
            frame[a] = integers.function(row.name, bits)(frame[b], frame[c])


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.one_in(12)
@pytest.mark.slow
def test_tables_do_what_the_code_says(seed: int) -> None:
    module = parse(program(seed), verify=False)
    module.verify()
    (fabric,) = (op for op in module.walk() if isinstance(op, flow.FabricOp))
    (units,) = (op for op in module.walk() if isinstance(op, flow.UnitsOp))
    (main,) = (op for op in module.walk() if isinstance(op, flow.FuncOp) and op.sym_name.data == "main")
    arguments = [3 * k - 2 for k in range(len(main.body.block.args))]
    tables = assemble(fabric)
    for place in range(2):
        expected, pe = Interpreter(units, place), OnePe(tables, place)
        expected.launch("main", arguments)
        pe.launch(arguments)
        assert np.frombuffer(bytes(pe.memory[8:24]), np.int16).tolist() == expected.buffers["memory"]
        assert (pe.steps, pe.clock) == (expected.steps, expected.clock)
