"""Findings about channels: overwritten slots, unbalanced pushes and pops, lost and leftover credits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .channel_rows import Rows
    from .channels import Channel


def report_overwrite(
    channel: Channel, severity: str, group: Rows, lane: int, number: int, where: str | None, how: str = ""
) -> None:
    """Report an entry whose slot is reused too early; as a warning, if only this run was in time."""
    old = number - channel.depth
    slot = number % channel.depth
    if channel.depth % channel.period:
        code = "unsafe-depth"
        cause = (
            f"{channel.depth} slots are not a multiple of the {channel.period} entries between two waits, so pushes "
            f"{channel.depth} to {-(-channel.depth // channel.period) * channel.period - 1} do not wait"
        )
        remedy = f"use {channel.depth - 1} or {channel.depth + 1} slots"
    elif channel.seed:
        code = "seeded-credits"
        cause = (
            f"the producer starts with {channel.seed} credits beside the {channel.depth} pushes that need none, so the "
            f"first {channel.depth + channel.seed * channel.period} pushes never wait for the consumer"
        )
        remedy = "synchronize with the consumer in another way, for example by a channel back, or use more slots"
    else:
        code = "early-credit"
        cause = (
            "a free returns credits by the number of entries popped, not freed, so late frees return credits too early"
        )
        remedy = "free each entry before the next pop, or use at most 2 slots"
    if severity == "error":
        text = (
            f"entry {number} of channel @{channel.name} overwrites slot {slot}, which holds entry {old}, {how} "
            f"({blocks(group.rows)}, lane {lane}): {cause}; {remedy}"
        )
        channel.machine.findings.add("error", "early-overwrite", f"{code} {lane}", where, text)
    else:
        text = (
            f"nothing keeps entry {number} of channel @{channel.name} from overwriting slot {slot} before entry {old} "
            f"has been read (in this run it had been): {cause}; {remedy}"
        )
        channel.machine.findings.add("warning", code, f"{channel.name}", where, text)


def report_imbalance(channel: Channel) -> None:
    """Report entries and credits that do not balance at the end of a launch."""
    add = channel.machine.findings.add
    for group in channel.groups:
        rows = blocks(group.rows)
        # An entry that only some lanes have pushed is never complete.
        left = max(group.committed) - min(group.waited)
        if left > 0:
            add(
                "error", "unbalanced-pipe", channel.name, channel.where,
                f"channel @{channel.name} ends with {by_lane(group.committed)} entries pushed and "
                f"{by_lane(group.waited)} popped ({rows}): {left} {'is' if left == 1 else 'are'} never popped; "
                "pop as often as you push",
            )  # fmt: skip
        for lane in range(channel.lanes):
            released = group.released[lane if channel.many_consume else 0]
            taken = group.waited[lane if channel.many_consume else 0]
            due = taken // channel.period
            if group.issued[lane] < due and not channel.seed:
                add(
                    "error", "lost-credit", f"{channel.name} {lane}", channel.where,
                    f"channel @{channel.name} ends with {group.issued[lane]} credits returned for {taken} entries "
                    f"popped and {released} freed; {due} are due, one for every {channel.period}: free every "
                    "entry once, before the next pop (H3)",
                )  # fmt: skip
            elif channel.drained and group.credits[lane]:
                left = group.credits[lane]
                whose = f" (lane {lane})" if channel.lanes > 1 else ""
                remedy = "free each entry once"
                if channel.seed and group.issued[lane] <= due:
                    # A chip that begins with credits leaves some although each entry is freed once.
                    remedy = "clear its flags between launches (H2)"
                add(
                    "warning" if channel.seed else "error", "leftover-credits", f"{channel.name} {lane}", channel.where,
                    f"channel @{channel.name}{whose} ends with {left} credit{'s' if left != 1 else ''} more than it "
                    "began with: the next launch starts with them and does not wait for its consumer as it should; "
                    f"{remedy}",
                )  # fmt: skip


def by_lane(counts: Sequence[int]) -> str:
    """Return the count of one side in words, for each lane if they differ."""
    if len(set(counts)) == 1:
        return str(counts[0])
    return " and ".join(f"{count} (lane {lane})" for lane, count in enumerate(counts))


def blocks(rows: range) -> str:
    """Return blocks of cores, which are rows of the grid, in words."""
    return f"block {rows.start}" if len(rows) == 1 else f"blocks {rows.start} to {rows[-1]}"
