"""The forms of `pto_tile_elements`: which tiles of an operation have to be alike, and their memories and layouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ....operations.pto_tile_elements import ELEMENTS, Form
from ..attributes import AddressSpace, SLayout
from ..types import DYNAMIC, TileBufType, element_bytes
from .tiles import CHIP_NAMES, Tiles, differ, is_dn, is_integer, is_one_of, is_row_major, known

# ---------------------------------------------------------------------------------------------
# Elements
# ---------------------------------------------------------------------------------------------


def check_elements(tiles: Tiles) -> None:
    """Check the form of an operation, then its elements."""
    row = ELEMENTS[tiles.name]
    listed = row.a5 if tiles.is_a5 else row.a2a3
    source = FORMS[row.form](tiles)
    if listed and not is_one_of(tiles.element(source), listed):
        names = {"chip": CHIP_NAMES[tiles.chip], "name": tiles.name, "elements": listed}
        tiles.fail(row.message.format(**names))
    # Some of upstream's verifiers leave that to the templates of the headers, which take no tile of another memory.
    for name, value in tiles.values.items():
        if isinstance(value.type, TileBufType):
            tiles.in_space(name, AddressSpace.VEC)


def _binary(tiles: Tiles) -> str:
    sources = ("base", "exp") if tiles.has("base") else ("src0", "src1")
    tiles.common(*sources, "dst")
    tiles.same_elements(sources[0], sources[1], "dst")
    tiles.same_valid(sources[0], sources[1], "dst")
    tiles.row_major(*sources, "dst")
    return sources[0]


def _shift(tiles: Tiles) -> str:
    tiles.common("src0", "src1", "dst")
    tiles.same_elements("src0", "src1", "dst", text="expects src0, src1, and dst to have the same element type")
    tiles.row_major("src0", "src1", "dst")
    return "src0"


def _scalar(tiles: Tiles) -> str:
    tiles.in_vec("src", "dst")
    tiles.same_elements("src", "dst")
    return "src"


def _scalar_row_major(tiles: Tiles) -> str:
    tiles.common("src", "dst")
    tiles.same_elements("src", "dst")
    tiles.row_major("src", "dst")
    if tiles.type("scalar") != tiles.element("src"):
        tiles.fail("expects scalar type to match the tile element type")
    return "src"


def _scalar_apart(tiles: Tiles) -> str:
    if tiles.values["src"] is tiles.values["dst"]:
        tiles.fail("expects src and dst to use different storage")
    tiles.common("src", "dst")
    tiles.same_elements("src", "dst")
    tiles.row_major("src", "dst")
    return "src"


def _scalar_integers(tiles: Tiles) -> str:
    tiles.common("src", "dst")
    tiles.same_elements("src", "dst")
    return "src"


def _plain(tiles: Tiles) -> str:
    tiles.plain("src", "dst")
    tiles.same_elements("src", "dst")
    return "src"


def _unary_in_vec(tiles: Tiles) -> str:
    tiles.in_vec("src", "dst")
    tiles.same_elements("src", "dst")
    return "src"


# ---------------------------------------------------------------------------------------------
# Reductions
# ---------------------------------------------------------------------------------------------


def _row_source(tiles: Tiles) -> None:
    tiles.nd("src")


def _row_destination(tiles: Tiles) -> None:
    tiles.in_vec("dst")
    result = tiles.tile("dst")
    if result.slayout is not SLayout.NONE_BOX:
        tiles.fail("expects dst to use the none_box slayout")
    if is_dn(result) and result.columns != 1:
        tiles.fail("expects DN-style dst to have shape[1] == 1")


def _row_region(tiles: Tiles, *, may_be_empty: bool) -> None:
    """Check the valid part: nothing at all, or one column that has a row for each of the source."""
    source, result = tiles.tile("src").valid_shape, tiles.tile("dst").valid_shape
    if may_be_empty and result == (0, 0):
        return
    for place in (0, 1):
        if source[place] == 0:
            tiles.fail(f"expects src valid_shape[{place}] to be non-zero")
    if differ(source[0], result[0]):
        tiles.fail("expects src and dst to have the same valid_shape[0]")
    if known(result[1]) and result[1] != 1:
        tiles.fail("expects dst valid_shape[1] to be 1")


def _row_reduction(tiles: Tiles) -> str:
    _row_source(tiles)
    tiles.in_vec("tmp")
    _row_destination(tiles)
    tiles.same_elements("src", "dst")
    if tiles.has("tmp") and not tiles.is_a5:
        tiles.same_elements("src", "tmp", text="expects A2/A3 tmp to have the same element type as src and dst")
    _row_region(tiles, may_be_empty=True)
    if tiles.has("tmp") and not tiles.is_a5:
        tiles.some_capacity("tmp")
    return "src"


def _places(tiles: Tiles) -> None:
    if not is_integer(tiles.element("dst"), 32):
        tiles.fail("expects dst element type to be i32 or ui32")


def _row_place(tiles: Tiles) -> str:
    _row_source(tiles)
    _row_destination(tiles)
    _row_region(tiles, may_be_empty=False)
    _places(tiles)
    return "src"


def _column_region(tiles: Tiles, *, has_source: bool) -> None:
    source, result = tiles.tile("src").valid_shape, tiles.tile("dst").valid_shape
    if result == (0, 0):
        return
    for place in (0, 1):
        if has_source and source[place] == 0:
            tiles.fail(f"expects src valid_shape[{place}] to be non-zero")
    if differ(source[1], result[1]):
        tiles.fail("expects src and dst to have the same valid_shape[1]")


def _column_reduction(tiles: Tiles) -> str:
    tiles.nd("src", "dst")
    tiles.same_elements("src", "dst")
    _column_region(tiles, has_source=tiles.is_a5 and tiles.name != "tcolprod")
    return "src"


def _column_place(tiles: Tiles) -> str:
    tiles.nd("src", "dst")
    if tiles.is_a5:
        tiles.plain("tmp")
    result = tiles.tile("dst").valid_shape
    if known(result[0]) and result[0] != 1:
        tiles.fail("expects dst valid_shape[0] to be 1")
    _column_region(tiles, has_source=True)
    _places(tiles)
    return "src"


# ---------------------------------------------------------------------------------------------
# Elements that are repeated along rows and columns
# ---------------------------------------------------------------------------------------------


def _row_expansion(tiles: Tiles) -> str:
    tiles.common("src")
    tiles.nd("dst")
    tiles.in_space("src", AddressSpace.VEC)
    if tiles.tile("src").slayout is not SLayout.NONE_BOX:
        tiles.fail("expects src to use the none_box slayout")
    tiles.same_elements("src", "dst")
    source, result = tiles.tile("src").valid_shape, tiles.tile("dst").valid_shape
    if result == (0, 0):
        return "src"
    if differ(source[0], result[0]):
        tiles.fail("expects src and dst to have the same valid_shape[0]")
    for name, extents in (("src", source), ("dst", result)):
        for place in (0, 1):
            if extents[place] == 0:
                tiles.fail(f"expects {name} valid_shape[{place}] to be non-zero")
    return "src"


def _column_expansion(tiles: Tiles) -> str:
    tiles.nd("src", "dst")
    tiles.same_elements("src", "dst")
    return "src"


def block_elements(tile: TileBufType) -> int | None:
    """Return how many elements of a tile fill a block of local memory."""
    size = element_bytes(tile.element_type)
    return None if not size else 32 // size


def _row_expansion_of_two(tiles: Tiles) -> str:
    tiles.common("src0", "src1", "dst", "tmp")
    tiles.same_elements("src0", "dst", "src1")
    tiles.row_major("dst")
    if tiles.name == "trowexpandadd":
        if not is_row_major(tiles.tile("src0")):
            tiles.fail("expects src0 to use row-major layout")
        _broadcast(tiles, "src1")
    return "src0"


def _broadcast(tiles: Tiles, name: str) -> None:
    """Check a tile that has an element, or a block of equal ones, for each row of the result."""
    tile = tiles.tile(name)
    rows, columns = tile.valid_shape
    if differ(rows, tiles.tile("dst").valid_shape[0]):
        tiles.fail(f"expects {name} valid_shape[0] to equal dst valid_shape[0]")
    if is_row_major(tile):
        if known(columns) and columns != block_elements(tiles.tile("dst")):
            tiles.fail(f"expects row-major {name} valid_shape[1] to be 32/sizeof(dtype)")
    elif known(columns) and columns != 1:
        tiles.fail(f"expects non-row-major {name} valid_shape[1] to be 1")


def _row_expansion_of_either(tiles: Tiles) -> str:
    tiles.common("src0", "src1", "dst", "tmp")
    tiles.same_elements("dst", "tmp", text="expects tmp and dst to have the same element type")
    tiles.same_elements("dst", "src0", "src1", text="expects src0, src1, and dst to have the same element type")
    tiles.row_major("dst")
    result = tiles.tile("dst").valid_shape
    if result == (0, 0):
        return "dst"
    for place in (0, 1):
        if result[place] == 0:
            tiles.fail(f"expects dst valid_shape[{place}] to be non-zero")
    if not any(_is_whole_and_rows(tiles, *pair) for pair in (("src0", "src1"), ("src1", "src0"))):
        tiles.fail("expects one of src0/src1 to match dst valid_shape and the other to be a per-row scalar vector")
    return "dst"


def _is_whole_and_rows(tiles: Tiles, whole: str, rows: str) -> bool:
    """Return True if one tile is like the result, and the other has an element for each row of it."""
    full, part, result = tiles.tile(whole), tiles.tile(rows), tiles.tile("dst")
    if any(map(differ, full.valid_shape, result.valid_shape)) or not is_row_major(full):
        return False
    if differ(part.valid_shape[0], result.valid_shape[0]):
        return False
    if is_row_major(part):
        columns = block_elements(result)
        return (tiles.is_a5 or not tiles.has("tmp")) and part.valid_shape[1] in (DYNAMIC, columns)
    return part.valid_shape[1] in (DYNAMIC, 1)


def _column_expansion_of_two(tiles: Tiles) -> str:
    tiles.same_shape("src0", "dst", text="expects src0/dst to have same shape")
    for name in ("src0", "src1", "dst"):
        if not is_row_major(tiles.tile(name)):
            tiles.fail(f"expects {name} to use row-major layout")
    if differ(tiles.tile("src1").valid_shape[1], tiles.tile("dst").valid_shape[1]):
        tiles.fail("expects src1 valid_shape[1] to equal dst valid_shape[1]")
    tiles.same_elements("src0", "src1", "dst")
    return "src0"


# ---------------------------------------------------------------------------------------------
# Others
# ---------------------------------------------------------------------------------------------


def _part(tiles: Tiles) -> str:
    """Check tiles of which one, or on a5 both, may have a smaller valid part than the result."""
    same = "expects src0/src1/dst to have the same element type"
    tiles.same_elements("src0", "src1", "dst", text=same)
    if tiles.name not in ("tpartadd", "tpartmul"):
        tiles.same_shape("src0", "src1", "dst")
    result = tiles.tile("dst").valid_shape
    sources = [tiles.tile(name).valid_shape for name in ("src0", "src1")]
    if any(DYNAMIC not in pair and pair[0] > pair[1] for each in sources for pair in zip(each, result, strict=True)):
        tiles.fail("expects src0/src1 valid_shape to be less than or equal to dst valid_shape")
    needs_whole = not tiles.is_a5 or tiles.name.startswith("tpartarg")
    if needs_whole and all(any(map(differ, each, result)) for each in sources):
        tiles.fail("expects at least one of src0/src1 valid_shape to match dst valid_shape")
    if tiles.has("dstIdx"):
        _part_places(tiles)
    return "src0"


def _part_places(tiles: Tiles) -> None:
    places = ("src0Idx", "src1Idx", "dstIdx")
    tiles.same_elements(*places, text="expects src0Idx/src1Idx/dstIdx to have the same element type")
    if not is_integer(tiles.element("dstIdx"), 32):
        tiles.fail("expects src0Idx/src1Idx/dstIdx element type to be i32 or ui32")
    tiles.same_shape("src0", *places, text="expects data and index operands to have the same shape")
    for name in ("src0", "src1", "dst"):
        if tiles.tile(name).valid_shape != tiles.tile(f"{name}Idx").valid_shape:
            tiles.fail("expects each data operand and its index operand to have the same valid_shape")


def _sort(tiles: Tiles) -> str:
    tiles.plain("src", "dst", "idx", "tmp")
    tiles.same_elements("src", "dst")
    if not is_integer(tiles.element("idx"), 32):
        tiles.fail("expects idx element type to be i32/u32")
    return "src"


def _select(tiles: Tiles) -> str:
    tiles.common("src0", "src1", "dst")
    tiles.plain("tmp")
    tiles.same_elements("src0", "src1", "dst", text="expects src0, src1, and dst to have the same element type")
    tiles.row_major("src0", "src1", "dst")
    return "src0"


def _select_scalar(tiles: Tiles) -> str:
    tiles.common("mask", "src", "dst", "tmp")
    tiles.same_elements("src", "dst")
    tiles.same_valid("src", "dst")
    tiles.row_major(*(("mask",) if tiles.is_a5 else ()), "src", "dst")
    return "src"


def _compare(tiles: Tiles) -> str:
    sources = ("src0", "src1")
    if tiles.is_a5:
        tiles.common(*sources, "dst")
    else:
        tiles.in_vec(*sources, "dst")
    tiles.same_elements(*sources)
    if not is_integer(tiles.element("dst"), 8):
        tiles.fail("expects dst element type to be i8")
    if tiles.is_a5:
        tiles.same_shape(*sources, "dst", text="expects src0, src1, and dst to have the same shape")
        return "src0"
    first, second, result = (tiles.tile(name).valid_shape for name in (*sources, "dst"))
    for place, called in ((0, "row"), (1, "column")):
        if differ(first[place], second[place]):
            tiles.fail(f"expects src0 and src1 to have the same valid {called}")
    if differ(first[0], result[0]):
        tiles.fail("expects src0 valid row to equal dst valid row")
    return "src0"


def _compare_scalar(tiles: Tiles) -> str:
    tiles.in_vec("src", "dst")
    if differ(tiles.tile("src").valid_shape[0], tiles.tile("dst").valid_shape[0]):
        tiles.fail("expects src and dst to have the same valid_shape[0]")
    return "src"


def _transposition(tiles: Tiles) -> str:
    tiles.common("src", "dst", "tmp")
    same = "expects src, tmp, and dst to have the same element type"
    if not tiles.is_a5:
        same = "expects src and dst to have the same element type"
    tiles.same_elements("src", "dst", "tmp", text=same)
    if not tiles.is_a5:
        if not is_row_major(tiles.tile("src")):
            tiles.fail("expects A2/A3 transpose src to use the row_major blayout")
    if element_bytes(tiles.element("src")) not in (1, 2, 4):
        tiles.fail("expects transpose element size to be 1, 2, or 4 bytes")
    for name in ("src", "dst") if tiles.is_a5 else ():
        tile = tiles.tile(name)
        major = tile.columns if is_row_major(tile) else tile.rows
        per_block = block_elements(tile)
        if per_block is not None and major % per_block:
            tiles.fail(f"expects {name} major dimension times element size to be 32-byte aligned on A5")
    return "src"


def _concatenation(tiles: Tiles) -> str:
    names = ("src0", "src1", "dst")
    tiles.common(*names)
    tiles.same_elements(*names, text="expects src0, src1, and dst to have the same element type")
    for name in names:
        if tiles.tile(name).location is not AddressSpace.VEC:
            tiles.fail(f"expects {name} to use loc=vec")
    if tiles.is_a5:
        tiles.row_major(*names)
    return "src0"


def _triangle(tiles: Tiles) -> str:
    tiles.plain("dst")
    return "dst"


FORMS: Mapping[Form, Callable[[Tiles], str]] = {
    "binary": _binary,
    "shift": _shift,
    "scalar": _scalar,
    "scalar_row_major": _scalar_row_major,
    "scalar_apart": _scalar_apart,
    "scalar_plain": _plain,
    "scalar_integers": _scalar_integers,
    "unary": _plain,
    "unary_in_vec": _unary_in_vec,
    "row_reduction": _row_reduction,
    "row_place": _row_place,
    "column_reduction": _column_reduction,
    "column_place": _column_place,
    "row_expansion": _row_expansion,
    "row_expansion_of_two": _row_expansion_of_two,
    "row_expansion_of_either": _row_expansion_of_either,
    "column_expansion": _column_expansion,
    "column_expansion_of_two": _column_expansion_of_two,
    "part": _part,
    "sort": _sort,
    "select": _select,
    "select_scalar": _select_scalar,
    "compare": _compare,
    "compare_scalar": _compare_scalar,
    "transposition": _transposition,
    "concatenation": _concatenation,
    "triangle": _triangle,
}
"""The check of each form; it returns the name of the tile whose elements count."""
