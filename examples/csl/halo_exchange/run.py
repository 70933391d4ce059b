#!/usr/bin/env cs_python
"""The same diffusion on the whole grid in numpy, bit for bit."""

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
side = tile + 2
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}


def step(grid: np.ndarray) -> np.ndarray:
    padded = np.pad(grid, 1)
    around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    return (grid + around) >> 1


grid = np.random.default_rng(15).integers(-1000, 1000, (height * tile, width * tile)).astype(np.int32)
tiles = np.zeros((height, width, side, side), np.int32)
tiles[:, :, 1:-1, 1:-1] = grid.reshape(height, tile, width, tile).transpose(0, 2, 1, 3)

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbol = runner.get_id("cells")
runner.load()
runner.run()
runner.memcpy_h2d(symbol, tiles.ravel(), 0, 0, width, height, side * side, **copy)
for steps in (1, 5, 2):
    runner.launch("diffuse", np.uint16(steps), nonblock=False)
    for _ in range(steps):
        grid = step(grid)
    runner.memcpy_d2h(tiles.ravel(), symbol, 0, 0, width, height, side * side, **copy)
    result = tiles[:, :, 1:-1, 1:-1].transpose(0, 2, 1, 3).reshape(grid.shape)
    np.testing.assert_array_equal(result, grid)
runner.stop()
print("SUCCESS!")
