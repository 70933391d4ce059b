"""What has to hold after every pass, and where it does not.

xDSL's verifier checks each operation but not that a value is defined before its uses, and its errors do not say
which operation they are about; both are added here.
"""

from __future__ import annotations

from types import TracebackType

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl.dominance import DominanceInfo
from xdsl.utils.exceptions import DiagnosticException

from .diagnostics import LoomError, location_of


def verify(module: ModuleOp) -> None:
    """Checks every operation and that definitions dominate uses; raises LoomError at the first that fails."""
    try:
        module.verify()
    except DiagnosticException as error:
        raise located(error) from None
    verify_dominance(module)


def verify_dominance(module: ModuleOp) -> None:
    """Checks that every operand is defined on all ways to its use; raises LoomError at the first that is not."""
    _Dominance().operation(module)


def located(error: DiagnosticException) -> LoomError:
    """`error` with the location of the operation it is about.

    xDSL's exceptions do not carry their operation, but the verifier, pattern or pass that raised them had it in its
    hands: the innermost stack frame with an operation called `self` or `op` names it. Raise the result `from None`:
    the message of the verifier's exceptions holds the whole module.
    """
    if isinstance(error, LoomError):
        return error
    op = _operation_in(error.__traceback__)
    location = None
    while op is not None and (location := location_of(op)) is None:
        op = op.parent_op()
    return LoomError(" ".join(str(error).split()), location)


def _operation_in(traceback: TracebackType | None) -> Operation | None:
    found: Operation | None = None
    while traceback is not None:
        for name in ("self", "op"):
            value: object = traceback.tb_frame.f_locals.get(name)
            # An operation in the making, whose own types are refused, does not know its place yet.
            if isinstance(value, Operation) and hasattr(value, "location"):
                found = value
        traceback = traceback.tb_next
    return found


class _Dominance:
    """One walk over the IR in order, holding the values visible at the current point."""

    def __init__(self) -> None:
        self.visible: set[SSAValue] = set()

    def operation(self, op: Operation) -> None:
        for index, operand in enumerate(op.operands):
            if operand not in self.visible:
                name = f"%{operand.name_hint}" if operand.name_hint else f"operand {index}"
                raise LoomError(f"{name} of {op.name} is used before it is defined", location_of(op))
        for region in op.regions:
            self.region(region)
        self.visible.update(op.results)

    def region(self, region: Region) -> None:
        blocks = list(region.blocks)
        if len(blocks) == 1:
            self.visible.difference_update(self.block(blocks[0]))
            return
        # A block sees what the blocks that dominate it define.
        info = DominanceInfo(region)
        defined: dict[Block, set[SSAValue]] = {
            block: {*block.args, *(result for op in block.ops for result in op.results)} for block in blocks
        }
        for block in blocks:
            inherited = {
                value
                for other in blocks
                if info.strictly_dominates(other, block)
                for value in defined[other]
                if value not in self.visible
            }
            self.visible |= inherited
            self.visible -= self.block(block) | inherited

    def block(self, block: Block) -> set[SSAValue]:
        """Checks a block; returns what it made visible."""
        own: set[SSAValue] = set(block.args)
        self.visible |= own
        for op in block.ops:
            self.operation(op)
            own.update(op.results)
        return own
