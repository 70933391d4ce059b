"""The checker of tables: forged tables are one error, and those that pass name only what is there."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.diagnostics.errors import LoomError
from loomir.runtime.tables.check import check
from loomir.runtime.tables.dump import dump
from loomir.runtime.tables.format import NONE, SECTIONS, Tables
from loomir.runtime.tables.instructions import CONTROL_NUMBER, SCALAR_NUMBER

from ...searches import examples
from .programs import everything

ADD = SCALAR_NUMBER["arith.addi", ("i16", "i16"), "i16", 0]


def copied() -> Tables:
    tables = everything()
    return Tables({name: tables[name].copy() for name in SECTIONS}, tables.strings)


def refused(tables: Tables) -> str:
    with pytest.raises(LoomError) as caught:
        check(tables)
    return caught.value.message


def test_assembled_tables_pass() -> None:
    check(everything())


FORGED: list[tuple[str, int, str, Any, str]] = [
    ("program", 0, "target", 0, "their target is ''"),
    ("program", 0, "width", 0, "their grid is 0 x 2"),
    ("program", 0, "height", 1 << 20, "their grid is 4 x 1048576"),
    ("regions", 0, "columns", 0, "row 0 of 'regions' is not a region of the grid"),
    ("regions", 0, "x_step", 0, "row 0 of 'regions' is not a region of the grid"),
    ("regions", 0, "rows", 1 << 31, "row 0 of 'regions' is not a region of the grid"),
    ("classes", 0, "regions", 1 << 31, "'regions' of row 0 of 'classes' leaves the"),
    ("classes", 0, "region_count", 0, "row 0 of 'classes' has no region"),
    ("classes", 0, "words", 1 << 31, "row 0 of 'classes' has too many words, or too few"),
    ("classes", 0, "words", 24, "row 2 of 'buffers' ends behind the memory of its class"),
    ("classes", 1, "buffers", 0, "the rows of 'buffers' are not those of the classes"),
    ("classes", 0, "task_count", 99, "the rows of 'tasks' are not those of the classes"),
    ("buffers", 0, "owner", 1, "row 0 of 'buffers' belongs to another class"),
    ("buffers", 0, "address", 1 << 31, "row 0 of 'buffers' ends behind the memory of its class"),
    ("buffers", 0, "address", 1, "row 0 of 'buffers' has elements of 32 bits at an odd word"),
    ("buffers", 0, "elements", 7, "row 0 of 'buffers' has another number of elements than its extents"),
    ("buffers", 0, "kind", 4, "row 0 of 'buffers' has elements that memory does not hold"),
    ("buffers", 0, "name", 1 << 20, "'name' of row 0 of 'buffers' is not a row of the"),
    ("columns", 0, "values", 1 << 20, "'values' of row 0 of 'columns' leaves the"),
    ("images", 0, "address", 1 << 20, "row 0 of 'images' ends behind the memory of its class"),
    ("patches", 0, "address", 1 << 31, "row 0 of 'patches' ends behind the memory"),
    ("patches", 0, "address", 51, "row 0 of 'patches' is not aligned"),
    ("classes", 0, "flags", 12, "row 0 of 'classes' has a priority that there is not"),
    ("bodies", 0, "length", 1, "the code is not that of the bodies, in order and without gaps"),
    ("bodies", 1, "registers", 0, "row 1 of 'bodies' has too many registers, or too few"),
    ("uses", 0, "rows", 1 << 30, "'rows' of row 0 of 'uses' leaves the"),
    ("uses", 0, "body", 1 << 30, "'body' of row 0 of 'uses' is not a row of the"),
    ("accesses", 0, "base", 1 << 20, "row 0 of 'accesses' reaches beyond the memory of its class"),
    ("accesses", 0, "base", 1, "row 0 of 'accesses' reaches beyond the memory of its class"),
    ("accesses", 0, "kind", 4, "row 0 of 'accesses' is of a kind that memory does not hold"),
    ("access_dims", 1, "extent", 1000, "row 1 of 'accesses' reaches beyond the memory of its class"),
    ("access_dims", 1, "scale", -4, "row 1 of 'access_dims' is beyond all memory"),
    ("descriptors", 0, "type", 3, "'type' of row 0 of 'descriptors' is not below 3"),
    ("descriptors", 0, "dimensions", 5, "row 0 of 'descriptors' has too many dimensions, or none"),
    ("operations", 0, "function", 1000, "'function' of row 0 of 'operations' is not below"),
    ("operations", 0, "microthread", 99, "row 0 of 'operations' has a microthread that the target lacks"),
    ("blocked_microthreads", 0, "number", 8, "'number' of row 0 of 'blocked_microthreads' is not below 8"),
    ("blocked_microthreads", 0, "owner", 9, "'owner' of row 0 of 'blocked_microthreads' is not a row of the"),
    ("operations", 0, "activate", 1 << 20, "'activate' of row 0 of 'operations' is not a row of the"),
    ("operations", 0, "destination", 0, "row 0 of 'operations' has no stream as its destination"),
    ("operations", 0, "destination", 0xFFF0, "row 0 of 'operations' has an operand that its body does not"),
    ("register_loads", 0, "number", 200, "row 0 of 'register_loads' has a register that the target lacks"),
    ("prints", 0, "format", 0, "row 0 of 'prints' is wrong: the format prints 0 operands, but there are 2"),
    ("traps", 0, "count", 1, "row 0 of 'traps' has another number of operands than its operation"),
    ("queues", 0, "color_count", 99, "'colors' of row 0 of 'queues' leaves the"),
    ("queues", 0, "id", 99, "row 0 of 'queues' has an id that the target lacks"),
    ("queues", 0, "task", NONE, "row 3 of 'tasks' is not the task of its queue"),
    ("fifos", 0, "buffer", 1, "row 0 of 'fifos' has elements of 8 bits"),
    ("fifos", 0, "step", 0, "operations on a FIFO move no element at once, or more than it has places"),
    ("fifos", 0, "step", 5, "operations on a FIFO move no element at once, or more than it has places"),
    ("fifos", 0, "buffer", 0, "a descriptor of a FIFO has elements of another size than the FIFO"),
    ("tasks", 0, "type", 9, "'type' of row 0 of 'tasks' is not below 5"),
    ("tasks", 0, "use", NONE, "row 0 of 'tasks' has a use that does not exist"),
    ("tasks", 1, "flags", 1, "a task is activated that is not a local one"),
    ("operations", 0, "activate", 1, "a task is activated that is not a local one"),
    ("fifos", 0, "push_task", 1, "a task is activated that is not a local one"),
    ("tasks", 1, "type", 0, "row 1 of 'tasks' has a queue, or none, against its type"),
    ("routes", 0, "receive", 32, "'receive' of row 0 of 'routes' is not below 32"),
    ("switches", 0, "current", 2, "row 0 of 'switches' is at a position that it does not have"),
    ("routes", 1, "filter", 7, "'filter' of row 1 of 'routes' is not a row of the 1 of 'filters'"),
    ("routes", 1, "swap", 32, "'swap' of row 1 of 'routes' is not below 32"),
    ("routes", 2, "filter", 0, "the filter of row 2 of 'routes' has numbers for more or fewer PEs"),
    ("filters", 0, "kind", 0, "row 0 of 'filters' is of no kind"),
    ("filters", 0, "kind", 4, "'kind' of row 0 of 'filters' is not below 4"),
    ("filters", 0, "kind", 1, "row 0 of 'filters' has 'min_idx', which filters of its kind do not"),
    ("filters", 0, "flags", 8, "'flags' of row 0 of 'filters' is not below 8"),
    ("filters", 0, "counts", 0, "row 0 of 'filters' has no 'id'"),
    ("filters", 0, "values", 10**6, "'id' of row 0 of 'filters' leaves the rows of 'column_values'"),
    ("networks", 0, "color", 77, "'color' of row 0 of 'networks' is not a row of the 4 of 'colors'"),
    ("exports", 0, "row", 77, "an export names a row of 'buffers' that does not exist"),
    ("exports", 0, "owner", 1, "an export of a class names a row of 'buffers' of another one"),
]


@pytest.mark.parametrize(("section", "row", "field", "value", "message"), FORGED, ids=lambda value: str(value)[:40])
def test_a_forged_record_is_one_error(section: str, row: int, field: str, value: Any, message: str) -> None:
    tables = copied()
    tables[section][row][field] = value
    assert refused(tables).startswith(f"the tables are not valid: {message}")
    assert refused(tables).endswith("; compile the program again")


def body_of(*code: tuple[Any, int, int, int], **counts: int) -> Tables:
    """Return tables whose only task has this code; its use names nothing."""
    tables = copied()
    sections = dict(tables.sections)
    for name in SECTIONS:
        if name not in ("program", "regions", "classes", "costs", "numbers"):
            sections[name] = sections[name][:0]
    sections["classes"] = sections["classes"][1:].copy()
    for name in ("buffer", "queue", "fifo", "task"):
        sections["classes"][0][f"{name}s"] = sections["classes"][0][f"{name}_count"] = 0
    sections["classes"][0]["task_count"] = 1
    sections["tasks"] = np.zeros(1, SECTIONS["tasks"])
    sections["tasks"]["queue"] = NONE
    sections["uses"] = np.zeros(1, SECTIONS["uses"])
    sections["bodies"] = np.zeros(1, SECTIONS["bodies"])
    sections["bodies"]["length"] = len(code)
    sections["rows"] = np.zeros(8, SECTIONS["rows"])
    for name, count in counts.items():
        sections["bodies"][name] = count
    sections["code"] = np.array(
        [(CONTROL_NUMBER[op] if isinstance(op, str) else op, a, b, c) for op, a, b, c in code], SECTIONS["code"]
    )
    sections["code_where"] = np.zeros(len(code), SECTIONS["code_where"])
    return Tables(sections, tables.strings)


END = ("end", 0, 0, 0)
UNWRITTEN_0 = "instruction 0 of body 0 reads a register or descriptor that is not written before"
BAD_A = "instruction 0 of body 0 has an operand a that does not exist"
BAD_B = "instruction 0 of body 0 has an operand b that does not exist"
CODE: list[tuple[list[Any], dict[str, int], str | None]] = [
    ([END], {}, None),
    ([("move", 1, 0, 0), END], {"registers": 2, "numbers": 1}, None),
    ([("move", 1, 0, 0)], {"registers": 2, "numbers": 1}, "body 0 does not end"),
    ([("move", 0, 1, 0), END], {"registers": 2, "numbers": 1}, BAD_A),
    ([("move", 2, 0, 0), END], {"registers": 2, "numbers": 1}, BAD_A),
    ([("move", 1, 2, 0), END], {"registers": 2, "numbers": 1}, BAD_B),
    ([("move", 1, 1, 0), END], {"registers": 2, "numbers": 1}, UNWRITTEN_0),
    ([(ADD, 1, 0, 1), END], {"registers": 2, "numbers": 1}, UNWRITTEN_0),
    (
        # Written on one way only.
        [("branch_false", 0, 2, 0), ("move", 1, 0, 0), ("move", 2, 1, 0), END], {"registers": 3, "numbers": 1},
        "instruction 2 of body 0 reads a register or descriptor",
    ),
    (
        [("branch_false", 0, 3, 0), ("move", 1, 0, 0), ("jump", 0, 4, 0), ("move", 1, 0, 0), ("move", 2, 1, 0), END],
        {"registers": 3, "numbers": 1}, None,
    ),
    ([("jump", 0, 1, 1), END], {}, "instruction 0 of body 0 jumps out of its body"),
    ([("jump", 0, 0, 0)], {}, "instruction 0 of body 0 closes a loop that counts no step"),
    ([("step", 0, 0, 0), ("jump", 0, 0, 0)], {}, None),
    (
        [("branch_false", 0, 2, 0), ("step", 0, 0, 0), ("jump", 0, 0, 0)], {"registers": 1, "numbers": 1},
        "instruction 2 of body 0 closes a loop that counts no step",
    ),
    (
        # The step is in a loop inside, which may not be entered.
        [("branch_true", 0, 3, 0), ("step", 0, 0, 0), ("branch_true", 0, 0, 0), ("jump", 0, 0, 0)],
        {"registers": 1, "numbers": 1}, "instruction 3 of body 0 closes a loop that counts no step",
    ),
    (
        [("for_test", 1, 2, 0), ("jump", 0, 0, 0), END], {"registers": 3, "numbers": 1},
        UNWRITTEN_0,
    ),
    ([("for_test", 0, 2, 0), ("jump", 0, 0, 0), END], {"registers": 2, "numbers": 2}, None),
    ([("for_test", 1, 2, 0), ("jump", 0, 0, 0), END], {"registers": 2, "numbers": 2}, BAD_A),
    ([("jump", 0, 2, 0), ("jump", 0, 1, 0), END], {}, "instruction 1 of body 0 cannot be reached and jumps back"),
    ([("timestamp", 0, 0, 0), END], {"registers": 2}, BAD_A),
    ([("timestamp", 0, 0, 0), END], {"registers": 3}, None),
    ([("tick", 5000, 0, 0), END], {}, BAD_A),
    ([("coordinate", 0, 2, 0), END], {"registers": 1}, BAD_B),
    ([("activate", 0, 0, 0), END], {}, "instruction 0 of body 0 names a slot that its body does not have"),
    ([("advance", 0xC000, 0, 0), END], {"frame_descriptors": 1, "registers": 1, "numbers": 1},
     UNWRITTEN_0),
    ([("descriptor", 0xC000, 0xC001, 0), END], {"frame_descriptors": 2}, UNWRITTEN_0),
    ([("descriptor", 0xC000, 0x8000, 0), END], {"frame_descriptors": 2}, BAD_B),
    ([("return", 0, 0, 0)], {}, "body 0 is started and returns"),
    ([(77, 0, 0, 0), END], {}, "the code has an instruction that does not exist"),
    ([("invalid", 0, 0, 0), END], {}, "the code has an instruction that does not exist"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "counts", "message"), CODE)
def test_code(code: list[Any], counts: dict[str, int], message: str | None) -> None:
    tables = body_of(*code, **counts)
    if message is None:
        check(tables)
    else:
        assert refused(tables).startswith(f"the tables are not valid: {message}")


AT_START = "instruction 0 of body 0 does what code that runs at the start may not do"


@pytest.mark.parametrize(
    ("code", "counts", "message"),
    [
        ([("tick", 0, 0, 0), END], {}, None),
        ([("jump", 0, 1, 0), END], {}, None),
        ([("step", 0, 0, 0), END], {}, AT_START),
        ([("for_test", 0, 2, 0), ("jump", 0, 0, 0), END], {"registers": 2, "numbers": 2}, AT_START),
        ([("check_divisor", 0, 0, 0), END], {"registers": 1, "numbers": 1}, AT_START),
        ([("timestamp", 0, 0, 0), END], {"registers": 3}, AT_START),
        ([("set_clock", 0, 0, 0), END], {}, AT_START),
        ([("set_exception_mask", 0, 0, 0), END], {"registers": 1, "numbers": 1}, AT_START),
    ],
)
def test_code_at_the_start(code: list[Any], counts: dict[str, int], message: str | None) -> None:
    """It can neither wait, go round nor stop the program."""
    tables = body_of(*code, **counts)
    tables.sections["starts"] = np.zeros(1, SECTIONS["starts"])
    if message is None:
        check(tables)
    else:
        assert refused(tables).startswith(f"the tables are not valid: {message}")


def numbers(high: int) -> st.SearchStrategy[int]:
    """Return numbers that a field of so many values may be forged to: near its ends, near rows, anything."""
    return st.one_of(st.integers(0, min(high, 40)), st.integers(max(0, high - 2), high), st.integers(0, high))


@given(st.data())
@settings(max_examples=examples(900))
@pytest.mark.slow
def test_what_passes_names_only_what_is_there(data: st.DataObject) -> None:
    tables = copied()
    for _ in range(data.draw(st.integers(1, 3))):
        section = data.draw(st.sampled_from(list(SECTIONS)))
        records = tables.sections[section]
        change = data.draw(st.integers(0, 9))
        if change == 0:
            # Cut, or repeated.
            tables.sections[section] = records[: data.draw(st.integers(0, len(records)))]
            continue
        if change == 1:
            tables.sections[section] = np.concatenate([records, records[: data.draw(st.integers(0, 4))]])
            continue
        if not len(records):
            continue
        row = data.draw(st.integers(0, len(records) - 1))
        field = data.draw(st.sampled_from(records.dtype.names)) if records.dtype.names else None
        values = records[row : row + 1] if field is None else records[field][row : row + 1]
        flat = values.reshape(-1).view(f"u{values.dtype.itemsize}")
        place = data.draw(st.integers(0, len(flat) - 1))
        flat[place] = data.draw(numbers(int(np.iinfo(flat.dtype).max)))
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        try:
            check(tables)
        except LoomError as error:
            assert error.message.startswith("the tables are not valid: ")
            return
    dump(tables)
