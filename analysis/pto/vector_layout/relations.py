"""Tables of layouts that go together: those of source and result of an operation, and those that memory is read in.

What PTOAS's registers and instructions can do (assumed to be what the chip can): a row is a relation between layouts,
for a width of elements, a size of groups or a number of registers. A function returns the rows that hold, in the order
of preference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from ....diagnostics.records import record
from ....dialects.pto.registers import VmiLayoutAttr, VmiMaskType, VmiVRegType
from .layouts import (
    BLOCKS,
    Virtual,
    bits_of,
    block_deinterleaved,
    contiguous,
    deinterleaved,
    group_slots,
    is_contiguous,
    is_group_slots,
    lanes_of,
    layout_of,
    registers_in,
    with_layout,
)

Pair: TypeAlias = "tuple[VmiLayoutAttr, VmiLayoutAttr]"


# ---------------------------------------------------------------------------------------------
# Groups
# ---------------------------------------------------------------------------------------------

_SPANS = {"1/4": (1, 4), "1/2": (1, 2), "1": (1, 1), "2": (2, 1), "4": (4, 1)}
"""Sizes of groups in blocks of 32 bytes."""


def spans_of(type: VmiVRegType, groups: int) -> tuple[str, ...]:
    """Return what the groups of a vector span: parts of a block, blocks, or whole registers; empty if neither.

    `full2` is a multiple of two registers.
    """
    count, lanes = type.count.data, lanes_of(type)
    if groups <= 0 or count % groups or not lanes:
        return ()
    size, block = count // groups, lanes // BLOCKS
    spans = [name for name, (over, under) in _SPANS.items() if size * under == block * over]
    spans += [f"full{times if times > 1 else ''}" for times in (1, 2, 4) if size % (lanes * times) == 0]
    return tuple(spans)


def size_of_groups(type: VmiVRegType, groups: int) -> int:
    """Return how many elements a group has."""
    return type.count.data // groups if groups > 0 else 0


# ---------------------------------------------------------------------------------------------
# Conversions of elements
# ---------------------------------------------------------------------------------------------


def _converted(source: int, result: int, groups: int, *, masks: bool = False) -> Iterator[Pair]:
    """Yield the layouts of source and result of a conversion between widths.

    The wide end has as many more parts as an element has more registers; a lane stride of the narrow end leaves room
    for wider elements in place.
    """
    if source == result:
        if source == 16:
            yield contiguous(), contiguous()
        return
    narrow, wide = min(source, result), max(source, result)
    ratio = wide // narrow
    rows = [(contiguous(stride), deinterleaved(ratio // stride)) for stride in (1, 2, 4) if ratio % stride == 0]
    if ratio == 2:
        rows.append((deinterleaved(2), deinterleaved(4)))
    if groups:
        rows += [
            (group_slots(groups, 1), group_slots(groups, 1)),
            (group_slots(groups, 8, ratio), group_slots(groups, 8)),
        ]
        if source < result and not masks:
            rows += [(group_slots(groups, slots), group_slots(groups, slots)) for slots in (2, 4, 8)]
    for first, second in rows:
        yield (first, second) if source < result else (second, first)


def conversions(
    source: Virtual, result: Virtual, *, from_: VmiLayoutAttr | None = None, to: VmiLayoutAttr | None = None
) -> list[Pair]:
    """Return the layouts of source and result of a conversion that begins in a layout, ends in one, or both."""
    known = from_ if from_ is not None else to
    groups = known.factor.data if known is not None and is_group_slots(known) else 0
    rows = _converted(bits_of(source), bits_of(result), groups, masks=isinstance(source, VmiMaskType))
    return [row for row in rows if from_ in (None, row[0]) and to in (None, row[1])]


@record
class Conversion:
    """The layouts of source and result that a conversion would choose, and how much it gains: `compact` most."""

    source: VmiLayoutAttr
    result: VmiLayoutAttr
    kind: str = "deinterleaved"


def preferred_conversion(source: VmiVRegType, result: VmiVRegType) -> Conversion | None:
    """Return the layouts that a conversion would choose: none other than one register where that suffices."""
    before, after = bits_of(source), bits_of(result)
    if not before or not after or before == after:
        return None
    ratio = max(before, after) // min(before, after)
    ends = (contiguous(ratio), contiguous()) if before < after else (contiguous(), contiguous(ratio))
    if registers_in(source, ends[0]) == 1 and registers_in(result, ends[1]) == 1:
        return Conversion(*ends, "compact")
    if before > after:
        return Conversion(*ends, "narrowing")
    return Conversion(contiguous(), deinterleaved(ratio))


def keeps_bits(source: VmiVRegType, result: VmiVRegType, layout: VmiLayoutAttr) -> bool:
    """Return True if the same bits may be read as other elements in a layout: contiguous, or elements as wide."""
    return bits_of(source) == bits_of(result) or is_contiguous(layout, 1)


# ---------------------------------------------------------------------------------------------
# Groups: reductions, broadcasts
# ---------------------------------------------------------------------------------------------


def reductions(source: VmiVRegType, groups: int) -> list[Pair]:
    """Return the layouts of a vector, and its mask, and of what its groups are reduced to."""
    packed, single = group_slots(groups, 8), group_slots(groups, 1)
    rows = [
        ("1/4", contiguous(4), packed),
        ("1/2", contiguous(2), packed),
        ("1", contiguous(), packed),
        ("2", deinterleaved(2), packed),
        ("2", block_deinterleaved(2), packed),
        ("4", deinterleaved(4), packed),
        ("4", block_deinterleaved(4), packed),
        ("full", contiguous(), single),
        ("full2", deinterleaved(2), single),
        ("full4", deinterleaved(4), single),
    ]
    spans = spans_of(source, groups)
    return [(first, second) for span, first, second in rows if span in spans]


def broadcasts(result: VmiVRegType, groups: int) -> list[Pair]:
    """Return the layouts of one element for each group, and of the vector that repeats it in the group."""
    packed, single = group_slots(groups, 8), group_slots(groups, 1)
    rows = [
        ("1/4", packed, contiguous(4)),
        ("1/2", packed, contiguous(2)),
        ("1", packed, contiguous()),
        ("1", packed, contiguous(2)),
        ("1", group_slots(groups, 8, 2), contiguous()),
        ("1", group_slots(groups, 8, 4), contiguous()),
        *((str(parts), packed, layout) for parts in (2, 4)
          for layout in (contiguous(), deinterleaved(parts), block_deinterleaved(parts))),
        ("2", single, contiguous()),
        ("4", single, contiguous()),
        ("full", packed, contiguous()),
        ("full", single, contiguous()),
        ("full2", single, deinterleaved(2)),
        ("full4", single, deinterleaved(4)),
    ]  # fmt: skip
    spans = spans_of(result, groups)
    return [(first, second) for span, first, second in rows if span in spans]


# ---------------------------------------------------------------------------------------------
# Memory
# ---------------------------------------------------------------------------------------------


def can_load(type: VmiVRegType, layout: VmiLayoutAttr) -> bool:
    """Return True if a vector is loaded in a layout."""
    rows = [contiguous(), contiguous(2), deinterleaved(2), deinterleaved(4)]
    return layout in (*rows, contiguous(4)) if bits_of(type) == 8 else layout in rows


def can_store(type: VmiVRegType, layout: VmiLayoutAttr) -> bool:
    """Return True if a vector is stored from a layout."""
    return can_load(type, layout)


def can_store_masked(type: VmiVRegType, layout: VmiLayoutAttr, mask: VmiLayoutAttr) -> bool:
    """Return True if a vector is stored from a layout where the bits of a mask, in its own layout, are on."""
    if layout != mask or (bits_of(type) == 32 and layout == contiguous(2)):
        return False
    return can_store(type, layout)


def preferred_store(type: VmiVRegType) -> VmiLayoutAttr | None:
    """Return the layout that a store would have: short vectors spread to the whole register; None for no wish."""
    bits, count = bits_of(type), type.count.data
    ratio = {(8, 64): 4, (8, 128): 2, (16, 64): 2}.get((bits, count))
    return None if ratio is None else contiguous(ratio)


def _rows_are_blocks(stride: int | None, bits: int) -> bool:
    return stride is not None and stride > 0 and stride % (256 // bits) == 0


def group_loads(type: VmiVRegType, groups: int, stride: int | None) -> list[VmiLayoutAttr]:
    """Return the layouts in which a row for each group is loaded, with a distance of rows; None for an unknown one."""
    spans, bits = spans_of(type, groups), bits_of(type)
    found: list[VmiLayoutAttr] = []
    follows = stride == size_of_groups(type, groups)
    if "full" in spans or (spans and follows):
        found.append(contiguous())
    if bits == 32 and _rows_are_blocks(stride, bits):
        found += [block_deinterleaved(parts) for parts in (2, 4) if str(parts) in spans]
    return found


def broadcast_loads(type: VmiVRegType, groups: int, stride: int | None) -> list[VmiLayoutAttr]:
    """Return the layouts in which an element for each group is loaded and repeated in the group."""
    spans = spans_of(type, groups)
    found: list[VmiLayoutAttr] = []
    if stride == 1:
        rows = {
            "1/4": [contiguous(4)], "1/2": [contiguous(2)], "1": [contiguous()],
            "2": [contiguous(), deinterleaved(2)], "4": [contiguous(), deinterleaved(4)],
        }  # fmt: skip
        found += [layout for span in spans for layout in rows.get(span, ())]
    if "full" in spans:
        found.append(contiguous())
        found += [deinterleaved(2), deinterleaved(4)] if groups == 1 else []
    return found


def direct_broadcast_load(type: VmiVRegType, groups: int, stride: int | None) -> tuple[str, VmiLayoutAttr] | None:
    """Return how one instruction loads an element for each group and repeats it, and in which layout.

    `E2B` repeats each of eight elements in one, two or four blocks, `BRC` one element in whole registers.
    """
    spans, bits, own = spans_of(type, groups), bits_of(type), layout_of(type)
    rows: list[tuple[str, VmiLayoutAttr]] = []
    if groups == 8 and bits in (16, 32) and stride == 1:
        rows += [("E2B", deinterleaved(parts)) for parts in (1, 2, 4) if str(parts) in spans]
    if "full" in spans:
        rows.append(("BRC", contiguous()))
        rows += [("BRC", deinterleaved(2)), ("BRC", deinterleaved(4))] if groups == 1 else []
    return next((row for row in rows if own in (None, row[1])), None)


def can_hold_slots(layout: VmiLayoutAttr, groups: int) -> bool:
    """Return True if one element for each group is loaded or stored in a layout."""
    rows = [group_slots(groups, 1), *(group_slots(groups, 8, stride) for stride in (1, 2, 4))] if groups > 0 else []
    return layout in rows


def group_stores(type: VmiVRegType, groups: int, stride: int | None) -> list[tuple[str, VmiLayoutAttr]]:
    """Return the layouts from which a row for each group is stored: the wanted one first, `legal` ones last."""
    spans = spans_of(type, groups)
    found: list[tuple[str, VmiLayoutAttr]] = []
    if "1" in spans and _rows_are_blocks(stride, bits_of(type)):
        found.append(("high", contiguous()))
    if "full" in spans:
        found.append(("fallback", contiguous()))
    if "full2" in spans:
        found.append(("legal", deinterleaved(2)))
    return found


def can_store_groups(type: VmiVRegType, layout: VmiLayoutAttr, groups: int, stride: int | None) -> bool:
    """Return True if a row, or one element, for each group is stored from a layout."""
    if is_group_slots(layout):
        return can_hold_slots(layout, groups)
    return any(layout == row for _, row in group_stores(type, groups, stride))


def stores_of_groups(type: VmiVRegType, layout: VmiLayoutAttr, groups: int, stride: int | None) -> list[VmiLayoutAttr]:
    """Return the layouts from which a vector in a layout is stored in groups: its own, or one it is brought into."""
    if can_store_groups(type, layout, groups, stride):
        return [layout]
    source = with_layout(type, layout)
    rows = dict.fromkeys(row for _, row in group_stores(type, groups, stride))
    return [row for row in rows if can_change(source, row)]


def preferred_group_store(type: VmiVRegType, groups: int, stride: int | None) -> VmiLayoutAttr | None:
    """Return the layout that a store in groups would have."""
    if type.count.data == groups:
        return group_slots(groups, 8 if stride == 1 and groups >= 8 else 1)
    rows = [row for kind, row in group_stores(type, groups, stride) if kind != "legal"]
    return rows[0] if rows else None


# ---------------------------------------------------------------------------------------------
# Moves between elements
# ---------------------------------------------------------------------------------------------


def interleavings(type: VmiVRegType, *, splits: bool) -> list[Pair]:
    """Return the layouts of what `vintlv` takes and gives; `splits` for `vdintlv`."""
    lanes, count, bits = lanes_of(type), type.count.data, bits_of(type)
    registers = 1 if count <= lanes else count // lanes if count % lanes == 0 else 0
    rows: list[Pair] = []
    if registers in (2, 4):
        rows.append((contiguous(), deinterleaved(2)))
    if registers == 4:
        rows.append((deinterleaved(2), deinterleaved(4)))
    if splits:
        rows = [(second, first) for first, second in rows]
    if registers == 1:
        rows.append((contiguous(), contiguous()))
        rows += [
            (contiguous(stride), contiguous(stride))
            for stride in (2, 4)
            if bits * stride <= 32 and registers_in(type, contiguous(stride)) <= 1
        ]
    return rows


def can_select(source: VmiVRegType, index: VmiVRegType, result: VmiVRegType) -> bool:
    """Return True if elements are chosen by the numbers in another vector: all in one register."""
    bits, count = bits_of(source), source.count.data
    return (
        source.element_type == result.element_type
        and bits == bits_of(index)
        and count in {8: (64, 128, 256), 16: (64, 128), 32: (64,)}.get(bits, ())
        and index.count == result.count == source.count
    )


# ---------------------------------------------------------------------------------------------
# From one layout to another
# ---------------------------------------------------------------------------------------------


def _changes(type: VmiVRegType, groups: int) -> Iterator[Pair]:
    """Yield layouts between which a vector is brought, in either direction."""
    bits, count = bits_of(type), type.count.data
    if count == 1:
        yield contiguous(), group_slots(1, 1)
    if (bits, count) in {(16, 256), (32, 128), (32, 256)}:
        yield contiguous(), deinterleaved(2)
    if (bits, count) == (32, 256):
        yield contiguous(), deinterleaved(4)
    if (bits, count) in {(32, 256), (32, 512)}:
        yield deinterleaved(2), deinterleaved(4)
    for stride in (2, 4):
        if bits * stride <= 32:
            yield contiguous(), contiguous(stride)
            if groups:
                yield group_slots(groups, 8), group_slots(groups, 8, stride)
    if bits == 8 and groups:
        yield group_slots(groups, 8, 2), group_slots(groups, 8, 4)


_SHORT_MASKS = {
    (8, 2): (1, 2, 4, 8, 64, 128), (16, 2): (1, 2, 4, 8, 64), (32, 2): (1, 2, 4, 8, 64),
    (8, 4): (1, 2, 4, 8, 64), (16, 4): (1, 2, 4, 8), (32, 4): (1, 2, 4, 8),
}  # fmt: skip
"""The lengths of masks whose bits are brought apart, by width and lane stride."""


def _mask_changes(type: VmiMaskType) -> Iterator[Pair]:
    bits, count = bits_of(type), type.count.data
    if (bits, count) in {(16, 256), (32, 128), (32, 256), (32, 512)}:
        yield contiguous(), deinterleaved(2)
    if (bits, count) == (32, 128):
        yield contiguous(), block_deinterleaved(2)
    if (bits, count) == (32, 256):
        yield contiguous(), deinterleaved(4)
        yield contiguous(), block_deinterleaved(4)
    for stride in (2, 4):
        if count in _SHORT_MASKS.get((bits, stride), ()):
            yield contiguous(), contiguous(stride)


def can_change(type: Virtual, layout: VmiLayoutAttr) -> bool:
    """Return True if a vector or mask is brought from its layout into another."""
    own = layout_of(type)
    if own is None:
        return False
    if own == layout:
        return True
    if isinstance(type, VmiMaskType):
        rows: Sequence[Pair] = list(_mask_changes(type))
    else:
        groups = next((each.factor.data for each in (own, layout) if is_group_slots(each)), 0)
        rows = list(_changes(type, groups))
    return (own, layout) in rows or (layout, own) in rows
