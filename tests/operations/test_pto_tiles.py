"""The table of PTO's tile operations agrees with that of tile functions."""

from __future__ import annotations

import re

from loomir.dialects.members import members
from loomir.dialects.pto import tile_functions
from loomir.dialects.pto.tiles import TableOperation
from loomir.operations.pto_tiles import COMPOSED, OPERATIONS
from loomir.operations.tile_functions import FUNCTIONS
from loomir.runtime.reference.tile_functions import BY_NAME


def test_operations_have_the_operands_of_their_functions() -> None:
    for row in OPERATIONS.values():
        if row.function in FUNCTIONS:
            assert len(row.operands) == FUNCTIONS[row.function].sources, row.name


def test_only_elementwise_functions_repeat_elements_or_take_numbers() -> None:
    for row in OPERATIONS.values():
        assert not {"per_row", "per_column"} & set(row.operands) or row.shape == "elementwise", row.name
        assert "scalar" not in row.operands or row.shape in ("elementwise", "packing", "counting"), row.name


def test_composed_functions_are_no_tile_functions() -> None:
    assert not COMPOSED.keys() & FUNCTIONS.keys()
    assert {row.function for row in OPERATIONS.values()} <= COMPOSED.keys() | FUNCTIONS.keys()


def test_every_function_is_computed() -> None:
    assert set(BY_NAME) == set(FUNCTIONS)


def test_every_row_has_a_class_of_its_name() -> None:
    """`TRowSumOp` is `pto.trowsum`, `TMatmulAccOp` is `pto.tmatmul.acc`."""
    classes = {op.table_row().name: op for op in members(TableOperation, tile_functions)}
    assert list(classes) == list(OPERATIONS)
    for name, op in classes.items():
        assert re.fullmatch(r"(T[A-Za-z0-9]+)Op", op.__name__) and op.__name__[:-2].lower() == name.replace(".", "")
        assert OPERATIONS[name].summary[1:] in (op.__doc__ or "")
