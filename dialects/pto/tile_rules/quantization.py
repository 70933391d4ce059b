"""Quantization: parameters by row, and blocks of 32 elements that share a scale, with the sizes that a5 needs."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import IntegerAttr

from ....targets.tile_limits import FLOAT_STEP, HALF_STEP, SCALED, UNROLLED
from ..types import DYNAMIC, F4E2M1x2Type, TileBufType, element_bytes
from .moves import logical
from .tiles import Tiles, differ, element_name, is_integer, is_one_of, is_row_major


def quantize(tiles: Tiles) -> None:
    """Check `tquant`."""
    kind = tiles.choice("quant_type")
    if kind not in (None, "INT8_SYM", "INT8_ASYM"):
        tiles.fail("expects plain tquant quant_type to be INT8_SYM or INT8_ASYM; use tquant.mx for MX quantization")
    if kind is not None and (kind == "INT8_ASYM") is not tiles.has("offset"):
        needs = "requires an" if kind == "INT8_ASYM" else "must not have an"
        tiles.fail(f"{kind} quantization {needs} offset operand")
    if kind is not None and not is_integer(tiles.element("dst"), 8):
        tiles.fail(f"expects dst element type i8/ui8 for {kind} quantization")
    tiles.common("src", "fp", "dst")
    if any(map(differ, tiles.tile("src").valid_shape, tiles.tile("dst").valid_shape)):
        tiles.fail("expects src and dst to have the same valid_shape")
    tiles.common("tmp", "offset")
    for name in tiles.present(("src", "offset", "tmp")):
        if element_name(tiles.element(name)) != "f32":
            tiles.fail(f"expects {name} to have element type f32")
    if not tiles.is_a5:
        _by_row(tiles)


def _by_row(tiles: Tiles) -> None:
    """Check the parameters of a2 and a3: a number for each row, in a column that is stored as one."""
    source, result = tiles.tile("src"), tiles.tile("dst")
    if not is_row_major(source) or not is_row_major(result):
        tiles.fail("expects A2/A3 src and dst to use row-major layout")
    if tiles.has("tmp"):
        scratch = tiles.tile("tmp")
        if not is_row_major(scratch):
            tiles.fail("expects A2/A3 tmp to use row-major layout")
        if scratch.shape != source.shape:
            tiles.fail("expects A2/A3 tmp to have the same shape as src")
        tiles.same_valid("src", "tmp")
    for name in tiles.present(("fp", "offset")):
        parameter = tiles.tile(name)
        if is_row_major(parameter):
            tiles.fail(f"expects A2/A3 {name} to use non-row-major layout")
        if differ(parameter.valid_shape[0], result.valid_shape[0]):
            tiles.fail(f"expects A2/A3 {name} valid_shape[0] to equal dst valid_shape[0]")
        if parameter.valid_shape[1] not in (DYNAMIC, 1):
            tiles.fail(f"expects A2/A3 {name} valid_shape[1] to be 1")


def dequantize(tiles: Tiles) -> None:
    """Check `tdequant`."""
    if not is_one_of(tiles.element("src"), "i8 or i16"):
        tiles.fail("expects src element type i8 or i16")
    for name in ("dst", "scale", "offset"):
        if element_name(tiles.element(name)) != "f32":
            tiles.fail(f"expects {name} element type f32")
    tiles.common("src", "scale", "offset", "dst")
    if not tiles.is_a5 and not all(is_row_major(tiles.tile(name)) for name in ("src", "dst")):
        tiles.fail("expects A2/A3 src and dst to use row-major layout")


# ---------------------------------------------------------------------------------------------
# In blocks
# ---------------------------------------------------------------------------------------------

_OUTPUTS = ("exp", "max", "scaling")


def quantize_blocks(tiles: Tiles) -> None:
    """Check `tquant.mx`: along rows (`axis1`) or columns (`axis0`)."""
    if not tiles.is_a5:
        tiles.fail("tquant.mx is only supported on A5")
    tiles.nd("src")
    tiles.nd("dst", low_precision=True)
    tiles.nd(*_OUTPUTS, "exp_zz")
    along_columns = tiles.choice("grpAxis") == "axis0"
    _options(tiles, along_columns)
    kind = tiles.choice("quant_type")
    _block_elements(tiles, kind)
    for name in ("src", "dst", *_OUTPUTS):
        if DYNAMIC in tiles.tile(name).valid_shape:
            tiles.fail(f"expects static valid and physical shapes for {name} in MX quantization")
    if tiles.has("exp_zz") and DYNAMIC in tiles.tile("exp_zz").valid_shape:
        tiles.fail("expects static valid and physical shapes for exp_zz in the deprecated fused MX quantization form")
    source, result = tiles.tile("src"), tiles.tile("dst")
    if logical(result, result.valid_shape) != source.valid_shape:
        tiles.fail("expects src and dst to have the same valid_shape")
    rows, columns = source.valid_shape
    if min(rows, columns) <= 0:
        tiles.fail("expects positive source valid shape within physical shape")
    if (rows if along_columns else columns) % SCALED:
        which, named = (0, "axis0") if along_columns else (1, "axis1")
        tiles.fail(f"expects src valid_shape[{which}] to be a multiple of 32 when grpAxis is {named}")
    if tiles.has("exp_zz") and prod(tiles.tile("exp_zz").valid_shape) != rows * (columns // SCALED):
        tiles.fail("expects exp_zz valid element count to equal MX group count")
    for name in ("max", "scaling") if _interleaves(tiles) else ("max", "scaling", "exp"):
        _grouped(tiles, name, source, along_columns=along_columns)
    if _interleaves(tiles):
        _interleaved(tiles, source)
    packed = 2 if kind == "MXFP4_E2M1" else 1
    if packed > 1 and source.columns % 2:
        tiles.fail("expects MXFP4 src physical cols to be even for packed destination addressing")
    if result.valid_shape != (rows, columns // packed):
        tiles.fail(f"expects dst valid_shape to be [{rows}, {columns // packed}] for MX quantization")
    if result.rows < rows:
        tiles.fail("expects dst physical rows to cover src valid rows")
    if along_columns:
        _down_columns(tiles, source, packed)
    else:
        _along_rows(tiles, source, packed)
    _padding(tiles, source)


def _interleaves(tiles: Tiles) -> bool:
    found = tiles.attribute("interleave")
    return found is not None and not (isinstance(found, IntegerAttr) and not found.value.data)


def _options(tiles: Tiles, along_columns: bool) -> None:
    if _interleaves(tiles) and not along_columns:
        tiles.fail("expects interleave to be used only with grpAxis=axis0")
    if tiles.has("exp_zz") and along_columns:
        tiles.fail(
            "expects the deprecated exp_zz form to use grpAxis=axis1; use pto.tmov with a non-scaling tmp for axis0 "
            "exponents"
        )
    kind = tiles.choice("quant_type")
    if kind not in ("MXFP8", "MXFP4_E2M1"):
        tiles.fail("expects quant_type to be MXFP8 or MXFP4_E2M1")
    stores = tiles.attribute("storeMode") is not None
    if tiles.has("exp_zz") and not stores:
        tiles.fail("expects storeMode when exp_zz is present")
    if stores and not tiles.has("exp_zz"):
        tiles.fail("expects exp_zz when storeMode is present")
    if stores and _algorithm(tiles) != "ocp":
        tiles.fail("storeMode form must not override quantScaleAlg")


def _algorithm(tiles: Tiles) -> str:
    return tiles.choice("quantScaleAlg") or "ocp"


def _block_elements(tiles: Tiles, kind: str | None) -> None:
    source, result = tiles.element("src"), tiles.element("dst")
    if not is_one_of(source, "f32/f16/bf16"):
        tiles.fail("expects src element type to be f32/f16/bf16")
    for name in tiles.present(("exp", "exp_zz")):
        if not is_integer(tiles.element(name), 8):
            tiles.fail(f"expects {name} element type to be i8/ui8")
    for name in ("max", "scaling"):
        if tiles.element(name) != source:
            tiles.fail(f"expects {name} element type to match src element type")
    if kind == "MXFP8" and not is_integer(result, 8):
        tiles.fail("expects MXFP8 dst element type to be i8/ui8")
    if kind == "MXFP4_E2M1":
        if not isinstance(result, F4E2M1x2Type):
            tiles.fail("expects MXFP4_E2M1 dst element type to be !pto.f4E2M1x2")
        if not is_one_of(source, "f16/bf16"):
            tiles.fail("expects MXFP4_E2M1 src element type to be f16/bf16")


def _groups(source: TileBufType) -> int:
    """Return how many blocks there are along rows."""
    rows, columns = source.valid_shape
    return rows * (columns // SCALED)


def _grouped(tiles: Tiles, name: str, source: TileBufType, *, along_columns: bool) -> None:
    rows, columns = source.valid_shape
    valid = tiles.tile(name).valid_shape
    wanted = (rows // SCALED, columns) if along_columns else (rows, columns // SCALED)
    if valid == wanted or (not along_columns and valid == (1, _groups(source))):
        return
    text = "canonical [M, N/32] or legacy flat [1, M*N/32] for grpAxis=axis1"
    if along_columns:
        text = "canonical [M/32, N] for grpAxis=axis0"
    tiles.fail(f"expects {name} valid_shape to match {text}")


_PAIR = 2 * SCALED
"""Rows of two blocks, whose exponents are side by side."""


def _interleaved(tiles: Tiles, source: TileBufType) -> None:
    rows, columns = source.valid_shape
    for number, called in ((rows, "valid"), (source.rows, "physical")):
        if number % _PAIR:
            tiles.fail(f"expects src {called} rows to be a multiple of 64 when interleave is true")
    if tiles.tile("exp").valid_shape != (rows // _PAIR, 2 * columns):
        tiles.fail("expects exp valid_shape to match [M/64, 2N] for grpAxis=axis0 with interleave=true")


def _holds(tiles: Tiles, name: str, count: int) -> None:
    if prod(tiles.tile(name).shape) < count:
        tiles.fail(f"expects {name} physical capacity to cover {count} elements")


def _holds_bytes(tiles: Tiles, called: str, size: int) -> None:
    if (tiles.tile("scaling").bytes or 0) < size:
        tiles.fail(f"expects {called} physical capacity to cover {size} bytes")


def _down_columns(tiles: Tiles, source: TileBufType, packed: int) -> None:
    rows, _ = source.valid_shape
    result, stride = tiles.tile("dst"), source.columns // packed
    if packed > 1 and result.columns != stride:
        tiles.fail("expects MXFP4 axis0 dst physical cols to equal src physical cols / 2")
    _holds(tiles, "dst", (rows - 1) * result.columns + result.valid_shape[1])
    if packed > 1 and stride % SCALED and element_name(source.element_type) == "f16":
        tiles.fail("does not support FP16 MXFP4 axis0 when packed source stride is not a multiple of 32 bytes")
    for name in ("max", "scaling"):
        if tiles.tile(name).columns != source.columns:
            tiles.fail(f"expects {name} physical cols to equal src physical cols for grpAxis=axis0")
        _holds(tiles, name, rows // SCALED * source.columns)
    exponents = tiles.tile("exp")
    if not _interleaves(tiles):
        if exponents.columns != source.columns:
            tiles.fail("expects exp physical cols to equal src physical cols for grpAxis=axis0")
        _holds(tiles, "exp", rows // SCALED * source.columns)
        return
    if exponents.rows != source.rows // _PAIR:
        tiles.fail("expects interleaved exp physical rows to be src physical rows / 64")
    if exponents.columns != -(-2 * source.columns // SCALED) * SCALED:
        tiles.fail("expects interleaved exp physical cols to be align32(2 * src physical cols)")
    if element_name(source.element_type) == "f32":
        tiles.fail("does not support FP32 interleave with the pinned pto-isa revision")


def _along_rows(tiles: Tiles, source: TileBufType, packed: int) -> None:
    rows, columns = source.valid_shape
    result, stride = tiles.tile("dst"), source.columns // packed
    if result.columns != stride:
        kind, over = ("MXFP4", " / 2") if packed > 1 else ("MXFP8", "")
        tiles.fail(f"expects {kind} axis1 dst physical cols to equal src physical cols{over}")
    _holds(tiles, "dst", (rows - 1) * stride + result.valid_shape[1])
    for name in ("max", "scaling"):
        tile = tiles.tile(name)
        if tile.valid_shape[0] != 1 and tile.columns != tile.valid_shape[1]:
            tiles.fail(f"expects {name} valid elements to form a compact physical prefix")
    groups, exponents = _groups(source), tiles.tile("exp")
    _holds(tiles, "max", groups)
    if exponents.rows == 1:
        _flat(tiles, source, exponents, groups)
        return
    if exponents.valid_shape[0] == 1:
        tiles.fail("expects legacy flat exp to use physical rows == 1")
    if element_name(source.element_type) != "f32":
        tiles.fail("does not support axis1 canonical 2D B16 quantization with the pinned pto-isa revision")
    if exponents.valid_shape != (rows, columns // SCALED):
        tiles.fail("expects exp valid_shape to match canonical [M, N/32] for grpAxis=axis1")
    _holds(tiles, "exp", (rows - 1) * exponents.columns + columns // SCALED)
    _holds(tiles, "scaling", groups)


def _flat(tiles: Tiles, source: TileBufType, exponents: TileBufType, groups: int) -> None:
    """Check exponents in one row, which need a source without gaps and whole registers of scales."""
    if source.columns != source.valid_shape[1]:
        tiles.fail("expects axis1 flat exp to use a tight source with physical cols equal to valid cols")
    if exponents.valid_shape != (1, groups):
        tiles.fail("expects axis1 flat exp valid_shape to match legacy flat [1, M*N/32]")
    _holds(tiles, "exp", groups)
    if element_name(source.element_type) == "f32":
        whole, valid = prod(source.shape), source.valid_shape[0] * source.columns
        unrolls = whole > UNROLLED[0] and whole % UNROLLED[1] == 0 and valid % UNROLLED[1] == 0
        scales = groups * (2 if unrolls else 1)
        size = -(-scales // FLOAT_STEP) * FLOAT_STEP * (element_bytes(source.element_type) or 0)
        _holds_bytes(tiles, f"axis1 flat{' unrolled' if unrolls else ''} f32 scaling", size)
    elif _algorithm(tiles) == "ocp":
        size = -(-groups // HALF_STEP) * HALF_STEP * (element_bytes(source.element_type) or 0)
        _holds_bytes(tiles, "axis1 flat B16 OCP scaling", size)
    else:
        tiles.fail("does not support axis1 flat B16 NV quantization with the pinned pto-isa revisions")


def _padding(tiles: Tiles, source: TileBufType) -> None:
    """Check that the padding of rows of 16-bit elements fills whole registers."""
    rows, columns = source.valid_shape
    if element_name(source.element_type) == "f32" or columns == source.columns or HALF_STEP % source.columns:
        return
    if rows * source.columns % HALF_STEP:
        tiles.fail("does not support padded B16 source whose VL-aligned padding store has an incomplete final VL")
