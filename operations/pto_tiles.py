"""PTO tile operations: PTO's name of each tile function, with its operands.

What a function computes, its arity and the shapes it takes are in `tile_functions`. The dialect makes its operations
from this table, the lowering to `flow` its functions, and the reference page prints it. The table knows nothing of IR
or numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .tile_functions import FUNCTIONS, Shape

Operand: TypeAlias = Literal["tile", "per_row", "per_column", "scalar"]
"""Kind of an operand: a tile; a tile with one element for each row, or for each column, that is repeated along it; or
a number."""


@dataclass(frozen=True)
class PtoTileOperation:
    """One operation of the dialect on tiles.

    `function` is the name of a tile function and `operands` has the kind of each of its sources; with `scratch`, a tile
    for intermediate results may follow. `mode` is the property that selects how it computes, as (name, attribute),
    where there is one.
    """

    name: str
    function: str
    operands: tuple[Operand, ...]
    summary: str
    scratch: bool = False
    mode: tuple[str, str] | None = None

    @property
    def shape(self) -> Shape:
        """How the extents of sources and destination belong together."""
        return FUNCTIONS[self.function].shape


def _table() -> dict[str, PtoTileOperation]:
    op = PtoTileOperation
    one: tuple[Operand, ...] = ("tile",)
    two: tuple[Operand, ...] = ("tile", "tile")
    scalar: tuple[Operand, ...] = ("tile", "scalar")
    with_rows: tuple[Operand, ...] = ("tile", "per_row")
    with_columns: tuple[Operand, ...] = ("tile", "per_column")
    table = [
        op("tadd", "add", two, "adds two tiles"),
        op("tadds", "add", scalar, "adds a number to a tile"),
        op("tsub", "subtract", two, "subtracts the second tile from the first"),
        op("tsubs", "subtract", scalar, "subtracts a number from a tile"),
        op("tmul", "multiply", two, "multiplies two tiles element by element"),
        op("tmuls", "multiply", scalar, "multiplies a tile by a number"),
        op("tdiv", "divide", two, "divides the first tile by the second element by element",
           mode=("precisionType", "pto.div_precision")),
        op("tmax", "maximum", two, "larger element of two tiles"),
        op("tmaxs", "maximum", scalar, "larger of each element and a number"),
        op("tmins", "minimum", scalar, "smaller of each element and a number"),
        op("tneg", "negate", one, "negates a tile"),
        op("texp", "exponential", one, "e to the power of each element",
           mode=("precisionType", "pto.exp_precision")),
        op("tlog", "logarithm", one, "natural logarithm of each element",
           mode=("precisionType", "pto.log_precision")),
        op("tsqrt", "square_root", one, "square root of each element",
           mode=("precisionType", "pto.sqrt_precision")),
        op("trecip", "reciprocal", one, "one divided by each element",
           mode=("precisionType", "pto.recip_precision")),
        op("texpands", "fill", ("scalar",), "a number in every element"),
        op("trowsum", "row_sum", one, "sum of each row", scratch=True),
        op("trowmax", "row_maximum", one, "largest element of each row", scratch=True),
        op("trowexpandmul", "multiply", with_rows, "multiplies each row by a number of its own",
           scratch=True),
        op("trowexpandsub", "subtract", with_rows, "subtracts from each row a number of its own",
           scratch=True),
        op("trowexpanddiv", "divide", with_rows, "divides each row by a number of its own", scratch=True,
           mode=("precisionType", "pto.div_precision")),
        op("tcolexpand", "fill", ("per_column",), "the first row of the tile in every row"),
        op("tcolexpandadd", "add", with_columns, "adds to each column a number of its own"),
        op("tcolexpandmul", "multiply", with_columns, "multiplies each column by a number of its own"),
        op("tconcat", "concatenate", two, "two tiles side by side"),
        op("tfillpad", "pad", one, "the valid part of a tile, and padding around it",
           mode=("padValue", "pto.pad_value")),
        op("tmatmul", "matrix_multiply", two, "product of a left and a right tile",
           mode=("accPhase", "pto.acc_phase")),
        op("tmatmul.acc", "matrix_multiply_add", ("tile", "tile", "tile"),
           "an accumulator tile plus the product of a left and a right tile", mode=("accPhase", "pto.acc_phase")),
    ]  # fmt: skip
    return {row.name: row for row in table}


OPERATIONS: dict[str, PtoTileOperation] = _table()
"""The operations of the dialect that are tile functions, by name without `pto.`."""
