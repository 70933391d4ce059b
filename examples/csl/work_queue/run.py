#!/usr/bin/env cs_python
"""Compare the longest Collatz sequence of each block with Python's, and see that all workers have had work."""

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
width, height, blocks, length = (int(params[name]) for name in ("width", "height", "blocks", "block_length"))
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}


def steps(number: int) -> int:
    """Return the length of a Collatz sequence."""
    count = 0
    while number != 1:
        number = 3 * number + 1 if number % 2 else number // 2
        count += 1
    return count


runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbols = {name: runner.get_id(name) for name in ("longest", "done_by")}
runner.load()
runner.run()
runner.launch("start", nonblock=False)
longest, done_by = np.zeros((2, blocks), np.uint32)
runner.memcpy_d2h(longest, symbols["longest"], 0, 0, 1, 1, blocks, **copy)
runner.memcpy_d2h(done_by, symbols["done_by"], 0, 0, 1, 1, blocks, **copy)
runner.stop()

expected = [max(steps(block * length + i + 1) for i in range(length)) for block in range(blocks)]
np.testing.assert_array_equal(longest, expected)
assert set(done_by.tolist()) == set(range(1, width * height))
print("SUCCESS!")
