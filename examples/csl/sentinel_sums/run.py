#!/usr/bin/env cs_python
"""Messages of several lengths, empty ones too; sums are exact in float32."""

import argparse
import json

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime
from cerebras.sdk.sdk_utils import input_array_to_u32, memcpy_view

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    params = json.load(file)["params"]
width, most = int(params["width"]), int(params["most"])


def options(data_type: MemcpyDataType) -> dict[str, object]:
    return {"streaming": False, "order": MemcpyOrder.ROW_MAJOR, "data_type": data_type, "nonblock": False}


narrow, wide = options(MemcpyDataType.MEMCPY_16BIT), options(MemcpyDataType.MEMCPY_32BIT)
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
lengths_symbol, sums_symbol, announced_symbol = (runner.get_id(name) for name in ("lengths", "sums", "announced"))
runner.load()
runner.run()
columns = np.arange(1, width)[:, None]
total = np.zeros((width - 1, most), np.float32)
for lengths in ([3, 0, 7, 1], [0], [9] * most):
    count = len(lengths)
    words = input_array_to_u32(np.array(lengths, np.uint16), None, count)
    runner.memcpy_h2d(lengths_symbol, words, 0, 0, 1, 1, count, **narrow)
    runner.launch("send", np.uint16(count), nonblock=False)

    announced = np.zeros((width - 1) * count, np.uint32)
    runner.memcpy_d2h(announced, announced_symbol, 1, 0, width - 1, 1, count, **narrow)
    announced = memcpy_view(announced, np.dtype(np.uint16)).reshape(width - 1, count)
    np.testing.assert_array_equal(announced, np.broadcast_to(lengths, announced.shape))

    messages = [sum(m + k + 0.25 for k in range(length)) for m, length in enumerate(lengths)]
    total[:, :count] += columns * np.array(messages)
    sums = np.zeros(total.size, np.float32)
    runner.memcpy_d2h(sums, sums_symbol, 1, 0, width - 1, 1, most, **wide)
    np.testing.assert_array_equal(sums.reshape(total.shape), total)
runner.stop()
print("SUCCESS!")
