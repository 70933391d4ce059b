#!/usr/bin/env cs_python
"""Numpy's element-wise functions and folds, in float32 where the device computes in float32."""

import argparse
import json

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime
from cerebras.sdk.sdk_utils import input_array_to_u32

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    length = int(json.load(file)["params"]["length"])


def options(data_type: MemcpyDataType) -> dict[str, object]:
    return {"streaming": False, "order": MemcpyOrder.ROW_MAJOR, "data_type": data_type, "nonblock": False}


wide = options(MemcpyDataType.MEMCPY_32BIT)
generator = np.random.default_rng(9)
x = (generator.integers(-800, 800, length) / 8).astype(np.float32)
k = generator.integers(-300, 300, length).astype(np.int16)
slope = np.float32(0.75)

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
runner.memcpy_h2d(runner.get_id("x"), x, 0, 0, 1, 1, length, **wide)
words = input_array_to_u32(k, None, length)
runner.memcpy_h2d(runner.get_id("k"), words, 0, 0, 1, 1, length, **options(MemcpyDataType.MEMCPY_16BIT))
runner.launch("run", slope, nonblock=False)
vectors = np.zeros((2, 4, length), np.float32)
runner.memcpy_d2h(vectors.ravel(), runner.get_id("vectors"), 0, 0, 2, 1, 4 * length, **wide)
scalars = np.zeros(4, np.int32)
runner.memcpy_d2h(scalars, runner.get_id("scalars"), 0, 0, 1, 1, 4, **wide)
runner.stop()

expected = np.zeros((4, length), np.float32)
expected[0] = abs(x)
# The shorter operand ends the operation: the rest of the row is untouched.
expected[1, : length // 2] = slope * x[::2] + np.float32(1.5)
expected[2] = x * k + slope + np.float32(0.25)
expected[3] = np.floor(np.concatenate([x[::2], x[1::2]]))
np.testing.assert_array_equal(vectors[0], expected)
np.testing.assert_array_equal(vectors[1, 0], slope * x - slope)
np.testing.assert_array_equal(scalars[:3], [k.sum(), k.max(), (k < 0).sum()])
print("SUCCESS!")
