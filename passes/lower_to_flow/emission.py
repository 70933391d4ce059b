"""What every part of the lowering of a body uses: the block under construction, and what has become of each value."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    IntegerAttr,
    MemRefType,
    i16,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...diagnostics.errors import LoomError, Mistakes
from ...diagnostics.locations import location_of
from ...dialects import dsd, dsr, flow
from ...dialects.building import of_elements
from ...dialects.machine.sharing import Ask
from ...operations import integers
from ...targets.wavelets import WORD_BITS


def refusal(op: Operation, message: str) -> LoomError:
    """Return the error about an operation that cannot be lowered."""
    return LoomError(message, location_of(op))


def lowered(type: Attribute) -> Attribute:
    """Return the type of a value in `flow`: descriptors and registers are streams, all others stay."""
    if isinstance(type, dsd.DescriptorType | dsr.DescriptorRegisterType):
        return of_elements(flow.StreamType, type.element_type)
    return type


@dataclass
class Emitter:
    """Emits the operations of one body, in order."""

    ask: Ask
    """For what depends on the PE program; see pe_programs.py."""
    mistakes: Mistakes
    """Takes those behind which the lowering goes on."""
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """What each value of the old body is in the new one."""
    arrays: dict[SSAValue, flow.Array] = field(default_factory=dict[SSAValue, flow.Array])
    """What each memref of the old body is: a buffer, or the memory at an address of the new body."""
    block: Block = field(default_factory=Block)
    """Where new operations go."""
    constants: list[Operation] = field(default_factory=list[Operation])

    def _emit(self, old: Operation, new: Operation) -> None:
        """Append `new`, the counterpart of `old`, whose results it makes."""
        self._append(old, new)
        for before, after in zip(old.results, new.results, strict=True):
            after.name_hint = before.name_hint
            self.values[before] = after

    def _append(self, old: Operation, new: Operation) -> SSAValue | None:
        new.location = old.location
        self.block.add_op(new)
        if isinstance(new, arith.ConstantOp):
            self.constants.append(new)
        return new.results[0] if new.results else None

    def _make(self, old: Operation, new: Operation) -> SSAValue:
        """Append an operation that `old` needs beside its own counterpart; return its one result."""
        result = self._append(old, new)
        assert result is not None
        return result

    def _value(self, user: Operation, value: SSAValue) -> SSAValue:
        if isinstance(value.type, MemRefType):
            self._refuse_array(user)
        return self.values[value]

    def _refuse_array(self, user: Operation | None) -> None:
        assert user is not None
        raise refusal(
            user,
            f"{user.name} passes on an array, which cannot be lowered to flow; name the buffer with wse.get_buffer "
            "where it is loaded, stored or described, or pass its address on (wse.address_of, wse.view)",
        )

    def _address(self, buffer: str) -> arith.ConstantOp:
        """Return the byte address of a buffer."""
        return arith.ConstantOp(IntegerAttr(integers.signed(2 * self.ask("address", buffer), WORD_BITS), i16))

    def _unblocked(self, op: Operation, symbol: str) -> str:
        """Return the task or queue that `symbol` means in a block or unblock."""
        found = self.ask("unblocked", symbol)
        if found is None:
            message = f"{op.name} names color @{symbol}, which no input queue of this PE serves; name its queue"
            self.mistakes.add(refusal(op, message))
            return symbol
        return found

    def _array(self, user: Operation, array: SSAValue) -> flow.Array:
        """Return the buffer that `array` is, or the address it is at."""
        if array not in self.arrays:
            self._refuse_array(user)
        return self.arrays[array]

    def _number(self, user: Operation, value: dsd.Integer, *, unsigned: bool = False) -> int | SSAValue:
        """Return a field of a descriptor: a literal wherever it is known."""
        known = dsd.constant_value(value)
        if known is not None:
            return integers.unsigned(known, WORD_BITS) if unsigned else known
        assert isinstance(value, SSAValue)
        return self._value(user, value)

    def _amount(self, user: Operation, value: dsd.Integer, scale: int = 1) -> SSAValue:
        """Return an i16 operand: `value` times `scale`, wrapped as the machine does."""
        known = dsd.constant_value(value)
        if known is not None:
            wrapped = integers.function(arith.MuliOp.name, WORD_BITS)(known, scale)
            return self._make(user, arith.ConstantOp(IntegerAttr(wrapped, i16)))
        assert isinstance(value, SSAValue)
        lowered = self._value(user, value)
        if scale == 1:
            return lowered
        factor = self._make(user, arith.ConstantOp(IntegerAttr(scale, i16)))
        return self._make(user, arith.MuliOp(lowered, factor))
