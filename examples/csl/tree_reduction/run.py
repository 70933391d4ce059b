#!/usr/bin/env cs_python
"""Reduce twice; the second total is the first one times the number of PEs. Small integers keep sums exact."""

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
width, length = 1 << int(params["levels"]), int(params["length"])
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}

values = np.random.default_rng(13).integers(-99, 99, (width, length)).astype(np.float32)
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbol = runner.get_id("values")
runner.load()
runner.run()
runner.memcpy_h2d(symbol, values.ravel(), 0, 0, width, 1, length, **copy)
total = values.sum(axis=0)
for factor in (1, width):
    runner.launch("reduce", nonblock=False)
    result = np.zeros((width, length), np.float32)
    runner.memcpy_d2h(result.ravel(), symbol, 0, 0, width, 1, length, **copy)
    np.testing.assert_array_equal(result, np.broadcast_to(factor * total, (width, length)))
runner.stop()
print("SUCCESS!")
