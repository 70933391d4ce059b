#!/usr/bin/env cs_python
"""Two systems, one after the other; every PE has the solution that numpy finds."""

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
width, columns = int(params["width"]), int(params["columns"])
size = width * columns
options = {
    "order": MemcpyOrder.ROW_MAJOR, "data_type": MemcpyDataType.MEMCPY_32BIT, "streaming": False, "nonblock": False,
}  # fmt: skip

generator = np.random.default_rng(24)
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbols = {name: runner.get_id(name) for name in ("A", "b", "solution", "rest")}
runner.load()
runner.run()
for iterations in (9, 12):
    basis, _ = np.linalg.qr(generator.standard_normal((size, size)))
    matrix = (basis * np.linspace(1.0, 3.0, size)) @ basis.T
    right = generator.standard_normal(size)
    runner.memcpy_h2d(symbols["A"], matrix.T.astype(np.float32).ravel(), 0, 0, width, 1, columns * size, **options)
    everywhere = np.tile(right.astype(np.float32), width)
    runner.memcpy_h2d(symbols["b"], everywhere, 0, 0, width, 1, size, **options)
    runner.launch("solve", np.uint16(iterations), nonblock=False)
    found, rest = np.zeros(width * size, np.float32), np.zeros(width, np.float32)
    runner.memcpy_d2h(found, symbols["solution"], 0, 0, width, 1, size, **options)
    runner.memcpy_d2h(rest, symbols["rest"], 0, 0, width, 1, 1, **options)
    for solution in found.reshape(width, size):
        np.testing.assert_allclose(solution, np.linalg.solve(matrix, right), rtol=1e-3, atol=1e-3)
    assert (rest < 1e-4 * np.dot(right, right)).all(), rest
runner.stop()
print("SUCCESS!")
