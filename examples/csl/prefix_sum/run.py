#!/usr/bin/env cs_python
"""Scan rows twice over; numpy's cumulative sum in uint32 wraps the same way."""

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
width, height, length = (int(params[name]) for name in ("width", "height", "length"))
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}

numbers = np.random.default_rng(14).integers(0, 1 << 32, (height, width * length), dtype=np.uint32)
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbol = runner.get_id("numbers")
runner.load()
runner.run()
runner.memcpy_h2d(symbol, numbers.ravel(), 0, 0, width, height, length, **copy)
for _ in range(2):
    runner.launch("scan", nonblock=False)
    numbers = np.cumsum(numbers, axis=1, dtype=np.uint32)
    result = np.zeros(numbers.size, np.uint32)
    runner.memcpy_d2h(result, symbol, 0, 0, width, height, length, **copy)
    np.testing.assert_array_equal(result.reshape(numbers.shape), numbers)
runner.stop()
print("SUCCESS!")
