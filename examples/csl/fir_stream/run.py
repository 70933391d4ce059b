#!/usr/bin/env cs_python
"""Integer weights and samples keep float32 exact; numpy's convolution is the reference."""

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
width, taps, samples = (int(params[name]) for name in ("width", "taps", "samples"))
samples_in, answers_out = int(params["MEMCPYH2D_DATA_1_ID"]), int(params["MEMCPYD2H_DATA_1_ID"])
options = {"order": MemcpyOrder.ROW_MAJOR, "data_type": MemcpyDataType.MEMCPY_32BIT}

generator = np.random.default_rng(20)
weights = generator.integers(-8, 9, (width, taps)).astype(np.float32)
signal = generator.integers(-100, 100, (width, samples)).astype(np.float32)

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbol = runner.get_id("weights")
runner.load()
runner.run()
runner.memcpy_h2d(symbol, weights.ravel(), 0, 0, width, 1, taps, streaming=False, nonblock=False, **options)
# The stream comes in two portions; the answers are fetched in two others.
first = samples // 3
for part in (signal[:, :first], signal[:, first:]):
    words = np.ascontiguousarray(part).ravel()
    runner.memcpy_h2d(samples_in, words, 0, 0, width, 1, part.shape[1], streaming=True, nonblock=True, **options)
parts: list[np.ndarray] = []
for size in (samples // 2, samples - samples // 2):
    words = np.zeros(width * size, np.float32)
    runner.memcpy_d2h(words, answers_out, 0, 0, width, 1, size, streaming=True, nonblock=False, **options)
    parts.append(words.reshape(width, size))
runner.stop()
answers = np.concatenate(parts, axis=1)
for channel in range(width):
    expected = np.convolve(signal[channel], weights[channel])[:samples]
    np.testing.assert_array_equal(answers[channel], expected)
print("SUCCESS!")
