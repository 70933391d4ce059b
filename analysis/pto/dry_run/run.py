"""Dry run: executes all cores of a program in turns and returns the trace of what they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .barrier import Barrier
from .channels import Channel
from .core_flags_state import CoreFlags
from .core_state import TooLong, Undecided
from .cores import CoreRun
from .global_memory import GlobalMemory
from .program import Program
from .trace import Core, Trace
from .values import Pointer

MAX_STEPS = 60_000
"""Steps, and iterations of loops, after which a dry run ends."""


def dry_run(
    program: Program,
    arguments: Sequence[Mapping[str, int | Pointer]],
    *,
    blocks: int = 1,
    arrays: Mapping[str, Any] | None = None,
    max_steps: int = MAX_STEPS,
    memory: GlobalMemory | None = None,
) -> Trace:
    """Return the trace of a program: its arguments by name, of each device, `arrays` with what is in those that it may
    read, and `memory` with where these are, if there are several devices.

    It is incomplete where control depends on an unknown number, where cores wait forever, or behind `max_steps` steps
    or iterations of loops.
    """
    kinds = program.kinds()
    columns = [0, *range(1, 1 + program.lanes)]
    present = [column for column in columns if ("cube" if column == 0 else "vector") in {kind.value for kind in kinds}]
    devices: Sequence[int | None] = [None] if memory is None else range(len(arguments))
    trace = Trace(
        [Core(block, column, device) for device in devices for block in range(blocks) for column in present]
    )  # fmt: skip
    written: set[str] = set()
    barriers = [Barrier(blocks * len(present), written) for _ in devices]
    channels: list[list[dict[str, Channel]]] = [[program.channels() for _ in range(blocks)] for _ in devices]
    flags = [CoreFlags(program.core_flags) for _ in devices]
    cores = [
        CoreRun(
            program, trace, number, blocks, channels[core.device or 0][core.block], barriers[core.device or 0],
            arrays or {}, max_steps, memory, flags[core.device or 0],
        )
        for number, core in enumerate(trace.cores)
    ]  # fmt: skip
    running = {number: core.run(arguments[core.place.device or 0]) for number, core in enumerate(cores)}
    try:
        while running:
            before = len(trace.steps), len(running)
            for number in list(running):
                try:
                    next(running[number])
                except StopIteration:
                    del running[number]
            if (len(trace.steps), len(running)) == before:
                trace.reason = "cores wait for each other"
                for number in running:
                    cores[number].report_stuck(set(range(len(cores))) - set(running))
                return trace
    except Undecided as reason:
        trace.reason = f"{reason} depends on what is computed"
        return trace
    except TooLong:
        trace.reason = f"the program has more than {max_steps} steps, or iterations of loops"
        return trace
    except RecursionError:
        trace.reason = "loops and branches are nested too deeply"
        return trace
    trace.complete = True
    return trace
