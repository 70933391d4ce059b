"""Balance of channels at the end of a launch: entries that are never popped, credits that are lost or left over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ...diagnostics.findings import Findings, Severity
from ..tables.format import CHANNEL_DRAINED
from .chip import ChannelCounts, Chip
from .sentences import blocks


class _Unbalanced(NamedTuple):
    """A finding about a channel on one row of the grid; `text` has {rows} for the rows that it is true of."""

    severity: Severity
    code: str
    about: str
    text: str


def report_imbalance(chip: Chip, counts: Callable[[int, int], ChannelCounts], findings: Findings) -> None:
    """Add what does not balance: `counts` returns the state of a channel on a row of the grid."""
    for channel in range(len(chip.tables["channels"])):
        where = chip.where(chip.tables["channels"]["where"][channel])
        found: dict[_Unbalanced, list[int]] = {}
        for row in chip.rows(channel):
            for each in _of_row(chip, channel, counts(channel, row)):
                found.setdefault(each, []).append(row)
        for each, rows in sorted(found.items(), key=lambda item: item[1][0]):
            run = [row for place, row in enumerate(rows) if row == rows[0] + place]
            text = each.text.replace("{rows}", blocks(range(run[0], run[-1] + 1)))
            findings.add(each.severity, each.code, each.about, where, text)


def _of_row(chip: Chip, number: int, counts: ChannelCounts) -> Iterator[_Unbalanced]:
    channel = chip.tables["channels"][number]
    name, period, lanes, seed = chip.text(channel["name"]), *(int(channel[f]) for f in ("period", "lanes", "seed"))
    many_consume = chip.sides[number][1].many
    # An entry that only some lanes have pushed is never complete.
    left = max(counts.committed) - min(counts.waited)
    if left > 0:
        yield _Unbalanced(
            "error", "unbalanced-pipe", name,
            f"channel @{name} ends with {by_lane(counts.committed)} entries pushed and "
            f"{by_lane(counts.waited)} popped ({{rows}}): {left} {'is' if left == 1 else 'are'} never popped; "
            "pop as often as you push",
        )  # fmt: skip
    for lane in range(lanes):
        released, taken = (each[lane if many_consume else 0] for each in (counts.released, counts.waited))
        due = taken // period
        if counts.issued[lane] < due and not seed:
            yield _Unbalanced(
                "error", "lost-credit", f"{name} {lane}",
                f"channel @{name} ends with {counts.issued[lane]} credits returned for {taken} entries "
                f"popped and {released} freed; {due} are due, one for every {period}: free every "
                "entry once, before the next pop (H3)",
            )  # fmt: skip
        elif channel["flags"] & CHANNEL_DRAINED and counts.credits[lane]:
            left = counts.credits[lane]
            whose = f" (lane {lane})" if lanes > 1 else ""
            remedy = "free each entry once"
            if seed and counts.issued[lane] <= due:
                # A chip that begins with credits leaves some although each entry is freed once.
                remedy = "clear its flags between launches (H2)"
            yield _Unbalanced(
                "warning" if seed else "error", "leftover-credits", f"{name} {lane}",
                f"channel @{name}{whose} ends with {left} credit{'s' if left != 1 else ''} more than it "
                "began with: the next launch starts with them and does not wait for its consumer as it should; "
                f"{remedy}",
            )  # fmt: skip


def by_lane(counts: Sequence[int]) -> str:
    """Return the count of one side in words, for each lane if they differ."""
    if len(set(counts)) == 1:
        return str(counts[0])
    return " and ".join(f"{count} (lane {lane})" for lane, count in enumerate(counts))
