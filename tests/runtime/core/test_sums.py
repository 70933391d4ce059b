"""Operations that add to one destination, which the core computes in one pass, and chains of tasks that only signal: in
each case it does what the reference does."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from loomir.diagnostics.errors import LoomError
from loomir.host import machines
from loomir.runtime.core import library
from loomir.runtime.findings import finding_of

from ...searches import examples
from ..agreement import Way, differences, outcome
from ..flow_modules import parse
from ..random_programs import RandomProgram

MAX_ADDENDS = 8
LENGTH = 48
EXTENT = 12


def disagreements(made: RandomProgram, checks: Sequence[bool] = (False, True)) -> list[str]:
    """Return how the core and the reference differ, without looking for races and with."""
    return [
        f"check={check}: {line}"
        for check in checks
        for line in differences(*(outcome(made, Way(one, (("check", check),))) for one in ("core", "reference")))
    ]


def floats(seed: int, *shape: int) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(0, 3, shape).astype(np.float32)


@pytest.mark.parametrize("variant", ["loom_sums", "loom_baseline_sums"])
@pytest.mark.parametrize("base", ["none", "apart", "in place"])
@pytest.mark.parametrize("addends", range(1, MAX_ADDENDS + 1))
def test_sums_round_each_product_and_each_sum(addends: int, base: str, variant: str):
    core = library.load()
    getattr(core, variant).restype = ctypes.POINTER(ctypes.c_void_p)
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_uint32)(getattr(core, variant)()[addends - 1])
    for count in (1, 3, 4, 8, 31, 64):
        vectors, factors = floats(count, addends, count), floats(addends, addends)
        old, other = floats(5, count + 1), floats(6, count)
        expected = {"none": np.zeros(0, np.float32), "apart": other, "in place": old[:count]}[base].copy()
        for vector, factor in zip(vectors, factors, strict=True):
            product = vector * factor
            expected = expected + product if expected.size else product
        to = old.copy()
        first = {"none": None, "apart": other.ctypes.data, "in place": to.ctypes.data}[base]
        places = (ctypes.c_void_p * addends)(*(vector.ctypes.data for vector in vectors))
        function(to.ctypes.data, first, ctypes.addressof(places), factors.ctypes.data, count)
        assert np.array_equal(to[:count], expected)
        assert to[count] == old[count]


@dataclass(frozen=True)
class Operation:
    """An operation on `to`: its sources begin at so many elements of the buffer @a, or are walks of their own."""

    name: str
    first: str
    second: str
    number: str


WALKS = ("%to", "%same", "%near", "%far", "%own", "%short", "%other")
ACCUMULATING = st.builds(
    Operation,
    st.sampled_from(["fmacs", "fmacs", "fadds", "fsubs"]),
    st.just("%to"),
    st.sampled_from(["%own", "%other", "%far", "%near", "%same", "%short"]),
    st.sampled_from(["%n0", "%n1", "%n2"]),
)
ANY = st.builds(
    Operation,
    st.sampled_from(["fmuls", "fmulv", "fmacs", "fadds", "fsubs"]),
    st.sampled_from(WALKS),
    st.sampled_from(WALKS),
    st.sampled_from(["%n0", "%n1"]),
)


def text_of(operation: Operation) -> str:
    walk = "!flow.stream<f32>"
    if operation.name == "fmuls":
        return f"flow.apply fmuls %to, {operation.first}, {operation.number} : {walk}, {walk}, f32"
    if operation.name == "fmacs":
        return (
            f"flow.apply fmacs %to, {operation.first}, {operation.second}, {operation.number} : "
            f"{walk}, {walk}, {walk}, f32"
        )
    name = "fmuls" if operation.name == "fmulv" else operation.name
    return f"flow.apply {name} %to, {operation.first}, {operation.second} : {walk}, {walk}, {walk}"


LOOP_BACK = """
    flow.color @back = 1
    flow.route @back on [:, :] from [ramp] to [ramp]"""
QUEUES = """
    flow.queue input @in id 2 colors [@back on [:, :]]
    flow.queue output @out id 3 colors [@back on [:, :]]"""
RECEIVE = """
      %into = flow.stream @{} at {} strides [1] extents [3] : !flow.stream<f32>
      %in = flow.queue_stream @in extent 3 : !flow.stream<f32>
      flow.apply fmovs %into, %in async(microthread = 2) : !flow.stream<f32>, !flow.stream<f32>"""
SEND = """
      %out = flow.queue_stream @out extent 3 : !flow.stream<f32>
      flow.apply fmovs %out, %n1 : !flow.stream<f32>, f32"""


def sums(
    operations: Sequence[Operation], launches: Sequence[int], receive: str = "", undefined: bool = False
) -> RandomProgram:
    """Return a program that does some operations on elements of @a, the destination from element %n on.

    Before them it begins to receive, if `receive` says so, and behind them it sends what that waits for; `undefined`:
    only the first half of @b has been written.
    """
    values = ", ".join(f"{value:.9g}" for value in floats(1, LENGTH).tolist())
    others = ", ".join(f"{value:.9g}" for value in floats(2, EXTENT).tolist())
    body = "\n".join(text_of(operation) for operation in operations)
    head, queues, send = (LOOP_BACK, QUEUES, SEND) if receive else ("", "", "")
    if undefined:
        receive = f"""
      %half = flow.stream @b at 0 strides [1] extents [{EXTENT // 2}] : !flow.stream<f32>
      flow.apply fmovs %half, %n0 : !flow.stream<f32>, f32{receive}"""

    def stream(name: str, buffer: str, at: str, extent: int = EXTENT) -> str:
        return f"%{name} = flow.stream @{buffer} at {at} strides [1] extents [{extent}] : !flow.stream<f32>"

    return RandomProgram(
        f"""
flow.fabric @sums target "wse3" grid 1 by 1 {{{head}
  flow.units @pe on [:, :] words 256 {{
    flow.buffer @a at 0 : memref<{LENGTH}xf32> = dense<[{values}]>
    flow.buffer @b at 100 : memref<{EXTENT}xf32> {"undefined" if undefined else f"= dense<[{others}]>"}
    flow.buffer @ended at 200 : memref<i16> = dense<0>{queues}
    flow.export @main as "main"
    flow.func @main(%n: i16) {{
      %one = arith.constant 1 : i16
      %many = arith.constant {EXTENT} : i16
      %n0 = arith.constant 0.3 : f32
      %n1 = arith.constant -1.7 : f32
      %n2 = arith.constant 1.0e-3 : f32
      %next = arith.addi %n, %one : i16
      %behind = arith.addi %n, %many : i16
      {stream("to", "a", "%n")}
      {stream("same", "a", "%n")}
      {stream("near", "a", "%next")}
      {stream("far", "a", "%behind")}
      {stream("own", "b", "0")}
      {stream("short", "b", "0", EXTENT - 3)}
      {stream("other", "a", str(LENGTH - EXTENT))}
      {receive}
      {body}
      {send}
      flow.store %one, @ended[] : i16
      flow.return
    }}
  }}
}}""",
        tuple(launches), (), (),
    )  # fmt: skip


@pytest.mark.parametrize("count", [2, 3, 7, 8, 9, 20])
def test_operations_that_add_to_one_destination(count: int):
    random = Random(count)
    chosen = [Operation("fmuls", "%own", "", "%n0")]
    for _ in range(count - 1):
        vector = random.choice(["%own", "%far", "%other"])
        name, number = random.choice(["fmacs", "fadds", "fsubs"]), random.choice(["%n1", "%n2"])
        chosen.append(Operation(name, "%to", vector, number))
    assert disagreements(sums(chosen, (0, 5, 12))) == []


@pytest.mark.parametrize("launches", [(LENGTH - EXTENT,), (LENGTH - EXTENT + 1,), (-1,), (0, 1, 24, 25)])
def test_destinations_at_the_ends_of_a_buffer_and_beyond(launches: tuple[int, ...]):
    assert disagreements(sums([Operation("fmacs", "%to", "%own", "%n0")] * 3, launches)) == []


@pytest.mark.slow
@settings(max_examples=examples(240, seldom=True), deadline=None)
@given(ANY, st.lists(ACCUMULATING, max_size=10), st.lists(ANY, max_size=2), st.integers(0, LENGTH - 2 * EXTENT))
def test_random_sums(first: Operation, adding: list[Operation], others: list[Operation], place: int):
    assert disagreements(sums([first, *adding, *others], (place, place)), (False,)) == []


RECEIVES = {f"{buffer}, {place}": RECEIVE.format(buffer, place) for buffer, place in
            (("b", "0"), ("b", "%one"), ("a", "%n"), ("a", "%behind"), ("a", str(LENGTH - 3)))}  # fmt: skip


@pytest.mark.parametrize("undefined", [False, True])
@pytest.mark.parametrize("receive", ["", *RECEIVES.values()], ids=["nothing", *RECEIVES])
def test_sums_while_something_is_received(receive: str, undefined: bool):
    """Each operation that meets it, or reads what nothing has written, is told of as if it were alone."""
    for chosen in (["%far", "%other", "%far"], ["%far", "%own", "%short"], ["%own", "%own"]):
        operations = [
            Operation("fmuls", chosen[0], "", "%n0"),
            *(Operation("fmacs", "%to", each, "%n1") for each in chosen),
        ]
        found = disagreements(sums(operations, (0, 5), receive, undefined), (True,))
        assert found == [], chosen


# Chains of tasks that block themselves and activate the next


def chain(order: Sequence[int], delays: Sequence[int], rounds: int, extra: str) -> RandomProgram:
    """Return a program of two PEs that send to each other: the end of each transfer unblocks a task of a chain, or
    activates its first one; the last counts rounds, and starts the next."""
    count = len(order)
    moves, walk = "", "!flow.stream<i16>"
    for place, (link, delay) in enumerate(zip(order, delays, strict=True)):
        end = "activate = @t0" if link == 0 else f"unblock = @t{link}"
        moves += f"""
      %times{place} = arith.constant {delay} : i16
      %slept{place} = scf.for %i = %zero to %times{place} step %one iter_args(%v = %zero) -> (i16) : i16 {{
        %w = arith.addi %v, %one : i16
        scf.yield %w : i16
      }}
      %a{place} = flow.stream @from at 0 strides [1] extents [{3 + place}] : {walk}
      %out{place} = flow.queue_stream @out{place} extent {3 + place} : {walk}
      flow.apply mov16 %out{place}, %a{place} : {walk}, {walk}
      %in{place} = flow.queue_stream @in{place} extent {3 + place} : {walk}
      flow.apply mov16 %b, %in{place} async(microthread = {place}, {end}) : {walk}, {walk}"""
    tasks = "".join(
        f"""
    flow.task local @t{k} id {9 + k} {"blocked " if k else ""}{{
      {f"flow.block @t{k}" if k else ""}
      {extra if k == 1 else ""}
      flow.activate @t{k + 1}
      flow.return
    }}"""
        for k in range(count)
    )
    colors = "\n".join(
        f"flow.color @c{k} = {k}\n flow.color @d{k} = {count + k}\n"
        f"flow.route @c{k} on [0, :] from [ramp] to [east]\n flow.route @c{k} on [1, :] from [west] to [ramp]\n"
        f"flow.route @d{k} on [1, :] from [ramp] to [west]\n flow.route @d{k} on [0, :] from [east] to [ramp]"
        for k in range(count)
    )
    queues = "\n".join(
        f"flow.queue input @in{k} id {k} colors [@c{k} on [1, :], @d{k} on [0, :]]\n"
        f"flow.queue output @out{k} id {count + k} colors [@c{k} on [0, :], @d{k} on [1, :]]"
        for k in range(count)
    )
    return RandomProgram(
        f"""
flow.fabric @chain target "wse3" grid 2 by 1 {{
  {colors}
  flow.units @pe on [:, :] words 64 {{
    flow.buffer @from at 0 : memref<16xi16> = dense<{list(range(16))}>
    flow.buffer @to at 16 : memref<16xi16> = dense<0>
    flow.buffer @round at 40 : memref<i16> = dense<0>
    {queues}
    flow.export @main as "main"
    flow.task local @start id 8 {{
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      %b = flow.stream @to at 0 strides [1] extents [16] : {walk}{moves}
      flow.return
    }}{tasks}
    flow.task local @t{count} id {9 + count} {{
      %one = arith.constant 1 : i16
      %rounds = arith.constant {rounds} : i16
      %old = flow.load @round[] : i16
      %new = arith.addi %old, %one : i16
      flow.store %new, @round[] : i16
      %more = arith.cmpi ult, %new, %rounds : i16
      scf.if %more {{
        flow.activate @start
      }}
      flow.return
    }}
    flow.func @main(%n: i16) {{
      flow.activate @start
      flow.return
    }}
  }}
}}""",
        (0,), (), (),
    )  # fmt: skip


@pytest.mark.slow
@settings(max_examples=examples(120, seldom=True), deadline=None)
@given(
    st.permutations(range(4)), st.lists(st.sampled_from([0, 0, 2, 9, 40]), min_size=4, max_size=4), st.integers(1, 4),
    st.sampled_from(["", "", "flow.unblock @t3", "flow.activate @t3"]),
)  # fmt: skip
def test_chains_of_tasks_that_only_signal(order: list[int], delays: list[int], rounds: int, extra: str):
    assert disagreements(chain(order, delays, rounds, extra)) == []


def limited(program: RandomProgram, executor: str, limit: int) -> tuple[str, object]:
    """Return how a run of so many steps a PE ends: the sentence, and the finding or the clocks."""
    machine = machines.load(parse(program.text), executor=executor)
    machine.launch("main", [0])
    try:
        machine.run(limit)
    except LoomError as error:
        return str(error), finding_of(machine.executor.engine.error())  # pyright: ignore
    return "", machine.clocks.tolist()


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0)])
def test_a_step_limit_stops_a_chain_of_tasks_wherever_it_is(order: tuple[int, ...]):
    """Each of the tasks of a chain is a step, and the one beyond the last is named."""
    program = chain(order, [0, 0, 0, 0], 2, "")
    outcomes = [limited(program, "core", limit) for limit in range(1, 14)]
    assert outcomes == [limited(program, "reference", limit) for limit in range(1, 14)]
    named = {name for sentence, _ in outcomes for name in ("@t1", "@t2", "@t3", "@t4") if f"in {name} " in sentence}
    assert len(named) >= 3 and outcomes[-1][0] == ""
