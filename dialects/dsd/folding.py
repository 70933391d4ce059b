"""Canonicalization of descriptors: fields that are constant become numbers, and derived descriptors new ones.

Nothing here looks at the operations that use a descriptor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from .derived import DerivedDescriptorOp, IncrementOffsetOp, SetBaseOp, SetLengthOp, SetStrideOp
from .fabric import FabinOp, FaboutOp
from .fields import EXTENTS, MEM1D_STRIDES, MEM4D_STRIDES, OFFSETS, Integer, constant_extent, constant_value
from .memory import CircbufOp, Mem1dOp, Mem4dOp, TensorAccessOp


def _replace(rewriter: PatternRewriter, op: Operation, new: Operation, source: Operation) -> None:
    """Replace `op` by `new`, a changed copy of `source`, keeping names, attributes and location."""
    new.attributes.update(source.attributes)
    new.location = op.location
    rewriter.replace(op, new)


class FoldConstantFields(RewritePattern):
    """Write a field that is a constant value as a number."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Mem1dOp | Mem4dOp | FabinOp | FaboutOp, rewriter: PatternRewriter) -> None:
        if isinstance(op, FabinOp | FaboutOp):
            if (extent := _number(op.extent_value, constant_extent, EXTENTS)) is not None:
                new = type(op)(op.result.type, extent, queue=op.queue_name, color=op.color_name, options=op.options)
                _replace(rewriter, op, new, op)
            return
        offset = _number(op.offset_value, constant_value, OFFSETS)
        if isinstance(op, Mem4dOp):
            strides = _numbers(op.strides, constant_value, MEM4D_STRIDES)
            extents = _numbers(op.extents, constant_extent, EXTENTS)
            if offset is not None or strides != op.strides or extents != op.extents:
                new = Mem4dOp(
                    op.base,
                    extents,
                    strides=None if op.strides_attr is None else strides,
                    offset=op.offset if offset is None else offset,
                    wavelet_index_offset=op.wavelet_index_offset is not None,
                )
                _replace(rewriter, op, new, op)
            return
        stride = _number(op.stride_value, constant_value, MEM1D_STRIDES)
        extent = _number(op.extent_value, constant_extent, EXTENTS)
        if offset is not None or stride is not None or extent is not None:
            _replace(rewriter, op, _with_fields(op, offset=offset, stride=stride, extent=extent), op)


def _number(value: SSAValue | None, known: Callable[[Integer], int | None], allowed: range) -> int | None:
    number = None if value is None else known(value)
    return number if number is not None and number in allowed else None


def _numbers(values: Sequence[Integer], known: Callable[[Integer], int | None], allowed: range) -> tuple[Integer, ...]:
    """Fields with a number wherever it is known and fits."""
    numbers = [_number(value, known, allowed) if isinstance(value, SSAValue) else value for value in values]
    return tuple(value if number is None else number for value, number in zip(values, numbers, strict=True))


class FoldDerivedDescriptor(RewritePattern):
    """Put a changed field into the descriptor it changes, where both are known at compile time."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DerivedDescriptorOp, rewriter: PatternRewriter) -> None:
        source = op.descriptor.owner
        new: Operation | None = None
        match op, source:
            case IncrementOffsetOp(), Mem1dOp() | Mem4dOp():
                start, step = constant_value(source.offset), constant_value(op.value)
                if start is None or step is None or start + step not in OFFSETS:
                    return
                new = _with_fields(source, offset=start + step)
            case SetLengthOp(), Mem1dOp():
                new = _with_fields(source, extent=op.value)
            case SetLengthOp(), FabinOp() | FaboutOp():
                new = type(source)(
                    source.result.type,
                    op.value,
                    queue=source.queue_name,
                    color=source.color_name,
                    options=source.options,
                )
            case SetLengthOp(), CircbufOp():
                if (length := constant_extent(op.value)) is None:
                    return
                new = CircbufOp(source.base, length, wraparound=source.wraparound)
            case SetLengthOp(), TensorAccessOp():
                if (length := constant_extent(op.value)) is None:
                    return
                new = TensorAccessOp(
                    source.base,
                    source.access,
                    [length],
                    source.result.type,
                    wavelet_index_offset=source.wavelet_index_offset is not None,
                )
            case SetStrideOp(), Mem1dOp():
                new = _with_fields(source, stride=op.value)
            case SetBaseOp(), Mem1dOp() | Mem4dOp():
                new = _with_fields(source, base=op.base, offset=0)
            case _:
                return
        assert isinstance(source, Operation)
        _replace(rewriter, op, new, source)


def _with_fields(
    source: Mem1dOp | Mem4dOp,
    *,
    base: SSAValue | None = None,
    offset: Integer | None = None,
    stride: Integer | None = None,
    extent: Integer | None = None,
) -> Mem1dOp | Mem4dOp:
    base = source.base if base is None else base
    offset = source.offset if offset is None else offset
    indexed = source.wavelet_index_offset is not None
    if isinstance(source, Mem4dOp):
        strides = None if source.strides_attr is None else source.strides
        return Mem4dOp(base, source.extents, strides=strides, offset=offset, wavelet_index_offset=indexed)
    return Mem1dOp(
        base,
        source.extent if extent is None else extent,
        offset=offset,
        stride=source.stride if stride is None else stride,
        wavelet_index_offset=indexed,
    )


class MergeDerivedDescriptors(RewritePattern):
    """Two changes of one field in a row are one: the later wins, increments add up."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DerivedDescriptorOp, rewriter: PatternRewriter) -> None:
        first = op.descriptor.owner
        if type(first) is not type(op):
            return
        match op, first:
            case IncrementOffsetOp(), IncrementOffsetOp():
                one, two = constant_value(first.value), constant_value(op.value)
                if one is None or two is None or one + two not in OFFSETS:
                    return
                new = IncrementOffsetOp(first.descriptor, one + two)
            case SetLengthOp() | SetStrideOp(), SetLengthOp() | SetStrideOp():
                new = type(op)(first.descriptor, op.value)
            case SetBaseOp(), SetBaseOp():
                new = SetBaseOp(first.descriptor, op.base)
            case _:
                return
        _replace(rewriter, op, new, op)
