#!/usr/bin/env cs_python
"""Multiply on a grid of 4 x 3 PEs, twice, so that the second product adds to the first."""

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
width, height, m, n, depth = (int(params[name]) for name in ("width", "height", "m", "n", "depth"))
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbols = {name: runner.get_id(name) for name in "ABC"}
runner.load()
runner.run()
generator = np.random.default_rng(5)
expected = np.zeros((height * m, width * n))
for _ in range(2):
    a = generator.standard_normal((height * m, depth), np.float32)
    b = generator.standard_normal((depth, width * n), np.float32)
    # Tiles of A by columns, those of B by rows.
    a_tiles = a.reshape(height, m, width, depth // width).transpose(0, 2, 3, 1)
    b_tiles = b.reshape(height, depth // height, width, n).transpose(0, 2, 1, 3)
    runner.memcpy_h2d(symbols["A"], a_tiles.ravel(), 0, 0, width, height, m * depth // width, **copy)
    runner.memcpy_h2d(symbols["B"], b_tiles.ravel(), 0, 0, width, height, n * depth // height, **copy)
    runner.launch("multiply", nonblock=False)
    expected += a.astype(np.float64) @ b
product = np.zeros(height * m * width * n, np.float32)
runner.memcpy_d2h(product, symbols["C"], 0, 0, width, height, m * n, **copy)
result = product.reshape(height, width, m, n).transpose(0, 2, 1, 3).reshape(height * m, width * n)
np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)
runner.stop()
print("SUCCESS!")
