"""Streams from and to the host beside colors whose routes the program rewrites, on both executors."""

from __future__ import annotations

import numpy as np
import pytest

from loomir import targets
from loomir.targets.wavelets import REGISTER_PORTS

from .flow_modules import parse, spin
from .machines import load

REGISTERS = targets.get("wse3").registers
BIT = {port: 1 << number for number, port in enumerate(REGISTER_PORTS)}
EXECUTORS = pytest.mark.parametrize("executor", ["reference", "core"])


def address(color: int) -> int:
    """Return the byte address of the register of a color, as i16."""
    return 2 * (REGISTERS.colors + color) - (1 << 16)


@EXECUTORS
@pytest.mark.parametrize("color", [4, 5])
@pytest.mark.parametrize("bits", [BIT["ramp"], BIT["ramp"] << 5, BIT["east"], 1 << 14])
def test_a_stream_does_not_follow_the_register_of_its_color(executor: str, color: int, bits: int) -> None:
    """Streams are the host's: PEs get and send what they do, whatever the program writes."""
    text = f"""
    flow.fabric @p target "wse3" grid 2 by 1 {{
      flow.color @from = 4 changes
      flow.color @to = 5 changes
      flow.host_stream @from in on [:, :]
      flow.host_stream @to out on [:, :]
      flow.units @u on [:, :] words 64 {{
        flow.queue input @in id 2 colors [@from on [:, :]]
        flow.queue output @out id 3 colors [@to on [:, :]]
        flow.task data @t id 2 on @in (%a: i32) {{
          %q = flow.queue_stream @out extent 1 : !flow.stream<i32>
          flow.apply mov32 %q, %a : !flow.stream<i32>, i32
          %at = arith.constant {address(color)} : i16
          %before = flow.load %at[] : i16
          %mask = arith.constant {bits} : i16
          %after = arith.xori %before, %mask : i16
          flow.store %after, %at[] : i16
        }}
      }}
    }}"""
    machine = load(parse(text), executor=executor)
    words = np.arange(6, dtype=np.uint32).reshape(1, 2, 3)
    machine.send("from", 0, 0, 2, 1, words)
    machine.run(10_000, allow_pending=True)
    assert machine.receive("to", 0, 0, 2, 1, 3).tolist() == words.tolist()


@EXECUTORS
@pytest.mark.parametrize("order", [[0, 1, 0, 1], [1, 1, 0, 0, 0, 1], [0]], ids=str)
def test_a_program_sends_words_of_a_stream_where_its_routes_lead_by_then(executor: str, order: list[int]) -> None:
    """The first PE turns the route of its color by each word, to the east or to the south; both pass it to the host."""
    text = f"""
    flow.fabric @p target "wse3" grid 2 by 2 {{
      flow.color @from = 4
      flow.color @way = 6 changes
      flow.color @to = 5
      flow.host_stream @from in on [:, :]
      flow.host_stream @to out on [:, :]
      flow.route @way on [0, 0] from [ramp] to [east]
      flow.route @way on [1, 0] from [west] to [ramp]
      flow.route @way on [0, 1] from [north] to [ramp]
      flow.units @first on [0, 0] words 64 {{
        flow.buffer @x at 0 : memref<i32>
        flow.queue input @in id 2 colors [@from on [:, :]]
        flow.queue output @out id 3 colors [@way on [:, :]]
        flow.task data @t id 2 on @in (%a: i32) {{
          {spin(40)}
          %east = arith.constant {BIT["ramp"] << 5 | BIT["east"]} : i16
          %south = arith.constant {BIT["ramp"] << 5 | BIT["south"]} : i16
          %one = arith.constant 1 : i32
          %bit = arith.andi %a, %one : i32
          %turns = arith.cmpi eq, %bit, %one : i32
          %word = arith.select %turns, %south, %east : i16
          %at = arith.constant {address(6)} : i16
          flow.store %word, %at[] : i16
          %q = flow.queue_stream @out extent 1 : !flow.stream<i32>
          flow.apply mov32 %q, %a : !flow.stream<i32>, i32
        }}
      }}
      flow.units @others on [1, 0] + [0, 1] words 64 {{
        flow.queue input @in id 2 colors [@way on [:, :]]
        flow.queue output @out id 3 colors [@to on [:, :]]
        flow.task data @t id 2 on @in (%a: i32) {{
          %q = flow.queue_stream @out extent 1 : !flow.stream<i32>
          flow.apply mov32 %q, %a : !flow.stream<i32>, i32
        }}
      }}
    }}"""
    machine = load(parse(text), executor=executor)
    words = [2 * number + turn for number, turn in enumerate(order)]
    machine.send("from", 0, 0, 1, 1, np.array(words, np.uint32).reshape(1, 1, -1))
    machine.run(10_000, allow_pending=True)
    for turn, (x, y) in enumerate([(1, 0), (0, 1)]):
        wanted = [word for word in words if word % 2 == turn]
        if wanted:
            assert machine.receive("to", x, y, 1, 1, len(wanted)).ravel().tolist() == wanted
