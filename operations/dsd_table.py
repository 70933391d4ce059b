"""The DSD operations of the wafer, stated once.

Dialects `dsd` and `dsr` generate their operations from this table, `flow.apply` names its entries, the engine
chooses its arithmetic by `function`, and the reference pages print it. The table knows nothing of IR or numpy.
Source: the builtins for DSD operations of the CSL language reference and its appendix on SIMD mode.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Literal

from ..diagnostics.records import record

Element = Literal["f16", "bf16", "f32", "i16", "i32"]
"""Element type of an operand; integers are signless, the operation fixes the signedness.

`bf16` is in no row, only in what `in_format` makes of one.
"""

Format = Literal["bf16", "cb16"]
"""A format of 16-bit floats that all of a program has instead of `f16` (Types, FP16 types)."""

FORMATS: tuple[Format, ...] = ("bf16", "cb16")

Function = Literal[
    "move", "add", "add_with_carry", "subtract", "multiply", "multiply_add", "maximum", "absolute", "negate",
    "and", "or", "xor", "shift_left", "shift_right_logical", "shift_right_arithmetic", "count_leading_zeros",
    "count_trailing_zeros", "population_count", "convert", "normalize", "scale",
]  # fmt: skip


@record
class DsdOperation:
    """One DSD operation, for example `@fmacs`.

    `destination` and `sources` give the element type of each operand, in the order of the CSL builtin.
    `scalar_sources` holds the source positions where a scalar may replace a descriptor, `scalar_only`
    those where it must; `scalar_destination` says if a pointer to a scalar may be the destination
    (DSD-072, DSD-073). `simd` is the largest number of elements a cycle on (WSE-2, WSE-3).
    """

    name: str
    function: Function
    destination: Element
    sources: tuple[Element, ...]
    summary: str
    scalar_sources: frozenset[int] = frozenset()
    scalar_only: frozenset[int] = frozenset()
    scalar_destination: bool = False
    simd: tuple[int, int] = (1, 1)

    @property
    def operand_bits(self) -> tuple[int, ...]:
        """Width of an element of each operand in bits, destination first."""
        return tuple(32 if element in ("f32", "i32") else 16 for element in (self.destination, *self.sources))

    @property
    def has_format(self) -> bool:
        """True if an operand is a 16-bit float, which may be of another format than f16."""
        return "f16" in (self.destination, *self.sources)

    def in_format(self, format: Format | None) -> DsdOperation:
        """Return the row with operands of another format of 16-bit floats; a cb16 is an i16 with its bits."""
        return self if format is None else _in_format(self, format)


@cache
def _in_format(row: DsdOperation, format: Format) -> DsdOperation:
    element: Element = "i16" if format == "cb16" else format
    destination, *sources = [element if kind == "f16" else kind for kind in (row.destination, *row.sources)]
    return replace(row, destination=destination, sources=tuple(sources))


_ELEMENTS: dict[str, Element] = {"h": "f16", "s": "f32", "w": "i16", "d": "i32"}
"""Letters of the signatures below."""


def _operation(
    name: str,
    function: Function,
    signature: str,
    summary: str,
    *,
    scalars: tuple[int, ...] = (),
    scalar_only: tuple[int, ...] = (),
    pointer: bool = False,
    simd: tuple[int, int] = (1, 1),
) -> DsdOperation:
    """Return a row of the table; `signature` has a letter for the element of the destination, then of each source."""
    destination, *sources = signature
    return DsdOperation(
        name, function, _ELEMENTS[destination], tuple(_ELEMENTS[letter] for letter in sources), summary,
        frozenset(scalars) | frozenset(scalar_only), frozenset(scalar_only), pointer, simd,
    )  # fmt: skip


def _table() -> dict[str, DsdOperation]:
    op = _operation
    both, one = (0, 1), (0,)
    rows = [
        op("add16", "add", "www", "adds 16-bit integers", scalars=both, simd=(4, 8)),
        op("addc16", "add_with_carry", "www", "adds 16-bit integers, with the carry of the last sum", scalars=both,
           simd=(1, 8)),
        op("and16", "and", "www", "bitwise and of 16-bit integers", scalars=both, simd=(4, 8)),
        op("clz", "count_leading_zeros", "ww", "counts leading zeros", scalars=one),
        op("ctz", "count_trailing_zeros", "ww", "counts trailing zeros", scalars=one),
        op("fabsh", "absolute", "hh", "absolute value of f16", scalars=one, simd=(4, 8)),
        op("fabss", "absolute", "ss", "absolute value of f32", scalars=one, simd=(2, 4)),
        op("faddh", "add", "hhh", "adds f16", scalars=both, pointer=True, simd=(4, 8)),
        op("faddhs", "add", "shs", "adds an f16 and an f32", scalars=both, pointer=True, simd=(2, 4)),
        op("fadds", "add", "sss", "adds f32", scalars=both, pointer=True, simd=(2, 4)),
        op("fh2s", "convert", "sh", "converts f16 to f32", scalars=one, simd=(1, 4)),
        op("fh2xp16", "convert", "wh", "converts f16 to a 16-bit integer", scalars=one, pointer=True, simd=(1, 8)),
        op("fmach", "multiply_add", "hhhh", "first source plus second source times a scalar, f16",
           scalar_only=(2,), simd=(4, 8)),
        op("fmachs", "multiply_add", "sshh", "f32 first source plus f16 second source times a scalar",
           scalar_only=(2,), simd=(2, 4)),
        op("fmacs", "multiply_add", "ssss", "first source plus second source times a scalar, f32",
           scalar_only=(2,), simd=(1, 1)),
        op("fmaxh", "maximum", "hhh", "larger of two f16", scalars=both, pointer=True, simd=(1, 8)),
        op("fmaxs", "maximum", "sss", "larger of two f32", scalars=both, pointer=True, simd=(1, 4)),
        op("fmovh", "move", "hh", "moves f16", scalars=one, pointer=True, simd=(4, 8)),
        op("fmovs", "move", "ss", "moves f32", scalars=one, pointer=True, simd=(2, 4)),
        op("fmulh", "multiply", "hhh", "multiplies f16", scalars=both, pointer=True, simd=(4, 8)),
        op("fmuls", "multiply", "sss", "multiplies f32", scalars=both, pointer=True, simd=(1, 1)),
        op("fnegh", "negate", "hh", "negates f16", scalars=one, simd=(4, 8)),
        op("fnegs", "negate", "ss", "negates f32", scalars=one, simd=(2, 4)),
        op("fnormh", "normalize", "hh", "significand of an f16 scalar", scalar_only=one, pointer=True, simd=(4, 8)),
        op("fnorms", "normalize", "ss", "significand of an f32 scalar", scalar_only=one, pointer=True, simd=(2, 4)),
        op("fs2h", "convert", "hs", "converts f32 to f16", scalars=one, simd=(1, 4)),
        op("fs2xp16", "convert", "ws", "converts f32 to a 16-bit integer", scalars=one, pointer=True, simd=(1, 4)),
        op("fscaleh", "scale", "hhw", "scales an f16 scalar by a power of two", scalar_only=both, pointer=True,
           simd=(4, 8)),
        op("fscales", "scale", "ssw", "scales an f32 scalar by a power of two", scalar_only=both, pointer=True,
           simd=(2, 4)),
        op("fsubh", "subtract", "hhh", "subtracts f16", scalars=both, pointer=True, simd=(4, 8)),
        op("fsubs", "subtract", "sss", "subtracts f32", scalars=both, pointer=True, simd=(2, 4)),
        op("mov16", "move", "ww", "moves 16-bit words", scalars=one, pointer=True, simd=(4, 8)),
        op("mov32", "move", "dd", "moves 32-bit words", scalars=one, pointer=True, simd=(2, 4)),
        op("or16", "or", "www", "bitwise or of 16-bit integers", scalars=both, simd=(4, 8)),
        op("popcnt", "population_count", "ww", "counts the ones of a 16-bit integer", scalars=one),
        op("sar16", "shift_right_arithmetic", "www", "shifts 16-bit integers right, sign kept", scalars=both,
           simd=(1, 4)),
        op("sll16", "shift_left", "www", "shifts 16-bit integers left", scalars=both, simd=(1, 4)),
        op("slr16", "shift_right_logical", "www", "shifts 16-bit integers right, zeros in", scalars=both, simd=(1, 4)),
        op("sub16", "subtract", "www", "subtracts 16-bit integers", scalars=(1,), simd=(4, 8)),
        op("xor16", "xor", "www", "bitwise exclusive or of 16-bit integers", scalars=both, simd=(4, 8)),
        op("xp162fh", "convert", "hw", "converts a 16-bit integer to f16", scalars=one, simd=(1, 8)),
        op("xp162fs", "convert", "sw", "converts a 16-bit integer to f32", scalars=one, simd=(1, 4)),
    ]  # fmt: skip
    return {row.name: row for row in rows}


OPERATIONS: dict[str, DsdOperation] = _table()
