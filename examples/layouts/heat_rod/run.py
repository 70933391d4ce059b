#!/usr/bin/env cs_python
"""Heat conduction along a rod of PEs, one region whose colors the script paints, with parity of the columns.

The initial temperatures are stored by set_symbol_all, and the result is read from the PEs.
"""

import argparse

import numpy as np
from cerebras.geometry.geometry import IntVector
from cerebras.sdk.runtime.sdkruntimepybind import (
    Color,
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

length, steps = 14, 20
temperatures = np.random.default_rng(6).uniform(0, 100, length).astype(np.float32)

rod = layout.create_code_region("cell.csl", "rod", length, 1)
rod.place(2, 1)
rod.set_param_all("steps", steps)
rod.set_param_all("is_first", 0)
rod.set_param_all("is_last", 0)
rod.set_param(IntVector(0, 0), "is_first", 1)
rod.set_param(IntVector(length - 1, 0), "is_last", 1)
rod.set_symbol_all("temperature", temperatures, length, 1)

# What even columns send east, odd ones receive, and the other way around; likewise west.
east = [Color("east0"), Color("east1")]
west = [Color("west0"), Color("west1")]
for x in range(length):
    cell, parity = IntVector(x, 0), x % 2
    rod.set_param(cell, "to_east", east[parity])
    rod.set_param(cell, "from_west", east[1 - parity])
    rod.set_param(cell, "to_west", west[parity])
    rod.set_param(cell, "from_east", west[1 - parity])
    if x < length - 1:
        rod.paint(cell, east[parity], [RoutingPosition().set_input([Route.RAMP]).set_output([Route.EAST])])
        rod.paint(cell, west[1 - parity], [RoutingPosition().set_input([Route.EAST]).set_output([Route.RAMP])])
    if x > 0:
        rod.paint(cell, west[parity], [RoutingPosition().set_input([Route.RAMP]).set_output([Route.WEST])])
        rod.paint(cell, east[1 - parity], [RoutingPosition().set_input([Route.WEST]).set_output([Route.RAMP])])

runtime = SdkRuntime(layout.compile("out"), platform, memcpy_required=False)
runtime.load()
runtime.run()
runtime.stop()
expected = temperatures.copy()
for _ in range(steps):
    expected[1:-1] += 0.25 * (expected[:-2] - 2 * expected[1:-1] + expected[2:])
actual = [runtime.read_symbol(2 + x, 1, "temperature", "float32")[0] for x in range(length)]
np.testing.assert_allclose(actual, expected, rtol=1e-5)
print("SUCCESS!")
