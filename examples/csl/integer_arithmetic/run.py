#!/usr/bin/env cs_python
"""Python's unbounded integers, cut to the width in question, say what each row must be."""

import argparse
import json
import math

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    pairs = int(json.load(file)["params"]["pairs"])
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}


def signed(value: int, bits: int) -> int:
    value %= 1 << bits
    return value - (1 << bits) if value >> (bits - 1) else value


def quotient(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def expected(x: int, y: int) -> list[int]:
    ux, uy = x % 2**32, y % 2**32
    x16, y16, x8 = signed(x, 16), signed(y, 16), signed(x, 8)
    values = [
        *(quotient(x, y), x - y * quotient(x, y), x * y, x >> 3, ux >> 3, ux // uy),
        *(signed(x16 + y16, 16), x16 % 2**16 * 3 % 2**16, x % 2**16),
        *(x8, (x % 256 + 200) % 256, quotient(signed(-x8, 8), 3)),
        *(signed(x * y, 64) >> 32, quotient(signed(x * y + x, 64), 65536)),
        *(pow(ux, y % 2**16, 65521), math.gcd(ux, uy)),
    ]
    return [signed(value, 32) for value in values]


generator = np.random.default_rng(8)
a = generator.integers(-(1 << 31), 1 << 31, pairs).astype(np.int32)
b = generator.integers(-(1 << 31), 1 << 31, pairs).astype(np.int32)
a[:6] = 7, -7, 7, -7, -128, 40000
b[:6] = 2, 2, -2, -2, 3, -5
a[6:12] //= 1 << 12
b[8:14] //= 1 << 20
b[b == 0] = 1

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
runner.memcpy_h2d(runner.get_id("a"), a, 0, 0, 1, 1, pairs, **copy)
runner.memcpy_h2d(runner.get_id("b"), b, 0, 0, 1, 1, pairs, **copy)
runner.launch("compute", nonblock=False)
rows = np.zeros((16, pairs), np.int32)
runner.memcpy_d2h(rows.ravel(), runner.get_id("rows"), 0, 0, 1, 1, rows.size, **copy)
runner.stop()
np.testing.assert_array_equal(rows.T, [expected(int(x), int(y)) for x, y in zip(a, b, strict=True)])
print("SUCCESS!")
