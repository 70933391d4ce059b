"""The table of PTO's tile operations agrees with that of tile functions."""

from __future__ import annotations

from loomir.operations.pto_tiles import OPERATIONS
from loomir.operations.tile_functions import FUNCTIONS
from loomir.runtime.warps.tile_arithmetic import KERNELS


def test_operations_have_the_operands_of_their_functions() -> None:
    for row in OPERATIONS.values():
        assert len(row.operands) == FUNCTIONS[row.function].sources, row.name


def test_only_elementwise_functions_repeat_elements_or_take_numbers() -> None:
    for row in OPERATIONS.values():
        assert set(row.operands) == {"tile"} or row.shape == "elementwise", row.name


def test_every_function_is_computed() -> None:
    assert set(KERNELS) == set(FUNCTIONS)
