"""Loads, stores, and moves between memories: pairs of memories, layouts, elements, and conversions on the way."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import Attribute

from ....targets.tile_limits import MAX_COLUMNS, ZZ_ROWS, ZZ_SCRATCH
from ..attributes import PadValue, SLayout
from ..memory import constant_value
from ..types import DYNAMIC, PartitionTensorViewType, TileBufType, element_bytes
from .tiles import (
    AddressSpace,
    Tiles,
    differ,
    element_name,
    is_chosen_by_chip,
    is_dn,
    is_exponent,
    is_float4,
    is_float8,
    is_hif8,
    is_integer,
    is_low_precision,
    is_nd,
    is_nz,
    is_one_of,
    is_row_major,
    known,
)

_ACC, _MAT, _VEC = AddressSpace.ACC, AddressSpace.MAT, AddressSpace.VEC
_MOVED = "i8/i16/i32/i64/f16/bf16/f32"
BOX_BYTES = 512
"""Bytes of a box, in which the accumulator is stored in the cube core's first memory."""


def _is_moved_by_a5(element: Attribute) -> bool:
    return is_one_of(element, _MOVED) or is_low_precision(element)


def _part(tiles: Tiles, name: str) -> PartitionTensorViewType | None:
    found = tiles.type(name)
    return found if isinstance(found, PartitionTensorViewType) else None


def _positive(tiles: Tiles, name: str) -> None:
    part = _part(tiles, name)
    for place, extent in enumerate(part.extents if part is not None else ()):
        if known(extent) and extent <= 0:
            tiles.fail(f"expects {name} shape[{place}] to be positive")


def load(tiles: Tiles) -> None:
    """Check `tload`."""
    tiles.common("dst", low_precision=tiles.is_a5)
    _positive(tiles, "src")
    tile, source = tiles.tile("dst"), tiles.element("src")
    element = tile.element_type
    if not tiles.is_a5:
        if is_low_precision(source):
            tiles.fail("expects A2/A3 tload low-precision element types to be unsupported")
        if not is_one_of(element, _MOVED):
            tiles.fail("expects A2/A3 tload dst element type to be i8/i16/i32/i64/u64/f16/bf16/f32")
        if tile.location not in (_VEC, _MAT):
            tiles.fail("expects A2/A3 tload dst to use loc=vec or loc=mat")
        if element_bytes(source) != element_bytes(element):
            tiles.fail("expects src and dst element types to have the same bitwidth")
        return
    if element_bytes(source) != element_bytes(element):
        tiles.fail("expects src and dst element types to have the same element size")
    for name, each in (("src", source), ("dst", element)):
        if not _is_moved_by_a5(each):
            tiles.fail(f"expects A5 tload {name} element type to be {_MOVED}/f8/hif8/fp4")
    pads = list(PadValue)
    if is_integer(element, 64) and pads[tile.pad.data] not in (PadValue.NULL, PadValue.ZERO):
        tiles.fail("expects A5 i64/u64 tload dst pad to be null or zero")
    if tile.location is _VEC and not (is_nd(tile) or is_dn(tile) or is_nz(tile)):
        tiles.fail("expects A5 tload vec dst layout to be ND, DN, or NZ")


def prefetch(tiles: Tiles) -> None:
    """Check `tprefetch`."""
    if _part(tiles, "src") is None:
        tiles.fail("expects src to be !pto.partition_tensor_view")
    _positive(tiles, "src")
    tiles.common("dst", low_precision=tiles.is_a5)
    tile, source = tiles.tile("dst"), tiles.element("src")
    if tile.location not in (_VEC, _MAT):
        tiles.fail("expects dst to use loc=vec or loc=mat")
    if element_bytes(source) != element_bytes(tile.element_type):
        tiles.fail("expects src and dst element types to have the same element size")
    if not tiles.is_a5 and is_low_precision(source):
        tiles.fail("expects A2/A3 tprefetch low-precision element types to be unsupported")
    if tiles.is_a5 and not (_is_moved_by_a5(source) and _is_moved_by_a5(tile.element_type)):
        tiles.fail(f"expects A5 tprefetch element types to be {_MOVED}/f8/hif8/fp4")


def store(tiles: Tiles) -> None:
    """Check `tstore`."""
    has_scales, has_scale = tiles.has("fp"), tiles.has("preQuantScalar")
    if has_scales and has_scale:
        tiles.fail("expects fp and preQuantScalar to be mutually exclusive")
    if has_scales and tiles.choice("stPhase") not in (None, "unspecified"):
        tiles.fail("expects fp form to use the default stPhase")
    tiles.common("src", "fp", low_precision=tiles.is_a5)
    if has_scales and tiles.tile("fp").location is not AddressSpace.SCALING:
        tiles.fail("expects fp to use loc=scaling")
    _positive(tiles, "dst")
    tile = tiles.tile("src")
    # Upstream's a5 does not store what is in the cube core's first memory; the public tests of pipes do.
    if tile.location not in (_VEC, _MAT, _ACC):
        tiles.fail("expects {chip} tstore src to use loc=vec, loc=mat, or loc=acc")
    if tile.location is not _ACC:
        if has_scales or has_scale:
            tiles.fail("expects fp/preQuantScalar form to use loc=acc src")
        if _has_relu(tiles):
            tiles.fail("expects reluPreMode form to use loc=acc src")
        _store_vector(tiles, tile)
    else:
        _store_accumulator(tiles, tile)


def _has_relu(tiles: Tiles) -> bool:
    return tiles.choice("reluPreMode") not in (None, "no_relu")


def _store_vector(tiles: Tiles, tile: TileBufType) -> None:
    element, result = tile.element_type, tiles.element("dst")
    if not tiles.is_a5:
        if is_low_precision(result):
            tiles.fail("expects A2/A3 vec/mat tstore low-precision dst element types to be unsupported")
        if not is_one_of(element, _MOVED):
            tiles.fail("expects A2/A3 vec/mat tstore src element type to be i8/i16/i32/i64/u64/f16/bf16/f32")
    elif not _is_moved_by_a5(element):
        tiles.fail(f"expects A5 vec tstore src element type to be {_MOVED}/f8/hif8/fp4")
    if element_bytes(element) != element_bytes(result):
        where = "vec" if tiles.is_a5 else "vec/mat"
        tiles.fail(f"expects {{chip}} {where} tstore src and dst element types to have the same bitwidth")
    if tiles.is_a5 and 1 not in tile.shape and not (is_nd(tile) or is_dn(tile) or is_nz(tile)):
        tiles.fail("expects A5 vec tstore src layout to be ND, DN, or NZ (or special case with 1 row/col)")


def _store_accumulator(tiles: Tiles, tile: TileBufType) -> None:
    element, result = tile.element_type, tiles.element("dst")
    if not is_one_of(element, "i32/f32"):
        tiles.fail("expects {chip} acc tstore src element type to be i32 or f32")
    if tiles.has("preQuantScalar"):
        if tiles.is_a5:
            listed = "i8/f16/bf16" if is_integer(element, 32) else "i8/f16/bf16/f32"
            small = element_name(element) == "f32" and (is_hif8(result) or str(result).startswith("f8E4M3"))
            if not is_one_of(result, listed) and not small:
                tiles.fail("expects A5 acc preQuantScalar tstore dst type to be i8/ui8/f16/bf16/f32/hif8/f8E4M3")
        elif not is_one_of(result, "i8/f16" if is_integer(element, 32) else "i8"):
            listed = "i8/ui8/f16" if is_integer(element, 32) else "i8/ui8"
            tiles.fail(f"expects A2/A3 acc preQuantScalar tstore dst type to be {listed}")
    elif not tiles.has("fp") and not is_one_of(result, "i32/f32/f16/bf16"):
        tiles.fail("expects {chip} acc tstore dst element type to be i32/f32/f16/bf16")
    if not tiles.is_a5:
        if tile.columns > MAX_COLUMNS:
            tiles.fail(f"expects A2/A3 acc tstore src cols to be in [1, {MAX_COLUMNS}]")
        if tile.valid_shape[1] > MAX_COLUMNS:
            tiles.fail(f"expects A2/A3 acc tstore src valid_shape[1] to be in [0, {MAX_COLUMNS}]")


# ---------------------------------------------------------------------------------------------
# Whole tiles
# ---------------------------------------------------------------------------------------------


def move(tiles: Tiles) -> None:
    """Check `tmov`."""
    if tiles.has("fp") and tiles.tile("fp").location is not AddressSpace.SCALING:
        _rearranged(tiles)
        return
    if tiles.attribute("grpAxis") is not None:
        tiles.fail("expects grpAxis only on the X-to-ZZ form with a non-scaling third tile")
    tiles.common("src", "dst", "fp", low_precision=tiles.is_a5)
    has_scales, has_scale = tiles.has("fp"), tiles.has("preQuantScalar")
    if has_scales and has_scale:
        tiles.fail("expects fp and preQuantScalar forms to be mutually exclusive")
    source, result = tiles.tile("src"), tiles.tile("dst")
    if source.shape != result.shape:
        if source.location is _MAT:
            tiles.fail("expects mat-source tmov to use matching src/dst shapes")
        if not tiles.is_a5:
            tiles.fail("expects A2/A3 non-mat tmov to use matching src/dst shapes")
    pair = (source.location, result.location)
    if pair not in (_MOVES_OF_A5 if tiles.is_a5 else _MOVES):
        tiles.fail("expects a supported tmov address-space pair for this target")
    mode, out = tiles.choice("accToVecMode"), pair in ((_ACC, _MAT), (_ACC, _VEC))
    if mode is not None and pair != (_ACC, _VEC):
        tiles.fail("expects accToVecMode to be used only for acc-to-vec tmov")
    if not out:
        for called, has in (("reluPreMode", _has_relu(tiles)), ("preQuantScalar", has_scale), ("fp", has_scales)):
            if has:
                tiles.fail(f"expects {called} form to use loc=acc src")
    if has_scales and not is_one_of(source.element_type, "f32/i32"):
        tiles.fail("expects fp form src to have element type f32, i32")
    if (has_scales or has_scale) and mode is not None and mode.startswith("dual"):
        tiles.fail("expects fp/preQuantScalar acc-to-vec forms to use single-mode accToVecMode")
    if source.location is _ACC and (has_scales or _has_relu(tiles)) and not is_nz(source):
        tiles.fail("expects acc-source fp/relu tmov src to use blayout=col_major and slayout=row_major")
    if not tiles.is_a5 and pair == (_ACC, _MAT):
        if has_scales and not is_nz(result):
            tiles.fail("expects fp tmov dst to use blayout=col_major and slayout=row_major")
        if result.fractal.data != BOX_BYTES:
            tiles.fail("expects A2/A3 acc-to-mat tmov destination fractal to be 512")


_MOVES = {
    *((_MAT, space) for space in (AddressSpace.LEFT, AddressSpace.RIGHT, AddressSpace.BIAS, AddressSpace.SCALING)),
    (_VEC, _VEC),
    (_ACC, _MAT),
    (_ACC, _VEC),
}
_MOVES_OF_A5 = {*_MOVES, (_VEC, _MAT)}
"""Between which memories whole tiles move."""


def _rearranged(tiles: Tiles) -> None:
    """Check a `tmov` of exponents into the layout that the cube core reads, by way of a scratch tile."""
    if not tiles.is_a5:
        tiles.fail("X-to-ZZ tmov is only supported on A5")
    if tiles.has("preQuantScalar") or tiles.choice("accToVecMode") is not None or _has_relu(tiles):
        tiles.fail("expects the X-to-ZZ tmov form not to use preQuantScalar, accToVecMode, or reluPreMode")
    source, result, scratch = (tiles.tile(name) for name in ("src", "dst", "fp"))
    if {source.location, result.location, scratch.location} != {_VEC}:
        tiles.fail("expects X-to-ZZ src/dst/tmp to be vec tiles")
    if len({tiles.values[name] for name in ("src", "dst", "fp")}) < len(("src", "dst", "fp")):
        tiles.fail("expects X-to-ZZ src, dst, and tmp to be distinct tile values")
    if DYNAMIC in (*source.valid_shape, *result.valid_shape):
        tiles.fail("expects static valid and physical shapes for src/dst and a static tmp physical shape for X-to-ZZ")
    element = source.element_type
    if element not in (result.element_type,) or element != scratch.element_type:
        tiles.fail("expects src, dst, and tmp to share one element type")
    if str(element) != "ui8" and not is_hif8(element) and not is_exponent(element):
        tiles.fail("expects element type to be one of ui8, !pto.hif8, !pto.f8E8M0")
    if not is_nd(source):
        tiles.fail("expects src to use blayout=row_major, slayout=none_box")
    if not (is_row_major(result) and result.slayout is SLayout.ROW_MAJOR):
        tiles.fail("expects dst to use blayout=row_major, slayout=row_major (ZZ box)")
    if prod(source.valid_shape) != prod(result.valid_shape):
        tiles.fail("expects src and dst to hold the same exponent count")
    if tiles.choice("grpAxis") == "axis0":
        _from_columns(tiles, source, result)
    else:
        _from_rows(tiles, source, result, scratch)


def _from_rows(tiles: Tiles, source: TileBufType, result: TileBufType, scratch: TileBufType) -> None:
    rows, columns = result.valid_shape
    if columns % 2:
        tiles.fail("expects ND-to-ZZ dst valid_shape[1] (the grouped exponent column count) to be even")
    if source.valid_shape[0] != 1 and source.columns != source.valid_shape[1]:
        tiles.fail(
            "expects ND-to-ZZ src valid elements to form a compact prefix (single-row legacy flat or physical row "
            "stride equal to valid cols)"
        )
    blocks = -(-rows // ZZ_ROWS)
    for name, tile, why in (
        ("src", source, " because source padding is zeroed in place"),
        ("dst", result, ""),
    ):
        if (tile.bytes or 0) < blocks * ZZ_ROWS * columns:
            tiles.fail(f"expects ND-to-ZZ {name} physical capacity to cover align16(dst rows) * dst cols{why}")
    least = ZZ_SCRATCH + blocks * columns
    if (scratch.bytes or 0) < least:
        tiles.fail(f"expects tmp to provide at least {least} bytes for ND-to-ZZ (64 + ceil(dst rows / 16) * dst cols)")


def _from_columns(tiles: Tiles, source: TileBufType, result: TileBufType) -> None:
    rows, columns = source.valid_shape
    if not rows or rows % 2:
        tiles.fail(
            "expects DN-to-ZZ src valid_shape[0] to be an even count >= 2; a single row-group produces no output in "
            "PTO-ISA"
        )
    if columns % ZZ_ROWS:
        tiles.fail("expects DN-to-ZZ src valid_shape[1] to be a multiple of 16")
    if source.columns != columns:
        tiles.fail("expects DN-to-ZZ src physical row stride to equal src valid_shape[1]")
    if min(source.bytes or 0, result.bytes or 0) < rows * columns:
        tiles.fail("expects DN-to-ZZ src/dst physical capacity to cover src valid rows * src valid cols")


# ---------------------------------------------------------------------------------------------
# Parts of tiles
# ---------------------------------------------------------------------------------------------


def _place(tiles: Tiles, part: Sequence[int], whole: Sequence[int], text: str) -> None:
    """Check that a part, at constant indices, is within a tile."""
    for name, extent, bound, called in zip(("indexRow", "indexCol"), part, whole, ("rows", "cols"), strict=True):
        index = constant_value(tiles.values[name])
        if index is not None and index < 0:
            tiles.fail(f"expects {name} to be non-negative")
        if index is not None and known(extent) and index + extent > bound:
            tiles.fail(text.format(index=name, extent=called))


def _quantized(source: Attribute, result: Attribute, *, is_a5: bool) -> bool:
    """Return True if elements of the accumulator are scaled to others on the way out."""
    if element_name(source) == "f32":
        listed = "i8/f16/bf16/f32" if is_a5 else "i8"
        return is_one_of(result, listed) or (is_a5 and (str(result).startswith("f8") or is_hif8(result)))
    return is_integer(source, 32) and is_one_of(result, "i8/f16/bf16" if is_a5 else "i8/f16/i16")


def _converted(source: Attribute, result: Attribute, *, is_a5: bool) -> bool:
    """Return True if elements of the accumulator are rounded to others on the way out."""
    if element_name(source) == "f32":
        return is_one_of(result, "f16/bf16/f32" if is_a5 else "f16/bf16")
    return is_a5 and is_integer(source, 32) and is_integer(result, 32)


def extract(tiles: Tiles) -> None:
    """Check `textract`."""
    tiles.common("src", "dst", "fp", low_precision=tiles.is_a5)
    source, result = tiles.tile("src"), tiles.tile("dst")
    _place(tiles, result.shape, source.shape, "expects {index} + dst.{extent} <= src.{extent}")
    has_scales, has_scale = tiles.has("fp"), tiles.has("preQuantScalar")
    if has_scales and tiles.tile("fp").location is not AddressSpace.SCALING:
        tiles.fail("expects fp to use loc=scaling")
    element = result.element_type
    if source.location is not _ACC and source.element_type != element:
        tiles.fail("expects src and dst to have the same element type")
    if not tiles.is_a5 and not is_one_of(element, "i8/f16/bf16/f32") and not (has_scales and is_integer(element, 16)):
        tiles.fail("expects A2/A3 textract element type to be i8/f16/bf16/f32")
    if tiles.is_a5 and not _is_extracted_by_a5(element):
        tiles.fail("expects A5 textract element type to be an fp8/f16/bf16/f32 or int8 family type")
    if has_scales and has_scale:
        tiles.fail("expects fp and preQuantScalar to be mutually exclusive")
    for called, has in (("fp", has_scales), ("preQuantScalar", has_scale), ("reluPreMode", _has_relu(tiles))):
        if has and source.location is not _ACC:
            tiles.fail(f"expects {called} form to use loc=acc src")
    pair = (source.location, result.location)
    if tiles.choice("accToVecMode") is not None and not (tiles.is_a5 and pair == (_ACC, _VEC)):
        tiles.fail("expects accToVecMode only on A5 acc->vec textract forms")
    (_extract_on_a5 if tiles.is_a5 else _extract_on_a2a3)(tiles, source, result)
    if source.location is _ACC:
        is_scaled = has_scales or has_scale
        if is_scaled and not _quantized(source.element_type, element, is_a5=tiles.is_a5):
            pairs = "(src=f32,dst=i8) or (src=i32,dst=i8/f16/i16)"
            if tiles.is_a5:
                pairs = "(src=f32,dst=i8/fp8/f16/bf16/f32) or (src=i32,dst=i8/f16/bf16)"
            tiles.fail(f"expects {{chip}} acc preQuantScalar textract element types to be {pairs}")
        if not is_scaled and not _converted(source.element_type, element, is_a5=tiles.is_a5):
            pairs = "(src=f32,dst=f16/bf16/f32) or (src=i32,dst=i32)" if tiles.is_a5 else "src=f32, dst=f16/bf16"
            tiles.fail(f"expects {{chip}} acc textract element types to be {pairs}")


def _is_extracted_by_a5(element: Attribute) -> bool:
    small = str(element).startswith("f8") or is_hif8(element) or is_float4(element)
    return small or is_one_of(element, "i8/f16/bf16/f32")


_NZ = "blayout=col_major and slayout=row_major"


def _extract_on_a2a3(tiles: Tiles, source: TileBufType, result: TileBufType) -> None:
    if (source.location, result.location) == (_VEC, _VEC):
        return
    if source.location is _ACC:
        if result.location is not _MAT:
            tiles.fail("expects A2/A3 acc-source textract dst to use loc=mat")
        for name, tile in (("src", source), ("dst", result)):
            if not is_nz(tile):
                tiles.fail(f"expects A2/A3 acc-source textract {name} to use {_NZ}")
        if result.fractal.data != BOX_BYTES:
            tiles.fail("expects A2/A3 acc-source textract dst fractal size to be 512")
        return
    if source.location is not _MAT:
        tiles.fail("expects A2/A3 textract src to use loc=mat, loc=acc, or loc=vec")
    if result.location not in (AddressSpace.LEFT, AddressSpace.RIGHT):
        tiles.fail("expects A2/A3 textract dst to use loc=left, loc=right, loc=mat, or loc=vec")
    if not is_row_major(source) and not is_nz(source):
        tiles.fail("expects A2/A3 textract src to use a supported mat blayout/slayout combination")
    wanted = SLayout.ROW_MAJOR if result.location is AddressSpace.LEFT else SLayout.COL_MAJOR
    if not (is_row_major(result) or is_chosen_by_chip(result)) or result.slayout is not wanted:
        where = result.location.value
        tiles.fail(f"expects A2/A3 {where} dst to use row_major blayout and {wanted.value} slayout")


_EXTRACTS_OF_A5 = {
    *((_MAT, space) for space in (AddressSpace.LEFT, AddressSpace.RIGHT, AddressSpace.SCALING)),
    *((space, other) for space in (_VEC, _ACC) for other in (_MAT, _VEC)),
}


def _extract_on_a5(tiles: Tiles, source: TileBufType, result: TileBufType) -> None:
    if (source.location, result.location) not in _EXTRACTS_OF_A5:
        tiles.fail("expects A5 textract to use a supported src/dst loc pair")
    if source.location is _MAT:
        _operand_of_a5(tiles, source, result)
    elif (source.location, result.location) == (_VEC, _VEC):
        if not is_nd(source) or not is_nd(result):
            tiles.fail("expects A5 vec->vec textract src/dst to use ND layout (blayout=row_major, slayout=none_box)")
    elif source.location is _ACC:
        if not is_nz(source):
            tiles.fail(f"expects A5 acc-source textract src to use {_NZ}")
        if result.location is _MAT and not is_nz(result):
            tiles.fail(f"expects A5 acc-source textract dst to use {_NZ}")
        if result.location is _VEC and not is_nd(result):
            tiles.fail("expects A5 acc->vec textract dst to use ND layout (blayout=row_major, slayout=none_box)")


def _operand_of_a5(tiles: Tiles, source: TileBufType, result: TileBufType) -> None:
    """Check what is taken from the cube core's first memory to be an operand of a product."""
    good = is_nz(source) or (is_row_major(source) and source.slayout is SLayout.COL_MAJOR)
    if not good and not (result.location is AddressSpace.LEFT and is_row_major(source)):
        tiles.fail("expects A5 textract src to use a supported mat blayout/slayout combination")
    if is_chosen_by_chip(result) and result.slayout is not SLayout.ROW_MAJOR:
        tiles.fail("expects A5 left dst to use col_major blayout and row_major slayout")
    if result.location is AddressSpace.RIGHT:
        if not is_row_major(result) or result.slayout is not SLayout.COL_MAJOR:
            tiles.fail("expects A5 right dst to use row_major blayout and col_major slayout")


def insert(tiles: Tiles) -> None:
    """Check `tinsert`."""
    tiles.common("src", "dst", "fp", low_precision=tiles.is_a5)
    source, result = tiles.tile("src"), tiles.tile("dst")
    _place(tiles, source.valid_shape, result.shape, "expects {index} + src.{extent} <= dst.{extent}")
    pair = (source.location, result.location)
    _insert_options(tiles, pair, source)
    (_insert_on_a5 if tiles.is_a5 else _insert_on_a2a3)(tiles, source, result)


def _insert_options(tiles: Tiles, pair: tuple[AddressSpace, AddressSpace], source: TileBufType) -> None:
    out, scaled = pair[0] is _ACC, tiles.has("preQuantScalar")
    if tiles.has("fp") and scaled:
        tiles.fail("fp and preQuantScalar are mutually exclusive")
    if tiles.has("fp") and not out:
        tiles.fail("fp is only valid with src loc=acc")
    if tiles.has("fp") and tiles.tile("fp").location is not AddressSpace.SCALING:
        tiles.fail("expects fp to be loc=scaling")
    for called, has in (("preQuantScalar", scaled), ("reluPreMode", _has_relu(tiles))):
        if has and not out:
            form = f"expects {called} form to use loc=acc src"
            tiles.fail(form if tiles.is_a5 else f"{called} is only valid with src loc=acc")
    if tiles.choice("accToVecMode") is not None:
        if not tiles.is_a5:
            tiles.fail("accToVecMode is only supported on A5")
        if pair != (_ACC, _VEC):
            tiles.fail("expects accToVecMode only on A5 acc->vec tinsert forms")
    if tiles.choice("tinsertMode") is not None:
        if not tiles.is_a5:
            tiles.fail("tinsertMode is only supported on A5")
        if pair != (_VEC, _MAT):
            tiles.fail("expects tinsertMode only on A5 vec->mat tinsert forms")
        if not is_nz(source):
            tiles.fail("tinsertMode (SPLIT2/SPLIT4) requires src NZ layout (blayout=col_major, slayout=row_major)")


def _insert_on_a2a3(tiles: Tiles, source: TileBufType, result: TileBufType) -> None:
    element, other = source.element_type, result.element_type
    if (source.location, result.location) == (_VEC, _VEC):
        if element != other or not is_one_of(element, "i8/f16/bf16/f32"):
            tiles.fail("expects A2/A3 vec->vec tinsert src/dst to have same supported dtype (i8/f16/bf16/f32)")
        return
    if (source.location, result.location) != (_ACC, _MAT):
        tiles.fail("expects A2/A3 tinsert to use acc->mat or vec->vec")
    for name, tile in (("src", source), ("dst", result)):
        if not is_nz(tile):
            tiles.fail(f"expects A2/A3 tinsert {name} to use {_NZ}")
    if result.fractal.data != BOX_BYTES:
        tiles.fail("expects A2/A3 tinsert dst fractal size to be 512")
    if tiles.has("fp") or tiles.has("preQuantScalar"):
        if not _quantized(element, other, is_a5=False):
            tiles.fail(
                "expects A2/A3 acc fp/preQuantScalar tinsert element types to be (src=f32,dst=i8) or "
                "(src=i32,dst=i8/f16/i16)"
            )
    elif not _converted(element, other, is_a5=False):
        tiles.fail("expects A2/A3 tinsert element types to be src=f32, dst=f16/bf16")


def _insert_on_a5(tiles: Tiles, source: TileBufType, result: TileBufType) -> None:
    element, other = source.element_type, result.element_type
    match source.location, result.location:
        case AddressSpace.ACC, (AddressSpace.MAT | AddressSpace.VEC) as to:
            if not is_nz(source):
                tiles.fail(f"expects A5 acc->mat tinsert src to use {_NZ}")
            if to is _MAT and not is_nz(result):
                tiles.fail(f"expects A5 acc->mat tinsert dst to use {_NZ}")
            if to is _VEC and not (is_nd(result) or is_nz(result)):
                tiles.fail(
                    "expects A5 acc->vec tinsert dst to use ND(row_major/none_box) or NZ(col_major/row_major) layout"
                )
            scaled = tiles.has("fp") or tiles.has("preQuantScalar")
            if not (_quantized if scaled else _converted)(element, other, is_a5=True):
                more = "; with fp/scalar: (src=f32,dst=i8/fp8/f16/bf16/f32) or (src=i32,dst=i8/f16/bf16)"
                tiles.fail(
                    "expects A5 acc-source tinsert element types to be (src=f32,dst=f16/bf16/f32) or "
                    f"(src=i32,dst=i32){more if scaled else ''}"
                )
            return
        case AddressSpace.VEC, AddressSpace.MAT:
            if not is_nz(result):
                tiles.fail(f"expects A5 vec->mat tinsert dst to use {_NZ}")
            if not (is_nd(source) or is_nz(source)):
                tiles.fail(
                    "expects A5 vec->mat tinsert src to use ND(row_major/none_box) or NZ(col_major/row_major) layout"
                )
            pair = "vec->mat"
        case AddressSpace.VEC, AddressSpace.VEC:
            if not (is_nd(source) and is_nd(result)) and not (is_nz(source) and is_nz(result)):
                tiles.fail(
                    "expects A5 vec->vec tinsert src/dst layouts to match: both ND(row_major/none_box) or both "
                    "NZ(col_major/row_major)"
                )
            pair = "vec->vec"
        case _:
            tiles.fail(
                "expects A5 tinsert to use a supported src/dst loc pair: acc->mat, acc->vec, vec->mat, or vec->vec"
            )
    if element != other or not (_is_extracted_by_a5(element) or is_integer(element, 32)):
        tiles.fail(f"expects A5 {pair} tinsert src/dst to have same supported dtype (fp8/f16/bf16/f32/i8/i32)")


# ---------------------------------------------------------------------------------------------
# Conversions
# ---------------------------------------------------------------------------------------------


def logical(tile: TileBufType, shape: tuple[int, int]) -> tuple[int, int]:
    """Return extents in elements, where a byte may have two of 4 bits."""
    if not is_float4(tile.element_type):
        return shape
    place = 1 if is_row_major(tile) else 0
    twice = [extent * 2 if n == place and known(extent) else extent for n, extent in enumerate(shape)]
    return twice[0], twice[1]


def convert(tiles: Tiles) -> None:
    """Check `tcvt`."""
    tiles.common("src", "dst", low_precision=True)
    source, result = tiles.tile("src"), tiles.tile("dst")
    if any(map(differ, logical(source, source.shape), logical(result, result.shape))):
        tiles.fail("expects src and dst to have compatible shapes")
    if any(map(differ, logical(source, source.valid_shape), logical(result, result.valid_shape))):
        tiles.fail("expects src and dst to have the same valid_shape")
    before, after = source.element_type, result.element_type
    if not tiles.is_a5:
        if is_low_precision(before) or is_low_precision(after):
            tiles.fail("expects A2/A3 tcvt low-precision element types to be unsupported")
        tiles.plain("tmp")
        if tiles.has("tmp") and tiles.choice("sat_mode") in (None, "OFF"):
            _conversion_scratch(tiles, source, result)
        return
    if (is_low_precision(before) or is_low_precision(after)) and not _is_converted_by_a5(before, after):
        tiles.fail("expects A5 tcvt low-precision type pairs to match PTO-ISA support")
    tiles.plain("tmp")


def _is_converted_by_a5(before: Attribute, after: Attribute) -> bool:
    match element_name(before):
        case "f32":
            return is_float8(after) or is_hif8(after)
        case "f16":
            return is_hif8(after)
        case "bf16":
            return is_float4(after)
        case _:
            if is_float4(before):
                return element_name(after) == "bf16"
            return (is_float8(before) or is_hif8(before)) and element_name(after) == "f32"


_STEP = 64
"""Elements that a conversion does at once."""

_MOST = 255
"""How often it does so at most."""


def _conversion_scratch(tiles: Tiles, source: TileBufType, result: TileBufType) -> None:
    """Check scratch of conversions that keep the low bits of integers."""
    before, after = element_name(source.element_type), element_name(result.element_type)
    if (before, after) not in (("f32", "i16"), ("f16", "i16"), ("f16", "i8")):
        return
    rows, columns = result.valid_shape
    if DYNAMIC in (rows, columns):
        tiles.fail("expects static src shape and dst valid_shape to verify tcvt tmp")
    if before == "f32":
        rest = columns % _STEP
        tail = 32 * ((min(rows, _MOST) - 1) * (source.columns // 8) + -(-rest // 8)) if rest else 0
        least = max(4 * _STEP * min(columns // _STEP, _MOST), tail) if rows and columns else 0
    else:
        width = min(columns, _STEP)
        least = 32 * -(-width // 8)
        if after == "i8":
            least = max(least, 128 + 32 * -(-width // 16))
        least = least if columns else 0
    if (tiles.tile("tmp").bytes or 0) < least:
        tiles.fail(f"expects tcvt tmp capacity to be at least {least} bytes")
