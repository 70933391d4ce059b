"""Types of scalars and streams, and what elements take in memory.

Nothing here knows what a stream is made of.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, f64, i1, i8, i64
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.utils.exceptions import VerifyException

from ..inheritance import ByInheritance
from ..machine.elements import ELEMENT_TYPES, memory_bytes, parse_element_type, verify_element_type

SCALAR_TYPES: tuple[Attribute, ...] = (*ELEMENT_TYPES, i1, i8, i64, IndexType())
"""What a body computes with."""

Scalar = IntegerType | AnyFloat | IndexType


def element_words(type: Attribute) -> int:
    """Return the 16-bit words that an element of a stream takes in memory; raises VerifyException for other types."""
    verify_element_type(type, "a stream")
    return memory_bytes(type) // 2


def verify_scalar_type(type: Attribute, owner: str, *, of_core: bool = False) -> None:
    """Raise VerifyException unless `type` is one of `SCALAR_TYPES`, or f64, which cores of chips have too."""
    if type not in SCALAR_TYPES and not (of_core and type == f64):
        raise VerifyException(f"{owner} cannot be of type {type}; use f16, bf16, f32, i1, i8, i16, i32, i64 or index")


@irdl_attr_definition
class StreamType(ParametrizedAttribute, TypeAttribute, metaclass=ByInheritance):
    """A finite sequence of scalars: a strided walk over memory or a run of wavelets of a queue."""

    name = "flow.stream"
    element_type: Attribute

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (parse_element_type(parser, "a stream"),)

    def verify(self) -> None:
        verify_element_type(self.element_type, "a stream")


def element_type_of(stream: SSAValue) -> Attribute:
    """Return what a stream holds."""
    assert isinstance(stream.type, StreamType)
    return stream.type.element_type
