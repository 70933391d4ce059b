#!/usr/bin/env cs_python
"""Compute the escape times of three Julia sets, and the same in numpy with the same roundings."""

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
    params = json.load(file)["params"]
side, limit = int(params["side"]), int(params["limit"])
width, height = 4, 4


def escape_times(real: np.float32, imag: np.float32) -> np.ndarray:
    step = np.float32(3) / np.float32(width * side)
    line = np.arange(width * side, dtype=np.float32) * step - np.float32(1.5)
    x, y = np.meshgrid(line, line[: height * side])
    counts = np.zeros(x.shape, np.uint16)
    for _ in range(limit):
        inside = x * x + y * y <= 4
        counts += inside
        x[:], y[:] = np.where(inside, x * x - y * y + real, x), np.where(inside, x * y + y * x + imag, y)
    return counts


runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
symbol = runner.get_id("steps")
for real, imag in ((-0.8, 0.156), (0.285, 0.01), (-0.4, 0.6)):
    c = np.float32(real), np.float32(imag)
    runner.launch("color_picture", *c, nonblock=False)
    words = np.zeros(width * height * side * side, np.uint32)
    runner.memcpy_d2h(
        words, symbol, 0, 0, width, height, side * side, streaming=False, order=MemcpyOrder.ROW_MAJOR,
        data_type=MemcpyDataType.MEMCPY_16BIT, nonblock=False,
    )  # fmt: skip
    tiles = memcpy_view(words, np.dtype(np.uint16)).reshape(height, width, side, side)
    picture = tiles.transpose(0, 2, 1, 3).reshape(height * side, width * side)
    np.testing.assert_array_equal(picture, escape_times(*c))
    assert 0 < (picture == limit).sum() < picture.size or picture.max() > 5
    print("\n".join("".join(" .:-=+*#%@"[min(9, count * 10 // limit)] for count in row) for row in picture[::2]))
runner.stop()
print("SUCCESS!")
