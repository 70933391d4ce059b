#!/usr/bin/env cs_python
"""The same balls in numpy integers."""

import argparse
import json

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True, help="directory of the compiled program")
parser.add_argument("--cmaddr", help="IP:port of the system; simulated if absent")
args = parser.parse_args()

with open(f"{args.name}/out.json", encoding="utf-8") as file:
    bodies = int(json.load(file)["params"]["bodies"])
copy = {
    "streaming": False,
    "order": MemcpyOrder.ROW_MAJOR,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "nonblock": False,
}
BOX, STEPS, GRAVITY = 4096, 60, 3

generator = np.random.default_rng(4)
state = np.zeros((2, bodies, 5), np.int32)
state[..., :2] = generator.integers(0, BOX, (2, bodies, 2))
state[..., 2:4] = generator.integers(-300, 300, (2, bodies, 2))

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
symbol = runner.get_id("state")
runner.load()
runner.run()
runner.memcpy_h2d(symbol, state.ravel(), 0, 0, 2, 1, bodies * 5, **copy)
runner.launch("simulate", np.uint16(STEPS), np.int32(GRAVITY), nonblock=False)
result = np.zeros(state.size, np.int32)
runner.memcpy_d2h(result, symbol, 0, 0, 2, 1, bodies * 5, **copy)
runner.stop()

for _ in range(STEPS):
    position, velocity, bounces = state[..., :2], state[..., 2:4], state[..., 4]
    velocity[..., 1] -= GRAVITY
    position += velocity
    outside = (position < 0) | (position > BOX)
    position[position < 0] *= -1
    position[position > BOX] = 2 * BOX - position[position > BOX]
    velocity[outside] *= -1
    bounces += outside.sum(axis=-1)
assert state[..., 4].sum() > 0
np.testing.assert_array_equal(result.reshape(state.shape), state)
print("SUCCESS!")
