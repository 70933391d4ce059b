#!/usr/bin/env cs_python
"""Two patterns against two texts; the table is filled in again in Python."""

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
    params = json.load(file)["params"]
count = int(params["letters"])
text_in, distances_out = int(params["MEMCPYH2D_DATA_1_ID"]), int(params["MEMCPYD2H_DATA_1_ID"])
narrow = {"order": MemcpyOrder.ROW_MAJOR, "data_type": MemcpyDataType.MEMCPY_16BIT, "nonblock": False}
wide = {"order": MemcpyOrder.ROW_MAJOR, "data_type": MemcpyDataType.MEMCPY_32BIT, "nonblock": False}


def distances(pattern: str, text: str) -> list[int]:
    row = list(range(len(pattern) + 1))
    last: list[int] = []
    for number, letter in enumerate(text, 1):
        next_row = [number]
        for k, own in enumerate(pattern):
            next_row.append(min(row[k] + (own != letter), row[k + 1] + 1, next_row[k] + 1))
        row = next_row
        last.append(row[-1])
    return last


runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbol = runner.get_id("letter")
runner.load()
runner.run()
for pattern, text in (("wavelets", "the wavelengths of waves"), ("dataflow", "doodle a flow of data")):
    letters = np.array([ord(letter) for letter in pattern[:count]], np.uint16)
    words = input_array_to_u32(letters, None, count)
    runner.memcpy_h2d(symbol, words, 0, 0, count, 1, 1, streaming=False, **narrow)
    runner.launch("restart", nonblock=False)

    codes = np.array([ord(letter) for letter in text], np.uint16)
    words = input_array_to_u32(codes, 1, len(text))
    runner.memcpy_h2d(text_in, words, 0, 0, 1, 1, len(text), streaming=True, **wide)
    words = np.zeros(len(text), np.uint32)
    runner.memcpy_d2h(words, distances_out, count - 1, 0, 1, 1, len(text), streaming=True, **narrow)
    found = memcpy_view(words, np.dtype(np.uint16))
    np.testing.assert_array_equal(found, distances(pattern[:count], text))
runner.stop()
print("SUCCESS!")
