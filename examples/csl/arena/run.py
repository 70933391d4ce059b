#!/usr/bin/env cs_python
"""Rows that fit and rows that do not, against the arithmetic of a bump allocator."""

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
    arena_words = int(json.load(file)["params"]["arena_words"])


def options(data_type: MemcpyDataType) -> dict[str, object]:
    return {"streaming": False, "order": MemcpyOrder.ROW_MAJOR, "data_type": data_type, "nonblock": False}


runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
lengths_symbol, sums_symbol, fit_symbol = (runner.get_id(name) for name in ("lengths", "sums", "fit"))
runner.load()
runner.run()

for lengths in ([5, 1, 9, 20, 3], [10] * 16, [0, 7, 200, 1]):
    rows = len(lengths)
    words = input_array_to_u32(np.array(lengths, np.uint16), None, rows)
    runner.memcpy_h2d(lengths_symbol, words, 0, 0, 1, 1, rows, **options(MemcpyDataType.MEMCPY_16BIT))
    runner.launch("triangles", np.uint16(rows), nonblock=False)

    used = 0
    sums: list[int] = []
    for row, length in enumerate(lengths):
        used += 1
        start = used + used % 2
        if start + 2 * length > arena_words:
            break
        used = start + 2 * length
        sums.append(sum(range(row, row + length)))
    left = arena_words - used

    fit = np.zeros(4, np.uint32)
    runner.memcpy_d2h(fit, fit_symbol, 0, 0, 1, 1, 4, **options(MemcpyDataType.MEMCPY_16BIT))
    expected = [len(sums), left, (arena_words - used - used % 2) // 2, 4]
    np.testing.assert_array_equal(memcpy_view(fit, np.dtype(np.uint16)), expected)
    result = np.zeros(len(sums), np.int32)
    runner.memcpy_d2h(result, sums_symbol, 0, 0, 1, 1, len(sums), **options(MemcpyDataType.MEMCPY_32BIT))
    np.testing.assert_array_equal(result, sums)
runner.stop()
print("SUCCESS!")
