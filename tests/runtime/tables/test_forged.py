"""Forged tables that the checker accepts: they end with one error on both executors, and with the same one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from loomir.backend.tables import assemble
from loomir.diagnostics.errors import LoomError
from loomir.dialects import flow
from loomir.runtime import Machine
from loomir.runtime.findings import MAX_WARNINGS
from loomir.runtime.hosted import HostedEngine
from loomir.runtime.tables.check import check
from loomir.runtime.tables.format import INPUT, MEMORY_WALK, PACKED, QUEUE_RUN, SECTIONS, Tables
from loomir.runtime.tables.instructions import KIND

from ..flow_modules import parse

EXECUTORS = ("core", "reference")

EXCHANGE = """flow.fabric @program target "wse3" grid 1 by 1 {
  flow.color @c = 1
  flow.route @c on [:, :] from [ramp] to [ramp]
  flow.units @u on [:, :] words 64 {
    flow.buffer @a at 0 : memref<4xi16> = dense<[11, 22, 33, 44]>
    flow.buffer @b at 4 : memref<8xf32>
    flow.export @main as "main"
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.task local @more id 9 {
      flow.return
    }
    flow.func @main(%n: i16) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %end = arith.index_cast %n : i16 to index
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<i16>
      %s = flow.queue_stream @out extent 4 : !flow.stream<i16>
      flow.apply mov16 %s, %a async(microthread = 1, activate = @more) : !flow.stream<i16>, !flow.stream<i16>
      %r = flow.queue_stream @in extent 4 : !flow.stream<i16>
      flow.apply mov16 %a, %r : !flow.stream<i16>, !flow.stream<i16>
      %b = flow.stream @b at 0 strides [1] extents [8] : !flow.stream<f32>
      flow.load_register src0 1, %b : !flow.stream<f32>
      %held = flow.register src0 1 : !flow.stream<f32>
      scf.for %i = %zero to %end step %one {
        flow.apply fmovs %b, %held : !flow.stream<f32>, !flow.stream<f32>
      }
      flow.return
    }
  }
}"""


def forged(change: Callable[[Tables], None], text: str = EXCHANGE) -> Tables:
    """Return the tables of a program with a change that the checker accepts."""
    module = parse(text)
    found = assemble(next(op for op in module.walk() if isinstance(op, flow.FabricOp)))
    tables = Tables({name: found[name].copy() for name in SECTIONS}, found.strings)
    change(tables)
    check(tables)
    return tables


def ended(tables: Tables, executor: str, argument: int = 1) -> str:
    machine = Machine(tables, executor=executor)
    machine.launch("main", [argument])
    try:
        machine.run(step_limit=100_000)
    except LoomError as error:
        return error.message
    return ""


def queues_turned(tables: Tables) -> None:
    """Let what receives take from the output queue, and what sends write to the input queue."""
    descriptors = tables["descriptors"]
    mine = descriptors["type"] == QUEUE_RUN
    descriptors["row"][mine] = 1 - descriptors["row"][mine]


def receives_turned(tables: Tables) -> None:
    """Let what receives take from the last output queue, behind a send that is right."""
    descriptors = tables["descriptors"]
    queues = descriptors["type"] == QUEUE_RUN
    directions = tables["queues"]["direction"]
    descriptors["row"][queues & (directions[descriptors["row"]] == INPUT)] = len(directions) - 1


def packed(tables: Tables) -> None:
    """Hold a queue of packed values in the register, which an operation of 32 bits takes."""
    descriptors = tables["descriptors"]
    walk = np.flatnonzero((descriptors["type"] == MEMORY_WALK) & (descriptors["kind"] == KIND["f32"]))[0]
    queue = np.flatnonzero(
        (descriptors["type"] == QUEUE_RUN) & (tables["queues"]["direction"][descriptors["row"]] == INPUT)
    )[0]
    loads = descriptors[walk : walk + 1]
    loads["type"], loads["row"], loads["kind"] = QUEUE_RUN, descriptors["row"][queue], KIND["f16"]
    loads["flags"], loads["address"] = PACKED, 0


@pytest.mark.parametrize("change", [queues_turned, receives_turned, packed])
def test_an_operand_that_an_operation_does_not_take(change: Callable[[Tables], None]) -> None:
    tables = forged(change)
    wanted = "flow.apply has a stream of another size of elements, or of a queue of the other direction, than it takes"
    assert [ended(tables, executor) for executor in EXECUTORS] == [wanted, wanted]


def without_places(tables: Tables) -> None:
    """Let the operations have no source place, and walk at an odd word."""
    tables["code_where"][:] = 0
    tables["descriptors"]["address"][tables["descriptors"]["kind"] == KIND["f32"]] += 1


@pytest.mark.slow
@pytest.mark.parametrize("executor", EXECUTORS)
def test_warnings_without_a_place_are_bounded(executor: str) -> None:
    """Each operation of the loop warns, since no place says that it has been warned of."""
    machine = Machine(forged(without_places), executor=executor)
    machine.launch("main", [MAX_WARNINGS])
    machine.run()
    assert isinstance(machine.executor, HostedEngine)
    assert len(machine.executor.engine.warnings()) == MAX_WARNINGS


TWO_RECEIVE = EXCHANGE.replace(
    "%a = flow.stream @a at 0",
    """%both = flow.queue_stream @in extent 4 : !flow.stream<i16>
      %first = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<i16>
      flow.apply mov16 %first, %both async(microthread = 2) : !flow.stream<i16>, !flow.stream<i16>
      flow.apply mov16 %first, %both async(microthread = 3) : !flow.stream<i16>, !flow.stream<i16>
      %eight = flow.queue_stream @out extent 8 : !flow.stream<i16>
      flow.apply mov16 %eight, %n async(microthread = 4) : !flow.stream<i16>, i16
      %a = flow.stream @a at 0""",
)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_what_waits_is_told_after_an_error_too(executor: str) -> None:
    """The first operation ends with an error, and the second still waits at a queue that is not empty."""
    machine = Machine(forged(lambda tables: None, TWO_RECEIVE), executor=executor)
    machine.launch("main", [1])
    with pytest.raises(LoomError, match="use input queue @in at the same time"):
        machine.run()
    # How far operations have come then is left open, but it can be asked.
    assert len(machine.unread()) <= 1
    assert len(machine.executor.waits(allow_pending=False, all_of_them=True)) <= 1
