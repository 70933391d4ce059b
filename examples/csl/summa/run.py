#!/usr/bin/env cs_python
"""Multiply matrices of small integers, whose products are exact, and compare with numpy."""

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
side, tile = int(params["side"]), int(params["tile"])
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}
region = (0, 0, side, side, tile * tile)

generator = np.random.default_rng(16)
A, B = generator.integers(-20, 20, (2, side * tile, side * tile)).astype(np.float32)


def tiles_of(matrix: np.ndarray) -> np.ndarray:
    """By PEs, row by row, and within a tile by columns."""
    return matrix.reshape(side, tile, side, tile).transpose(0, 2, 3, 1).ravel()


runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
runner.memcpy_h2d(runner.get_id("A"), tiles_of(A), *region, **copy)
runner.memcpy_h2d(runner.get_id("B"), tiles_of(B), *region, **copy)
for _ in range(2):
    runner.launch("multiply", nonblock=False)
result = np.zeros(A.size, np.float32)
runner.memcpy_d2h(result, runner.get_id("C"), *region, **copy)
runner.stop()
np.testing.assert_array_equal(result, tiles_of(A @ B))
print("SUCCESS!")
