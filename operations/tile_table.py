"""The operations on tiles that are alike, stated once.

The dialect makes its operations from this table, the engine chooses its arithmetic by `function`, and the reference
page prints it. The table knows nothing of IR or numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Function: TypeAlias = Literal[
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "negate", "exponential", "logarithm",
    "square_root", "reciprocal", "sum", "fill", "pad", "concatenate", "matrix_multiply",
]  # fmt: skip

Shape: TypeAlias = Literal[
    "elementwise", "row_reduction", "row_expansion", "column_expansion", "column_copies", "concatenation", "product",
    "padding",
]  # fmt: skip
"""How the valid shapes of the tiles belong together.

`elementwise`: all alike; `row_reduction`: one value for each row; `row_expansion` and `column_expansion`: the second
tile has one value for each row or column; `column_copies`: the first row of the tile is every row of the result;
`concatenation`: side by side; `product`: of matrices; `padding`: none, the result may be larger.
"""


@dataclass(frozen=True)
class TileOperation:
    """One operation on tiles.

    `inputs` names its operands in order, each `tile` or `scalar`; with `scratch`, a tile for intermediate results may
    follow. `mode` is the property that says how it computes, as (name, attribute), where there is one.
    """

    name: str
    function: Function
    shape: Shape
    inputs: tuple[str, ...]
    summary: str
    scratch: bool = False
    mode: tuple[str, str] | None = None


def _table() -> dict[str, TileOperation]:
    op = TileOperation
    one, two, scalar = ("tile",), ("tile", "tile"), ("tile", "scalar")
    rows = [
        op("tadd", "add", "elementwise", two, "adds two tiles"),
        op("tadds", "add", "elementwise", scalar, "adds a number to a tile"),
        op("tsub", "subtract", "elementwise", two, "subtracts the second tile from the first"),
        op("tsubs", "subtract", "elementwise", scalar, "subtracts a number from a tile"),
        op("tmul", "multiply", "elementwise", two, "multiplies two tiles element by element"),
        op("tmuls", "multiply", "elementwise", scalar, "multiplies a tile by a number"),
        op("tdiv", "divide", "elementwise", two, "divides the first tile by the second element by element",
           mode=("precisionType", "pto.div_precision")),
        op("tmax", "maximum", "elementwise", two, "larger element of two tiles"),
        op("tmaxs", "maximum", "elementwise", scalar, "larger of each element and a number"),
        op("tmins", "minimum", "elementwise", scalar, "smaller of each element and a number"),
        op("tneg", "negate", "elementwise", one, "negates a tile"),
        op("texp", "exponential", "elementwise", one, "e to the power of each element",
           mode=("precisionType", "pto.exp_precision")),
        op("tlog", "logarithm", "elementwise", one, "natural logarithm of each element",
           mode=("precisionType", "pto.log_precision")),
        op("tsqrt", "square_root", "elementwise", one, "square root of each element",
           mode=("precisionType", "pto.sqrt_precision")),
        op("trecip", "reciprocal", "elementwise", one, "one divided by each element",
           mode=("precisionType", "pto.recip_precision")),
        op("texpands", "fill", "elementwise", ("scalar",), "a number in every element"),
        op("trowsum", "sum", "row_reduction", one, "sum of each row", scratch=True),
        op("trowmax", "maximum", "row_reduction", one, "largest element of each row", scratch=True),
        op("trowexpandmul", "multiply", "row_expansion", two, "multiplies each row by a number of its own",
           scratch=True),
        op("trowexpandsub", "subtract", "row_expansion", two, "subtracts from each row a number of its own",
           scratch=True),
        op("trowexpanddiv", "divide", "row_expansion", two, "divides each row by a number of its own", scratch=True,
           mode=("precisionType", "pto.div_precision")),
        op("tcolexpand", "fill", "column_copies", one, "the first row of the tile in every row"),
        op("tcolexpandadd", "add", "column_expansion", two, "adds to each column a number of its own"),
        op("tcolexpandmul", "multiply", "column_expansion", two, "multiplies each column by a number of its own"),
        op("tconcat", "concatenate", "concatenation", two, "two tiles side by side"),
        op("tfillpad", "pad", "padding", one, "the valid part of a tile, and padding around it",
           mode=("padValue", "pto.pad_value")),
        op("tmatmul", "matrix_multiply", "product", two, "product of a left and a right tile",
           mode=("accPhase", "pto.acc_phase")),
        op("tmatmul.acc", "matrix_multiply", "product", ("tile", "tile", "tile"),
           "an accumulator tile plus the product of a left and a right tile", mode=("accPhase", "pto.acc_phase")),
    ]  # fmt: skip
    return {row.name: row for row in rows}


OPERATIONS: dict[str, TileOperation] = _table()
"""The operations on tiles that are alike, by name without `pto.`."""
