"""Constructing operations in Python: types taken from what is described or called, regions from slices."""

from __future__ import annotations

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import FunctionType, MemRefType, f16, f32, i16
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from loomir.dialects import dsd, wse
from loomir.dialects.machine.region import RegionAttr, region_text


def array(*shape: int) -> SSAValue:
    return test.TestOp(result_types=[MemRefType(f32, shape)]).results[0]


def test_a_descriptor_of_an_array_has_all_its_elements() -> None:
    walk = dsd.Mem1dOp.of(array(3, 5))
    assert (walk.offset, walk.stride, walk.extent) == (0, 1, 15)
    assert walk.result.type == dsd.Mem1dType(f32)


def test_an_access_has_the_type_of_its_map() -> None:
    row = dsd.TensorAccessOp(array(3, 5), AffineMap.from_callable(lambda i: (1, i)), [5])
    assert row.result.type == dsd.Mem1dType(f32)
    whole = dsd.TensorAccessOp(array(3, 5), AffineMap.from_callable(lambda i, j: (i, j)), [3, 5])
    assert whole.result.type == dsd.Mem4dType(f32)
    single = dsd.TensorAccessOp(array(5), AffineMap.from_callable(lambda i: (i,)), [5], result_type=dsd.Mem4dType(f32))
    assert single.result.type == dsd.Mem4dType(f32)


def test_symbols_are_used_with_the_types_of_their_definitions() -> None:
    buffer = wse.BufferOp("u", MemRefType(f16, [4]))
    got = wse.GetBufferOp.of(buffer)
    assert (got.buffer.string_value(), got.result.type) == ("u", buffer.type)
    function = wse.FuncOp("f", FunctionType.from_lists([i16], [f32, i16]))
    argument = test.TestOp(result_types=[i16]).results[0]
    call = wse.CallOp.of(function, [argument])
    assert (call.callee.string_value(), list(call.arguments)) == ("f", [argument])
    assert [result.type for result in call.res] == [f32, i16]


@pytest.mark.parametrize(
    ("columns", "rows", "text"),
    [
        (None, None, "[:, :]"),
        (slice(1, None), slice(None, -1), "[1:, :-1]"),
        (slice(None, None, 2), range(1, 6, 2), "[::2, 1:6:2]"),
        (3, -1, "[3, -1]"),
    ],
)
def test_regions_are_slices_ranges_and_indices(
    columns: slice | int | None, rows: slice | range | int | None, text: str
) -> None:
    region = RegionAttr.get(columns, rows)
    assert region_text(region) == text
    # The last index alone is a slice with an open end.
    assert all(map(len, region.resolve(7, 5)))


def test_a_place_is_one_region_or_several() -> None:
    west, east = RegionAttr.get(0), RegionAttr.get(-1)
    ports = [wse.Direction.RAMP], [wse.Direction.EAST]
    assert list(wse.RouteOp("c", west, *ports).placement) == [west]
    assert list(wse.RouteOp("c", [west, east], *ports).placement) == [west, east]
    assert list(wse.PeOp("p", east).placement) == [east]
    assert list(wse.QueueColorAttr.get("c", east).regions) == [east]
