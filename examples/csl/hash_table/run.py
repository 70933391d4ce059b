#!/usr/bin/env cs_python
"""Put keys from all PEs at once, look them up from others, some of them missing, and compare with a dictionary."""

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
width, height, operations = (int(params[name]) for name in ("width", "height", "operations"))
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}
PUT, GET = 0, 1

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbols = {name: runner.get_id(name) for name in ("kinds", "keys", "values", "results")}
runner.load()
runner.run()


def operate(kind: int, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return what the table answers to one operation for each key, [PEs, operations]."""
    for name, array in (("kinds", np.full_like(keys, kind)), ("keys", keys), ("values", values)):
        runner.memcpy_h2d(symbols[name], array.ravel(), 0, 0, width, height, operations, **copy)
    runner.launch("operate", nonblock=False)
    results = np.zeros(keys.size, np.uint32)
    runner.memcpy_d2h(results, symbols["results"], 0, 0, width, height, operations, **copy)
    return results.reshape(keys.shape)


generator = np.random.default_rng(3)
shape = (width * height, operations)
keys = generator.choice(1 << 20, shape, replace=False).astype(np.uint32) + 1
values = generator.integers(0, 1 << 31, shape, dtype=np.uint32)
np.testing.assert_array_equal(operate(PUT, keys, values), values)

table = dict(zip(keys.ravel().tolist(), values.ravel().tolist(), strict=True))
wanted = generator.permutation(keys.ravel()).reshape(shape)
wanted[:, ::4] = generator.integers(1 << 24, 1 << 25, wanted[:, ::4].shape)
found = operate(GET, wanted, np.zeros_like(wanted))
np.testing.assert_array_equal(found.ravel(), [table.get(key, 0xFFFFFFFF) for key in wanted.ravel().tolist()])

np.testing.assert_array_equal(operate(PUT, keys, values + 1), values + 1)
np.testing.assert_array_equal(operate(GET, keys[::-1], values), values[::-1] + 1)
runner.stop()
print("SUCCESS!")
