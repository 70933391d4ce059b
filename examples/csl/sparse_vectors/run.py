#!/usr/bin/env cs_python
"""Add two sparse vectors of each kind, one of them empty, and compare with dense sums."""

import argparse
import json

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime
from cerebras.sdk.sdk_utils import input_array_to_u32, memcpy_view

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    length = int(json.load(file)["params"]["length"])
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_16BIT,
    "nonblock": False,
}

generator = np.random.default_rng(23)
sums = {"half_sums": np.zeros(length, np.float16), "integer_sums": np.zeros(length, np.int16)}
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
dense = runner.get_id("dense")
runner.load()
runner.run()
for density in (0.3, 0.0, 0.8):
    for column, name in ((0, "half_sums"), (2, "integer_sums")):
        vector = generator.integers(-40, 40, length) * (generator.random(length) < density)
        vector = vector.astype(sums[name].dtype)
        sums[name] += vector
        runner.memcpy_h2d(dense, input_array_to_u32(vector, None, length), column, 0, 1, 1, length, **copy)
    runner.launch("run", nonblock=False)
    for name, expected in sums.items():
        words = np.zeros(length, np.uint32)
        runner.memcpy_d2h(words, runner.get_id(name), 1, 0, 1, 1, length, **copy)
        np.testing.assert_array_equal(memcpy_view(words, expected.dtype), expected)
runner.stop()
print("SUCCESS!")
