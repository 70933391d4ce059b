"""The second-generation wafer.

Sources, named at each number: the CSL language reference (task IDs, queues), a published model of this machine
(timing), or an assumption of ours where neither says anything; override those with `dataclasses.replace`. What the
documents say of both machines, or of the successor only, is taken from `wse3`, and is listed at the end.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from . import wse3

TIMING = replace(
    wse3.TIMING,
    # Near-Optimal Wafer-Scale Reduce, HPDC 2024 (arXiv 2404.15888): its model, with less than 4 % error on the machine,
    # has one cycle a hop, two between processor and router each way, one more for each PE that passes on what it
    # computes of what comes, and nothing where a route turns.
    hop=1,
    link_words=2,  # assumed: twice the hop, as of wse3
    turn=0,
    inject=2,
    forward=1,
    ramp=2,
    read_words=4,  # CSL language reference, appendix on SIMD mode: copies of 4 f16 or 2 f32 a cycle
    half_lanes=4,  # CSL language reference, appendix on SIMD mode
    # Fitted to 25 published star stencils of radius 1 (docs/costs.md), 0.95 cycles a sum. The appendix on SIMD mode of
    # the CSL language reference says two a cycle.
    single_lanes=1,
    # As on the successor. The same appendix says one a cycle.
    single_multiply=Fraction(3, 2),
    register_setup=0,  # fitted to the published plain star stencils, 16 cycles for six operations and a loop
    # Borrowed, because measured or fitted on the successor only: all others.
)

TARGET = replace(
    wse3.TARGET,
    name="wse2",
    fabric=(757, 996),  # CSL compiler documentation
    switch_colors=tuple(range(24)),  # CSL language reference, @set_color_config: all of them
    switch_changes_both_ways=False,  # CSL language reference, @set_color_config
    filters=6,  # release notes of SDK 1.4
    local_task_ids=range(31),  # CSL language reference: shared with the routable colors of data tasks
    input_queue_words=(6, 6, 4, 4, 2, 2, 2, 2),  # DSD documentation
    output_queue_words=(2, 2, 6, 6, 2, 2),  # DSD documentation
    fifo_actions=False,  # DSD documentation
    max_fabric_inputs=2,  # DSD documentation
    data_tasks_by_color=True,  # CSL language reference, task IDs
    queues_keep_color=False,  # DSD documentation
    microthread_of_queue=True,  # DSD documentation
    operation_priority=True,  # DSD documentation
    default_priority="low",  # DSD documentation
    memcpy=replace(
        wse3.TARGET.memcpy,
        local_task_ids=(21, 22, 23, 27, 28, 29, 30),  # task ids are shared with colors
        input_queues=(0,),  # SDK documentation, host runtime and tensor streaming
    ),
    registers=replace(wse3.TARGET.registers, colors=0x7F20, positions=(), queue_priorities=range(0x7F58, 0x7F60)),
    timing=TIMING,
    # The documents say the same of both machines: memory_bytes, routable_colors, reserved_local_task_ids and
    # control_task_ids. Assumed for both alike: microthreads, dsr_dest, dsr_src0, dsr_src1, xdsrs, srs, fifos and
    # fifo_alignment.
)
