"""How far dry runs go."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

from loomir.analysis.pto.dry_run.trace import Trace
from loomir.host.pto_check import parse_kernels, prepare
from loomir.host.pto_dry_run import trace_of

FOR = """
    %sum = scf.for %i = %c0 to %end step %c1 iter_args(%before = %c0) -> (index) {
      %after = arith.addi %before, %i : index
      scf.yield %after : index
    }"""
WHILE = """
    %last = scf.while (%i = %c0) : (index) -> index {
      %goes_on = arith.cmpi slt, %i, %end : index
      scf.condition(%goes_on) %i : index
    } do {
    ^bb0(%j: index):
      %next = arith.addi %j, %c1 : index
      scf.yield %next : index
    }"""


@pytest.mark.parametrize("loop", [FOR, WHILE])
@pytest.mark.parametrize(("iterations", "complete"), [(90, True), (110, False), (2**63 - 1, False)])
def test_loops_that_add_no_steps(loop: str, iterations: int, complete: bool) -> None:
    """Iterations are counted as steps are; those of all cores together."""
    kernel = f"""
  func.func @kernel() attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %end = arith.constant {iterations} : index{loop}
    return
  }}"""
    found: list[Trace] = []

    def run_dry(placed: ModuleOp) -> None:
        found.append(trace_of(placed, "a5", "a5", {}, max_steps=100))

    prepare(parse_kernels(kernel).clone(), "a5", placed=run_dry)
    (trace,) = found
    assert trace.complete is complete
    assert complete or trace.reason == "the program has more than 100 steps, or iterations of loops"
