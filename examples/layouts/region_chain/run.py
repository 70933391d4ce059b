#!/usr/bin/env cs_python
"""A chain of 400 regions, each of which adds its number to what passes: all are placed, connected and given colors.

Compiling the layout takes less than 10 seconds.
"""

import argparse
import time

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

count = 400
start = time.process_time()
regions = [layout.create_code_region("add.csl", f"add{number}", 1, 1) for number in range(count)]
inputs: list[PortHandle] = []
outputs: list[PortHandle] = []
for number, region in enumerate(regions):
    rx, tx = region.color("rx"), region.color("tx")
    region.set_param_all("own", number)
    region.set_param_all(rx)
    region.set_param_all(tx)
    inputs.append(region.create_input_port(rx, Edge.LEFT, [to_ramp], 1))
    outputs.append(region.create_output_port(tx, Edge.RIGHT, [from_ramp], 1))
for tx, rx in zip(outputs[:-1], inputs[1:], strict=True):
    layout.connect(tx, rx)
into = layout.create_input_stream(inputs[0])
out = layout.create_output_stream(outputs[-1])
artifacts = layout.compile("out")
assert time.process_time() - start < 10

runtime = SdkRuntime(artifacts, platform, memcpy_required=False)
runtime.load()
runtime.run()
numbers = np.random.default_rng(1).integers(0, 1 << 20, 6).astype(np.uint32)
result = np.empty(len(numbers), np.uint32)
runtime.send(into, numbers, nonblock=True)
runtime.receive(out, result, len(numbers))
runtime.stop()
np.testing.assert_array_equal(result, numbers + sum(range(count)))
print("SUCCESS!")
