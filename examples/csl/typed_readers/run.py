#!/usr/bin/env cs_python
"""Send floats and integers side by side, twice, and compare what the readers have made of them."""

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


def options(data_type: MemcpyDataType) -> dict[str, object]:
    return {"streaming": False, "order": MemcpyOrder.ROW_MAJOR, "data_type": data_type, "nonblock": False}


runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
real_symbol, whole_symbol = runner.get_id("real"), runner.get_id("whole")
rng = np.random.default_rng(5)
for _ in range(2):
    real = rng.normal(size=length).astype(np.float32)
    whole = rng.integers(-1000, 1000, length).astype(np.int16)
    runner.memcpy_h2d(real_symbol, real, 0, 0, 1, 1, length, **options(MemcpyDataType.MEMCPY_32BIT))
    words = input_array_to_u32(whole, 0, 1)
    runner.memcpy_h2d(whole_symbol, words, 0, 0, 1, 1, length, **options(MemcpyDataType.MEMCPY_16BIT))
    runner.launch("transfer", nonblock=False)

    got_real = np.zeros(length, np.float32)
    runner.memcpy_d2h(got_real, real_symbol, 1, 0, 1, 1, length, **options(MemcpyDataType.MEMCPY_32BIT))
    got_words = np.zeros(length, np.uint32)
    runner.memcpy_d2h(got_words, whole_symbol, 1, 0, 1, 1, length, **options(MemcpyDataType.MEMCPY_16BIT))
    np.testing.assert_array_equal(got_real, real * np.float32(0.5))
    np.testing.assert_array_equal(memcpy_view(got_words, np.dtype(np.int16)), whole + 1)
runner.stop()
print("SUCCESS!")
