"""Instructions of the tables as operations of `flow`, one function each, found by name.

What orders the pipelines of one core, or its caches, needs no counterpart: a core's operations take place one after the
other here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import BoolAttr, IndexType, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, SSAValue

from ...analysis.pto.local_memory import tile_strides
from ...analysis.pto.pipe_ends import refusal
from ...dialects import flow
from ...dialects.pto.attributes import ReluPreModeAttr
from ...dialects.pto.instructions import InstructionOp
from ...dialects.pto.registers import LocalArrayType
from ...dialects.pto.types import PtrType, TileBufType, element_bytes
from .emission import Emitter
from .handles import Handles, lowered
from .tile_operations import CONVERTER, TileOperations, ui32
from .views import Number, View

WITHOUT_EFFECT = frozenset(
    (
        "set_flag", "wait_flag", "set_flag_dyn", "wait_flag_dyn", "record_event", "wait_event", "barrier_sync",
        "get_buf", "rls_buf", "get_buf_dyn", "rls_buf_dyn", "mem_bar", "dsb", "dcci", "cmo.cacheinvalid",
        "fence.barrier_all", "tsync", "tprefetch", "declare_eventid_array", "eventid_array_set",
    )
)  # fmt: skip
"""What orders the instructions of one core, or moves data between memory and its caches."""


@dataclass
class Instructions:
    """Lowers the instructions of one kernel.

    `spaces` collects the bytes of the spaces made for it alone, and `bind` binds a tile to a view.
    """

    emitter: Emitter
    handles: Handles
    tiles: TileOperations
    spaces: dict[str, int]
    bind: Callable[[SSAValue, View], None]
    arrays: dict[SSAValue, View] = field(default_factory=dict[SSAValue, View])
    """The arrays of the scalar unit that have been declared."""

    def lower(self, op: InstructionOp) -> None:
        """Lower an instruction; raises LoomError if it has no counterpart."""
        name = op.row.name
        if name in WITHOUT_EFFECT:
            return
        lower = _LOWERINGS.get(name)
        if lower is None:
            raise refusal(op, _reason(name))
        lower(self, op)


def _reason(name: str) -> str:
    if name.startswith("comm.") or "async" in name:
        return "needs several devices, and a run here has one; run the kernel without it"
    if name.startswith(("sync.", "set_cross", "wait_cross", "set_intra", "wait_intra")):
        return "orders cores by flags, which has no counterpart in `flow`; use pipes or pto.syncall"
    return "has no counterpart in `flow`; use operations on tiles and pipes, arith, math and scf"


def _given(op: InstructionOp, name: str) -> SSAValue:
    value = op.operand(name)
    assert value is not None
    return value


# ---------------------------------------------------------------------------------------------
# Single elements
# ---------------------------------------------------------------------------------------------


def _element_of_tile(kernel: Instructions, op: InstructionOp, tile: str) -> View:
    """Return the element of a tile that is an offset in elements from its first."""
    handle = _given(op, tile)
    view = kernel.handles.view(handle)
    size = element_bytes(view.element)
    if size is None:
        raise refusal(op, f"uses elements of type {view.element}, whose size is unknown")
    type = handle.type
    assert isinstance(type, TileBufType)
    offset = kernel.handles.number(_given(op, "offset"))
    kernel.emitter.within(offset, 1, prod(type.shape), "the element is in the tile; correct the offset")
    address = kernel.emitter.add(view.address, kernel.emitter.multiply(offset, size))
    return replace(view, address=address, extents=(1,), strides=(1,))


def _set_value(kernel: Instructions, op: InstructionOp) -> None:
    kernel.emitter.apply("fill", _element_of_tile(kernel, op, "dst"), [kernel.handles.value(_given(op, "val"))])


def _read(kernel: Instructions, op: InstructionOp, view: View) -> None:
    """Make the only result of an operation the element that a view is."""
    (result,) = op.results
    value = kernel.emitter.make(flow.TileGetOp(kernel.emitter.tile(view), lowered(view.element)))
    value.name_hint = result.name_hint
    kernel.handles.values[result] = value


def _get_value(kernel: Instructions, op: InstructionOp) -> None:
    _read(kernel, op, _element_of_tile(kernel, op, "src"))


def _load(kernel: Instructions, op: InstructionOp) -> None:
    _read(kernel, op, kernel.tiles.element(op, _given(op, "ptr"), kernel.handles.number(_given(op, "offset"))))


def _store(kernel: Instructions, op: InstructionOp) -> None:
    target = kernel.tiles.element(op, _given(op, "ptr"), kernel.handles.number(_given(op, "offset")))
    kernel.emitter.apply("fill", target, [kernel.handles.value(_given(op, "value"))])


# ---------------------------------------------------------------------------------------------
# Variables
# ---------------------------------------------------------------------------------------------


def _declare_array(kernel: Instructions, op: InstructionOp) -> None:
    """Give an array of the scalar unit a space of its own, which starts as zeros."""
    (result,) = op.results
    type = cast("LocalArrayType", result.type)
    size = element_bytes(type.element_type)
    assert size is not None
    space = f"array_{len(kernel.spaces)}"
    extents = tuple(extent.data for extent in type.shape)
    kernel.spaces[space] = prod(extents) * size
    kernel.arrays[result] = View(space, type.element_type, 0, extents, _row_major(extents))


def _row_major(extents: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(prod(extents[place + 1 :]) for place in range(len(extents)))


def _element_of_array(kernel: Instructions, op: InstructionOp) -> View:
    array = kernel.arrays.get(_given(op, "array"))
    if array is None:
        raise refusal(op, "uses an array that is not declared here; declare it in the kernel")
    size = element_bytes(array.element)
    assert size is not None
    place: Number = 0
    for index, extent, stride in zip(op.operand_groups["indices"], array.extents, array.strides, strict=True):
        number = kernel.handles.number(index)
        kernel.emitter.within(number, 1, extent, "the element is in the array; correct the index")
        place = kernel.emitter.add(place, kernel.emitter.multiply(number, stride))
    return replace(array, address=kernel.emitter.multiply(place, size), extents=(1,), strides=(1,))


def _array_get(kernel: Instructions, op: InstructionOp) -> None:
    _read(kernel, op, _element_of_array(kernel, op))


def _array_set(kernel: Instructions, op: InstructionOp) -> None:
    kernel.emitter.apply("fill", _element_of_array(kernel, op), [kernel.handles.value(_given(op, "value"))])


# ---------------------------------------------------------------------------------------------
# Addresses and extents
# ---------------------------------------------------------------------------------------------


def _index(kernel: Instructions, number: Number) -> SSAValue:
    value = kernel.emitter.value(number)
    index = IndexType()
    return value if value.type == index else kernel.emitter.make(arith.IndexCastOp(value, index))


def _valid_extent(place: int) -> Callable[[Instructions, InstructionOp], None]:
    def lower(kernel: Instructions, op: InstructionOp) -> None:
        kernel.handles.values[op.results[0]] = _index(kernel, kernel.handles.extents(_given(op, "src"))[place])

    return lower


def _valid_shape(kernel: Instructions, op: InstructionOp) -> None:
    for result, extent in zip(op.results, kernel.handles.extents(_given(op, "source")), strict=True):
        kernel.handles.values[result] = _index(kernel, extent)


def _of_tensor(of: Callable[[View], tuple[Number, ...]]) -> Callable[[Instructions, InstructionOp], None]:
    def lower(kernel: Instructions, op: InstructionOp) -> None:
        view = kernel.handles.view(_given(op, "tensor_view"))
        place = kernel.handles.number(_given(op, "dim_index"))
        numbers = of(view)[-len(op.operands[0].type.extents) :]  # pyright: ignore[reportAttributeAccessIssue,reportUnknownMemberType,reportUnknownArgumentType]
        if not isinstance(place, int) or not 0 <= place < len(numbers):
            raise refusal(op, f"asks for a dimension that is not one of 0 to {len(numbers) - 1}; name one of them")
        kernel.handles.values[op.results[0]] = _index(kernel, numbers[place])

    return lower


def _cast_pointer(kernel: Instructions, op: InstructionOp) -> None:
    """Keep the address; numbers are addresses in bytes."""
    (source,), (result,) = op.operands, op.results
    pointers = [value for value in (source, result) if isinstance(value.type, PtrType)]
    if any(cast("PtrType", value.type).space.data.value != "gm" for value in pointers):
        raise refusal(op, "makes a pointer into a core's own memory, which has no counterpart in `flow`; use tiles")
    kernel.handles.values[result] = kernel.handles.value(source)


def _bitcast(kernel: Instructions, op: InstructionOp) -> None:
    (source,), (result,) = op.operands, op.results
    before, after = source.type, result.type
    assert isinstance(before, TileBufType) and isinstance(after, TileBufType)
    view = kernel.handles.view(source)
    extents = view.extents if after.has_dynamic_valid else after.valid_shape
    kernel.bind(result, replace(view, element=after.element_type, extents=extents, strides=tile_strides(after)))


# ---------------------------------------------------------------------------------------------
# Moves between elements
# ---------------------------------------------------------------------------------------------


def _insert(kernel: Instructions, op: InstructionOp) -> None:
    """Copy a tile into a part of another."""
    if op.attribute("tinsertMode") is not None:
        raise refusal(op, "divides what it inserts, which has no counterpart in `flow`; insert each part by itself")
    source, target = kernel.handles.view(_given(op, "src")), kernel.handles.view(_given(op, "dst"))
    whole = _given(op, "dst").type
    assert isinstance(whole, TileBufType)
    offsets = [kernel.handles.number(_given(op, name)) for name in ("indexRow", "indexCol")]
    for offset, extent, limit in zip(offsets, source.extents, whole.shape, strict=True):
        kernel.emitter.within(offset, extent, limit, "what is inserted stays within the tile; correct the indices")
    mode = op.attribute("reluPreMode")
    options: dict[str, Attribute] = kernel.tiles.relu(op, mode if isinstance(mode, ReluPreModeAttr) else None)
    part = kernel.emitter.part(target, offsets, source.extents)
    kernel.tiles.move(op, part, source, _given(op, "src"), op.operand("fp"), op.operand("preQuantScalar"), options)


_PATTERNS = {
    "P0101": (2, 0), "P1010": (2, 1), "P0001": (4, 0), "P0010": (4, 1), "P0100": (4, 2), "P1000": (4, 3),
    "P1111": (1, 0),
}  # fmt: skip
"""Of how many elements one is taken, and which."""


def _gather(kernel: Instructions, op: InstructionOp) -> None:
    """Take elements at indices, counted row by row in the whole source, or those of a pattern."""
    pattern = op.attribute("maskPattern")
    source, target = kernel.handles.view(_given(op, "src")), kernel.handles.view(_given(op, "dst"))
    if pattern is not None:
        part = _of_pattern(kernel, op, source, str(getattr(pattern, "data", "")))
        kernel.emitter.apply("copy", replace(target, extents=part.extents), [part])
        return
    extra = op.operand_groups["extra"]
    if op.operand("cdst") is not None or not extra or not isinstance(extra[0].type, TileBufType):
        raise refusal(op, "gathers what compares with a number, which has no counterpart in `flow`; use indices")
    places = replace(kernel.handles.view(extra[0]), extents=target.extents)
    kernel.emitter.apply("gather", target, [replace(_whole(op, "src", source), element=target.element), places])


def _whole(op: InstructionOp, name: str, view: View) -> View:
    """Return a tile with all its elements, whatever is valid."""
    tile = _given(op, name).type
    assert isinstance(tile, TileBufType)
    return replace(view, extents=tile.shape)


def _scatter(kernel: Instructions, op: InstructionOp) -> None:
    """Write elements at indices, counted row by row in the whole destination, or at those of a pattern."""
    pattern = op.attribute("maskPattern")
    source, target = kernel.handles.view(_given(op, "src")), kernel.handles.view(_given(op, "dst"))
    if pattern is not None:
        part = _of_pattern(kernel, op, target, str(getattr(pattern, "data", "")))
        kernel.emitter.apply("fill", target, [kernel.emitter.zero(target.element)])
        kernel.emitter.apply("copy", part, [replace(source, extents=part.extents)])
        return
    places = kernel.handles.view(_given(op, "indexes"))
    line = replace(source, extents=places.extents, element=target.element)
    kernel.emitter.apply("scatter", _whole(op, "dst", target), [line, places])


def _of_pattern(kernel: Instructions, op: InstructionOp, view: View, pattern: str) -> View:
    """Return the rows or columns of a tile that a pattern takes."""
    axis = op.attribute("axis")
    every, first = _PATTERNS[pattern]
    dimension = 0 if axis is not None and getattr(axis, "data", "") == "col" else 1
    size = element_bytes(view.element)
    assert size is not None
    extents, strides = list(view.extents), list(view.strides)
    taken = kernel.emitter.divide(kernel.emitter.add(extents[dimension], every - 1 - first), every)
    shift = kernel.emitter.multiply(strides[dimension], first * size)
    extents[dimension], strides[dimension] = taken, kernel.emitter.multiply(strides[dimension], every)
    address = kernel.emitter.add(view.address, shift)
    return replace(view, address=address, extents=tuple(extents), strides=tuple(strides))


def _rows_and_columns(view: View) -> tuple[Number, Number]:
    *rows, columns = view.extents
    return rows[-1] if rows else 1, columns


def _places(
    kernel: Instructions, op: InstructionOp, memory: View, line: View, outside: str
) -> tuple[View, View, Number]:
    """Return where each element of a tile is in a tensor: the tensor, places in it, and how many elements it has.

    Indices are taken as numbers without a sign, as the cores do.
    """
    emitter = kernel.emitter
    rows, columns = line.extents
    tile, index = _given(op, "dst" if op.operand("src") is None else "src").type, _given(op, "idx")
    assert isinstance(tile, TileBufType)
    size = tile.shape
    kernel.tiles.keep_places(tile)
    indices = replace(kernel.handles.view(index), element=ui32)
    places = View(CONVERTER, i64, 0, (rows, columns), (size[1], 1))

    def bound(view: View, count: Number) -> None:
        if outside == "clamp":
            emitter.apply("minimum", view, [view, emitter.value(emitter.subtract(count, 1))])
        elif outside == "wrap":
            emitter.apply("remainder", view, [view, emitter.value(count)])

    by_element = str(getattr(op.attribute("coalesce"), "data", "elem")) == "elem"
    if by_element:
        count = emitter.product(memory.extents)
        emitter.apply("copy", places, [replace(indices, extents=(rows, columns))])
        bound(places, count)
        return replace(memory, extents=(count,), strides=(1,)), places, count
    height, width = _rows_and_columns(memory)
    flat = isinstance(index.type, TileBufType) and index.type.rows == 1
    by_row = replace(indices, extents=(rows, 1), strides=indices.strides[::-1] if flat else indices.strides)
    behind = 8 * size[0] * size[1]
    numbers = View(CONVERTER, i64, behind, (rows, 1), (1, 1))
    across = View(CONVERTER, i64, behind + 8 * size[0], (1, columns), (columns, 1))
    emitter.apply("copy", numbers, [by_row])
    bound(numbers, height)
    emitter.apply("count", across, [emitter.constant(0), emitter.constant(1)])
    emitter.apply("multiply", numbers, [numbers, emitter.value(width)])
    emitter.apply("add", places, [numbers, across])
    matrix = replace(memory, extents=memory.extents[-2:], strides=memory.strides[-2:])
    return matrix, places, emitter.multiply(height, width)


def _gather_from_memory(kernel: Instructions, op: InstructionOp) -> None:
    emitter = kernel.emitter
    target = kernel.handles.view(_given(op, "dst"))
    outside = str(getattr(op.attribute("gatherOob"), "data", "undefined"))
    memory, places, count = _places(kernel, op, kernel.handles.view(_given(op, "mem")), target, outside)
    if outside != "zero":
        emitter.apply("gather", target, [memory, places])
        return
    tile = _given(op, "dst").type
    assert isinstance(tile, TileBufType)
    inside = kernel.tiles.bits_of_places(tile, places)
    emitter.apply("compare_less", inside, [places, emitter.value(count)])
    emitter.apply("minimum", places, [places, emitter.value(emitter.subtract(count, 1))])
    emitter.apply("gather", target, [memory, places])
    emitter.apply("select", target, [inside, target, emitter.zero(target.element)])


def _scatter_to_memory(kernel: Instructions, op: InstructionOp) -> None:
    source = kernel.handles.view(_given(op, "src"))
    outside = str(getattr(op.attribute("scatterOob"), "data", "undefined"))
    atomic = str(getattr(op.attribute("scatterAtomicOp"), "data", "none"))
    if outside == "skip" or atomic != "none":
        raise refusal(op, "skips indices or combines elements, which has no counterpart in `flow` yet")
    memory, places, _ = _places(kernel, op, kernel.handles.view(_given(op, "mem")), source, outside)
    kernel.emitter.apply("scatter", memory, [source, places])


def _merge(kernel: Instructions, op: InstructionOp) -> None:
    """Merge four sorted lists of pairs in each part of a row, or the lists of several tiles."""
    lists = op.operand_groups["srcs"]
    length = lists[-1]
    target_tile = op.operand_groups["dsts"][0]
    target = kernel.handles.view(target_tile)
    element = target.element
    size = element_bytes(element)
    if size not in (2, 4):
        raise refusal(op, f"merges pairs of {element}; use f32 or f16")
    each = 8 // size  # elements of a pair

    def pairs(tile: SSAValue) -> View:
        view = kernel.handles.view(tile)
        return kernel.tiles.pairs(op, view, tile, kernel.emitter.divide(view.extents[1], each))

    if not isinstance(length.type, TileBufType):
        source = pairs(lists[0])
        part = kernel.handles.number(length)
        if not isinstance(part, int) or part < each or part % each:
            raise refusal(op, f"merges lists of a length that is not a constant multiple of {each}; give one")
        count = 4 * part // each
        groups = kernel.emitter.divide(source.extents[1], count)
        result = kernel.tiles.pairs(op, target, target_tile, source.extents[1])
        extents, strides = (groups, count), (count, 1)
        result, source = (replace(view, extents=extents, strides=strides) for view in (result, source))
        kernel.emitter.apply("merge_pairs", result, [source, kernel.tiles.keys(source, element)])
        return
    if op.attribute("exhausted") == BoolAttr.from_bool(True):
        raise refusal(op, "stops where a list is exhausted, which has no counterpart in `flow`; use exhausted = false")
    sources = [pairs(tile) for tile in (lists if op.attribute("no_tmp") is not None else lists[:-1])]
    total: Number = 0
    for source in sources:
        total = kernel.emitter.add(total, source.extents[1])
    result = kernel.tiles.pairs(op, target, target_tile, total)
    collected = kernel.tiles.intermediate(op, target_tile, result)
    at: Number = 0
    for source in sources:
        kernel.emitter.apply("copy", kernel.emitter.part(collected, (0, at), source.extents), [source])
        at = kernel.emitter.add(at, source.extents[1])
    kernel.emitter.apply("merge_pairs", result, [collected, kernel.tiles.keys(collected, element)])


def _quantize(kernel: Instructions, op: InstructionOp) -> None:
    """Multiply each row by its factor, add its offset, and round to integers of 8 bits, to nearest even."""
    source, target = kernel.handles.view(_given(op, "src")), kernel.handles.view(_given(op, "dst"))
    offset = op.operand("offset")
    scaled = kernel.tiles.intermediate(op, _given(op, "src"), source)
    kernel.emitter.apply("multiply", scaled, [source, _of_rows(kernel, op, "fp", source)])
    if offset is not None:
        kernel.emitter.apply("add", scaled, [scaled, _of_rows(kernel, op, "offset", source)])
    kernel.emitter.apply("copy", target, [scaled], {"saturate": UnitAttr(), "rounding": StringAttr("rint")})


def _dequantize(kernel: Instructions, op: InstructionOp) -> None:
    source, target = kernel.handles.view(_given(op, "src")), kernel.handles.view(_given(op, "dst"))
    kernel.emitter.apply("subtract", target, [source, _of_rows(kernel, op, "offset", target)])
    kernel.emitter.apply("multiply", target, [target, _of_rows(kernel, op, "scale", target)])


def _of_rows(kernel: Instructions, op: InstructionOp, name: str, of: View) -> View:
    """Return a number for each row of a tile: the first column of another."""
    view = kernel.handles.view(_given(op, name))
    needed, given = of.extents[0], view.extents[0]
    if isinstance(needed, int) and isinstance(given, int) and needed > given:
        raise refusal(op, f"has {given} numbers in {name} for {needed} rows; give one for each row")
    kernel.emitter.at_most(needed, given, f"{name} has a number for each row")
    return replace(view, extents=(of.extents[0], 1))


def _in_sequence(first: str, then: str) -> Callable[[Instructions, InstructionOp], None]:
    """Return the lowering of what combines two operands by one function, and the third by another."""

    def lower(kernel: Instructions, op: InstructionOp) -> None:
        sources: list[View | SSAValue] = [
            kernel.handles.view(operand) if isinstance(operand.type, TileBufType) else kernel.handles.value(operand)
            for name, (operand,) in op.operand_groups.items()
            if name != "dst"
        ]
        target = kernel.handles.view(_given(op, "dst"))
        kept = kernel.tiles.intermediate(op, _given(op, "dst"), target)
        kernel.emitter.apply(first, kept, sources[:2])
        kernel.emitter.apply(then, target, [kept, sources[2]])

    return lower


def _partial(function: str) -> Callable[[Instructions, InstructionOp], None]:
    """Return the lowering of what combines two tiles where both are valid, and copies the one that is elsewhere."""

    def lower(kernel: Instructions, op: InstructionOp) -> None:
        first, second = (kernel.handles.view(_given(op, name)) for name in ("src0", "src1"))
        target = kernel.handles.view(_given(op, "dst"))
        both = tuple(kernel.emitter.least(*pair) for pair in zip(first.extents, second.extents, strict=True))
        kept = replace(kernel.tiles.intermediate(op, _given(op, "dst"), target), extents=both)
        kernel.emitter.apply(function, kept, [replace(first, extents=both), replace(second, extents=both)])
        for source in (first, second):
            kernel.emitter.apply("copy", replace(target, extents=source.extents), [source])
        kernel.emitter.apply("copy", replace(target, extents=both), [kept])

    return lower


def _add_product(kernel: Instructions, op: InstructionOp) -> None:
    """Add a number times a tile to another."""
    source, target = kernel.handles.view(_given(op, "src")), kernel.handles.view(_given(op, "dst"))
    factor = kernel.handles.value(_given(op, "scalar"))
    product = kernel.tiles.intermediate(op, _given(op, "src"), source)
    kernel.emitter.apply("multiply", product, [source, factor])
    kernel.emitter.apply("add", target, [target, product])


def _add_rectified(kernel: Instructions, op: InstructionOp) -> None:
    first, second = (kernel.handles.view(_given(op, name)) for name in ("src0", "src1"))
    target = kernel.handles.view(_given(op, "dst"))
    kernel.emitter.apply("add", target, [first, second])
    kernel.emitter.apply("copy", target, [target], {"relu": UnitAttr()})


_LOWERINGS: Mapping[str, Callable[[Instructions, InstructionOp], None]] = {
    "tsetval": _set_value,
    "tgetval": _get_value,
    "load": _load,
    "store": _store,
    "declare_local_array": _declare_array,
    "local_array_get": _array_get,
    "local_array_set": _array_set,
    "tile_valid_rows": _valid_extent(0),
    "tile_valid_cols": _valid_extent(1),
    "get_validshape": _valid_shape,
    "get_tensor_view_dim": _of_tensor(lambda view: view.extents),
    "get_tensor_view_stride": _of_tensor(lambda view: view.strides),
    "castptr": _cast_pointer,
    "ptrtoint": _cast_pointer,
    "inttoptr": _cast_pointer,
    "bitcast": _bitcast,
    "tinsert": _insert,
    "tgather": _gather,
    "tscatter": _scatter,
    "mgather": _gather_from_memory,
    "mscatter": _scatter_to_memory,
    "tmrgsort": _merge,
    "tquant": _quantize,
    "tdequant": _dequantize,
    "taddc": _in_sequence("add", "add"),
    "taddsc": _in_sequence("add", "add"),
    "tsubc": _in_sequence("subtract", "add"),
    "tsubsc": _in_sequence("subtract", "add"),
    "tpartadd": _partial("add"),
    "tpartmul": _partial("multiply"),
    "tpartmax": _partial("maximum"),
    "tpartmin": _partial("minimum"),
    "taxpy": _add_product,
    "taddrelu": _add_rectified,
}
"""The instructions that run, by the name of the row."""
