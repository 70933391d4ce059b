"""Scratch tiles of operations: on a2 and a3 their elements, layout and bytes; and what precision modes ask for."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import IntegerAttr, StringAttr

from ....targets.tile_limits import (
    BLOCK_BITS,
    COUNT_SCRATCH,
    EXPANSION_BYTES,
    EXPANSION_ROWS,
    EXPANSION_STEPS,
    LONGEST_STRIDE,
    REPEAT_BITS,
    SELECT_SCRATCH,
    SMALLEST_SCRATCH,
    TRANSPOSED_COLUMNS,
)
from ..attributes import SLayout
from ..types import DYNAMIC, TileBufType, element_bytes
from .forms import block_elements
from .tiles import (
    AddressSpace,
    Tiles,
    differ,
    element_name,
    has_rows,
    is_dn,
    is_integer,
    is_nd,
    is_one_of,
    is_row_major,
    known,
)


def _on_a2a3(tiles: Tiles) -> bool:
    return tiles.has("tmp") and not tiles.is_a5


def _static(tiles: Tiles, name: str, what: str) -> str:
    return f"expects A2/A3 {tiles.name} {name} {what} to be static when tmp is provided"


# ---------------------------------------------------------------------------------------------
# Like the destination
# ---------------------------------------------------------------------------------------------


def like_destination(tiles: Tiles) -> None:
    """Check scratch of `txor`, `txors`: elements and layout of the result, and as many bytes."""
    if not _on_a2a3(tiles):
        return
    others = "src0, src1, and dst" if tiles.has("src0") else "src and dst"
    tiles.common("tmp")
    tiles.same_elements("dst", "tmp", text=f"expects tmp to have the same element type as {others}")
    tiles.row_major("tmp")
    if tiles.has("src0"):
        tiles.same_valid("tmp", "dst")
    tiles.capacity("tmp", tiles.tile("dst").bytes, needs=_static(tiles, "dst", "shape"))


def power(tiles: Tiles) -> None:
    """Check the precision of `tpow` and `tpows`, and scratch, which integers do not have."""
    element = tiles.element("dst")
    is_power_of_integers = is_integer(element, 8, 16, 32)
    if tiles.choice("precisionType") == "high_precision":
        if not tiles.is_a5:
            tiles.fail("A2/A3 does not support precisionType=high_precision")
        if not is_one_of(element, "f16/f32/bf16"):
            tiles.fail("expects A5 {name} element type to be f16/f32/bf16 when precisionType=high_precision")
    if not tiles.has("tmp"):
        return
    if is_power_of_integers:
        tiles.fail("does not accept tmp when element type is integer")
    tiles.common("tmp")
    tiles.same_elements("dst", "tmp", text="expects tmp and dst to have the same element type")
    tiles.row_major("tmp")
    tiles.same_valid("tmp", "dst")
    if not tiles.is_a5:
        tiles.capacity("tmp", tiles.tile("dst").bytes, needs=_static(tiles, "dst", "shape"))


def remainder(tiles: Tiles) -> None:
    """Check scratch of `trem` and `trems`: two rows, or one, of the columns of the result."""
    tiles.plain("tmp")
    if not _on_a2a3(tiles):
        return
    rows = 2 if tiles.has("src0") else 1
    tiles.same_elements("dst", "tmp", text="expects tmp and dst to have the same element type")
    valid, result = tiles.tile("tmp").valid_shape, tiles.tile("dst")
    if known(valid[0]) and valid[0] < rows:
        tiles.fail(f"expects A2/A3 tmp valid_shape[0] to be at least {rows}")
    if DYNAMIC not in (valid[1], result.valid_shape[1]) and valid[1] < result.valid_shape[1]:
        tiles.fail("expects A2/A3 tmp valid columns to cover dst valid columns")
    size = element_bytes(result.element_type)
    tiles.capacity("tmp", size and rows * result.columns * size, needs=_static(tiles, "dst", "shape and element size"))


def leak(tiles: Tiles) -> None:
    """Check `tprelu`: tiles of one shape, and scratch of a row of bits for each row, and one more."""
    tiles.same_shape("src0", "src1", "dst")
    if tiles.has("tmp") and tiles.is_a5:
        tiles.plain("tmp")
    if not _on_a2a3(tiles):
        return
    if not is_integer(tiles.element("tmp"), 8):
        tiles.fail("expects A2/A3 tmp element type to be u8")
    tiles.plain("tmp")
    scratch, (rows, columns) = tiles.tile("tmp"), tiles.tile("dst").valid_shape
    if known(rows) and scratch.rows < rows + 1:
        tiles.fail(f"expects A2/A3 tmp shape[0] to be at least dst valid_shape[0] + 1 ({rows + 1})")
    packed = -(-columns // 8)
    if DYNAMIC not in (columns, scratch.valid_shape[1]) and scratch.valid_shape[1] < packed:
        tiles.fail(f"expects A2/A3 tmp valid_shape[1] to be at least ceil(dst valid_shape[1] / 8) ({packed})")
    if DYNAMIC in (rows, columns):
        tiles.fail("expects A2/A3 tprelu dst valid_shape to be static when tmp is provided")
    blocks = max(1, -(-packed // SMALLEST_SCRATCH))
    tiles.capacity("tmp", (rows + 1) * blocks * SMALLEST_SCRATCH)


def select(tiles: Tiles) -> None:
    """Check scratch of `tsel`: words of four bytes."""
    if not _on_a2a3(tiles):
        return
    if element_bytes(tiles.element("tmp")) != 4:
        tiles.fail("expects A2/A3 tsel tmp element type to be 4 bytes wide")
    tiles.capacity("tmp", SELECT_SCRATCH[(element_bytes(tiles.element("src0")) or 0) * 8])


def select_scalar(tiles: Tiles) -> None:
    """Check scratch of `tsels`: a row of the source."""
    if not _on_a2a3(tiles):
        return
    tiles.same_elements("src", "tmp", text="expects A2/A3 tsels tmp to have the same element type as src and dst")
    if not is_row_major(tiles.tile("tmp")):
        tiles.fail("expects A2/A3 tsels tmp to use row-major layout")
    source = tiles.tile("src")
    tiles.capacity("tmp", source.columns * (element_bytes(source.element_type) or 0))


def sort(tiles: Tiles) -> None:
    """Check scratch of `tsort32`: as many bytes as the source has."""
    if _on_a2a3(tiles):
        tiles.capacity("tmp", tiles.tile("src").bytes, needs=_static(tiles, "src", "shape"))


def transposition(tiles: Tiles) -> None:
    """Check scratch of `ttrans`: the bytes of the source where it goes by way of scratch."""
    if not tiles.has("tmp"):
        return
    least: int | None = SMALLEST_SCRATCH
    if not tiles.is_a5 and _goes_by_scratch(tiles.tile("src"), tiles.tile("dst")):
        least = tiles.tile("src").bytes
    tiles.capacity("tmp", least, needs="expects A2/A3 transpose src shape to be static when tmp is used")


def _goes_by_scratch(source: TileBufType, result: TileBufType) -> bool:
    size, per_block = element_bytes(source.element_type), block_elements(source)
    if not size or not per_block or size not in TRANSPOSED_COLUMNS:
        return True
    whole = result.columns % TRANSPOSED_COLUMNS[size] == 0 and source.columns % per_block == 0
    return whole and source.columns // per_block <= LONGEST_STRIDE


def reciprocal_root(tiles: Tiles) -> None:
    """Check that `trsqrt` of high precision has scratch."""
    _precision(tiles)
    if tiles.has("tmp"):
        tiles.plain("tmp")
        found = tiles.tile("tmp").bytes
        if found is None:
            tiles.fail("expects tmp to have a static, byte-addressable tile type")
        if found < SMALLEST_SCRATCH:
            tiles.fail(f"expects tmp to be at least {SMALLEST_SCRATCH} bytes when provided")


def _precision(tiles: Tiles) -> None:
    if tiles.choice("precisionType") == "high_precision" and not tiles.has("tmp"):
        tiles.fail("expects tmp when precisionType is high_precision")


# ---------------------------------------------------------------------------------------------
# Reductions
# ---------------------------------------------------------------------------------------------


def column_sum(tiles: Tiles) -> None:
    """Check `tcolsum` by halves: scratch has half the rows of the source."""
    if not tiles.has("tmp"):
        return
    halves = tiles.attribute("isBinary")
    if halves is None:
        tiles.fail("tmp operand requires isBinary attribute")
    tiles.nd("tmp")
    tiles.same_elements("src", "dst", "tmp", text="expects src/tmp/dst element types to match")
    if not isinstance(halves, IntegerAttr) or not halves.value.data:
        return
    (rows, columns), stride = tiles.tile("src").valid_shape, tiles.tile("tmp").columns
    if known(columns) and stride < columns:
        tiles.fail(
            f"expects tmp shape[1] to be at least src valid_shape[1] when isBinary is true; got {stride} vs {columns}"
        )
    size = element_bytes(tiles.element("src"))
    least = None if DYNAMIC in (rows, columns) or not size else -(-rows // 2) * columns * size
    tiles.capacity("tmp", least, needs="expects static src valid_shape and element size to verify tcolsum tmp")


def _least_stride(tiles: Tiles) -> int | None:
    """Return the columns of scratch that a place in each row or column needs, by the columns of the source."""
    columns = tiles.tile("src").valid_shape[1]
    bits = (element_bytes(tiles.element("src")) or 0) * 8
    if not known(columns) or not bits:
        return None
    repeats, block = -(-columns // (REPEAT_BITS // bits)), BLOCK_BITS // bits
    return (-(-repeats * 2 // block) + -(-repeats // block)) * block


def _covers_stride(tiles: Tiles) -> None:
    least, found = _least_stride(tiles), tiles.tile("tmp").valid_shape[1]
    if least is not None and known(found) and found < least:
        columns = tiles.tile("src").valid_shape[1]
        tiles.fail(f"expects A2/A3 tmp valid_shape[1] to be at least {least} for src valid_shape[1] = {columns}")


def column_place(tiles: Tiles) -> None:
    """Check scratch of the places of the largest and smallest elements of columns."""
    if not _on_a2a3(tiles):
        return
    tiles.plain("tmp")
    tiles.same_elements("src", "tmp")
    scratch = tiles.tile("tmp")
    if scratch.valid_shape != tiles.tile("src").valid_shape:
        if known(scratch.valid_shape[0]) and scratch.valid_shape[0] < 1:
            tiles.fail("expects A2/A3 tmp valid_shape[0] to be at least 1")
        _covers_stride(tiles)
    tiles.some_capacity("tmp")


def row_place(tiles: Tiles) -> None:
    """Check scratch of the places of the largest and smallest elements of rows."""
    if tiles.has("tmp") and tiles.is_a5:
        tiles.plain("tmp")
    if not _on_a2a3(tiles):
        return
    tiles.in_vec("tmp")
    tiles.same_elements("src", "tmp")
    source, scratch = tiles.tile("src"), tiles.tile("tmp")
    if scratch.valid_shape != source.valid_shape:
        columns = source.valid_shape[1]
        if known(columns) and columns <= REPEAT_BITS // ((element_bytes(source.element_type) or 1) * 8):
            _two_places(tiles, source, scratch)
        else:
            tiles.plain("tmp")
            if scratch.rows != source.rows:
                tiles.fail("expects A2/A3 tmp shape[0] to match src shape[0]")
            _covers_rows(tiles, source, scratch)
            _covers_stride(tiles)
    tiles.some_capacity("tmp")


def _two_places(tiles: Tiles, source: TileBufType, scratch: TileBufType) -> None:
    """Check scratch where a row is one step: a value and a place for each row, in one column or in two."""
    rows, columns = scratch.valid_shape
    if is_dn(scratch):
        if scratch.columns != 1:
            tiles.fail("expects A2/A3 tmp DN layout to have shape[1] == 1")
        if known(columns) and columns != 1:
            tiles.fail("expects A2/A3 tmp DN layout to have valid_shape[1] == 1")
        wanted = source.valid_shape[0] * 2
        if DYNAMIC not in (source.valid_shape[0], rows) and rows < wanted:
            tiles.fail(f"expects A2/A3 tmp DN layout to have valid_shape[0] >= {wanted}")
        return
    if not is_nd(scratch):
        tiles.fail("expects A2/A3 tmp to use DN 1-col or ND 2-col layout when src valid_shape[1] fits in one repeat")
    _covers_rows(tiles, source, scratch)
    if known(columns) and columns < 2:
        tiles.fail("expects A2/A3 tmp valid_shape[1] to be at least 2 in the small-col ND path")


def _covers_rows(tiles: Tiles, source: TileBufType, scratch: TileBufType) -> None:
    if DYNAMIC not in (source.valid_shape[0], scratch.valid_shape[0]):
        if scratch.valid_shape[0] < source.valid_shape[0]:
            tiles.fail("expects A2/A3 tmp valid_shape[0] to cover src valid rows")


# ---------------------------------------------------------------------------------------------
# Elements that are repeated along rows
# ---------------------------------------------------------------------------------------------


def row_expansion(tiles: Tiles) -> None:
    """Check scratch of what is computed with an element for each row."""
    if tiles.name == "trowexpanddiv":
        _precision(tiles)
    if not _on_a2a3(tiles):
        return
    if not _has_column(tiles):
        tiles.fail("expects A2/A3 tmp-form trowexpand to use mode 1 (ColMajor per-row scalar expanded operand)")
    tiles.in_vec("tmp")
    tiles.same_elements("dst", "tmp", text="expects tmp and dst to have the same element type")
    rows = tiles.tile("dst").valid_shape[0]
    steps = EXPANSION_STEPS[1] if not known(rows) else min(-(-rows // EXPANSION_ROWS), EXPANSION_STEPS[1])
    if known(rows) and rows >= EXPANSION_ROWS * EXPANSION_STEPS[1]:
        steps = EXPANSION_STEPS[0]
    found, least = tiles.tile("tmp").bytes, steps * EXPANSION_BYTES
    if found is None:
        tiles.fail("expects A2/A3 trowexpand tmp capacity to be statically known")
    if found < least:
        tiles.fail(f"expects A2/A3 trowexpand tmp capacity to be at least {least} bytes, but got {found} bytes")


def _has_column(tiles: Tiles) -> bool:
    """Return True if the operand that is expanded is a column, stored as one."""
    result = tiles.tile("dst").valid_shape
    for whole, rows in (("src0", "src1"), ("src1", "src0")):
        if not any(map(differ, tiles.tile(whole).valid_shape, result)):
            part = tiles.tile(rows)
            return not is_row_major(part) and part.valid_shape[1] in (DYNAMIC, 1)
    return False


# ---------------------------------------------------------------------------------------------
# Numbers
# ---------------------------------------------------------------------------------------------


def count(tiles: Tiles) -> None:
    """Check `tci`: integers of 16 or 32 bits, the type of the first one, and on a2 and a3 scratch."""
    tiles.common("dst", "tmp")
    element = tiles.element("dst")
    if not is_integer(element, *range(1, 129)):
        tiles.fail("expects dst element type to be integer")
    if not is_integer(element, *COUNT_SCRATCH):
        tiles.fail("expects dst element type to be i16/i32")
    if _on_a2a3(tiles):
        scratch = tiles.tile("tmp")
        if scratch.location is not AddressSpace.VEC:
            tiles.fail("expects tmp to be in vec address space")
        if not is_one_of(scratch.element_type, "f32/i32"):
            tiles.fail("expects A2/A3 tmp element type to be a 4-byte type")
        if not is_row_major(scratch):
            tiles.fail("expects tmp blayout to be row_major")
        if scratch.slayout is not SLayout.NONE_BOX:
            tiles.fail("expects tmp slayout to be none_box")
        bits = (element_bytes(element) or 0) * 8
        if prod(scratch.shape) * (element_bytes(scratch.element_type) or 0) < COUNT_SCRATCH[bits]:
            tiles.fail(
                f"expects A2/A3 tmp capacity to be at least {COUNT_SCRATCH[bits]} bytes for {bits}-bit dst element type"
            )
    if tiles.type("S") != element:
        tiles.fail("expects S and dst element type to be exactly the same type")
    if tiles.tile("dst").columns == 1:
        tiles.fail("expects dst cols to be different from 1")


def fill(tiles: Tiles) -> None:
    """Check `texpands`: the number has the type of the elements."""
    tiles.common("dst")
    result = tiles.tile("dst")
    if result.location not in (AddressSpace.VEC, AddressSpace.MAT):
        tiles.fail("expects dst to be in the vec or mat address space")
    if tiles.type("scalar") != result.element_type:
        tiles.fail("expects scalar type == dst element type")
    if not tiles.is_a5 and result.location is AddressSpace.VEC and not has_rows(result):
        tiles.fail("expects vec dst to use row-major layout on A2/A3")
    listed = "i8/i16/i32/f16/bf16/f32" if tiles.is_a5 else "i16/i32/f16/bf16/f32"
    if not is_one_of(result.element_type, listed):
        tiles.fail(f"expects {{chip}} texpands dst element type to be {listed}")


def axis(tiles: Tiles) -> str:
    """Return the direction of a pattern; raises VerifyException if there is none."""
    found = tiles.attribute("axis")
    if not isinstance(found, StringAttr):
        tiles.fail("expects mask-pattern {name} to provide axis attribute")
    if found.data not in ("row", "col"):
        tiles.fail('Invalid axis value, expected "row" or "col"')
    return found.data


def slope(tiles: Tiles) -> None:
    """Check the number of `tlrelu`, which a5 takes as f32."""
    if tiles.is_a5 and element_name(tiles.type("slope")) != "f32":
        tiles.fail("expects slope to have type f32")
