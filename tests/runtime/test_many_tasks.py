"""Units with more tasks than the bits of a word."""

from __future__ import annotations

import pytest

from .flow_modules import parse
from .machines import load

COUNT = 70
"""Functions that the host can launch; each appends its number to what is in memory."""


def functions() -> str:
    return "".join(
        f"""flow.export @f{number} as "f{number}"
        flow.func @f{number}() {{
          %hundred = arith.constant 100 : i16
          %mine = arith.constant {number} : i16
          %before = flow.load @seen[] : i16
          %shifted = arith.muli %before, %hundred : i16
          %after = arith.addi %shifted, %mine : i16
          flow.store %after, @seen[] : i16
          flow.return
        }}
        """
        for number in range(COUNT)
    )


TEXT = f"""flow.fabric @many target "wse3" grid 2 by 1 {{
  flow.color @c = 3
  flow.route @c on [0, :] from [ramp] to [east]
  flow.route @c on [1, :] from [west] to [ramp]
  flow.units @u on [:, :] words 16 {{
    flow.buffer @seen at 0 : memref<i16>
    flow.buffer @got at 2 : memref<2xi16>
    flow.export @seen as "seen"
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.queue output @out id 2 colors [@c on [:, :]]
    {functions()}
    flow.task local @done id 9 {{
      %got = flow.load @got[%one] : i16
      flow.store %got, @seen[] : i16
      flow.return
    }}
    flow.export @exchange as "exchange"
    flow.func @exchange() {{
      %x = flow.coordinate x : i16
      %zero = arith.constant 0 : i16
      %first = arith.cmpi eq, %x, %zero : i16
      scf.if %first {{
        %value = arith.constant 7 : i16
        %o = flow.queue_stream @out extent 2 : !flow.stream<i16>
        flow.apply mov16 %o, %value : !flow.stream<i16>, i16
      }} else {{
        %to = flow.stream @got at 0 strides [1] extents [2] : !flow.stream<i16>
        %i = flow.queue_stream @in extent 2 : !flow.stream<i16>
        flow.apply mov16 %to, %i async(microthread = 2, activate = @done) : !flow.stream<i16>, !flow.stream<i16>
      }}
      flow.return
    }}
  }}
}}""".replace("%got = flow.load", "%one = arith.constant 1 : index\n      %got = flow.load")


@pytest.mark.parametrize("launched", [[69, 3], [3, 69], [68, 69]])
@pytest.mark.slow
def test_tasks_that_are_ready_in_one_cycle_run_in_the_order_of_their_class(launched: list[int]) -> None:
    machine = load(parse(TEXT))
    for number in launched:
        machine.launch(f"f{number}")
    machine.run()
    first, second = sorted(launched)
    assert machine.read_symbol("seen").ravel().tolist() == [100 * first + second] * 2
    assert machine.statistics()["task_runs"] == 4


@pytest.mark.slow
def test_the_end_of_an_operation_activates_a_late_task() -> None:
    machine = load(parse(TEXT))
    machine.launch("exchange")
    machine.run()
    assert machine.read_symbol("seen").ravel().tolist() == [0, 7]
