"""The tables of builtins: the list in docs/csl.md follows from them, and so do the checks of a call."""

from __future__ import annotations

import pytest

from loomir.frontend.reference import PAGE, updated
from loomir.frontend.registry import TABLES, Row, Where, load_rules

from .harness import ONE_TILE, Csl

load_rules()
ROWS = [row for table in TABLES for row in table.rows if not row.is_internal]
SDKS = ("1.4", "2.10")


def test_page_is_up_to_date() -> None:
    if not PAGE.exists():
        pytest.skip("the documentation is in a checkout only")
    text = PAGE.read_text(encoding="utf-8")
    assert updated(text) == text, "run python -m loomir.frontend.reference"


def test_rows_name_an_sdk() -> None:
    for row in ROWS:
        assert row.since in SDKS, row.names
        assert not row.dropped or SDKS.index(row.dropped) > SDKS.index(row.since), row.names


def call(row: Row, count: int) -> str:
    """Return a call with so many arguments, none of which is evaluated before the call itself is refused."""
    return f"{row.names[0]}({', '.join(['0'] * count)})"


@pytest.mark.one_in(4)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.names[0])
def test_other_numbers_of_arguments_are_refused(csl: Csl, row: Row) -> None:
    for count in range(6):
        if count not in row.counts:
            csl.refuses(f"comptime {{ «{call(row, count)}»; }}", f"{row.names[0]} takes {row.takes}", arch="wse3")


ELSEWHERE = {
    Where.LAYOUT: "task",
    Where.COMPTIME: "task",
    Where.GLOBAL: "task",
    Where.RUN_TIME: "comptime",
    Where.FUNCTION: "comptime",
    Where.PE: "layout",
}
"""A place where a builtin may not be called."""

PLACED = [row for row in ROWS if row.where is not Where.ANYWHERE]


@pytest.mark.parametrize("row", PLACED, ids=lambda row: row.names[0])
def test_calls_elsewhere_are_refused(csl: Csl, row: Row) -> None:
    count = next(count for count in range(10) if count in row.counts)
    marked = f"«{call(row, count)}»"
    message = row.refusal.replace("{name}", row.names[0]) or row.names[0]
    match ELSEWHERE[row.where]:
        case "task":
            program = f"task run() void {{ {marked}; }} comptime {{ @bind_local_task(run, @get_local_task_id(9)); }}"
            csl.refuses(program, message, arch="wse3")
        case "comptime":
            csl.refuses(f"comptime {{ {marked}; }}", message, arch="wse3")
        case _:
            csl.refuses("", message, layout=ONE_TILE.replace("layout {", f"layout {{ {marked};"), arch="wse3")


@pytest.mark.parametrize("row", [row for row in ROWS if row.on_wse2], ids=lambda row: row.names[0])
def test_wse2_refuses_what_wse3_adds(csl: Csl, row: Row) -> None:
    count = next(count for count in range(10) if count in row.counts)
    marked = f"«{call(row, count)}»"
    program = f"comptime {{ {marked}; }}"
    if ELSEWHERE.get(row.where) == "comptime":
        program = f"task run() void {{ {marked}; }} comptime {{ @bind_local_task(run, @get_local_task_id(9)); }}"
    csl.refuses(program, f"exists on WSE-3 only; {row.on_wse2}", arch="wse2")
