"""Rows of tables in words: PEs, colors, queues, operations and tasks."""

from __future__ import annotations

from ..fabric.model import NOWHERE, Fabric
from ..tables.format import NONE
from ..tables.instructions import CONTROL_NUMBER, REGISTER_FILES, operation_name

LOADING = "what is loaded at the start"
"""In place of a task: code that runs before all tasks."""


class Names:
    """What messages call the things of a program."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self.tables = fabric.tables

    def text(self, section: str, row: int, field: str = "name") -> str:
        """Return a string of a record."""
        return self.tables.strings[int(self.tables[section][field][row])]

    def where(self, row: int) -> str | None:
        """Return a source place, None if there is none."""
        return None if row == NONE else self.tables.strings[row] or None

    def place_of(self, section: str, row: int) -> str | None:
        """Return the source place of a record."""
        return self.where(int(self.tables[section]["where"][row]))

    def position(self, pe: int) -> tuple[int, int]:
        """Return (x, y) of a PE."""
        y, x = divmod(pe, self.fabric.width)
        return x, y

    def pe(self, pe: int) -> str:
        """Return a PE: "PE (1, 0)"."""
        return f"PE {self.position(pe)}"

    def task(self, row: int) -> str:
        """Return the name of a task or launched function."""
        return LOADING if row == NONE else self.text("tasks", row)

    def operation(self, row: int, task: int) -> str:
        """Return an operation that a task has issued: "fmacs in @compute"."""
        return f"{operation_name(self.tables['operations'][row])} in @{self.task(task)}"

    def issued_at(self, row: int, task: int) -> str:
        """Return where the code of a task issues an operation: " at pe.csl:4:3"; empty if in several places."""
        tables, found, seen = self.tables, set[int](), set[int]()
        pending = [] if task == NONE else [int(tables["tasks"]["use"][task])]
        while pending:
            use = pending.pop()
            if use in seen or use == NONE:
                continue
            seen.add(use)
            body = tables["bodies"][int(tables["uses"]["body"][use])]
            behind = int(tables["uses"]["rows"][use]) + int(body["numbers"]) + int(body["descriptors"])
            slots: list[int] = tables["rows"][behind : behind + int(body["slots"])].tolist()
            for place in range(int(body["code"]), int(body["code"]) + int(body["length"])):
                op, slot = int(tables["code"][place][0]), int(tables["code"][place][1])
                if op == CONTROL_NUMBER["call"]:
                    pending.append(slots[slot])
                elif op == CONTROL_NUMBER["apply"] and slots[slot] == row:
                    found.add(int(tables["code_where"][place]))
        where = self.where(found.pop()) if len(found) == 1 else None
        return f" at {where}" if where else ""

    def queue(self, row: int) -> str:
        """Return the name of a queue, or of a sink, in messages."""
        if row in self.fabric.sinks:
            stream = next(each for each in self.fabric.host_outputs if row in each.queues)
            return f"host stream {self.color(stream.color)}"
        return self.text("queues", row, "label")

    def queue_id(self, row: int) -> int:
        """Return the id of a queue."""
        return int(self.tables["queues"]["id"][row])

    def color_at(self, queue: int, pe: int) -> int:
        """Return the color that a queue serves on a PE, else `NOWHERE`."""
        return int(self.fabric.colors_of(queue)[int(self.fabric.pe_unit[pe])])

    def color(self, row: int) -> str:
        """Return the name of a color in messages, "none" for `NOWHERE`."""
        return "none" if row == NOWHERE else self.text("colors", row, "label")

    def register(self, file: int, number: int) -> str:
        """Return a data structure register: "dest register 3"."""
        return f"{REGISTER_FILES[file]} register {number}"
