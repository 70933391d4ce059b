#!/usr/bin/env cs_python
"""Every item must come through in order, and both sides must have been woken more than once."""

import argparse
import json

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime
from cerebras.sdk.sdk_utils import memcpy_view

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    width = int(json.load(file)["params"]["width"])
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_16BIT,
    "nonblock": False,
}

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()


def read(name: str, size: int) -> np.ndarray:
    words = np.zeros(width * size, np.uint32)
    runner.memcpy_d2h(words, runner.get_id(name), 0, 0, width, 1, size, **copy)
    return memcpy_view(words, np.dtype(np.uint16)).reshape(width, size).copy()


before = read("wakeups", 2)
for count in (100, 63):
    runner.launch("run", np.uint16(count), nonblock=False)
    np.testing.assert_array_equal(read("consumed", count), np.broadcast_to(np.arange(count) ** 2, (width, count)))
    wakeups = read("wakeups", 2)
    assert (wakeups - before >= 2).all(), wakeups
    before = wakeups
runner.stop()
print("SUCCESS!")
