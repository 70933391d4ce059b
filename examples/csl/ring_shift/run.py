#!/usr/bin/env cs_python
"""Shift by several amounts, more than once round the ring, and compare with numpy's roll."""

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

blocks = np.random.default_rng(12).integers(0, 1 << 32, (width, length), dtype=np.uint32)
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbol = runner.get_id("block")
runner.load()
runner.run()
runner.memcpy_h2d(symbol, blocks.ravel(), 0, 0, width, 1, length, **copy)
for steps in (1, 0, 2, width, 2 * width - 1):
    runner.launch("shift", np.uint16(steps), nonblock=False)
    blocks = np.roll(blocks, steps, axis=0)
    result = np.zeros(width * length, np.uint32)
    runner.memcpy_d2h(result, symbol, 0, 0, width, 1, length, **copy)
    np.testing.assert_array_equal(result.reshape(width, length), blocks)
runner.stop()
print("SUCCESS!")
