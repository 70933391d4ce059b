"""Instructions of the tables as operations of `flow`, one function each, found by name.

What orders the pipelines of one core, or its caches, needs no counterpart: a core's operations take place one after the
other here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, StringAttr, UnitAttr
from xdsl.ir import Attribute, SSAValue

from ...analysis.pto.local_memory import tile_strides
from ...analysis.pto.pipe_ends import refusal
from ...dialects import flow
from ...dialects.pto.attributes import ReluPreModeAttr
from ...dialects.pto.instructions import InstructionOp
from ...dialects.pto.registers import LocalArrayType
from ...dialects.pto.types import PtrType, TileBufType, element_bytes
from . import communication, generated_tiles, indexed_moves, merging, partial_tiles, quantized_blocks, scaled_products
from .handles import lowered
from .instruction_context import Instructions, given, row_major
from .views import Number, View

WITHOUT_EFFECT = frozenset(
    (
        "set_flag", "wait_flag", "set_flag_dyn", "wait_flag_dyn", "record_event", "wait_event", "barrier_sync",
        "get_buf", "rls_buf", "get_buf_dyn", "rls_buf_dyn", "mem_bar", "dsb", "dcci", "cmo.cacheinvalid",
        "fence.barrier_all", "tsync", "tprefetch", "tget_scale_addr", "declare_eventid_array", "eventid_array_set",
    )
)  # fmt: skip
"""What orders the instructions of one core, or moves data between memory and its caches; and what gives the scales of a
tile their address on the chip, which are in a tile of their own here."""


def lower_instruction(kernel: Instructions, op: InstructionOp) -> None:
    """Lower an instruction; raises LoomError if it has no counterpart."""
    name = op.row.name
    if name in WITHOUT_EFFECT:
        return
    lower = _LOWERINGS.get(name)
    if lower is None:
        raise refusal(op, _reason(name))
    lower(kernel, op)


def _reason(name: str) -> str:
    if "async" in name:
        return "moves data to a cache, which has no counterpart in `flow`; run the kernel without it"
    return "has no counterpart in `flow`; use operations on tiles and pipes, arith, math and scf"


# ---------------------------------------------------------------------------------------------
# Single elements
# ---------------------------------------------------------------------------------------------


def _element_of_tile(kernel: Instructions, op: InstructionOp, tile: str) -> View:
    """Return the element of a tile that is an offset in elements from its first."""
    handle = given(op, tile)
    view = kernel.handles.view(handle)
    size = element_bytes(view.element)
    if size is None:
        raise refusal(op, f"uses elements of type {view.element}, whose size is unknown")
    type = handle.type
    assert isinstance(type, TileBufType)
    offset = kernel.handles.number(given(op, "offset"))
    kernel.emitter.within(offset, 1, prod(type.shape), "the element is in the tile; correct the offset")
    address = kernel.emitter.add(view.address, kernel.emitter.multiply(offset, size))
    return replace(view, address=address, extents=(1,), strides=(1,))


def _set_value(kernel: Instructions, op: InstructionOp) -> None:
    kernel.emitter.apply("fill", _element_of_tile(kernel, op, "dst"), [kernel.handles.value(given(op, "val"))])


def _read(kernel: Instructions, op: InstructionOp, view: View) -> None:
    """Make the only result of an operation the element that a view is."""
    (result,) = op.results
    value = kernel.emitter.make(flow.TileGetOp(kernel.emitter.tile(view), lowered(view.element)))
    value.name_hint = result.name_hint
    kernel.handles.values[result] = value


def _get_value(kernel: Instructions, op: InstructionOp) -> None:
    _read(kernel, op, _element_of_tile(kernel, op, "src"))


def _load(kernel: Instructions, op: InstructionOp) -> None:
    _read(kernel, op, kernel.tiles.element(op, given(op, "ptr"), kernel.handles.number(given(op, "offset"))))


def _store(kernel: Instructions, op: InstructionOp) -> None:
    target = kernel.tiles.element(op, given(op, "ptr"), kernel.handles.number(given(op, "offset")))
    kernel.emitter.apply("fill", target, [kernel.handles.value(given(op, "value"))])


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
    kernel.arrays[result] = View(space, type.element_type, 0, extents, row_major(extents))


def _element_of_array(kernel: Instructions, op: InstructionOp) -> View:
    array = kernel.arrays.get(given(op, "array"))
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
    kernel.emitter.apply("fill", _element_of_array(kernel, op), [kernel.handles.value(given(op, "value"))])


# ---------------------------------------------------------------------------------------------
# Addresses and extents
# ---------------------------------------------------------------------------------------------


def _index(kernel: Instructions, number: Number) -> SSAValue:
    value = kernel.emitter.value(number)
    index = IndexType()
    return value if value.type == index else kernel.emitter.make(arith.IndexCastOp(value, index))


def _valid_extent(place: int) -> Callable[[Instructions, InstructionOp], None]:
    def lower(kernel: Instructions, op: InstructionOp) -> None:
        kernel.handles.values[op.results[0]] = _index(kernel, kernel.handles.extents(given(op, "src"))[place])

    return lower


def _valid_shape(kernel: Instructions, op: InstructionOp) -> None:
    for result, extent in zip(op.results, kernel.handles.extents(given(op, "source")), strict=True):
        kernel.handles.values[result] = _index(kernel, extent)


def _of_tensor(of: Callable[[View], tuple[Number, ...]]) -> Callable[[Instructions, InstructionOp], None]:
    def lower(kernel: Instructions, op: InstructionOp) -> None:
        view = kernel.handles.view(given(op, "tensor_view"))
        place = kernel.handles.number(given(op, "dim_index"))
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
    source, target = kernel.handles.view(given(op, "src")), kernel.handles.view(given(op, "dst"))
    whole = given(op, "dst").type
    assert isinstance(whole, TileBufType)
    offsets = [kernel.handles.number(given(op, name)) for name in ("indexRow", "indexCol")]
    for offset, extent, limit in zip(offsets, source.extents, whole.shape, strict=True):
        kernel.emitter.within(offset, extent, limit, "what is inserted stays within the tile; correct the indices")
    mode = op.attribute("reluPreMode")
    options: dict[str, Attribute] = kernel.tiles.relu(op, mode if isinstance(mode, ReluPreModeAttr) else None)
    part = kernel.emitter.part(target, offsets, source.extents)
    kernel.tiles.move(op, part, source, given(op, "src"), op.operand("fp"), op.operand("preQuantScalar"), options)


def _quantize(kernel: Instructions, op: InstructionOp) -> None:
    """Multiply each row by its factor, add its offset, and round to integers of 8 bits, to nearest even."""
    source, target = kernel.handles.view(given(op, "src")), kernel.handles.view(given(op, "dst"))
    offset = op.operand("offset")
    scaled = kernel.tiles.intermediate(op, given(op, "src"), source)
    kernel.emitter.apply("multiply", scaled, [source, _of_rows(kernel, op, "fp", source)])
    if offset is not None:
        kernel.emitter.apply("add", scaled, [scaled, _of_rows(kernel, op, "offset", source)])
    kernel.emitter.apply("copy", target, [scaled], {"saturate": UnitAttr(), "rounding": StringAttr("rint")})


def _dequantize(kernel: Instructions, op: InstructionOp) -> None:
    source, target = kernel.handles.view(given(op, "src")), kernel.handles.view(given(op, "dst"))
    kernel.emitter.apply("subtract", target, [source, _of_rows(kernel, op, "offset", target)])
    kernel.emitter.apply("multiply", target, [target, _of_rows(kernel, op, "scale", target)])


def _of_rows(kernel: Instructions, op: InstructionOp, name: str, of: View) -> View:
    """Return a number for each row of a tile: the first column of another."""
    view = kernel.handles.view(given(op, name))
    needed, has = of.extents[0], view.extents[0]
    if isinstance(needed, int) and isinstance(has, int) and needed > has:
        raise refusal(op, f"has {has} numbers in {name} for {needed} rows; give one for each row")
    kernel.emitter.at_most(needed, has, f"{name} has a number for each row")
    return replace(view, extents=(of.extents[0], 1))


def _in_sequence(first: str, then: str) -> Callable[[Instructions, InstructionOp], None]:
    """Return the lowering of what combines two operands by one function, and the third by another."""

    def lower(kernel: Instructions, op: InstructionOp) -> None:
        sources: list[View | SSAValue] = [
            kernel.handles.view(operand) if isinstance(operand.type, TileBufType) else kernel.handles.value(operand)
            for name, (operand,) in op.operand_groups.items()
            if name != "dst"
        ]
        target = kernel.handles.view(given(op, "dst"))
        kept = kernel.tiles.intermediate(op, given(op, "dst"), target)
        kernel.emitter.apply(first, kept, sources[:2])
        kernel.emitter.apply(then, target, [kept, sources[2]])

    return lower


def _add_product(kernel: Instructions, op: InstructionOp) -> None:
    """Add a number times a tile to another."""
    source, target = kernel.handles.view(given(op, "src")), kernel.handles.view(given(op, "dst"))
    factor = kernel.handles.value(given(op, "scalar"))
    product = kernel.tiles.intermediate(op, given(op, "src"), source)
    kernel.emitter.apply("multiply", product, [source, factor])
    kernel.emitter.apply("add", target, [target, product])


def _add_rectified(kernel: Instructions, op: InstructionOp) -> None:
    first, second = (kernel.handles.view(given(op, name)) for name in ("src0", "src1"))
    target = kernel.handles.view(given(op, "dst"))
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
    "tgather": indexed_moves.gather,
    "tgatherb": indexed_moves.gather_blocks,
    "tscatter": indexed_moves.scatter,
    "mgather": indexed_moves.gather_from_memory,
    "mscatter": indexed_moves.scatter_to_memory,
    "tconcatidx": indexed_moves.concatenate_by_lengths,
    "thistogram": indexed_moves.count_bytes,
    "tmrgsort": merging.merge,
    "ttri": generated_tiles.triangle,
    "trandom": generated_tiles.random,
    "tquant": _quantize,
    "tquant.mx": quantized_blocks.quantize_blocks,
    "tdequant": _dequantize,
    "taddc": _in_sequence("add", "add"),
    "taddsc": _in_sequence("add", "add"),
    "tsubc": _in_sequence("subtract", "add"),
    "tsubsc": _in_sequence("subtract", "add"),
    "tpartadd": partial_tiles.partial("add"),
    "tpartmul": partial_tiles.partial("multiply"),
    "tpartmax": partial_tiles.partial("maximum"),
    "tpartmin": partial_tiles.partial("minimum"),
    "tpartargmax": partial_tiles.partial_place("compare_greater"),
    "tpartargmin": partial_tiles.partial_place("compare_less"),
    **{
        f"{name}.mx{end}": scaled_products.scaled_product
        for name in ("tmatmul", "tgemv")
        for end in ("", ".acc", ".bias")
    },
    "taxpy": _add_product,
    "taddrelu": _add_rectified,
    **communication.LOWERINGS,
}
"""The instructions that run, by the name of the row."""
