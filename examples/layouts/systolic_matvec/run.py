#!/usr/bin/env cs_python
"""A systolic matrix-vector product: three regions joined by ports of several PEs.

A row of PEs deals the elements of each vector to the columns of the matrix, sums move east through its rows, and a
column of PEs gathers them. Colors alternate along each line, and nothing is placed by the script.
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

platform = get_platform(None, SimfabConfig(), SdkTarget.WSE2 if args.arch == "wse2" else SdkTarget.WSE3)
layout = SdkLayout(platform)
to_ramp = RoutingPosition().set_output([Route.RAMP])
from_ramp = RoutingPosition().set_input([Route.RAMP])

rows, columns, vectors = 5, 4, 3
matrix = np.random.default_rng(7).uniform(-1, 1, (rows, columns)).astype(np.float32)


def route(source: Route, target: Route) -> list[RoutingPosition]:
    return [RoutingPosition().set_input([source]).set_output([target])]


# The row that deals the elements.
deal = layout.create_code_region("deal.csl", "deal", columns, 1)
lines = [deal.color("even"), deal.color("odd")]
down = deal.color("down")
deal.set_param_all(down)
for x in range(columns):
    pe, rx, east = IntVector(x, 0), lines[x % 2], lines[1 - x % 2]
    deal.set_param(pe, "after", columns - 1 - x)
    deal.set_param(pe, "rx", rx)
    deal.set_param(pe, "east", east)
    deal.paint(pe, rx, route(Route.WEST, Route.RAMP))
    if x < columns - 1:
        deal.paint(pe, east, route(Route.RAMP, Route.EAST))
into = layout.create_input_stream(deal.create_input_port(lines[0], Edge.LEFT, [to_ramp], columns))
dealt = deal.create_output_port(down, Edge.BOTTOM, [from_ramp], columns)

# The matrix, with one element on each PE.
grid = layout.create_code_region("cell.csl", "grid", columns, rows)
grid.set_symbol_all("element", matrix, columns, rows)
factor = grid.color("x")
grid.set_param_all(factor)
for y in range(rows):
    on = [Route.RAMP, Route.SOUTH] if y < rows - 1 else [Route.RAMP]
    for x in range(columns):
        grid.paint(IntVector(x, y), factor, [RoutingPosition().set_input([Route.NORTH]).set_output(on)])
sums = [grid.color("even"), grid.color("odd")]
for x in range(columns):
    rx, tx = sums[x % 2], sums[1 - x % 2]
    for y in range(rows):
        pe = IntVector(x, y)
        grid.set_param(pe, "is_first", int(x == 0))
        grid.set_param(pe, "rx", rx)
        grid.set_param(pe, "tx", tx)
        if x > 0:
            grid.paint(pe, rx, route(Route.WEST, Route.RAMP))
        grid.paint(pe, tx, route(Route.RAMP, Route.EAST))
top = grid.create_input_port(factor, Edge.TOP, [RoutingPosition().set_output([Route.RAMP, Route.SOUTH])], columns)
right = grid.create_output_port(sums[columns % 2], Edge.RIGHT, [from_ramp], rows)

# The column that gathers the sums.
gather = layout.create_code_region("gather.csl", "gather", 1, rows)
lines = [gather.color("even"), gather.color("odd")]
own = gather.color("own")
gather.set_param_all(own)
for y in range(rows):
    pe, tx, rx = IntVector(0, y), lines[y % 2], lines[1 - y % 2]
    gather.set_param(pe, "after", rows - 1 - y)
    gather.set_param(pe, "rx", rx)
    gather.set_param(pe, "tx", tx)
    gather.paint(pe, tx, route(Route.RAMP, Route.NORTH))
    if y < rows - 1:
        gather.paint(pe, rx, route(Route.SOUTH, Route.RAMP))
left = gather.create_input_port(own, Edge.LEFT, [to_ramp], rows)
out = layout.create_output_stream(gather.create_output_port(lines[0], Edge.TOP, [from_ramp], rows))

layout.connect(dealt, top)
layout.connect(right, left)
runtime = SdkRuntime(layout.compile("out"), platform, memcpy_required=False)
runtime.load()
runtime.run()
data = np.random.default_rng(8).uniform(-1, 1, (vectors, columns)).astype(np.float32)
result = np.empty((vectors, rows), np.float32)
for vector in range(vectors):
    runtime.send(into, data[vector], nonblock=True)
    runtime.receive(out, result[vector], rows)
runtime.stop()
np.testing.assert_allclose(result, data @ matrix.T, rtol=1e-5, atol=1e-6)
print("SUCCESS!")
