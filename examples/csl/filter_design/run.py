#!/usr/bin/env cs_python
"""Filter the same signal with both designs; weights and samples are such that float32 sums are exact."""

import argparse
import json

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    samples = int(json.load(file)["params"]["samples"])
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}
TAPS = 7

signal = np.random.default_rng(10).integers(-60, 60, (2, samples + TAPS - 1)).astype(np.float32)
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
runner.memcpy_h2d(runner.get_id("signal"), signal.ravel(), 0, 0, 2, 1, samples + TAPS - 1, **copy)
runner.launch("apply", nonblock=False)
filtered = np.zeros((2, samples), np.float32)
runner.memcpy_d2h(filtered.ravel(), runner.get_id("filtered"), 0, 0, 2, 1, samples, **copy)
runner.stop()

designs = [[0.5, 0, 0, -1.25, 0, 2, 0], np.array([1, 2, 3, 4, 3, 2, 1]) * 4 / 16]
windows = np.lib.stride_tricks.sliding_window_view(signal, TAPS, axis=1)
for column, weights in enumerate(designs):
    np.testing.assert_array_equal(filtered[column], windows[column] @ np.array(weights, np.float32))
print("SUCCESS!")
