"""Moves between memory and queues, which wait in short where they are alone: however they meet, the core does what the
reference does."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ...searches import examples
from ..agreement import Way, differences, outcome
from ..random_programs import RandomProgram

MOST = 24
"""Elements of the longest move: more than a way holds."""


@dataclass(frozen=True)
class Move:
    """A move that one side makes. Behind an asynchronous one that is not last, the next begins at its end."""

    count: int
    bits: int
    is_async: bool
    is_static: bool
    """The place in memory is in the code."""
    delay: int
    """Iterations of a loop before it."""


def moves(counts: st.SearchStrategy[list[int]]) -> st.SearchStrategy[list[Move]]:
    move = st.builds(
        Move, st.just(1), st.sampled_from([16, 32]), st.booleans(), st.booleans(), st.sampled_from([0, 0, 3, 30])
    )
    return counts.flatmap(
        lambda found: st.tuples(*[move.map(lambda one, n=n: Move(n, *list(vars(one).values())[1:])) for n in found])
    ).map(list)


COUNTS = st.lists(st.integers(1, MOST), min_size=1, max_size=3)


def side(name: str, queue: str, buffer: str, made: list[Move], start: int, receives: bool) -> tuple[str, str]:
    """Return the tasks of a side, and the instruction that starts it."""
    tasks = ""
    for k, move in enumerate(made):
        kind = f"i{move.bits}"
        place = "0" if move.is_static else "%place"
        memory, wavelets = f"!flow.stream<{kind}>", f"!flow.stream<{kind}>"
        operands = ("%walk", "%run") if receives else ("%run", "%walk")
        nexts = f"@{name}{k + 1}" if k + 1 < len(made) else "@done"
        ends = f" async(microthread = {2 + receives}, activate = {nexts})" if move.is_async else ""
        goes_on = "" if move.is_async else f"flow.activate {nexts}"
        tasks += f"""
    flow.task local @{name}{k} id {start + k} {{
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      %times = arith.constant {move.delay} : i16
      %slept = scf.for %i = %zero to %times step %one iter_args(%v = %zero) -> (i16) : i16 {{
        %w = arith.addi %v, %one : i16
        scf.yield %w : i16
      }}
      %place = flow.get_param @place : i16
      %walk = flow.stream @{buffer}{move.bits} at {place} strides [1] extents [{move.count}] : {memory}
      %run = flow.queue_stream @{queue} extent {move.count} : {wavelets}
      flow.apply mov{move.bits} {operands[0]}, {operands[1]}{ends} : {memory}, {wavelets}
      {goes_on}
      flow.return
    }}"""
    return tasks, f"flow.activate @{name}0"


def program(sent: list[Move], received: list[Move], receives_first: bool) -> RandomProgram:
    """Return a program in which PE (0, 0) sends to PE (1, 0)."""
    sends, start_sends = side("send", "out", "from", sent, 10, False)
    receives, start_receives = side("receive", "in", "to", received, 14, True)
    starts = (start_receives, start_sends) if receives_first else (start_sends, start_receives)
    of = (1, 0) if receives_first else (0, 1)
    order = "\n".join(
        f"%is{k} = arith.cmpi eq, %x, %x{column} : i16\n scf.if %is{k} {{\n {instruction}\n }}"
        for k, (column, instruction) in enumerate(zip(of, starts, strict=True))
    )
    text = f"""
flow.fabric @moves target "wse3" grid 2 by 1 {{
  flow.color @east = 0
  flow.route @east on [0, :] from [ramp] to [east]
  flow.route @east on [1, :] from [west] to [ramp]
  flow.units @pe on [:, :] words 256 {{
    flow.buffer @from16 at 0 : memref<{MOST}xi16> = dense<{[100 + k for k in range(MOST)]}>
    flow.buffer @from32 at 32 : memref<{MOST}xi32> = dense<{[70000 + k for k in range(MOST)]}>
    flow.buffer @to16 at 96 : memref<{MOST}xi16> = dense<0>
    flow.buffer @to32 at 128 : memref<{MOST}xi32> = dense<0>
    flow.buffer @ended at 192 : memref<i16> = dense<0>
    flow.param @place = dense<0> : tensor<i16>
    flow.queue input @in id 2 colors [@east on [1, :]]
    flow.queue output @out id 3 colors [@east on [0, :]]
    flow.export @main as "main"
    {sends}{receives}
    flow.task local @done id 18 {{
      %old = flow.load @ended[] : i16
      %one = arith.constant 1 : i16
      %new = arith.addi %old, %one : i16
      flow.store %new, @ended[] : i16
      flow.return
    }}
    flow.func @main(%n: i16) {{
      %x = flow.coordinate x : i16
      %x0 = arith.constant 0 : i16
      %x1 = arith.constant 1 : i16
      {order}
      flow.return
    }}
  }}
}}"""
    return RandomProgram(text, (1, 1), (), ())


def disagreements(made: RandomProgram) -> list[str]:
    """Return how the core and the reference differ, without looking for races and with."""
    return [
        f"check={checks}: {line}"
        for checks in (False, True)
        for line in differences(*(outcome(made, Way(one, (("check", checks),))) for one in ("core", "reference")))
    ]


def alike(count: int, is_async: bool = True, is_static: bool = True, bits: int = 32) -> Move:
    return Move(count, bits, is_async, is_static, 0)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "sent, received",
    [
        ([20], [20]), ([4], [4]), ([1], [1]), ([20], [8, 12]), ([8, 12], [20]), ([20, 20], [20, 20]), ([3, 3], [3, 3]),
        ([20, 4], [10, 14]), ([20], [10]), ([6], [10]), ([20, 20], [10]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("late", ["sends", "receives"])
@pytest.mark.parametrize("is_async", [True, False])
def test_moves_meet(sent: list[int], received: list[int], is_async: bool, late: str):
    """One side is late; in the last three cases something is left over, which the report tells."""
    rows = {"sends": [alike(n, is_async) for n in sent], "receives": [alike(n, is_async) for n in received]}
    first = rows[late][0]
    rows[late][0] = Move(first.count, first.bits, first.is_async, first.is_static, 100)
    assert disagreements(program(rows["sends"], rows["receives"], receives_first=late == "sends")) == []


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize("is_static", [True, False])
@pytest.mark.parametrize("bits, other", [(16, 16), (16, 32), (32, 16)])
def test_elements_of_other_sizes(bits: int, other: int, is_static: bool):
    for first in (True, False):
        made = program([alike(12, is_static=is_static, bits=bits)], [alike(12, is_static=is_static, bits=other)], first)
        assert disagreements(made) == []


@pytest.mark.slow
@settings(max_examples=examples(240, seldom=True), deadline=None)
@given(moves(COUNTS), moves(COUNTS), st.booleans())
def test_random_moves(sent: list[Move], received: list[Move], receives_first: bool):
    assert disagreements(program(sent, received, receives_first)) == []
