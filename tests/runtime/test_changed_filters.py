"""Filters of runs of wavelets, and filters that change while wavelets wait in front of them, on both executors."""

from __future__ import annotations

import numpy as np
import pytest

from loomir import targets
from loomir.diagnostics.errors import LoomError
from loomir.runtime import Machine

from .flow_modules import parse, spin
from .machines import load

FILTER = targets.get("wse3").registers.filters
EXECUTORS = pytest.mark.parametrize("executor", ["reference", "core"])


def machine(filter: str, receiver: str, executor: str, count: int = 12, *, changes: bool = False) -> Machine:
    """Return a machine whose first PE sends 1, 2, ... to the second in one operation."""
    words = ", ".join(str(number + 1) for number in range(count))
    text = f"""
    flow.fabric @p target "wse3" grid 2 by 1 {{
      flow.color @c = 4 {"changes" if changes else ""}
      flow.route @c on [0, :] from [ramp] to [east]
      flow.route @c on [1, :] from [west] to [ramp] filter {filter}
      flow.units @sender on [0, 0] words 512 {{
        flow.buffer @words at 0 : memref<{count}xi32> = dense<[{words}]>
        flow.queue output @out id 2 colors [@c on [:, :]]
        flow.task local @send id 9 active {{
          %w = flow.stream @words at 0 strides [1] extents [{count}] : !flow.stream<i32>
          %o = flow.queue_stream @out extent {count} : !flow.stream<i32>
          flow.apply mov32 %o, %w : !flow.stream<i32>, !flow.stream<i32>
        }}
      }}
      flow.units @receiver on [1, 0] words 512 {{
        flow.buffer @got at 0 : memref<20xi32>
        flow.buffer @x at 40 : memref<i32>
        flow.export @got as "got"
        flow.queue input @in id 2 colors [@c on [:, :]]
        {receiver}
      }}
    }}"""
    return load(parse(text), executor=executor)


def receive(count: int) -> str:
    return f"""
      %g = flow.stream @got at 0 strides [1] extents [{count}] : !flow.stream<i32>
      %i = flow.queue_stream @in extent {count} : !flow.stream<i32>
      flow.apply mov32 %g, %i : !flow.stream<i32>, !flow.stream<i32>"""


def write(field: int, value: int) -> str:
    return f"""
      %at = arith.constant {2 * (FILTER + field) - (1 << 16)} : i16
      %value = arith.constant {value} : i16
      flow.store %value, %at[] : i16"""


def got(engine: Machine) -> list[int]:
    found = engine.read_symbol("got")
    return [number for number in np.asarray(found)[-1, -1].tolist() if number]


@EXECUTORS
@pytest.mark.parametrize(
    ("filter", "passing"),
    [
        ("counter id 0 limit1 2 max_counter 0 count_data", [1, 4, 7, 10]),
        ("counter id 0 init_counter 2 limit1 2 max_counter 1 count_data", [2, 3, 5, 6, 8, 9, 11, 12]),
        ("sparse_counter id 0 limit1 2 limit2 4 max_counter 1 count_data", [1, 2, 4, 5, 9, 10, 11, 12]),
    ],
)
def test_each_wavelet_of_a_run_is_compared_and_counted(executor: str, filter: str, passing: list[int]) -> None:
    engine = machine(filter, f"flow.task local @take id 9 active {{ {receive(len(passing))} }}", executor)
    engine.run()
    assert got(engine) == passing


@EXECUTORS
def test_what_waits_in_front_of_a_full_queue_is_dropped_by_a_changed_filter(executor: str) -> None:
    """The queue is full when the filter changes to drop everything; the sender then ends, else it would hang."""
    change = f"flow.task local @change id 9 active {{ {spin(400)} {write(1, 0)} }}"
    engine = machine("counter id 0 init_counter 1 limit1 9 max_counter 9", change, executor, 60, changes=True)
    engine.run()
    assert got(engine) == []


@EXECUTORS
def test_the_last_register_of_a_filter_is_not_used(executor: str) -> None:
    task = f"""flow.task local @change id 9 active {{
      {write(3, 77)}
      %three = flow.load %at[] : i16
      %index = arith.constant 0 : index
      %word = arith.extsi %three : i16 to i32
      flow.store %word, @got[%index] : i32
    }}"""
    engine = machine("counter id 0 init_counter 1 limit1 9 max_counter 0", task, executor, 1, changes=True)
    engine.run()
    assert got(engine) == []


@EXECUTORS
def test_a_range_filter_has_no_counter(executor: str) -> None:
    task = f"flow.task local @change id 9 active {{ {write(1, 0)} }}"
    engine = machine("range id 0 min_idx 0 max_idx 3", task, executor, 1, changes=True)
    with pytest.raises(LoomError, match=r"PE \(1, 0\) has no counter filter with id 0"):
        engine.run()


@EXECUTORS
@pytest.mark.parametrize("id", [0, 1])
def test_a_register_is_that_of_the_filter_with_its_id(executor: str, id: int) -> None:
    """Two colors come to the PE through a filter each; that which it changes drops everything."""
    colors = "".join(
        f"""flow.color @c{number} = {4 + number} changes
        flow.route @c{number} on [0, :] from [ramp] to [east]
        flow.route @c{number} on [1, :] from [west] to [ramp]
          filter counter id {number} init_counter 1 limit1 9 max_counter 9
        """
        for number in range(2)
    )
    sends = "".join(
        f"""%o{number} = flow.queue_stream @out{number} extent 1 : !flow.stream<i32>
        %w{number} = arith.constant {7 + number} : i32
        flow.apply mov32 %o{number}, %w{number} : !flow.stream<i32>, i32
        """
        for number in range(2)
    )
    queues = [
        "".join(f"flow.queue {way} @{name}{n} id {2 + n} colors [@c{n} on [:, :]]\n" for n in range(2))
        for way, name in (("output", "out"), ("input", "in"))
    ]
    takes = "".join(
        f"""flow.task data @take{number} id {2 + number} on @in{number} (%word: i32) {{
          %index = arith.constant {number} : index
          flow.store %word, @got[%index] : i32
        }}
        """
        for number in range(2)
    )
    text = f"""
    flow.fabric @p target "wse3" grid 2 by 1 {{
      {colors}
      flow.units @sender on [0, 0] words 64 {{
        flow.buffer @x at 0 : memref<i32>
        {queues[0]}
        flow.task local @send id 9 active {{ {spin(100)} {sends} }}
      }}
      flow.units @receiver on [1, 0] words 64 {{
        flow.buffer @got at 0 : memref<2xi32>
        flow.export @got as "got"
        {queues[1]} {takes}
        flow.task local @change id 9 active {{ {write(4 * id + 1, 0)} }}
      }}
    }}"""
    engine = load(parse(text), executor=executor)
    engine.run()
    assert got(engine) == [8 - id]
