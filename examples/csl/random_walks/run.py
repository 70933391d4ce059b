#!/usr/bin/env cs_python
"""Ranges, means and spreads within five standard errors; the same seed must give the same numbers."""

import argparse
import json
import math

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    params = json.load(file)["params"]
width, samples = int(params["width"]), int(params["samples"])
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()


def draw(seed: int) -> dict[str, np.ndarray]:
    runner.launch("draw", np.uint32(seed), nonblock=False)
    results: dict[str, np.ndarray] = {}
    for name, size in {"uniform": samples, "normal": samples, "dice": 16, "integral": 1}.items():
        values = np.zeros(width * size, np.uint32 if name == "dice" else np.float32)
        runner.memcpy_d2h(values, runner.get_id(name), 0, 0, width, 1, size, **copy)
        results[name] = values.reshape(width, size)
    return results


first, second, again = draw(12345), draw(54321), draw(12345)
runner.stop()

for name, values in first.items():
    np.testing.assert_array_equal(values, again[name])
    assert (values != second[name]).any(), name
assert len(np.unique(first["uniform"])) > 0.99 * width * samples

total = width * samples
uniform, normal = first["uniform"], first["normal"]
assert uniform.min() >= -2
assert uniform.max() < 6
assert abs(uniform.mean() - 2) < 5 * 8 / math.sqrt(12 * total)
assert abs(normal.mean()) < 5 / math.sqrt(total)
assert abs(normal.var() - 1) < 5 * math.sqrt(2 / total)
assert (first["dice"].sum(axis=1) == samples).all()
faces = first["dice"].sum(axis=0)
assert (abs(faces - total / 16) < 5 * math.sqrt(total / 16)).all(), faces
spread = math.sqrt(1 / 5 - 1 / 9)
assert abs(first["integral"].mean() - 1 / 3) < 5 * spread / math.sqrt(total)
print("SUCCESS!")
