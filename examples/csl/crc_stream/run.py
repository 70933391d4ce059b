#!/usr/bin/env cs_python
"""Three messages of different lengths to every PE, empty ones among them; zlib knows their checksums."""

import argparse
import json
import zlib

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    params = json.load(file)["params"]
width, height = int(params["width"]), int(params["height"])
words_in, sums_out = int(params["MEMCPYH2D_DATA_1_ID"]), int(params["MEMCPYD2H_DATA_1_ID"])
options = {
    "streaming": True,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
}

# Every PE gets the same number of words, cut into messages in its own way.
WORDS, MESSAGES = 12, 3
generator = np.random.default_rng(19)
streams = np.zeros((height, width, WORDS + MESSAGES), np.uint32)
expected = np.zeros((height, width, MESSAGES), np.uint32)
for y in range(height):
    for x in range(width):
        cuts = np.sort(generator.integers(0, WORDS + 1, MESSAGES - 1))
        messages = np.split(generator.integers(0, 1 << 32, WORDS, dtype=np.uint32), cuts)
        streams[y, x] = np.concatenate([[len(message), *message] for message in messages])
        expected[y, x] = [zlib.crc32(message.astype("<u4").tobytes()) for message in messages]

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
runner.memcpy_h2d(words_in, streams.ravel(), 0, 0, width, height, WORDS + MESSAGES, nonblock=True, **options)
sums = np.zeros(expected.size, np.uint32)
runner.memcpy_d2h(sums, sums_out, 0, 0, width, height, MESSAGES, nonblock=False, **options)
runner.stop()
np.testing.assert_array_equal(sums.reshape(expected.shape), expected)
print("SUCCESS!")
