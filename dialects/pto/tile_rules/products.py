"""Products of matrices: memories, layouts, elements and extents of their tiles, and scales of blocks of elements."""

from __future__ import annotations

from xdsl.ir import Attribute

from ....targets.chip import MAX_PRODUCT_EXTENT, SCALE_BOX
from ....targets.tile_limits import SCALED, SCALED_STEP
from ..attributes import BLayout, SLayout
from ..types import DYNAMIC, TileBufType
from .tiles import (
    AddressSpace,
    Tiles,
    differ,
    element_name,
    is_chosen_by_chip,
    is_float4,
    is_float8,
    is_hif8,
    is_integer,
    known,
)


def _operands(tiles: Tiles) -> tuple[str, str]:
    return ("a", "b") if tiles.has("a") else ("lhs", "rhs")


def plain_product(tiles: Tiles) -> None:
    """Check a product without scales."""
    left, right = _operands(tiles)
    tiles.common(left, right, low_precision=tiles.is_a5)
    if not (tiles.has("acc_in") and not tiles.is_a5):
        _elements(tiles, tiles.element(left), tiles.element(right), tiles.element("dst"))
    if tiles.is_a5:
        _layouts_of_a5(tiles, left, right)
    if tiles.has("bias"):
        _bias(tiles, needs_float=False)
    if tiles.name.startswith("tgemv"):
        _one_row(tiles, left, right)


def _elements(tiles: Tiles, left: Attribute, right: Attribute, result: Attribute) -> None:
    if is_integer(result, 32) and is_integer(left, 8) and is_integer(right, 8):
        return
    if element_name(result) == "f32":
        if left == right and element_name(left) in ("f16", "bf16", "f32"):
            return
        if tiles.is_a5 and ((is_float8(left) and is_float8(right)) or (is_hif8(left) and left == right)):
            return
    more = ", (f32, fp8, fp8), or (f32, hif8, hif8)" if tiles.is_a5 else ""
    tiles.fail(
        "expects (dst, lhs, rhs) element types to match one of (i32, i8, i8), (f32, f16, f16), (f32, bf16, bf16), "
        f"(f32, f32, f32){more}"
    )


_COLUMN, _ROW = BLayout.COL_MAJOR, BLayout.ROW_MAJOR
_LAYOUTS = {
    "lhs": (_COLUMN, SLayout.ROW_MAJOR),
    "rhs": (_ROW, SLayout.COL_MAJOR),
    "dst": (_COLUMN, SLayout.ROW_MAJOR),
    "a_scale": (_ROW, SLayout.ROW_MAJOR),
    "b_scale": (_COLUMN, SLayout.COL_MAJOR),
}
"""The order of boxes, and of elements in a box, that a5 needs."""


def _layout_of_a5(tiles: Tiles, name: str, called: str) -> None:
    tile, (boxes, elements) = tiles.tile(name), _LAYOUTS[called]
    if tile.blayout is not boxes and not is_chosen_by_chip(tile):
        tiles.fail(f"expects {called} to use the {boxes.value} blayout on A5")
    if tile.slayout is not elements:
        tiles.fail(f"expects {called} to use the {elements.value} slayout on A5")


def _layouts_of_a5(tiles: Tiles, left: str, right: str) -> None:
    for name, called in ((left, "lhs"), (right, "rhs"), ("dst", "dst")):
        _layout_of_a5(tiles, name, called)


def _one_row(tiles: Tiles, left: str, right: str) -> None:
    first, second, result = (tiles.tile(name).valid_shape for name in (left, right, "dst"))
    for extents, called in ((first, "lhs"), (result, "dst")):
        if known(extents[0]) and extents[0] != 1:
            tiles.fail(f"expects {called} valid_shape[0] to be 1 for tgemv")
    if differ(first[1], second[0]):
        tiles.fail(f"expects lhs valid_shape[1] to equal rhs valid_shape[0], but got {first[1]} vs {second[0]}")
    if differ(second[1], result[1]):
        tiles.fail(f"expects rhs valid_shape[1] to equal dst valid_shape[1], but got {second[1]} vs {result[1]}")


def _bias(tiles: Tiles, *, needs_float: bool) -> None:
    tiles.common("bias")
    bias = tiles.tile("bias")
    tiles.in_space("bias", AddressSpace.BIAS)
    if bias.rows != 1:
        tiles.fail("expects bias to have 1 row")
    if needs_float:
        if element_name(bias.element_type) != "f32":
            tiles.fail("expects bias to have element type f32")
    elif bias.element_type != tiles.element("dst"):
        tiles.fail("expects bias and dst to have the same element type")
    if tiles.is_a5 and bias.blayout is not BLayout.ROW_MAJOR:
        tiles.fail("expects bias to use the row_major blayout on A5")


# ---------------------------------------------------------------------------------------------
# With scales
# ---------------------------------------------------------------------------------------------


def scaled_product(tiles: Tiles) -> None:
    """Check a product of which each block of 32 elements of a row of A, or column of B, has a scale."""
    if not tiles.is_a5:
        tiles.fail("{name} is only supported on A5 targets")
    if tiles.has("c_in"):
        tiles.common("c_in")
        tiles.in_space("c_in", AddressSpace.ACC)
    tiles.common("a", "b", low_precision=True)
    tiles.common("dst")
    left, right, result = (tiles.tile(name) for name in ("a", "b", "dst"))
    places = (left.location, right.location, result.location)
    if places != (AddressSpace.LEFT, AddressSpace.RIGHT, AddressSpace.ACC):
        tiles.fail("expects lhs, rhs, and dst to use the left, right, and acc address spaces")
    (rows, inner), (depth, columns), whole = map(_extents, (left, right, result))
    if (rows, columns) != whole or inner != depth:
        tiles.fail("expects static matmul tile shapes lhs[M,K], rhs[K,N], and dst[M,N]")
    _layouts_of_a5(tiles, "a", "b")
    is_gemv = tiles.name.startswith("tgemv")
    if not is_gemv:
        for extent, called in ((left.columns, "lhs"), (right.rows, "rhs")):
            if extent % SCALED_STEP:
                tiles.fail(f"expects {called} physical K shape to be a positive multiple of {SCALED_STEP} on A5")
    if any(known(n) and not 1 <= n <= MAX_PRODUCT_EXTENT for n in (*left.valid_shape, right.valid_shape[1])):
        tiles.fail(f"expects m, k, and n valid sizes to be in [1, {MAX_PRODUCT_EXTENT}]")
    if is_gemv:
        _one_row(tiles, "a", "b")
    for name in ("a_scale", "b_scale"):
        tiles.common(name, low_precision=True)
        tiles.in_space(name, AddressSpace.SCALING)
        (_scales_of_row if is_gemv else _scales)(tiles, name, left, right)
    _scaled_elements(tiles, left.element_type, right.element_type, result.element_type)
    if tiles.has("c_in"):
        tiles.same_elements("c_in", "dst")
        tiles.same_valid("c_in", "dst")
    if tiles.has("bias"):
        _bias(tiles, needs_float=True)
        if is_gemv:
            if tiles.tile("bias").columns != result.columns:
                tiles.fail("expects bias and dst to have the same column shape")
            tiles.same_valid("bias", "dst")


def _extents(tile: TileBufType) -> tuple[int, int]:
    """Return the valid extents of a tile, or its own where they are not known."""
    (rows, columns), (valid_rows, valid_columns) = tile.shape, tile.valid_shape
    return (valid_rows if known(valid_rows) else rows, valid_columns if known(valid_columns) else columns)


def scales_of(extent: int) -> int:
    """Return how many scales a row of elements has."""
    return -(-extent // SCALED) if known(extent) else DYNAMIC


def _are_for_pairs(operand: TileBufType, found: int, pairs: int) -> bool:
    """Return True for scales of 32 elements each of what has `pairs` of 4-bit floats along K.

    Wider than PTOAS, which asks for a scale for each 32 columns, though a column is two elements.
    """
    return is_float4(operand.element_type) and known(pairs) and found == -(-2 * pairs // SCALED)


def _scales(tiles: Tiles, name: str, left: TileBufType, right: TileBufType) -> None:
    scale, is_left = tiles.tile(name), name == "a_scale"
    for found, first, second, what in (
        (scale.shape, left.shape, right.shape, "shape"),
        (scale.valid_shape, left.valid_shape, right.valid_shape, "valid_shape"),
    ):
        count = scales_of(first[1])
        if _are_for_pairs(left, found[1 if is_left else 0], first[1]):
            count = found[1 if is_left else 0]
        wanted = (first[0], count) if is_left else (count, second[1])
        if any(map(differ, found, wanted)):
            tiles.fail(f"expects {name} {what} to be {'[M, ceil(K/32)]' if is_left else '[ceil(K/32), N]'}")
    _layout_of_a5(tiles, name, name)
    if scale.fractal.data != SCALE_BOX[0] * SCALE_BOX[1]:
        tiles.fail(f"expects {name} to use fractal=32 on A5")


def _scales_of_row(tiles: Tiles, name: str, left: TileBufType, right: TileBufType) -> None:
    scale, count = tiles.tile(name), scales_of(left.valid_shape[1])
    is_left = name == "a_scale"
    if _are_for_pairs(left, scale.valid_shape[1 if is_left else 0], left.valid_shape[1]):
        count = scale.valid_shape[1 if is_left else 0]
    whole = (left.valid_shape[0], count) if is_left else (count, right.columns)
    valid = (left.valid_shape[0], count) if is_left else (count, right.valid_shape[1])
    if any(map(differ, (*scale.shape, *scale.valid_shape), (*whole, *valid))):
        wanted = "[M, ceil(K/32)]" if is_left else "[ceil(K/32), aligned_N]/[ceil(K/32), N]"
        tiles.fail(f"expects {name} shape/valid_shape to be {wanted}")


def _scaled_elements(tiles: Tiles, left: Attribute, right: Attribute, result: Attribute) -> None:
    small = [element_name(each) in ("f8E4M3FN", "f8E5M2") for each in (left, right)]
    if not all(small) and not (is_float4(left) and is_float4(right)):
        tiles.fail("expects A5 mx lhs/rhs element types to be a supported fp8/fp8 or fp4/fp4 pair")
    if element_name(result) != "f32":
        tiles.fail("expects A5 mx result dst to use f32 element type")


def scale_address(tiles: Tiles) -> None:
    """Check `tget_scale_addr`: the scales of a left or right operand."""
    if not tiles.is_a5:
        tiles.fail("tget_scale_addr is only supported on A5")
    tiles.common("src", "dst", low_precision=True)
    source, scale = tiles.tile("src"), tiles.tile("dst")
    if source.location not in (AddressSpace.LEFT, AddressSpace.RIGHT):
        tiles.fail("expects src to be in the left or right address space")
    tiles.in_space("dst", AddressSpace.SCALING)
    is_left = source.location is AddressSpace.LEFT
    pairs, given = source.valid_shape[1 if is_left else 0], scale.valid_shape[1 if is_left else 0]
    count = given if _are_for_pairs(source, given, pairs) else scales_of(pairs)
    if is_left:
        wanted, text = (source.rows, count, source.valid_shape[0], count), "[M, ceil(K/32)]"
    else:
        wanted, text = (count, source.columns, count, source.valid_shape[1]), "[ceil(K/32), N]"
    if any(map(differ, (*scale.shape, *scale.valid_shape), wanted)):
        tiles.fail(f"expects dst shape/valid_shape to be {text}")
