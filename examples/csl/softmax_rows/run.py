#!/usr/bin/env cs_python
"""Compare with numpy, for numbers whose exponentials would overflow by themselves."""

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
width, rows, columns = (int(params[name]) for name in ("width", "rows", "columns"))
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbol = runner.get_id("block")
runner.load()
runner.run()
generator = np.random.default_rng(2)
for scale in (1.0, 60.0):
    numbers = (scale * generator.standard_normal((rows, width, columns))).astype(np.float32)
    runner.memcpy_h2d(symbol, numbers.transpose(1, 0, 2).ravel(), 0, 0, width, 1, rows * columns, **copy)
    runner.launch("softmax", nonblock=False)
    result = np.zeros(rows * width * columns, np.float32)
    runner.memcpy_d2h(result, symbol, 0, 0, width, 1, rows * columns, **copy)
    powers = np.exp(numbers.astype(np.float64) - numbers.max(axis=(1, 2), keepdims=True))
    expected = powers / powers.sum(axis=(1, 2), keepdims=True)
    np.testing.assert_allclose(result.reshape(width, rows, columns).transpose(1, 0, 2), expected, rtol=1e-4, atol=1e-7)
runner.stop()
print("SUCCESS!")
