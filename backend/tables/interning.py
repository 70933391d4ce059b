"""Sections of tables under construction: what is equal is stored once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute, Operation

from ...diagnostics.locations import render_location
from ...runtime.tables.format import CODE, SECTIONS, Tables


class Sections:
    """All sections of one program, and its strings."""

    def __init__(self) -> None:
        self._strings: dict[str, int] = {"": 0}
        self._records: dict[str, list[tuple[Any, ...]]] = {name: [] for name in SECTIONS}
        self._rows: dict[str, dict[tuple[Any, ...], int]] = {name: {} for name in SECTIONS}
        self._runs: dict[str, list[NDArray[Any]]] = {}
        self._lengths: dict[str, int] = {}
        self._places: dict[tuple[str, bytes], int] = {}
        self._numbers: dict[int, int] = {}
        self._bodies: dict[tuple[Any, ...], int] = {}
        # With the locations, so that they keep their identity.
        self._locations: dict[int, tuple[int, Attribute]] = {}

    def string(self, text: str | None) -> int:
        """Return the row of a string; row 0 for none."""
        return self._strings.setdefault(text or "", len(self._strings))

    def number(self, value: int) -> int:
        """Return the row of a number."""
        return self._numbers.setdefault(value, len(self._numbers))

    def count(self, section: str) -> int:
        """Return how many records a section has so far."""
        return len(self._records[section])

    def add(self, section: str, *fields: Any) -> int:
        """Append a record and return its row."""
        records = self._records[section]
        records.append(fields)
        return len(records) - 1

    def put(self, section: str, row: int, *fields: Any) -> None:
        """Write a record whose row has been reserved by `add` without fields."""
        self._records[section][row] = fields

    def intern(self, section: str, *fields: Any) -> int:
        """Return the row of a record, which is stored once."""
        rows = self._rows[section]
        row = rows.get(fields)
        if row is None:
            row = rows[fields] = self.add(section, *fields)
        return row

    def records(self, section: str, records: Sequence[tuple[Any, ...]]) -> int:
        """Return the first row of consecutive records, stored once; 0 for none."""
        if not records:
            return 0
        key = tuple(records)
        rows = self._rows[section]
        row = rows.get(key)
        if row is None:
            row = rows[key] = self.count(section)
            self._records[section] += records
        return row

    def all(self, section: str) -> list[tuple[Any, ...]]:
        """Return the records of a section so far."""
        return self._records[section]

    def text(self, row: int) -> str:
        """Return a string."""
        return list(self._strings)[row]

    def run(self, section: str, values: Sequence[int] | NDArray[Any]) -> int:
        """Return the first row of a run of plain values, stored once; 0 for an empty one."""
        array = np.ascontiguousarray(np.asarray(values, SECTIONS[section]))
        if not len(array):
            return 0
        key = section, array.tobytes()
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = self._lengths.get(section, 0)
            self._lengths[section] = place + len(array)
            self._runs.setdefault(section, []).append(array)
        return place

    def append(self, section: str, array: NDArray[Any]) -> int:
        """Append an array of plain values, of the section's type, and return the row of the first."""
        place = self._lengths.get(section, 0)
        self._lengths[section] = place + len(array)
        self._runs.setdefault(section, []).append(array)
        return place

    def place(self, op: Operation) -> int:
        """Return the row of the source place of an operation."""
        location = op.location
        found = self._locations.get(id(location))
        if found is None:
            found = self.string(render_location(location)), location
            self._locations[id(location)] = found
        return found[0]

    def intern_body(
        self,
        code: NDArray[np.uint16],
        where: Sequence[int],
        kinds: Sequence[int],
        slot_kinds: Sequence[int],
        counts: tuple[int, ...],
        name: str,
        place: int,
    ) -> int:
        """Return the row of a body: one that is there if code, places, kinds and kinds of slots are the same."""
        places = np.asarray(where, np.uint32)
        key = code.tobytes(), places.tobytes(), bytes(kinds), bytes(slot_kinds), counts
        row = self._bodies.get(key)
        if row is None:
            records = np.zeros(len(code), CODE)
            records.view(np.uint16).reshape(-1, 4)[:] = code
            first = self.append("code", records)
            self.append("code_where", places)
            row = self._bodies[key] = self.add(
                "bodies", self.string(name), place, first, len(code), self.run("kinds", kinds),
                self.run("slot_kinds", slot_kinds), *counts,
            )  # fmt: skip
        return row

    def finish(self) -> Tables:
        """Return the tables."""
        sections: dict[str, NDArray[Any]] = {}
        for name, dtype in SECTIONS.items():
            if name in self._runs:
                sections[name] = np.concatenate(self._runs[name])
                continue
            records = list(self._numbers) if name == "numbers" else self._records[name]
            # With zeros where a record is padded.
            sections[name] = np.zeros(len(records), dtype)
            if records:
                sections[name][:] = records
        return Tables(sections, tuple(self._strings))
