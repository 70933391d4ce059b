"""Statistics as text: short tables to read, and all of it as CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

import numpy as np

from .report import OF_PES, Link, Queue, Statistics

TOP = 10
"""Rows of a short table."""


def whole(work: Mapping[str, Any], found: Statistics, path: str) -> bytes:
    """Return the content of a file of statistics: CSV if its name ends so, else JSON with the work of the run."""
    if path.endswith(".csv"):
        return as_csv(found).encode()
    return (json.dumps({**work, **found.as_dict()}, default=_plain) + "\n").encode()


def _plain(value: Any) -> Any:
    """Return numbers and arrays of numpy in a form that JSON has."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def summary(found: Statistics, top: int = TOP) -> str:
    """Return short tables: the lines, PEs, queues and links with most to say, `top` of each."""
    parts = [_totals(found), _lines(found, top), _pes(found, top), _waited(found, top), _full(found, top)]
    return "\n\n".join(part for part in [*parts, _links(found, top)] if part)


def as_csv(found: Statistics) -> str:
    """Return all of it as comma-separated values: a table of each kind, with a line of names, empty lines between them.

    The first field of each row says what it is of: pe, line, queue or link.
    """
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["pe", "x", "y", *OF_PES])
    for y, x in np.argwhere(found.until + found.background > 0).tolist():
        writer.writerow(["pe", x, y, *(int(getattr(found, name)[y, x]) for name in OF_PES)])
    of_kinds: tuple[tuple[str, Sequence[Any]], ...] = (
        ("line", found.lines), ("queue", found.queues), ("link", found.links),
    )  # fmt: skip
    for kind, rows in of_kinds:
        if rows:
            writer.writerow([])
            writer.writerow([kind, *rows[0]._fields])
            writer.writerows([kind, *row] for row in rows)
    return text.getvalue()


def _totals(found: Statistics) -> str:
    until = int(found.until.sum())
    shares = [f"{name} {_percent(int(getattr(found, name).sum()), until)}" for name in ("computing", "waiting", "idle")]
    return f"cycles of {np.count_nonzero(found.until)} PEs: {until} ({', '.join(shares)})"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "0 %"


def _lines(found: Statistics, top: int) -> str:
    rows = [
        (str(line.cycles), str(line.waited), str(line.steps), str(line.elements), line.where or "(no place)")
        for line in found.lines[:top]
    ]
    return _table("lines", ("cycles", "waiting", "steps", "elements", "where"), rows, len(found.lines))


def _pes(found: Statistics, top: int) -> str:
    order = np.argsort(-found.until, axis=None, kind="stable")[:top]
    width = found.until.shape[1]
    rows: list[tuple[str, ...]] = []
    heads = ["until", "computing", "waiting", "idle", "background"]
    if found.blocked.any():
        heads.append("blocked")
    for number in order.tolist():
        y, x = divmod(number, width)
        values = [int(getattr(found, name)[y, x]) for name in heads]
        if values[0]:
            rows.append((*map(str, values), f"PE ({x}, {y})"))
    return _table("PEs, the latest first", (*heads, ""), rows, int(np.count_nonzero(found.until)))


def _name(queue: Queue) -> str:
    color = "" if queue.color is None else f", color {queue.color}"
    return f"{queue.kind} {queue.name} of PE ({queue.x}, {queue.y}){color}"


def _waited(found: Statistics, top: int) -> str:
    waited = [queue for queue in found.queues if queue.waited or queue.waited_in_background]
    waited.sort(key=lambda queue: (-queue.waited, -queue.waited_in_background))
    rows = [(str(queue.waited), str(queue.waited_in_background), _name(queue)) for queue in waited[:top]]
    return _table("queues waited for", ("tasks", "background", ""), rows, len(waited))


def _full(found: Statistics, top: int) -> str:
    full = [queue for queue in found.queues if queue.kind == "input" and (queue.peak or queue.left)]
    full.sort(key=lambda queue: (-queue.peak, -queue.left))
    rows = [
        (str(queue.peak), str(queue.room), str(queue.peak_cycle), str(queue.taken), str(queue.left), _name(queue))
        for queue in full[:top]
    ]
    return _table("fullest queues", ("peak", "room", "at cycle", "taken", "left", ""), rows, len(full))


def _links(found: Statistics, top: int) -> str:
    between = [link for link in found.links if link.port != "ramp"]
    most: Iterable[Link] = sorted(between, key=lambda link: -link.wavelets)[:top]
    rows = [(str(link.wavelets), f"PE ({link.x}, {link.y}) {link.port}, color {link.color}") for link in most]
    return _table("links between routers", ("wavelets", ""), rows, len(between))


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], count: int) -> str:
    """Return a table, its columns of numbers to the right; `count` is how many rows there are in all."""
    if not rows:
        return ""
    more = f" ({len(rows)} of {count})" if count > len(rows) else ""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = [
        "  ".join([*(cell.rjust(width) for cell, width in zip(row, widths[:-1], strict=False)), row[-1]]).rstrip()
        for row in (heads, *rows)
    ]
    return "\n".join([f"{title}{more}:", *(f"  {line}" for line in lines)])
