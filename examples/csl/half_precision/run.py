#!/usr/bin/env cs_python
"""Every operation against numpy, with operands whose results are exact in the format they are stored in."""

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

generator = np.random.default_rng(6)
a = (generator.integers(-64, 64, length) / 4).astype(np.float16)
b = (generator.integers(-64, 64, length) / 4).astype(np.float16)
n = generator.integers(-2000, 2000, length).astype(np.int16)
factor = np.float16(1.5)

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()


def options(data_type: MemcpyDataType) -> dict[str, object]:
    return {"streaming": False, "order": MemcpyOrder.ROW_MAJOR, "data_type": data_type, "nonblock": False}


def read(name: str, rows: int, dtype: type) -> np.ndarray:
    words = np.zeros(rows * length, np.uint32)
    width = MemcpyDataType.MEMCPY_32BIT if np.dtype(dtype).itemsize == 4 else MemcpyDataType.MEMCPY_16BIT
    runner.memcpy_d2h(words, runner.get_id(name), 0, 0, 1, 1, words.size, **options(width))
    return memcpy_view(words, np.dtype(dtype)).reshape(rows, length)


for name, vector in {"a": a, "b": b, "n": n}.items():
    words = input_array_to_u32(vector, None, length)
    runner.memcpy_h2d(runner.get_id(name), words, 0, 0, 1, 1, length, **options(MemcpyDataType.MEMCPY_16BIT))
runner.launch("compute", factor, nonblock=False)

tripled = a.astype(np.float32) * 3
halves = [a + b, a - b, a * b, a + b * factor, np.maximum(a, b), -a, abs(a), factor * b, np.full_like(a, a[1])]
np.testing.assert_array_equal(read("halves", 10, np.float16), [*halves, tripled.astype(np.float16)])
wide_a, wide_b = a.astype(np.float32), b.astype(np.float32)
singles = [wide_a, 1.5 + wide_b * np.float32(factor), 0.25 + wide_a, n.astype(np.float32), tripled]
np.testing.assert_array_equal(read("singles", 5, np.float32), singles)
# The manual does not say how conversion to integers rounds: whole values agree with every way.
integers = read("integers", 2, np.int16)
for values, converted in zip((wide_b, tripled), integers, strict=True):
    whole = values == np.trunc(values)
    assert whole.any()
    np.testing.assert_array_equal(converted[whole], values[whole])
    assert (abs(converted - values) < 1).all()
runner.stop()
print("SUCCESS!")
