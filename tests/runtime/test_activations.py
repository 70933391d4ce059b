"""Activation of a task by several operations: an activation is a bit, cleared when the task is picked."""

from __future__ import annotations

import io
import json

import pytest

from .flow_modules import parse
from .machines import load

SIDE = 4
"""Operations that a sender serves: columns 0 and 2 send to column 1, each by four colors."""
FIRST = 12
"""Length of the first operation; those of the others set when they complete."""


def program(arch: str, lengths: list[int], *, suffixes: list[str], before: str, after: str, tasks: str) -> str:
    """Column 1 receives on a queue for each operation; later both senders issue one send a cycle."""
    fabric, outputs, inputs, sends, receives = "", "", "", ["", ""], ""
    for k, length in enumerate(lengths):
        side, index = divmod(k, SIDE)
        column, direction, opposite = (0, "east", "west") if side == 0 else (2, "west", "east")
        fabric += f"""
          flow.color @c{k} = {k}
          flow.route @c{k} on [{column}, :] from [ramp] to [{direction}]
          flow.route @c{k} on [1, :] from [{opposite}] to [ramp]"""
        sends[side] += f"""
          %sd{k} = flow.stream @data at 0 strides [1] extents [{length}] : !flow.stream<f32>
          %so{k} = flow.queue_stream @out{index} extent {length} : !flow.stream<f32>
          flow.apply fmovs %so{k}, %sd{k} async(microthread = {index}) : !flow.stream<f32>, !flow.stream<f32>"""
        inputs += f"flow.queue input @in{k} id {k} colors [@c{k} on [1, :]]\n"
        receives += f"""
          %rd{k} = flow.stream @got at 0 strides [0] extents [{length}] : !flow.stream<f32>
          %ri{k} = flow.queue_stream @in{k} extent {length} : !flow.stream<f32>
          flow.apply fmovs %rd{k}, %ri{k} async(microthread = {k}, {suffixes[k]})
            : !flow.stream<f32>, !flow.stream<f32>"""
    for index in range(min(SIDE, len(lengths))):
        colors = f"@c{index} on [0, :]" + (f", @c{index + SIDE} on [2, :]" if index + SIDE < len(lengths) else "")
        outputs += f"flow.queue output @out{index} id {index} colors [{colors}]\n"
    return f"""flow.fabric @test target "{arch}" grid 3 by 1 {{
      {fabric}
      flow.units @u on [:, :] words 256 {{
        flow.buffer @data at 0 : memref<64xf32>
        flow.buffer @got at 128 : memref<f32>
        flow.buffer @count at 130 : memref<2xi16>
        flow.export @count as "count"
        {outputs} {inputs}
        flow.func @add(%which: index) {{
          %n = flow.load @count[%which] : i16
          %one = arith.constant 1 : i16
          %next = arith.addi %n, %one : i16
          flow.store %next, @count[%which] : i16
          flow.return
        }}
        flow.func @spin(%turns: i16) {{
          %zero = arith.constant 0 : i16
          %one = arith.constant 1 : i16
          scf.for %k = %zero to %turns step %one : i16 {{
            %d = arith.addi %k, %one : i16
          }}
          flow.return
        }}
        {tasks}
        flow.func @main() {{
          %i0 = arith.constant 0 : index
          %x = flow.coordinate x : i16
          %column = arith.constant 1 : i16
          %late = arith.constant 20 : i16
          %inside = arith.cmpi eq, %x, %column : i16
          %last = arith.cmpi sgt, %x, %column : i16
          scf.if %inside {{
            {before} {receives} {after}
          }} else {{
            flow.call @spin(%late) : (i16) -> ()
            scf.if %last {{
              {sends[1]}
            }} else {{
              {sends[0]}
            }}
          }}
          flow.return
        }}
        flow.export @main as "main"
      }}
    }}"""


COUNT = """flow.task local @t id 20 {{
  %i0 = arith.constant 0 : index
  flow.call @add(%i0) : (index) -> ()
  {}
  flow.return
}}
"""
WAIT = "%turns = arith.constant {} : i16\n flow.call @spin(%turns) : (i16) -> ()\n"
BODIES = {"short": "", "long": WAIT.format(60)}


def run(text: str) -> tuple[int, int, list[int], int]:
    """How often the task ran, the second counter, when the operations of column 1 completed, and the last cycle."""
    trace = io.BytesIO()
    made = load(parse(text), trace=trace)
    made.launch("main", [])
    made.run(100_000)
    events = [json.loads(line) for line in trace.getvalue().decode().splitlines()]
    completions = [event["cycle"] for event in events if event["event"] == "completed" and "(1, 0)" in event["pes"]]
    counts = made.read_symbol("count")[0, 1].tolist()
    return counts[0], counts[1], sorted(completions), made.cycles


def runs(completions: list[int], free: int, duration: int) -> int:
    """How often the task runs, cycle by cycle: a bit, set by a completion and cleared when the free PE picks the task.

    The PE is `free` from a cycle on, and again `duration` cycles after each pick.
    """
    bit, count = False, 0
    for cycle in range(max(max(completions), free) + 2 * duration + 1):
        # Completions of one cycle come one after the other.
        for completion in [False] + [True] * completions.count(cycle):
            bit |= completion
            if bit and cycle >= free:
                bit, count, free = False, count + 1, cycle + duration
    return count


def lengths(operations: int, apart: int) -> list[int]:
    """Lengths with which operations complete `apart` cycles after one another.

    Each is issued one cycle later, and the second sender comes to its branch three cycles earlier.
    """
    return [FIRST + k * apart - k % SIDE + 3 * (k // SIDE) for k in range(operations)]


ARCHES = pytest.mark.parametrize("arch", ["wse2", "wse3"])


@pytest.mark.one_in(6)
@ARCHES
@pytest.mark.parametrize("apart", range(5))
@pytest.mark.parametrize("operations", [2, 3, 8])
@pytest.mark.parametrize("body", BODIES)
def test_operations_with_one_completion_task(arch: str, operations: int, apart: int, body: str) -> None:
    task = COUNT.format(BODIES[body])
    one = program(arch, lengths(1, 0), suffixes=["activate = @t"], before="", after="", tasks=task)
    _, _, (alone,), end = run(one)
    text = program(
        arch, lengths(operations, apart), suffixes=["activate = @t"] * operations, before="", after="", tasks=task
    )
    count, _, completions, _ = run(text)
    assert completions == [completions[0] + k * apart for k in range(operations)]
    assert count == runs(completions, 0, end - alone)
    if operations == 2 or body == "long":
        assert count == 2, "the first is picked at once, and all others while it runs"


@ARCHES
@pytest.mark.parametrize("apart", [0, 1, 3])
def test_a_busy_pe_merges_activations(arch: str, apart: int) -> None:
    text = program(
        arch,
        lengths(3, apart),
        suffixes=["activate = @t"] * 3,
        before="",
        after=WAIT.format(90),
        tasks=COUNT.format(""),
    )
    count, _, completions, _ = run(text)
    assert count == 1 and len(set(completions)) == (1 if apart == 0 else 3)


@ARCHES
@pytest.mark.parametrize("apart", [0, 1, 3])
def test_a_blocked_task_merges_activations(arch: str, apart: int) -> None:
    """It runs once, when a later completion unblocks it."""
    tasks = COUNT.format("").replace("id 20", "id 20 blocked")
    suffixes = ["activate = @t"] * 3 + ["unblock = @t"]
    text = program(arch, [*lengths(3, apart), 60], suffixes=suffixes, before="", after="", tasks=tasks)
    count, _, completions, _ = run(text)
    assert count == 1 and completions[-1] > completions[-2]


@ARCHES
@pytest.mark.parametrize("operations", [2, 3, 8])
def test_operations_that_unblock_one_task(arch: str, operations: int) -> None:
    """An unblocking is no activation: the task runs once for each."""
    tasks = COUNT.format("").replace("id 20", "id 20 blocked")
    suffixes = ["unblock = @t"] * operations
    text = program(arch, lengths(operations, 1), suffixes=suffixes, before="flow.activate @t", after="", tasks=tasks)
    assert run(text)[0] == 1


@ARCHES
@pytest.mark.parametrize("times", [2, 3, 8])
def test_instructions_merge(arch: str, times: int) -> None:
    """The PE that executes them is occupied until the last is done: once for those of @main, once for those of @u."""
    after = "flow.activate @t\n" * times
    text = program(arch, [FIRST], suffixes=["activate = @u"], before="", after=after, tasks=COUNT.format("") + OTHER)
    count, other, _, _ = run(text)
    assert (count, other) == (2, 1)


OTHER = """flow.task local @u id 21 {
  %i1 = arith.constant 1 : index
  flow.call @add(%i1) : (index) -> ()
  flow.activate @t
  flow.activate @t
  flow.return
}
"""


@ARCHES
def test_an_instruction_and_a_completion(arch: str) -> None:
    """One activation by the task @u, which the first operation starts, and one by the second that comes much later."""
    suffixes = ["activate = @u", "activate = @t"]
    text = program(arch, [FIRST, 60], suffixes=suffixes, before="", after="", tasks=COUNT.format("") + OTHER)
    count, other, _, _ = run(text)
    assert (count, other) == (2, 1)


@ARCHES
def test_an_instruction_of_a_running_task_and_a_completion_merge(arch: str) -> None:
    """The completion comes while the instruction's activation waits for the PE."""
    suffixes = ["activate = @t"]
    text = program(
        arch, [FIRST], suffixes=suffixes, before="flow.activate @t", after=WAIT.format(60), tasks=COUNT.format("")
    )
    assert run(text)[0] == 1
