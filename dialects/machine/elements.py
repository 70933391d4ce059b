"""Element types of memory and wavelets: parsing and verification of them and of their values.

`wse`, `dsd`, `dsr` and `flow` share it; nothing here knows who owns the memory or names a symbol.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    IntegerType,
    MemRefType,
    TensorType,
    bf16,
    f16,
    f32,
    i8,
    i16,
    i32,
)
from xdsl.ir import Attribute
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

ELEMENT_TYPES: tuple[BFloat16Type | Float16Type | Float32Type | IntegerType, ...] = (f16, bf16, f32, i16, i32)
"""Element types of wavelets and DSD operations; integers are signless, operations give the sign."""

MEMORY_TYPES = (*ELEMENT_TYPES, i8)
"""Element types of buffers and of scalar loads and stores; an element of i8 takes a byte."""


def parse_dense(parser: Parser, element_type: Attribute, shape: Sequence[int]) -> DenseIntOrFPElementsAttr:
    element = next((element for element in MEMORY_TYPES if element == element_type), None)
    if element is None:
        parser.raise_error(f"{element_type} takes no initial value; use f16, bf16, f32, i8, i16 or i32")
    parser.parse_keyword("dense")
    return parser.parse_dense_int_or_fp_elements_attr(TensorType(element, shape))


def print_dense(printer: Printer, value: DenseIntOrFPElementsAttr) -> None:
    """Print initial values so that `parse_dense` reads them again.

    Infinities and NaNs are printed as bytes, not as integers, and so are zeros of both signs, not as one of them.
    """
    if isa(value.get_element_type(), AnyFloat) and (
        any(not math.isfinite(n) for n in value.get_values() if isinstance(n, float))
        or value.is_splat() != is_one_number(value)
    ):
        printer.print_string(f'dense<"0x{value.data.data.hex().upper()}">')
    else:
        value.print_without_type(printer)


def print_typed_dense(printer: Printer, value: DenseIntOrFPElementsAttr) -> None:
    """Print initial values and their type so that they are read again as an attribute."""
    print_dense(printer, value)
    printer.print_string(" : ")
    printer.print_attribute(value.get_type())


def is_one_number(value: DenseIntOrFPElementsAttr) -> bool:
    """Return True if all elements are the same, bit for bit."""
    size: int = cast(Any, value.get_element_type()).size
    data = value.data.data
    return data == data[:size] * (len(data) // size)


def parse_element_type(parser: AttrParser, owner: str) -> Attribute:
    """Parse one of `ELEMENT_TYPES`; anything else is an error that says `owner` cannot have it."""
    position = parser.pos
    type = parser.parse_type()
    if type not in ELEMENT_TYPES:
        parser.raise_error(f"{owner} cannot hold {type}; use f16, bf16, f32, i16 or i32", position)
    return type


def parse_memref(parser: AttrParser, owner: str) -> MemRefType:
    """Parse a memref type; anything else is an error that says `owner` has one."""
    position = parser.pos
    type = parser.parse_type()
    if not isa(type, MemRefType):
        parser.raise_error(f"{owner} has a memref type, for example memref<64xf32>", position)
    return type


def verify_element_type(type: Attribute, owner: str) -> None:
    """Raise VerifyException unless `type` is one of `ELEMENT_TYPES`."""
    if type not in ELEMENT_TYPES:
        raise VerifyException(f"{owner} cannot hold {type}; use f16, bf16, f32, i16 or i32")


def verify_memory_type(type: Attribute, owner: str) -> None:
    """Raise VerifyException unless `type` is one of `MEMORY_TYPES`."""
    if type not in MEMORY_TYPES:
        raise VerifyException(f"{owner} cannot hold {type}; use f16, bf16, f32, i8, i16 or i32")


def memory_bytes(type: Attribute) -> int:
    """Return the bytes that an element of one of `MEMORY_TYPES` takes in memory."""
    return 4 if type in (f32, i32) else 1 if type == i8 else 2


def element_count(type: MemRefType) -> int:
    """Return the number of elements of a memref with known extents, 1 for rank 0."""
    count = 1
    for extent in type.get_shape():
        count *= extent
    return count
