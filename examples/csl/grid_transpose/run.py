#!/usr/bin/env cs_python
"""Transpose the whole matrix twice: once must give numpy's transpose, twice the matrix again."""

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


def tiles_of(matrix: np.ndarray) -> np.ndarray:
    return matrix.reshape(side, tile, side, tile).transpose(0, 2, 1, 3).ravel()


matrix = np.arange((side * tile) ** 2, dtype=np.float32).reshape(side * tile, side * tile)
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbol = runner.get_id("tile_data")
runner.load()
runner.run()
runner.memcpy_h2d(symbol, tiles_of(matrix), 0, 0, side, side, tile * tile, **copy)
for expected in (matrix.T, matrix):
    runner.launch("transpose", nonblock=False)
    result = np.zeros(matrix.size, np.float32)
    runner.memcpy_d2h(result, symbol, 0, 0, side, side, tile * tile, **copy)
    np.testing.assert_array_equal(result, tiles_of(np.ascontiguousarray(expected)))
runner.stop()
print("SUCCESS!")
