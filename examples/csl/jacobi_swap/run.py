#!/usr/bin/env cs_python
"""Odd and even numbers of steps, and copies through both pointers, against the same loop in numpy."""

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
width, length = int(params["width"]), int(params["length"])
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}


def step(line: np.ndarray) -> np.ndarray:
    result = line.copy()
    result[:, 1:-1] = line[:, :-2] + line[:, 2:] - line[:, 1:-1]
    return result


runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
now, after = runner.get_id("now"), runner.get_id("next")
runner.load()
runner.run()


def read(symbol: int) -> np.ndarray:
    result = np.zeros(width * length, np.int32)
    runner.memcpy_d2h(result, symbol, 0, 0, width, 1, length, **copy)
    return result.reshape(width, length)


line = np.random.default_rng(2).integers(-9, 9, (width, length)).astype(np.int32)
runner.memcpy_h2d(now, line.ravel(), 0, 0, width, 1, length, **copy)
for count in (1, 4, 3):
    before = line
    for _ in range(count):
        before, line = line, step(line)
    runner.launch("steps", np.uint16(count), nonblock=False)
    np.testing.assert_array_equal(read(now), line)
    np.testing.assert_array_equal(read(after), before)

# Writing through the pointer to the buffer that is not current, then making it current.
other = np.arange(width * length, dtype=np.int32).reshape(width, length)
runner.memcpy_h2d(after, other.ravel(), 0, 0, width, 1, length, **copy)
np.testing.assert_array_equal(read(now), line)
runner.launch("swap", nonblock=False)
np.testing.assert_array_equal(read(now), other)
runner.launch("steps", np.uint16(2), nonblock=False)
np.testing.assert_array_equal(read(now), step(step(other)))
runner.stop()
print("SUCCESS!")
