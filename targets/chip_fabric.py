"""A chip of cube and vector cores as a fabric: blocks of cores, without the routes and queues of a wafer.

There is no cost model of these chips: clocks do not advance, and no report of a run has a time.
"""

from __future__ import annotations

from fractions import Fraction

from .chip import Chip
from .model import PRICES, Target, Timing

BLOCKS = 1 << 16
"""Rows of the fabric; a launch chooses how many blocks there are."""

SCALAR_BYTES = 1 << 16
"""Memory of a core for scalars; tiles are in memories of their own."""

_UNTIMED = Timing(
    **dict.fromkeys(PRICES, 0), link_words=0, read_words=1, half_lanes=1, single_lanes=1, single_multiply=Fraction(0),
    elements=(),
)  # fmt: skip


def as_fabric(chip: Chip, lanes: int) -> Target:
    """Return the fabric that blocks of one cube core and `lanes` vector cores make."""
    return Target(
        name=chip.name, fabric=(1 + lanes, BLOCKS), memory_bytes=SCALAR_BYTES, routable_colors=0, filters=0,
        switch_colors=(), switch_changes_both_ways=False,
        local_task_ids=range(0), reserved_local_task_ids=(), control_task_ids=range(0), input_queue_words=(),
        output_queue_words=(), microthreads=0, dsr_dest=0, dsr_src0=0, dsr_src1=0, xdsrs=0, srs=0, fifos=0,
        fifo_alignment=2, fifo_actions=False, max_fabric_inputs=0, data_tasks_by_color=False, queues_keep_color=False,
        microthread_of_queue=False, operation_priority=False, default_priority="low",
        main_thread_priority="low", timing=_UNTIMED,
    )  # fmt: skip
