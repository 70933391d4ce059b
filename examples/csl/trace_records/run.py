#!/usr/bin/env cs_python
"""Read the traces after the run and compare them value by value."""

import argparse
import json

import numpy as np
from cerebras.sdk.debug.debug_util import debug_util
from cerebras.sdk.runtime.sdkruntimepybind import SdkRuntime

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    width = int(json.load(file)["params"]["width"])
BASES = (-3, 100)

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
for base in BASES:
    runner.launch("record", np.int16(base), nonblock=False)
runner.stop()

debug = debug_util(args.name, cmaddr=args.cmaddr)
# Coordinates of the whole fabric: the rectangle starts at the offsets given to the compiler.
for x in range(width):
    expected: list[object] = []
    for base in BASES:
        n = base + x
        expected += ["numbers", n % 2 == 0, n % 256, (n + 128) % 256 - 128, n % 2**16, n]
        expected += [n % 2**32 * 70000 % 2**32, n * -70000, n / 4, np.float32(n) * np.float32(1e10), ""]
        expected += ["generic, of odd length.", n > 0, n, 1 << 31, np.float32(0.1)]
    trace = debug.read_trace(4 + x, 1, "values")
    assert len(trace) == len(expected), trace
    for found, wanted in zip(trace, expected, strict=True):
        assert found == wanted, (found, wanted)

    times = [int(time) for time in debug.read_trace(4 + x, 1, "times")]
    assert len(times) == 4
    assert times == sorted(times)
    assert times[0] < times[1]
    # Three records of two words fit into six.
    assert debug.read_trace(4 + x, 1, "tight") == [0, 1, 2]
print("SUCCESS!")
