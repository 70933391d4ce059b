"""Effects: the words of memory that tasks, and operations that receive, are sure to touch or may touch.

Read from the code of a class, one body at a time. An access is sure if every run of the task makes it, at an address
that the code says. What may be touched errs on the side of too much: an index counts as any, a pointer as all of
memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ...operations.dsd_table import OPERATIONS
from ...targets.wavelets import POINTER_EXTENT
from ..tables.format import (
    ACCESS_POINTER,
    CIRCULAR,
    DROPS_DATA,
    FIFO_END,
    MEMORY_WALK,
    NO_MICROTHREAD,
    NONE,
    ON_CONTROL,
    QUEUE_RUN,
    Tables,
)
from ..tables.instructions import (
    BITS,
    CONTROL,
    DSD_ROWS,
    FIRST_SCALAR,
    FRAME_DESCRIPTOR,
    KINDS,
    NO_REGISTER,
    SCALARS,
    STATIC_DESCRIPTOR,
)

Words = npt.NDArray[np.bool_]

MAX_SURE = 1 << 12
"""Elements of the longest walk whose words are listed."""


@dataclass
class Effects:
    """What one task, or one operation that receives, does to the memory of its PE."""

    may_read: Words
    may_write: Words
    rewritten: Words
    """Words that it may write in several places."""
    reads: dict[int, int] = field(default_factory=dict[int, int])
    """Words that it is sure to read before it writes them: the source place of each."""
    writes: dict[int, int] = field(default_factory=dict[int, int])
    """Words that it is sure to write, and does not read before."""
    constants: dict[int, int] = field(default_factory=dict[int, int])
    """Of these, those that get a number of the code: the number."""
    kept: dict[int, int] = field(default_factory=dict[int, int])
    """Words that it may write what a wavelet brings at a place that the wavelet does not say, and does not read."""
    activates: set[int] = field(default_factory=set[int])
    """Tasks that it activates, or lets the end of an operation activate or unblock."""
    receives: list[Receive] = field(default_factory=list["Receive"])
    """Operations that it issues which take wavelets and do not hold it up."""
    waits: bool = False
    """True if it takes wavelets in another way."""


@dataclass(eq=False)
class Receive:
    """An asynchronous operation that takes wavelets of one queue."""

    queue: int
    where: int
    effects: Effects
    is_move: bool


def effects_of(tables: Tables, use: int, words: int, blockable: int) -> Effects:
    """Return what the code of a use does on a PE with so many words of memory, which may block some microthreads."""
    return _Reader(tables, words, blockable).read(use)


class _Reader:
    def __init__(self, tables: Tables, words: int, blockable: int) -> None:
        self._tables = tables
        self._blockable = blockable
        self._words = words
        self._open: set[int] = set()

    def read(self, row: int) -> Effects:
        tables = self._tables
        use = tables["uses"][row]
        body = tables["bodies"][int(use["body"])]
        found = self._none()
        if row in self._open:
            return found
        self._open.add(row)
        first, length = int(body["code"]), int(body["length"])
        code: list[tuple[int, int, int, int]] = tables["code"][first : first + length].tolist()
        before = int(use["rows"])
        middle = before + int(body["numbers"])
        behind = middle + int(body["descriptors"])
        numbers = tables["numbers"][tables["rows"][before:middle]].tolist()
        descriptors: list[int] = tables["rows"][middle:behind].tolist()
        slots: list[int] = tables["rows"][behind : behind + int(body["slots"])].tolist()
        conditional = _conditional(code)
        arguments = range(int(body["numbers"]), int(body["numbers"]) + int(body["arguments"]))
        brought, stored = set(arguments), np.zeros(self._words, np.bool_)
        for pc, (op, a, b, c) in enumerate(code):
            where, sure = int(tables["code_where"][first + pc]), pc not in conditional
            if op >= FIRST_SCALAR:
                operands = (b, c, a)[: len(SCALARS[op - FIRST_SCALAR].kinds)]
                _carry(brought, a, any(register in brought for register in operands))
                continue
            match CONTROL[op]:
                case "move":
                    _carry(brought, a, b in brought)
                case "select":
                    _carry(brought, a, bool({a, b, c} & brought))
                case "column" | "coordinate":
                    brought.discard(a)
                case "load":
                    touched, is_known, indices = self._accessed(slots[c], b)
                    is_brought = bool(stored[touched].any()) or bool(set(indices) & brought)
                    self._reads(found, touched, where if sure and is_known else 0)
                    _carry(brought, a, is_brought)
                case "store":
                    touched, is_known, indices = self._accessed(slots[c], b)
                    if a in brought:
                        stored[touched] = True
                        if len(touched) < self._words and not set(indices) & brought:
                            found.kept.update({word: where for word in touched if not found.may_read[word]})
                    constant = int(numbers[a]) if a < len(numbers) else None
                    self._writes(found, touched, where if sure and is_known else 0, constant)
                case "call":
                    inner = self.read(slots[a])
                    for receive in () if sure else inner.receives:
                        receive.effects.reads.clear()
                        receive.effects.writes.clear()
                    found.may_read |= inner.may_read
                    found.rewritten |= inner.rewritten | (inner.may_write & found.may_write)
                    found.may_write |= inner.may_write
                    found.activates |= inner.activates
                    found.receives += inner.receives
                    found.waits |= inner.waits
                    brought.update(range(c, max(c, c + 8)))  # its results
                case "activate" | "unblock" | "block":
                    found.activates.add(slots[a])
                case "apply":
                    self._applies(found, slots[a], descriptors, where if sure else 0, where)
                    if b != NO_REGISTER:
                        brought.discard(b)
                case "load_register" | "read_register":
                    found.may_read[:] = found.may_write[:] = True
                case _:
                    pass
        self._open.discard(row)
        return found

    def _none(self) -> Effects:
        may_read, may_write, rewritten = np.zeros((3, self._words), np.bool_)
        return Effects(may_read, may_write, rewritten)

    def _reads(self, found: Effects, words: Sequence[int], where: int) -> None:
        if where:
            for word in words:
                if word not in found.writes:
                    found.reads.setdefault(word, where)
        found.may_read[words] = True

    def _writes(self, found: Effects, words: Sequence[int], where: int, constant: int | None = None) -> None:
        if where:
            for word in words:
                if not found.may_read[word]:
                    found.writes.setdefault(word, where)
                    if constant is None or found.constants.get(word, constant) != constant:
                        found.constants.pop(word, None)
                    else:
                        found.constants[word] = constant
        found.rewritten[words] |= found.may_write[words]
        found.may_write[words] = True

    def _accessed(self, row: int, register: int) -> tuple[list[int], bool, range]:
        """Return the words that a load or store may touch, if they are known, and the registers that say where."""
        access = self._tables["accesses"][row]
        if access["flags"] & ACCESS_POINTER:
            return list(range(self._words)), False, range(register, register + 1 + int(access["rank"]))
        if access["rank"] == 0:
            size = max(8, BITS[KINDS[int(access["kind"])]]) // 8
            return _clipped(int(access["base"]), size, self._words), True, range(0)
        buffer = self._tables["buffers"][int(access["buffer"])]
        size = max(8, BITS[KINDS[int(buffer["kind"])]]) // 8
        whole = _clipped(2 * int(buffer["address"]), size * int(buffer["elements"]), self._words)
        return whole, False, range(register, register + int(access["rank"]))

    def _applies(self, found: Effects, row: int, descriptors: Sequence[int], sure: int, where: int) -> None:
        tables = self._tables
        operation = tables["operations"][row]
        function = OPERATIONS[DSD_ROWS[int(operation["function"])]]
        operands = [int(operation["destination"]), *operation["sources"].tolist()][: 1 + len(function.sources)]
        streams: list[Any] = []
        for operand in operands:
            is_static = STATIC_DESCRIPTOR <= operand < FRAME_DESCRIPTOR
            is_frame = operand >= FRAME_DESCRIPTOR and operand != NO_REGISTER
            streams.append(
                tables["descriptors"][descriptors[operand - STATIC_DESCRIPTOR]] if is_static
                else "frame" if is_frame else None
            )  # fmt: skip
        completions = [int(operation[name]) for name in ("activate", "unblock", "control_activate", "control_unblock")]
        queues = [int(each["row"]) for each in streams[1:] if _is(each, QUEUE_RUN)]
        is_async = int(operation["microthread"]) != NO_MICROTHREAD
        target = found
        if is_async and len(queues) == 1:
            target = self._none()
            # It may wait for what unblocks its microthread.
            target.waits = bool(self._blockable >> int(operation["microthread"]) & 1)
            found.receives.append(Receive(queues[0], where, target, function.function == "move"))
        elif queues:
            found.waits = True
        target.activates.update(task for task in completions if task != NONE)
        if any(isinstance(each, str) or _is(each, FIFO_END) for each in streams):
            target.may_read[:] = target.may_write[:] = True
            return
        lengths = [_length(each) for each in streams if _is(each, MEMORY_WALK) and not _is_scalar(each)]
        lengths += [int(each["extents"][0]) for each in streams[1:] if _is(each, QUEUE_RUN)]
        count = min(lengths, default=1)  # AMB-01
        if operation["flags"] & (ON_CONTROL | DROPS_DATA):
            sure = 0
        for stream in streams[1:]:
            if _is(stream, MEMORY_WALK):
                self._reads(target, *_walked(stream, count, self._words, sure))
        if _is(streams[0], MEMORY_WALK):
            self._writes(target, *_walked(streams[0], count, self._words, sure))


def _carry(brought: set[int], register: int, is_brought: bool) -> None:
    brought.add(register) if is_brought else brought.discard(register)


def _is(stream: Any, type: int) -> bool:
    return stream is not None and not isinstance(stream, str) and int(stream["type"]) == type


def _is_scalar(walk: Any) -> bool:
    return int(walk["dimensions"]) == 1 and walk["extents"][0] == POINTER_EXTENT and not walk["flags"] & CIRCULAR


def _length(walk: Any) -> int:
    dimensions = 1 if int(walk["flags"]) & CIRCULAR else int(walk["dimensions"])
    return prod(walk["extents"][:dimensions].tolist())


def _walked(walk: Any, count: int, words: int, sure: int) -> tuple[list[int], int]:
    """Return the words of the first elements of a walk, and `sure`; of circular and very long ones what they may touch,
    and 0."""
    width = max(8, BITS[KINDS[int(walk["kind"])]]) // 16
    address = int(walk["address"])
    if int(walk["flags"]) & CIRCULAR:
        return _clipped(2 * address, 2 * width * int(walk["extents"][1]), words), 0
    if count > MAX_SURE:
        return list(range(words)), 0
    dimensions = int(walk["dimensions"])
    strides: list[int] = walk["strides"][:dimensions].tolist()
    extents: list[int] = [1] if _is_scalar(walk) else walk["extents"][:dimensions].tolist()
    # A stride is the step from the last element of the faster dimensions to the first of the next round.
    steps, last = list[int](), 0
    for stride, extent in zip(strides, reversed(extents), strict=True):
        steps.insert(0, last + stride)
        last += (extent - 1) * (last + stride)
    found: set[int] = set()
    for places in islice(product(*map(range, extents)), count):
        start = address + width * sum(place * step for place, step in zip(places, steps, strict=True))
        found.update(word for word in range(start, start + width) if 0 <= word < words)
    return sorted(found), sure


def _clipped(address: int, size: int, words: int) -> list[int]:
    return list(range(max(0, address // 2), min(words, -(-(address + size) // 2))))


def _conditional(code: Iterable[tuple[int, int, int, int]]) -> set[int]:
    """Return the instructions that not every run of the code makes."""
    found: set[int] = set()
    listed = list(code)
    for pc, (op, _, b, c) in enumerate(listed):
        name = CONTROL[op] if op < FIRST_SCALAR else ""
        if name in ("jump", "branch_false", "branch_true", "for_test"):
            found.update(range(pc + 1, b | c << 16))
        elif name in ("return", "end", "fail") and pc in found:
            found.update(range(pc + 1, len(listed)))
    return found
