"""CSL files of a `wse.program`: one file for each `wse.pe`, and the layout; ids are chosen where none are given."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

from ... import targets
from ...analysis.numbering import number
from ...csl import syntax
from ...csl.printer import print_file
from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...diagnostics.nesting import deep_nesting
from ...dialects import dsd, flow, wse
from ...dialects.machine.rules import rectangle_problem
from ...dialects.machine.sharing import unshare
from ...passes.dsd_assign_queues import DsdAssignQueuesPass
from ...targets import Target
from .layout import IDLE_FILE, Layout, PrintedPe
from .names import Names, file_name_problem
from .pe_program import PeProgram
from .types import refuse

LAYOUT_FILE = "layout.csl"


@deep_nesting()
def source_of(module: ModuleOp) -> dict[str, str]:
    """Return the text of each file of the program in `module`, the layout first; the module is not changed.

    Raises LoomError, naming the operation, at the first that CSL cannot express.
    """
    return {name: print_file(file) for name, file in files_of(module).items()}


def files_of(module: ModuleOp) -> dict[str, syntax.File]:
    """Return the tree of each file, like `source_of`."""
    _check_one_program(module)
    (program,) = (op for op in module.body.block.ops if isinstance(op, wse.ProgramOp))
    target = targets.get(program.target.data)
    if (problem := rectangle_problem(*program.rectangle, target)) is not None:
        raise refuse(program, problem)
    program = _with_queues(module)
    _keep_clear_of_memcpy(program, target)
    colors = _number_colors(program, target)
    files = Names()
    files.reserve(["layout", "idle"])
    pes = [PeProgram(pe, target, _number_tasks(pe, target, colors)) for pe in program.pes]
    printed = [PrintedPe(pe.pe, _file_name(pe.pe, files), pe.write()) for pe in pes]
    layout = Layout(program, printed, colors, _spare(program, target, colors))
    if all(pe.command_stream is None for pe in pes):
        layout.answer_every_launch()
    layout.fill()
    result = {LAYOUT_FILE: layout.file()}
    result.update((pe.file_name, pe.printed.file()) for pe in layout.pes)
    if (idle := layout.idle_file()) is not None:
        result[IDLE_FILE] = idle
    return result


def _file_name(pe: wse.PeOp, files: Names) -> str:
    name = f"{files.new(pe.sym_name.data, 'pe')}.csl"
    problem = file_name_problem(name)
    if problem is not None:
        raise refuse(pe, f"@{pe.sym_name.data} cannot be a file, as its name {problem}; rename it")
    return name


def _check_one_program(module: ModuleOp) -> None:
    found = 0
    for op in module.body.block.ops:
        if isinstance(op, flow.FabricOp):
            raise refuse(op, "flow.fabric cannot be written in CSL; print the program before lower-to-flow")
        if not isinstance(op, wse.ProgramOp):
            raise refuse(op, f"{op.name} beside a wse.program cannot be written in CSL; remove it")
        found += 1
        if found > 1:
            raise refuse(op, "the module holds several programs, and CSL has one layout; keep one wse.program")
    if not found:
        raise LoomError("the module holds no wse.program, so there is nothing to write in CSL", location_of(module))


def _with_queues(module: ModuleOp) -> wse.ProgramOp:
    """Return a copy of the program in which every fabric descriptor has a queue, and every queue an id."""
    copy = module.clone()
    (program,) = (op for op in copy.body.block.ops if isinstance(op, wse.ProgramOp))
    unshare(program)  # Each file has all of its code.
    open_queues = {
        op
        for op in program.walk()
        if (isinstance(op, wse.QueueOp) and op.id is None)
        or (isinstance(op, dsd.FabricDescriptorOp) and op.queue is None)
    }
    if open_queues:
        given = {op for op in program.walk() if isinstance(op, wse.QueueOp) and op.id is not None}
        DsdAssignQueuesPass().apply(Context(), copy)
        for op in program.walk():
            if isinstance(op, wse.QueueOp) and op not in given:
                op.attributes[_CHOSEN] = IntegerAttr(1, i64)
    return program


_CHOSEN = "csl.chosen_id"


def _keep_clear_of_memcpy(program: wse.ProgramOp, target: Target) -> None:
    """Replace queue ids that we chose and that the memcpy library uses by unused ids, while there are any.

    On WSE-2 a queue is also a microthread, so an id of an input and of an output queue changes together. On WSE-3 it is
    by default, so that an id is given to a queue only if no other of either kind has it.
    """
    for pe in program.pes:
        queues = [op for op in pe.body.block.ops if isinstance(op, wse.QueueOp)]
        ways = [wse.InputQueueOp, wse.OutputQueueOp]
        groups = [ways] if target.microthread_of_queue else [[way] for way in ways]
        for group in groups:
            members = [op for op in queues if isinstance(op, tuple(group))]
            kept = {id for way in group for id in _kept_queues(way, target)}
            used = {op.queue_id for op in queues}
            fixed = {op.queue_id for op in members if _CHOSEN not in op.attributes}
            for old in sorted(kept):
                holders = [op for op in members if op.queue_id == old]
                if not holders or old in fixed:
                    continue
                lengths = [len(op.queue_words(target)) for op in holders]
                free = [new for new in range(min(lengths)) if new not in used and new not in kept]
                if free:
                    used.add(free[-1])
                    for op in holders:
                        op.id = IntegerAttr(free[-1], i64)
        for op in queues:
            op.attributes.pop(_CHOSEN, None)


def _kept_queues(way: type[wse.QueueOp], target: Target) -> tuple[int, ...]:
    return target.memcpy.input_queues if way is wse.InputQueueOp else target.memcpy.output_queues


def _kept(what: str, number: int | None) -> str:
    return f"{what} {number}, which the memcpy library of the printed program reserves; choose another"


def _number_colors(program: wse.ProgramOp, target: Target) -> dict[str, int]:
    colors = [op for op in program.body.block.ops if isinstance(op, wse.ColorOp)]
    wanted = {op.sym_name.data: None if op.id is None else op.id.value.data for op in colors}
    for op in colors:
        if wanted[op.sym_name.data] in target.memcpy.colors:
            raise refuse(op, f"color @{op.sym_name.data} has {_kept('id', wanted[op.sym_name.data])}")
    avoid = set(target.memcpy.colors)
    if target.data_tasks_by_color:
        avoid |= {
            op.task_id
            for pe in program.pes
            for op in pe.body.block.ops
            if isinstance(op, wse.TaskOp) and op.task_kind is wse.TaskKind.LOCAL and op.task_id is not None
        }
    numbers = number(wanted, range(target.routable_colors), avoid)
    for op in colors:
        if op.sym_name.data not in numbers:
            raise refuse(
                op,
                f"color @{op.sym_name.data} gets no id: {target.name} routes {target.routable_colors} colors, of which "
                f"the memcpy library keeps {len(target.memcpy.colors)}; let parts that are far apart share a color",
            )
    return numbers


def _spare(program: wse.ProgramOp, target: Target, colors: Mapping[str, int]) -> list[int]:
    """Return the colors that the program does not use."""
    taken = {*colors.values(), *target.memcpy.colors}
    return [color for color in range(target.routable_colors) if color not in taken]


def _number_tasks(pe: wse.PeOp, target: Target, colors: Mapping[str, int]) -> dict[str, int]:
    """Return an id for each local task."""
    for op in pe.body.block.ops:
        kept = {
            wse.TaskKind.LOCAL: target.memcpy.local_task_ids,
            wse.TaskKind.CONTROL: target.memcpy.control_task_ids,
        }
        if isinstance(op, wse.TaskOp) and op.task_id is not None and op.task_id in kept.get(op.task_kind, ()):
            raise refuse(op, f"{op.task_kind.value} task @{op.sym_name.data} has {_kept('id', op.task_id)}")
    tasks = [op for op in pe.body.block.ops if isinstance(op, wse.TaskOp) and op.task_kind is wse.TaskKind.LOCAL]
    wanted = {op.sym_name.data: op.task_id for op in tasks}
    avoid = {*target.reserved_local_task_ids, *target.memcpy.local_task_ids}
    if target.data_tasks_by_color:
        avoid |= set(colors.values())
    numbers = number(wanted, target.local_task_ids, avoid)
    for op in tasks:
        if op.sym_name.data not in numbers:
            raise refuse(
                op,
                f"local task @{op.sym_name.data} gets no id: @{pe.sym_name.data} has {len(tasks)} local tasks, and "
                f"{target.name} with the memcpy library leaves "
                f"{len([id for id in target.local_task_ids if id not in avoid])} ids; join tasks that never wait for "
                "each other",
            )
    return numbers
