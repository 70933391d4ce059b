"""Findings of executors: records of what goes wrong, or may, while tables are loaded and run.

An executor words nothing: it leaves a record with a code and up to six numbers. `runtime/reports/` makes sentences of
them. A finding that is an error ends the run; a warning is given once for each source place.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

VALUES = 6
"""Numbers that a record has room for."""

FINDING: np.dtype[Any] = np.dtype(
    [("code", "<u4"), ("pe", "<u4"), ("task", "<u4"), ("where", "<u4"), ("cycle", "<i8"), ("values", "<i8", VALUES)],
    align=True,
)
"""`pe` is a PE, numbered by rows of the grid; `task` the row of the task that was running, `where` the row of the
source place among the strings, that of an operation for what an operation does. `tables.format.NONE` is none."""


MAX_WALK = 1 << 22
"""Elements of the longest walk: a PE's memory many times over."""

MAX_WARNINGS = 1 << 12
"""Warnings without a source place that are kept; of each place there is one."""


class Code(IntEnum):
    """What has happened. Behind each: what its `values` are; rows are those of sections of the tables.

    Below `FIRST_WARNING` are errors. "Operation" is the row of an operation; its source place is the record's.
    """

    NOTHING = 0

    # Scalar code
    ADDRESS_OUTSIDE = 1
    """Byte address. It, or the end of its element, is outside the memory of the PE; also of an odd one."""
    ADDRESS_ODD = 2
    """Byte address, bytes of the element (2 for an address that a descriptor is set to)."""
    INDEX_OUTSIDE_MEMORY = 3
    """Index, dimension, buffer: the element is not in memory. Of the first dimension whose index is outside."""
    DIVISION_BY_ZERO = 4
    ASSERTION = 5
    """Message, value."""
    FAILURE = 6
    """Message of a `fail`."""
    STACK_FULL = 7
    """Use that is called; calls open, including that of the task; bytes that the stack would have, and its room."""
    STEP_LIMIT = 8
    FLOAT_EXCEPTION = 9
    """Exceptions as bits of the mask register, number of operands, bits of the result and of up to three operands,
    each as a 64-bit float."""
    DIRECTIVES_DIFFER = 10
    """Number of the call on its row or column, from 0; its row of `directives`; root << 16 | count; the same two of the
    first PE that made the call of that number; that PE."""
    DESCRIPTOR_SHAPE = 11
    """Number of the instruction, which needs another kind of descriptor."""

    # Data structure registers
    REGISTER_EMPTY = 16
    """File, number."""
    REGISTER_WITHOUT_FIFO = 17
    """File, number."""
    REGISTER_WIDTH = 18
    """Operation, file, number, kind that the operation takes, kind that the register was loaded with."""

    # Operations
    WALK_OUTSIDE_MEMORY = 24
    """Operation, word address, buffer or NONE."""
    USES_QUEUE = 25
    """Operation, an operation that uses the same queue still, the task of that one, queue, 0, its source place (0: that
    of the record)."""
    USES_MICROTHREAD = 26
    """Operation, an operation that uses the same microthread still, the task of that one, microthread, 0, its source
    place."""
    USES_FIFO = 27
    """Operation, an operation that uses the same end of a FIFO still, the task of that one, FIFO, end (0 to read), its
    source place."""
    SENDS_WITHOUT_COLOR = 28
    """Operation, queue."""
    SENDS_LOST = 29
    """Operation, queue."""
    RECEIVES_WITHOUT_COLOR = 31
    """Operation, queue."""
    RECEIVES_TWICE = 32
    """Operation, queue."""
    RECEIVES_MIXED_LANES = 33
    """Operation: it takes two values from a wavelet of one queue and one of another."""
    FIFO_FAULT = 34
    """Operation, FIFO, end (0 to read)."""
    FIFO_IN_REGISTER = 35
    """Operation, FIFO, end (0 to read), file, number of the register that holds it."""
    WALK_TOO_LONG = 36
    """Extents, outermost first, and behind the last one 0: the walk has more than `MAX_WALK` elements. Without a source
    place."""

    # Messages of networks
    MESSAGE_EMPTY = 40
    """Operation."""
    MESSAGE_TOO_LONG = 41
    """Operation, elements to send, elements of the array."""
    MESSAGE_WITHOUT_FRONT = 42
    """Operation, wavelets of the message."""
    MESSAGE_OFF_GRID = 43
    """Column, row. The record's PE is the sender."""
    MESSAGE_TO_NOBODY = 44
    """Column, row, color. The record's PE is the sender."""
    MESSAGE_DOES_NOT_FIT = 45
    """Operation, elements of the message, elements of the array that receives it."""
    MESSAGE_BLOCKED = 46
    """Operation, its microthread, which is blocked."""

    # Wavelets and routers
    CONTROL_TASK_MISSING = 48
    """Id that the wavelet carries, queue. Without a source place."""
    SWITCHES_LOOP = 49
    """Color; the record's PE is one of the circle, the source place the color's."""
    TEARDOWN = 50
    """Color, which is not one whose routes change; the record's PE is the router's, the source place the color's."""
    TEARDOWN_UNHANDLED = 51
    """Color; the same. The program of the PE has no task for it."""
    REGISTER_UNKNOWN = 52
    """Word address."""
    SWITCH_POSITION_MISSING = 53
    """Color, position."""
    COLOR_NOT_TAKEN = 54
    """Color, port, the color that it swaps with; the record's PE is the router's, the source place the color's."""
    FLUSHED_TWICE = 55
    """Id of the queue, 1 for an output queue."""
    FLUSH_UNHANDLED = 56
    """The same."""
    FILTER_MISSING = 57
    """Id of a filter."""
    MICROTHREAD_MISSING = 58
    """Number of the microthread, 1 if it is to be blocked."""

    # Warnings
    INDEX_OUTSIDE = 64
    """Index, dimension, buffer: the element is in memory still. Of the first dimension whose index is outside."""
    ODD_LOAD = 65
    """Word address."""
    ODD_STORE = 66
    """Word address."""
    ODD_WALK = 67
    """Word address at which the walk begins, operation."""
    WALK_LEAVES_BUFFER = 68
    """Operation, word address, buffer, words of an element."""
    SENDS_SWALLOWED = 69
    """Operation, queue."""
    RECEIVES_UNROUTED = 70
    """Operation, queue."""
    TASK_MAY_TAKE = 71
    """Operation, queue: the queue's data task, which is unblocked when it is issued, may take the same wavelets."""
    LAST_ELEMENT_LOST = 72
    """Bits of the last element, 1 if it is the only one. The record's PE receives, the source place is the sender's."""
    ELEMENTS_CUT = 73
    """Operation that receives, PE that sent, elements that are cut, the first of them."""
    INDEX_TOO_WIDE = 75
    """Operation, queue, 1 of a control wavelet, its bits: the two highest are those of the mark that shows one."""
    USED_IN_FLIGHT = 76
    """Row of an asynchronous operation, the task that issued it, its source place, a word that it uses; bits of what is
    done with that; the row of the operation that uses it too, or NONE for scalar code."""
    FLOATS_MIXED = 77
    """Kind that is sent, kind that is received, source place of what sends, queue that receives. Found on loading."""
    UNBLOCKS_EARLY = 78
    """Row of an asynchronous operation that receives, the task that issued it; the record's task unblocks the command
    stream before it ends, and the source place is the operation's."""
    READS_UNWRITTEN = 79
    """Word address, the row of the operation that reads it, or NONE for scalar code. Nothing has written the word."""
    UNBLOCKS_AGAIN = 80
    """Source place of the first call of unblock_cmd_stream since the launch, the task that made it."""
    SUMS_UNWRITTEN = 81
    """Word address, operation: it reads a word that nothing has written, and writes it, as one that adds
    does. A note."""
    ORDER_OF_STREAMS = 82
    """Source place of an access by what wavelets of a queue start, that queue, the queue whose wavelets start what is
    at the record's source place, a word that both use, bits of what is done with it as those of `USED_IN_FLIGHT`, the
    PEs that send (the first << 32 | the second). Found on loading."""
    ORDER_OF_SENDERS = 83
    """Queue, and two PEs that send to it, whose wavelets are stored in the order of arrival. Found on loading."""
    STARTS_UNBLOCKED = 84
    """Row of an asynchronous operation, the task that issued it, its source place: the record's task starts before the
    operation ends, which then unblocks it."""
    RELOADED_IN_FLIGHT = 85
    """Row of an asynchronous operation, the task that issued it, its source place, file and number of a register that
    it uses and the record's task loads again."""
    SENDS_OFF_GRID = 86
    """Operation, queue."""
    NEVER_STARTS = 74
    """Color; the record's task is the data task. Found on loading."""


FIRST_WARNING = Code.INDEX_OUTSIDE

NOTES = frozenset({Code.SUMS_UNWRITTEN})
"""Warnings that are notes: published programs do so, and are right."""

LATER_WRITES, EARLIER_WRITES, LATER_IS_ASYNC = 1, 2, 4
"""Bits of `USED_IN_FLIGHT`: which of the two writes the word, and if the one that comes later is asynchronous."""


ORDER = ("values", "where", "code", "pe", "cycle")
"""Fields by which findings are ordered, the last one first."""


class FirstWarnings:
    """The warnings of a run: the first of each source place, by cycle and PE."""

    def __init__(self) -> None:
        self._found: list[Any] = []
        self._all = np.zeros(0, FINDING)
        self._places: set[int] = set()
        self._unplaced = 0

    def add(self, records: Any) -> Any:
        """Add later records, in any order; return all, sorted."""
        if not len(records):
            return self._all
        keys = [records["values"][:, k] for k in reversed(range(VALUES))] + [records[name] for name in ORDER[1:]]
        for record in records[np.lexsort(keys)]:
            where, is_of_walk = int(record["where"]), int(record["code"]) == Code.WALK_LEAVES_BUFFER
            if where == 0:
                # Such walks are often many, of one statement: without a place they come only if nothing has before.
                if self._unplaced == MAX_WARNINGS or (is_of_walk and self._unplaced):
                    continue
                self._unplaced += 1
            elif where in self._places:
                continue
            self._places.add(where)
            self._found.append(record)
        self._all = np.array(self._found, FINDING)
        return self._all


def is_error(code: int) -> bool:
    """Return True if a finding ends the run."""
    return code < FIRST_WARNING


class Finding(NamedTuple):
    """A record of a finding, as a Python object."""

    code: int
    pe: int
    task: int
    where: int
    cycle: int
    values: tuple[int, ...]

    @property
    def key(self) -> tuple[int, int, int, int, tuple[int, ...]]:
        """By what findings are ordered."""
        return self.cycle, self.pe, self.code, self.where, self.values


def finding_of(record: Any) -> Finding:
    """Return a record of an array as a Python object."""
    code, pe, task, where, cycle, values = record.item()
    return Finding(code, pe, task, where, cycle, tuple(map(int, values)))
