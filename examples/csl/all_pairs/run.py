#!/usr/bin/env cs_python
"""Compare the pull on every body with numpy's, computed over all pairs at once; launched twice, with other masses."""

import argparse
import json

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

SOFTENING = 0.25

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    params = json.load(file)["params"]
width, height, bodies = (int(params[name]) for name in ("width", "height", "bodies"))
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}

generator = np.random.default_rng(8)
runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
own, pull = runner.get_id("own"), runner.get_id("pull")
runner.load()
runner.run()
for _ in range(2):
    given = generator.uniform(-1, 1, (height * width * bodies, 3)).astype(np.float32)
    runner.memcpy_h2d(own, given.ravel(), 0, 0, width, height, 3 * bodies, **copy)
    runner.launch("attract", nonblock=False)
    result = np.zeros(2 * len(given), np.float32)
    runner.memcpy_d2h(result, pull, 0, 0, width, height, 2 * bodies, **copy)

    way = (given[None, :, :2] - given[:, None, :2]).astype(np.float64)
    weight = given[None, :, 2] / ((way**2).sum(axis=2) + SOFTENING)
    expected = (weight[:, :, None] * way).sum(axis=1)
    np.testing.assert_allclose(result.reshape(-1, 2), expected, atol=1e-5 * len(given))
runner.stop()
print("SUCCESS!")
