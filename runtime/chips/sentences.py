"""Sentences about the cores of a chip: errors that end a run, and findings about channels, made from records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any

from ...diagnostics.errors import LoomError
from ...diagnostics.findings import Findings
from ...operations.print_format import assertion_message
from ..places import Array
from .chip import Chip, Spaces
from .records import MAX_TILE_ELEMENTS, SUBJECT_VALUES, Code


def blocks(rows: range) -> str:
    """Return blocks of cores, which are rows of the grid, in words."""
    return f"block {rows.start}" if len(rows) == 1 else f"blocks {rows.start} to {rows[-1]}"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


# Errors


def error(chip: Chip, spaces: Spaces, record: Any, step_limit: int | None) -> LoomError:
    """Return the error that ends a run."""
    values: list[int] = record["values"].tolist()
    where, unit = chip.where(record["where"]), int(record["unit"])
    place = chip.unit_name(unit)
    match Code(int(record["code"])):
        case Code.DIVISION_BY_ZERO:
            return LoomError(f"an integer is divided by zero on {place}; guard the divisor", where)
        case Code.ASSERTION:
            message = chip.tables["messages"][values[0]]
            text = chip.text(message["text"])
            shown = assertion_message(text, values[1]) if message["shows_value"] else text
            return LoomError(f"the assertion fails on {place}: {shown}", where)
        case Code.FAILURE:
            return LoomError(chip.text(chip.tables["messages"]["text"][values[0]]), where)
        case Code.STEP_LIMIT:
            task = chip.task_name(values[0])
            return LoomError(
                f"the program runs past its step limit of {step_limit} in @{task} on {place}; raise the limit, or look "
                "for a loop or a task that never ends", where,
            )  # fmt: skip
        case Code.BEYOND_LANES:
            channel = chip.tables["channels"][int(record["channel"])]
            lanes, cls = int(channel["lanes"]), int(chip.class_of.ravel()[unit])
            return LoomError(
                f"a unit of @{chip.class_name(cls)} beyond lane {lanes - 1} takes part in channel "
                f"@{chip.text(channel['name'])}, which has {lanes}; let only the first do so",
                chip.where(channel["where"]),
            )
        case Code.LANE_OUTSIDE:
            return LoomError(
                f"a tile on {place} is in the memory of lane {values[1]} of @{chip.class_name(values[0])}, which has "
                f"{counted(chip.columns(values[0]), 'core')} there; correct the lane", where,
            )  # fmt: skip
        case Code.SHAPES:
            return _shapes(chip, values, where)
        case Code.INDEX_OUTSIDE:
            name = chip.text(chip.tables["tile_applies"]["name"][values[0]])
            return LoomError(
                f"index {values[1]} of {name} is not one of 0 to {values[2] - 1}, the elements that there are; correct "
                "the indices", where,
            )  # fmt: skip
        case code:
            return _tile(chip, spaces, code, values, where)


def _shapes(chip: Chip, values: Sequence[int], where: str | None) -> LoomError:
    shapes: list[str] = []
    rest = list(values[2:])
    for _ in range(values[1]):
        rank = rest.pop(0)
        shapes.append(" x ".join(map(str, rest[:rank])))
        del rest[:rank]
    name = chip.text(chip.tables["tile_applies"]["name"][values[0]])
    into, *out_of = shapes
    return LoomError(
        f"the shapes of {name} do not match: {into} from {', '.join(out_of)}; correct the valid shapes of the tiles",
        where,
    )


def _tile(chip: Chip, spaces: Spaces, code: Code, values: Sequence[int], where: str | None) -> LoomError:
    rank = values[0]
    shape, rest = " x ".join(map(str, values[1 : 1 + rank])), values[1 + rank :]
    if code == Code.TILE_NEGATIVE:
        return LoomError(f"a tile cannot have {shape} elements; check its valid rows and columns", where)
    if code == Code.TILE_TOO_LARGE:
        return LoomError(
            f"a tile of {shape} elements has more than {MAX_TILE_ELEMENTS}; check its valid rows and columns", where
        )
    space, low = rest[:2]
    if code == Code.TILE_BEYOND_ARRAY:
        first, last, name = spaces.arrays[space][rest[2]]
        return LoomError(
            f"a tile of {shape} elements at byte {low - first} of '{name}' ends {rest[3] - last} bytes beyond the "
            f"array, which has {last - first}; check the shape of the tile, or give a larger array", where,
        )  # fmt: skip
    return LoomError(
        f"a tile of {shape} elements at byte {low} reaches outside memory "
        f"@{chip.text(chip.tables['spaces']['name'][space])}, which has {spaces.size(space)} bytes; check its address "
        "and its shape", where,
    )  # fmt: skip


# Findings


def add_findings(chip: Chip, records: Array, findings: Findings) -> None:
    """Add the findings of a run; records of rows of the grid that say the same become one."""
    alike: dict[tuple[int, ...], list[Any]] = {}
    for record in records:
        code = int(record["code"])
        subject = record["values"].tolist()[: SUBJECT_VALUES.get(Code(code), 0)]
        alike.setdefault((code, int(record["channel"]), int(record["where"]), *subject), []).append(record)
    for same in alike.values():
        first = same[0]
        rows = [int(each["unit"]) // chip.width for each in takewhile(_says(first), same)]
        run = [row for place, row in enumerate(rows) if row == rows[0] + place]
        _ADD[Code(int(first["code"]))](chip, findings, first, range(run[0], run[-1] + 1))


def _says(first: Any) -> Callable[[Any], bool]:
    return lambda record: bool((record["values"] == first["values"]).all())


def _overwrite(chip: Chip, findings: Findings, record: Any, rows: range) -> None:
    """Add an entry whose slot is reused too early; as a warning, if only this run was in time."""
    channel = chip.tables["channels"][int(record["channel"])]
    depth, period, seed, name = (int(channel[field]) for field in ("depth", "period", "seed", "name"))
    lane, number, in_use = record["values"].tolist()[:3]
    slot, old, name = number % depth, number - depth, chip.text(name)
    if depth % period:
        code = "unsafe-depth"
        cause = (
            f"{depth} slots are not a multiple of the {period} entries between two waits, so pushes "
            f"{depth} to {-(-depth // period) * period - 1} do not wait"
        )
        remedy = f"use {depth - 1} or {depth + 1} slots"
    elif seed:
        code = "seeded-credits"
        cause = (
            f"the producer starts with {seed} credits beside the {depth} pushes that need none, so the "
            f"first {depth + seed * period} pushes never wait for the consumer"
        )
        remedy = "synchronize with the consumer in another way, for example by a channel back, or use more slots"
    else:
        code = "early-credit"
        cause = (
            "a free returns credits by the number of entries popped, not freed, so late frees return credits too early"
        )
        remedy = "free each entry before the next pop, or use at most 2 slots"
    where = chip.where(record["where"])
    if record["code"] == Code.OVERWRITE:
        how = "while its consumer still uses it" if in_use else "before its consumer has read it"
        text = (
            f"entry {number} of channel @{name} overwrites slot {slot}, which holds entry {old}, {how} "
            f"({blocks(rows)}, lane {lane}): {cause}; {remedy}"
        )
        findings.add("error", "early-overwrite", f"{code} {lane}", where, text)
    else:
        text = (
            f"nothing keeps entry {number} of channel @{name} from overwriting slot {slot} before entry {old} "
            f"has been read (in this run it had been): {cause}; {remedy}"
        )
        findings.add("warning", code, name, where, text)


def _error(code: str, words: Callable[[Chip, str, list[int], Any], str]) -> Callable[..., None]:
    """Return what adds an error about a channel."""

    def add(chip: Chip, findings: Findings, record: Any, rows: range) -> None:
        del rows
        values: list[int] = record["values"].tolist()
        name = chip.channel_name(int(record["channel"]))
        text = words(chip, name, values, record)
        findings.add("error", code, name, chip.where(record["where"]), text)

    return add


def _unwritten(chip: Chip, name: str, values: list[int], record: Any) -> str:
    return (
        f"entry {values[0]} of channel @{name} is pushed, but nothing has been written to its slot; store the data "
        "before the push"
    )


def _stale(chip: Chip, name: str, values: list[int], record: Any) -> str:
    return (
        f"entry {values[0]} of channel @{name} is popped before it is complete: a signal is left from an earlier "
        "launch; push and pop equally often in every launch"
    )


def _freed_twice(chip: Chip, name: str, values: list[int], record: Any) -> str:
    return (
        f"channel @{name} has {counted(values[0], 'free')} for {counted(values[1], 'pop')}; free each entry once, and "
        "on a5 do not free a tile popped from global memory: the pop frees it (H6)"
    )


def _early_credit(chip: Chip, findings: Findings, record: Any, rows: range) -> None:
    lane, issued, waited = record["values"].tolist()[:3]
    number = int(record["channel"])
    name, period = chip.channel_name(number), int(chip.tables["channels"]["period"][number])
    findings.add(
        "error", "early-credit", f"{name} {lane}", chip.where(record["where"]),
        f"channel @{name} has returned {issued} credits for {waited} pops, but one is due for every {period}: a free "
        "counts the entries popped, not freed, so frees that come together return one credit each (H3, H6); free each "
        "entry before the next pop",
    )  # fmt: skip


def _outsider(chip: Chip, name: str, values: list[int], record: Any) -> str:
    return (
        f"{chip.unit_name(int(record['unit']))} writes to a slot of channel @{name} but takes no part in its entries, "
        "which are not split: it may overwrite other entries, and on a5 it starts one row too far (H9); let only the "
        "first vector core take the slot and write to it"
    )


def _after_push(chip: Chip, name: str, values: list[int], record: Any) -> str:
    return (
        f"entry {values[0]} of channel @{name} is {'written' if values[1] else 'read'} after it has been pushed: its "
        "consumer may have read it already; use it before the push"
    )


def _after_free(chip: Chip, name: str, values: list[int], record: Any) -> str:
    return (
        f"entry {values[0]} of channel @{name} is {'written' if values[1] else 'read'} after it has been freed: its "
        "producer may have overwritten it; free it after its last use"
    )


def _copy(chip: Chip, findings: Findings, record: Any, rows: range) -> None:
    """Add a copy of an entry that is used after the copy of a later one has overwritten it."""
    alike, number, later, count = record["values"].tolist()[:4]
    name = chip.channel_name(int(record["channel"]))
    reason = (
        f"there are {count} local slots (H4); have at most {count} tiles in use, or more local slots"
        if alike
        else "the slot stride equals the size of each popped tile (H5); pop tiles of one size, or one at a time"
    )
    findings.add(
        "error", "local-aliasing" if alike else "mixed-tile-sizes", name, chip.where(record["where"]),
        f"tile {number} popped from channel @{name} is used after the pop of tile {later} has overwritten it: {reason}",
    )  # fmt: skip


_ADD: dict[Code, Callable[..., None]] = {
    Code.OVERWRITE: _overwrite,
    Code.MAY_OVERWRITE: _overwrite,
    Code.UNWRITTEN: _error("unwritten-slot", _unwritten),
    Code.STALE: _error("stale-entry", _stale),
    Code.FREED_TWICE: _error("freed-twice", _freed_twice),
    Code.EARLY_CREDIT: _early_credit,
    Code.OUTSIDER: _error("second-core", _outsider),
    Code.STORE_AFTER_PUSH: _error("store-after-push", _after_push),
    Code.USE_AFTER_FREE: _error("use-after-free", _after_free),
    Code.COPY_OVERWRITTEN: _copy,
}
