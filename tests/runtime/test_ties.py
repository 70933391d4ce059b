"""Wavelets of several senders that reach a queue in one cycle."""

from __future__ import annotations

import pytest

from .flow_modules import parse
from .machines import load


def senders_to_the_middle(target: str, routes: str, senders: list[tuple[int, int]]) -> str:
    """PEs of a 3 x 3 grid send their numbers, 10 * x + y, to the middle, which logs them in a data task."""
    sends = " ".join(
        f"""
        %x{k} = arith.constant {x} : i16
        %y{k} = arith.constant {y} : i16
        %is_x{k} = arith.cmpi eq, %x, %x{k} : i16
        %is_y{k} = arith.cmpi eq, %y, %y{k} : i16
        %here{k} = arith.andi %is_x{k}, %is_y{k} : i1
        %mine{k + 1} = arith.ori %mine{k}, %here{k} : i1"""
        for k, (x, y) in enumerate(senders)
    )
    return f"""flow.fabric @ties target "{target}" grid 3 by 3 {{
      flow.color @c = 2
      {routes}
      flow.units @all on [:, :] words 64 {{
        flow.buffer @log at 0 : memref<8xi16>
        flow.buffer @k at 10 : memref<i16>
        flow.export @log as "log"
        flow.export @main as "main"
        flow.queue input @in id 2 colors [@c on [1, 1]]
        flow.queue output @out id 2 colors [@c on [:, :]]
        flow.task data @d id 2 on @in (%v: i16) {{
          %k = flow.load @k[] : i16
          %i = arith.index_cast %k : i16 to index
          flow.store %v, @log[%i] : i16
          %one = arith.constant 1 : i16
          %next = arith.addi %k, %one : i16
          flow.store %next, @k[] : i16
          flow.return
        }}
        flow.func @main() {{
          %x = flow.coordinate x : i16
          %y = flow.coordinate y : i16
          %ten = arith.constant 10 : i16
          %tens = arith.muli %x, %ten : i16
          %number = arith.addi %tens, %y : i16
          %mine0 = arith.constant false
          {sends}
          scf.if %mine{len(senders)} {{
            %s = flow.queue_stream @out extent 1 : !flow.stream<i16>
            flow.apply mov16 %s, %number : !flow.stream<i16>, i16
          }}
          flow.return
        }}
      }}
    }}"""


def order(text: str, count: int) -> list[int]:
    machine = load(parse(text))
    machine.launch("main")
    machine.run()
    return machine.read_symbol("log")[1, 1, :count].tolist()


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_wavelets_that_meet_come_in_the_order_of_the_ports(target: str) -> None:
    """North, east, south, west, though their senders are in another order in the grid."""
    routes = """
      flow.route @c on [1, 0] from [ramp] to [south]
      flow.route @c on [2, 1] from [ramp] to [west]
      flow.route @c on [1, 2] from [ramp] to [north]
      flow.route @c on [0, 1] from [ramp] to [east]
      flow.route @c on [1, 1] from [north, east, south, west] to [ramp]"""
    text = senders_to_the_middle(target, routes, [(0, 1), (1, 2), (2, 1), (1, 0)])
    assert order(text, 4) == [10, 21, 12, 1]


@pytest.mark.parametrize("target", ["wse2", "wse3"])
def test_wavelets_that_come_by_one_port_go_by_row_and_column_of_their_senders(target: str) -> None:
    """Two that meet on their way come by the same port: one from the row above, one from the row below."""
    routes = """
      flow.route @c on [0, 0] from [ramp] to [south]
      flow.route @c on [0, 2] from [ramp] to [north]
      flow.route @c on [0, 1] from [north, south] to [east]
      flow.route @c on [1, 1] from [west] to [ramp]"""
    assert order(senders_to_the_middle(target, routes, [(0, 2), (0, 0)]), 2) == [0, 2]
