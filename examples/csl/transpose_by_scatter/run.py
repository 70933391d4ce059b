#!/usr/bin/env cs_python
"""Transpose a matrix in each column of PEs."""

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
width, height, tile = (int(params[name]) for name in ("width", "height", "tile"))
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
tiles_symbol, transposed_symbol = runner.get_id("tiles"), runner.get_id("transposed")
runner.load()
runner.run()
size = height * tile
matrices = np.arange(width * size * size, dtype=np.int32).reshape(width, size, size)
# Of column x and row y of PEs: its rows of the matrix, tile by tile.
spread = matrices.reshape(width, height, tile, height, tile).transpose(1, 0, 3, 2, 4)
runner.memcpy_h2d(tiles_symbol, spread.ravel(), 0, 0, width, height, size * tile, **copy)
runner.launch("transpose", nonblock=False)
result = np.zeros(width * size * size, np.int32)
runner.memcpy_d2h(result, transposed_symbol, 0, 0, width, height, size * tile, **copy)
joined = result.reshape(height, width, height, tile, tile).transpose(1, 0, 3, 2, 4).reshape(width, size, size)
np.testing.assert_array_equal(joined, matrices.transpose(0, 2, 1))
runner.stop()
print("SUCCESS!")
