"""Pass `pto-infer-kernel-kinds`: the core of functions that name none, from the memories their operations use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass

from ..analysis.pto.local_memory import called
from ..diagnostics.errors import LoomError
from ..diagnostics.locations import location_of
from ..dialects.pto.attributes import AddressSpace, KernelKind, KernelKindAttr
from ..dialects.pto.frontend_pipes import FrontendOperation
from ..dialects.pto.instruction_operation import InstructionOp
from ..dialects.pto.internal_pipes import BoundPipeOp, InitializePipeOp
from ..dialects.pto.kernels import SectionCubeOp, SectionOp, SectionVectorOp, kernel_kind
from ..dialects.pto.rules import word_of
from ..dialects.pto.tiles import is_product
from ..dialects.pto.types import TileBufType
from ..dialects.traversal import walk

_OF_KNOWN_CORES = (SectionOp, FrontendOperation, BoundPipeOp, InitializePipeOp)
"""Operations that belong in functions whose cores are written."""


@dataclass(frozen=True)
class PtoInferKernelKindsPass(ModulePass):
    """Gives functions that name no core that of their operations, `pto.kernel_kind`, as kernels of PTOAS's Python DSL
    need it. A function with operations for both kinds of cores gets sections, `pto.section.cube` and
    `pto.section.vector`, around those of the outermost level."""

    name = "pto-infer-kernel-kinds"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        infer_kernel_kinds(op)


def infer_kernel_kinds(module: ModuleOp) -> None:
    """Do what the pass does. Raises LoomError for a function whose operations cannot be told apart."""
    for function in [op for op in walk(module) if isinstance(op, FuncOp) and _names_no_core(op)]:
        _verify_flags(function)
        _verify_nested_sections(function)
    kinds: dict[Operation, frozenset[KernelKind]] = {}
    for function in [op for op in walk(module) if isinstance(op, FuncOp) and _is_open(op)]:
        found = _kinds_in(function, kinds)
        if len(found) == 1:
            function.attributes["pto.kernel_kind"] = KernelKindAttr(next(iter(found)))
        elif found:
            _wrap(function, kinds)


def _names_no_core(function: FuncOp) -> bool:
    return (
        len(function.body.blocks) == 1
        and kernel_kind(function) is None
        and "pto.tileop.helper" not in function.attributes
    )


def _is_open(function: FuncOp) -> bool:
    """Return True if the core of a function is left to its operations. Those on pipes want it named."""
    return _names_no_core(function) and not any(isinstance(op, _OF_KNOWN_CORES) for op in walk(function))


# ---------------------------------------------------------------------------------------------
# Flags and sections
# ---------------------------------------------------------------------------------------------

_CORE_OF_PIPE = {
    **dict.fromkeys(("PIPE_M", "PIPE_MTE1", "PIPE_FIX"), KernelKind.CUBE),
    **dict.fromkeys(("PIPE_V", "PIPE_V2", "PIPE_MTE3"), KernelKind.VECTOR),
}
"""The cores whose pipelines these are; both kinds of cores have the others."""

_PIPE_OF_FLAG = {
    "set_flag": "src_pipe",
    "wait_flag": "dst_pipe",
    **dict.fromkeys(
        (
            "sync.set", "sync.wait", "set_cross_block", "wait_cross_block", "set_intra_block", "wait_intra_block",
        ),
        "pipe",
    ),
}  # fmt: skip
"""The attribute with the pipeline that raises a flag or waits for one."""


def _flag_pipe(op: Operation) -> str | None:
    """Return the pipeline that raises a flag or waits for it; None for other operations."""
    name = _PIPE_OF_FLAG.get(op.row.name) if isinstance(op, InstructionOp) else None
    return word_of(op, name) if isinstance(op, InstructionOp) and name is not None else None


def _outside_of_sections(root: Operation) -> Iterator[Operation]:
    """Yield the operations in `root` that are in no section."""
    for region in root.regions:
        for block in region.blocks:
            for op in block.ops:
                if not isinstance(op, SectionOp):
                    yield op
                    yield from _outside_of_sections(op)


def _verify_flags(function: FuncOp) -> None:
    """Raise LoomError for a flag, in no section, of a pipeline that both kinds of cores have."""
    for op in _outside_of_sections(function):
        pipe = _flag_pipe(op)
        if pipe is not None and pipe not in _CORE_OF_PIPE:
            raise LoomError(
                f"'func.func' op @{function.sym_name.data} contains an uncovered top-level op segment whose section "
                f"kind cannot be inferred uniquely; ambiguous op(s): '{op.name}': both kinds of cores have {pipe}; "
                "wrap the ambiguous region in pto.section.cube or pto.section.vector to specify its physical section "
                "explicitly",
                location_of(op),
            )


def _verify_nested_sections(function: FuncOp) -> None:
    """Raise LoomError for operations on tiles beside a section that is inside of a loop or branch."""
    for op in function.body.block.ops:
        if isinstance(op, SectionOp) or not any(isinstance(inner, SectionOp) for inner in walk(op)):
            continue
        beside = next((each for each in _outside_of_sections(op) if _kind_of(each) is not None), None)
        if beside is not None:
            raise LoomError(
                f"'func.func' op @{function.sym_name.data} still contains an uncovered top-level op segment after "
                "section normalization; a top-level op mixes nested explicit pto.section.* with sibling ops outside "
                f"those sections; first uncovered op segment starts at '{op.name}'; put '{beside.name}' into a section "
                "too",
                location_of(beside),
            )


# ---------------------------------------------------------------------------------------------
# Operations
# ---------------------------------------------------------------------------------------------


def _kind_of(op: Operation) -> KernelKind | None:
    """Return the core of one operation: that of its first tile, where it reads or else where it writes."""
    if op.name.startswith("pto.comm."):
        return KernelKind.VECTOR
    if not op.name.startswith("pto.t"):
        return None
    if is_product(op):
        return KernelKind.CUBE
    for operand in op.operands:
        if isinstance(operand.type, TileBufType):
            return KernelKind.VECTOR if operand.type.location is AddressSpace.VEC else KernelKind.CUBE
    return None


def _kinds_in(op: Operation, known: dict[Operation, frozenset[KernelKind]]) -> frozenset[KernelKind]:
    """Return the cores of all operations inside `op`, and of the functions that they call."""
    if op in known:
        return known[op]
    known[op] = frozenset()  # recursion is refused elsewhere
    found: set[KernelKind] = set()
    for inner in walk(op):
        kind = _kind_of(inner)
        if kind is not None:
            found.add(kind)
        if isinstance(inner, CallOp) and (callee := called(inner)) is not None:
            stated = kernel_kind(callee)
            found |= {stated} if stated is not None else _kinds_in(callee, known)
    known[op] = frozenset(found)
    return known[op]


def _wrap(function: FuncOp, known: dict[Operation, frozenset[KernelKind]]) -> None:
    """Move runs of operations for one core into sections."""
    runs: list[tuple[KernelKind, list[Operation]]] = []
    previous: KernelKind | None = None
    for op in function.body.block.ops:
        kinds = _kinds_in(op, known)
        if len(kinds) > 1:
            raise LoomError(
                f"'func.func' op @{function.sym_name.data} contains an uncovered top-level op segment whose section "
                "kind cannot be inferred uniquely; saw both vector-like and cube-like ops in the same segment; wrap "
                "the ambiguous region in pto.section.cube or pto.section.vector to specify its physical section "
                "explicitly",
                location_of(op),
            )
        kind = next(iter(kinds), _CORE_OF_PIPE.get(_flag_pipe(op) or ""))
        if kind is not None and kind is previous:
            runs[-1][1].append(op)
        elif kind is not None:
            runs.append((kind, [op]))
        previous = kind
    for kind, members in runs:
        _check_results(members)
        body = Block()
        section = (SectionCubeOp if kind is KernelKind.CUBE else SectionVectorOp)(Region(body))
        section.location = members[0].location
        function.body.block.insert_op_before(section, members[0])
        for op in members:
            op.detach()
            body.add_op(op)


def _check_results(members: Sequence[Operation]) -> None:
    """Raise LoomError for a value that the operations of a section compute for those outside of it."""
    inside = set(members)
    for op in members:
        for use in (use for result in op.results for use in result.uses):
            user: Operation | None = use.operation
            while user is not None and user not in inside:
                user = user.parent_op()
            if user is None:
                raise LoomError(
                    f"a result of {op.name}, which runs on one kind of core, is used outside of its section; compute "
                    "it in front of both sections, or write these",
                    location_of(op),
                )
