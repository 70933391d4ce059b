"""Descriptors: they become streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerType,
)
from xdsl.ir import Operation, SSAValue

from ...dialects import dsd, flow
from .emission import Emitter, refusal


class DescriptorLowering(Emitter):
    """Lowers what makes descriptors, and makes others of them."""

    def _memory_descriptor(self, op: dsd.MemoryDescriptorOp) -> None:
        match op:
            case dsd.CircbufOp():
                array = self._array(op, op.operands[0])
                self._emit(op, flow.CircularStreamOp(array, op.extent, op.wraparound, op.base_type.element_type))
                return
            case dsd.TensorAccessOp():
                raise refusal(
                    op, "dsd.tensor_access still has an affine map; run dsd-expand-tensor-access before lower-to-flow"
                )
            case dsd.Mem1dOp():
                offset = self._number(op, op.offset)
                strides = [self._number(op, op.stride)]
                extents = [self._number(op, op.extent, unsigned=True)]
            case dsd.Mem4dOp():
                offset = self._number(op, op.offset)
                strides = [self._number(op, stride) for stride in op.strides]
                extents = [self._number(op, extent, unsigned=True) for extent in op.extents]
            case _:
                raise refusal(op, f"{op.name} has no counterpart in flow")
        array = self._array(op, op.operands[0])
        self._emit(op, flow.StreamOp(array, offset, strides, extents, op.base_type.element_type))

    def _fabric_descriptor(self, op: dsd.FabricDescriptorOp) -> None:
        if op.queue_name is None:
            raise refusal(op, f"{op.name} names a color and no queue; run dsd-assign-queues before lower-to-flow")
        # Priority is a matter of the operation in flow, and is read there.
        extent = self._number(op, op.extent, unsigned=True)
        flags = {name: name in op.options for name in ("control", "advance_switch", "message", "control_transform")}
        zeroed = op.zero if isinstance(op, dsd.FaboutOp) else None
        self._emit(
            op,
            flow.QueueStreamOp(
                op.queue_name, extent, op.element_type, packed=op.is_packed, in_pairs=op.awaits_two,
                zero=None if zeroed is None else zeroed.data.removesuffix("_source"), **flags,
            ),
        )  # fmt: skip

    def _derived_descriptor(self, op: dsd.DerivedDescriptorOp) -> None:
        stream = self._value(op, op.descriptor)
        match op:
            case dsd.IncrementOffsetOp():
                words = flow.element_words(op.descriptor_type.element_type)
                self._emit(op, flow.AdvanceOp(stream, self._amount(op, op.value, words)))
            case dsd.SetLengthOp():
                self._emit(op, flow.ResizeOp(stream, self._amount(op, op.value)))
            case dsd.SetStrideOp():
                self._emit(op, flow.RestrideOp(stream, self._amount(op, op.value)))
            case dsd.SetBaseOp():
                self._emit(op, self._rebased(op, stream, self._array(op, op.base)))
            case _:
                raise refusal(op, f"{op.name} has no counterpart in flow")

    def _rebased(self, op: Operation, stream: SSAValue, array: flow.Array) -> Operation:
        """Return the walk of `stream` from the start of another array. The buffer of a stream is fixed in flow, so a
        walk that is not known here goes over all memory, from the address of the array on."""
        if not isinstance(array, str):
            return flow.RebaseOp(stream, array)
        made_by = stream.owner
        match made_by:
            case flow.StreamOp():
                strides = _fields(made_by.static_strides, made_by.strides)
                extents = _fields(made_by.static_extents, made_by.extents)
                return flow.StreamOp(array, 0, strides, extents, cast(flow.StreamType, stream.type).element_type)
            case flow.AdvanceOp():
                return self._rebased(op, made_by.stream, array)
            case flow.ResizeOp() | flow.RestrideOp():
                inner = self._make(op, self._rebased(op, made_by.stream, array))
                return type(made_by)(inner, made_by.amount)
            case _:
                return flow.RebaseOp(stream, self._make(op, self._address(array)))


def _fields(static: DenseArrayBase, values: Sequence[SSAValue]) -> list[int | SSAValue]:
    """Return the numbers and values of a stream's strides or extents, as its constructor takes them."""
    dynamic = iter(values)
    numbers = cast("DenseArrayBase[IntegerType]", static).get_values()
    return [next(dynamic) if value == flow.DYNAMIC else value for value in numbers]
