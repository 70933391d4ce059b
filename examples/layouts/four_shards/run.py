#!/usr/bin/env cs_python
"""A stream distributed over four regions by what the numbers are; the host reads what each has counted.

The four regions are stacked in one column; the links from the splitter to them are routed automatically.
"""

import argparse

import numpy as np
from cerebras.geometry.geometry import IntVector
from cerebras.sdk.runtime.sdkruntimepybind import (
    Edge,
    Route,
    RoutingPosition,
    SdkLayout,
    SdkRuntime,
    SdkTarget,
    SimfabConfig,
    get_platform,
)

parser = argparse.ArgumentParser()
parser.add_argument("--arch", choices=["wse2", "wse3"], default="wse3")
args = parser.parse_args()

numbers = np.random.default_rng(3).integers(0, 1 << 20, 200).astype(np.uint32)
platform = get_platform(None, SimfabConfig(), SdkTarget.WSE2 if args.arch == "wse2" else SdkTarget.WSE3)
layout = SdkLayout(platform)
to_ramp = RoutingPosition().set_output([Route.RAMP])
from_ramp = RoutingPosition().set_input([Route.RAMP])

split = layout.create_code_region("split.csl", "split", 1, 1)
split.place(3, 4)
rx = split.color("rx")
split.set_param_all(rx)
into = layout.create_input_stream(split.create_input_port(rx, Edge.LEFT, [to_ramp], 1))

shards = [layout.create_code_region("shard.csl", f"shard{number}", 1, 1) for number in range(4)]
height = layout.vstack(shards, IntVector(8, 2))
assert height == 4
for number, shard in enumerate(shards):
    tx, rx = split.color(f"tx{number}"), shard.color("rx")
    split.set_param_all(tx)
    shard.set_param_all(rx)
    layout.connect(
        split.create_output_port(tx, Edge.RIGHT, [from_ramp], 1), shard.create_input_port(rx, Edge.LEFT, [to_ramp], 1)
    )

runtime = SdkRuntime(layout.compile("out"), platform, memcpy_required=False)
runtime.load()
runtime.run()
runtime.send(into, numbers)
runtime.stop()
for number in range(4):
    mine = numbers[numbers % 4 == number]
    assert runtime.read_symbol(8, 2 + number, "count", "uint32")[0] == len(mine)
    assert runtime.read_symbol(8, 2 + number, "sum", "uint32")[0] == mine.sum()
print("SUCCESS!")
