#!/usr/bin/env cs_python
"""Find the arrays by the names that the program makes, and their numbers in the log."""

import argparse
import json
import re
from pathlib import Path

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime
from cerebras.sdk.sdk_utils import memcpy_view

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    params = json.load(file)["params"]
width, buckets = int(params["width"]), int(params["buckets"])
numbers = 50

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
runner.launch("count", np.uint16(numbers), nonblock=False)
histograms: list[np.ndarray] = []
for kind in range(2):
    words = np.zeros(width * buckets, np.uint32)
    runner.memcpy_d2h(
        words, runner.get_id(f"histogram_{kind}"), 0, 0, width, 1, buckets, streaming=False,
        order=MemcpyOrder.ROW_MAJOR, data_type=MemcpyDataType.MEMCPY_16BIT, nonblock=False,
    )  # fmt: skip
    histograms.append(memcpy_view(words, np.dtype(np.uint16)).reshape(width, buckets))
runner.stop()
low, high = histograms
np.testing.assert_array_equal(low.sum(axis=1), numbers)
np.testing.assert_array_equal(high.sum(axis=1), numbers)

log = Path("sim.log").read_text()
for x in range(width):
    (table,) = re.findall(rf"PE {x + 1} of {width}, {buckets} buckets:(.*)", log)
    assert table.split() == [f"{a}/{b}" for a, b in zip(low[x], high[x], strict=True)], table
    assert f"PE({x},0): {low[x, 0]:04X} {high[x, 0]:016b}\n" in log
print("SUCCESS!")
