"""The machine of the reference: runs that stop after some steps, recursion, and what a run cannot change."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from loomir.backend.tables import assemble
from loomir.dialects.flow import FabricOp
from loomir.runtime.engine import BUDGET, DONE
from loomir.runtime.fabric.connect import fabric_of
from loomir.runtime.reference.machine import Machine
from loomir.runtime.tables.format import EXPORT_FUNCTION

from ..flow_modules import parse
from ..random_programs import random_program

MANY = 1 << 40


def load(text: str) -> Machine:
    """Return the reference with a program loaded."""
    (fabric,) = (op for op in parse(text).body.block.ops if isinstance(op, FabricOp))
    return Machine(fabric_of(assemble(fabric)))


def launch(machine: Machine, argument: int) -> None:
    for row in machine.program["exports"]:
        if row.type == EXPORT_FUNCTION:
            machine.launch(row.row, [argument], machine.totals().cycles)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 12])
def test_a_run_may_stop_after_any_step(seed: int) -> None:
    """Memory, clocks and counts are those of a run that goes on, and no step is taken beyond the last."""
    text = random_program(Random(seed))
    whole, slices = load(text), load(text)
    launch(whole, 3)
    launch(slices, 3)
    end = whole.run(MANY)
    steps = 0
    while slices.run(steps) == BUDGET:
        assert slices.totals().steps == steps
        place = slices.place()
        assert place.pe in slices.pes
        assert place.where < len(slices.program.strings)
        steps += 1
    assert slices.totals() == whole.totals()
    assert end == DONE
    assert (slices.clocks == whole.clocks).all()
    for one, other in zip(slices.memory, whole.memory, strict=True):
        assert np.array_equal(one, other)


SUM = """flow.fabric @sum target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @out at 0 : memref<i16>
    flow.export @main as "main"
    flow.func @sum(%n: i16) -> (i16) {
      %zero = arith.constant 0 : i16
      %more = arith.cmpi sgt, %n, %zero : i16
      %result = scf.if %more -> (i16) {
        %one = arith.constant 1 : i16
        %less = arith.subi %n, %one : i16
        %rest = flow.call @sum(%less) : (i16) -> i16
        %total = arith.addi %rest, %n : i16
        scf.yield %total : i16
      } else {
        scf.yield %zero : i16
      }
      flow.return %result : i16
    }
    flow.func @main(%n: i16) {
      %s = flow.call @sum(%n) : (i16) -> i16
      flow.store %s, @out[] : i16
      flow.return
    }
  }
}"""


@pytest.mark.parametrize("count", [0, 1, 100])
def test_a_recursive_function(count: int) -> None:
    """Each activation has registers of its own."""
    machine = load(SUM)
    launch(machine, count)
    assert machine.run(MANY) == DONE
    assert machine.memory[0].view(np.int16)[0, 0] == count * (count + 1) // 2


def test_clocks_grow_with_the_depth_of_recursion() -> None:
    """Every activation costs the same."""
    cycles: list[int] = []
    for count in (10, 20, 30):
        machine = load(SUM)
        launch(machine, count)
        machine.run(MANY)
        cycles.append(machine.totals().cycles)
    assert cycles[2] - cycles[1] == cycles[1] - cycles[0] > 0
