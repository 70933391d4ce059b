#!/usr/bin/env cs_python
"""Shifts to both sides, in a mixed order; a PE without a neighbor where vectors come from keeps its own."""

import argparse
import json

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    params = json.load(file)["params"]
width, length = int(params["width"]), int(params["length"])
options = {
    "order": MemcpyOrder.ROW_MAJOR, "data_type": MemcpyDataType.MEMCPY_32BIT, "streaming": False, "nonblock": False,
}  # fmt: skip

generator = np.random.default_rng(27)
expected = generator.integers(-(1 << 31), 1 << 31, (width, length), dtype=np.int32)
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
values = runner.get_id("values")
runner.load()
runner.run()
runner.memcpy_h2d(values, expected.ravel(), 0, 0, width, 1, length, **options)
for to_east in (1, 0, 0, 1, 1, 0):
    runner.launch("shift", np.uint16(to_east), nonblock=False)
    moved = np.roll(expected, 1 if to_east else -1, axis=0)
    edge = 0 if to_east else width - 1
    moved[edge] = expected[edge]
    expected = moved
    found = np.zeros(width * length, np.int32)
    runner.memcpy_d2h(found, values, 0, 0, width, 1, length, **options)
    np.testing.assert_array_equal(found.reshape(width, length), expected)
runner.stop()
print("SUCCESS!")
