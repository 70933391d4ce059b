#!/usr/bin/env cs_python
"""Twice, with new values; the totals are numpy's cumulative sum along the row."""

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
options = {
    "order": MemcpyOrder.ROW_MAJOR, "data_type": MemcpyDataType.MEMCPY_32BIT, "streaming": False, "nonblock": False,
}  # fmt: skip

generator = np.random.default_rng(25)
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
values, totals = runner.get_id("values"), runner.get_id("totals")
runner.load()
runner.run()
for _ in range(2):
    given = generator.integers(-1000, 1000, (width, length)).astype(np.float32)
    runner.memcpy_h2d(values, given.ravel(), 0, 0, width, 1, length, **options)
    runner.launch("add", nonblock=False)
    found = np.zeros(width * length, np.float32)
    runner.memcpy_d2h(found, totals, 0, 0, width, 1, length, **options)
    np.testing.assert_array_equal(found.reshape(width, length), given.cumsum(axis=0))
runner.stop()
print("SUCCESS!")
