"""Arithmetic on integers of more than 64 bits, as operations on their limbs of 64 bits, the low one first.

What is known is computed here, so that known zeros cost nothing when the program runs. A shift of a limb by 64 bits or
more shifts every bit out (`operations.integers`), which shifts between limbs rely on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, i1, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...operations import integers

Number: TypeAlias = list[SSAValue]

LIMB = 64
_HALF = LIMB // 2
_LOW_HALF = (1 << _HALF) - 1
_MAX_UNROLLED = 16
"""Halves of a limb up to which a product is written out: 16 are 512 bits. A loop makes the products of wider ones."""


class Emitter:
    """Inserts operations before another one, each at the place in the source of what it stands for."""

    def __init__(self, before: Operation) -> None:
        self.before = before
        self._blocks: list[Block] = []
        self._known: dict[SSAValue, int] = {}

    def __call__(self, op: Operation) -> Operation:
        op.location = self.before.location
        if self._blocks:
            self._blocks[-1].add_op(op)
        else:
            Rewriter.insert_op(op, InsertPoint.before(self.before))
        return op

    def value(self, op: Operation) -> SSAValue:
        """Insert an operation with one result; return the result."""
        return self(op).results[0]

    def constant(self, number: int, type: IntegerType = i64) -> SSAValue:
        number = integers.signed(number, type.width.data)
        result = self.value(arith.ConstantOp(IntegerAttr(number, type)))
        self._known[result] = number
        return result

    def known(self, value: SSAValue) -> int | None:
        """Return the number that a limb or truth value is known to be."""
        if value not in self._known and isinstance(value.owner, arith.ConstantOp):
            attribute = value.owner.value
            if isinstance(attribute, IntegerAttr):
                self._known[value] = attribute.value.data
        return self._known.get(value)

    def is_zero(self, value: SSAValue) -> bool:
        return self.known(value) == 0

    # Operations on limbs

    def compute(self, kind: type[Operation], left: SSAValue, right: SSAValue) -> SSAValue:
        """Return the result of an operation on two limbs, or two truth values."""
        a, b = self.known(left), self.known(right)
        if a is not None and b is not None:
            type = i1 if left.type == i1 else i64
            return self.constant(integers.function(kind.name, type.bitwidth)(a, b), type)
        if b == 0 and kind not in (arith.MuliOp, arith.AndIOp):
            return left
        if a == 0 and kind in (arith.AddiOp, arith.OrIOp, arith.XOrIOp):
            return right
        if kind in (arith.MuliOp, arith.AndIOp) and 0 in (a, b):
            return left if a == 0 else right
        if a == 0 and kind in (arith.ShLIOp, arith.ShRUIOp):
            return left
        return self.value(kind.create(operands=[left, right], result_types=[left.type]))

    def shifted(self, kind: type[Operation], limb: SSAValue, amount: int) -> SSAValue:
        return self.compute(kind, limb, self.constant(amount))

    def compare(self, predicate: str, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.value(arith.CmpiOp(left, right, predicate))

    def choose(self, condition: SSAValue, one: SSAValue, other: SSAValue) -> SSAValue:
        if one is other or (self.known(one) is not None and self.known(one) == self.known(other)):
            return one
        return self.value(arith.SelectOp(condition, one, other))

    def widened(self, truth: SSAValue) -> SSAValue:
        """Return a truth value as a limb, 0 or 1."""
        return self.value(arith.ExtUIOp(truth, i64))

    def either(self, one: SSAValue | None, other: SSAValue | None) -> SSAValue | None:
        """Return the disjunction of two truth values, each None if it is false."""
        if one is None or other is None:
            return one or other
        return self.compute(arith.OrIOp, one, other)

    def any_bit(self, number: Sequence[SSAValue]) -> SSAValue:
        """Return a limb that is zero if a number is."""
        result = number[0]
        for limb in number[1:]:
            result = self.compute(arith.OrIOp, result, limb)
        return result

    def is_not_zero(self, number: Sequence[SSAValue]) -> SSAValue:
        return self.compare("ne", self.any_bit(number), self.constant(0))

    def loop(self, count: int, carried: Number, body: Callable[[Number], Number]) -> Number:
        """Insert a loop of so many iterations; `body` makes what they carry of what the one before it carried."""
        index = IndexType()
        bounds = [self.value(arith.ConstantOp(IntegerAttr(bound, index))) for bound in (0, count, 1)]
        block = Block(arg_types=[index, *(value.type for value in carried)])
        self._blocks.append(block)
        self(scf.YieldOp(*body(list(block.args[1:]))))
        self._blocks.pop()
        return list(self(scf.ForOp(bounds[0], bounds[1], bounds[2], carried, Region(block))).results)


# Numbers


def constant(emit: Emitter, number: int, count: int) -> Number:
    return [emit.constant(number >> (LIMB * position)) for position in range(count)]


def known(emit: Emitter, number: Number) -> int | None:
    """Return a constant, unsigned."""
    total = 0
    for position, limb in enumerate(number):
        part = emit.known(limb)
        if part is None:
            return None
        total |= integers.unsigned(part, LIMB) << (LIMB * position)
    return total


def sign(emit: Emitter, number: Number) -> SSAValue:
    """Return a limb of copies of the sign."""
    return emit.shifted(arith.ShRSIOp, number[-1], LIMB - 1)


def is_negative(emit: Emitter, number: Number) -> SSAValue:
    return emit.compare("slt", number[-1], emit.constant(0))


def choose(emit: Emitter, condition: SSAValue, one: Number, other: Number) -> Number:
    return [emit.choose(condition, a, b) for a, b in zip(one, other, strict=True)]


def bitwise(emit: Emitter, kind: type[Operation], left: Number, right: Number) -> Number:
    return [emit.compute(kind, a, b) for a, b in zip(left, right, strict=True)]


def add(emit: Emitter, left: Number, right: Number) -> Number:
    """Return the sum, without its carry."""
    result: Number = []
    carry: SSAValue | None = None
    for position, (a, b) in enumerate(zip(left, right, strict=True)):
        is_last = position == len(left) - 1
        total = emit.compute(arith.AddiOp, a, b)
        over = None if is_last or emit.is_zero(a) or emit.is_zero(b) else emit.compare("ult", total, a)
        if carry is not None:
            before, total = total, emit.compute(arith.AddiOp, total, emit.widened(carry))
            if not is_last and not emit.is_zero(before):
                over = emit.either(over, emit.compare("ult", total, before))
        result.append(total)
        carry = over
    return result


def subtract(emit: Emitter, left: Number, right: Number) -> Number:
    return _difference(emit, left, right, is_borrow_wanted=False)[0]


def _difference(
    emit: Emitter, left: Number, right: Number, *, is_borrow_wanted: bool
) -> tuple[Number, SSAValue | None]:
    """Return the difference, and if wanted whether `left` is less than `right`, both unsigned; None is false."""
    result: Number = []
    borrow: SSAValue | None = None
    for position, (a, b) in enumerate(zip(left, right, strict=True)):
        is_last = position == len(left) - 1 and not is_borrow_wanted
        total = emit.compute(arith.SubiOp, a, b)
        under = None if is_last or emit.is_zero(b) else emit.compare("ult", a, b)
        if borrow is not None:
            one = emit.widened(borrow)
            if not is_last:
                under = emit.either(under, emit.compare("ult", total, one))
            total = emit.compute(arith.SubiOp, total, one)
        result.append(total)
        borrow = under
    return result, borrow


def negate(emit: Emitter, number: Number) -> Number:
    return subtract(emit, constant(emit, 0, len(number)), number)


def absolute(emit: Emitter, number: Number) -> Number:
    return choose(emit, is_negative(emit, number), negate(emit, number), number)


def multiply(emit: Emitter, left: Number, right: Number) -> Number:
    """Return the low half of the product, by the method of the school on halves of limbs."""
    a, b = _halves(emit, left), _halves(emit, right)
    count = len(a)
    result = [emit.constant(0)] * count
    if count <= _MAX_UNROLLED:
        for position, digit in enumerate(b):
            result[position:] = _row(emit, result[position:], a[: count - position], digit)
        return _joined(emit, result)

    def iteration(carried: Number) -> Number:
        total, shifted, digits = (carried[start : start + count] for start in range(0, 3 * count, count))
        zero = emit.constant(0)
        return [*_row(emit, total, shifted, digits[0]), zero, *shifted[:-1], *digits[1:], zero]

    return _joined(emit, emit.loop(count, [*result, *a, *b], iteration)[:count])


def _row(emit: Emitter, total: Number, factor: Number, digit: SSAValue) -> Number:
    """Return `total + factor * digit` in as many halves; every half is less than 2^32."""
    if emit.is_zero(digit):
        return total
    result: Number = []
    carry = emit.constant(0)
    for position, (before, half) in enumerate(zip(total, factor, strict=True)):
        # At most (2^32 - 1)^2 + 2 (2^32 - 1), which is 2^64 - 1.
        product = emit.compute(arith.MuliOp, half, digit)
        sum = emit.compute(arith.AddiOp, emit.compute(arith.AddiOp, product, before), carry)
        result.append(emit.compute(arith.AndIOp, sum, emit.constant(_LOW_HALF)))
        if position < len(total) - 1:
            carry = emit.shifted(arith.ShRUIOp, sum, _HALF)
    return result


def _halves(emit: Emitter, number: Number) -> Number:
    return [
        half
        for limb in number
        for half in (
            emit.compute(arith.AndIOp, limb, emit.constant(_LOW_HALF)),
            emit.shifted(arith.ShRUIOp, limb, _HALF),
        )
    ]


def _joined(emit: Emitter, halves: Number) -> Number:
    pairs = zip(halves[::2], halves[1::2], strict=True)
    return [emit.compute(arith.OrIOp, low, emit.shifted(arith.ShLIOp, high, _HALF)) for low, high in pairs]


def divide(emit: Emitter, dividend: Number, divisor: Number) -> tuple[Number, Number]:
    """Return quotient and remainder of unsigned numbers, bit by bit; a divisor of zero is an error of the program."""
    count = len(dividend)
    any_bit = emit.any_bit(divisor)
    # The division of a limb reports the error, and is 1 otherwise.
    one = emit.value(arith.DivUIOp(any_bit, any_bit))

    def iteration(carried: Number) -> Number:
        quotient, rest = carried[:count], carried[count:]
        lost = is_negative(emit, rest)
        rest = _moved_left(emit, rest, emit.shifted(arith.ShRUIOp, quotient[-1], LIMB - 1))
        difference, borrow = _difference(emit, rest, divisor, is_borrow_wanted=True)
        assert borrow is not None or known(emit, divisor) == 0
        is_less = emit.constant(0, i1) if borrow is None else borrow
        fits = emit.compute(arith.OrIOp, lost, emit.compute(arith.XOrIOp, is_less, emit.constant(1, i1)))
        quotient = _moved_left(emit, quotient, emit.choose(fits, one, emit.constant(0)))
        return [*quotient, *choose(emit, fits, difference, rest)]

    result = emit.loop(count * LIMB, [*dividend, *constant(emit, 0, count)], iteration)
    return result[:count], result[count:]


def _moved_left(emit: Emitter, number: Number, low: SSAValue) -> Number:
    """Return a number one bit to the left, with a lowest bit."""
    carries = [low, *(emit.shifted(arith.ShRUIOp, limb, LIMB - 1) for limb in number[:-1])]
    return [
        emit.compute(arith.OrIOp, emit.shifted(arith.ShLIOp, limb, 1), carry)
        for limb, carry in zip(number, carries, strict=True)
    ]


def divide_signed(emit: Emitter, dividend: Number, divisor: Number) -> tuple[Number, Number]:
    """Return the quotient, rounded towards zero, and the remainder, which has the sign of the dividend."""
    quotient, rest = divide(emit, absolute(emit, dividend), absolute(emit, divisor))
    dividend_is_negative = is_negative(emit, dividend)
    differ = emit.compute(arith.XOrIOp, dividend_is_negative, is_negative(emit, divisor))
    return (
        choose(emit, differ, negate(emit, quotient), quotient),
        choose(emit, dividend_is_negative, negate(emit, rest), rest),
    )


def compare(emit: Emitter, predicate: str, left: Number, right: Number) -> SSAValue:
    """Return the truth value of a predicate of `arith.cmpi`."""
    if predicate in ("eq", "ne"):
        return emit.compare(predicate, emit.any_bit(bitwise(emit, arith.XOrIOp, left, right)), emit.constant(0))
    if predicate in ("sgt", "ugt", "sle", "ule"):
        left, right = right, left
    is_less = _less(emit, left, right, is_signed=predicate.startswith("s"))
    return is_less if predicate.endswith("t") else emit.compute(arith.XOrIOp, is_less, emit.constant(1, i1))


def _less(emit: Emitter, left: Number, right: Number, *, is_signed: bool) -> SSAValue:
    result = emit.compare("ult", left[0], right[0])
    for position in range(1, len(left)):
        a, b = left[position], right[position]
        here = emit.compare("slt" if is_signed and position == len(left) - 1 else "ult", a, b)
        result = emit.choose(emit.compare("eq", a, b), result, here)
    return result


# Shifts


def shift(emit: Emitter, kind: type[Operation], number: Number, amount: Number) -> Number:
    """Return a number shifted as `arith.shli`, `arith.shrui` or `arith.shrsi` does; the amount is unsigned."""
    count, total = len(number), LIMB * len(number)
    filler = sign(emit, number) if kind is arith.ShRSIOp else emit.constant(0)
    distance = known(emit, amount)
    if distance is not None:
        limbs, bits = divmod(min(distance, total), LIMB)
        return _bits_moved(emit, kind, _limbs_moved(kind, number, limbs, filler), emit.constant(bits), filler)
    end = emit.constant(total)
    low = emit.value(arith.MinUIOp(amount[0], end))
    if count > 1 and known(emit, amount[1:]) != 0:
        low = emit.choose(emit.is_not_zero(amount[1:]), end, low)
    limbs = emit.shifted(arith.ShRUIOp, low, LIMB.bit_length() - 1)
    for stage in range(count.bit_length()):
        bit = emit.compute(arith.AndIOp, limbs, emit.constant(1 << stage))
        is_set = emit.compare("ne", bit, emit.constant(0))
        number = choose(emit, is_set, _limbs_moved(kind, number, 1 << stage, filler), number)
    return _bits_moved(emit, kind, number, emit.compute(arith.AndIOp, low, emit.constant(LIMB - 1)), filler)


def _limbs_moved(kind: type[Operation], number: Number, limbs: int, filler: SSAValue) -> Number:
    gap = [filler] * min(limbs, len(number))
    return [*gap, *number[: len(number) - len(gap)]] if kind is arith.ShLIOp else [*number[len(gap) :], *gap]


def _bits_moved(emit: Emitter, kind: type[Operation], number: Number, bits: SSAValue, filler: SSAValue) -> Number:
    """Return a number shifted by less than a limb."""
    if emit.is_zero(bits):
        return number
    others = emit.compute(arith.SubiOp, emit.constant(LIMB), bits)
    there, back = (arith.ShLIOp, arith.ShRUIOp) if kind is arith.ShLIOp else (arith.ShRUIOp, arith.ShLIOp)
    from_here = [emit.compute(there, limb, bits) for limb in number]
    if kind is arith.ShLIOp:
        beside = [emit.constant(0), *(emit.compute(back, limb, others) for limb in number[:-1])]
    else:
        beside = [emit.compute(back, limb, others) for limb in (*number[1:], filler)]
    return bitwise(emit, arith.OrIOp, from_here, beside)


# Floats

_MANTISSA_BITS = 23
_BIAS = 127
_NOT_FINITE = 255
"""The highest exponent of an f32."""


class Floats:
    """Conversions from and to a format of floats: operations on its numbers, and the f32 of one."""

    def __init__(
        self,
        operation: Callable[[str, Sequence[SSAValue]], SSAValue],
        constant: Callable[[float], SSAValue],
        single: Callable[[SSAValue], SSAValue],
    ) -> None:
        self.operation, self.constant, self.single = operation, constant, single


def to_float(emit: Emitter, number: Number, floats: Floats, *, is_signed: bool) -> SSAValue:
    """Return the nearest float, to even on a tie.

    All but the highest bits of a large number are one bit that says if any of them is set: a conversion of 64 bits,
    which rounds once, and a product with a power of two then give what rounding the whole number gives.
    """
    magnitude = absolute(emit, number) if is_signed else number
    low, high, above = magnitude[0], magnitude[1], magnitude[2:]
    rest = emit.widened(emit.is_not_zero([low]))
    wide = _scaled(floats, emit.compute(arith.OrIOp, high, rest), LIMB)
    middle = emit.compute(arith.OrIOp, emit.shifted(arith.ShLIOp, high, _HALF), emit.shifted(arith.ShRUIOp, low, _HALF))
    below = emit.widened(emit.is_not_zero([emit.compute(arith.AndIOp, low, emit.constant(_LOW_HALF))]))
    narrow = _scaled(floats, emit.compute(arith.OrIOp, middle, below), _HALF)
    is_wide = emit.compare("ugt", high, emit.constant(_LOW_HALF))
    result = emit.choose(is_wide, wide, narrow)
    result = emit.choose(emit.is_not_zero([high]), result, floats.operation("uitofp", [low]))
    if above and known(emit, above) != 0:
        # No format has numbers of 2^128 and more.
        result = emit.choose(emit.is_not_zero(above), floats.constant(float("inf")), result)
    if not is_signed:
        return result
    return emit.choose(is_negative(emit, number), floats.operation("negf", [result]), result)


def _scaled(floats: Floats, number: SSAValue, power: int) -> SSAValue:
    return floats.operation("mulf", [floats.operation("uitofp", [number]), floats.constant(2.0**power)])


def from_float(emit: Emitter, number: SSAValue, floats: Floats, count: int, *, is_signed: bool) -> Number:
    """Return a float rounded towards zero; beyond the limits of the integer that limit, and 0 for a NaN."""
    word = emit.value(arith.BitcastOp(floats.single(number), IntegerType(32)))
    bits = emit.value(arith.ExtUIOp(word, i64))
    exponent = emit.compute(arith.AndIOp, emit.shifted(arith.ShRUIOp, bits, _MANTISSA_BITS), emit.constant(_NOT_FINITE))
    fraction = emit.compute(arith.AndIOp, bits, emit.constant((1 << _MANTISSA_BITS) - 1))
    mantissa = emit.compute(arith.OrIOp, fraction, emit.constant(1 << _MANTISSA_BITS))
    unit = emit.constant(_BIAS + _MANTISSA_BITS)
    is_small = emit.compare("ult", exponent, unit)
    zero = emit.constant(0)
    right = emit.choose(is_small, emit.compute(arith.SubiOp, unit, exponent), zero)
    left = emit.choose(is_small, zero, emit.compute(arith.SubiOp, exponent, unit))
    none = constant(emit, 0, count)
    low = [emit.compute(arith.ShRUIOp, mantissa, right), *none[1:]]
    magnitude = shift(emit, arith.ShLIOp, low, [left, *none[1:]])
    lowest, highest = integers.limits(LIMB * count, is_signed=is_signed)
    negative = emit.compare("ne", emit.shifted(arith.ShRUIOp, bits, 31), zero)
    first_beyond = min(_BIAS + highest.bit_length(), _NOT_FINITE)
    is_beyond = emit.compare("uge", exponent, emit.constant(first_beyond))
    if is_signed:
        result = choose(emit, negative, negate(emit, magnitude), magnitude)
        limit = choose(emit, negative, constant(emit, lowest, count), constant(emit, highest, count))
        result = choose(emit, is_beyond, limit, result)
    else:
        result = choose(emit, is_beyond, constant(emit, highest, count), magnitude)
        result = choose(emit, negative, none, result)
    is_nan = emit.compute(
        arith.AndIOp, emit.compare("eq", exponent, emit.constant(_NOT_FINITE)), emit.compare("ne", fraction, zero)
    )
    return choose(emit, is_nan, none, result)
