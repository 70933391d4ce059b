#!/usr/bin/env cs_python
"""Random packets, some of them empty; the sums and lengths that come out at the end of the row are numpy's."""

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
width, packets, words = (int(params[name]) for name in ("width", "packets", "words"))
options = {"order": MemcpyOrder.ROW_MAJOR, "streaming": False, "nonblock": False}
wide, narrow = MemcpyDataType.MEMCPY_32BIT, MemcpyDataType.MEMCPY_16BIT

generator = np.random.default_rng(22)
ends = np.sort(generator.integers(0, words + 1, packets - 1))
ends[0] = 0  # an empty packet
lengths = np.diff(ends, prepend=0, append=words).astype(np.uint32)
data = generator.integers(0, 1 << 30, words, dtype=np.uint32)

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbols = {name: runner.get_id(name) for name in ("lengths", "data", "sums")}
runner.load()
runner.run()
runner.memcpy_h2d(symbols["lengths"], lengths, 0, 0, 1, 1, packets, data_type=narrow, **options)
runner.memcpy_h2d(symbols["data"], data, 0, 0, 1, 1, words, data_type=wide, **options)
runner.launch("start", nonblock=False)
found = {name: np.zeros(packets, np.uint32) for name in ("lengths", "sums")}
runner.memcpy_d2h(found["lengths"], symbols["lengths"], width - 1, 0, 1, 1, packets, data_type=narrow, **options)
runner.memcpy_d2h(found["sums"], symbols["sums"], width - 1, 0, 1, 1, packets, data_type=wide, **options)
runner.stop()
np.testing.assert_array_equal(found["lengths"], lengths)
sums = [part.sum(dtype=np.uint32) for part in np.split(data, ends)]
np.testing.assert_array_equal(found["sums"], sums)
print("SUCCESS!")
