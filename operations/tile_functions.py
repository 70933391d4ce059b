"""Tile functions: the name, arity and shape relation of everything that is computed on whole tiles, stated once.

The dialect `flow` checks its operations against this table, the engine gives each function its arithmetic, and the
tables of dialects that lower to tiles (`pto_tiles`) name its functions. The table knows nothing of IR or numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Shape: TypeAlias = Literal["elementwise", "reshape", "row_reduction", "product", "padding", "concatenation"]
"""How the extents of sources and destination belong together.

`elementwise`: a source has the extents of the destination, or a constant 1 where it repeats; `reshape`: as many
elements, in row-major order; `row_reduction`: one element for each row; `product`: of matrices, M x K and K x N;
`padding`: the destination may be larger; `concatenation`: side by side.
"""


@dataclass(frozen=True)
class TileFunction:
    """One function on tiles. `sources` counts its operands, each a tile, or a scalar where the shape is elementwise."""

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
        function("negate", 1, "elementwise", "negative"),
        function("exponential", 1, "elementwise", "e to the power of the element"),
        function("logarithm", 1, "elementwise", "natural logarithm"),
        function("square_root", 1, "elementwise", "square root"),
        function("reciprocal", 1, "elementwise", "one divided by the element"),
        function("row_sum", 1, "row_reduction", "sum of each row"),
        function("row_maximum", 1, "row_reduction", "largest element of each row"),
        function("pad", 1, "padding", "the source, and the option `value` around it"),
        function("concatenate", 2, "concatenation", "the rows of both, side by side"),
        function("matrix_multiply", 2, "product", "product of two matrices"),
        function("matrix_multiply_add", 3, "product", "first plus the product of two matrices"),
    ]
    return {row.name: row for row in rows}


FUNCTIONS: dict[str, TileFunction] = _table()
"""The tile functions by name."""
