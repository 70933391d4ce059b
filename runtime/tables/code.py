"""Checks of code: operands, jumps, that nothing is read before it is written, and that loops count steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .format import ACCESS_POINTER, NONE, TASK_TYPES, TILE_DIMENSIONS, Tables
from .instructions import (
    CONTROL,
    CONTROL_NUMBER,
    FIRST_SCALAR,
    FRAME_DESCRIPTOR,
    NO_REGISTER,
    OF_CHIPS,
    OPERANDS,
    SCALARS,
    SHARED,
    SLOT,
    SLOTS,
    STATIC_DESCRIPTOR,
    slot_section,
)

Integers = NDArray[np.int64]

_SLOT_OF = {
    "call": "use", "column": "column", "load": "access", "store": "access", "load_register": "register_load",
    "read_register": "register_read", "apply": "operation", "activate": "task", "block": "task", "unblock": "task",
    "set_fifo_length": "fifo", "assert": "message", "print": "print", "directive": "directive",
    "check_exceptions": "trap", "fail": "message", "tile": "tile", "tile_apply": "tile_apply",
    "tile_print": "tile_print", "acquire": "producer", "commit": "producer", "drain": "producer", "wait": "consumer",
    "release": "consumer",
}  # fmt: skip
"""The kind of slot that each instruction names."""

_SCALAR_ROLES = {1: "wr.", 2: "wrr", 3: "mrr"}
_ROLES = [OPERANDS[name] for name in CONTROL] + ["..."] * (FIRST_SCALAR - len(CONTROL)) + [
    _SCALAR_ROLES[len(row.kinds)] for row in SCALARS
]  # fmt: skip
_OF_CHIPS = frozenset(CONTROL_NUMBER[name] for name in (*SHARED, *OF_CHIPS))
_OF_WAFERS = frozenset(CONTROL_NUMBER[name] for name in CONTROL[1:] if name not in OF_CHIPS)
_ROLE = np.array([[ord(role) for role in roles] for roles in _ROLES])

_JUMPS = frozenset(CONTROL_NUMBER[name] for name in ("jump", "branch_false", "branch_true", "for_test"))
_LAST = frozenset(CONTROL_NUMBER[name] for name in ("jump", "return", "end"))
_STEPS = frozenset(CONTROL_NUMBER[name] for name in ("step", "for_test"))
_FOR_TEST, _RETURN, _END, _TIMESTAMP, _APPLY, _CALL = (
    CONTROL_NUMBER[name] for name in ("for_test", "return", "end", "timestamp", "apply", "call")
)
_AT_START = frozenset(
    CONTROL_NUMBER[name] for name in (
        "tick", "jump", "branch_false", "branch_true", "end", "move", "select", "column", "coordinate", "descriptor",
        "set_offset", "set_stride", "set_extent", "load_register",
    )
)  # fmt: skip
"""Instructions of code that runs before everything else, besides scalar ones: none waits, goes round, stops the
program, or changes what others see."""
_LOAD, _STORE, _PRINT, _ASSERT, _TRAP, _TILE, _TILE_APPLY = (
    CONTROL_NUMBER[name] for name in ("load", "store", "print", "assert", "check_exceptions", "tile", "tile_apply")
)


class BodyUses:
    """The rows that uses name: for each entry its use, body, slot (below 0 for none), kind of slot and row."""

    def __init__(self, use: Integers, body: Integers, slot: Integers, kind: Integers, row: Integers):
        self.use = use
        self.body = body
        self.slot = slot
        self.kind = kind
        self.row = row
        self.started: set[int] = set()
        """The bodies that tasks and starts run."""
        self.at_start: set[int] = set()
        """The bodies that starts run."""


def _tile_registers(tiles: NDArray[Any]) -> Integers:
    """Return how many registers each tile is made from."""
    opened = tiles["open"].astype(np.int64)
    bits = sum((opened >> bit & 1 for bit in range(2 * TILE_DIMENSIONS)), np.zeros(len(tiles), np.int64))
    return 1 + (tiles["owner"] != NONE) + (tiles["channel"] != NONE) + bits


def check(tables: Tables, uses: BodyUses, refuse: Callable[[str], NoReturn], *, is_chip: bool) -> None:
    """Refuse code that an executor cannot run safely; `is_chip` says that cores of a chip run it."""
    _CodeChecker(tables, uses, refuse, is_chip=is_chip).check()


class _CodeChecker:
    def __init__(self, tables: Tables, uses: BodyUses, refuse: Callable[[str], NoReturn], *, is_chip: bool):
        self.tables = tables
        self.uses = uses
        own = _OF_CHIPS if is_chip else _OF_WAFERS
        self.exists = np.array([op in own or op >= FIRST_SCALAR for op in range(len(_ROLES))])
        self.refuse = refuse
        self.reads: dict[tuple[int, int], tuple[int, int]] = {}
        """The registers and frame descriptors that a slot of a body reads, in any of its uses, as bits."""
        self.least: dict[tuple[int, int], int] = {}
        """The fewest results of what a slot calls."""

    def check(self) -> None:
        tables, bodies = self.tables, self.tables["bodies"]
        length, first = bodies["length"].astype(np.int64), bodies["code"].astype(np.int64)
        ends = np.cumsum(length)
        total = int(ends[-1]) if len(ends) else 0
        if (
            (length < 1).any()
            or (first != ends - length).any()
            or total != len(tables["code"])
            or (len(tables["code_where"]) != total)
        ):
            self.refuse("the code is not that of the bodies, in order and without gaps")
        if (tables["code_where"] >= len(tables.strings)).any():
            self.refuse("a source place of the code is not a string")
        code = tables["code"]
        op = code["op"].astype(np.int64)
        fields = np.stack([code[name].astype(np.int64) for name in ("a", "b", "c")], axis=1)
        if (op >= len(_ROLES)).any() or not self.exists[op].all():
            self.refuse("the code has an instruction that does not exist")
        self.body = np.repeat(np.arange(len(bodies)), length)
        self.counts = np.ones((len(op), 3), np.int64)
        self.slots(op, fields)
        self.operands(op, fields, first, length)
        self.flow(op, fields, first, length)

    def wrong(self, place: int, what: str) -> NoReturn:
        body = int(self.body[place])
        self.refuse(f"instruction {place - int(self.tables['bodies'][body]['code'])} of body {body} {what}")

    # Slots

    def slots(self, op: Integers, fields: Integers) -> None:
        """Check the slots that instructions name, and find how many registers each instruction takes with them."""
        bodies, tables = self.tables["bodies"], self.tables
        role = _ROLE[op]
        place, field = np.nonzero(role == ord("s"))
        slot, body = fields[place, field], self.body[place]
        wrong = slot >= bodies["slots"].astype(np.int64)[body]
        if wrong.any():
            self.wrong(int(place[np.argmax(wrong)]), "names a slot that its body does not have")
        wanted = np.full(len(_ROLES), -1)
        for name, kind in _SLOT_OF.items():
            wanted[CONTROL_NUMBER[name]] = SLOT[kind]
        kind = tables["slot_kinds"][bodies["slot_kinds"].astype(np.int64)[body] + slot].astype(np.int64)
        if (kind != wanted[op[place]]).any():
            self.wrong(int(place[np.argmax(kind != wanted[op[place]])]), "names a slot of another kind")
        self.signatures()
        base = np.concatenate([np.zeros(1, np.int64), np.cumsum(bodies["slots"].astype(np.int64))])
        most = np.zeros(int(base[-1]), np.int64)
        results = np.zeros(int(base[-1]), np.int64)
        uses = self.uses
        named = uses.slot >= 0
        at = base[uses.body[named]] + uses.slot[named]
        np.maximum.at(most, at, self.entry_counts[named])
        np.maximum.at(results, at, self.entry_results[named])
        mine = base[body] + slot
        activated = np.zeros(int(base[-1]), np.bool_)
        activated[mine[op[place] == CONTROL_NUMBER["activate"]]] = True
        started = uses.row[named][activated[at]]
        if (tables["tasks"]["type"][started] != TASK_TYPES.index("local")).any():
            self.refuse("a task is activated that is not a local one")
        for number, field, values in (
            (_CALL, 1, most), (_CALL, 2, results), (_LOAD, 1, most), (_STORE, 1, most), (_PRINT, 1, most),
            (_ASSERT, 1, most), (_TILE, 1, most),
        ):  # fmt: skip
            here = op[place] == number
            self.counts[place[here], field] = values[mine[here]]

    def signatures(self) -> None:
        """Find how many registers the row of each entry takes, and what operations and checks read."""
        tables, uses = self.tables, self.uses
        self.entry_counts, self.entry_results = np.zeros(len(uses.row), np.int64), np.zeros(len(uses.row), np.int64)
        bodies = tables["bodies"]
        callee = tables["uses"]["body"].astype(np.int64)
        for name, values in (
            ("use", bodies["arguments"].astype(np.int64)[callee]),
            ("access", tables["accesses"]["rank"] + (tables["accesses"]["flags"] & ACCESS_POINTER).astype(np.int64)),
            ("print", tables["prints"]["arguments"].astype(np.int64)),
            ("message", tables["messages"]["shows_value"].astype(np.int64)),
            ("tile", _tile_registers(tables["tiles"])),
        ):
            mine = uses.kind == SLOT[name]
            self.entry_counts[mine] = values[uses.row[mine]]
        mine = uses.kind == SLOT["use"]
        self.entry_results[mine] = bodies["results"].astype(np.int64)[callee][uses.row[mine]]
        called = set(callee[uses.row[mine]].tolist())
        both = called & uses.started
        if both:
            self.refuse(f"body {min(both)} is both started and called")
        self.called = called
        for entry in np.flatnonzero(mine).tolist():
            key = int(uses.body[entry]), int(uses.slot[entry])
            count = int(self.entry_results[entry])
            self.least[key] = min(self.least.get(key, count), count)
        naming = [SLOT[kind] for kind in ("operation", "trap", "tile_apply")]
        for entry in np.flatnonzero(np.isin(uses.kind, naming)).tolist():
            body, row = int(uses.body[entry]), int(uses.row[entry])
            section = slot_section(SLOTS[int(uses.kind[entry])])
            if uses.kind[entry] == SLOT["trap"]:
                trap = tables["traps"][row]
                operands = [*trap["operands"].tolist()[: int(trap["count"])], int(trap["result"])]
                if any(operand >= STATIC_DESCRIPTOR for operand in operands):
                    self.refuse(f"row {row} of 'traps' does not name registers")
            else:
                operation = tables[section][row]
                operands = [int(operation["destination"]), *operation["sources"].tolist()]
            registers, descriptors = self.operand_bits(bodies[body], operands, section, row)
            before = self.reads.get((body, int(uses.slot[entry])), (0, 0))
            self.reads[body, int(uses.slot[entry])] = before[0] | registers, before[1] | descriptors

    def operand_bits(self, body: Any, operands: list[int], section: str, row: int) -> tuple[int, int]:
        """Check operands of an operation against the body that applies it; return what they read, as bits."""
        registers = descriptors = 0
        for operand in operands:
            if operand == NO_REGISTER:
                continue
            if operand >= FRAME_DESCRIPTOR:
                inside = operand - FRAME_DESCRIPTOR < int(body["frame_descriptors"])
                descriptors |= 1 << operand - FRAME_DESCRIPTOR
            elif operand >= STATIC_DESCRIPTOR:
                inside = operand - STATIC_DESCRIPTOR < int(body["descriptors"])
            else:
                inside = operand < int(body["registers"])
                registers |= 1 << operand
            if not inside:
                self.refuse(f"row {row} of '{section}' has an operand that its body does not have")
        return registers, descriptors

    # Operands

    def operands(self, op: Integers, fields: Integers, first: Integers, length: Integers) -> None:
        bodies = self.tables["bodies"]
        of = {name: bodies[name].astype(np.int64)[self.body] for name in (
            "registers", "numbers", "descriptors", "frame_descriptors", "results",
        )}  # fmt: skip
        self.counts[op == _FOR_TEST, 0] = 2
        self.counts[op == _TIMESTAMP, 0] = 3
        self.counts[op == _RETURN, 0] = of["results"][op == _RETURN]
        self.counts[(op == _APPLY) & (fields[:, 1] == NO_REGISTER), 1] = 0
        role = _ROLE[op]
        limits = {"t": len(self.tables["costs"]), "x": 2, "i": 4}
        for column in range(3):
            value, count, kind = fields[:, column], self.counts[:, column], role[:, column]
            reads, writes = kind == ord("r"), (kind == ord("w")) | (kind == ord("m"))
            wrong = (reads | writes) & (count > 0) & (value + count > of["registers"])
            wrong |= writes & (count > 0) & (value < of["numbers"])
            static = (value >= STATIC_DESCRIPTOR) & (value < FRAME_DESCRIPTOR)
            inside = static & (value - STATIC_DESCRIPTOR < of["descriptors"])
            frame = (value >= FRAME_DESCRIPTOR) & (value - FRAME_DESCRIPTOR < of["frame_descriptors"])
            wrong |= (kind == ord("d")) & ~inside & ~frame
            wrong |= ((kind == ord("D")) | (kind == ord("M"))) & ~frame
            for letter, limit in limits.items():
                wrong |= (kind == ord(letter)) & (value >= limit)
            if wrong.any():
                self.wrong(int(np.argmax(wrong)), f"has an operand {'abc'[column]} that does not exist")
        jumps = role[:, 1] == ord("j")
        target = fields[:, 1] | fields[:, 2] << 16
        if (jumps & (target >= length[self.body])).any():
            self.wrong(int(np.argmax(jumps & (target >= length[self.body]))), "jumps out of its body")
        last = op[first + length - 1]
        if not np.isin(last, sorted(_LAST)).all():
            self.refuse(f"body {int(np.argmin(np.isin(last, sorted(_LAST))))} does not end")
        for body in sorted(self.called):
            if (op[first[body] : first[body] + length[body]] == _END).any():
                self.refuse(f"body {body} is called and ends a task")
        for body in sorted(self.uses.at_start):
            for place in range(int(first[body]), int(first[body] + length[body])):
                jumps_back = int(op[place]) in _JUMPS and first[body] + target[place] <= place
                if (op[place] < FIRST_SCALAR and int(op[place]) not in _AT_START) or jumps_back:
                    self.wrong(place, "does what code that runs at the start may not do")
        for body in sorted(self.uses.started):
            if (op[first[body] : first[body] + length[body]] == _RETURN).any():
                self.refuse(f"body {body} is started and returns")

    # The flow of control

    def flow(self, op: Integers, fields: Integers, first: Integers, length: Integers) -> None:
        """Check that code reads only what it has written on every way, and goes round no loop without a step."""
        code: list[list[int]] = np.column_stack([op, fields, self.counts]).tolist()
        starts: list[int] = first.tolist()
        lengths: list[int] = length.tolist()
        bodies = self.tables["bodies"]
        ready = (bodies["numbers"].astype(np.int64) + bodies["arguments"]).tolist()
        for body, (start, count) in enumerate(zip(starts, lengths, strict=True)):
            self.follow(body, code[start : start + count], start, (1 << ready[body]) - 1)

    def follow(self, body: int, code: list[list[int]], start: int, registers: int) -> None:
        heads = sorted(
            {
                target
                for place, (op, _, b, c, *_) in enumerate(code)
                if op in _JUMPS and (target := b | c << 16) <= place
            }
        )
        bit_of = {head: bit for bit, head in enumerate(heads)}
        every = (1 << len(heads)) - 1
        incoming: dict[int, tuple[int, int, int]] = {}
        at_head: dict[int, tuple[int, int, int] | None] = {}
        # Registers and descriptors that are written; heads of loops since which a step has been counted.
        state: tuple[int, int, int] | None = registers, 0, 0
        for place, (op, a, b, c, counts_a, counts_b, counts_c) in enumerate(code):
            other = incoming.pop(place, None)
            if other is not None:
                state = other if state is None else (state[0] & other[0], state[1] & other[1], state[2] & other[2])
            if place in bit_of:
                if state is not None:
                    state = state[0], state[1], state[2] & (1 << bit_of[place]) - 1
                at_head[place] = state
            if state is None:
                if op in _JUMPS and b | c << 16 <= place:
                    self.wrong(start + place, "cannot be reached and jumps back")
                continue
            written, ready, stepped = state
            read = more = write = 0
            for role, value, count in zip(_ROLES[op], (a, b, c), (counts_a, counts_b, counts_c), strict=True):
                if role == "r":
                    read |= (1 << count) - 1 << value if count else 0
                elif role == "w":
                    write |= (1 << count) - 1 << value if count else 0
                elif role == "m":
                    read |= 1 << value
                elif role == "D":
                    pass
                elif role in "dM" and value >= FRAME_DESCRIPTOR:
                    more |= 1 << value - FRAME_DESCRIPTOR
            if op in (_APPLY, _TRAP, _TILE_APPLY):
                registers_read, descriptors_read = self.reads.get((body, a), (0, 0))
                read |= registers_read
                more |= descriptors_read
            elif op == _CALL:
                least = self.least.get((body, a), 0)
                write = (1 << least) - 1 << c if least else 0
            if read & ~written or more & ~ready:
                self.wrong(start + place, "reads a register or descriptor that is not written before on every way")
            written |= write
            if _ROLES[op][0] == "D":
                ready |= 1 << a - FRAME_DESCRIPTOR
            after = written, ready, stepped
            if op in _JUMPS:
                target = b | c << 16
                if target <= place:
                    head = at_head[target]
                    if head is None or head[0] & ~written or head[1] & ~ready:
                        self.wrong(start + place, "jumps back to where more is written")
                    if not stepped >> bit_of[target] & 1:
                        self.wrong(start + place, "closes a loop that counts no step")
                else:
                    earlier = incoming.get(target)
                    incoming[target] = (
                        after if earlier is None
                        else (earlier[0] & written, earlier[1] & ready, earlier[2] & stepped)
                    )  # fmt: skip
            if op in _STEPS:
                after = written, ready, every
            state = None if op in _LAST else after
