#!/usr/bin/env cs_python
"""Messages of several lengths, always fewer elements than the receiver asks for."""

import argparse
import json

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    most = int(json.load(file)["params"]["most"])
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
message_symbol, received_symbol = runner.get_id("message"), runner.get_id("received")
runner.load()
runner.run()
generator = np.random.default_rng(26)
for length in (1, most - 1, 5):
    message = generator.integers(0, 1 << 31, most).astype(np.int32)
    runner.memcpy_h2d(message_symbol, message, 0, 0, 1, 1, most, **copy)
    runner.launch("send", np.uint16(length), nonblock=False)
    received = np.zeros(1 + most, np.int32)
    runner.memcpy_d2h(received, received_symbol, 1, 0, 1, 1, 1 + most, **copy)
    assert received[0] == length, received
    np.testing.assert_array_equal(received[1:], [*message[:length], *[-1] * (most - length)])
runner.stop()
print("SUCCESS!")
