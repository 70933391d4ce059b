"""The table of PTO's tile operations agrees with that of tile functions."""

from __future__ import annotations

import re

from loomir.dialects.members import members
from loomir.dialects.pto import tile_functions
from loomir.dialects.pto.tiles import TableOperation
from loomir.operations.pto_tiles import OPERATIONS
from loomir.operations.tile_functions import FUNCTIONS
from loomir.runtime.reference.tile_functions import BY_NAME


def test_operations_have_the_operands_of_their_functions() -> None:
    for row in OPERATIONS.values():
        assert len(row.operands) == FUNCTIONS[row.function].sources, row.name


def test_only_elementwise_functions_repeat_elements_or_take_numbers() -> None:
    for row in OPERATIONS.values():
        assert set(row.operands) == {"tile"} or row.shape == "elementwise", row.name


def test_every_function_is_computed() -> None:
    assert set(BY_NAME) == set(FUNCTIONS)


def test_every_row_has_a_class_of_its_name() -> None:
    """`TRowSumOp` is `pto.trowsum`, `TMatmulAccOp` is `pto.tmatmul.acc`."""
    classes = {op.table_row().name: op for op in members(TableOperation, tile_functions)}
    assert list(classes) == list(OPERATIONS)
    for name, op in classes.items():
        assert re.fullmatch(r"(T[A-Za-z]+)Op", op.__name__) and op.__name__[:-2].lower() == name.replace(".", "")
        assert OPERATIONS[name].summary[1:] in (op.__doc__ or "")
