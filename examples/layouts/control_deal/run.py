#!/usr/bin/env cs_python
"""Numbers dealt to a column of PEs by switches that control wavelets turn, one after the other.

Each router has two routing positions: to its own PE, and on to the next. The color gets a value that has a switch.
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
    get_edge_routing,
    get_platform,
)

parser = argparse.ArgumentParser()
parser.add_argument("--arch", choices=["wse2", "wse3"], default="wse3")
args = parser.parse_args()

platform = get_platform(None, SimfabConfig(), SdkTarget.WSE2 if args.arch == "wse2" else SdkTarget.WSE3)
layout = SdkLayout(platform)
to_ramp = RoutingPosition().set_output([Route.RAMP])
from_ramp = RoutingPosition().set_input([Route.RAMP])

hand, players = 5, 6

dealer = layout.create_code_region("dealer.csl", "dealer", 1, 1)
dealer.set_param_all("hand", hand)
dealer.set_param_all("players", players)
rx, tx = dealer.color("rx"), dealer.color("tx")
dealer.set_param_all(rx)
dealer.set_param_all(tx)
into = layout.create_input_stream(dealer.create_input_port(rx, Edge.LEFT, [to_ramp], hand * players))

column = layout.create_code_region("player.csl", "column", 1, players)
column.set_param_all("hand", hand)
cards = column.color("rx")
column.set_param_all(cards)
keep = RoutingPosition().set_input([Route.NORTH]).set_output([Route.RAMP])
pass_on = RoutingPosition().set_input([Route.NORTH]).set_output([Route.SOUTH])
column.paint_all(cards, [keep, pass_on], [get_edge_routing(Edge.BOTTOM, [keep])])
to_south = RoutingPosition().set_output([Route.SOUTH])
top = column.create_input_port(cards, Edge.TOP, [to_ramp, to_south], hand * players)
column.place(6, 3)
layout.connect(dealer.create_output_port(tx, Edge.RIGHT, [from_ramp], hand * players), top)

runtime = SdkRuntime(layout.compile("out"), platform, memcpy_required=False)
runtime.load()
runtime.run()
numbers = np.random.default_rng(4).permutation(hand * players).astype(np.uint32)
runtime.send(into, numbers)
runtime.stop()
for player in range(players):
    received = runtime.read_symbol(6, 3 + player, "cards", "uint32")
    np.testing.assert_array_equal(received, numbers[player * hand : (player + 1) * hand])
print("SUCCESS!")
