#!/usr/bin/env cs_python
"""Vectors and scalars must agree with each other and with numpy, for several shifts."""

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

generator = np.random.default_rng(7)
a = generator.integers(1, 1 << 16, length).astype(np.uint16)
a[:4] = 1, 0x8000, 0xFFFF, 0x00F0
b = generator.integers(0, 1 << 16, length).astype(np.uint16)
text = [f"{x:016b}" for x in a]
counts = {
    "ones": np.array([x.count("1") for x in text], np.uint16),
    "leading": np.array([x.index("1") for x in text], np.uint16),
    "trailing": np.array([x[::-1].index("1") for x in text], np.uint16),
}

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
for name, vector in {"a": a, "b": b}.items():
    runner.memcpy_h2d(runner.get_id(name), input_array_to_u32(vector, None, length), 0, 0, 1, 1, length, **copy)
for shift in (0, 3, 15):
    runner.launch("compute", np.uint16(shift), nonblock=False)
    expected = [
        *(a & b, a | b, a ^ 0x5A5A),
        *(a << np.uint16(shift), a >> np.uint16(shift), (a.view(np.int16) >> np.int16(shift)).view(np.uint16)),
        *(counts["ones"], counts["leading"], counts["trailing"]),
        *(a + b, a - b, a, a + np.uint16(1), np.full_like(a, 0xBEEF)),
    ]
    for name in ("vectors", "scalars"):
        words = np.zeros(len(expected) * length, np.uint32)
        runner.memcpy_d2h(words, runner.get_id(name), 0, 0, 1, 1, words.size, **copy)
        np.testing.assert_array_equal(memcpy_view(words, np.dtype(np.uint16)).reshape(-1, length), expected)
runner.stop()
print("SUCCESS!")
