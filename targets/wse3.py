"""The third-generation wafer.

Sources, named at each number: the CSL language reference (task IDs, queues), figures measured on the machine by
others (timing), or an assumption of ours where neither says anything; override those with `dataclasses.replace`.
"""

from __future__ import annotations

from fractions import Fraction

from .model import MemcpyResources, Target, Timing

# Published measurements on this machine and its simulator, where nothing else is said. "Fitted" prices are those with
# which counted cycles of whole programs come nearest to the cycles that others published for them.
TIMING = Timing(
    hop=2,
    link_words=4,  # assumed: twice the hop, so that a link stays busy while a credit goes round
    turn=33,  # in the vendor's simulator; about 20 were measured on silicon
    inject=7,
    forward=0,  # no figure of its own: part of the others
    ramp=0,  # no figure of its own: part of the others
    task_start=3,
    launch=375,  # fitted, an average
    instruction=1,
    float_latency=2,
    branch_not_taken=3,
    branch_taken=6,
    loop=6,  # fitted: one taken branch
    call=0,  # fitted: the compiler inlines
    recursive_call=6,  # assumed: one taken branch
    access_16=1,  # an instruction
    access_32=1,  # an instruction
    indexed_access_16=2,  # fitted
    indexed_access_32=3,  # fitted
    integer_division_16=1,  # assumed: an instruction; no figure
    integer_division_32=1,  # assumed: an instruction; no figure
    float_division_16=100,  # assumed: as of 32 bits
    float_division_32=100,  # fitted; a comment in the vendor's published programs says about 50
    square_root_16=30,  # assumed: as of 32 bits
    square_root_32=30,  # fitted to published scalar code of f32, a root and a division for each body (docs/costs.md)
    exponential_16=80,  # assumed: as of 32 bits, and so are all below
    exponential_32=80,  # fitted
    logarithm_16=80,
    logarithm_32=80,
    trigonometric_16=80,
    trigonometric_32=80,
    hyperbolic_16=80,
    hyperbolic_32=80,
    power_16=80,
    power_32=80,
    descriptor=1,  # an instruction
    # Fitted to three published runs of an allreduce (docs/costs.md). An operation that loads three takes 15 to 17.
    register_load=5,
    task_control=1,  # an instruction
    timestamp=1,  # an instruction
    memory_setup=16,  # measured between 15 and 17
    # Fitted to published ways of one wavelet (docs/costs.md): it loads two descriptors; in memory there are three.
    send_setup=13,
    receive_setup=16,  # measured between 15 and 17
    register_setup=1,  # fitted to published plain star stencils (docs/costs.md): 23 cycles for a loop of six operations
    async_issue=1,
    read_words=8,  # copies: 8 f16 or 4 f32 a cycle
    half_lanes=4,  # f16 add, multiply and multiply-add
    single_lanes=2,  # CSL language reference, appendix on SIMD mode; not measured
    # A published trace of WSE-2 has a cycle for an element, or two where its operands are in one bank of memory, in as
    # many operations of each; one in two cycles was measured by others. Published stencils agree (docs/costs.md).
    single_multiply=Fraction(3, 2),
    reduction=2,
)

TARGET = Target(
    name="wse3",
    fabric=(762, 1172),  # published compile commands for the machine
    memory_bytes=48 * 1024,  # measured: exactly 49,152
    routable_colors=24,  # CSL language reference, task IDs
    switch_colors=(*range(10), 12, 13, 16, 17, 20, 21),  # CSL language reference, @set_color_config
    switch_changes_both_ways=True,  # as published programs for this machine assume
    filters=6,  # assumed: as on wse2
    local_task_ids=range(8, 31),  # CSL language reference: 0 to 7 belong to the input queues' data tasks
    reserved_local_task_ids=(29, 30),  # CSL language reference
    control_task_ids=range(64),  # CSL language reference
    input_queue_words=(8, 8, 4, 4, 4, 4, 4, 4),  # DSD documentation
    output_queue_words=(8,) * 8,  # DSD documentation
    microthreads=8,  # assumed: one for each queue id
    dsr_dest=16,  # assumed
    dsr_src0=16,  # assumed
    dsr_src1=16,  # assumed
    xdsrs=16,  # assumed: the published 25-point stencil needs 11 at once
    srs=16,  # assumed
    fifos=8,  # assumed
    fifo_alignment=4,  # assumed
    fifo_actions=True,  # DSD documentation
    max_fabric_inputs=1,  # DSD documentation
    data_tasks_by_color=False,  # CSL language reference, task IDs
    queues_keep_color=True,  # DSD documentation
    microthread_of_queue=False,  # DSD documentation
    operation_priority=False,  # DSD documentation
    default_priority="high",  # DSD documentation
    main_thread_priority="medium_low",  # DSD documentation
    timing=TIMING,
    memcpy=MemcpyResources(
        # SDK documentation, host runtime and tensor streaming.
        colors=(21, 22, 23),
        local_task_ids=(27, 28, 29, 30),  # 29 is the system's
        control_task_ids=(33, 34, 35, 36, 37),
        input_queues=(0, 1),
        output_queues=(0,),
        microthreads=(0,),
        # SDK release notes, 0.9.0.
        dsr_dest=(0,),
        dsr_src1=(0,),
    ),
    message_colors=(14, 15, 16, 17, 18),  # CSL language reference, libraries of WSE-3
)
