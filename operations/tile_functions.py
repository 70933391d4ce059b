"""Tile functions: the name, arity and shape relation of everything that is computed on whole tiles, stated once.

The dialect `flow` checks its operations against this table, the engine gives each function its arithmetic, and the
tables of dialects that lower to tiles (`pto_tiles`) name its functions. The table knows nothing of IR or numpy.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..diagnostics.records import record

Shape: TypeAlias = Literal[
    "elementwise", "reshape", "row_reduction", "product", "padding", "concatenation", "counting", "packing", "indexing",
    "sorting",
]  # fmt: skip
"""How the extents of sources and destination belong together.

`elementwise`: a source has the extents of the destination, or a constant 1 where it repeats; `reshape`: as many
elements, in row-major order; `row_reduction`: one element for each row; `product`: of matrices, M x K and K x N;
`padding`: the destination may be larger; `concatenation`: side by side; `counting`: the sources are numbers; `packing`:
a row of the packed tile has a byte for every eight elements of a row of the others; `indexing`: an index for each
element that is moved; `sorting`: all have the same extents.
"""

SCALAR_SHAPES: tuple[Shape, ...] = ("elementwise", "counting", "packing")
"""The shapes in which a source may be a number."""

COMPARISONS = {
    "eq": "equal", "ne": "unequal", "lt": "less", "le": "at_most", "gt": "greater", "ge": "at_least",
}  # fmt: skip
"""The end of the name of each comparison, by how PTO calls it."""


@record
class TileFunction:
    """One function on tiles. `sources` counts its operands, each a tile, or a scalar where the shape allows it."""

    name: str
    sources: int
    shape: Shape
    summary: str


def _table() -> dict[str, TileFunction]:
    function = TileFunction
    rows = [
        function("copy", 1, "reshape", "the elements of the source, converted to the type of the destination"),
        function("fill", 1, "elementwise", "the scalar, or the repeated elements of the source"),
        function("add", 2, "elementwise", "sum"),
        function("subtract", 2, "elementwise", "first less second"),
        function("multiply", 2, "elementwise", "product"),
        function("divide", 2, "elementwise", "first divided by second"),
        function("maximum", 2, "elementwise", "larger of both"),
        function("minimum", 2, "elementwise", "smaller of both"),
        function("remainder", 2, "elementwise", "remainder of a division, with the sign of the second"),
        function("truncated_remainder", 2, "elementwise", "remainder of a division, with the sign of the first"),
        function("power", 2, "elementwise", "first to the power of the second"),
        function("leak", 2, "elementwise", "first, times the second where it is not positive"),
        function("bit_and", 2, "elementwise", "bits that are on in both"),
        function("bit_or", 2, "elementwise", "bits that are on in either"),
        function("bit_xor", 2, "elementwise", "bits that are on in one of both"),
        function("shift_left", 2, "elementwise", "first, its bits shifted left by the second"),
        function("shift_right", 2, "elementwise", "first, its bits shifted right by the second"),
        function("negate", 1, "elementwise", "negative"),
        function("exponential", 1, "elementwise", "e to the power of the element"),
        function("logarithm", 1, "elementwise", "natural logarithm"),
        function("square_root", 1, "elementwise", "square root"),
        function("reciprocal", 1, "elementwise", "one divided by the element"),
        function("row_sum", 1, "row_reduction", "sum of each row"),
        function("row_maximum", 1, "row_reduction", "largest element of each row"),
        function("row_minimum", 1, "row_reduction", "smallest element of each row"),
        function("row_product", 1, "row_reduction", "product of each row"),
        function("row_maximum_place", 1, "row_reduction", "column of the first of the largest elements of each row"),
        function("row_minimum_place", 1, "row_reduction", "column of the first of the smallest elements of each row"),
        function("count", 2, "counting", "numbers from the first on, each the second more, row by row"),
        *(
            function(f"compare_{end}", 2, "packing", f"a bit for each element: 1 if {name} holds")
            for name, end in COMPARISONS.items()
        ),
        function("select", 3, "packing", "elements of the second where the bit of the first is 1, else of the third"),
        function("gather", 2, "indexing", "elements of the first at indices, counted row by row"),
        function("scatter", 2, "indexing", "elements of the first, written at indices, counted row by row"),
        function("scatter_add", 2, "indexing", "elements of the first, added at indices, one after the other"),
        function("scatter_maximum", 2, "indexing", "larger of the elements of the first and those at indices"),
        function("scatter_minimum", 2, "indexing", "smaller of the elements of the first and those at indices"),
        function("sort_pairs", 2, "sorting", "numbers of 64 bits, largest key first; of equal ones the smallest first"),
        function("merge_pairs", 2, "sorting", "numbers of 64 bits, largest key first, equal ones in their order"),
        function("pad", 1, "padding", "the source, and the option `value` around it"),
        function("concatenate", 2, "concatenation", "the rows of both, side by side"),
        function("matrix_multiply", 2, "product", "product of two matrices"),
        function("matrix_multiply_add", 3, "product", "first plus the product of two matrices"),
    ]
    return {row.name: row for row in rows}


FUNCTIONS: dict[str, TileFunction] = _table()
"""The tile functions by name."""
