#!/usr/bin/env cs_python
"""Smoothing in several passes, against the same in numpy, bit by bit."""

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
width, height, length = (int(params[name]) for name in ("width", "height", "length"))
times = 3

samples = np.random.default_rng(4).random((height, width, length)).astype(np.float32)
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
options = {
    "streaming": False, "order": MemcpyOrder.ROW_MAJOR, "data_type": MemcpyDataType.MEMCPY_32BIT, "nonblock": False,
}  # fmt: skip
runner.memcpy_h2d(runner.get_id("samples"), samples.ravel(), 0, 0, width, height, length, **options)
runner.launch("smooth", np.int16(times), nonblock=False)
smoothed, statistics = np.zeros(samples.size, np.float32), np.zeros(3 * width * height, np.float32)
runner.memcpy_d2h(smoothed, runner.get_id("samples"), 0, 0, width, height, length, **options)
runner.memcpy_d2h(statistics, runner.get_id("statistics"), 0, 0, width, height, 3, **options)

expected = samples
for _ in range(times):
    left, right = expected[..., :1].copy(), expected[..., -1:].copy()
    left[:, 1:], right[:, 1:] = 0, 0
    before = np.concatenate([left, expected[..., :-1]], axis=2)
    after = np.concatenate([expected[..., 1:], right], axis=2)
    expected = expected + np.float32(0.25) * (before - np.float32(2) * expected + after)
np.testing.assert_array_equal(smoothed.reshape(samples.shape), expected)
totals, passes, edges = np.moveaxis(statistics.reshape(height, width, 3), 2, 0)
np.testing.assert_allclose(totals, expected.sum(axis=2), rtol=1e-5)
assert (passes == times).all()
assert (edges == 2 * times).all()
runner.stop()
print("SUCCESS!")
