#!/usr/bin/env cs_python
"""A polynomial evaluated along a row of PEs of one region, whose colors alternate, on a stream of points.

Each PE has one coefficient, which set_symbol_all spreads. The script paints the routes inside the region; the layout
routes to and from its two ends.
"""

import argparse

import numpy as np
from cerebras.geometry.geometry import IntVector
from cerebras.sdk.runtime.sdkruntimepybind import (
    Color,
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

degree, size, rounds = 6, 16, 3
platform = get_platform(None, SimfabConfig(), SdkTarget.WSE2 if args.arch == "wse2" else SdkTarget.WSE3)
layout = SdkLayout(platform)

coefficients = np.array([2, -1, 0.5, 3, -2, 1, -4], np.float32)
row = layout.create_code_region("horner.csl", "horner", degree + 1, 1)
row.set_param_all("size", size)
row.set_symbol_all("coefficient", coefficients, degree + 1, 1)
row.place(4, 2)

even, odd = Color("even"), Color("odd")
receive = RoutingPosition().set_input([Route.WEST]).set_output([Route.RAMP])
send = RoutingPosition().set_input([Route.RAMP]).set_output([Route.EAST])
for x in range(degree + 1):
    rx, tx = (even, odd) if x % 2 == 0 else (odd, even)
    row.set_param(IntVector(x, 0), "rx", rx)
    row.set_param(IntVector(x, 0), "tx", tx)
    row.paint(IntVector(x, 0), rx, [receive])
    row.paint(IntVector(x, 0), tx, [send])

first, last = even, (even, odd)[(degree + 1) % 2]
into = row.create_input_port(first, Edge.LEFT, [RoutingPosition().set_output([Route.RAMP])], 2 * size)
out = row.create_output_port(last, Edge.RIGHT, [RoutingPosition().set_input([Route.RAMP])], 2 * size, "last_")
points_in = layout.create_input_stream(into)
values_out = layout.create_output_stream(out)

runtime = SdkRuntime(layout.compile("out"), platform, memcpy_required=False)
runtime.load()
runtime.run()
generator = np.random.default_rng(1)
for _ in range(rounds):
    points = generator.uniform(-1, 1, size).astype(np.float32)
    result = np.empty(2 * size, np.float32)
    runtime.send(points_in, np.concatenate([points, np.zeros(size, np.float32)]), nonblock=True)
    runtime.receive(values_out, result, 2 * size)
    np.testing.assert_array_equal(result[:size], points)
    np.testing.assert_allclose(result[size:], np.polyval(coefficients, points), rtol=1e-5, atol=1e-5)
runtime.stop()
print("SUCCESS!")
