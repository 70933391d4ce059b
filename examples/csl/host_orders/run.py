#!/usr/bin/env cs_python
"""A numpy array (height, width, depth) follows every transfer; the device must agree all the way."""

import argparse
import json
from typing import Literal

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime
from cerebras.sdk.sdk_utils import input_array_to_u32, memcpy_view

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    params = json.load(file)["params"]
width, height, depth = (int(params[name]) for name in ("width", "height", "depth"))
Order = Literal["C", "F"]
ORDERS: dict[Order, MemcpyOrder] = {"C": MemcpyOrder.ROW_MAJOR, "F": MemcpyOrder.COL_MAJOR}
BITS_16, BITS_32 = MemcpyDataType.MEMCPY_16BIT, MemcpyDataType.MEMCPY_32BIT


def options(order: Order, data_type: MemcpyDataType, nonblock: bool = False) -> dict[str, object]:
    return {"streaming": False, "order": ORDERS[order], "data_type": data_type, "nonblock": nonblock}


generator = np.random.default_rng(24)
wide = np.zeros((height, width, depth), np.int32)
narrow = np.zeros((height, width, depth), np.int16)

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
wide_symbol, narrow_symbol, fixed_symbol = (runner.get_id(name) for name in ("wide", "narrow", "fixed"))
runner.load()
runner.run()


def check(order: Order) -> None:
    words = np.zeros(wide.size, np.int32)
    runner.memcpy_d2h(words, wide_symbol, 0, 0, width, height, depth, **options(order, BITS_32))
    np.testing.assert_array_equal(words.reshape(wide.shape, order=order), wide)
    words = np.zeros(narrow.size, np.uint32)
    runner.memcpy_d2h(words, narrow_symbol, 0, 0, width, height, depth, **options(order, BITS_16))
    np.testing.assert_array_equal(memcpy_view(words, np.dtype(np.int16)).reshape(wide.shape, order=order), narrow)


# The whole grid in both orders, then a region of it and only a part of each PE's array.
for order in ORDERS:
    wide[:] = generator.integers(-(1 << 31), 1 << 31, wide.shape)
    runner.memcpy_h2d(wide_symbol, wide.ravel(order), 0, 0, width, height, depth, **options(order, BITS_32))
    narrow[:] = generator.integers(-(1 << 15), 1 << 15, narrow.shape)
    words = input_array_to_u32(narrow.ravel(order), None, narrow.size)
    runner.memcpy_h2d(narrow_symbol, words, 0, 0, width, height, depth, **options(order, BITS_16))
    check("F")
    check("C")

    part = generator.integers(0, 1000, (height - 1, width - 2, depth // 2)).astype(np.int32)
    wide[1:, 1:-1, : depth // 2] = part
    region = (1, 1, width - 2, height - 1, depth // 2)
    runner.memcpy_h2d(wide_symbol, part.ravel(order), *region, **options(order, BITS_32))
    words = np.zeros(part.size, np.int32)
    runner.memcpy_d2h(words, wide_symbol, *region, **options(order, BITS_32))
    np.testing.assert_array_equal(words.reshape(part.shape, order=order), part)
    check(order)

# One array for every row of PEs, then one for every column of a region.
for order in ORDERS:
    line = generator.integers(0, 1000, (height, 1, depth)).astype(np.int32)
    wide[:] = line
    runner.memcpy_h2d_rowbcast(wide_symbol, line.ravel(order), 0, 0, width, height, depth, **options(order, BITS_32))
    line = generator.integers(0, 1000, (1, width - 1, depth)).astype(np.int32)
    wide[1:3, 1:] = line
    runner.memcpy_h2d_colbcast(wide_symbol, line.ravel(order), 1, 1, width - 1, 2, depth, **options(order, BITS_32))
    check(order)

# Nothing waits here until the last copy; the order must hold all the same.
for step in (7, -300, 25):
    runner.launch("add", np.int16(step), nonblock=True)
    wide += step
    narrow += np.int16(step)
    line = generator.integers(0, 100, depth).astype(np.int32)
    wide[0, 0] = line
    runner.memcpy_h2d(wide_symbol, line, 0, 0, 1, 1, depth, **options("C", BITS_32, nonblock=True))
check("C")

fixed = np.zeros(3 * width * height, np.uint32)
runner.memcpy_d2h(fixed, fixed_symbol, 0, 0, width, height, 3, **options("C", BITS_16))
np.testing.assert_array_equal(memcpy_view(fixed, np.dtype(np.uint16)).reshape(-1, 3), [[1, 2, 3]] * (width * height))
runner.stop()
print("SUCCESS!")
