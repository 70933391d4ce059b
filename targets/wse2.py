"""The second-generation wafer.

Sources, named at each number: the CSL language reference (task IDs, queues), or an assumption of ours where it says
nothing; override those with `dataclasses.replace`. No timing was published for it, so it borrows the successor's.
"""

from __future__ import annotations

from dataclasses import replace

from . import wse3

TARGET = replace(
    wse3.TARGET,
    name="wse2",
    fabric=(757, 996),  # CSL compiler documentation
    switch_colors=tuple(range(24)),  # CSL language reference, @set_color_config: all of them
    switch_changes_both_ways=False,  # CSL language reference, @set_color_config
    local_task_ids=range(31),  # CSL language reference: shared with the routable colors of data tasks
    input_queue_words=(6, 6, 4, 4, 2, 2, 2, 2),  # DSD documentation
    output_queue_words=(2, 2, 6, 6, 2, 2),  # DSD documentation
    fifo_actions=False,  # DSD documentation
    max_fabric_inputs=2,  # DSD documentation
    data_tasks_by_color=True,  # CSL language reference, task IDs
    queues_keep_color=False,  # DSD documentation
    microthread_of_queue=True,  # DSD documentation
    operation_priority=True,  # DSD documentation
    memcpy=replace(
        wse3.TARGET.memcpy,
        local_task_ids=(21, 22, 23, 27, 28, 29, 30),  # task ids are shared with colors
        input_queues=(0,),  # SDK documentation, host runtime and tensor streaming
    ),
)
