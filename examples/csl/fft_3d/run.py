#!/usr/bin/env cs_python
"""Transform random numbers with each norm, compare with numpy, and transform them back."""

import argparse
import json

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    params = json.load(file)["params"]
size, width = int(params["size"]), int(params["width"])
side = size // width
is_half = int(params["is_half_precision"]) == 1
# One value to a 32-bit word of the host's array.
kind, container = (np.float16, np.uint16) if is_half else (np.float32, np.uint32)
data_type = MemcpyDataType.MEMCPY_16BIT if is_half else MemcpyDataType.MEMCPY_32BIT
copy = {"streaming": False, "order": MemcpyOrder.ROW_MAJOR, "nonblock": False}
tolerance = 4e-3 if is_half else 1e-6

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
symbol = runner.get_id("X")


def put(cube: np.ndarray) -> None:
    """Copy cube[y][x][z] to the PEs; each has [z][y][x][part] of its tile."""
    tiles = cube.reshape(width, side, width, side, size).transpose(0, 2, 4, 1, 3)
    words = np.stack([np.real(tiles), np.imag(tiles)], -1).astype(kind).view(container).astype(np.uint32)
    runner.memcpy_h2d(symbol, words.ravel(), 0, 0, width, width, words[0, 0].size, data_type=data_type, **copy)


def get() -> np.ndarray:
    words = np.zeros(2 * size**3, np.uint32)
    runner.memcpy_d2h(words, symbol, 0, 0, width, width, words.size // width**2, data_type=data_type, **copy)
    parts = words.astype(container).view(kind).astype(np.float64).reshape(width, width, size, side, side, 2)
    return (parts[..., 0] + 1j * parts[..., 1]).transpose(0, 3, 1, 4, 2).reshape(size, size, size)


def check(result: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(result, expected, rtol=0, atol=tolerance * np.abs(expected).max())


# In single precision the program's own factors are as good; the host writes them to show where they are.
angles = np.pi * np.arange(size // 2) / (size // 2)
factors = np.stack([np.cos(angles), np.sin(angles)], -1).astype(kind).view(container).astype(np.uint32).ravel()
everywhere = np.tile(factors, width * width)
runner.memcpy_h2d(runner.get_id("twiddle_array"), everywhere, 0, 0, width, width, size, data_type=data_type, **copy)

random = np.random.default_rng(2)
cube = random.uniform(-1, 1, (size,) * 3) + 1j * random.uniform(-1, 1, (size,) * 3)
for number, norm in enumerate(("backward", "ortho", "forward")):
    put(cube)
    runner.launch("csfftExecC2C", np.int16(number), np.int16(0), nonblock=False)
    check(get(), np.fft.fftn(cube, norm=norm))
    runner.launch("csfftExecC2C", np.int16(number), np.int16(1), nonblock=False)
    check(get(), cube)

put(np.real(cube).astype(complex))
runner.launch("csfftExecR2C", np.int16(0), nonblock=False)
check(get(), np.fft.fftn(np.real(cube)))
runner.launch("csfftExecC2R", np.int16(0), nonblock=False)
check(get(), np.real(cube))

cycles = np.zeros(2 * width * width, np.uint32)
runner.memcpy_d2h(
    cycles, runner.get_id("fft_time"), 0, 0, width, width, 2, data_type=MemcpyDataType.MEMCPY_32BIT, **copy
)
runner.stop()
print(f"{size} x {size} x {size} numbers on {width} x {width} PEs: {cycles[::2].max()} cycles")
print("SUCCESS!")
