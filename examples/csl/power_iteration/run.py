#!/usr/bin/env cs_python
"""Compare the eigenvalue and its vector with those of numpy."""

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
side, tile = int(params["side"]), int(params["tile"])
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbols = {name: runner.get_id(name) for name in ("A", "v", "eigenvalue")}
runner.load()
runner.run()
size = side * tile
generator = np.random.default_rng(11)
basis, _ = np.linalg.qr(generator.standard_normal((size, size)))
matrix = (basis * np.geomspace(8.0, 0.5, size)) @ basis.T
tiles = matrix.astype(np.float32).reshape(side, tile, side, tile).transpose(0, 2, 3, 1)
runner.memcpy_h2d(symbols["A"], tiles.ravel(), 0, 0, side, side, tile * tile, **copy)
start = np.tile(np.ones(size, np.float32), side)
runner.memcpy_h2d(symbols["v"], start, 0, 0, side, side, tile, **copy)
runner.launch("iterate", np.uint16(40), nonblock=False)
values = np.zeros(side * side, np.float32)
runner.memcpy_d2h(values, symbols["eigenvalue"], 0, 0, side, side, 1, **copy)
vectors = np.zeros(side * size, np.float32)
runner.memcpy_d2h(vectors, symbols["v"], 0, 0, side, side, tile, **copy)
np.testing.assert_allclose(values, 8.0, rtol=1e-4)
for vector in vectors.reshape(side, size):
    np.testing.assert_allclose(abs(vector @ basis[:, 0]), 1.0, rtol=1e-4)
runner.stop()
print("SUCCESS!")
