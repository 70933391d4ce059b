#!/usr/bin/env cs_python
"""Solve for a known u, and for a random f whose spectrum numpy divides."""

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
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
symbol = runner.get_id("field")


def solve(f: np.ndarray) -> np.ndarray:
    """Return u[y][x][z] for f[y][x][z]."""
    tiles = f.reshape(width, side, width, side, size).transpose(0, 2, 4, 1, 3)
    words = np.stack([tiles, np.zeros_like(tiles)], -1).astype(np.float32)
    runner.memcpy_h2d(symbol, words.ravel(), 0, 0, width, width, words[0, 0].size, **copy)
    runner.launch("solve", nonblock=False)
    result = np.zeros(words.size, np.float32)
    runner.memcpy_d2h(result, symbol, 0, 0, width, width, words[0, 0].size, **copy)
    parts = result.reshape(width, width, size, side, side, 2)
    assert np.abs(parts[..., 1]).max() < 1e-6, "u is real"
    return parts[..., 0].transpose(0, 3, 1, 4, 2).reshape(size, size, size)


points = 2 * np.pi * np.arange(size) / size
y, x, z = np.meshgrid(points, points, points, indexing="ij")
u = np.sin(x) * np.cos(2 * y) + 0.5 * np.sin(z + x)
f = -5 * np.sin(x) * np.cos(2 * y) - np.sin(z + x)
np.testing.assert_allclose(solve(f), u, atol=1e-6)

f = np.random.default_rng(4).normal(size=(size,) * 3)
waves = np.fft.fftfreq(size, 1 / size) ** 2
divisor = -(waves[:, None, None] + waves[:, None] + waves)
divisor[0, 0, 0] = np.inf
np.testing.assert_allclose(solve(f), np.fft.ifftn(np.fft.fftn(f) / divisor).real, atol=1e-6)
runner.stop()
print("SUCCESS!")
