#!/usr/bin/env cs_python
"""Sums of few bits keep float32 exact; the reference is a loop over the samples. The echo goes on in a second call."""

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
width, delay, count = (int(params["width"]), int(params["delay"]), int(params["block"]) * int(params["blocks"]))
gain = np.float32(0.5)
options = {
    "order": MemcpyOrder.ROW_MAJOR, "data_type": MemcpyDataType.MEMCPY_32BIT, "streaming": False, "nonblock": False,
}  # fmt: skip

signal = np.random.default_rng(21).integers(-64, 64, (width, 2 * count)).astype(np.float32)
expected = signal.copy()
for n in range(delay, 2 * count):
    expected[:, n] += gain * expected[:, n - delay]

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
samples, echoed = runner.get_id("samples"), runner.get_id("echoed")
runner.load()
runner.run()
for half in range(2):
    part = slice(half * count, (half + 1) * count)
    runner.memcpy_h2d(samples, signal[:, part].ravel(), 0, 0, width, 1, count, **options)
    runner.launch("echo", gain, nonblock=False)
    found = np.zeros(width * count, np.float32)
    runner.memcpy_d2h(found, echoed, 0, 0, width, 1, count, **options)
    np.testing.assert_array_equal(found.reshape(width, count), expected[:, part])
runner.stop()
print("SUCCESS!")
