#!/usr/bin/env cs_python
"""Paths through a lattice counted by a grid of regions with four ports each, most of which the layout places.

Every crossing adds what comes from the west and the north: binomial coefficients, which the host reads at
the ends of rows and columns.
"""

import argparse
import math

import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import (
    CodeRegion,
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

side, size = 6, 3


def region(file: str, name: str, **colors: tuple[Edge, bool]) -> tuple[CodeRegion, list[PortHandle]]:
    """Make a region of one PE with a port of each color; return the ports."""
    made = layout.create_code_region(file, name, 1, 1)
    made.set_param_all("size", size)
    ports: list[PortHandle] = []
    for color_name, (edge, is_input) in colors.items():
        color = made.color(color_name)
        made.set_param_all(color)
        create = made.create_input_port if is_input else made.create_output_port
        ports.append(create(color, edge, [to_ramp if is_input else from_ramp], size))
    return made, ports


inward, outward = True, False
eastward: dict[tuple[int, int], PortHandle] = {}
southward: dict[tuple[int, int], PortHandle] = {}
for y in range(side):
    for x in range(side):
        _, (west, north, east, south) = region(
            "crossing.csl",
            f"crossing{x}_{y}",
            from_west=(Edge.LEFT, inward),
            from_north=(Edge.TOP, inward),
            to_east=(Edge.RIGHT, outward),
            to_south=(Edge.BOTTOM, outward),
        )
        for port, before, at, edge in (
            (west, eastward, (x - 1, y), Edge.RIGHT),
            (north, southward, (x, y - 1), Edge.BOTTOM),
        ):
            if at not in before:
                _, (before[at],) = region("edge.csl", f"{edge.name.lower()}{x}_{y}", tx=(edge, outward))
            layout.connect(before[at], port)
        eastward[x, y], southward[x, y] = east, south
for along, edge in ((eastward, Edge.LEFT), (southward, Edge.TOP)):
    for line in range(side):
        at = (side - 1, line) if along is eastward else (line, side - 1)
        sink, (port,) = region("sink.csl", f"sink_{edge.name.lower()}{line}", rx=(edge, inward))
        sink.place(*((30, 2 + 2 * line) if along is eastward else (2 + 2 * line, 30)))
        layout.connect(along[at], port)

runtime = SdkRuntime(layout.compile("out"), platform, memcpy_required=False)
runtime.load()
runtime.run()
runtime.stop()
for line in range(side):
    # Each PE at the border sends 1, 2 and 3.
    expected = math.comb(side + line + 1, side) * np.arange(1, size + 1)
    for x, y in ((30, 2 + 2 * line), (2 + 2 * line, 30)):
        np.testing.assert_array_equal(runtime.read_symbol(x, y, "taken", "uint32"), expected)
print("SUCCESS!")
