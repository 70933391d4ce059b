"""What the registers hold where an operation reads them, as far as it is known."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from ...dialects import dsd, dsr
from ...dialects.traversal import walk
from .emission import refusal

Register = tuple[str, int | None]
"""A register: its file, and its number once it has one."""


class Registers:
    """What the registers hold at the current point of a body, as far as it is known.

    Lowering gives every operation the descriptor that the SSA value stands for; that is right only while the
    register has not been loaded with another one.
    """

    def __init__(self) -> None:
        self.holders: dict[Register, dsr.LoadOp | None] = {}

    @staticmethod
    def _register(load: dsr.LoadOp) -> Register:
        return load.register.file(), load.register.number

    def load(self, load: dsr.LoadOp) -> None:
        self.holders[self._register(load)] = load

    def forget_loads_in(self, op: Operation) -> None:
        """Forget what is loaded inside a loop or branch: from a loop on, and after a branch, it may be there or not."""
        for inner in walk(op):
            if isinstance(inner, dsr.LoadOp):
                self.holders[self._register(inner)] = None

    def check(self, op: dsd.DsdOperation) -> None:
        """Raise LoomError if a register that `op` reads may hold another descriptor than the one it asks for."""
        for operand in op.table_operands:
            load = operand.owner
            if not isinstance(load, dsr.LoadOp) or load.save_address is not None:
                continue
            holder = self.holders.get(self._register(load))
            if holder is None or (holder is not load and holder.descriptor is not load.descriptor):
                file, number = self._register(load)
                raise refusal(
                    op,
                    f"{op.name} reads a descriptor from {file} register {number}, which may hold another one by then; "
                    "load it again before the operation or into another register",
                )


def is_kept(operand: SSAValue) -> bool:
    """Return True if an operand is a register that the program names, and so may load again elsewhere or while an
    operation uses it, or that operations move on."""
    match operand.owner:
        case dsr.GetDsrOp():
            return True
        case dsr.LoadOp() as load:
            is_fifo = isinstance(load.descriptor.type, dsd.FifoType)
            chosen = load.implicit is None and load.single_step is None and not is_fifo
            return chosen or load.save_address is not None
        case _:
            return False


def kept_in(owner: Operation) -> set[Register]:
    """Return the registers that the program names and code reads, or that its operations move on."""
    return {
        (result.type.file(), result.type.number)
        for op in walk(owner)
        for result in op.results
        if isinstance(result.type, dsr.DescriptorRegisterType) and is_kept(result)
    }
