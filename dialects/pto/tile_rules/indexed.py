"""Elements that are gathered, scattered, merged or counted: forms of these operations, indices and scratch."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, VectorType
from xdsl.ir import Attribute

from ....targets.tile_limits import HISTOGRAM_BINS, MERGED_STEP
from ..attributes import Layout, SLayout
from ..memory import MakeTensorViewOp, PartitionViewOp, constant_value
from ..types import DYNAMIC, PartitionTensorViewType, TileBufType, element_bytes
from .forms import block_elements
from .moves import BOX_BYTES
from .scratch import axis
from .tiles import (
    AddressSpace,
    Tiles,
    differ,
    element_name,
    is_dn,
    is_float8,
    is_hif8,
    is_integer,
    is_nd,
    is_nz,
    is_one_of,
    is_row_major,
    known,
)

_ALL = "i8/i16/i32/f16/bf16/f32"
_GATHERED = "i8/ui8/i16/ui16/i32/ui32/f16/bf16/f32"
_FACTORS = {"P1111": 1, "P0101": 2, "P1010": 2}
_LEAST_FACTOR = 4
"""How many elements there are for each that a pattern takes; four for the patterns not named."""


def _pattern(tiles: Tiles, few: str, many: str) -> None:
    """Check the extents of tiles of which one has the elements of the other that a pattern takes."""
    along = 1 if axis(tiles) == "row" else 0
    factor = _FACTORS.get(tiles.choice("maskPattern") or "", _LEAST_FACTOR)
    called = ("rows", "cols")
    small, large = tiles.tile(few).valid_shape, tiles.tile(many).valid_shape
    direction = "row" if along else "col"
    across = 1 - along
    if differ(small[across], large[across]):
        tiles.fail(f"expects dst valid {called[across]} to equal src valid {called[across]} for {direction} direction")
    if known(small[along]) and differ(small[along] * factor, large[along]):
        tiles.fail(
            f"expects {many} valid {called[along]} to equal {few} valid {called[along]} times the mask expansion "
            f"factor for {direction} direction"
        )


def _whole_columns(tiles: Tiles, *names: str) -> None:
    for name in names:
        tile = tiles.tile(name)
        if differ(tile.valid_shape[1], tile.columns):
            tiles.fail(f"expects {name} valid_shape[1] to equal {'dst' if name == 'dst' else name} cols")


# ---------------------------------------------------------------------------------------------
# Within tiles
# ---------------------------------------------------------------------------------------------


def gather(tiles: Tiles) -> None:
    """Check `tgather`: by a pattern, by a comparison with a number, or by indices."""
    extra = {name: tiles.type(name) for name in tiles.values if name.startswith("extra")}
    numbers = [name for name, type in extra.items() if not isinstance(type, TileBufType)]
    others = [name for name in extra if name not in numbers]
    if tiles.attribute("maskPattern") is not None:
        if extra or tiles.has("cdst"):
            tiles.fail("mask-pattern tgather only allows src and dst operands")
        _gather_pattern(tiles)
        return
    if tiles.attribute("axis") is not None:
        tiles.fail("axis attribute must not be provided without maskPattern")
    if tiles.has("cdst") or numbers:
        if not tiles.has("cdst") or len(numbers) != 1 or not others:
            tiles.fail("compare-form tgather expects dst, cdst, kValue, and tmp")
        if len(others) > 1:
            tiles.fail("compare-form tgather does not take indices")
        _gather_compared(tiles, numbers[0], others[0])
        return
    if not others:
        tiles.fail("index-form tgather expects indices")
    if not tiles.is_a5 and len(others) == 1:
        tiles.fail("index-form tgather expects both indices and tmp")
    _gather_indexed(tiles, others[0], others[1] if len(others) > 1 else None)


def _gather_pattern(tiles: Tiles) -> None:
    tiles.common("src", "dst", low_precision=tiles.is_a5)
    tiles.row_major("src", "dst")
    if any(tiles.tile(name).location is not AddressSpace.VEC for name in ("src", "dst")):
        tiles.fail("expects src and dst to be in the vec address space")
    source, result = tiles.element("src"), tiles.element("dst")
    if element_bytes(source) != element_bytes(result):
        tiles.fail("expects src and dst element sizes to match")
    _whole_columns(tiles, "dst")
    _pattern(tiles, "dst", "src")
    if not tiles.is_a5 and element_bytes(source) not in (2, 4):
        tiles.fail("expects A2/A3 mask-pattern gather element size to be 2 or 4 bytes")
    if tiles.is_a5 and element_bytes(source) not in (1, 2, 4):
        tiles.fail("expects A5 mask-pattern gather element size to be 1, 2, or 4 bytes")
    if tiles.is_a5 and not all(is_one_of(e, _ALL) or str(e).startswith("f8") or is_hif8(e) for e in (source, result)):
        tiles.fail("expects A5 mask-pattern gather src/dst element type to be i8/i16/i32/f16/bf16/f32/fp8-like")


def _gather_indexed(tiles: Tiles, indices: str, scratch: str | None) -> None:
    tiles.common("src", "dst", low_precision=tiles.is_a5)
    tiles.common(*(name for name in (indices, scratch) if name is not None))
    tiles.same_elements("src", "dst")
    element, index = tiles.element("src"), tiles.tile(indices)
    if tiles.is_a5 and not (is_one_of(element, "i8/i16/i32/f16/f32") or is_float8(element)):
        tiles.fail("expects A5 gather src/dst element type to be i8/i16/i32/f16/f32")
    if not tiles.is_a5 and not is_one_of(element, "i16/i32/f16/f32"):
        tiles.fail("expects gather src/dst element type to be i16/i32/f16/f32")
    places: Attribute = index.element_type
    if not element_name(places).startswith("i"):
        tiles.fail("indices element type must be integer")
    if not is_one_of(places, "i32/i16" if tiles.is_a5 else "i32"):
        tiles.fail(f"expects indices element type to be i32{' or i16' if tiles.is_a5 else ''}")
    _whole_columns(tiles, "dst")
    if differ(index.valid_shape[1], index.columns):
        tiles.fail("expects indices valid_shape[1] to equal indices cols")
    if not tiles.is_a5 and scratch is not None:
        tmp = tiles.tile(scratch)
        if tmp.element_type != places:
            tiles.fail("expects tmp and indices to have the same element type")
        if any(map(differ, tmp.valid_shape, index.valid_shape)):
            tiles.fail("expects indices and tmp to have the same valid_shape")


def _gather_compared(tiles: Tiles, number: str, scratch: str) -> None:
    tiles.common("src", "dst", "cdst", scratch)
    element, result = tiles.element("src"), tiles.element("dst")
    if not is_integer(result, 32):
        tiles.fail("expects dst element type to be i32")
    if tiles.element("cdst") != result:
        tiles.fail("expects cdst to have the same element type as dst")
    if tiles.type(number) != element:
        tiles.fail("expects kValue to have the same type as src element type")
    mode = tiles.choice("cmpMode") or "eq"
    if mode not in ("eq", "gt"):
        tiles.fail("expects compare-form tgather cmpMode to be eq or gt")
    if tiles.is_a5 and not is_one_of(element, "i16/i32/f16/f32"):
        tiles.fail("expects A5 compare-form tgather src element type to be i16/i32/f16/f32")
    if not tiles.is_a5 and not is_one_of(element, "f16/f32/i32" if mode == "eq" else "f16/f32"):
        tiles.fail("expects A2/A3 compare-form tgather src element type to be f16/f32, or i32 when cmpMode=eq")
    tiles.plain("src", "dst", "cdst", scratch)


def gather_blocks(tiles: Tiles) -> None:
    """Check `tgatherb`."""
    tiles.common("src", "offsets", "dst")
    if not tiles.is_a5:
        if not is_row_major(tiles.tile("dst")):
            tiles.fail("expects dst to use row-major layout")
    if element_bytes(tiles.element("dst")) not in (1, 2, 4):
        tiles.fail("expects dst element size to be 1, 2, or 4 bytes")


def scatter(tiles: Tiles) -> None:
    """Check `tscatter`: by a pattern, or by indices."""
    has_pattern = tiles.attribute("maskPattern") is not None
    if tiles.has("indexes") is has_pattern:
        tiles.fail("expects exactly one of indexes operand or maskPattern attribute")
    if tiles.has("indexes") and tiles.attribute("axis") is not None:
        tiles.fail("axis attribute must not be provided with indexes operand")
    tiles.plain("src", "indexes", "dst")
    text = "expects src/dst to have the same element type"
    tiles.same_elements("src", "dst", text=text if tiles.has("indexes") else "")
    element = tiles.element("src")
    if not is_one_of(element, _ALL):
        tiles.fail("expects src/dst element type to be i8/i16/i32/f16/bf16/f32")
    if has_pattern:
        _pattern(tiles, "src", "dst")
        return
    index = tiles.element("indexes")
    if not is_one_of(index, "i16/i32"):
        tiles.fail("expects indexes element type to be i16/i32")
    if element_bytes(index) != max(2, element_bytes(element) or 0):
        tiles.fail("expects indexes element size to match the documented scatter rule")
    source, places, result = (tiles.tile(name).valid_shape for name in ("src", "indexes", "dst"))
    if any(map(differ, source, places)):
        tiles.fail("expects src and indexes to have the same valid_shape")
    if any(DYNAMIC not in pair and pair[1] < pair[0] for pair in zip(source, result, strict=True)):
        tiles.fail("expects dst valid_shape to be >= src valid_shape")


def merge(tiles: Tiles) -> None:
    """Check `tmrgsort`: of the lists of one tile, or of two to four tiles."""
    sources = [name for name in tiles.values if name.startswith("srcs")]
    results = [name for name in tiles.values if name.startswith("dsts")]
    numbers = [name for name in sources if not isinstance(tiles.type(name), TileBufType)]
    if len(numbers) == 1 and len(sources) == 2 and len(results) == 1:
        _merge_parts(tiles, sources[0], results[0], numbers[0])
    elif not numbers and len(results) == 2 and isinstance(tiles.type(results[1]), VectorType):
        no_scratch = tiles.attribute("no_tmp") is not None
        _merge_tiles(tiles, sources if no_scratch else sources[:-1], None if no_scratch else sources[-1], results)
    else:
        tiles.fail(
            "tmrgsort expects format1 (1 src + blockLen + 1 dst) or format2 (2 to 4 srcs + tmp, outs dst, excuted)"
        )


def _merge_parts(tiles: Tiles, source: str, result: str, length: str) -> None:
    first, last = tiles.tile(source), tiles.tile(result)
    if first.element_type != last.element_type:
        tiles.fail("expects src/dst to have the same element type")
    if not is_one_of(first.element_type, "f16 or f32"):
        tiles.fail("expects element type to be f16 or f32")
    for name, tile in (("src", first), ("dst", last)):
        if tile.rows != 1:
            tiles.fail(f"expects {name} rows == 1")
    if first.columns != last.columns:
        tiles.fail("expects src/dst cols to match")
    value = constant_value(tiles.values[length])
    if value is not None and (value <= 0 or value % MERGED_STEP):
        tiles.fail(f"expects blockLen > 0 and multiple of {MERGED_STEP}")


_MOST_LISTS = 4


def _merge_tiles(tiles: Tiles, sources: list[str], scratch: str | None, results: list[str]) -> None:
    if not 2 <= len(sources) <= _MOST_LISTS:
        tiles.fail("format2 expects 2 to 4 srcs")
    if str(tiles.type(results[1])) != f"vector<{_MOST_LISTS}xi16>":
        tiles.fail("format2 excuted must be vector<4xi16>")
    result, tmp = tiles.tile(results[0]), None if scratch is None else tiles.tile(scratch)
    if tmp is not None and tmp.element_type != result.element_type:
        tiles.fail("format2 expects dst/tmp element types to match")
    if result.rows != 1 or (tmp is not None and tmp.rows != 1):
        tiles.fail("format2 expects dst/tmp rows == 1")
    if tmp is not None and tmp.columns < result.columns:
        tiles.fail("format2 expects tmp.cols >= dst.cols")
    for name in sources:
        if tiles.tile(name).rows != 1:
            tiles.fail("format2 expects src rows == 1")
        if tiles.element(name) != result.element_type:
            tiles.fail("format2 expects src/dst/tmp element types to match")
    valid = [tiles.tile(name).valid_shape[1] for name in sources]
    total = sum(valid)
    if tmp is not None and DYNAMIC not in valid and tmp.columns < total:
        tiles.fail(f"format2 expects tmp.cols >= sum(src.cols) = {total}")


# ---------------------------------------------------------------------------------------------
# In global memory
# ---------------------------------------------------------------------------------------------


def _payload(tiles: Tiles, element: Attribute) -> bool:
    return is_one_of(element, _ALL) or (tiles.is_a5 and (is_hif8(element) or is_float8(element)))


def tensor_operand(tiles: Tiles, name: str, element: Attribute, like: str) -> None:
    """Check a part of a tensor, which has to have its elements row by row."""
    if tiles.element(name) != element:
        tiles.fail(f"expects {name} element type to match {like} element type")
    if not isinstance(tiles.type(name), PartitionTensorViewType):
        tiles.fail(f"expects {name} to be !pto.partition_tensor_view")
    part = tiles.values[name].owner
    tensor = part.source.owner if isinstance(part, PartitionViewOp) else None
    if isinstance(tensor, MakeTensorViewOp) and tensor.layout is not None and tensor.layout.data is not Layout.ND:
        tiles.fail(f"expects {name} partition view to use ND logical layout when layout can be inferred")


def _index_tile(tiles: Tiles) -> None:
    tiles.in_vec("idx")
    if tiles.tile("idx").slayout is not SLayout.NONE_BOX:
        tiles.fail("expects idx to use the none_box slayout")
    if not is_integer(tiles.element("idx"), 32):
        tiles.fail("expects idx element type to be signless i32")


def _indexed_shape(tiles: Tiles, name: str) -> None:
    """Check that there is an index for each row, or for each element."""
    data, index = tiles.tile(name).valid_shape, tiles.tile("idx").valid_shape
    rows = is_row_major(tiles.tile("idx"))
    few = (DYNAMIC, 0, 1)
    by_element = not any(map(differ, index, data))
    match tiles.choice("coalesce"):
        case None:
            if not by_element and not (rows and not differ(index[0], data[0]) and index[1] in few):
                tiles.fail(
                    f"expects idx valid_shape to be [{name}.valid_row, 0|1] or match {name} valid_shape when coalesce "
                    "is omitted"
                )
        case "row":
            along = rows and index[0] in few and not differ(index[1], data[0])
            down = not rows and not differ(index[0], data[0]) and index[1] in few
            if not along and not down:
                tiles.fail(
                    f"expects row-coalesce idx valid_shape to be [0|1, {name}.valid_row] or [{name}.valid_row, 0|1]"
                )
        case _:
            if not by_element:
                tiles.fail(f"expects elem-coalesce idx valid_shape to match {name} valid_shape")


def scatter_to_memory(tiles: Tiles) -> None:
    """Check `mscatter`."""
    tiles.nd("src", low_precision=tiles.is_a5)
    tiles.in_vec("idx")
    element = tiles.element("src")
    if not _payload(tiles, element):
        tiles.fail(
            f"expects src element type to be {_GATHERED} (and on A5 targets also float8_e4m3/float8_e5m2 family types)"
        )
    _index_tile(tiles)
    tensor_operand(tiles, "mem", element, "src")
    _indexed_shape(tiles, "src")
    atomic, conflict = tiles.choice("scatterAtomicOp"), tiles.attribute("scatterConflict")
    if tiles.choice("coalesce") is None:
        if (
            atomic not in (None, "none")
            or tiles.choice("scatterOob") not in (None, "undefined")
            or conflict is not None
        ):
            tiles.fail("expects coalesce when scatterAtomicOp/scatterOob/scatterConflict is specified")
    if conflict is not None and not tiles.is_a5:
        tiles.fail("expects scatterConflict only on A5 targets")
    listed = {"add": "f16/f32/i32", "max": "f32/i32", "min": "f32/i32"}.get(atomic or "")
    if listed is not None and not is_one_of(element, listed):
        tiles.fail(
            "expects scatterAtomicOp-compatible src element type: add supports i32/ui32/f16/f32, max/min support "
            "signless i32/f32"
        )


def gather_from_memory(tiles: Tiles) -> None:
    """Check `mgather`."""
    if tiles.attribute("coalesce") is None:
        tiles.fail("requires attribute 'coalesce'")
    target = tiles.type("dst")
    if isinstance(target, TileBufType) and target.location is AddressSpace.MAT:
        _gather_to_cube(tiles, target)
        return
    if tiles.has("scratch"):
        tiles.fail("expects scratch operand only on GM->L1 (loc=mat) mgather")
    tiles.nd("dst", low_precision=tiles.is_a5)
    tiles.in_vec("idx")
    element = tiles.element("dst")
    if not _payload(tiles, element):
        tiles.fail(
            f"expects dst element type to be {_GATHERED} (and on A5 targets also float8_e4m3/float8_e5m2 family types)"
        )
    _index_tile(tiles)
    tensor_operand(tiles, "mem", element, "dst")
    _indexed_shape(tiles, "dst")
    if tiles.choice("gatherOob") not in (None, "undefined") and tiles.choice("coalesce") is None:
        tiles.fail("expects coalesce when gatherOob is specified")


def _gather_to_cube(tiles: Tiles, target: TileBufType) -> None:
    what, element = "GM->L1 mgather", target.element_type
    if not is_nz(target):
        tiles.fail(f"expects {what} dst (loc=mat) to use blayout=col_major and slayout=row_major (NZ)")
    if target.fractal.data != BOX_BYTES:
        tiles.fail(f"expects {what} dst fractal size to be 512")
    if not _payload(tiles, element):
        tiles.fail(f"expects {what} dst element type to be {_GATHERED}")
    per_block = block_elements(target)
    if per_block is not None and target.columns % per_block:
        tiles.fail(f"expects {what} dst padded cols to be a multiple of {per_block} (C0 = 32 / sizeof(elem))")
    if target.rows % 16:
        tiles.fail(f"expects {what} dst padded rows to be a multiple of 16 (FRACTAL_NZ_ROW)")
    tensor_operand(tiles, "mem", element, "dst")
    if isinstance(tiles.type("idx"), TileBufType):
        tiles.fail(f"expects {what} idx to be a GM tensor partition_tensor_view, not a tile_buf")
    if not isinstance(tiles.type("idx"), PartitionTensorViewType):
        tiles.fail(f"expects {what} idx to be a partition_tensor_view")
    if not is_integer(tiles.element("idx"), 32):
        tiles.fail(f"expects {what} idx element type to be i32")
    match tiles.choice("coalesce"):
        case None:
            tiles.fail(f"expects {what} to specify an explicit coalesce attribute (row or elem)")
        case "elem":
            if not tiles.has("scratch"):
                tiles.fail(f"expects {what} with coalesce=elem to provide a GM scratch operand")
            if not isinstance(tiles.type("scratch"), PartitionTensorViewType):
                tiles.fail(f"expects {what} scratch to be a partition_tensor_view")
            if tiles.element("scratch") != element:
                tiles.fail(f"expects {what} scratch element type to match dst element type")
        case _:
            if tiles.has("scratch"):
                tiles.fail(f"expects {what} with coalesce=row to omit the scratch operand")


# ---------------------------------------------------------------------------------------------
# Counts
# ---------------------------------------------------------------------------------------------

_LAST_BYTE = 3


def _byte(tiles: Tiles) -> int:
    """Return which byte of an element is counted, the lowest being 0."""
    given, older = tiles.attribute("byte"), tiles.attribute("isMSB")
    number = 1
    if isinstance(given, IntegerAttr):
        number = given.value.data
        number -= 1 << 64 if number >= 1 << 63 else 0
    if isinstance(older, IntegerAttr):
        second = int(bool(older.value.data))
        if given is not None and number != second:
            tiles.fail("does not allow conflicting 'byte' and legacy 'isMSB' attributes")
        number = second
    if not 0 <= number <= _LAST_BYTE:
        tiles.fail(f"expects byte to be in range [0, {_LAST_BYTE}]")
    return number


def histogram(tiles: Tiles) -> None:
    """Check `thistogram`: of a byte of elements of which the higher bytes are given."""
    byte = _byte(tiles)
    if not tiles.is_a5:
        tiles.fail("thistogram is only supported on A5")
    tiles.in_vec("src", "idx", "dst")
    source, index, result = (tiles.tile(name) for name in ("src", "idx", "dst"))
    for name in ("src", "dst"):
        if not is_nd(tiles.tile(name)):
            tiles.fail(f"expects {name} to use row_major + none_box layout")
    if not is_integer(source.element_type, 16, 32):
        tiles.fail("expects src element type to be ui16 or ui32")
    if not is_integer(index.element_type, 8):
        tiles.fail("expects idx element type to be ui8")
    if not is_integer(result.element_type, 32):
        tiles.fail("expects dst element type to be ui32")
    if source.rows != result.rows or differ(source.valid_shape[0], result.valid_shape[0]):
        tiles.fail("expects dst rows and valid rows to match src")
    if is_integer(source.element_type, 16):
        _histogram_of_halves(tiles, byte, source, index)
    elif byte != _LAST_BYTE:
        _histogram_of_words(tiles, byte, source, index)
    if result.columns < HISTOGRAM_BINS:
        tiles.fail(f"expects dst shape[1] to be at least {HISTOGRAM_BINS}")
    if known(result.valid_shape[1]) and 0 < result.valid_shape[1] < HISTOGRAM_BINS:
        tiles.fail(f"expects dst valid_shape[1] to be 0 or at least {HISTOGRAM_BINS}")


def _histogram_of_halves(tiles: Tiles, byte: int, source: TileBufType, index: TileBufType) -> None:
    which = "when src element type is ui16"
    if byte > 1:
        tiles.fail(f"expects byte to be 0 or 1 {which}")
    if not is_dn(index):
        tiles.fail(f"expects idx to use DN layout (col_major + none_box) {which}")
    if source.rows != index.rows or differ(source.valid_shape[0], index.valid_shape[0]):
        tiles.fail(f"expects idx rows and valid rows to match src {which}")
    if index.columns != 1 or index.valid_shape[1] not in (DYNAMIC, 0, 1):
        tiles.fail(f"expects idx to have exactly one physical column and 0 or 1 valid column {which}")


def _histogram_of_words(tiles: Tiles, byte: int, source: TileBufType, index: TileBufType) -> None:
    which = "when src element type is ui32 and byte is 0, 1, or 2"
    if not is_nd(index):
        tiles.fail(f"expects idx to use row_major + none_box layout {which}")
    if source.columns != index.columns or differ(source.valid_shape[1], index.valid_shape[1]):
        tiles.fail(f"expects idx cols and valid cols to match src {which}")
    rows = _LAST_BYTE - byte
    if index.rows != rows or (index.valid_shape[0] and differ(index.valid_shape[0], rows)):
        tiles.fail(
            f"expects idx rows to match the byte-selected filter depth and idx valid rows to be 0 or match it {which}"
        )


def random(tiles: Tiles) -> None:
    """Check `trandom`."""
    if not tiles.is_a5:
        tiles.fail("trandom is only supported for A5 targets")
    tiles.common("dst")
    tiles.row_major("dst")
    if not is_integer(tiles.element("dst"), 32):
        tiles.fail("expects dst element type to be i32 or ui32")
    for name in ("key0", "key1", "counter0", "counter1", "counter2", "counter3"):
        if not is_integer(tiles.type(name), 32):
            tiles.fail(f"expects {name} to be i32/ui32")
    rounds = tiles.attribute("rounds")
    if isinstance(rounds, IntegerAttr) and rounds.value.data not in (7, 10):
        tiles.fail("expects rounds to be 7 or 10")


def concatenation(tiles: Tiles) -> None:
    """Check `tconcatidx`: tiles side by side, by a length for each row."""
    data, lengths = ("src0", "src1", "dst"), ("src0Idx", "src1Idx")
    tiles.common(*data, *lengths)
    tiles.same_elements(*data, text="expects src0, src1, and dst to have the same element type")
    tiles.same_elements(*lengths)
    rows = tiles.tile("dst").valid_shape[0]
    for name in ("src0", "src1", *lengths):
        if differ(tiles.tile(name).valid_shape[0], rows):
            tiles.fail(f"expects {name} valid row to match dst valid row")
    for name in lengths:
        if tiles.tile(name).valid_shape[1] == 0:
            tiles.fail(f"expects {name} valid_col >= 1")
    for name in (*data[:2], *lengths, "dst"):
        if tiles.tile(name).location is not AddressSpace.VEC:
            tiles.fail(f"expects {name} to use loc=vec")
    if tiles.is_a5 and not all(is_row_major(tiles.tile(name)) for name in (*data, *lengths)):
        tiles.fail("expects all operands to use row-major layout")
    if not is_one_of(tiles.element("dst"), _ALL):
        tiles.fail("expects data element type to be i8, i16, i32, f16, f32, or bf16")
    if not is_one_of(tiles.element(lengths[0]), "i8/i16/i32"):
        tiles.fail("expects index element type to be i8, i16, or i32")


def shown(tiles: Tiles) -> None:
    """Check `tprint`: a tile, or a part of a tensor; a tile of other memories by way of one."""
    source = tiles.type("src")
    if not isinstance(source, TileBufType):
        if tiles.has("tmp"):
            tiles.fail("expects tmp only when src is a tile_buf")
        return
    if not is_one_of(source.element_type, "f16/f32/i8/i16/i32"):
        tiles.fail("expects printable tile element type")
    if not tiles.has("tmp"):
        return
    if source.location is AddressSpace.MAT and tiles.is_a5:
        tiles.fail("expects mat tile printing with tmp only on A2/A3 targets")
    if source.location not in (AddressSpace.VEC, AddressSpace.MAT, AddressSpace.ACC):
        tiles.fail("expects printable tile_buf with tmp to be in vec/mat/acc address space")
    tensor_operand(tiles, "tmp", source.element_type, "tmp")


def sums(tiles: Tiles) -> None:
    """Check `taxpy`, `taddc` and its kin: tiles of one shape."""
    if tiles.name == "taxpy":
        tiles.plain("src", "dst")
        tiles.same_valid("src", "dst")
        element, result = tiles.element("src"), tiles.element("dst")
        if tiles.type("scalar") != element:
            tiles.fail("expects scalar type to match src element type")
        tiles.same_shape("src", "dst", text="expects src and dst to have the same shape")
        if element != result and (element_name(element), element_name(result)) != ("f16", "f32"):
            tiles.fail("expects dst/src element types to match, or dst=f32 and src=f16")
        listed = "f16/bf16/f32" if tiles.is_a5 else "f16/f32"
        for name, each in (("dst", result), ("src", element)):
            if not is_one_of(each, listed):
                tiles.fail(f"expects {{chip}} taxpy {name} element type to be {listed}")
    elif tiles.name in ("taddc", "taddsc"):
        tiles.same_shape(*(name for name in ("src0", "src1", "src2", "dst") if tiles.has(name)))
