"""Layouts that operations on vectors of any length ask for, of what they take and give, by how urgent that is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, auto
from typing import TypeAlias, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Operation, SSAValue

from ....diagnostics.records import record
from ....dialects.pto.instruction_operation import InstructionOp
from ....dialects.pto.registers import VmiLayoutAttr, VmiMaskType, VmiVRegType
from ....dialects.pto.rules import is_float
from ....dialects.pto.types import PtrType
from .layouts import (
    BLOCKS,
    bits_of,
    block_deinterleaved,
    contiguous,
    deinterleaved,
    group_slots,
    is_contiguous,
    is_group_slots,
    lanes_of,
)
from .layouts import layout_of as own_layout
from .problems import CONTRACT, check_channels, fail
from .relations import (
    can_select,
    can_store_masked,
    direct_broadcast_load,
    group_stores,
    interleavings,
    preferred_conversion,
    preferred_group_store,
    preferred_store,
    reductions,
    size_of_groups,
)
from .transfer import groups_of, operation_name, stride_of


class Urgency(IntEnum):
    """The order in which requests are granted; each is propagated before the next."""

    EXPLICIT = auto()
    GROUP_LOAD = auto()
    REDUCTION = auto()
    GROUP_SLOT_LOAD = auto()
    GROUP_BROADCAST = auto()
    GROUP_BROADCAST_LOAD = auto()
    COMPACT_CONVERSION = auto()
    GROUP_STORE = auto()
    NARROWING = auto()
    CONVERSION = auto()
    WEAK_REDUCTION = auto()
    STORE = auto()
    OTHER = auto()
    GROUP_STORE_FALLBACK = auto()


_OF_CONVERSIONS = {
    "compact": Urgency.COMPACT_CONVERSION,
    "narrowing": Urgency.NARROWING,
    "deinterleaved": Urgency.CONVERSION,
}


@record
class Wish:
    """A layout asked for a value that an operation gives, or for one of its operands."""

    op: Operation
    index: int
    layout: VmiLayoutAttr
    urgency: Urgency = Urgency.OTHER


@dataclass
class Wishes:
    """What operations ask for, in order: of their results, of vectors that they take, of masks that they take.

    A natural layout is the only one that an operation gives, a preferred one the best.
    """

    natural: list[Wish] = field(default_factory=list[Wish])
    preferred: list[Wish] = field(default_factory=list[Wish])
    vectors: list[Wish] = field(default_factory=list[Wish])
    masks: list[Wish] = field(default_factory=list[Wish])


Chosen: TypeAlias = "Callable[[SSAValue], VmiLayoutAttr | None]"
"""The layout that has been asked for a value so far."""


class Requests:
    """Collects the wishes of an operation."""

    def __init__(self, op: InstructionOp, chosen: Chosen) -> None:
        self.op = op
        self.chosen = chosen
        self.wishes = Wishes()

    def vector(self, name: str) -> VmiVRegType:
        """Return the type of an operand or result."""
        values = {**self.op.operand_groups, **self.op.result_groups}[name]
        found = values[0].type
        assert isinstance(found, VmiVRegType)
        return found

    def _index(self, name: str) -> int:
        start = 0
        for operand in self.op.syntax().operands:
            if operand.name == name:
                return start
            start += len(self.op.operand_groups.get(operand.name, ()))
        raise AssertionError(f"{self.op.name} has no operand {name}")

    def give(self, layout: VmiLayoutAttr, urgency: Urgency = Urgency.OTHER, index: int = 0) -> None:
        """Ask for the natural layout of a result."""
        self.wishes.natural.append(Wish(self.op, index, layout, urgency))

    def prefer(self, layout: VmiLayoutAttr, urgency: Urgency = Urgency.OTHER) -> None:
        """Ask for the preferred layout of the result."""
        self.wishes.preferred.append(Wish(self.op, 0, layout, urgency))

    def take(self, name: str, layout: VmiLayoutAttr, urgency: Urgency = Urgency.OTHER) -> None:
        """Ask for the layout of an operand."""
        index = self._index(name)
        is_mask = isinstance(self.op.operands[index].type, VmiMaskType)
        (self.wishes.masks if is_mask else self.wishes.vectors).append(Wish(self.op, index, layout, urgency))


Rule: TypeAlias = "Callable[[Requests], None]"


# ---------------------------------------------------------------------------------------------
# What is in order
# ---------------------------------------------------------------------------------------------


def _all_contiguous(*taken: str, urgency: Urgency = Urgency.OTHER, gives: bool = True) -> Rule:
    """Return the rule of an operation on elements in order: of operands, and of the result if there is one."""

    def rule(requests: Requests) -> None:
        for name in taken:
            # Masks of reductions are asked for after everything else.
            is_mask = name == "mask" and requests.op.name.startswith("pto.vmi.reduce")
            requests.take(name, contiguous(), Urgency.OTHER if is_mask else urgency)
        if gives:
            requests.give(contiguous(), urgency)

    return rule


def _selects(requests: Requests) -> None:
    if can_select(*(requests.vector(name) for name in ("source", "index", "result"))):
        requests.take("source", contiguous())
        requests.take("index", contiguous())
        requests.give(contiguous())


def _shuffles(requests: Requests) -> None:
    source, result = requests.vector("source"), requests.vector("result")
    if own_layout(source) is not None or own_layout(result) is not None:
        return
    requests.take("source", contiguous())
    indices = requests.op.attribute("indices")
    assert isinstance(indices, DenseArrayBase)
    if source.count.data != 1 or any(cast("DenseArrayBase[IntegerType]", indices).get_values()):
        requests.give(contiguous())


def _channels(requests: Requests) -> None:
    op = requests.op
    splits = operation_name(op) == "channel_split"
    channels = check_channels(op)
    if splits:
        requests.wishes.vectors.append(Wish(op, 0, deinterleaved(channels)))
        for index in range(channels):
            requests.give(contiguous(), index=index)
    else:
        requests.wishes.vectors += [Wish(op, index, contiguous()) for index in range(channels)]
        requests.give(deinterleaved(channels))


def _interleaves(requests: Requests) -> None:
    rows = interleavings(requests.vector("low"), splits=operation_name(requests.op) == "vdintlv")
    if rows:
        for name in ("lhs", "rhs", "mask"):
            requests.take(name, rows[0][0])


# ---------------------------------------------------------------------------------------------
# Conversions
# ---------------------------------------------------------------------------------------------


def _converts(requests: Requests) -> None:
    found = preferred_conversion(requests.vector("source"), requests.vector("result"))
    if found is not None:
        requests.prefer(found.result, _OF_CONVERSIONS[found.kind])
    elif operation_name(requests.op).startswith("trunc"):
        requests.prefer(contiguous(), Urgency.CONVERSION)


def _converts_numbers(requests: Requests) -> None:
    found = preferred_conversion(requests.vector("source"), requests.vector("result"))
    requests.prefer(contiguous() if found is None else found.result, Urgency.CONVERSION)


def _widens_differences(requests: Requests) -> None:
    source = requests.vector("x")
    found = None if bits_of(source) == 32 else preferred_conversion(source, requests.vector("result"))
    if found is not None:
        requests.prefer(found.result, _OF_CONVERSIONS[found.kind])


# ---------------------------------------------------------------------------------------------
# Groups
# ---------------------------------------------------------------------------------------------


def _reduces_groups(requests: Requests) -> None:
    source, groups = requests.vector("source"), groups_of(requests.op)
    rows = reductions(source, groups)
    if not rows:
        requests.take("source", contiguous(), Urgency.REDUCTION)
        requests.take("mask", contiguous(), Urgency.REDUCTION)
        requests.give(_slots_of(requests.vector("result"), groups), Urgency.REDUCTION)
        return
    taken, given = rows[0]
    is_weak = is_contiguous(taken, 1) and len([row for row in rows if row[1] == given]) > 1
    urgency = Urgency.WEAK_REDUCTION if is_weak else Urgency.REDUCTION
    requests.take("source", taken, urgency)
    requests.take("mask", taken, urgency)
    requests.give(given, Urgency.REDUCTION)


def _slots_of(type: VmiVRegType, groups: int) -> VmiLayoutAttr:
    """Return the layout of one element for each group that a vector has, or would be reduced to."""
    own = own_layout(type)
    if own is not None and is_group_slots(own) and own.slots.data > 0:
        return own
    rows = reductions(type, groups)
    return rows[0][1] if rows else group_slots(groups)


def _broadcasts_groups(requests: Requests) -> None:
    op, groups = requests.op, groups_of(requests.op)
    requests.take("source", _slots_to_broadcast(requests, groups), Urgency.GROUP_BROADCAST)
    result = requests.vector("result")
    own = own_layout(result)
    lanes, count = lanes_of(result), result.count.data
    if own is not None:
        requests.prefer(own, Urgency.GROUP_BROADCAST)
    elif count < lanes and size_of_groups(result, groups_of(op)) * BLOCKS == lanes:
        requests.prefer(contiguous(2), Urgency.GROUP_BROADCAST)


def _slots_to_broadcast(requests: Requests, groups: int) -> VmiLayoutAttr:
    source = requests.vector("source")
    own, chosen = own_layout(source), requests.chosen(requests.op.operands[0])
    for layout in (own, chosen):
        if layout is not None and is_group_slots(layout) and layout.slots.data > 0:
            if layout is own or layout.factor.data == groups:
                return layout
    if source.count.data == groups:
        # One register for all groups that fit leaves the broadcast a single source.
        return group_slots(groups, 8)
    return _slots_of(source, groups)


# ---------------------------------------------------------------------------------------------
# Memory
# ---------------------------------------------------------------------------------------------


def _loads_groups(requests: Requests) -> None:
    op, type = requests.op, requests.vector("result")
    groups, stride, own = groups_of(op), stride_of(op), own_layout(type)
    size = size_of_groups(type, groups)
    if own is not None:
        layout = own
    else:
        aligned = stride is not None and stride > 0 and stride % BLOCKS == 0
        blocks = {16: 2, 32: 4}.get(size) if _is_f32(type) else None
        in_blocks = blocks is not None and stride != size
        if in_blocks and not aligned:
            given = "one that is not constant" if stride is None else str(stride)
            fail(
                op,
                CONTRACT,
                f"pto.vmi.group_load group_size {size} requires constant positive row_stride divisible by 8 f32 "
                "elements for the block8 stride plan; stable gather fallback is not implemented",
                f"pad the rows to a multiple of 8 elements, not {given}",
            )
        layout = block_deinterleaved(blocks) if in_blocks and blocks is not None else contiguous()
    if is_contiguous(layout, 1):
        requests.prefer(layout)
    else:
        requests.give(layout, Urgency.GROUP_LOAD)


def _is_f32(type: VmiVRegType) -> bool:
    return is_float(type.element_type) and bits_of(type) == 32 and str(type.element_type) == "f32"


def _loads_slots(requests: Requests) -> None:
    type, groups = requests.vector("result"), groups_of(requests.op)
    own = own_layout(type)
    if own is not None and is_group_slots(own) and own.slots.data > 0:
        requests.prefer(own, Urgency.GROUP_SLOT_LOAD)
        return
    requests.prefer(group_slots(groups, 8 if stride_of(requests.op) == 1 else 1), Urgency.GROUP_SLOT_LOAD)


def _loads_broadcasts(requests: Requests) -> None:
    op, type = requests.op, requests.vector("result")
    pointer = op.operand("source")
    is_pointer = pointer is not None and isinstance(pointer.type, PtrType)
    found = direct_broadcast_load(type, groups_of(op), stride_of(op)) if is_pointer else None
    if found is not None and found[0] == "BRC" and groups_of(op) == 1:
        return  # one number everywhere: whoever uses it chooses
    own = own_layout(type)
    layout = own if own is not None else found[1] if found is not None else None
    if layout is not None:
        requests.give(layout, Urgency.OTHER if found is None else Urgency.GROUP_BROADCAST_LOAD)


def _stores(requests: Requests) -> None:
    type = requests.vector("value")
    if requests.chosen(requests.op.operands[0]) is None:
        layout = _layout_to_store(type)
        if layout is not None:
            requests.take("value", layout, Urgency.STORE)


def _layout_to_store(type: VmiVRegType) -> VmiLayoutAttr | None:
    own = own_layout(type)
    return own if own is not None else preferred_store(type)


def _stores_masked(requests: Requests) -> None:
    type = requests.vector("value")
    mask = requests.op.operand("mask")
    assert mask is not None
    if requests.chosen(requests.op.operands[0]) is not None:
        return
    of_value, of_mask = own_layout(type), own_layout(mask.type)
    wanted = preferred_store(type)
    if of_value is not None and of_mask is not None:
        layout = of_value if can_store_masked(type, of_value, of_mask) else None
    else:
        layout = wanted if of_value in (None, wanted) and of_mask in (None, wanted) else None
    if layout is not None:
        requests.take("value", layout, Urgency.STORE)
        requests.take("mask", layout, Urgency.STORE)


def _stores_groups(requests: Requests) -> None:
    op, type = requests.op, requests.vector("value")
    groups, stride = groups_of(op), stride_of(op)
    high = next((layout for kind, layout in group_stores(type, groups, stride) if kind == "high"), None)
    if high is not None:
        requests.take("value", high, Urgency.GROUP_STORE)
    wanted = preferred_group_store(type, groups, stride)
    if wanted is not None and wanted != high:
        requests.take("value", wanted, Urgency.GROUP_STORE_FALLBACK)


_RULES: Mapping[str, Rule] = {
    "group_iota": _all_contiguous(),
    "vselr": _selects,
    "active_prefix_index": _all_contiguous(),
    "compress": _all_contiguous("source"),
    **{
        f"reduce_{each}{kind}": _all_contiguous("source", "mask", urgency=Urgency.REDUCTION)
        for each in ("add", "max", "min")
        for kind in "fi"
    },
    **{f"group_reduce_{each}{kind}": _reduces_groups for each in ("add", "max", "min") for kind in "fi"},
    "group_broadcast": _broadcasts_groups,
    **dict.fromkeys(("vdhist", "vchist"), _all_contiguous("acc", "source", "mask", urgency=Urgency.REDUCTION)),
    "vexpdif": _widens_differences,
    **dict.fromkeys(("extf", "extsi", "extui", "truncf", "trunci"), _converts),
    **dict.fromkeys(("fptosi", "fptoui", "sitofp"), _converts_numbers),
    **dict.fromkeys(("vintlv", "vdintlv"), _interleaves),
    "masked_load": _all_contiguous("passthru"),
    "gather": _all_contiguous("indices", "passthru", "mask"),
    "expand_load": _all_contiguous("passthru"),
    "group_load": _loads_groups,
    "group_slot_load": _loads_slots,
    "group_broadcast_load": _loads_broadcasts,
    "stride_load": _all_contiguous("mask"),
    "store": _stores,
    "interleave_store": _all_contiguous("low", "high", gives=False),
    "group_store": _stores_groups,
    "masked_store": _stores_masked,
    "stride_store": _all_contiguous("value", "mask", gives=False),
    "scatter": _all_contiguous("value", "indices", "mask", gives=False),
    "compress_store": _all_contiguous("value", "mask", gives=False),
    "channel_split": _channels,
    "channel_merge": _channels,
    "shuffle": _shuffles,
}


def wishes_of(op: Operation, chosen: Chosen) -> Wishes:
    """Return what an operation asks for. Raises LoomError where no layout would do."""
    name = operation_name(op)
    if name == "deinterleave_load":
        return Wishes(natural=[Wish(op, index, contiguous()) for index in range(2)])
    rule = _RULES.get(name)
    if rule is None or not isinstance(op, InstructionOp):
        return Wishes()
    requests = Requests(op, chosen)
    rule(requests)
    return requests.wishes
