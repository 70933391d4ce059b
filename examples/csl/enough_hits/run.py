#!/usr/bin/env cs_python
"""Draw points until enough have hit, and draw the same points with numpy."""

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
width, height = int(params["width"]), int(params["height"])
goal, budget = int(params["goal"]), 8 * int(params["max_batches"])
TOTAL_COLOR = 16
copy = {"order": MemcpyOrder.ROW_MAJOR, "data_type": MemcpyDataType.MEMCPY_32BIT, "nonblock": False}

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
seeds = np.random.default_rng(3).integers(1, 2**32, width * height, dtype=np.uint32)
runner.memcpy_h2d(runner.get_id("seed"), seeds, 0, 0, width, height, 1, streaming=False, **copy)
runner.launch("sample", nonblock=False)
total = np.zeros(1, np.uint32)
runner.memcpy_d2h(total, TOTAL_COLOR, width - 1, 0, 1, 1, 1, streaming=True, **copy)
result = np.zeros(2 * width * height, np.uint32)
runner.memcpy_d2h(result, runner.get_id("result"), 0, 0, width, height, 2, streaming=False, **copy)
runner.stop()

points, hits = result.reshape(-1, 2).T.astype(int)
assert goal <= total[0] <= hits.sum(), (goal, total[0], hits.sum())
assert (points < budget).all(), "the PEs have been told to stop"
number, expected = seeds.copy(), np.zeros(seeds.size, int)
for drawn in range(points.max()):
    for shift in (13, -17, 5):
        number ^= number << np.uint32(shift) if shift > 0 else number >> np.uint32(-shift)
    x, y = (number & 0x7FFF).astype(int), (number >> np.uint32(15) & 0x7FFF).astype(int)
    expected += (x * x + y * y < 2**30) & (drawn < points)
np.testing.assert_array_equal(hits, expected)
pi = 4 * hits.sum() / points.sum()
assert abs(pi - np.pi) < 0.15, pi
print(f"{hits.sum()} of {points.sum()} points hit, {total[0]} when the tally ended: pi is about {pi:.3f}")
print("SUCCESS!")
