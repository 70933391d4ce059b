#!/usr/bin/env cs_python
"""Every bit of the results against the formats' definitions, computed with numpy's doubles."""

import argparse
import json

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--format", required=True, choices=["cb16", "bf16"], help="format it was compiled for")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    length = int(json.load(file)["params"]["length"])

mantissa, bias = {"cb16": (9, 42), "bf16": (7, 127)}[args.format]


def nearest(values: np.ndarray) -> np.ndarray:
    """Round normal numbers to the format, to even on a tie."""
    fractions, exponents = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(fractions, mantissa + 1)), exponents - mantissa - 1)


def bits(values: np.ndarray) -> np.ndarray:
    """Return the bits of numbers of the format, each in a 32-bit word."""
    fractions, exponents = np.frexp(np.abs(values))
    normal = (exponents - 1 + bias << mantissa) + np.ldexp(fractions, mantissa + 1).astype(int) - (1 << mantissa)
    return (np.signbit(values).astype(int) << 15 | np.where(values == 0, 0, normal)).astype(np.uint32)


def numbers(words: np.ndarray) -> np.ndarray:
    """Return the normal numbers and zeros of bits."""
    exponents, fractions = (words & 0x7FFF) >> mantissa, words & ((1 << mantissa) - 1)
    sizes = np.ldexp(fractions + (1 << mantissa), exponents.astype(int) - bias - mantissa)
    return np.where(exponents == 0, 0, sizes) * np.where(words & 0x8000, -1.0, 1.0)


generator = np.random.default_rng(16)
x = nearest(generator.normal(size=length) * 100)
y = nearest(generator.normal(size=length) * 3)
np.testing.assert_array_equal(numbers(bits(x)), x)
assert bits(np.array([6.0]))[0] == {"cb16": 0b0101100100000000, "bf16": 0b0100000011000000}[args.format]

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()


def options(data_type: MemcpyDataType) -> dict[str, object]:
    return {"streaming": False, "order": MemcpyOrder.ROW_MAJOR, "data_type": data_type, "nonblock": False}


for name, vector in {"x": x, "y": y}.items():
    to_device = options(MemcpyDataType.MEMCPY_16BIT)
    runner.memcpy_h2d(runner.get_id(name), bits(vector), 0, 0, 1, 1, length, **to_device)
runner.launch("compute", 0.3, nonblock=False)
words = np.zeros(8 * length, np.uint32)
norm = np.zeros(2, np.float32)
from_device = options(MemcpyDataType.MEMCPY_16BIT)
runner.memcpy_d2h(words, runner.get_id("results"), 0, 0, 1, 1, words.size, **from_device)
runner.memcpy_d2h(norm, runner.get_id("norm"), 0, 0, 1, 1, 2, **options(MemcpyDataType.MEMCPY_32BIT))

sums, total = np.zeros(length), 0.0
for position, value in enumerate(x):
    sums[position] = total = nearest(np.array(total + value))
expected = [
    nearest(x + y), nearest(x * y), nearest(x + nearest(y * nearest(np.array(0.3)))), np.maximum(x, y),
    np.fmod(x, 0.75), sums, nearest(x / y), nearest(np.sqrt(abs(x))),
]  # fmt: skip
np.testing.assert_array_equal(words.reshape(8, length) & 0xFFFF, [bits(row) for row in expected])
assert norm[0] == sum(x.astype(np.float32), np.float32(0))
assert norm[1] == total
assert norm[0] != norm[1]
runner.stop()
print("SUCCESS!")
