"""The ids of tasks: those of data tasks follow from colors or queues, local ones are chosen."""

from __future__ import annotations

from collections.abc import Mapping

from ...analysis.numbering import number
from ...diagnostics.errors import Mistakes
from ...dialects import wse
from ...targets.model import Target
from .emission import refusal


def number_tasks(pe: wse.PeOp, target: Target, colors: Mapping[str, int], mistakes: Mistakes) -> dict[str, int]:
    """Return the id of each task of a PE program, given the numbers of colors.

    Mistakes are a local task with the id of a data task, and one that gets none, which goes on with 0.
    """
    tasks = [op for op in pe.body.block.ops if isinstance(op, wse.TaskOp)]
    numbers: dict[str, int] = {}
    data_ids: dict[int, str] = {}
    for op in tasks:
        name = op.sym_name.data
        if op.task_kind is wse.TaskKind.CONTROL:
            assert op.id is not None, "verified: a control task has an id"
            numbers[name] = op.id.value.data
        elif op.task_kind is wse.TaskKind.DATA:
            ids = _data_task_ids(op, pe, target, colors)
            data_ids |= dict.fromkeys(ids, name)
            # A queue whose color differs from PE to PE gives its task as many ids; flow keeps the first.
            numbers[name] = ids[0]
    local = [op for op in tasks if op.task_kind is wse.TaskKind.LOCAL]
    avoid = {*data_ids, *target.reserved_local_task_ids}
    for op in local:
        if op.id is not None and (other := data_ids.get(op.id.value.data)) is not None:
            message = (
                f"local task @{op.sym_name.data} has id {op.id.value.data}, which data task @{other} has by its "
                f"{'color' if target.data_tasks_by_color else 'queue'}; give one another id"
            )
            mistakes.add(refusal(op, message))
    wanted = {op.sym_name.data: None if op.id is None else op.id.value.data for op in local}
    numbers |= number(wanted, target.local_task_ids, avoid)
    without = [op for op in local if op.sym_name.data not in numbers]
    if without:
        available = len([id for id in target.local_task_ids if id not in avoid])
        message = (
            f"local task @{without[0].sym_name.data} gets no id: @{pe.sym_name.data} has {len(local)} local "
            f"tasks, and {available} ids are free on {target.name}; merge tasks that "
            "never wait for each other"
        )
        mistakes.add(refusal(without[0], message))
    return numbers | {op.sym_name.data: 0 for op in without}


def _data_task_ids(task: wse.TaskOp, pe: wse.PeOp, target: Target, colors: Mapping[str, int]) -> list[int]:
    """Return the numbers of data tasks: on WSE-2 that of the color, on WSE-3 that of the queue."""
    assert task.queue is not None, "verified: a data task has a queue"
    name = task.queue.string_value()
    queue = next(op for op in pe.body.block.ops if isinstance(op, wse.InputQueueOp) and op.sym_name.data == name)
    if target.data_tasks_by_color:
        return [colors[entry.color_name] for entry in queue.colors]
    return [queue_id(queue)]


def queue_id(queue: wse.QueueOp) -> int:
    """Return the id of a queue; raise LoomError if it has none."""
    if queue.queue_id is None:
        raise refusal(queue, f"queue @{queue.sym_name.data} has no id; run dsd-assign-queues before lower-to-flow")
    return queue.queue_id
