"""Pass `pto-infer-kernel-kinds`: the core of functions that name none, from the memories their operations use."""

from __future__ import annotations

from collections.abc import Sequence
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
from ..dialects.pto.internal_pipes import BoundPipeOp, InitializePipeOp
from ..dialects.pto.kernels import SectionCubeOp, SectionOp, SectionVectorOp, is_tile_helper, kernel_kind
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
    kinds: dict[Operation, frozenset[KernelKind]] = {}
    for function in [op for op in walk(module) if isinstance(op, FuncOp) and _is_open(op)]:
        found = _kinds_in(function, kinds)
        if len(found) == 1:
            function.attributes["pto.kernel_kind"] = KernelKindAttr(next(iter(found)))
        elif found:
            _wrap(function, kinds)


def _is_open(function: FuncOp) -> bool:
    """Return True if the core of a function is left to its operations. Those on pipes want it named."""
    return (
        len(function.body.blocks) == 1
        and kernel_kind(function) is None
        and not is_tile_helper(function)
        and not any(isinstance(op, _OF_KNOWN_CORES) for op in walk(function))
    )


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
        kind = next(iter(kinds), None)
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
