"""Pass `dsr-forward-loads`: an operation on a register takes the load that is known to have filled it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ..analysis.wse.pe_program import programs
from ..dialects import dsd, dsr, wse
from ..dialects.traversal import walk

_Register = tuple[str, int | None]
_Known = dict[_Register, dsr.LoadOp]


@dataclass(frozen=True)
class DsrForwardLoadsPass(ModulePass):
    """Puts the result of a `dsr.load` in place of a `dsr.get_dsr` of the same register and type that it reaches.

    The passes after this one then see which descriptor, which queue and which settings an operation has. A load is
    forgotten at a call, and at a branch or loop that loads the register; one with `save_address` is never put in
    place, since operations move its register on, nor is one of a FIFO, which works differently in a register;
    nor does one stand in for a FIFO's register, which the run reports (DSR-015).
    """

    name = "dsr-forward-loads"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for pe in (pe for program in programs(op) for pe in program.pes):
            if not any(isinstance(inner, dsr.GetDsrOp) for inner in walk(pe)):
                continue
            for member in pe.body.block.ops:
                if isinstance(member, wse.FuncOp | wse.TaskOp) and member.shares is None:
                    _forward(member.body.block, {})


def _forward(block: Block, known: _Known) -> None:
    for op in list(block.ops):
        match op:
            case dsr.LoadOp():
                known[_register(op)] = op
            case dsr.GetDsrOp():
                load = known.get((op.register.file(), op.register.number))
                if load is None or load.save_address is not None or isinstance(load.descriptor.type, dsd.FifoType):
                    continue
                if op.fifo is None and load.result.type == op.result.type:
                    Rewriter.replace_op(op, [], [load.result])
            case wse.CallOp():
                known.clear()
            case _ if op.regions:
                if not isinstance(op, scf.IfOp):
                    # An earlier trip of the loop may have been there before.
                    _forget_loads(op, known)
                for region in op.regions:
                    for inner in region.blocks:
                        _forward(inner, dict(known))
                _forget_loads(op, known)
            case _:
                pass


def _register(load: dsr.LoadOp) -> _Register:
    return load.register.file(), load.register.number


def _forget_loads(op: Operation, known: _Known) -> None:
    for inner in walk(op):
        if isinstance(inner, dsr.LoadOp):
            known.pop(_register(inner), None)
        elif isinstance(inner, wse.CallOp):
            known.clear()
