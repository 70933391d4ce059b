"""The core beside the reference: random programs end in the same memory, at the same cycles, with the same counts.

Programs are assembled and run by the core itself, without a host in between.
"""

from __future__ import annotations

import ctypes
import math
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from loomir.backend.tables import assemble
from loomir.diagnostics.errors import LoomError
from loomir.dialects import flow
from loomir.host import machines
from loomir.operations import prices
from loomir.runtime import engine, hosted
from loomir.runtime.core import library
from loomir.runtime.core.core import SECTIONS_READ, Core, dsd_rows, missing_features
from loomir.runtime.deadlock import Deadlock
from loomir.runtime.fabric import classes
from loomir.runtime.fabric.connect import fabric_of
from loomir.runtime.fabric.model import WAY, Fabric
from loomir.runtime.findings import FINDING, Code
from loomir.runtime.reports.rest import AT_ROUTER, MESSAGE, QUEUED, RECEIVES, TASK, WAIT, WAVELETS
from loomir.runtime.statistics.counts import CELL, LINE, PE
from loomir.runtime.tables.format import SECTIONS, Tables
from loomir.runtime.tables.instructions import CONTROL, DSD_ROWS
from loomir.runtime.trace_lines import RECORD
from loomir.runtime.warnings import Warnings
from loomir.targets import wse3

from ...searches import examples
from ..flow_modules import parse
from ..random_programs import random_program

LAST = 1 << 60
"""More steps than any test takes."""


def fabric_op(module: ModuleOp) -> flow.FabricOp:
    return next(op for op in module.body.block.ops if isinstance(op, flow.FabricOp))


def core_of(text: str) -> Core:
    tables = assemble(fabric_op(parse(text)))
    fabric = fabric_of(tables)
    assert not missing_features(tables, fabric)
    return Core(tables, fabric)


def launcher(tables: Tables, name: str) -> list[int]:
    """Return the rows of the tasks that an exported function is, one for each class."""
    return [int(row["row"]) for row in tables["exports"] if tables.strings[row["name"]] == name and row["type"] == 1]


def launch(core: Core, name: str, *arguments: int) -> None:
    now = core.totals().cycles
    for task in launcher(core.tables, name):
        core.launch(task, arguments, now)


def one(body: str, members: str = "", grid: str = "1 by 1") -> str:
    """Return a program of one class whose function `main` has a body."""
    return f"""flow.fabric @program target "wse3" grid {grid} {{
      flow.color @c = 1
      flow.route @c on [:, :] from [west] to [ramp]
      flow.units @u on [:, :] words 16 {{
        flow.buffer @a at 0 : memref<4xf32>
        flow.buffer @b at 8 : memref<4xf32>
        {members}
        flow.export @main as "main"
        flow.func @main(%n: i32) {{
          {body}
          flow.return
        }}
      }}
    }}"""


RING = """flow.fabric @ring target "wse3" grid 2 by 1 {
  flow.color @c = 1
  flow.color @d = 2
  flow.route @c on [0, :] from [ramp] to [east]
  flow.route @c on [1, :] from [west] to [ramp]
  flow.route @d on [1, :] from [ramp] to [west]
  flow.route @d on [0, :] from [east] to [ramp]
  flow.units @u on [:, :] words 16 {
    flow.queue input @in id 2 colors [@d on [0, :], @c on [1, :]]
    flow.queue output @out id 2 colors [@c on [0, :], @d on [1, :]]
    flow.export @main as "main"
    flow.func @main(%n: i32) {
      %x = flow.coordinate x : i16
      %zero = arith.constant 0 : i16
      %first = arith.cmpi eq, %x, %zero : i16
      scf.if %first {
        %o = flow.queue_stream @out extent 3 : !flow.stream<i16>
        flow.apply mov16 %o, %zero : !flow.stream<i16>, i16
      }
      %one = arith.constant 1 : i16
      %i = flow.queue_stream @in extent 32767 : !flow.stream<i16>
      %o = flow.queue_stream @out extent 32767 : !flow.stream<i16>
      flow.apply add16 %o, %i, %one async(microthread = 2) : !flow.stream<i16>, !flow.stream<i16>, i16
      flow.return
    }
  }
}"""


def test_all_programs_of_a_grid_count_for_how_much_memory_pes_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Many small programs would else take as much as a large one may not."""
    units = "".join(f"flow.units @u{x} on [{x}, :] words 16 {{ }}\n" for x in range(3))
    tables = assemble(fabric_op(parse(f'flow.fabric @program target "wse3" grid 3 by 2 {{ {units} }}')))
    for pes, words in ((5, 16), (6, wse3.TARGET.memory_bytes // 2)):
        monkeypatch.setattr(classes, "MAX_WHOLE_MEMORY", pes * wse3.TARGET.memory_bytes)
        assert fabric_of(tables).words.tolist() == [words] * 3


@pytest.mark.slow
def test_wavelets_that_go_round_for_ever_come_back_to_the_host() -> None:
    """Operations that hand wavelets to each other count no steps; where they are is told."""
    core = core_of(RING)
    launch(core, "main", 0)
    seen: list[int] = []
    for _ in range(3):
        assert core.run(LAST) == engine.CALLS
        assert core.place().pe in (0, 1)
        assert core.tables.strings[core.tables["tasks"]["name"][core.place().task]] == "main"
        seen.append(core.totals().wavelets)
    assert 3 < seen[0] < seen[1] < seen[2]
    assert core.totals().task_runs == 2


# Beside the reference


@pytest.mark.slow
@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 1 << 32))
def test_random_programs(seed: int) -> None:
    text = random_program(Random(seed))
    module = parse(text)
    first, core = machines.load(module, executor="reference"), core_of(text)
    for argument in (3,) if seed % 3 else (3, -1):
        launch(core, "main", argument)
        first.launch("main", [argument])
        try:
            first.run(20000, allow_pending=True)
        except Deadlock:
            assert core.run(LAST) == engine.DONE, text
            assert len(core.rest().waits), text
            break
        except LoomError as error:
            # Where the rest of the machine stands then is left open.
            assert "step limit" in str(error) or core.run(LAST) == engine.ERROR, text
            return
        assert core.run(LAST) == engine.DONE, text
    for number, memory in enumerate(core.memory):
        wanted = first.executor.image(number)
        assert np.array_equal(memory.view(np.uint16)[:, : wanted.shape[1]], wanted), text
    assert np.array_equal(core.clocks, first.executor.clocks), text
    totals, counts = core.totals(), first.executor.counts()
    assert totals.cycles == first.cycles, text
    assert (totals.wavelets, totals.task_runs) == (counts.wavelets, counts.task_runs), text


# Steps


LOOP = one("""
  %from = arith.constant 0 : index
  %to = arith.index_cast %n : i32 to index
  %step = arith.constant 1 : index
  scf.for %i = %from to %to step %step {
    %k = arith.index_cast %i : index to i32
    %f = arith.sitofp %k : i32 to f32
    flow.store %f, @a[%from] : f32
  }
""")


@pytest.mark.parametrize("slices", (1, 2, 7, 1000))
def test_steps_are_a_budget(slices: int) -> None:
    """A run goes on where the one before used up its steps: a start and a step for each trip of the loop."""
    core = core_of(LOOP)
    launch(core, "main", 100)
    steps, ends = 0, []
    while not ends or ends[-1] == engine.BUDGET:
        assert core.totals().steps <= steps
        steps += slices
        ends.append(core.run(steps))
    assert ends[-1] == engine.DONE
    assert core.totals().steps == 101
    assert len(ends) == math.ceil(101 / slices)
    assert core.memory[0][0, :4].view(np.float32)[0] == 99
    whole = core_of(LOOP)
    launch(whole, "main", 100)
    assert whole.run(LAST) == engine.DONE
    assert whole.totals() == core.totals()


@pytest.mark.slow
def test_where_a_step_beyond_the_last_is() -> None:
    core = core_of(LOOP)
    launch(core, "main", 100)
    assert core.run(50) == engine.BUDGET
    assert (core.place().pe, core.totals().steps) == (0, 50)
    assert [core.place().task] == launcher(core.tables, "main")


# Findings


def test_an_error_is_a_record() -> None:
    core = core_of(one("%zero = arith.constant 0 : i32\n%q = arith.divsi %n, %zero : i32", grid="3 by 1"))
    launch(core, "main", 1)
    assert core.run(LAST) == engine.ERROR
    found = core.error()
    assert found["code"] == Code.DIVISION_BY_ZERO
    assert found["cycle"] > 0


def test_a_warning_comes_once_for_each_place() -> None:
    core = core_of(
        one('%i = arith.index_cast %n : i32 to index\n%v = flow.load @a[%i] : f32 loc("a.csl":7:3)', grid="3 by 2")
    )
    for _ in range(2):
        launch(core, "main", 5)
        assert core.run(LAST) == engine.DONE
    (found,) = core.warnings()
    assert (found["code"], found["values"][:3].tolist()) == (Code.INDEX_OUTSIDE, [5, 0, 0])


def test_who_waits() -> None:
    receive = """
      %to = flow.stream @b at 0 strides [1] extents [4] : !flow.stream<f32>
      %from = flow.queue_stream @in extent 4 : !flow.stream<f32>
      flow.apply fmovs %to, %from : !flow.stream<f32>, !flow.stream<f32>
    """
    core = core_of(one(receive, "flow.queue input @in id 2 colors [@c on [:, :]]"))
    launch(core, "main", 0)
    assert core.run(LAST) == engine.DONE
    (wait,) = core.rest().waits
    assert (wait["pe"], wait["kind"], wait["flags"], wait["count"], wait["position"]) == (0, RECEIVES, 1, 4, 0)


# What C and Python share


def test_records_are_as_python_has_them() -> None:
    """The numbers that C asserts of its records are those of the formats in Python."""
    sizes = library.load().core_sizes
    sizes.restype = ctypes.c_uint64
    records: dict[str, np.dtype[Any]] = {name: SECTIONS[name] for name in SECTIONS_READ}
    records |= {
        "finding": FINDING,
        "way": WAY,
        "wait": WAIT,
        "task": TASK,
        "queued": QUEUED,
        "wavelets": WAVELETS,
        "trace": RECORD,
    }
    records |= {"at router": AT_ROUTER, "message": MESSAGE}
    records |= {"counts of a PE": PE, "counts of a cell": CELL, "counts of a line": LINE}
    assert [sizes(number) for number in range(len(records))] == [record.itemsize for record in records.values()]


def test_control_instructions_have_the_numbers_of_the_tables() -> None:
    name = library.load().core_instruction
    name.restype = ctypes.c_char_p
    found = [name(number).decode().rstrip("_") for number in range(len(CONTROL))]
    assert found == list(CONTROL)


def test_cycles_of_an_element_are_those_of_the_target() -> None:
    """What the core is given of each operation is more than nothing; test_prices.py has what strides add."""
    for name, (_, _, _, numerator, denominator, *_) in zip(DSD_ROWS, dsd_rows(wse3.TIMING).tolist(), strict=True):
        assert numerator / denominator > 0, name


# Memory of the host


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 4, 12])
def test_every_allocation_may_fail(seed: int) -> None:
    """Whichever fails, making or running the core raises MemoryError, and it can be destroyed."""
    program = core_of(random_program(Random(seed)))
    failed = 0
    while True:
        try:
            core = Core(program.tables, program.fabric, failing_allocation=failed + 1)
            launch(core, "main", 3)
            core.run(1000)
        except MemoryError:
            failed += 1
        else:
            break
    assert failed > 20


def test_a_program_for_which_memory_does_not_suffice() -> None:
    """The first allocations make the core, and the one after them is of its run: both give one error."""
    tables, failing = core_of(one("")).tables, 0

    def make(of: Fabric) -> Core:
        return Core(of.tables, of, failing_allocation=failing)

    executor = None
    while executor is None:
        failing += 1
        try:
            executor = hosted.host(tables, Warnings(), make, prices.NONE)
        except LoomError as error:
            assert error.message.startswith("the program needs more memory than there is; use a smaller grid")
    executor.launch("main", [3])
    with pytest.raises(LoomError, match="the program needs more memory than there is"):
        executor.run(None, None, None)
