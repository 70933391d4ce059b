"""Pass `pto-lower-frontend-pipe-ops`: lower front-end pipes, named by ids, to pipes that are SSA values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i1, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl.dominance import DominanceInfo
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ..analysis.pto.pipe_ends import refusal
from ..diagnostics.locations import as_written
from ..dialects.pto.buffers import reservation_of
from ..dialects.pto.frontend_pipes import (
    AicInitializePipeOp,
    AllocSlotOp,
    FreeOp,
    OpenPipeOp,
    PipeUseOp,
    PopOp,
    PushOp,
    TPopFromAicOp,
    TPopSignalFromAivOp,
    TPushSignalToAicOp,
    TPushToAicOp,
)
from ..dialects.pto.internal_pipes import (
    FRONTEND_ID,
    InitializeL2G2LPipeOp,
    InitializeL2LPipeOp,
    InitializePipeOp,
    TAllocOp,
    TFreeOp,
    TPopOp,
    TPopSignalOp,
    TPushOp,
    TPushSignalOp,
    peer_attributes,
)
from ..dialects.pto.kernels import Architecture, architecture_of, function_of
from ..dialects.pto.memory import DeclareGlobalOp, DeclareTileOp, SetValidShapeOp
from ..dialects.pto.types import PipeType, TensorViewType
from ..dialects.traversal import walk
from ..operations import pipe_protocol


@dataclass(frozen=True)
class PtoLowerFrontendPipeOpsPass(ModulePass):
    """Makes of every pipe a kernel opens a value, and of operations on its number operations on that value.

    On a5 slots are in the consumer's memory (`pto.initialize_l2l_pipe`), on a2 and a3 in global memory
    (`pto.initialize_l2g2l_pipe`, which needs a `gm_slot_buffer`); so do slots that are tensors on all chips. A pipe of
    both directions stays one. What the kernel left open is filled in: `slot_num` is 8, or 4 for each of two
    directions, and `local_slot_num` is `slot_num`. A pop becomes the declaration of its tile or tensor and a
    `pto.tpop` that binds it to the slot (PTO-009, PTO-011); control signals stay values (PTO-021).

    `arch` is the chip if the module names none.
    """

    name = "pto-lower-frontend-pipe-ops"

    arch: Literal["a2a3", "a5"] = "a2a3"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [inner for inner in walk(op) if isinstance(inner, FuncOp)]:
            _Lowering(function, architecture_of(function) or self.arch).run()


class _Lowering:
    """The pipes of one function."""

    def __init__(self, function: FuncOp, chip: Architecture):
        self._function = function
        self._chip: Architecture = chip
        self._pipes: dict[int, InitializePipeOp] = {}
        self._dominance: dict[Region, DominanceInfo] = {}

    def run(self) -> None:
        inside = [op for op in walk(self._function) if isinstance(op, OpenPipeOp | PipeUseOp)]
        opened = [op for op in inside if isinstance(op, OpenPipeOp)]
        self._check(opened)
        for op in opened:
            pipe = self._pipe(op)
            pipe.location = op.location
            Rewriter.replace_op(op, pipe, [])
            self._pipes[op.pipe_id] = pipe
        order = {op: place for place, op in enumerate(walk(self._function))}
        for op in inside:
            if isinstance(op, PipeUseOp):
                self._replace(op, self._pipe_of(op, order))

    def _check(self, opened: list[OpenPipeOp]) -> None:
        numbers: set[int] = set()
        for op in opened:
            if op.pipe_id in numbers:
                raise refusal(
                    op,
                    f"requires unique initialize_pipe id in function (duplicate id = {op.pipe_id}); renumber one",
                )
            numbers.add(op.pipe_id)
        if len({isinstance(op, AicInitializePipeOp) for op in opened}) > 1:
            raise refusal(
                self._function,
                "cannot mix pto.aic_initialize_pipe and pto.aiv_initialize_pipe in one function; write a function "
                "for each core",
            )

    # -----------------------------------------------------------------------------------------
    # Opening
    # -----------------------------------------------------------------------------------------

    def _pipe(self, op: OpenPipeOp) -> InitializePipeOp:
        """Return the internal operation for an operation that opens a pipe."""
        if op.direction == pipe_protocol.BOTH:
            local, peer = op.c2v_consumer_buf, op.v2c_consumer_buf
        else:
            local, peer = op.consumer_buffer(op.direction), None
        properties: dict[str, Attribute] = {
            name: op.properties[name]
            for name in ("dir_mask", "slot_size", "nosplit", "acc_push_epilogue")
            if name in op.properties
        }
        properties["slot_num"] = IntegerAttr(op.depth, i32)
        attributes = {**op.attributes, FRONTEND_ID: IntegerAttr(op.pipe_id, i32), **_peer_attributes(op)}
        if op.gm_slot_tensor is None and self._chip == "a5":
            if local is None:
                raise refusal(op, "requires local consumer buffer operands when lowering to a5; name the buffer")
            return InitializeL2LPipeOp.build(
                operands=[local, peer], result_types=[PipeType()], properties=properties, attributes=attributes
            )
        slots = op.gm_slot_buffer if op.gm_slot_tensor is None else op.gm_slot_tensor
        if slots is None:
            raise refusal(op, "requires 'gm_slot_buffer' when lowering to a2/a3; name memory for the slots")
        if local is not None:
            properties["local_slot_num"] = IntegerAttr(op.local_depth, i32)
        elif op.gm_slot_tensor is None:
            raise refusal(op, "requires local consumer buffer operands for local FIFO pipe lowering; name the buffer")
        return InitializeL2G2LPipeOp.build(
            operands=[slots, local, peer], result_types=[PipeType()], properties=properties, attributes=attributes
        )

    # -----------------------------------------------------------------------------------------
    # Through the pipe
    # -----------------------------------------------------------------------------------------

    def _pipe_of(self, op: PipeUseOp, order: Mapping[Operation, int]) -> InitializePipeOp:
        pipe = self._pipes.get(op.pipe_id)
        if pipe is None:
            raise refusal(
                op,
                f"requires matching frontend initialize_pipe(id = {op.pipe_id}) in the same function; open it or "
                "correct the number",
            )
        if not self._dominates(pipe, op, order):
            raise refusal(
                op, f"requires dominating frontend initialize_pipe(id = {op.pipe_id}); open the pipe before its use"
            )
        if not pipe.direction & op.DIRECTION:
            way = "C2V" if op.DIRECTION == pipe_protocol.C2V else "V2C"
            raise refusal(
                op, f"requires initialize_pipe(id = {op.pipe_id}) to enable {way}; its dir_mask is {pipe.direction}"
            )
        return pipe

    def _dominates(self, pipe: Operation, op: Operation, order: Mapping[Operation, int]) -> bool:
        """Return True if `pipe` dominates `op`; `order` is the order of operations in the text."""
        block = pipe.parent_block()
        region = pipe.parent_region()
        member: Operation | None = op
        while member is not None and member.parent_region() is not region:
            member = member.parent_op()
        other = None if member is None else member.parent_block()
        if member is None or block is None or other is None or region is None:
            return False
        if block is other:
            return order[pipe] < order[member]
        if region not in self._dominance:
            self._dominance[region] = DominanceInfo(region)
        return self._dominance[region].strictly_dominates(block, other)

    def _replace(self, op: PipeUseOp, pipe: InitializePipeOp) -> None:
        """Replace an operation on a pipe id by the one on the value."""
        lane: SSAValue | None = op.aiv_subblockid if isinstance(op, TPushToAicOp | TPopFromAicOp) else None
        new: list[Operation] = []
        results: list[SSAValue] = []
        types: Sequence[Attribute] = ()
        match op:
            case AllocSlotOp() | PopOp():
                new, entry = _declaration(op.entry_value.type)
                results = [entry]
                if isinstance(op, AllocSlotOp):
                    make, operands = TAllocOp.build, [entry, pipe.pipe]
                else:
                    if op.valid_row is not None and op.valid_col is not None:
                        new.append(SetValidShapeOp.build(operands=[entry, op.valid_row, op.valid_col]))
                    make, operands = TPopOp.build, [entry, pipe.pipe, lane]
            case PushOp():
                make, operands = TPushOp.build, [op.entry_value, pipe.pipe, lane]
            case FreeOp():
                make, operands = TFreeOp.build, [op.entry, pipe.pipe]
            case TPushSignalToAicOp():
                make, operands = TPushSignalOp.build, [op.signal, pipe.pipe]
            case TPopSignalFromAivOp():
                make, operands, types = TPopSignalOp.build, [pipe.pipe], [i1]
            case _:
                raise refusal(op, "has no counterpart on internal pipes")
        new.append(
            make(operands=operands, result_types=types, properties={"split": op.split}, attributes=op.attributes)
        )
        results += new[-1].results
        for made in new:
            made.location = as_written(op)
        Rewriter.replace_op(op, new, results)


def _declaration(entry: Attribute) -> tuple[list[Operation], SSAValue]:
    """Return the declaration of a tile or tensor that a pop binds."""
    kind: Callable[..., Operation] = DeclareGlobalOp.build if isinstance(entry, TensorViewType) else DeclareTileOp.build
    declared = kind(result_types=[entry])
    return [declared], declared.results[0]


def _peer_attributes(op: OpenPipeOp) -> dict[str, Attribute]:
    """Return the attributes that identify both ends of a pipe with an epilogue."""
    if op.acc_push_epilogue is None or op.direction != pipe_protocol.C2V or op.c2v_consumer_buf is None:
        return {}
    reserved = reservation_of(op.c2v_consumer_buf)
    function = None if reserved is None else function_of(reserved)
    if reserved is None or function is None:
        return {}
    return peer_attributes(function, reserved.key)
