#!/usr/bin/env cs_python
"""Measure several lengths; what takes longer must be more work."""

import argparse
import json

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime
from cerebras.sdk.sdk_utils import memcpy_view

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    length = int(json.load(file)["params"]["length"])


def options(data_type: MemcpyDataType) -> dict[str, object]:
    return {"streaming": False, "order": MemcpyOrder.ROW_MAJOR, "data_type": data_type, "nonblock": False}


runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
x = np.linspace(-2, 2, length, dtype=np.float32)
runner.memcpy_h2d(runner.get_id("x"), x, 0, 0, 1, 1, length, **options(MemcpyDataType.MEMCPY_32BIT))

measured: list[tuple[int, int, int]] = []
for count in (length // 4, length // 2, length):
    runner.launch("measure", np.uint16(count), nonblock=False)
    results = np.zeros(2 * length, np.float32)
    runner.memcpy_d2h(results, runner.get_id("results"), 0, 0, 1, 1, 2 * length, **options(MemcpyDataType.MEMCPY_32BIT))
    want = np.full(count, 2, np.float32)
    for coefficient in (-1, 3, 1):
        want = want * x[:count] + np.float32(coefficient)
    for row in results.reshape(2, length):
        np.testing.assert_array_equal(row[:count], want)

    words = np.zeros(9, np.uint32)
    runner.memcpy_d2h(words, runner.get_id("times"), 0, 0, 1, 1, 9, **options(MemcpyDataType.MEMCPY_16BIT))
    rows = memcpy_view(words, np.dtype(np.uint16)).reshape(3, 3).astype(np.int64)
    whole, loop, descriptors = (int(cycles) for cycles in rows @ [1, 1 << 16, 1 << 32])
    print(f"{count} elements: {loop} cycles with a loop, {descriptors} with descriptors, {whole} in all")
    assert 0 < descriptors < loop
    measured.append((whole - loop - descriptors, loop, descriptors))

# Reading the clock takes as long for every length.
assert len({overhead for overhead, _, _ in measured}) == 1 and measured[0][0] > 0
assert sorted(measured) == measured
runner.stop()
print("SUCCESS!")
