"""PTO tile operations: PTO's name of each tile function, with its operands.

What a function computes, its arity and the shapes it takes are in `tile_functions`. The dialect makes its operations
from this table, the lowering to `flow` its functions, and the reference page prints it. The table knows nothing of IR
or numpy.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..diagnostics.records import record
from .tile_functions import FUNCTIONS
from .tile_functions import Shape as KnownShape

Shape: TypeAlias = KnownShape | Literal["column_reduction", "transposition"]
"""How the extents of sources and destination belong together: those of tile functions, and these.

`column_reduction`: one element for each column; `transposition`: rows of the source are columns of the destination.
"""

COMPOSED: dict[str, Shape] = {
    "reciprocal_square_root": "elementwise",
    "absolute": "elementwise",
    "rectify": "elementwise",
    "exponential_difference": "elementwise",
    "invert": "elementwise",
    "count_up": "counting",
    "column_sum": "column_reduction",
    "column_product": "column_reduction",
    "column_maximum": "column_reduction",
    "column_minimum": "column_reduction",
    "column_maximum_place": "column_reduction",
    "column_minimum_place": "column_reduction",
    "transpose": "transposition",
    "compare": "packing",
    "sort": "packing",
    "matrix_multiply_bias": "product",
}
"""What is not a tile function itself, with its shape: the lowering makes it of several."""

Operand: TypeAlias = Literal["tile", "per_row", "per_column", "scalar", "either", "mask", "bias"]
"""Kind of an operand: a tile; a tile with one element for each row, or for each column, that is repeated along it; a
number; a tile or a number; a tile with a bit for each element; a row of biases."""


_NAMES: dict[str, tuple[str, ...]] = {
    "tpow": ("base", "exp"),
    "tlrelu": ("src", "slope"),
    "tci": ("S",),
    "tsort32": ("src", "idx"),
    **dict.fromkeys(("tmatmul", "tgemv"), ("lhs", "rhs")),
}
"""What PTOAS calls the operands of some operations."""

_NAMES_BY_KIND: dict[tuple[Operand, ...], tuple[str, ...]] = {
    **dict.fromkeys((("tile",), ("per_row",), ("per_column",)), ("src",)),
    **dict.fromkeys((("tile", "tile"), ("tile", "per_row"), ("tile", "per_column")), ("src0", "src1")),
    **dict.fromkeys((("tile", "scalar"), ("either", "either")), ("src", "scalar")),
    ("scalar",): ("scalar",),
    ("mask", "tile", "tile"): ("mask", "src0", "src1"),
    ("mask", "tile", "scalar"): ("mask", "src", "scalar"),
    ("tile", "tile", "tile"): ("acc_in", "lhs", "rhs"),
    ("tile", "tile", "bias"): ("lhs", "rhs", "bias"),
}
"""What PTOAS calls the operands of the others, by their kinds."""


@record
class PtoTileOperation:
    """One operation of the dialect on tiles.

    `function` is the name of a tile function and `operands` has the kind of each of its sources; with `scratch`, a tile
    for intermediate results may follow, or, with `scratch_at`, be at that place among them. `mode` is the property that
    selects how it computes, as (name, attribute), where there is one; it is written in `ins(...)` where `mode_inside`
    says so, and there with a tile for intermediate results only where that is "scratch".
    """

    name: str
    function: str
    operands: tuple[Operand, ...]
    summary: str
    scratch: bool = False
    mode: tuple[str, str] | None = None
    scratch_at: int | None = None
    mode_inside: Literal["", "always", "scratch"] = ""

    @property
    def names(self) -> tuple[str, ...]:
        """What PTOAS calls the operands."""
        return _NAMES.get(self.name) or _NAMES_BY_KIND[self.operands]

    @property
    def shape(self) -> Shape:
        """How the extents of sources and destination belong together."""
        known = FUNCTIONS.get(self.function)
        return COMPOSED[self.function] if known is None else known.shape


_EXPANDED = (
    ("add", "add", "sum"),
    ("sub", "subtract", "difference"),
    ("mul", "multiply", "product"),
    ("div", "divide", "quotient"),
    ("max", "maximum", "larger"),
    ("min", "minimum", "smaller"),
    ("expdif", "exponential_difference", "e to the power of the difference"),
)
"""What is computed with a number for each row or column: end of the name, function, and what it is."""


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
        op("tdivs", "divide", ("either", "either"), "divides a tile by a number, or a number by a tile",
           mode=("precisionType", "pto.div_precision")),
        op("trem", "remainder", two, "remainder of a division, with the sign of the second tile", scratch=True,
           mode=("precisionType", "pto.rem_precision")),
        op("trems", "remainder", scalar, "remainder of a division, with the sign of the number", scratch=True),
        op("tfmod", "truncated_remainder", two, "remainder of a division, with the sign of the first tile",
           mode=("precisionType", "pto.fmod_precision")),
        op("tfmods", "truncated_remainder", scalar, "remainder of a division, with the sign of the tile"),
        op("tpow", "power", two, "first tile to the power of the second", scratch=True,
           mode=("precisionType", "pto.pow_precision")),
        op("tpows", "power", scalar, "a tile to the power of a number", scratch=True,
           mode=("precisionType", "pto.pow_precision")),
        op("tmax", "maximum", two, "larger element of two tiles"),
        op("tmaxs", "maximum", scalar, "larger of each element and a number"),
        op("tmin", "minimum", two, "smaller element of two tiles"),
        op("tmins", "minimum", scalar, "smaller of each element and a number"),
        op("tneg", "negate", one, "negates a tile"),
        op("tabs", "absolute", one, "absolute value of each element"),
        op("trelu", "rectify", one, "each element, or zero where it is negative"),
        op("tlrelu", "leak", scalar, "each element, times a number where it is not positive"),
        op("tprelu", "leak", two, "first tile, times the second where it is not positive", scratch=True),
        op("texp", "exponential", one, "e to the power of each element",
           mode=("precisionType", "pto.exp_precision")),
        op("tlog", "logarithm", one, "natural logarithm of each element",
           mode=("precisionType", "pto.log_precision")),
        op("tsqrt", "square_root", one, "square root of each element",
           mode=("precisionType", "pto.sqrt_precision")),
        op("trsqrt", "reciprocal_square_root", one, "one divided by the square root of each element", scratch=True,
           mode=("precisionType", "pto.rsqrt_precision")),
        op("trecip", "reciprocal", one, "one divided by each element",
           mode=("precisionType", "pto.recip_precision")),
        op("tnot", "invert", one, "each bit inverted"),
        op("tand", "bit_and", two, "bits that are on in both tiles"),
        op("tands", "bit_and", scalar, "bits that are on in a tile and a number"),
        op("tor", "bit_or", two, "bits that are on in either tile"),
        op("tors", "bit_or", scalar, "bits that are on in a tile or a number"),
        op("txor", "bit_xor", two, "bits that are on in one of two tiles", scratch=True),
        op("txors", "bit_xor", scalar, "bits that are on in one of a tile and a number", scratch=True),
        op("tshl", "shift_left", two, "first tile, its bits shifted left by the second"),
        op("tshls", "shift_left", scalar, "a tile, its bits shifted left by a number"),
        op("tshr", "shift_right", two, "first tile, its bits shifted right by the second"),
        op("tshrs", "shift_right", scalar, "a tile, its bits shifted right by a number"),
        op("texpands", "fill", ("scalar",), "a number in every element"),
        op("tci", "count_up", ("scalar",), "numbers that count up, or down, from a first one, row by row", scratch=True,
           mode=("descending", "bool")),
        op("tcmp", "compare", two, "a bit for each element, if it compares with that of another tile",
           mode=("cmpMode", "pto.cmp"), mode_inside="always"),
        op("tcmps", "compare", scalar, "a bit for each element, if it compares with a number",
           mode=("cmpMode", "pto.cmp"), mode_inside="always"),
        op("tsel", "select", ("mask", "tile", "tile"), "elements of one tile or another, as the bits of the first say",
           scratch=True),
        op("tsels", "select", ("mask", "tile", "scalar"),
           "elements of a tile, or a number, as the bits of the first say", scratch=True, scratch_at=2),
        op("trowsum", "row_sum", one, "sum of each row", scratch=True),
        op("trowprod", "row_product", one, "product of each row", scratch=True),
        op("trowmax", "row_maximum", one, "largest element of each row", scratch=True),
        op("trowmin", "row_minimum", one, "smallest element of each row", scratch=True),
        op("trowargmax", "row_maximum_place", one, "column of the largest element of each row", scratch=True),
        op("trowargmin", "row_minimum_place", one, "column of the smallest element of each row", scratch=True),
        op("tcolsum", "column_sum", one, "sum of each column", scratch=True,
           mode=("isBinary", "bool"), mode_inside="scratch"),
        op("tcolprod", "column_product", one, "product of each column"),
        op("tcolmax", "column_maximum", one, "largest element of each column"),
        op("tcolmin", "column_minimum", one, "smallest element of each column"),
        op("tcolargmax", "column_maximum_place", one, "row of the largest element of each column", scratch=True),
        op("tcolargmin", "column_minimum_place", one, "row of the smallest element of each column", scratch=True),
        op("trowexpand", "fill", ("per_row",), "the first column of the tile in every column"),
        *(
            op(f"trowexpand{name}", function, with_rows, f"{what} of each row and a number of its own", scratch=True,
               mode=("precisionType", "pto.div_precision") if name == "div" else None)
            for name, function, what in _EXPANDED
        ),
        op("tcolexpand", "fill", ("per_column",), "the first row of the tile in every row"),
        *(
            op(f"tcolexpand{name}", function, with_columns, f"{what} of each column and a number of its own",
               mode=("precisionType", "pto.div_precision") if name == "div" else None)
            for name, function, what in _EXPANDED
        ),
        op("tconcat", "concatenate", two, "two tiles side by side"),
        op("tfillpad", "pad", one, "the valid part of a tile, and padding around it",
           mode=("padValue", "pto.pad_value")),
        op("ttrans", "transpose", one, "rows as columns", scratch=True),
        op("tsort32", "sort", two, "pairs of elements of both tiles, sorted in groups of 32 by the first",
           scratch=True),
        op("tmatmul", "matrix_multiply", two, "product of a left and a right tile",
           mode=("accPhase", "pto.acc_phase")),
        op("tmatmul.acc", "matrix_multiply_add", ("tile", "tile", "tile"),
           "an accumulator tile plus the product of a left and a right tile", mode=("accPhase", "pto.acc_phase")),
        op("tmatmul.bias", "matrix_multiply_bias", ("tile", "tile", "bias"),
           "product of a left and a right tile plus a row of biases", mode=("accPhase", "pto.acc_phase")),
        op("tgemv", "matrix_multiply", two, "product of a row and a right tile", mode=("accPhase", "pto.acc_phase")),
        op("tgemv.acc", "matrix_multiply_add", ("tile", "tile", "tile"),
           "an accumulator tile plus the product of a row and a right tile", mode=("accPhase", "pto.acc_phase")),
        op("tgemv.bias", "matrix_multiply_bias", ("tile", "tile", "bias"),
           "product of a row and a right tile plus a row of biases", mode=("accPhase", "pto.acc_phase")),
    ]  # fmt: skip
    return {row.name: row for row in table}


OPERATIONS: dict[str, PtoTileOperation] = _table()
"""The operations of the dialect that are tile functions, by name without `pto.`."""
