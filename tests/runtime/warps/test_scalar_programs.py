"""Scalar programs in every way the engine runs them: alone as generated code, alone as instructions, and as warps.

The functions of single operations are tested elsewhere; here all ways must agree on whole bodies, in results and in
cycles.
"""

from __future__ import annotations

import pytest

from loomir.runtime.warps import program

from ..machines import load
from ..test_scalar_programs import module, outcome


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(25))
def test_all_ways_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lowered = module(seed, 8)
    together, clocks = outcome(load(lowered))
    alone, alone_clocks = outcome(load(lowered, block_units=1))
    assert alone == together
    assert alone_clocks == clocks
    monkeypatch.setattr(program, "worth_generating", lambda ops: False)
    instructions, instruction_clocks = outcome(load(lowered, block_units=1))
    assert instructions == together
    assert instruction_clocks == clocks
