"""Rules of variables, pointers, regions and several tiles in one, in upstream's words, by the name of the row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    DenseArrayBase,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    MemRefType,
)
from xdsl.ir import Attribute, Operation
from xdsl.traits import IsTerminator

from .attributes import AddressSpace, AddressSpaceAttr
from .instruction_operation import InstructionOp
from .kernels import fail
from .local_tiles import verify_address, verify_layout
from .memory import LoadScalarOp, StoreScalarOp, constant_value, verify_valid
from .registers import LocalArrayType, MultiTileBufType, StructType
from .rules import Rule, is_float8, is_low_precision
from .types import (
    DYNAMIC,
    F4E1M2x2Type,
    F4E2M1x2Type,
    HiF8Type,
    PartitionTensorViewType,
    PtrType,
    TensorViewType,
    TileBufType,
)

_GLOBAL = (AddressSpace.GM, AddressSpace.ZERO)
_ADDRESS_BITS = 64
_SCALARS = (
    Float16Type,
    BFloat16Type,
    Float32Type,
    Float64Type,
    HiF8Type,
    F4E1M2x2Type,
    F4E2M1x2Type,
)


# ---------------------------------------------------------------------------------------------
# Pointers
# ---------------------------------------------------------------------------------------------


def _is_scalar(element: Attribute) -> bool:
    """Return True for elements that one access of the scalar unit reads or writes."""
    if isinstance(element, IntegerType):
        return cast("IntegerType", element).width.data in (8, 16, 32, 64)
    return is_float8(element) or isinstance(element, _SCALARS)


def _from_number(op: InstructionOp) -> None:
    address, result = op.operands[0].type, op.results[0]
    if not isinstance(address, IntegerType) or cast("IntegerType", address).width.data != _ADDRESS_BITS:
        fail(op, "address operand must be i64")
    element = result.type.element_type if isinstance(result.type, PtrType) else None
    if element is not None and not _is_scalar(element):
        fail(op, f"result element type is not supported by EmitC: '{element}'")
    for use in result.uses:
        # A pointer is the first operand of both.
        if not isinstance(use.operation, LoadScalarOp | StoreScalarOp) or use.operation.ptr is not result:
            fail(
                op,
                "result may only be used as the pointer operand of pto.load_scalar or pto.store_scalar, not by "
                f"'{use.operation.name}'",
            )


def _cast(op: InstructionOp) -> None:
    source, result = op.operands[0].type, op.results[0].type
    if not isinstance(source, IntegerType | MemRefType | PtrType):
        fail(op, "input must be an integer, memref, or !pto.ptr<...>")
    if not isinstance(result, IntegerType | PtrType):
        fail(op, "result must be an integer or !pto.ptr<...>")
    if isinstance(source, MemRefType) and isinstance(result, IntegerType):
        fail(op, "memref-to-integer cast is unsupported")
    if isinstance(source, IntegerType) and isinstance(result, IntegerType):
        fail(op, "integer-to-integer cast is not a ptr cast")
    if isinstance(source, PtrType) and isinstance(result, PtrType) and source.space != result.space:
        fail(op, "ptr-to-ptr cast must stay within the same PTO memory space")


def _cache(op: InstructionOp) -> None:
    """Check the address of a cache line: in global memory."""
    address, space = op.operand("addr"), op.attribute("space")
    if isinstance(space, AddressSpaceAttr) and space.data not in _GLOBAL:
        fail(op, "only supports GM cache maintenance")
    if address is None or isinstance(address.type, TensorViewType | PartitionTensorViewType):
        return
    if not isinstance(address.type, PtrType) or address.type.space.data not in _GLOBAL:
        fail(op, "single_cache_line address expects a GM pointer or GM tensor view")


# ---------------------------------------------------------------------------------------------
# Variables
# ---------------------------------------------------------------------------------------------


def _declared(op: InstructionOp) -> None:
    """Check that a variable does not leave the block that declares it."""
    for use in op.results[0].uses:
        if use.operation.has_trait(IsTerminator):
            fail(
                op,
                "stack-local struct must not escape the scope that declares it, but its value is passed to "
                f"'{use.operation.name}'; declare the struct in the outer scope and mutate it from the nested region "
                "instead",
            )


def _field(op: InstructionOp) -> None:
    """Check the path to a variable in others, and its type."""
    found: Attribute = op.operands[0].type
    path = op.attribute("path")
    indices = path.get_values() if isinstance(path, DenseArrayBase) else ()
    if not indices:
        fail(op, "struct path must have at least one index")
    for depth, index in enumerate(indices):
        if not isinstance(found, StructType):
            fail(op, f"struct path index {depth} descends into non-struct field of type {found}")
        count = len(found.fields)
        if not 0 <= index < count:
            fail(op, f"struct path index {depth} ({index}) is out of range for {found} with {count} field(s)")
        found = found.fields.data[index]
    if not isinstance(found, IntegerType | AnyFloat):
        fail(
            op,
            f"struct path must end at a scalar field, but ends at {found}; extend the path to reach a scalar inside it",
        )
    what, given = ("value", op.operands[1]) if len(op.operands) > 1 else ("result", op.results[0])
    if given.type != found:
        fail(op, f"{what} type {given.type} does not match field type {found} at the given path")


def _indexed(op: InstructionOp) -> None:
    """Check the indices of an element of an array of the scalar unit, and its type."""
    array = op.operands[0].type
    if not isinstance(array, LocalArrayType):
        fail(op, f"operand #0 must be !pto.local_array, but got '{array}'")
    rank, count = len(array.shape), len(op.operand_groups["indices"])
    if count != rank:
        fail(op, f"expects {rank} indices for !pto.local_array of rank {rank}, got {count}")
    value = op.operand("value")
    if value is not None and value.type != array.element_type:
        fail(op, f"value type {value.type} does not match array element type {array.element_type}")
    if value is None and op.results[0].type != array.element_type:
        fail(op, f"result type {op.results[0].type} does not match array element type {array.element_type}")


# ---------------------------------------------------------------------------------------------
# Regions
# ---------------------------------------------------------------------------------------------


def _fused(op: InstructionOp) -> None:
    block = op.regions[0].first_block
    if block is None:
        fail(op, "expects a non-empty body region")
    if block.args:
        fail(op, f"expects body block to have no arguments, got {len(block.args)}")
    last = block.last_op
    if last is None or last.name != "pto.yield":
        fail(op, "expects body to terminate with pto.yield")
    if len(last.operands) != len(op.results):
        fail(op, f"expects pto.yield to return {len(op.results)} values, got {len(last.operands)}")
    for place, (given, result) in enumerate(zip(last.operands, op.results, strict=True)):
        if given.type != result.type:
            fail(op, f"expects yielded value #{place} to have type '{result.type}', got '{given.type}'")


def _yields(op: InstructionOp) -> None:
    parent = op.parent_op()
    if parent is not None and parent.name != "pto.fusion_region":
        fail(op, "expects parent op to be pto.fusion_region")


# ---------------------------------------------------------------------------------------------
# Tiles
# ---------------------------------------------------------------------------------------------

_PLANNED = "pto.multi_buffer_addrs"
_ROW_PLUS_ONE = 2
"""The mode of packing rows that leaves a gap behind each."""


def _several(op: InstructionOp) -> None:
    type = op.results[0].type
    if not isinstance(type, MultiTileBufType):
        fail(op, "result must be `!pto.multi_tile_buf`")
    tile = type.tile
    if is_low_precision(tile.element_type):
        fail(op, f"slot dtype {tile.element_type} is not supported by pto.alloc_multi_tile yet")
    verify_layout(op, tile, "slot")
    address = op.operand("addr")
    verify_address(op, None if address is None else constant_value(address), tile.location)
    if tile.compact.data == _ROW_PLUS_ONE:
        fail(
            op,
            "multi_tile_buf slot uses row_plus_one compaction, whose padded storage footprint exceeds product(shape) "
            "and would overlap adjacent multi-buffer slots; use a compact (non-row_plus_one) slot layout or a single "
            "pto.alloc_tile",
        )
    for name, extent, letter in (("valid_row", tile.valid_shape[0], "row"), ("valid_col", tile.valid_shape[1], "col")):
        needed = extent == DYNAMIC
        if (op.operand(name) is not None) is not needed:
            how = "is required" if needed else "must be absent"
            fail(op, f"{name} operand {how} because slot v_{letter} is {'?' if needed else extent}")
    verify_valid(op, op.operand("valid_row"), op.operand("valid_col"), tile)
    if op.attribute(_PLANNED) is not None:
        fail(op, f"attribute '{_PLANNED}' is reserved for pto-plan-memory")


def _one_of_several(op: InstructionOp) -> None:
    source = op.operands[0].type
    if not isinstance(source, MultiTileBufType):
        fail(op, f"operand #0 must be !pto.multi_tile_buf, but got '{source}'")
    if op.results[0].type != source.tile:
        fail(op, f"result tile_buf must match the multi_tile_buf slot type: expected {source.tile}")
    slot = constant_value(op.operands[1])
    if slot is not None and not 0 <= slot < source.count.data:
        fail(op, f"constant slot {slot} is out of range for multi_tile_buf count={source.count.data}")


def _assigned(op: InstructionOp) -> None:
    tile = op.operands[0].type
    if op.results[0].type != tile:
        fail(op, "result type must match tile operand type")
    if not isinstance(tile, TileBufType):
        fail(op, "expects tile operand and result to be !pto.tile_buf")
    verify_address(op, constant_value(op.operands[1]), tile.location)


def _reinterpreted(op: InstructionOp) -> None:
    before, after = op.operands[0].type, op.results[0].type
    assert isinstance(before, TileBufType) and isinstance(after, TileBufType)
    if before.location is not after.location:
        fail(op, "expects src/result to have the same memorySpace")
    if before.element_type == after.element_type:
        fail(
            op,
            "expects src/result to have different element types; use pto.treshape for shape/config changes",
        )
    if before.shape != after.shape:
        fail(op, "expects src/result to have the same shape; use pto.treshape for shape changes")
    if before.valid_shape != after.valid_shape:
        fail(op, "expects src/result to have the same validShape")
    if before.config != after.config:
        fail(op, "expects src/result to have the same tile config")
    if before.bytes is not None and after.bytes is not None and after.bytes > before.bytes:
        fail(op, "bitcast result requires more bytes than source storage")


def escapes(op: Operation) -> int | None:
    """Return the place of a result that is a struct although `op` does not declare one; None if there is none."""
    if op.name == "pto.declare_struct":
        return None
    return next((place for place, result in enumerate(op.results) if isinstance(result.type, StructType)), None)


STRUCTURE_RULES: Mapping[str, Rule] = {
    "inttoptr": _from_number,
    "castptr": _cast,
    "cmo.cacheinvalid": _cache,
    "declare_struct": _declared,
    **dict.fromkeys(("struct_get", "struct_set"), _field),
    **dict.fromkeys(("local_array_get", "local_array_set"), _indexed),
    "fusion_region": _fused,
    "yield": _yields,
    "alloc_multi_tile": _several,
    "multi_tile_get": _one_of_several,
    "tassign": _assigned,
    "bitcast": _reinterpreted,
}
"""The rules by the name of the row."""
