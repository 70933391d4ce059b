#!/usr/bin/env cs_python
"""Random pairs; each PE's sums and counts are those that numpy finds for its keys."""

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
width, pairs, keys = (int(params[name]) for name in ("width", "pairs", "keys"))
options = {"order": MemcpyOrder.ROW_MAJOR, "streaming": False, "nonblock": False}
wide, narrow = MemcpyDataType.MEMCPY_32BIT, MemcpyDataType.MEMCPY_16BIT

generator = np.random.default_rng(23)
key = generator.integers(0, keys * (width - 1), pairs, dtype=np.uint32)
value = generator.integers(0, 1 << 16, pairs, dtype=np.uint32)

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbols = {name: runner.get_id(name) for name in ("data", "sums", "counts")}
runner.load()
runner.run()
runner.memcpy_h2d(symbols["data"], key << 16 | value, 0, 0, 1, 1, pairs, data_type=wide, **options)
runner.launch("start", nonblock=False)
found = {name: np.zeros(keys * (width - 1), np.uint32) for name in ("sums", "counts")}
runner.memcpy_d2h(found["sums"], symbols["sums"], 1, 0, width - 1, 1, keys, data_type=wide, **options)
runner.memcpy_d2h(found["counts"], symbols["counts"], 1, 0, width - 1, 1, keys, data_type=narrow, **options)
runner.stop()
np.testing.assert_array_equal(found["counts"], np.bincount(key, minlength=keys * (width - 1)))
np.testing.assert_array_equal(found["sums"], np.bincount(key, value, keys * (width - 1)))
print("SUCCESS!")
