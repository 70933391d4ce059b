"""lower-to-flow as a whole: what no single operation shows."""

from __future__ import annotations

from pathlib import Path

import pytest

import loomir
from loomir.dialects import flow

EXAMPLES = Path(__file__).parents[2] / "examples"
STENCIL = EXAMPLES / "stencil" / "stencil.mlir"


@pytest.mark.slow
def test_ir_does_not_grow_with_the_rectangle() -> None:
    sizes = {
        rectangle: len(list(loomir.compile(STENCIL, rectangle=rectangle).module.walk()))
        for rectangle in ((4, 4), (762, 1172))
    }
    assert len(set(sizes.values())) == 1


@pytest.mark.parametrize("target", ["wse2", "wse3"])
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/*.mlir")), ids=lambda path: path.stem)
def test_examples_lower_for_both_targets(path: Path, target: str) -> None:
    program = loomir.compile(path, target=target)
    assert program.fabric.target.data == target
    inside = {op.dialect_name() for op in program.module.walk()}
    assert inside <= {"builtin", "flow", "arith", "math", "scf"}


@pytest.mark.slow
def test_ids_are_unique() -> None:
    fabric = loomir.compile(STENCIL, target="wse2").fabric
    colors = [op.color.value.data for op in fabric.walk() if isinstance(op, flow.ColorOp)]
    tasks = [op.task_id.value.data for op in fabric.walk() if isinstance(op, flow.TaskOp)]
    assert len(set(colors)) == len(colors) == 8
    assert len(set(tasks)) == len(tasks) == 8
