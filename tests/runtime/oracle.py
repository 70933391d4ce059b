"""What the operations of the DSD table do, one element after another, with nothing but Python integers and fractions.

Slow and obvious on purpose: it shares no code with the engine, so that the two can only agree by being right. Memory
is a list of 16-bit words, a 32-bit element takes two of them, low word first. Floating point rounds every result to
nearest even with exact rational arithmetic.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

FLOATS = {
    "f16": (11, -14, 15), "bf16": (8, -126, 127), "cb16": (10, -41, 20), "f32": (24, -126, 127),
    "f64": (53, -1022, 1023),
}  # fmt: skip
"""Precision in bits, smallest and largest exponent of normal numbers."""
HALVES = ("f16", "bf16", "cb16")


INTEGER = {
    "addi": lambda a, b, n: a + b, "subi": lambda a, b, n: a - b, "muli": lambda a, b, n: a * b,
    "andi": lambda a, b, n: a & b, "ori": lambda a, b, n: a | b, "xori": lambda a, b, n: a ^ b,
    "minsi": lambda a, b, n: min(a, b), "maxsi": lambda a, b, n: max(a, b),
    "minui": lambda a, b, n: min(a % 2**n, b % 2**n), "maxui": lambda a, b, n: max(a % 2**n, b % 2**n),
    "shli": lambda a, b, n: a << (b % 2**n) if b % 2**n < n else 0,
    "shrui": lambda a, b, n: (a % 2**n) >> (b % 2**n),
    "shrsi": lambda a, b, n: a >> min(b % 2**n, n - 1),
    "divsi": lambda a, b, n: int(Fraction(a, b)), "remsi": lambda a, b, n: a - b * int(Fraction(a, b)),
    "divui": lambda a, b, n: (a % 2**n) // (b % 2**n), "remui": lambda a, b, n: (a % 2**n) % (b % 2**n),
    "floordivsi": lambda a, b, n: a // b, "ceildivsi": lambda a, b, n: -(-a // b),
    "ceildivui": lambda a, b, n: -(-(a % 2**n) // (b % 2**n)),
}  # fmt: skip
"""Operations of `arith` on integers that are kept signed, before they are wrapped to n bits."""


def walk(strides: Sequence[int], extents: Sequence[int]) -> Iterator[int]:
    """Return the element offsets of a descriptor's walk: strides innermost first, extents outermost first.

    One counter for each dimension, like an odometer. A step advances the fastest dimension that is not at its end,
    adds that dimension's stride and no other, and winds the faster ones back (DSD-061, DSD-062).
    """
    lengths = list(reversed(extents))
    if any(length == 0 for length in lengths):
        return
    counters = [0] * len(lengths)
    offset = 0
    while True:
        yield offset
        for dimension, length in enumerate(lengths):
            if counters[dimension] + 1 < length:
                counters[dimension] += 1
                offset += strides[dimension]
                break
            counters[dimension] = 0
        else:
            return


def round_to(value: Fraction, kind: str, negative_zero: bool = False) -> float:
    """Return a rational number rounded to nearest even in `kind`, as a Python float."""
    precision, smallest, largest = FLOATS[kind]
    if value == 0:
        return -0.0 if negative_zero else 0.0
    magnitude = abs(value)
    exponent = 0
    while magnitude >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while magnitude < Fraction(2) ** exponent:
        exponent -= 1
    step = Fraction(2) ** (max(exponent, smallest) - precision + 1)
    quotient, rest = divmod(magnitude, step)
    if 2 * rest > step or (2 * rest == step and quotient % 2 == 1):
        quotient += 1
    rounded = quotient * step
    if rounded >= Fraction(2) ** (largest + 1):
        result = math.inf
    else:
        result = float(rounded)
    return -result if value < 0 else result


def add(a: float, b: float, kind: str) -> float:
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if math.isinf(a) or math.isinf(b):
        if math.isinf(a) and math.isinf(b) and a != b:
            return math.nan
        return a if math.isinf(a) else b
    both_negative_zero = math.copysign(1, a) < 0 and math.copysign(1, b) < 0 and a == 0 == b
    return round_to(Fraction(a) + Fraction(b), kind, both_negative_zero)


def multiply(a: float, b: float, kind: str) -> float:
    if math.isnan(a) or math.isnan(b):
        return math.nan
    negative = (math.copysign(1, a) < 0) != (math.copysign(1, b) < 0)
    if math.isinf(a) or math.isinf(b):
        if a == 0 or b == 0:
            return math.nan
        return -math.inf if negative else math.inf
    return round_to(Fraction(a) * Fraction(b), kind, negative)


def to_kind(value: float, kind: str) -> float:
    if math.isnan(value) or math.isinf(value):
        return value
    return round_to(Fraction(value), kind, math.copysign(1, value) < 0)


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def to_integer(value: float) -> int:
    """Return the nearest even 16-bit integer, saturated, 0 for NaN."""
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return 32767 if value > 0 else -32768
    whole = math.floor(Fraction(value))
    rest = Fraction(value) - whole
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2):
        whole += 1
    return max(-32768, min(32767, whole))


def remainder(a: float, b: float) -> float:
    """Return what is left of `a` after as many whole `b` as fit, with the sign of `a`."""
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or b == 0:
        return math.nan
    if math.isinf(b):
        return a
    exact = abs(Fraction(a)) % abs(Fraction(b))
    return math.copysign(float(exact), a)


def compute(name: str, values: Sequence[Any], half: str = "f16") -> float | int:
    """Return the result of one element of an operation, as a number of its destination's type.

    `half` is the format of 16-bit floats.
    """
    unsigned = [value & 0xFFFF if isinstance(value, int) else 0 for value in values]
    kind = {"h": half, "s": "f32"}.get(name[-1], "i16")
    if name in ("mov16", "mov32", "fmovh", "fmovs"):
        return values[0]
    if name in ("fadds", "faddh"):
        return add(values[0], values[1], kind)
    if name == "faddhs":
        return add(values[0], values[1], "f32")
    if name in ("fsubs", "fsubh"):
        return add(values[0], -values[1], kind)
    if name in ("fmuls", "fmulh"):
        return multiply(values[0], values[1], kind)
    if name in ("fmacs", "fmach"):
        return add(values[0], multiply(values[1], values[2], kind), kind)
    if name == "fmachs":
        # Two 11-bit significands: their product is exact in f32.
        return add(values[0], multiply(values[1], values[2], "f32"), "f32")
    if name in ("fmaxs", "fmaxh"):
        if math.isnan(values[0]) or math.isnan(values[1]):
            return values[1] if math.isnan(values[0]) else values[0]
        return values[1] if values[1] > values[0] else values[0]
    if name in ("fabss", "fabsh"):
        return math.copysign(values[0], 1)
    if name in ("fnegs", "fnegh"):
        return -values[0]
    if name in ("fh2s", "fs2h", "xp162fh", "xp162fs"):
        target = {"fh2s": "f32", "fs2h": half, "xp162fh": half, "xp162fs": "f32"}[name]
        return to_kind(float(values[0]), target)
    if name in ("fh2xp16", "fs2xp16"):
        return to_integer(values[0])
    if name in ("fnormh", "fnorms"):
        magnitude = abs(values[0])
        if math.isnan(magnitude) or magnitude in (0, math.inf):
            return values[0]
        while magnitude >= 2:
            magnitude /= 2
        while magnitude < 1:
            magnitude *= 2
        return math.copysign(magnitude, values[0])
    if name in ("fscaleh", "fscales"):
        if math.isnan(values[0]) or math.isinf(values[0]):
            return values[0]
        return round_to(Fraction(values[0]) * Fraction(2) ** values[1], kind, math.copysign(1, values[0]) < 0)
    if name == "add16":
        return signed(values[0] + values[1], 16)
    if name == "sub16":
        return signed(values[0] - values[1], 16)
    if name == "and16":
        return signed(unsigned[0] & unsigned[1], 16)
    if name == "or16":
        return signed(unsigned[0] | unsigned[1], 16)
    if name == "xor16":
        return signed(unsigned[0] ^ unsigned[1], 16)
    if name == "sll16":
        return signed(unsigned[0] << unsigned[1], 16)
    if name == "slr16":
        return signed(unsigned[0] >> unsigned[1], 16)
    if name == "sar16":
        return values[0] >> unsigned[1]
    if name == "popcnt":
        return bin(unsigned[0]).count("1")
    if name == "clz":
        return 16 - unsigned[0].bit_length()
    if name == "ctz":
        return 16 if not unsigned[0] else (unsigned[0] & -unsigned[0]).bit_length() - 1
    raise NotImplementedError(name)


def to_bits(value: Any, kind: str) -> int:
    if kind in ("bf16", "cb16"):
        precision, smallest, largest = FLOATS[kind]
        sign = 0x8000 if math.copysign(1, value) < 0 else 0
        if math.isnan(value) or math.isinf(value):
            quiet = 1 << (precision - 2) if math.isnan(value) else 0
            return sign | (largest - smallest + 2) << (precision - 1) | quiet
        magnitude = abs(Fraction(value))
        for exponent in range(largest, smallest - 1, -1):
            if magnitude >= Fraction(2) ** exponent:
                mantissa = (magnitude / Fraction(2) ** exponent - 1) * 2 ** (precision - 1)
                return sign | (exponent - smallest + 1) << (precision - 1) | whole(mantissa)
        return sign | whole(magnitude / Fraction(2) ** (smallest - precision + 1))
    if kind == "f16":
        return struct.unpack("<H", struct.pack("<e", value))[0]
    if kind == "f32":
        return struct.unpack("<I", struct.pack("<f", value))[0]
    if kind == "f64":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    return value & (0xFFFF if kind == "i16" else 0xFFFFFFFF)


def whole(number: Fraction) -> int:
    """Return a number that has to be an integer."""
    assert number.denominator == 1, number
    return number.numerator


def from_bits(bits: int, kind: str) -> float | int:
    if kind in ("bf16", "cb16"):
        precision, smallest, largest = FLOATS[kind]
        bits &= 0xFFFF
        sign = -1.0 if bits >> 15 else 1.0
        exponent, mantissa = (bits & 0x7FFF) >> (precision - 1), bits & ((1 << (precision - 1)) - 1)
        if exponent > largest - smallest + 1:
            return math.copysign(math.nan, sign) if mantissa else sign * math.inf
        if exponent:
            mantissa += 1 << (precision - 1)
        return sign * float(mantissa * Fraction(2) ** (max(exponent, 1) - 1 + smallest - precision + 1))
    if kind == "f16":
        return struct.unpack("<e", struct.pack("<H", bits))[0]
    if kind == "f32":
        return struct.unpack("<f", struct.pack("<I", bits))[0]
    if kind == "f64":
        return struct.unpack("<d", struct.pack("<Q", bits))[0]
    return signed(bits, 16 if kind == "i16" else 32)


def is_nan(bits: int, kind: str) -> bool:
    return kind in FLOATS and math.isnan(from_bits(bits, kind))


class Words:
    """Memory of one unit. `nan_at` remembers where NaNs were computed: their bits are not defined."""

    def __init__(self, words: Sequence[int]):
        self.words = [int(word) & 0xFFFF for word in words]
        self.nan_at: dict[int, str] = {}

    def read(self, kind: str, address: int) -> int:
        if kind in ("f32", "i32"):
            return self.words[address] | self.words[address + 1] << 16
        return self.words[address]

    def write(self, kind: str, address: int, bits: int, *, computed: bool = True) -> None:
        wide = kind in ("f32", "i32")
        for word in (address - 1, address, address + 1) if wide else (address - 1, address):
            known = self.nan_at.get(word)
            if known is not None and (word >= address or known == "f32"):
                del self.nan_at[word]
        self.words[address] = bits & 0xFFFF
        if wide:
            self.words[address + 1] = bits >> 16
        if computed and is_nan(bits, kind):
            self.nan_at[address] = kind

    def agrees(self, words: Sequence[int]) -> bool:
        """Return True if memory holds the same words, any NaN standing for any other."""
        other = Words(words)
        skip: set[int] = set()
        for address, kind in self.nan_at.items():
            if not is_nan(other.read(kind, address), kind):
                return False
            skip |= {address, address + 1} if kind == "f32" else {address}
        return all(a == b for k, (a, b) in enumerate(zip(self.words, other.words, strict=True)) if k not in skip)


@dataclass
class Memory:
    """A memory operand: word addresses of its elements, in the order of the walk."""

    kind: str
    addresses: list[int]


@dataclass
class Scalar:
    kind: str
    value: float | int


@dataclass
class Wavelets:
    """A queue operand: bits of the wavelets that arrive, or, as a destination, those that are sent."""

    kind: str
    bits: list[int]


def operand(base: int, kind: str, at: int, strides: Sequence[int], extents: Sequence[int]) -> Memory:
    """Return a memory operand over a buffer at a word address."""
    width = 2 if kind in ("f32", "i32") else 1
    return Memory(kind, [base + (at + offset) * width for offset in walk(strides, extents)])


def execute(
    words: Words,
    name: str,
    destination: Memory | Wavelets,
    sources: Sequence[Memory | Scalar | Wavelets],
    count: int,
    half: str = "f16",
) -> None:
    """Run an operation element by element: iteration k sees what the iterations before it have written."""
    carry = 0
    for k in range(count):
        read: list[int] = []
        for source in sources:
            if isinstance(source, Scalar):
                read.append(to_bits(source.value, source.kind))
            elif isinstance(source, Wavelets):
                read.append(source.bits[k])
            else:
                read.append(words.read(source.kind, source.addresses[k]))
        if name in ("mov16", "mov32", "fmovh", "fmovs"):
            bits = read[0]  # a move keeps every bit, of a NaN as well
        elif name == "addc16":
            carry, bits = divmod(sum(each & 0xFFFF for each in read) + carry, 1 << 16)
        else:
            values = [from_bits(bits, source.kind) for bits, source in zip(read, sources, strict=True)]
            bits = to_bits(compute(name, values, half), destination.kind)
        if isinstance(destination, Wavelets):
            destination.bits.append(bits)
        else:
            words.write(destination.kind, destination.addresses[k], bits, computed=not name.startswith(("mov", "fmov")))
