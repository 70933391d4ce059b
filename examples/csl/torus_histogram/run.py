#!/usr/bin/env cs_python
"""Count random values, wait for the total of the tally, and compare the bins with numpy's."""

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
values_per_pe, bins_per_pe = int(params["values_per_pe"]), int(params["bins_per_pe"])
TOTAL_COLOR = 16
copy = {"order": MemcpyOrder.ROW_MAJOR, "data_type": MemcpyDataType.MEMCPY_32BIT, "nonblock": False}

bins = width * height * bins_per_pe
values = np.random.default_rng(5).binomial(bins - 1, 0.4, (height, width, values_per_pe)).astype(np.uint32)

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
symbol = runner.get_id("values")
runner.memcpy_h2d(symbol, values.ravel(), 0, 0, width, height, values_per_pe, streaming=False, **copy)
runner.launch("count", nonblock=False)
total = np.zeros(1, np.uint32)
runner.memcpy_d2h(total, TOTAL_COLOR, width - 1, 0, 1, 1, 1, streaming=True, **copy)
assert total[0] == values.size, total
counts = np.zeros(bins, np.uint32)
runner.memcpy_d2h(counts, runner.get_id("counts"), 0, 0, width, height, bins_per_pe, streaming=False, **copy)
runner.stop()
np.testing.assert_array_equal(counts, np.bincount(values.ravel(), minlength=bins))
print("SUCCESS!")
