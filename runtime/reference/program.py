"""Tables as an interpreter reads them: rows by name, and each use of a body with what its code needs."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any, TypeAlias

from ...operations.dsd_table import OPERATIONS, DsdOperation
from ...targets.model import Target
from ..fabric.stack import bytes_of_calls
from ..tables.format import DROPS_DATA, NO_MICROTHREAD, NONE, ON_CONTROL, Tables
from ..tables.instructions import (
    COSTS,
    DSD_ROWS,
    FORMATS,
)
from .descriptors import Descriptor, descriptor_of, kind_name

Row: TypeAlias = Any
"""A record of a section, its fields by name."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How an operation runs on a microthread: the tasks that its end starts, and when a control wavelet comes."""

    microthread: int | None = None
    activate: int | None = None
    unblock: int | None = None
    on_control: bool = False
    """True if a control wavelet ends it."""
    control_activate: int | None = None
    control_unblock: int | None = None
    priority: int = 0
    """By number in `instructions.PRIORITIES`."""

    @property
    def is_async(self) -> bool:
        """True if the task goes on while the operation runs."""
        return self.microthread is not None


@dataclass(frozen=True, slots=True)
class Operation:
    """A row of the operations."""

    number: int
    row: DsdOperation
    """What it computes, with the kinds of its operands."""
    name: str
    format: str | None
    operands: tuple[int, ...]
    """Registers and descriptors: the destination, then the sources."""
    settings: Settings
    drops_data: bool
    """True if it drops data wavelets; control wavelets are its elements, of which it stores nothing."""


@dataclass(frozen=True, slots=True)
class Use:
    """A body with the rows that it works with."""

    number: int
    code: tuple[tuple[int, int, int, int], ...]
    where: tuple[int, ...]
    """The source place of each instruction."""
    registers: int
    frame_descriptors: int
    numbers: tuple[int, ...]
    descriptors: tuple[Descriptor, ...]
    slots: tuple[int, ...]
    argument_kinds: tuple[str, ...]
    results: int
    call_bytes: int
    """Of the PE's memory that a call takes while it is open."""


class Program:
    """A program: a list of rows for each section, and what is computed from them once."""

    def __init__(self, tables: Tables, target: Target) -> None:
        timing = target.timing
        self.tables = tables
        self._call_bytes = bytes_of_calls(tables, target)
        self.strings = tables.strings
        self._sections: dict[str, list[Row]] = {}
        self._uses: dict[int, Use] = {}
        self._bodies: dict[int, tuple[Any, ...]] = {}
        self.prices = [
            sum(count * int(getattr(timing, name)) for count, name in zip(row.counts, COSTS, strict=False))
            for row in self["costs"]
        ]
        """The cycles of each row of costs."""
        self.operations = [self._operation(number, row) for number, row in enumerate(self["operations"])]
        self.loads = [_settings(row, bool(row.flags & 4)) for row in self["register_loads"]]
        """The settings of each row of register loads."""

    def __getitem__(self, section: str) -> list[Row]:
        """Return the rows of a section."""
        found = self._sections.get(section)
        if found is None:
            records = self.tables[section]
            found = records.tolist()
            if records.dtype.names:
                row = namedtuple(section, records.dtype.names)  # pyright: ignore[reportUntypedNamedTuple]
                columns = (records[name].tolist() for name in records.dtype.names)
                found = [row(*values) for values in zip(*columns, strict=True)]
            self._sections[section] = found
        return found

    def string(self, row: int) -> str:
        """Return a string."""
        return self.strings[row]

    def use(self, number: int) -> Use:
        """Return a use."""
        found = self._uses.get(number)
        if found is None:
            found = self._uses[number] = self._make_use(number)
        return found

    def _make_use(self, number: int) -> Use:
        use = self["uses"][number]
        body = self["bodies"][use.body]
        if use.body not in self._bodies:
            span = slice(body.code, body.code + body.length)
            words: list[tuple[int, int, int, int]] = self["code"][span]
            self._bodies[use.body] = (tuple((op, a, b, c) for op, a, b, c in words), tuple(self["code_where"][span]))
        code, where = self._bodies[use.body]
        rows = self["rows"]
        first = use.rows
        numbers = rows[first : first + body.numbers]
        first += body.numbers
        descriptors = rows[first : first + body.descriptors]
        first += body.descriptors
        kinds = self["kinds"][body.kinds : body.kinds + body.arguments]
        return Use(
            number, code, where, body.registers, body.frame_descriptors,
            tuple(self["numbers"][row] for row in numbers),
            tuple(descriptor_of(self["descriptors"][row]) for row in descriptors),
            tuple(rows[first : first + body.slots]), tuple(kind_name(kind) for kind in kinds), body.results,
            int(self._call_bytes[use.body]),
        )  # fmt: skip

    def _operation(self, number: int, row: Row) -> Operation:
        function: int = row.function
        number_of_format: int = row.format
        name, format = DSD_ROWS[function], FORMATS[number_of_format]
        entry = OPERATIONS[name].in_format(format)  # pyright: ignore[reportArgumentType]
        operands = (row.destination, *row.sources[: len(entry.sources)])
        settings = _settings(row, bool(row.flags & ON_CONTROL))
        return Operation(number, entry, name, format, operands, settings, bool(row.flags & DROPS_DATA))


def _settings(row: Row, on_control: bool) -> Settings:
    def task(number: int) -> int | None:
        return None if number == NONE else number

    if row.microthread == NO_MICROTHREAD:
        return Settings()
    return Settings(
        row.microthread, task(row.activate), task(row.unblock), on_control, task(row.control_activate),
        task(row.control_unblock), row.priority,
    )  # fmt: skip
