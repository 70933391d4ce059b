#!/usr/bin/env cs_python
"""Exact functions bit for bit, the others to a few units in the last place, against numpy in double precision."""

import argparse
import json

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    length = int(json.load(file)["params"]["length"])
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}
FORMATS = (np.dtype(np.float32), np.dtype(np.float16))
UNITS = 4
"""Most units in the last place that a transcendental function may be off."""

generator = np.random.default_rng(25)
special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 2.5, -2.5]


def arguments(dtype: np.dtype) -> np.ndarray:
    numbers = np.concatenate([special, generator.normal(0, 3, length - len(special))]).astype(dtype)
    limits = np.finfo(dtype)
    numbers[-4:] = limits.smallest_subnormal * 5, -limits.tiny * 3, limits.max, limits.tiny
    return numbers


x = [arguments(dtype) for dtype in FORMATS]
y = [generator.normal(0, 2, length).astype(dtype) for dtype in FORMATS]


def words(columns: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([column.view(f"u{column.itemsize}").astype(np.uint32) for column in columns])


runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
runner.memcpy_h2d(runner.get_id("x"), words(x), 0, 0, 2, 1, length, **copy)
runner.memcpy_h2d(runner.get_id("y"), words(y), 0, 0, 2, 1, length, **copy)
runner.launch("compute", nonblock=False)
values = np.zeros((2, 20, length), np.uint32)
runner.memcpy_d2h(values.ravel(), runner.get_id("values"), 0, 0, 2, 1, 20 * length, **copy)
tests = np.zeros((2, length), np.uint32)
runner.memcpy_d2h(tests.ravel(), runner.get_id("tests"), 0, 0, 2, 1, length, **copy)
runner.stop()

for column, dtype in enumerate(FORMATS):
    with np.errstate(all="ignore"):
        a, b = x[column].astype(np.float64), y[column].astype(np.float64)
    found = values[column].astype(f"u{dtype.itemsize}").view(dtype)
    with np.errstate(all="ignore"):
        size = abs(a)
        roots = [np.sqrt(size), 1 / np.sqrt(size), 1 / a, np.exp(a), np.log(size)]
        close = [*roots, np.sin(a), np.cos(a), np.tanh(a), 1 / (1 + np.exp(-a)), size**b]
        order = [np.floor(a), np.ceil(a), np.fmin(a, b), np.fmax(a, b), np.sign(a), size]
        exact = [*order, np.ldexp(a, 3), np.ldexp(a, -5), np.ldexp(a, -20), np.ldexp(a, 200)]
        for row, expected in enumerate([*close, *exact]):
            wanted = expected.astype(dtype)
            is_number = np.isfinite(wanted)
            np.testing.assert_array_equal(np.isnan(found[row]), np.isnan(wanted), f"function {row} of {dtype}")
            if row < len(close):
                np.testing.assert_array_equal(found[row][~is_number], wanted[~is_number], f"function {row} of {dtype}")
                error = abs(found[row][is_number].astype(np.float64) - expected[is_number])
                allowed = UNITS * np.spacing(abs(wanted[is_number])).astype(np.float64)
                assert (error <= allowed).all(), f"function {row} of {dtype}"
            else:
                np.testing.assert_array_equal(found[row], wanted, f"function {row} of {dtype}")

    is_nan = np.isnan(a)
    answers = is_nan + 2 * np.isinf(a) + 4 * np.isfinite(a) + 16 * np.signbit(x[column])
    np.testing.assert_array_equal(tests[column], answers)
print("SUCCESS!")
