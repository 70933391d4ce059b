#!/usr/bin/env cs_python
"""Several turns: every one begins with the switches as the one before has left them."""

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

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
block_symbol, gathered_symbol = runner.get_id("block"), runner.get_id("gathered")
runner.load()
runner.run()
generator = np.random.default_rng(7)
for _ in range(3):
    blocks = generator.standard_normal((width - 1, length), np.float32)
    runner.memcpy_h2d(block_symbol, blocks.ravel(), 0, 0, width - 1, 1, length, **copy)
    runner.launch("gather", nonblock=False)
    gathered = np.zeros((width - 1) * length, np.float32)
    runner.memcpy_d2h(gathered, gathered_symbol, width - 1, 0, 1, 1, (width - 1) * length, **copy)
    np.testing.assert_array_equal(gathered.reshape(width - 1, length), blocks[::-1])
runner.stop()
print("SUCCESS!")
