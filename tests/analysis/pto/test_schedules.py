"""Schedules of kernels, against kernels that are carried out while their text is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.func import FuncOp

from loomir.analysis.pto.schedules import DEFAULT_ITERATIONS, MAX_ITERATIONS, MAX_PATHS, Kernel, kernel_of
from loomir.dialects import context
from loomir.dialects.ir_text import parse_ir
from loomir.dialects.verification import verify

from ...searches import examples

TILE = "!pto.tile_buf<vec, 16x16xf32>"


def kernel(text: str) -> Kernel:
    module = parse_ir(context(), text, "program.pto")
    verify(module)
    (function,) = [op for op in module.ops if isinstance(op, FuncOp)]
    return kernel_of(function, "a5")


@dataclass
class Writer:
    """Makes the text of a kernel from choices; `run` carries them out itself."""

    draw: Callable[[st.SearchStrategy[Any]], Any]
    lines: list[str] = field(default_factory=list[str])
    names: int = 0

    def name(self) -> str:
        self.names += 1
        return f"%n{self.names}"

    def constant(self, value: int) -> str:
        name = self.name()
        self.lines.append(f"{name} = arith.constant {value} : index")
        return name

    def block(self, depth: int, variables: list[str]) -> list[object]:
        """Write a block; returns what it does, as a tree."""
        return [self.statement(depth, variables) for _ in range(self.draw(st.integers(0, 3)))]

    def statement(self, depth: int, variables: list[str]) -> object:
        kind = self.draw(st.sampled_from(["pop", "free", "loop", "if"] if depth else ["pop", "free"]))
        if kind == "pop":
            self.lines.append(f"{self.name()} = pto.tpop_from_aic {{split = 0}} -> {TILE}")
            return "pop"
        if kind == "free":
            self.lines.append("pto.tfree_from_aic {split = 0}")
            return "free"
        if kind == "loop":
            bounds = self.draw(st.integers(-2, 3)), self.draw(st.integers(-2, 4)), self.draw(st.integers(1, 3))
            lower, upper, step = (self.constant(bound) for bound in bounds)
            variable = self.name()
            self.lines.append(f"scf.for {variable} = {lower} to {upper} step {step} {{")
            body = self.block(depth - 1, [*variables, variable])
            self.lines.append("}")
            return "loop", bounds, variable, body
        # A condition on a sum of two variables, or on constants.
        left, right = (self.draw(st.sampled_from([*variables, *variables, None])) for _ in range(2))
        offset, limit = self.draw(st.integers(-2, 2)), self.draw(st.integers(-2, 4))
        total = self.constant(offset)
        for variable in (left, right):
            if variable is not None:
                name = self.name()
                self.lines.append(f"{name} = arith.addi {total}, {variable} : index")
                total = name
        condition, predicate = self.name(), self.draw(st.sampled_from(["eq", "ne", "slt", "sle", "sgt", "sge"]))
        bound = self.constant(limit)
        self.lines.append(f"{condition} = arith.cmpi {predicate}, {total}, {bound} : index")
        self.lines.append(f"scf.if {condition} {{")
        then = self.block(depth - 1, variables)
        self.lines.append("} else {")
        other = self.block(depth - 1, variables)
        self.lines.append("}")
        return "if", (left, right, offset, predicate, limit), then, other


def run(block: list[object], values: dict[str, int], done: list[str]) -> None:
    """Carry a tree out."""
    for statement in block:
        match statement:
            case str():
                done.append(statement)
            case ("loop", (int(lower), int(upper), int(step)), str(variable), list(body)):
                for value in range(lower, upper, step):
                    run(body, {**values, variable: value}, done)
            case ("if", (left, right, int(offset), predicate, int(limit)), list(then), list(other)):
                total = offset + sum(values[name] for name in (left, right) if name is not None)
                holds = {
                    "eq": total == limit, "ne": total != limit, "slt": total < limit, "sle": total <= limit,
                    "sgt": total > limit, "sge": total >= limit,
                }[predicate]  # fmt: skip
                run(then if holds else other, values, done)
            case _:
                raise AssertionError(statement)


def wrapped(lines: list[str], arguments: str = "%a: i32") -> str:
    body = "\n".join(lines)
    return (
        f"func.func @f({arguments}) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{\n"
        f"pto.aiv_initialize_pipe {{dir_mask = 1, slot_size = 1024}}(c2v_consumer_buf = %a : i32)\n{body}\nreturn\n}}\n"
    )


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(st.data())
def test_loops_and_branches_are_followed(data: st.DataObject) -> None:
    writer = Writer(data.draw)
    tree = writer.block(3, [])
    expected: list[str] = []
    run(tree, {}, expected)
    found = kernel(wrapped(writer.lines))
    if not found.uses:
        assert not found.schedules and not expected
        return
    ((path,),) = found.schedules
    assert path.exact and path.complete
    assert [use.action for use in path.uses] == expected


def test_unknown_bounds_and_conditions() -> None:
    bounds = ["%lo = arith.constant 0 : index", "%by = arith.constant 1 : index"]
    arguments = "%a: i32, %n: index, %if: i1, %other: i1"
    free = "pto.tfree_from_aic {split = 0}"
    (path,) = kernel(wrapped([*bounds, "scf.for %i = %lo to %n step %by {", free, "}"], arguments)).schedules[0]
    assert not path.exact and path.complete
    assert len(path.uses) == DEFAULT_ITERATIONS
    choices = [f"scf.if {condition} {{\n{free}\n}}" for condition in ("%if", "%other")]
    paths = kernel(wrapped(choices, arguments)).schedules[0]
    assert sorted(len(path.uses) for path in paths) == [0, 1, 1, 2]
    assert all(path.exact for path in paths)
    assert len(kernel(wrapped(choices * 5, arguments)).schedules[0]) == MAX_PATHS


@pytest.mark.slow
def test_long_loops_are_left() -> None:
    def nested(depth: int) -> list[str]:
        bounds = (
            "%lo = arith.constant 0 : index\n%hi = arith.constant 1000000000 : index\n%by = arith.constant 1 : index"
        )
        loops = [f"scf.for %i{place} = %lo to %hi step %by {{" for place in range(depth)]
        return [bounds, *loops, "pto.tfree_from_aic {split = 0}", *["}"] * depth]

    ((once,),) = kernel(wrapped(nested(1))).schedules
    assert once.complete and not once.exact
    assert len(once.uses) == MAX_ITERATIONS
    ((twice,),) = kernel(wrapped(nested(2))).schedules
    assert not twice.complete and not twice.exact


@pytest.mark.parametrize("lanes", [True, False])
def test_each_vector_core_has_its_own_schedule_if_it_asks_which_it_is(lanes: bool) -> None:
    ask = "%lane = pto.get_subblock_idx" if lanes else "%lane = arith.constant 0 : i64"
    lines = [
        ask, "%one = arith.constant 1 : i64", "%second = arith.cmpi eq, %lane, %one : i64",
        "scf.if %second {", "pto.tfree_from_aic {split = 0}", "}", "pto.tfree_from_aic {split = 0}",
    ]  # fmt: skip
    found = kernel(wrapped(lines)).schedules
    assert [len(paths[0].uses) for paths in found] == ([1, 2] if lanes else [1])
    assert [paths[0].lane for paths in found] == ([0, 1] if lanes else [0])


def test_sections_are_schedules_of_their_cores() -> None:
    acc = "!pto.tile_buf<acc, 16x16xf32>"
    text = (
        f"func.func @f(%a: i32, %t: {acc}) {{\npto.section.cube {{\n"
        "pto.aic_initialize_pipe {id = 0, dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)\n"
        f"pto.tpush_to_aiv(%t : {acc}) {{id = 0, split = 0}}\n}}\npto.section.vector {{\n"
        "pto.aiv_initialize_pipe {id = 1, dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)\n"
        f"%v = pto.tpop_from_aic {{id = 1, split = 0}} -> {TILE}\npto.tfree_from_aic {{id = 1, split = 0}}\n"
        "}\nreturn\n}\n"
    )
    found = kernel(text).schedules
    assert [(paths[0].core.value, [use.action for use in paths[0].uses]) for paths in found] == [
        ("cube", ["push"]),
        ("vector", ["pop", "free"]),
    ]


def test_functions_of_several_blocks_have_none() -> None:
    lines = ["cf.br ^end", "^end:", "pto.tfree_from_aic {split = 0}"]
    assert kernel(wrapped(lines)).schedules == []
