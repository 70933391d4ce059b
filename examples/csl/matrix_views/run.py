#!/usr/bin/env cs_python
"""Each view against numpy's slicing; the numbers are small integers, so sums are exact."""

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
rows, columns = int(params["rows"]), int(params["columns"])
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}

A = np.random.default_rng(5).integers(-99, 99, (rows, columns)).astype(np.float32)
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
runner.memcpy_h2d(runner.get_id("A"), A.ravel(), 0, 0, 1, 1, A.size, **copy)
runner.launch("run", nonblock=False)


def read(name: str, *shape: int) -> np.ndarray:
    result = np.zeros(shape, np.float32)
    runner.memcpy_d2h(result.ravel(), runner.get_id(name), 0, 0, 1, 1, result.size, **copy)
    return result


np.testing.assert_array_equal(read("transposed", columns, rows), A.T)
block = A[1:3, 1:4]
np.testing.assert_array_equal(read("block", 2, 2, 3), [block, block[::-1, ::-1]])
np.testing.assert_array_equal(read("windows", columns - 3, 4), np.lib.stride_tricks.sliding_window_view(A[0], 4))
np.testing.assert_array_equal(read("sums", columns), A.sum(axis=0))
vectors = np.zeros((4, columns), np.float32)
vectors[0] = A[-1, -1]
vectors[0, :rows] = np.diagonal(A)
vectors[1] = A[0, ::-1]
vectors[2, :rows] = 2 * A[:, 2]
vectors[3, :4] = [A.sum(), A[1, 1], A[1, 1], A[1, 1]]
np.testing.assert_array_equal(read("vectors", 4, columns), vectors)
runner.stop()
print("SUCCESS!")
