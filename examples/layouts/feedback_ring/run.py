#!/usr/bin/env cs_python
"""A ring of regions with a gate: each vector goes around several times before the host gets it back.

Connections may form circles. Only the gate has a place; the others go near it.
"""

import argparse

import numpy as np
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

platform = get_platform(None, SimfabConfig(), SdkTarget.WSE2 if args.arch == "wse2" else SdkTarget.WSE3)
layout = SdkLayout(platform)
to_ramp = RoutingPosition().set_output([Route.RAMP])
from_ramp = RoutingPosition().set_input([Route.RAMP])

size, rounds = 12, 5
scales, shifts = [4, 10, 6, 8, 5], [1, 0, 3, 2, 7]

gate = layout.create_code_region("gate.csl", "gate", 1, 1)
gate.set_param_all("size", size)
gate.set_param_all("rounds", rounds)
given, done, back, ahead = (gate.color(name) for name in ("given", "done", "back", "ahead"))
for color in (given, done, back, ahead):
    gate.set_param_all(color)
gate.place(4, 4)
into = layout.create_input_stream(gate.create_input_port(given, Edge.TOP, [to_ramp], size))
out = layout.create_output_stream(gate.create_output_port(done, Edge.BOTTOM, [from_ramp], size))
around = gate.create_output_port(ahead, Edge.RIGHT, [from_ramp], size)
for number, (scale, shift) in enumerate(zip(scales, shifts, strict=True)):
    stage = layout.create_code_region("affine.csl", f"stage{number}", 1, 1)
    rx, tx = stage.color("rx"), stage.color("tx")
    stage.set_param_all("scale", scale)
    stage.set_param_all("shift", shift)
    stage.set_param_all(rx)
    stage.set_param_all(tx)
    layout.connect(around, stage.create_input_port(rx, Edge.LEFT, [to_ramp], size))
    around = stage.create_output_port(tx, Edge.RIGHT, [from_ramp], size)
layout.connect(around, gate.create_input_port(back, Edge.LEFT, [to_ramp], size))

runtime = SdkRuntime(layout.compile("out"), platform, memcpy_required=False)
runtime.load()
runtime.run()
generator = np.random.default_rng(5)
for _ in range(2):
    values = generator.uniform(-4, 4, size).astype(np.float32)
    result = np.empty(size, np.float32)
    runtime.send(into, values, nonblock=True)
    runtime.receive(out, result, size)
    for _ in range(rounds):
        for scale, shift in zip(scales, shifts, strict=True):
            values = values * scale / 8 + shift
    np.testing.assert_allclose(result, values, rtol=1e-5)
runtime.stop()
print("SUCCESS!")
