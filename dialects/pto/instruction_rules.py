"""Rules of instructions that their kinds of operands do not state, in upstream's words, by the name of the row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from .attributes import AddressSpace
from .communication_rules import COMMUNICATION_RULES
from .instruction_operation import InstructionOp
from .kernels import architecture_of, check_outside_of_vector_code, fail
from .register_rules import REGISTER_RULES
from .rules import Rule, all_of, memory_element, space_of
from .structure_rules import STRUCTURE_RULES
from .thread_rules import THREAD_RULES
from .transfer_rules import TRANSFER_RULES
from .types import PartitionTensorViewType, TensorViewType, TileBufType
from .vector_rules import VECTOR_RULES


def _element_and_rank(type: Attribute) -> tuple[Attribute, int] | None:
    """Return the elements and the number of dimensions of a tile, a tensor or a memref."""
    if isinstance(type, MemRefType):
        memref = cast("MemRefType[Attribute]", type)
        return memref.element_type, memref.get_num_dims()
    if isinstance(type, TileBufType | TensorViewType | PartitionTensorViewType):
        return type.element_type, len(type.shape)
    return None


def _address(of: str, sources: str, what: str, place: str) -> Rule:
    """Return the rule of an address: of elements that a tile or tensor has, in its memory."""

    def rule(op: InstructionOp) -> None:
        source, address = op.operands[0].type, op.results[0].type
        found = _element_and_rank(source)
        if found is None or (
            isinstance(source, TileBufType) is not (of == "tile") and not isinstance(source, MemRefType)
        ):
            fail(op, f"source must be a {sources}")
        element, rank = found
        space = source.space.data if isinstance(source, TileBufType) else space_of(op.operands[0].type)
        if of == "tensor":
            if space not in (None, AddressSpace.GM):
                fail(op, "memref source must stay in gm memory space")
            space = AddressSpace.GM
        is_memref = isinstance(address, MemRefType)
        kind = "memref" if is_memref else "pointer"
        if memory_element(address) != element:
            fail(op, f"{kind} result element type must match {what} element type")
        if is_memref and cast("MemRefType[Attribute]", address).get_num_dims() != rank:
            fail(op, f"memref result rank must match {what} rank")
        if space is not None and space_of(address) not in (space, None):
            fail(op, f"{kind} result must stay {place}")

    return rule


def _of_one_chip(chip: str, text: str) -> Rule:
    def rule(op: InstructionOp) -> None:
        if architecture_of(op) not in (chip, None):
            fail(op, text)

    return rule


DELIMITERS = (
    "record_event", "wait_event", "barrier_sync", "set_flag", "wait_flag", "set_flag_dyn", "wait_flag_dyn", "get_buf",
    "rls_buf", "get_buf_dyn", "rls_buf_dyn", "sync.set", "sync.wait", "cmo.cacheinvalid", "fence.barrier_all", "tsync",
    "dsb", "dcci", "syncthreads", "threadfence", "threadfence_block",
)  # fmt: skip
"""What orders pipelines and cores: it is in no code for the vector unit, and ends such code that is not marked."""

_OTHERS: Mapping[str, Rule] = {
    **VECTOR_RULES,
    **REGISTER_RULES,
    **STRUCTURE_RULES,
    **COMMUNICATION_RULES,
    **THREAD_RULES,
    **TRANSFER_RULES,
    "tile_buf_addr": _address("tile", "!pto.tile_buf<...> or memref", "tile", "within the tile memory space"),
    "tensor_view_addr": _address(
        "tensor", "tensor_view, partition_tensor_view, or memref", "source", "in gm memory space"
    ),
    "taddrelu": _of_one_chip("a2a3", "taddrelu is only supported on A2/A3 targets"),
}
"""The rules by the name of the row."""

RULES: Mapping[str, Rule] = {
    **_OTHERS,
    **{
        name: all_of(check_outside_of_vector_code, _OTHERS[name]) if name in _OTHERS else check_outside_of_vector_code
        for name in DELIMITERS
    },
}
"""The rules by the name of the row, with those about where an instruction is."""
