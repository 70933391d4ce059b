#!/usr/bin/env cs_python
"""Two rounds of values; the second must start from empty counts."""

import argparse
import json

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime
from cerebras.sdk.sdk_utils import input_array_to_u32, memcpy_view

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    params = json.load(file)["params"]
width, buckets = int(params["width"]), int(params["buckets"])
values_in, totals_out = int(params["MEMCPYH2D_DATA_1_ID"]), int(params["MEMCPYD2H_DATA_1_ID"])
narrow = {"order": MemcpyOrder.ROW_MAJOR, "data_type": MemcpyDataType.MEMCPY_16BIT, "nonblock": False}
wide = {"order": MemcpyOrder.ROW_MAJOR, "data_type": MemcpyDataType.MEMCPY_32BIT, "nonblock": False}

generator = np.random.default_rng(21)
last = np.zeros((width, buckets), np.uint16)
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbol = runner.get_id("last")
runner.load()
runner.run()
for count in (50, 8):
    values = generator.integers(0, 1 << 16, (width, count)).astype(np.uint16)
    # Value in the lower half, place in the PE's stream in the upper half.
    words = input_array_to_u32(values.ravel(), 1, count)
    runner.memcpy_h2d(values_in, words, 0, 0, width, 1, count, streaming=True, **wide)
    runner.launch("gather", np.uint16(count), nonblock=False)
    totals = np.zeros(buckets, np.uint32)
    runner.memcpy_d2h(totals, totals_out, 0, 0, 1, 1, buckets, streaming=True, **narrow)
    expected = np.bincount(values.ravel() % buckets, minlength=buckets)
    np.testing.assert_array_equal(memcpy_view(totals, np.dtype(np.uint16)), expected)

    for x in range(width):
        for index, value in enumerate(values[x]):
            last[x, value % buckets] = index
    words = np.zeros(last.size, np.uint32)
    runner.memcpy_d2h(words, symbol, 0, 0, width, 1, buckets, streaming=False, **narrow)
    np.testing.assert_array_equal(memcpy_view(words, np.dtype(np.uint16)).reshape(last.shape), last)
runner.stop()
print("SUCCESS!")
