#!/usr/bin/env cs_python
"""Two launches: the receiver's sums must hold both results."""

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
chunks, chunk = int(params["chunks"]), int(params["chunk"])
length = chunks * chunk
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}

generator = np.random.default_rng(27)
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
x_symbol, factors_symbol, result_symbol = (runner.get_id(name) for name in ("x", "factors", "result"))
runner.load()
runner.run()
total = np.zeros(length, np.float32)
for _ in range(2):
    x = generator.integers(-50, 50, length).astype(np.float32)
    factors = generator.integers(-8, 9, chunks).astype(np.float32)
    runner.memcpy_h2d(x_symbol, x, 0, 0, 1, 1, length, **copy)
    runner.memcpy_h2d(factors_symbol, factors, 0, 0, 1, 1, chunks, **copy)
    runner.launch("run", nonblock=False)
    result = x * np.repeat(factors, chunk) + np.float32(0.5)
    total += result
    found = np.zeros((2, length), np.float32)
    runner.memcpy_d2h(found.ravel(), result_symbol, 0, 0, 2, 1, length, **copy)
    np.testing.assert_array_equal(found, [result, total])
runner.stop()
print("SUCCESS!")
