#!/usr/bin/env cs_python
"""Every word must come through in order; both sides must have waited, and been woken."""

import argparse
import json

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime
from cerebras.sdk.sdk_utils import memcpy_view

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    params = json.load(file)["params"]
width, words = int(params["width"]), int(params["words"])
words_in, answers_out = int(params["MEMCPYH2D_DATA_1_ID"]), int(params["MEMCPYD2H_DATA_1_ID"])
stream = {"streaming": True, "order": MemcpyOrder.ROW_MAJOR, "data_type": MemcpyDataType.MEMCPY_32BIT}

values = np.random.default_rng(28).integers(0, 1 << 32, (width, words), dtype=np.uint32)
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbol = runner.get_id("wakeups")
runner.load()
runner.run()
runner.memcpy_h2d(words_in, values.ravel(), 0, 0, width, 1, words, nonblock=True, **stream)
runner.launch("drain", nonblock=False)
answers = np.zeros(width * words, np.uint32)
runner.memcpy_d2h(answers, answers_out, 0, 0, width, 1, words, nonblock=False, **stream)
np.testing.assert_array_equal(answers.reshape(width, words), ~values)

counts = np.zeros(2 * width, np.uint32)
runner.memcpy_d2h(
    counts,
    symbol,
    *(0, 0, width, 1, 2),
    streaming=False,
    order=MemcpyOrder.ROW_MAJOR,
    data_type=MemcpyDataType.MEMCPY_16BIT,
    nonblock=False,
)
runner.stop()
wakeups = memcpy_view(counts, np.dtype(np.uint16)).reshape(width, 2)
assert (wakeups > 0).all(), wakeups
assert (wakeups <= words).all(), wakeups
print("SUCCESS!")
