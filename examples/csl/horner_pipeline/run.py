#!/usr/bin/env cs_python
"""Evaluate at many points, streamed in several portions, and again with other coefficients."""

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
width = int(params["width"])
numbers_in, values_out = int(params["MEMCPYH2D_DATA_1_ID"]), int(params["MEMCPYD2H_DATA_1_ID"])
options = {"order": MemcpyOrder.ROW_MAJOR, "data_type": MemcpyDataType.MEMCPY_32BIT}

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
coefficient = runner.get_id("coefficient")
runner.load()
runner.run()
generator = np.random.default_rng(18)
for portion in (40, 1, 25):
    coefficients = generator.integers(-9, 10, width).astype(np.int32)
    runner.memcpy_h2d(coefficient, coefficients, 0, 0, width, 1, 1, streaming=False, nonblock=False, **options)
    points = generator.integers(-30, 30, portion).astype(np.int32)
    runner.memcpy_h2d(numbers_in, points, 0, 0, 1, 1, portion, streaming=True, nonblock=True, **options)
    values = np.zeros(portion, np.int32)
    runner.memcpy_d2h(values, values_out, width - 1, 0, 1, 1, portion, streaming=True, nonblock=False, **options)
    expected = np.zeros(portion, np.int32)
    for c in coefficients:
        expected = expected * points + c
    np.testing.assert_array_equal(values, expected)
runner.stop()
print("SUCCESS!")
