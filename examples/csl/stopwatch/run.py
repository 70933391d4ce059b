#!/usr/bin/env cs_python
"""Measure two lengths and compare the durations with each other."""

import argparse
import json

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime
from cerebras.sdk.sdk_utils import calculate_cycles, memcpy_view

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
x = np.arange(length, dtype=np.float32)
runner.memcpy_h2d(runner.get_id("x"), x, 0, 0, 1, 1, length, **options(MemcpyDataType.MEMCPY_32BIT))


def read_stamps() -> np.ndarray:
    words = np.zeros(12, np.uint32)
    runner.memcpy_d2h(words, runner.get_id("stamps"), 0, 0, 1, 1, 12, **options(MemcpyDataType.MEMCPY_16BIT))
    return memcpy_view(words, np.dtype(np.uint16)).copy()


def ticks(words: np.ndarray) -> int:
    return sum(int(word) << 16 * place for place, word in enumerate(words))


cycles = {}
for count in (length // 8, length):
    runner.launch("measure", np.uint16(count), nonblock=False)
    products = np.zeros(2, np.float32)
    symbol = runner.get_id("products")
    runner.memcpy_d2h(products, symbol, 0, 0, 1, 1, 2, **options(MemcpyDataType.MEMCPY_32BIT))
    np.testing.assert_array_equal(products, (x[:count] ** 2).sum())
    stamps = read_stamps()
    for row, way in enumerate(("loop", "descriptors")):
        start, finish = stamps[6 * row : 6 * row + 3], stamps[6 * row + 3 : 6 * row + 6]
        cycles[way, count] = ticks(finish) - ticks(start)
        # The SDK's function takes the two stamps as three 32-bit words that hold six 16-bit ones.
        packed = stamps[6 * row : 6 * row + 6].copy().view(np.float32)
        assert int(calculate_cycles(packed)) == cycles[way, count]
        print(f"{count} elements with {way}: {cycles[way, count]} cycles")

for way in ("loop", "descriptors"):
    assert 0 < cycles[way, length // 8] < cycles[way, length]
assert cycles["descriptors", length] < cycles["loop", length]

before = ticks(read_stamps()[9:12])
runner.launch("restart", nonblock=False)
after = ticks(read_stamps()[:3])
assert after < before
runner.stop()
print("SUCCESS!")
