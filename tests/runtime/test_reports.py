"""Words for records: findings of executors, and what waits at rest."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from loomir.backend.tables import assemble
from loomir.diagnostics.errors import LoomError
from loomir.dialects import flow
from loomir.runtime.fabric.connect import fabric_of
from loomir.runtime.fabric.model import Fabric
from loomir.runtime.findings import FINDING, FIRST_WARNING, VALUES, Code, Finding, finding_of
from loomir.runtime.places import Lattice
from loomir.runtime.reference.executor import load
from loomir.runtime.reports.rest import (
    HELD,
    QUEUED,
    READS_FIFO,
    RECEIVES,
    SENDS,
    TASK,
    WAIT,
    WRITES_FIFO,
    Rest,
)
from loomir.runtime.reports.sentences import SENTENCES, deliver, sentence
from loomir.runtime.reports.unread import unread
from loomir.runtime.reports.waits import waits
from loomir.runtime.tables.format import NONE
from loomir.runtime.tables.instructions import CONTROL_NUMBER, DSD_ROWS, KIND
from loomir.runtime.wait_graph import Wait, find_cycle, grouped
from loomir.runtime.wait_sentences import SEND_FIRST
from loomir.runtime.warnings import Warnings

from .flow_modules import parse

HEAD = """flow.fabric @pair target "wse3" grid 2 by 1 {
  flow.color @east = 4
  flow.color @back = 5
  flow.route @east on [0, :] from [ramp] to [east]
  flow.route @east on [1, :] from [west] to [ramp]
  flow.route @back on [1, :] from [ramp] to [west]
  flow.route @back on [0, :] from [east] to [ramp]
  flow.units @u on [:, :] words 64 {
    flow.buffer @a at 0 : memref<12xi32>
    flow.buffer @b at 30 : memref<4x2xi16>
    flow.buffer @c at 40 : memref<8xi32>
    flow.fifo @fifo on @c
    flow.queue output @out id 2 colors [@east on [0, :], @back on [1, :]]
    flow.queue input @in id 3 colors [@back on [0, :], @east on [1, :]]
    flow.task local @other id 10 active blocked {
      flow.return
    }
    flow.task control @known id 35 {
      flow.return
    }
    flow.task local @main id 9 active {
      %a = flow.stream @a at 0 strides [1] extents [12] : !flow.stream<i32>
      %i = flow.queue_stream @in extent 12 : !flow.stream<i32>
      %o = flow.queue_stream @out extent 12 : !flow.stream<i32>
      %f = flow.fifo_stream @fifo : !flow.stream<i32>
"""
SEND = "flow.apply mov32 %o, %a : !flow.stream<i32>, !flow.stream<i32>\n"
RECEIVE = "flow.apply mov32 %a, %i : !flow.stream<i32>, !flow.stream<i32>\n"
POP = "flow.apply mov32 %o, %f async(microthread = 5, activate = @other) : !flow.stream<i32>, !flow.stream<i32>\n"
PUSH = "flow.apply mov32 %f, %i async(microthread = 6, unblock = @other) : !flow.stream<i32>, !flow.stream<i32>\n"
TAIL = "flow.return\n}\n}\n}"


def program(body: str) -> ModuleOp:
    return parse(HEAD + body + TAIL)


def loaded(body: str) -> Fabric:
    (fabric,) = [op for op in program(body).body.block.ops if isinstance(op, flow.FabricOp)]
    return fabric_of(assemble(fabric))


def row_of(fabric: Fabric, section: str, name: str) -> int:
    names = [fabric.tables.strings[int(row)] for row in fabric.tables[section]["name"]]
    return names.index(name)


def at_rest(fabric: Fabric, *found: tuple[int, int, int, int], blocked: bool = True) -> Rest:
    """Return records of PEs at the operation of a number in @main: (kind, operation, row, position) of both PEs."""
    tables = fabric.tables
    main = row_of(fabric, "tasks", "main")
    use = int(tables["tasks"]["use"][main])
    body = tables["bodies"][int(tables["uses"]["body"][use])]
    code = tables["code"][int(body["code"]) : int(body["code"]) + int(body["length"])]
    applies = np.flatnonzero(code["op"] == CONTROL_NUMBER["apply"]).tolist()
    slots = int(tables["uses"]["rows"][use]) + int(body["numbers"]) + int(body["descriptors"])
    records = np.zeros(2 * len(found), WAIT)
    for number, (kind, operation, row, position) in enumerate(found):
        for pe in range(2):
            pc = applies[operation]
            held = kind in (RECEIVES, SENDS)
            records[2 * number + pe] = (
                pe, int(tables["rows"][slots + int(code["a"][pc])]), NONE, main, 0, row, NONE, use if held else NONE,
                pc if held else NONE, kind, HELD if held else 0, 12, position,
            )  # fmt: skip
    other = row_of(fabric, "tasks", "other")
    tasks = np.array([(pe, other, blocked) for pe in range(2)], TASK)
    return Rest(waits=records, tasks=tasks)


STATES = {
    "receive first": (RECEIVE + SEND, [(RECEIVES, 0, "in", 0)]),
    "send first": (SEND + RECEIVE, [(SENDS, 0, "out", 0)]),
    "pop before": (POP + RECEIVE, [(READS_FIFO, 0, "fifo", 0), (RECEIVES, 1, "in", 0)]),
    "push too much": (PUSH + SEND, [(WRITES_FIFO, 0, "fifo", 8)]),
}


BLOCKED = "task @other is active but is blocked, and nothing unblocks it"
FINISHED = (
    "the PEs that send to input queue @in of 2 PEs have finished; they sent too little, or the receiver expects too "
    "much"
)
ON_IN = [
    ([x], f"task @main: mov32 in @main waits on input queue @in (id 3, color @{color}) for 12 of 12 wavelets")
    for x, color in ((0, "back"), (1, "east"))
]
ON_OUT = [
    ([x], f"task @main: mov32 in @main cannot send its 12 wavelets on output queue @out (id 2, color @{color}): input "
          "queue @in at the other end is full and is not read, and no more than 16 wavelets fit on the way there")
    for x, color in ((0, "east"), (1, "back"))
]  # fmt: skip
TEXTS = {
    "receive first": ON_IN,
    "send first": ON_OUT,
    "pop before": [
        ([0, 1], "microthread 5: mov32 in @main waits on FIFO @fifo, which is empty, for 12 of 12 elements"), *ON_IN
    ],
    "push too much": [
        ([0, 1], "microthread 6: mov32 in @main waits on FIFO @fifo, which is full, for 4 of 12 elements")
    ],
}  # fmt: skip
"""What waits, on which columns, where all count."""


@pytest.mark.parametrize("pending", [False, True])
@pytest.mark.parametrize("all_of_them", [False, True])
@pytest.mark.parametrize("name", STATES)
def test_waits(name: str, all_of_them: bool, pending: bool) -> None:
    """Of records made by hand, and of what the reference leaves at rest where it ends in that state."""
    body, found = STATES[name]
    fabric = loaded(body)
    sections = {RECEIVES: "queues", SENDS: "queues", READS_FIFO: "fifos", WRITES_FIFO: "fifos"}
    rest = at_rest(fabric, *((kind, at, row_of(fabric, sections[kind], row), done) for kind, at, row, done in found))
    lattices = {0: Lattice(np.ones((1, 2), np.bool_))}
    mine = grouped(waits(fabric, rest, allow_pending=pending, all_of_them=all_of_them), lattices)
    # Where more is to come, blocked tasks do not count, and microthreads only if all do.
    expected = [each for each in TEXTS[name] if not pending or all_of_them or each[1].startswith("task")]
    expected += [] if pending else [([0, 1], BLOCKED)]
    assert sorted((wait.places[:, 0].tolist(), wait.text) for wait in mine) == sorted(expected)
    for wait in mine:
        is_end = wait.queue in ("in", "out")
        assert wait.held == is_end
        assert wait.queue == ("fifo" if "FIFO" in wait.text else None) or is_end
        assert wait.missing == (None if wait.text == BLOCKED else 4 if "full, for" in wait.text else 12)
        assert (wait.awaited is not None) == is_end
        if wait.awaited is not None:
            assert not wait.awaited.waits_for_all or wait.queue == "out"
            assert wait.awaited.remedy(held=True) == SEND_FIRST[True]
            assert wait.awaited.remedy(held=False) == SEND_FIRST[False]
            assert wait.awaited.explanation(wait.places, "2 PEs") == (FINISHED if wait.queue == "in" else None)
    circle = [place for place, _ in find_cycle(mine)]
    assert circle == ([(0, 0), (1, 0)] if name in ("receive first", "send first") else [])
    if name != "send first":
        (op,) = [op for op in program(body).body.block.ops if isinstance(op, flow.FabricOp)]
        machine = load(assemble(op), Warnings())
        machine.run(None, None, None)
        theirs = grouped(machine.waits(allow_pending=pending, all_of_them=all_of_them), lattices)
        assert sorted(map(fields, mine)) == sorted(map(fields, theirs))


def fields(wait: Wait) -> tuple[Any, ...]:
    return (
        wait.cls, wait.places.tolist(), wait.text, wait.where or "", wait.held, wait.queue or "", wait.colors,
        -1 if wait.missing is None else wait.missing, wait.begun, wait.endless,
    )  # fmt: skip


def test_wavelets_in_queues() -> None:
    fabric = loaded(SEND)
    rest = Rest(queued=np.array([(row_of(fabric, "queues", "in"), 1, 3, 0)], QUEUED))
    (left,) = unread(fabric, rest)
    assert str(left) == "3 wavelets of color @east wait in input queue @in (id 3) of PE (1, 0): nothing reads them"


def wide(value: float) -> int:
    return struct.unpack("<q", struct.pack("<d", value))[0]


def finding(fabric: Fabric, code: Code, *values: int, pe: int = 1) -> Finding:
    record = np.zeros(1, FINDING)
    record[0] = (code, pe, row_of(fabric, "tasks", "main"), 0, 0, [*values] + [0] * (VALUES - len(values)))
    return finding_of(record[0])


def test_every_code_has_a_sentence() -> None:
    assert set(SENTENCES) == set(Code) - {Code.NOTHING}
    fabric = loaded(SEND + RECEIVE)
    described = set(Code) - {
        Code.NOTHING, Code.ASSERTION, Code.FAILURE, Code.DIRECTIVES_DIFFER, Code.SENDS_LOST, Code.TASK_MAY_TAKE,
        Code.SENDS_OFF_GRID,
        Code.FLOAT_EXCEPTION, Code.WALK_LEAVES_BUFFER,
    }  # fmt: skip
    for code in described:
        message, where = sentence(fabric, finding(fabric, code))
        assert message and "{" not in message and where is None


def test_sentences() -> None:
    """Numbers are in their places."""
    fabric = loaded(SEND + RECEIVE)
    assert DSD_ROWS[int(fabric.tables["operations"]["function"][0])] == "mov32"
    a, b, queue = row_of(fabric, "buffers", "a"), row_of(fabric, "buffers", "b"), row_of(fabric, "queues", "in")
    last = 2 * int(fabric.words[0]) - 1
    expected = {
        finding(fabric, Code.ADDRESS_OUTSIDE, 70000): (
            f"byte address 70000 on PE (1, 0) is outside its memory, bytes 0 to {last}; check the pointer"
        ),
        finding(fabric, Code.ADDRESS_ODD, 41, 4): (
            "an element of 32 bits is accessed at odd byte address 41 on PE (1, 0); only elements of 8 bits can be, so "
            "copy its bytes one by one"
        ),
        finding(fabric, Code.INDEX_OUTSIDE, -2, 1, b, pe=0): (
            "index -2 (65534 if it is unsigned) of dimension 1 is outside @b, which has 2 elements there, on PE (0, "
            "0): the access is to the memory next to it; check the loop bounds"
        ),
        finding(fabric, Code.WALK_LEAVES_BUFFER, 0, 24, a, 2): (
            "mov32 in @main reaches element 12 of @a, which has 12, on PE (1, 0), and continues in the memory next to "
            "it; check its offset, stride and extent"
        ),
        finding(fabric, Code.WALK_OUTSIDE_MEMORY, 0, -1, NONE): (
            f"mov32 in @main reaches word address -1 on PE (1, 0), outside its memory, words 0 to {last // 2}; check "
            "the pointer, offset, stride and extent"
        ),
        finding(fabric, Code.WALK_TOO_LONG, 4096, 2048): (
            "a stream of extents [4096, 2048] has 8,388,608 elements, far beyond the memory of a unit; check the "
            "extents"
        ),
        finding(fabric, Code.RECEIVES_UNROUTED, 1, queue): (
            "mov32 in @main receives color @east, which no route brings to the ramp of PE (1, 0); add one with "
            "@set_color_config, or with paint or connect in an SdkLayout"
        ),
        finding(fabric, Code.CONTROL_TASK_MISSING, 7, queue): (
            "a control wavelet with id 7 arrives on color @east, input queue @in, at PE (1, 0), where no control task "
            "has that id; the control tasks are: 35 (@known)"
        ),
        finding(fabric, Code.REGISTER_WIDTH, 0, 1, 5, KIND["i32"], KIND["f16"]): (
            "mov32 in @main takes i32 from src0 register 5, which was loaded with elements of f16 on PE (1, 0)"
        ),
        finding(fabric, Code.USES_QUEUE, 0, 0, row_of(fabric, "tasks", "main"), queue): (
            "mov32 in @main and itself, started before, use input queue @in at the same time on PE (1, 0); give them "
            "different queues or start the second when the first has completed (DSD-208)"
        ),
        finding(fabric, Code.FLOAT_EXCEPTION, 1 << 7, 2, wide(float("inf")), wide(3.0), wide(0.0)): (
            "a division by 0 stops PE (1, 0), which has unmasked FP_DIV_BY_0: the result of this operation on 3, 0 is "
            "inf; guard the operands, or mask the exception"
        ),
    }  # fmt: skip
    for found, text in expected.items():
        assert sentence(fabric, found) == (text, None)


def test_errors_end_a_run_and_warnings_come_once_for_a_place(capsys: pytest.CaptureFixture[str]) -> None:
    fabric = loaded(SEND)
    warnings = Warnings()
    with pytest.raises(LoomError, match="an integer is divided by zero on PE"):
        deliver(fabric, finding(fabric, Code.DIVISION_BY_ZERO), warnings)
    place = fabric.tables.strings.index("mov32") if "mov32" in fabric.tables.strings else 1
    for _ in range(2):
        deliver(fabric, finding(fabric, Code.ODD_LOAD, 3)._replace(where=place), warnings)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and "warning: this load reads 32-bit elements at byte address 6 on PE (1, 0)" in lines[0]
    assert all((code < FIRST_WARNING) == (code.value < 64) for code in Code)
