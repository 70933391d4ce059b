#!/usr/bin/env cs_python
"""Blocking and non-blocking launches in order; every PE's log must show the bits of every argument."""

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
width, height = int(params["width"]), int(params["height"])


def options(data_type: MemcpyDataType) -> dict[str, object]:
    return {"streaming": False, "order": MemcpyOrder.ROW_MAJOR, "data_type": data_type, "nonblock": False}


def bits(value: np.generic) -> int:
    return int(value.view(np.dtype(f"u{value.dtype.itemsize}")))


runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
log, entries = runner.get_id("log"), runner.get_id("entries")
runner.load()
runner.run()

runner.launch("take_i16", np.int16(-12345), nonblock=False)
runner.launch("take_u16", np.uint16(54321), nonblock=True)
runner.launch("take_f16", np.float16(-0.3), nonblock=True)
runner.launch("tick", nonblock=True)
runner.launch("take_i32", np.int32(-123456789), nonblock=True)
runner.launch("take_u32", np.uint32(4123456789), nonblock=False)
runner.launch("take_f32", np.float32(3.14159), nonblock=False)
runner.call("tick", [], nonblock=False)
runner.launch(
    "take_many",
    *(np.int16(-1), np.float32(1e-40), np.uint16(65535), np.uint32(1 << 31), np.float16(65504), np.int32(-(1 << 31))),
    nonblock=False,
)

expected = [
    *(np.uint32(-12345 % 2**32), 54321, bits(np.float16(-0.3)), (3 << 16, "here"), -123456789 % 2**32, 4123456789),
    *(bits(np.float32(3.14159)), (7 << 16, "here")),
    *(0xFFFFFFFF, bits(np.float32(1e-40)), 65535, 1 << 31, bits(np.float32(65504)), 1 << 31),
]
count = np.zeros(width * height, np.uint32)
runner.memcpy_d2h(count, entries, 0, 0, width, height, 1, **options(MemcpyDataType.MEMCPY_16BIT))
np.testing.assert_array_equal(memcpy_view(count, np.dtype(np.uint16)), len(expected))
logs = np.zeros((height, width, len(expected)), np.uint32)
runner.memcpy_d2h(logs.ravel(), log, 0, 0, width, height, len(expected), **options(MemcpyDataType.MEMCPY_32BIT))
runner.stop()
for y in range(height):
    for x in range(width):
        wanted = [entry[0] | y << 8 | x if isinstance(entry, tuple) else int(entry) for entry in expected]
        np.testing.assert_array_equal(logs[y, x], np.array(wanted, np.uint32))
print("SUCCESS!")
