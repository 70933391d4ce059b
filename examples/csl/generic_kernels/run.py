#!/usr/bin/env cs_python
"""Fill each instance's source, run the chain twice, compare the targets bit for bit."""

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

widths = {2: MemcpyDataType.MEMCPY_16BIT, 4: MemcpyDataType.MEMCPY_32BIT}


def transfer(dtype: np.dtype) -> dict[str, object]:
    return {
        "streaming": False,
        "order": MemcpyOrder.ROW_MAJOR,
        "data_type": widths[dtype.itemsize],
        "nonblock": False,
    }


runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
generator = np.random.default_rng(3)
operations = {"f32": np.subtract, "i32": np.maximum, "u16": np.subtract, "f16": np.maximum}
for _ in range(2):
    sources: dict[str, np.ndarray] = {}
    for name in operations:
        dtype = np.dtype({"f": "float", "i": "int", "u": "uint"}[name[0]] + name[1:])
        sources[name] = generator.integers(0, 1000, length).astype(dtype)
        words = sources[name]
        if dtype.itemsize == 2:
            words = input_array_to_u32(words, None, length)
        runner.memcpy_h2d(runner.get_id(f"in_{name}"), words, 0, 0, 1, 1, length, **transfer(dtype))
    runner.launch("run", nonblock=False)
    for name, operation in operations.items():
        source = sources[name]
        words = np.zeros(length, np.uint32)
        runner.memcpy_d2h(words, runner.get_id(f"out_{name}"), 0, 0, 1, 1, length, **transfer(source.dtype))
        target = memcpy_view(words, source.dtype)
        np.testing.assert_array_equal(target, operation(source, np.roll(source, -1)))
runner.stop()
print("SUCCESS!")
