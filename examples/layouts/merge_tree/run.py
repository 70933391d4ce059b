#!/usr/bin/env cs_python
"""Sorted sequences merged by a binary tree of regions of one file, which the layout places and connects by itself."""

import argparse

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import (
    Edge,
    PortHandle,
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

leaves, size = 8, 12
platform = get_platform(None, SimfabConfig(), SdkTarget.WSE2 if args.arch == "wse2" else SdkTarget.WSE3)
layout = SdkLayout(platform)
to_ramp = RoutingPosition().set_output([Route.RAMP])
from_ramp = RoutingPosition().set_input([Route.RAMP])


def merge(name: str, count: int) -> tuple[list[PortHandle], PortHandle]:
    """Return the two inputs of a region that merges sequences of `count` numbers, and its output."""
    region = layout.create_code_region("merge.csl", name, 1, 1)
    region.set_param_all("size", count)
    left, right, merged = (region.color(color) for color in ("left", "right", "merged"))
    for color in (left, right, merged):
        region.set_param_all(color)
    inputs = [region.create_input_port(color, Edge.LEFT, [to_ramp], count) for color in (left, right)]
    return inputs, region.create_output_port(merged, Edge.RIGHT, [from_ramp], 2 * count)


# From the leaves to the root, level by level.
streams: list[str] = []
outputs: list[PortHandle] = []
for leaf in range(leaves // 2):
    inputs, output = merge(f"level0_{leaf}", size)
    streams += [layout.create_input_stream(port) for port in inputs]
    outputs.append(output)
level, count = 1, 2 * size
while len(outputs) > 1:
    below, outputs = outputs, []
    for number in range(len(below) // 2):
        inputs, output = merge(f"level{level}_{number}", count)
        for tx, rx in zip(below[2 * number : 2 * number + 2], inputs, strict=True):
            layout.connect(tx, rx)
        outputs.append(output)
    level, count = level + 1, 2 * count
sorted_out = layout.create_output_stream(outputs[0])

runtime = SdkRuntime(layout.compile("out"), platform, memcpy_required=False)
runtime.load()
runtime.run()
numbers = np.random.default_rng(2).integers(-1000, 1000, (leaves, size)).astype(np.int32)
result = np.empty(leaves * size, np.int32)
for stream, sequence in zip(streams, np.sort(numbers, axis=1), strict=True):
    runtime.send(stream, sequence, nonblock=True)
runtime.receive(sorted_out, result, leaves * size, nonblock=True)
runtime.stop()
np.testing.assert_array_equal(result, np.sort(numbers.ravel()))
print("SUCCESS!")
