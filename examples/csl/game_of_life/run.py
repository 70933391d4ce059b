#!/usr/bin/env cs_python
"""Let a glider fly, in several launches, and compare every generation launched to with numpy."""

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
width, height = int(params["width"]), int(params["height"])
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_16BIT,
    "nonblock": False,
}


def evolved(cells: np.ndarray) -> np.ndarray:
    """Return the next generation; beyond the border nothing lives."""
    around = np.pad(cells, 1)
    alive = sum(around[y : y + height, x : x + width] for y in range(3) for x in range(3))
    return ((alive == 3) | ((alive == 4) & (cells == 1))).astype(cells.dtype)


# A glider, which moves by a cell to the south-east in four generations.
cells = np.zeros((height, width), np.uint32)
cells[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = 1
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbol = runner.get_id("cell")
runner.load()
runner.run()
runner.memcpy_h2d(symbol, cells.ravel(), 0, 0, width, height, 1, **copy)
for generations in (1, 2, 5):
    runner.launch("evolve", np.uint16(generations), nonblock=False)
    for _ in range(generations):
        cells = evolved(cells)
    result = np.zeros(width * height, np.uint32)
    runner.memcpy_d2h(result, symbol, 0, 0, width, height, 1, **copy)
    np.testing.assert_array_equal(result.reshape(height, width), cells)
    assert cells.any()
runner.stop()
print("SUCCESS!")
