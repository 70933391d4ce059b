#!/usr/bin/env cs_python
"""Counts, sums and twins of every stretch against a sieve in numpy."""

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
width, stretch = int(params["width"]), int(params["stretch"])


def options(data_type: MemcpyDataType) -> dict[str, object]:
    return {"streaming": False, "order": MemcpyOrder.ROW_MAJOR, "data_type": data_type, "nonblock": False}


is_prime = np.ones(width * stretch, np.bool_)
is_prime[:2] = False
for n in range(2, width * stretch):
    if is_prime[n]:
        is_prime[2 * n :: n] = False

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
for _ in range(2):
    runner.launch("run", nonblock=False)
count, sums, twins = (np.zeros(width * size, np.uint32) for size in (1, 1, 2))
runner.memcpy_d2h(count, runner.get_id("count"), 0, 0, width, 1, 1, **options(MemcpyDataType.MEMCPY_16BIT))
runner.memcpy_d2h(sums, runner.get_id("sum"), 0, 0, width, 1, 1, **options(MemcpyDataType.MEMCPY_32BIT))
runner.memcpy_d2h(twins, runner.get_id("twins"), 0, 0, width, 1, 2, **options(MemcpyDataType.MEMCPY_16BIT))
runner.stop()
found = memcpy_view(twins, np.dtype(np.uint16)).reshape(width, 2)
for x, flags in enumerate(is_prime.reshape(width, stretch)):
    primes = x * stretch + np.flatnonzero(flags)
    assert count[x] == len(primes)
    assert sums[x] == primes.sum()
    pairs = [[p, p + 2] for p in primes.tolist() if p + 2 in primes]
    assert found[x].tolist() == (pairs[0] if pairs else [0, 0])
print("SUCCESS!")
