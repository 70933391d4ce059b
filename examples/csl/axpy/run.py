#!/usr/bin/env cs_python
"""Launch both functions with different arguments and compare every element with numpy."""

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

generator = np.random.default_rng(1)
x = generator.integers(-50, 50, (width, length)).astype(np.float32)
y = generator.integers(-50, 50, (width, length)).astype(np.float32)

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
x_symbol, y_symbol = runner.get_id("x"), runner.get_id("y")
runner.load()
runner.run()
runner.memcpy_h2d(x_symbol, x.ravel(), 0, 0, width, 1, length, **copy)
runner.memcpy_h2d(y_symbol, y.ravel(), 0, 0, width, 1, length, **copy)
runner.launch("axpy", np.float32(2.5), nonblock=False)
runner.launch("axpy_odd", np.float32(-4.0), nonblock=False)
result = np.zeros(width * length, np.float32)
runner.memcpy_d2h(result, y_symbol, 0, 0, width, 1, length, **copy)
runner.stop()

expected = y + np.float32(2.5) * x
expected[:, 1::2] -= 4.0 * x[:, 1::2]
np.testing.assert_array_equal(result.reshape(width, length), expected)
print("SUCCESS!")
