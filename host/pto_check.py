"""Static checks of PTO programs: `check` reports their findings, `slots_of` the numbers of slots of their pipes.

Knows the passes from the text to addresses; runs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, get_args

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.utils.exceptions import DiagnosticException

from ..analysis.event_graph import SlotTradeoff
from ..analysis.pto.dry_run.timing import times_of
from ..analysis.pto.local_memory import called
from ..analysis.pto.rings import programs_of, rings_of
from ..analysis.pto.schedules import kernel_of
from ..checks.pto.registry import find_hazards, find_in_trace
from ..diagnostics.errors import LoomError, LoomErrors
from ..diagnostics.findings import Finding
from ..diagnostics.locations import location_of
from ..diagnostics.nesting import deep_nesting
from ..diagnostics.records import record
from ..dialects import context
from ..dialects.pto.frontend_pipes import OpenPipeOp
from ..dialects.pto.internal_pipes import InitializeL2G2LPipeOp, InitializeL2LPipeOp
from ..dialects.pto.kernels import Architecture, architecture_of, kernel_kind
from ..dialects.pto.memory import constant_value
from ..dialects.pto.module_rules import verify_program
from ..dialects.pto.tile_rules.tiles import without_tile_rules
from ..dialects.pto.vmi_stages import check_uses
from ..dialects.traversal import walk
from ..dialects.verification import located, verify
from ..operations.pipe_protocol import Behavior
from ..passes import get_all_passes
from ..passes.pto_bind_launch_arguments import bind_launch_arguments
from ..passes.pto_infer_kernel_kinds import infer_kernel_kinds
from ..passes.pto_infer_slots import tradeoffs_of_pipe
from ..targets.chips import COSTS
from .pto_dry_run import rings_opened_at, trace_of
from .pto_sources import KernelText, Source, read_source

MAX_CHECKED_STEPS = 6_000
"""Steps of a dry run, after which what may go wrong is left to a run."""

FRONT_END = (
    "pto-infer-kernel-kinds",
    "pto-bind-launch-arguments",
    "pto-assign-default-frontend-pipe-id",
    "pto-infer-slots",
    "pto-lower-frontend-pipe-ops",
    "pto-infer-validate-pipe-init",
    "pto-resolve-buffer-select",
    "pto-place-tiles",
    "pto-place-reserved-buffers",
    "pto-resolve-reserved-buffers",
)
"""The passes from the text of users to pipes with flags and buffers with addresses."""


PLACED = "pto-place-reserved-buffers"
"""The pass of these after which tiles and buffers have addresses, and pipes still name their buffers."""

LEVELS = (1, 2, 3)
"""The build levels of PTOAS."""

REJECTED = "rejected"
"""The code of findings of the parser, the verifier and the passes."""


def parse_kernels(source: Source) -> ModuleOp:
    """Return the program of a source, or a module; raises LoomError if it cannot be read or has no kernel."""
    if isinstance(source, ModuleOp):
        module, name = source, None
    else:
        text = read_source(source)
        module, name = text.parse(), text.name
    operations = list(walk(module))
    verify_program(operations)
    for op in operations:
        if isinstance(op, FuncOp):
            architecture_of(op)  # raises LoomError for the name of no chip
    _verify_control(module)
    kernels = any(op.name.startswith("pto.") or (isinstance(op, FuncOp) and kernel_kind(op)) for op in operations)
    if not kernels:
        raise LoomError(
            "there is no kernel; write a func.func with operations on tiles, with pto.kernel_kind = "
            "#pto.kernel_kind<cube> or <vector>, or with pto.section.cube and pto.section.vector",
            name,
        )
    return module


@deep_nesting()
def check(source: Source, arch: Behavior | None = None, *, level: int | None = None) -> list[Finding]:
    """Return the findings that the text of a program decides, in the order of the text.

    Without `arch` it is checked for the chip its module names, or else for every chip it is written for: one with
    slots in global memory for those of both where it is not rejected, another for a5. What is true of only one of
    several chips says so. A `source` that does not parse, verify or pass the compiler's checks is itself a finding,
    `rejected`, as is each of several mistakes, and there are no others, unless it is an operation on tiles that no chip
    has. `level` is the build level of PTOAS: 1 and 2 choose all addresses, 3 takes them from the text; without it, a
    program has to be right on one of them. Raises LoomError for a file that cannot be read, and for an unknown `arch`
    or `level`.
    """
    if arch is not None:
        check_behavior(arch)
    if level is not None and level not in LEVELS:
        raise LoomError(f"level is {level!r}; use 1, 2 or 3")
    read = source if isinstance(source, ModuleOp) else read_source(source)
    name = read.name if isinstance(read, KernelText) else None
    try:
        module = parse_kernels(read)
    except LoomError as error:
        return _rejected(error, name)
    archs: list[Behavior] = [arch] if arch is not None else [*chips_of(module)]
    by_arch: dict[Behavior, list[Finding]] = {
        # The last one may change a module that nobody else has.
        one: _findings(module if one == archs[-1] and module is not source else module.clone(), one, name, level)
        for one in archs
    }
    # A program that names no chip is for those whose compilers take it.
    taken: dict[Behavior, list[Finding]] = {
        one: found for one, found in by_arch.items() if all(finding.code != REJECTED for finding in found)
    }
    merged: dict[Finding, list[Behavior]] = {}
    for one, findings in (taken or by_arch).items():
        for finding in findings:
            merged.setdefault(finding, []).append(one)
    count = len(taken or by_arch)
    return sorted(
        (finding if len(of) == count else replace(finding, arch=of[0]) for finding, of in merged.items()),
        key=_position,
    )


def _position(finding: Finding) -> tuple[int, int]:
    """Return line and column of a finding; those without come first."""
    parts = (finding.location or "").rsplit(":", 2)
    return (int(parts[1]), int(parts[2])) if len(parts) == 3 and parts[1].isdigit() and parts[2].isdigit() else (0, 0)


def check_behavior(arch: object) -> None:
    """Raise LoomError for an unknown behavior of pipes."""
    if arch not in get_args(Behavior):
        raise LoomError(f"arch is {arch!r}; use one of {', '.join(get_args(Behavior))}")


@record
class PipeSlots:
    """A pipe with its number of slots, and the cost and effect of this and other numbers; empty if unknown."""

    label: str
    location: str | None
    slots: int
    tradeoffs: list[SlotTradeoff]
    cycles: dict[int, tuple[int, int]] = field(default_factory=dict[int, "tuple[int, int]"])
    """For numbers of slots, the estimated cycles of the program, and those its cores wait for each other."""


@deep_nesting()
def slots_of(source: Source, arch: Behavior | None = None) -> list[PipeSlots]:
    """Return the cost and effect of numbers of slots of each pipe; without `arch`, on the program's first chip.

    It is known of pipes with one kernel at each end whose schedules follow from constants. Raises LoomError for a
    program that is not right.
    """
    if arch is not None:
        check_behavior(arch)
    module = parse_kernels(source).clone()
    infer_kernel_kinds(module)
    bind_launch_arguments(module)
    verify(module)
    behavior = arch or chip_of(module)
    kernels = [kernel_of(op, behavior) for op in walk(module) if isinstance(op, FuncOp)]
    found: list[PipeSlots] = []
    for program in programs_of(kernels, rings_of(kernels)):
        for names in program.pipes():
            pipe = program.rings[names[0]].pipe
            tradeoffs = tradeoffs_of_pipe(program, names) if program.exact else []
            cycles = _cycles(module, behavior, location_of(pipe), [row.slots for row in tradeoffs if row.is_safe])
            found.append(PipeSlots(" and ".join(names), location_of(pipe), pipe.depth, tradeoffs, cycles))
    return found


def _cycles(
    module: ModuleOp, behavior: Behavior, location: str | None, slots: Sequence[int]
) -> dict[int, tuple[int, int]]:
    """Return the estimated cycles of one block, and those its cores wait, for numbers of slots of a pipe.

    Numbers for which that depends on an argument are left out.
    """
    chip = behavior if behavior != "ideal" else chip_of(module)
    found: dict[int, tuple[int, int]] = {}

    def run_dry(placed: ModuleOp) -> None:
        rings = rings_opened_at(placed, behavior, chip, location)
        for count in slots:
            depths = dict.fromkeys(rings, count)
            trace = trace_of(placed, behavior, chip, {}, max_steps=MAX_CHECKED_STEPS, depths=depths)
            if trace.complete and rings:
                times = times_of(trace, COSTS[chip], chip)
                found[count] = times.cycles, times.waited

    if slots:
        prepare(module.clone(), chip, verify_each=False, placed=run_dry)
    return found


def chips_of(module: ModuleOp) -> list[Architecture]:
    """Return the chips a module is for: the one it names, or those on which its pipes have slots."""
    chips: list[Architecture] = ["a2a3", "a5"]
    operations = list(walk(module))
    stated = {chip for op in operations if isinstance(op, FuncOp) and (chip := architecture_of(op)) is not None}
    if stated:
        return [chip for chip in chips if chip in stated]
    opened = [op for op in operations if isinstance(op, OpenPipeOp)]
    if any(isinstance(op, InitializeL2LPipeOp) for op in operations) or any(
        op.gm_slot_buffer is None and op.gm_slot_tensor is None for op in opened
    ):
        return ["a5"]
    if any(op.local_slot_num is not None for op in opened) or any(
        isinstance(op, InitializeL2G2LPipeOp) and op.local_addr is not None for op in operations
    ):
        return ["a2a3"]
    return chips


def chip_of(module: ModuleOp) -> Architecture:
    """Return the chip that a module is compiled for where none is chosen: of those it may be for, one that takes it."""
    first, *others = chips_of(module)
    for chip in (first, *others) if others else ():
        tried = module.clone()
        set_target_arch(tried, chip)
        try:
            verify(tried)
        except LoomError:
            continue
        return chip
    return first


def _findings(module: ModuleOp, arch: Behavior, name: str | None, level: int | None) -> list[Finding]:
    """Return the findings about a module, which becomes one with addresses, on a chip.

    Ideal pipes have their slots in the memory the module's own chip uses.
    """
    chip = arch if arch != "ideal" else chip_of(module)
    try:
        infer_kernel_kinds(module)
        bind_launch_arguments(module)
        set_target_arch(module, chip)
        found = _of_tiles(module, name)
        check_uses(module)
        _check_vectors(module)
        found += find_hazards(module, arch, level)
    except LoomError as error:
        return _rejected(error, name)

    def run_dry(placed: ModuleOp) -> None:
        # How many blocks there are is known to a run alone.
        trace = trace_of(placed, arch, chip, {}, max_steps=MAX_CHECKED_STEPS)
        known = {(finding.code, finding.location) for finding in found}
        found.extend(
            finding for finding in find_in_trace(placed, trace) if (finding.code, finding.location) not in known
        )

    is_right = not found or found[0].code != REJECTED
    try:
        prepare(module, chip, verify_each=False, verified=True, placed=run_dry)
    except LoomError as error:
        if is_right:
            found += _rejected(error, name)
    return found


def _check_vectors(module: ModuleOp) -> None:
    """Raise LoomError where vectors of any length get no layouts, or do not become instructions on registers."""
    if any(op.name.startswith("pto.vmi.") for op in walk(module)):
        from .pto_vectors import check_vectors  # few programs need it, and what it imports

        check_vectors(module)


def _of_tiles(module: ModuleOp, name: str | None) -> list[Finding]:
    """Verify a module; return what is wrong with an operation on tiles alone, beside which the rest can be looked at.

    Raises LoomError for anything else that is wrong.
    """
    try:
        verify(module)
    except LoomError as error:
        try:
            with without_tile_rules():
                verify(module)
        except LoomError:
            raise error from None  # which has what this one has, too
        return _rejected(error, name)
    return []


def set_target_arch(module: ModuleOp, chip: Architecture) -> None:
    """Set the chip that a module names."""
    for op in walk(module):
        if isinstance(op, ModuleOp):
            op.attributes.pop("pto.device-spec", None)
            op.attributes.pop("pto.target_arch", None)
    module.attributes["pto.target_arch"] = StringAttr(chip)


def prepare(
    module: ModuleOp,
    chip: Architecture,
    lower: Mapping[str, Any] | None = None,
    *,
    verify_each: bool = True,
    verified: bool = False,
    placed: Callable[[ModuleOp], None] | None = None,
) -> None:
    """Run the compiler's passes on a module, for `chip`; raises LoomError where one rejects it.

    With `lower`, the options of that pass, it becomes a program of `flow`. Without `verify_each` only what comes in
    and that program are verified; what comes in is not if it is `verified` already. `placed` is called with the module
    once tiles and buffers have addresses.
    """
    set_target_arch(module, chip)
    if not verified:
        verify(module)
        _verify_control(module)
    passes = get_all_passes()
    chosen: list[tuple[str, Mapping[str, Any]]] = [(name, {}) for name in FRONT_END if name in passes]
    if lower is not None:
        chosen.append(("lower-pto-to-flow", lower))
    for name, options in chosen:
        try:
            passes[name]()(**options).apply(context(), module)
        except DiagnosticException as error:
            raise located(error) from None
        if verify_each or (lower is not None and name == chosen[-1][0]):
            verify(module)
        if placed is not None and name == PLACED:
            placed(module)


def _verify_control(module: ModuleOp) -> None:
    """Raise LoomError for what verifies although no compiler takes it: loops without end, recursion and the like."""
    for op in walk(module):
        # xDSL takes an index of any size.
        value = constant_value(op.result) if isinstance(op, arith.ConstantOp) else None
        if value is not None and not -(1 << 63) <= value < 1 << 63:
            raise LoomError(f"{value} does not fit in the 64 bits of an index", location_of(op))
        # Nor does it compare what the branches of an scf.if yield with its results.
        for region in op.regions if isinstance(op, scf.IfOp) else ():
            last = region.blocks[0].last_op if region.blocks else None
            given = last.operand_types if isinstance(last, scf.YieldOp) else ()
            if tuple(given) != tuple(op.result_types):
                raise LoomError(
                    f"a branch of scf.if yields {len(given)} values for {len(op.results)} results, or of other types; "
                    "yield one for each",
                    (last and location_of(last)) or location_of(op),
                )
        step = constant_value(op.step) if isinstance(op, scf.ForOp) else None
        if step is not None and step < 1:
            raise LoomError(f"the loop has step {step} and would never end; use a step above 0", location_of(op))
    _refuse_recursion(module)


def _refuse_recursion(module: ModuleOp) -> None:
    """Raise LoomError for direct or indirect recursion: a core has no stack."""
    calls = [
        (caller, callee, op)
        for caller in walk(module)
        if isinstance(caller, FuncOp)
        for op in walk(caller)
        if isinstance(op, CallOp) and (callee := called(op)) is not None
    ]
    if not calls:
        return
    import networkx as nx  # it takes long to import, and many programs call nothing

    graph: nx.DiGraph[FuncOp] = nx.DiGraph()
    graph.add_edges_from((caller, callee) for caller, callee, _ in calls)
    for caller, callee, op in calls:
        if nx.has_path(graph, callee, caller):
            raise LoomError(
                f"@{caller.sym_name.data} calls itself by this call of @{callee.sym_name.data}; write a loop instead",
                location_of(op),
            )


def _rejected(error: LoomError, name: str | None) -> list[Finding]:
    """Return the findings for an error, or for each of several, located at least by the `name` of its file."""
    errors = error.errors if isinstance(error, LoomErrors) else [error]
    return [Finding("error", REJECTED, each.message, each.location or name) for each in errors]
