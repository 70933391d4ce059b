#!/usr/bin/env cs_python
"""Sort random columns and compare with numpy; the network must have Batcher's number of comparators."""

import argparse
import json
import math

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime
from cerebras.sdk.sdk_utils import input_array_to_u32, memcpy_view

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    params = json.load(file)["params"]
wires, arrays = int(params["wires"]), int(params["arrays"])
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_16BIT,
    "nonblock": False,
}

data = np.random.default_rng(11).integers(-(1 << 15), 1 << 15, (wires, arrays)).astype(np.int16)
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
words = input_array_to_u32(data.ravel(), None, data.size)
runner.memcpy_h2d(runner.get_id("data"), words, 0, 0, 1, 1, data.size, **copy)
runner.launch("sort", nonblock=False)
words = np.zeros(data.size, np.uint32)
runner.memcpy_d2h(words, runner.get_id("data"), 0, 0, 1, 1, data.size, **copy)
count = np.zeros(1, np.uint32)
runner.memcpy_d2h(count, runner.get_id("comparators"), 0, 0, 1, 1, 1, **copy)
runner.stop()
result = memcpy_view(words, np.dtype(np.int16)).reshape(data.shape)
np.testing.assert_array_equal(result, np.sort(data, axis=0))
levels = int(math.log2(wires))
assert count[0] == (levels * levels - levels + 4) * 2 ** (levels - 2) - 1
print("SUCCESS!")
