"""When the branches of a multicast arrive, and what their receivers send on."""

from __future__ import annotations

import io
import json

import pytest

from .flow_modules import parse
from .machines import load


def program(arch: str, *, forwards: bool) -> str:
    """(0, 0) sends on @c to (1, 0) straight ahead and, by a turn there, to (1, 1); (1, 0) may send on to it on @d."""
    return f"""flow.fabric @test target "{arch}" grid 2 by 2 {{
      flow.color @c = 0
      flow.color @d = 1
      flow.route @c on [0, 0] from [ramp] to [east]
      flow.route @c on [1, 0] from [west] to [ramp, south]
      flow.route @c on [1, 1] from [north] to [ramp]
      flow.route @d on [1, 0] from [ramp] to [south]
      flow.route @d on [1, 1] from [north] to [ramp]
      flow.units @u on [:, :] words 64 {{
        flow.buffer @data at 0 : memref<f32> = dense<7.0>
        flow.buffer @order at 2 : memref<4xi16>
        flow.buffer @count at 6 : memref<i16>
        flow.export @order as "order"
        flow.queue output @out id 0 colors [@c on [0, 0], @d on [1, 0]]
        flow.queue input @first id 0 colors [@c on [1, :]]
        flow.queue input @second id 1 colors [@d on [1, 1]]
        flow.func @send() {{
          %s = flow.stream @data at 0 strides [1] extents [1] : !flow.stream<f32>
          %o = flow.queue_stream @out extent 1 : !flow.stream<f32>
          flow.apply fmovs %o, %s : !flow.stream<f32>, !flow.stream<f32>
          flow.return
        }}
        flow.func @note(%value: i16) {{
          %n = flow.load @count[] : i16
          %i = arith.index_cast %n : i16 to index
          flow.store %value, @order[%i] : i16
          %one = arith.constant 1 : i16
          %next = arith.addi %n, %one : i16
          flow.store %next, @count[] : i16
          flow.return
        }}
        flow.task data @c_came id 0 on @first (%v: f32) {{
          %y = flow.coordinate y : i16
          %zero = arith.constant 0 : i16
          %one = arith.constant 1 : i16
          %upper = arith.cmpi eq, %y, %zero : i16
          scf.if %upper {{
            {"flow.call @send() : () -> ()" if forwards else ""}
          }} else {{
            flow.call @note(%one) : (i16) -> ()
          }}
          flow.return
        }}
        flow.task data @d_came id 1 on @second (%v: f32) {{
          %two = arith.constant 2 : i16
          flow.call @note(%two) : (i16) -> ()
          flow.return
        }}
        flow.func @main() {{
          %x = flow.coordinate x : i16
          %y = flow.coordinate y : i16
          %xy = arith.addi %x, %y : i16
          %zero = arith.constant 0 : i16
          %corner = arith.cmpi eq, %xy, %zero : i16
          scf.if %corner {{
            flow.call @send() : () -> ()
          }}
          flow.return
        }}
        flow.export @main as "main"
      }}
    }}"""


def run(arch: str, *, forwards: bool) -> tuple[list[int], dict[str, int], int]:
    """What (1, 1) notes, when its tasks begin, and when (0, 0) issues its send."""
    trace = io.BytesIO()
    made = load(parse(program(arch, forwards=forwards)), trace=trace)
    made.launch("main", [])
    made.run(10_000)
    events = [json.loads(line) for line in trace.getvalue().decode().splitlines()]
    begins = {
        event["name"]: event["cycle"] for event in events if event["event"] == "task" and "(1, 1)" in event["pes"]
    }
    (issued,) = [event["cycle"] for event in events if event["event"] == "operation" and event["pes"] == "PE (0, 0)"]
    return made.read_symbol("order")[1, 1, :2].tolist(), begins, issued


def test_what_a_straight_receiver_sends_on_does_not_overtake_the_branch_that_turns() -> None:
    order, begins, _ = run("wse2", forwards=True)
    assert order == [1, 2]
    assert begins["c_came"] < begins["d_came"]


@pytest.mark.parametrize(("arch", "cycles"), [("wse2", 13 + 2 + 2 * 1 + 2 + 3), ("wse3", 13 + 7 + 2 * 2 + 33 + 3)])
def test_cycles_from_a_send_to_the_task_behind_a_turn(arch: str, cycles: int) -> None:
    """Set up, out, two hops with a turn between them, down the ramp, and the start of the task."""
    _, begins, issued = run(arch, forwards=False)
    assert begins["c_came"] - issued == cycles
