#!/usr/bin/env cs_python
"""Each reader gets the section of its own number, in two launches with other documents; the reference is an index."""

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
width, sections, words = (int(params[name]) for name in ("width", "sections", "words"))
options = {"order": MemcpyOrder.ROW_MAJOR, "streaming": False, "nonblock": False}
wide = options | {"data_type": MemcpyDataType.MEMCPY_32BIT}
narrow = options | {"data_type": MemcpyDataType.MEMCPY_16BIT}
random = np.random.default_rng(14)

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
data, wanted, kept = (runner.get_id(name) for name in ("data", "wanted", "kept"))
runner.load()
runner.run()
for _ in range(2):
    document = random.integers(0, 1 << 32, (sections, words), dtype=np.uint32)
    numbers = random.permutation(np.arange(width - 1) % sections).astype(np.uint32)
    runner.memcpy_h2d(data, document.ravel(), 0, 0, 1, 1, sections * words, **wide)
    runner.memcpy_h2d(wanted, numbers, 1, 0, width - 1, 1, 1, **narrow)
    runner.launch("start", nonblock=False)
    found = np.zeros((width - 1) * words, np.uint32)
    runner.memcpy_d2h(found, kept, 1, 0, width - 1, 1, words, **wide)
    np.testing.assert_array_equal(found.reshape(width - 1, words), document[numbers])
runner.stop()
print("SUCCESS!")
