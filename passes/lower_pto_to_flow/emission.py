"""Emission of operations: at the current insertion point, with the location of the lowered operation.

Constant numbers are folded; the remaining constants are at the start of a function.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    f32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...analysis.pto.pipe_ends import refusal
from ...diagnostics.errors import LoomError
from ...diagnostics.locations import as_written, location_of
from ...dialects import flow
from ...dialects.pto.types import PackedType, element_bytes
from ...operations import integers
from .views import Number, View

_BYTE = IntegerType(8, Signedness.UNSIGNED)


def _exact(kind: type[arith.SignlessIntegerBinaryOperation], left: int, right: int) -> int:
    """Return the result of an operation on constants; an address that overflows is an error."""
    return integers.OPERATIONS[kind.name].exact(left, right)


def _is_byte(element: Attribute) -> bool:
    """Return True for elements of a byte that only the dialect has: scales, pairs of 4-bit floats, tapered floats."""
    return isinstance(element, PackedType) and element_bytes(element) == 1


class Emitter:
    """Appends operations to a block. `at` is the operation that is lowered now."""

    def __init__(self, entry: Block, at: Operation) -> None:
        self.entry = entry
        self.block = entry
        self.at = at
        self._constants: dict[tuple[object, Attribute], SSAValue] = {}
        self._last_constant: Operation | None = None
        # What has been computed already in the block, and in those around it.
        self._computed: list[dict[object, SSAValue]] = [{}]

    def append(self, op: Operation) -> Operation:
        """Append an operation."""
        # What is computed of tiles may turn out not to fit only when it runs: then it is told by its name in the text.
        op.location = as_written(self.at) if isinstance(op, flow.TileApplyOp) else self.at.location
        self.block.add_op(op)
        return op

    def make(self, op: Operation) -> SSAValue:
        """Append an operation; return its result."""
        return self.append(op).results[0]

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Append to a nested block inside the context."""
        outer, at, self.block = self.block, self.at, block
        self._computed.append({})
        try:
            yield
        finally:
            self._computed.pop()
            self.block, self.at = outer, at

    # Numbers -----------------------------------------------------------------------------------

    def constant(self, value: int | float, type: Attribute = i64) -> SSAValue:
        """Return a constant at the start of the function."""
        found = self._constants.get((value, type))
        if found is not None:
            return found
        if isinstance(type, AnyFloat):
            op = arith.ConstantOp(FloatAttr(float(value), type))
        else:
            least, most = integers.limits(integers.INDEX_BITS, is_signed=True)
            if not least <= value <= most:
                raise LoomError(f"{value} does not fit in the 64 bits of an index", location_of(self.at))
            op = arith.ConstantOp(IntegerAttr(int(value), cast("IntegerType | IndexType", type)))
        op.location = self.at.location
        first = self.entry.first_op
        if self._last_constant is not None:
            self.entry.insert_op_after(op, self._last_constant)
        elif first is not None:
            self.entry.insert_op_before(op, first)
        else:
            self.entry.add_op(op)
        self._last_constant = op
        self._constants[value, type] = op.result
        return op.result

    def zero(self, type: Attribute) -> SSAValue:
        """Return the constant 0 of an element type."""
        return self.constant(0.0, f32) if isinstance(type, AnyFloat) else self.constant(0)

    def value(self, number: Number) -> SSAValue:
        """Return a number as an i64."""
        return self.constant(number) if isinstance(number, int) else number

    def integer(self, value: SSAValue) -> SSAValue:
        """Return an integer of any width, or an index, as an i64."""
        made_by = value.owner
        if isinstance(made_by, arith.IndexCastOp) and made_by.input.type == i64:
            return made_by.input
        match value.type:
            case IndexType():
                return self._once("cast", (value,), lambda: arith.IndexCastOp(value, i64))
            case IntegerType(width=width) if width.data < 64:
                return self._once("extend", (value,), lambda: arith.ExtSIOp(value, i64))
            case _:
                return value

    def add(self, left: Number, right: Number) -> Number:
        if isinstance(left, int) and isinstance(right, int):
            return _exact(arith.AddiOp, left, right)
        if left == 0:
            return right
        if right == 0:
            return left
        return self._twofold(arith.AddiOp, left, right)

    def subtract(self, left: Number, right: Number) -> Number:
        if isinstance(left, int) and isinstance(right, int):
            return _exact(arith.SubiOp, left, right)
        return left if right == 0 else self._twofold(arith.SubiOp, left, right)

    def multiply(self, left: Number, right: Number) -> Number:
        if isinstance(left, int) and isinstance(right, int):
            return _exact(arith.MuliOp, left, right)
        if left == 0 or right == 0:
            return 0
        if left == 1:
            return right
        if right == 1:
            return left
        return self._twofold(arith.MuliOp, left, right)

    def divide(self, left: Number, right: Number) -> Number:
        """Return the quotient of nonnegative numbers."""
        if isinstance(left, int) and isinstance(right, int):
            return _exact(arith.DivSIOp, left, right)
        return self._twofold(arith.DivSIOp, left, right)

    def remainder(self, left: Number, right: int) -> Number:
        """Return the remainder of nonnegative numbers."""
        return (
            _exact(arith.RemSIOp, left, right) if isinstance(left, int) else self._twofold(arith.RemSIOp, left, right)
        )

    def least(self, left: Number, right: Number) -> Number:
        """Return the smaller of two numbers."""
        if isinstance(left, int) and isinstance(right, int):
            return min(left, right)
        return left if left == right else self._twofold(arith.MinSIOp, left, right)

    def most(self, left: Number, right: Number) -> Number:
        """Return the larger of two numbers."""
        if isinstance(left, int) and isinstance(right, int):
            return max(left, right)
        return left if left == right else self._twofold(arith.MaxSIOp, left, right)

    def compare(self, left: Number, right: Number, how: str = "eq") -> SSAValue:
        return self.make(arith.CmpiOp(self.value(left), self.value(right), how))

    # Checks ------------------------------------------------------------------------------------

    def at_most(self, number: Number, limit: Number, message: str, what: str = "it") -> None:
        """Assert at run time that a number, which is `what` in the error, is between 0 and a limit; constants are not
        checked."""
        if isinstance(number, int) and isinstance(limit, int):
            return
        if isinstance(number, int):
            shown, said = limit, f"{message} ({what} is {number}, above {{d}})"
        else:
            above = f", not 0 to {limit}" if isinstance(limit, int) else ""
            shown, said = number, f"{message} ({what} is {{d}}{above})"
        self.append(flow.AssertOp(self.compare(number, limit, "ule"), said, self.value(shown)))

    def equal(self, number: Number, other: Number, message: str) -> None:
        """Assert at run time that two numbers are equal; constants are not checked."""
        if not (isinstance(number, int) and isinstance(other, int)):
            first, second = (other, number) if isinstance(number, int) else (number, other)
            than = f", not {second}" if isinstance(second, int) else " there, and another here"
            self.append(flow.AssertOp(self.compare(number, other), f"{message} (it is {{d}}{than})", self.value(first)))

    def product(self, numbers: Sequence[Number]) -> Number:
        """Return the product of numbers."""
        found: Number = 1
        for number in numbers:
            found = self.multiply(found, number)
        return found

    def is_bound(self, bound: SSAValue, name: str) -> None:
        """Assert at run time that a pop has bound a tile."""
        message = f"a pop binds {name} before it is used; on the path taken here none does"
        self.append(flow.AssertOp(self.compare(bound, 0, "ne"), message))

    def within(self, offset: Number, extent: Number, whole: Number, message: str) -> None:
        """Assert at run time that a part stays within the whole."""
        # The sum of two numbers that are not above the whole does not overflow.
        for what, number in (("the offset", offset), ("the extent", extent)):
            if isinstance(number, SSAValue):
                self.at_most(number, whole, message, what)
        if offset != 0 or isinstance(extent, int):
            self.at_most(self.add(offset, extent), whole, message, "the end")

    def _twofold(self, kind: type[arith.SignlessIntegerBinaryOperation], left: Number, right: Number) -> SSAValue:
        operands = (self.value(left), self.value(right))
        return self._once(kind.name, operands, lambda: kind(*operands))

    def _once(self, name: str, operands: tuple[SSAValue, ...], make: Callable[[], Operation]) -> SSAValue:
        key = (name, *operands)
        for computed in reversed(self._computed):
            if key in computed:
                return computed[key]
        result = self.make(make())
        self._computed[-1][key] = result
        return result

    # Memory ------------------------------------------------------------------------------------

    def tile(self, view: View, name: str | None = None) -> SSAValue:
        """Return a view as a value, with a name if it is new."""
        for computed in reversed(self._computed):
            if view in computed:
                return computed[view]
        if isinstance(view.element, Float64Type):
            raise refusal(
                self.at, "uses f64, which no operation on tiles of a2, a3 or a5 takes, but scalar code alone; use f32"
            )
        owner = view.owner
        op = flow.TileOp(
            view.space,
            self.value(view.address),
            view.extents,
            view.strides,
            _BYTE if _is_byte(view.element) else view.element,
            view.entry,
            None if owner is None else flow.Owner(owner[0], self.value(owner[1])),
        )
        result = self.make(op)
        result.name_hint = name
        self._computed[-1][view] = result
        return result

    def slot_address(self, view: View) -> Number:
        """Return the address of a view, its slot included."""
        entry = view.entry
        if entry is None:
            return view.address
        return self.add(view.address, self.multiply(self.remainder(entry.index, entry.count), entry.size))

    def part(self, view: View, offsets: Sequence[Number], extents: tuple[Number, ...]) -> View:
        """Return a part of a view, at offsets in each dimension."""
        size = element_bytes(view.element)
        assert size is not None, "views are of elements whose size is known"
        elements: Number = 0
        for offset, stride in zip(offsets, view.strides, strict=True):
            elements = self.add(elements, self.multiply(offset, stride))
        return replace(view, address=self.add(view.address, self.multiply(elements, size)), extents=extents)

    def apply(
        self,
        function: str,
        destination: View,
        sources: list[View | SSAValue],
        options: dict[str, Attribute] | None = None,
    ) -> None:
        """Apply a tile function to views and numbers; those that the engine lacks are copied, as bytes."""
        views = [destination, *(source for source in sources if isinstance(source, View))]
        byte = next((view.element for view in views if _is_byte(view.element)), None)
        if byte is not None and (function != "copy" or any(view.element != byte for view in views)):
            raise refusal(self.at, f"computes with {byte}, which is only moved, converted, and in scaled products")
        operands = [self.tile(source) if isinstance(source, View) else source for source in sources]
        self.append(flow.TileApplyOp(function, self.tile(destination), operands, options))
