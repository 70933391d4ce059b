#!/usr/bin/env cs_python
"""Sort random, reversed and repetitive numbers, negative ones among them."""

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
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}

generator = np.random.default_rng(17)
count = width * length
cases = [
    generator.integers(-(1 << 31), 1 << 31, count),
    np.arange(count)[::-1] - count // 2,
    generator.integers(-2, 3, count),
]
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbol = runner.get_id("block")
runner.load()
runner.run()
for numbers in cases:
    runner.memcpy_h2d(symbol, numbers.astype(np.int32), 0, 0, width, 1, length, **copy)
    runner.launch("sort", nonblock=False)
    result = np.zeros(count, np.int32)
    runner.memcpy_d2h(result, symbol, 0, 0, width, 1, length, **copy)
    np.testing.assert_array_equal(result, np.sort(numbers))
runner.stop()
print("SUCCESS!")
