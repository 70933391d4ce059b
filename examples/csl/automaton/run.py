#!/usr/bin/env cs_python
"""Several rules, one after the other, on the same ring; the reference is a line of numpy."""

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
width, words = int(params["width"]), int(params["words"])
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}


def step(cells: np.ndarray, rule: int) -> np.ndarray:
    pattern = 4 * np.roll(cells, 1) + 2 * cells + np.roll(cells, -1)
    return rule >> pattern & 1


def packed(cells: np.ndarray) -> np.ndarray:
    return np.packbits(cells.astype(np.uint8), bitorder="little").view("<u4").astype(np.uint32)


cells = np.random.default_rng(22).integers(0, 2, width * words * 32)
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbol = runner.get_id("cells")
runner.load()
runner.run()
runner.memcpy_h2d(symbol, packed(cells), 0, 0, width, 1, words, **copy)
for rule, generations in ((110, 10), (30, 7), (184, 12), (170, 1), (0, 0)):
    runner.launch("evolve", np.uint16(rule), np.uint16(generations), nonblock=False)
    for _ in range(generations):
        cells = step(cells, rule)
    result = np.zeros(width * words, np.uint32)
    runner.memcpy_d2h(result, symbol, 0, 0, width, 1, words, **copy)
    np.testing.assert_array_equal(result, packed(cells))
runner.stop()
print("SUCCESS!")
