#!/usr/bin/env cs_python
"""What every stop of the tour must have noted, worked out in Python."""

import argparse

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()


def fibonacci(k: int) -> int:
    return k if k < 2 else fibonacci(k - 1) + fibonacci(k - 2)


def collatz(n: int) -> int:
    return 0 if n == 1 else 1 + collatz(n // 2 if n % 2 == 0 else 3 * n + 1)


def steps() -> int:
    total = 0
    for i in range(10):
        for j in range(10):
            if i * j == 42:
                return total
            if j > i:
                break
            total += 1
    return total


def expected(n: int) -> list[int]:
    product = 1
    for k in range(n, 0, -1):
        product *= 1 if k == 3 else k
    classes = {0: 100, 1: 101, 2: 102, 3: 101, -7: 93}
    return [
        *(1 if n % 2 == 0 else 0, 2 + 12 + 1, n << 3 >> 1, (~n ^ 0b1010) | 0x30, int(-10 < n < 10), 65 + 10 + 2),
        *(35 if n >= 0 else -1, 1 if n == 4 else 101, 42),
        *(17, 10 + 40 + 90, product, steps(), collatz(27), 97531),
        *(n + 10, -2 * (n + 10), 30 - (n + 10), 3 * n + 1, 3, 2),
        *(1003, 0 * 1000 + 50 + 2, 1, classes.get(n, -1), 102, 93, -1),
        *(4 * n, n**4, 2 * n, max(n, 3), 5, 43, n + 38),
        *(34, fibonacci(n), 144, 420, 5, 0x0FF, 21 + 24 + 3, 1, 1000, 1),
        -12345,
    ]


runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbol = runner.get_id("results")
runner.load()
runner.run()
for n in (4, 7, 0):
    runner.launch("tour", np.int16(n), nonblock=False)
    results = np.zeros(64, np.int32)
    runner.memcpy_d2h(
        results,
        symbol,
        *(0, 0, 1, 1, 64),
        streaming=False,
        order=MemcpyOrder.ROW_MAJOR,
        data_type=MemcpyDataType.MEMCPY_32BIT,
        nonblock=False,
    )
    wanted = expected(n)
    np.testing.assert_array_equal(results[: len(wanted)], wanted)
runner.stop()
print("SUCCESS!")
