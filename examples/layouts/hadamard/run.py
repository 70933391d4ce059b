#!/usr/bin/env cs_python
"""A Hadamard transform of eight streams from the host, by twelve regions that are placed and crosswise connected.

All eight results stream out at once.
"""

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

platform = get_platform(None, SimfabConfig(), SdkTarget.WSE2 if args.arch == "wse2" else SdkTarget.WSE3)
layout = SdkLayout(platform)
to_ramp = RoutingPosition().set_output([Route.RAMP])
from_ramp = RoutingPosition().set_input([Route.RAMP])

stages, size = 3, 10
width = 1 << stages
inputs: list[tuple[int, str]] = []
ports: dict[int, PortHandle] = {}
for stage in range(stages):
    for first in (line for line in range(width) if not line >> stage & 1):
        second = first | 1 << stage
        region = layout.create_code_region("butterfly.csl", f"b{stage}_{first}", 1, 1)
        region.set_param_all("size", size)
        a, b, total, difference = (region.color(name) for name in ("a", "b", "sum", "difference"))
        for color in (a, b, total, difference):
            region.set_param_all(color)
        for line, color in ((first, a), (second, b)):
            port = region.create_input_port(color, Edge.LEFT, [to_ramp], size)
            if stage == 0:
                inputs.append((line, layout.create_input_stream(port)))
            else:
                layout.connect(ports[line], port)
        ports[first] = region.create_output_port(total, Edge.RIGHT, [from_ramp], size)
        ports[second] = region.create_output_port(difference, Edge.RIGHT, [from_ramp], size)
outputs = [layout.create_output_stream(ports[line]) for line in range(width)]

runtime = SdkRuntime(layout.compile("out"), platform, memcpy_required=False)
runtime.load()
runtime.run()
data = np.random.default_rng(2).integers(-9, 10, (width, size)).astype(np.float32)
result = np.empty((width, size), np.float32)
for line, stream in inputs:
    runtime.send(stream, data[line], nonblock=True)
tasks = [runtime.receive(stream, result[line], size, nonblock=True) for line, stream in enumerate(outputs)]
runtime.stop()
matrix = np.array([[(-1) ** (row & column).bit_count() for column in range(width)] for row in range(width)])
np.testing.assert_array_equal(result, matrix @ data)
print("SUCCESS!")
