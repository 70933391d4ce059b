"""Tables of chips that a stranger made: what the checker refuses, each with one error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser

from loomir.backend.tables import assemble
from loomir.diagnostics.errors import LoomError
from loomir.dialects import context, flow
from loomir.runtime.tables.check import check
from loomir.runtime.tables.format import Tables
from loomir.runtime.tables.instructions import CONTROL_NUMBER

from .test_channels import Case, text

CASE = Case(depth=4, period=2, lanes=2, seed=0, to_lanes=True, pushes=4, pops=4, ahead=1, drain=True)


def tables() -> Tables:
    module = Parser(context(), text(CASE), "channel.mlir").parse_module()
    return assemble(next(op for op in module.walk() if isinstance(op, flow.FabricOp)))


def forged(section: str, row: int, field: str, value: Any) -> Tables:
    made = tables()
    sections = {name: records.copy() for name, records in made.sections.items()}
    sections[section][field][row] = value
    return Tables(sections, made.strings)


def test_what_is_assembled_is_right() -> None:
    check(tables())


@pytest.mark.parametrize(
    ("section", "row", "field", "value", "message"),
    [
        ("channels", 0, "period", 0, "row 0 of 'channels' has no period"),
        ("channels", 0, "lanes", 3, "row 0 of 'channels' has more lanes than cores"),
        ("channels", 0, "consumer", 0, "row 0 of 'channels' does not join two classes on the same rows"),
        ("channels", 0, "seed", 1 << 20, "'seed' of row 0 of 'channels' is not below"),
        ("spaces", 0, "size", 1 << 62, "row 0 of 'spaces' has more than"),
        ("spaces", 1, "owner", 7, "'owner' of row 1 of 'spaces' is not a row of the 2 of 'classes'"),
        ("tiles", 0, "rank", 6, "row 0 of 'tiles' has too many dimensions, or none"),
        ("tiles", 0, "open", 2, "row 0 of 'tiles' has an open dimension too many"),
        ("tiles", 0, "open", 1, "has an operand b that does not exist|reads a register"),
        ("tiles", 0, "slot_count", 0, "row 0 of 'tiles' has no slots"),
        ("tiles", 0, "element", 13, "'element' of row 0 of 'tiles' is not below 13"),
        ("tile_applies", 0, "destination", 3, "row 0 of 'tile_applies' has no tile as its destination"),
        (
            "tile_applies",
            0,
            "destination",
            0xC0FF,
            "row 0 of 'tile_applies' has an operand that its body does not have",
        ),
        ("tile_applies", 0, "function", 200, "'function' of row 0 of 'tile_applies' is not below"),
        ("tile_applies", 0, "sources", (0xFFFF, 0xFFFF, 0xFFFF), "has another number of sources than its function"),
        ("code", 0, "op", CONTROL_NUMBER["apply"], "the code has an instruction that does not exist"),
        ("tasks", 0, "type", 0, "row 0 of 'tasks' is a local task, and cores have those that are launched"),
    ],
)
def test_a_forged_record_is_one_error(section: str, row: int, field: str, value: Any, message: str) -> None:
    with pytest.raises(LoomError, match=message):
        check(forged(section, row, field, value))


def test_chips_and_wafers_have_sections_of_their_own() -> None:
    made = tables()
    sections = {**made.sections, "costs": np.zeros(1, made["costs"].dtype)}
    with pytest.raises(LoomError, match="a program of a5 has rows of 'costs'"):
        check(Tables(sections, made.strings))
