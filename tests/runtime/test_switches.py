"""Routes that control wavelets change: whole programs; `reference/test_switches.py` has random routers."""

from __future__ import annotations

import numpy as np
import pytest

from loomir.diagnostics.errors import LoomError
from loomir.runtime import Deadlock, Machine

from .flow_modules import parse
from .machines import load
from .router_model import commands, encode


def machine(width: int, height: int, routes: str, units: str) -> Machine:
    text = f"""flow.fabric @grid target "wse3" grid {width} by {height} {{
      flow.color @c = 4
      {routes}
      {units}
    }}"""
    return load(parse(text))


def sender(where: str, sends: str) -> str:
    return f"""flow.units @sender on {where} words 8 {{
      flow.queue output @out id 2 colors [@c on [:, :]]
      flow.task local @send id 9 active {{
        {sends}
      }}
    }}"""


def send(number: int, word: int, options: str = "") -> str:
    return f"""%w{number} = arith.constant {word} : i32
      %o{number} = flow.queue_stream @out extent 1 {options} : !flow.stream<i32>
      flow.apply mov32 %o{number}, %w{number} : !flow.stream<i32>, i32
      """


def reader(where: str, count: int) -> str:
    return f"""flow.units @reader on {where} words 16 {{
      flow.buffer @got at 0 : memref<{count}xi32>
      flow.queue input @in id 2 colors [@c on [:, :]]
      flow.export @got as "got"
      flow.task local @take id 9 active {{
        %s = flow.stream @got at 0 strides [1] extents [{count}] : !flow.stream<i32>
        %i = flow.queue_stream @in extent {count} : !flow.stream<i32>
        flow.apply mov32 %s, %i : !flow.stream<i32>, !flow.stream<i32>
      }}
    }}"""


ADVANCE = encode([(1, True)], 31)
TURNS = """flow.route @c on [1, 1] from [ramp] to [north] switch [to [west], to [east], to [south]] at 1 ring
      flow.route @c on [1, 0] from [south] to [ramp]
      flow.route @c on [0, 1] from [east] to [ramp]
      flow.route @c on [2, 1] from [west] to [ramp]
      flow.route @c on [1, 2] from [north] to [ramp]"""


@pytest.mark.parametrize("by_descriptor", [True, False])
def test_one_color_to_all_sides(by_descriptor: bool) -> None:
    """A switch goes round by control wavelets, or by itself after each send (DSD-252)."""
    if by_descriptor:
        sends = "".join(send(number, 10 * number, "advance_switch") for number in range(4))
    else:
        sends = "".join(send(2 * n, 10 * n) + send(2 * n + 1, ADVANCE, "control") for n in range(4))
    units = sender("[1, 1]", sends) + reader("[1, 0] + [0, 1] + [2, 1] + [1, 2]", 1)
    engine = machine(3, 3, TURNS, units)
    engine.run()
    got = engine.read_symbol("got")[:, :, 0]
    assert (got[1, 0], got[1, 2], got[2, 1], got[0, 1]) == (0, 10, 20, 30)
    assert engine.unread() == []


def test_wavelets_that_never_pass_are_reported() -> None:
    routes = """flow.route @c on [0, :] from [ramp] to [east]
      flow.route @c on [1, :] from [ramp] to [east] switch [from [west]]
      flow.route @c on [2, :] from [west] to [ramp]"""
    units = sender("[0, :]", send(0, 5) + send(1, 6)) + reader("[2, :]", 2)
    engine = machine(3, 1, routes, units)
    with pytest.raises(Deadlock) as caught:
        engine.run()
    expected = "2 wavelets of color @c wait at the router of PE (1, 0), from west: its switch is at position 0, "
    assert f"{expected}where it takes the color from ramp" in str(caught.value)
    assert "no route leads" not in str(caught.value)


def test_wavelets_that_nothing_reads_or_that_leave_the_grid() -> None:
    routes = """flow.route @c on [0, :] from [ramp] to [east, north]
      flow.route @c on [1, :] from [west] to [ramp] switch [to []]"""
    engine = machine(2, 1, routes, sender("[0, :]", send(0, 5) + send(1, ADVANCE, "control") + send(2, 7)))
    engine.run()
    assert [str(left) for left in engine.unread()] == [
        "2 wavelets of color @c left the grid to the north of PE (0, 0)",
        "1 wavelet of color @c arrived at PE (1, 0), where no operation and no task reads the color",
    ]


def test_control_tasks_and_what_the_engine_ignores() -> None:
    """The bit of the command that a router obeys decides whether the wavelet goes down its ramp."""
    routes = """flow.route @c on [0, :] from [ramp] to [east]
      flow.route @c on [1:3, :] from [west] to [ramp, east] switch [] always_pop
      flow.route @c on [3, :] from [west] to [ramp]"""
    reads = """flow.units @reader on [1:, :] words 16 {
      flow.buffer @count at 0 : memref<i32>
      flow.queue input @in id 2 colors [@c on [:, :]] unblocked
      flow.export @count as "count"
      flow.task control @hit id 7 (%word: i32) {
        %b = flow.stream @count at 0 strides [0] extents [1] : !flow.stream<i32>
        flow.apply mov32 %b, %word : !flow.stream<i32>, i32
      }
    }"""
    words = encode([(0, True), (0, False), (0, False)], 7)
    engine = machine(4, 1, routes, sender("[0, :]", send(0, words, "control")) + reads)
    engine.run()
    got = engine.read_symbol("count").ravel().view(np.uint32).tolist()
    assert got[1] == 0
    # A router that pops gives what is left to its own compute engine too.
    assert commands(got[2]) == [(0, False)] * 6 + [(0, True)] * 2
    assert commands(got[3]) == commands(got[2])


def test_a_teardown_of_a_color_that_nothing_tears_down_is_an_error() -> None:
    routes = "flow.route @c on [0, :] from [ramp] to [ramp] switch [to []]"
    engine = machine(1, 1, routes, sender("[0, :]", send(0, encode([(3, True)], 31), "control")))
    with pytest.raises(LoomError, match=r"has a teardown command for the router of PE \(0, 0\)"):
        engine.run()


def test_a_circular_route_is_reported() -> None:
    routes = """flow.route @c on [0, 0] from [ramp] to [east] switch [from [south]]
      flow.route @c on [1, 0] from [west] to [south]
      flow.route @c on [1, 1] from [north] to [west]
      flow.route @c on [0, 1] from [east] to [north]"""
    engine = machine(2, 2, routes, sender("[0, 0]", send(0, ADVANCE, "control") + send(1, 3)))
    with pytest.raises(LoomError, match="loop through PE"):
        engine.run()


def test_static_routes_obey_the_ignore_bit_too() -> None:
    routes = """flow.route @c on [0, :] from [ramp] to [east]
      flow.route @c on [1, :] from [west] to [ramp]"""
    ignored = encode([(0, True)], 31)
    sends = send(0, 5) + send(1, ignored, "control") + send(2, 6) + send(3, encode([], 3), "control")
    engine = machine(2, 1, routes, sender("[0, :]", sends) + reader("[1, :]", 3))
    engine.run()
    assert engine.read_symbol("got")[0, 1].tolist() == [5, 6, encode([], 3)]
