#!/usr/bin/env cs_python
"""Launch once, stop, and read every variable of every PE from what the simulator leaves."""

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
    params = json.load(file)["params"]
width, height = int(params["width"]), int(params["height"])

runner = SdkRuntime(args.name, cmaddr=args.cmaddr)
runner.load()
runner.run()
runner.launch("note", nonblock=False)
runner.stop()

debug = debug_util(args.name, cmaddr=args.cmaddr)
for y in range(height):
    for x in range(width):
        # Coordinates of the whole fabric: the rectangle starts at the offsets given to the compiler.
        def symbol(name: str, dtype: type, at: tuple[int, int] = (4 + x, 1 + y)) -> list[float]:
            return np.ravel(debug.get_symbol(*at, name, dtype)).tolist()

        assert symbol("position", np.uint16) == [x, y]
        assert symbol("place", np.uint16) == [[4, 0, 1, 2][(2 * x >= width) + 2 * (2 * y >= height)]]
        assert symbol("ratio", np.float32) == [np.float32(x + 1) / np.float32(y + 1)]
        assert symbol("size", np.uint16) == [width, height, width + 7, height + 2]
        assert symbol("first_counter", np.uint32) == [1000 + x]
        assert symbol("second_counter", np.uint32) == [1000 + 70000 * y]
        assert symbol("table", np.int16) == [1, -2, 3, -4, 5, -6 + (1000 + x) % 16]
print("SUCCESS!")
