"""Layouts of vectors of any length: where elements are, and that instructions find them there.

The oracle deals elements out by hand, and does what instructions do with lanes: a conversion fills one register from
every second or fourth lane of another, and a reduction adds the lanes of each block of 32 bytes.
"""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ArrayAttr, IntAttr, IntegerType, StringAttr

from loomir.analysis.pto.vector_layout.layouts import (
    Place,
    Placement,
    block_deinterleaved,
    contiguous,
    deinterleaved,
    group_slots,
    registers_in,
    with_layout,
)
from loomir.analysis.pto.vector_layout.relations import can_change, conversions, preferred_conversion, reductions
from loomir.dialects.pto.registers import VmiLayoutAttr, VmiMaskType, VmiVRegType


def vector(count: int, bits: int, layout: VmiLayoutAttr | None = None) -> VmiVRegType:
    return VmiVRegType(IntAttr(count), IntegerType(bits), ArrayAttr(() if layout is None else (layout,)))


def dealt(count: int, bits: int, parts: int, block: int, stride: int) -> list[Place]:
    """Deal elements out one after the other, each to the next place of its part."""
    lanes = 2048 // bits
    filled = [0] * parts
    places: list[Place] = []
    for element in range(count):
        part = element // block % parts
        index = filled[part] * stride
        filled[part] += 1
        places.append(Place(part, index // lanes, index % lanes))
    return places


LAYOUTS = [
    (contiguous(), 1, 0, 1),
    (contiguous(2), 1, 0, 2),
    (contiguous(4), 1, 0, 4),
    (deinterleaved(2), 2, 0, 1),
    (deinterleaved(4), 4, 0, 1),
    (block_deinterleaved(2), 2, 32, 1),
    (block_deinterleaved(4), 4, 32, 1),
]


@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize("count", [1, 3, 64, 100, 129, 256, 500])
def test_elements_are_dealt_out(count: int, bits: int) -> None:
    for layout, parts, block_bytes, stride in LAYOUTS:
        type = vector(count, bits, layout)
        expected = dealt(count, bits, parts, block_bytes * 8 // bits or 1, stride)
        placement = Placement(type)
        assert [placement.place(element) for element in range(count)] == expected, layout
        used = {(place.part, place.register) for place in expected}
        assert registers_in(type) == len(used) == len(placement.registers()), layout
        assert placement.is_full == (len(used) * (2048 // bits) == count), layout
        for part in range(parts):
            assert placement.registers_in_part(part) == len([each for each in used if each[0] == part]), layout


def test_slots_of_groups() -> None:
    placement = Placement(vector(20, 32, group_slots(20, 8)))
    assert placement.place(0) == Place(0, 0, 0)
    assert placement.place(19) == Place(0, 2, 3)
    assert registers_in(vector(20, 32, group_slots(20, 8))) == 3
    assert registers_in(vector(20, 32, group_slots(20, 1))) == 20
    assert not placement.is_full


DENSE = [layout for layout, _, block, _ in LAYOUTS if not block]


@pytest.mark.parametrize(("narrow", "wide"), [(8, 16), (16, 32), (8, 32)])
@pytest.mark.parametrize("count", [64, 128, 256, 300])
def test_a_conversion_fills_registers_from_every_nth_lane(narrow: int, wide: int, count: int) -> None:
    ratio, found = wide // narrow, 0
    for layout in DENSE:
        for source, result in conversions(vector(count, narrow), vector(count, wide), from_=layout):
            found += 1
            assert (result, source) in conversions(vector(count, wide), vector(count, narrow), from_=result)
            before, after = Placement(vector(count, narrow, source)), Placement(vector(count, wide, result))
            for lanes in after.registers().values():
                places = {lane: before.place(element) for lane, element in lanes.items()}
                assert len({(place.part, place.register) for place in places.values()}) == 1, (source, result)
                assert len({place.lane - ratio * lane for lane, place in places.items()}) == 1, (source, result)
    assert found == 3


def test_preferred_conversions() -> None:
    def of(count: int, source: int, result: int) -> tuple[str, str, str]:
        found = preferred_conversion(vector(count, source), vector(count, result))
        assert found is not None
        return str(found.source)[16:-1], str(found.result)[16:-1], found.kind

    # In one register where that suffices, otherwise in parts; the narrow end of what narrows leaves lanes free.
    assert of(64, 16, 32) == ("contiguous, lane_stride = 2", "contiguous", "compact")
    assert of(65, 16, 32) == ("contiguous", "deinterleaved = 2", "deinterleaved")
    assert of(256, 8, 32) == ("contiguous", "deinterleaved = 4", "deinterleaved")
    assert of(128, 32, 16) == ("contiguous", "contiguous, lane_stride = 2", "narrowing")
    assert preferred_conversion(vector(64, 16), vector(64, 16)) is None


@pytest.mark.one_in(2)
@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize("groups", [1, 4, 8, 16])
@pytest.mark.parametrize("size", [2, 4, 8, 16, 32, 64, 128, 256])
def test_a_reduction_adds_lanes_of_blocks(bits: int, groups: int, size: int) -> None:
    """The lanes of a block, or of a register, are of one group, and its number is where the result is."""
    block = 256 // bits
    source = vector(groups * size, bits)
    for layout, result in reductions(source, groups):
        placement = Placement(vector(groups * size, bits, layout))
        slots = Placement(vector(groups, bits, result))
        for element in range(groups * size):
            place, slot = placement.place(element), slots.place(element // size)
            if result == group_slots(groups, 8):
                assert (place.register, place.lane // block) == (slot.register, slot.lane), layout
            else:
                registers = size // (placement.lanes * placement.parts)
                assert place.register // registers == slot.register, layout
    blocks = size / block
    assert bool(reductions(source, groups)) == (blocks in (0.25, 0.5, 1, 2, 4) or blocks % 8 == 0)


def test_changes_go_both_ways() -> None:
    rows = [(contiguous(), deinterleaved(2)), (contiguous(), deinterleaved(4)), (deinterleaved(2), deinterleaved(4))]
    for bits, count in ((32, 256), (32, 128), (16, 256)):
        for one, other in rows:
            first, second = vector(count, bits, one), vector(count, bits, other)
            assert can_change(first, other) == can_change(second, one)
    assert can_change(vector(128, 32, contiguous()), deinterleaved(2))
    assert not can_change(vector(129, 32, contiguous()), deinterleaved(2))
    assert not can_change(vector(128, 32), contiguous())
    mask = VmiMaskType(IntAttr(128), StringAttr("b32"), ArrayAttr((contiguous(),)))
    assert can_change(mask, block_deinterleaved(2))
    assert not can_change(with_layout(mask, deinterleaved(2)), deinterleaved(4))
