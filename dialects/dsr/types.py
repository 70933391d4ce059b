"""Types of registers: files of descriptor registers (DSRs), of extended registers and of stride registers.

Nothing here knows how a register is loaded or used.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from xdsl.dialects.builtin import IntAttr, NoneAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import Resource
from xdsl.utils.exceptions import VerifyException

from ...targets import Target
from ..inheritance import ByInheritance
from ..wse import parse_element_type, verify_element_type


@dataclass(frozen=True, init=False)
class RegisterType(ParametrizedAttribute, TypeAttribute, metaclass=ByInheritance):
    """A register of one file; `index` is its number, absent until it is chosen."""

    index: IntAttr | NoneAttr

    @property
    def number(self) -> int | None:
        """The register's number, or None if it is not chosen yet."""
        return self.index.data if isinstance(self.index, IntAttr) else None

    @property
    def is_allocated(self) -> bool:
        return self.number is not None

    @classmethod
    def file(cls) -> str:
        """Return the name of the register file: `dest`, `src0`, `src1`, `xdsr` or `sr`."""
        return cls.name.removeprefix("dsr.")

    @classmethod
    def file_size(cls, target: Target) -> int:
        """Return how many registers of this file `target` has."""
        match cls.file():
            case "dest":
                return target.dsr_dest
            case "src0":
                return target.dsr_src0
            case "src1":
                return target.dsr_src1
            case "xdsr":
                return target.xdsrs
            case _:
                return target.srs

    def verify_index(self, target: Target) -> None:
        """Raise VerifyException if `target` has no such register (DSR-022, DSR-028, DSR-031)."""
        size = self.file_size(target)
        if self.number is not None and not 0 <= self.number < size:
            raise VerifyException(
                f"{target.name} has no {self.file()} register {self.number}; choose one from 0 to {size - 1}"
            )


@lru_cache(maxsize=1024)
def _descriptor_register(
    kind: type[DescriptorRegisterType], element_type: Attribute, number: int | None
) -> DescriptorRegisterType:
    return kind.new([NoneAttr() if number is None else IntAttr(number), element_type])


@dataclass(frozen=True, init=False)
class DescriptorRegisterType(RegisterType, ABC):
    """A register that holds a descriptor (a DSR)."""

    element_type: Attribute

    @classmethod
    def get(cls, element_type: Attribute, number: int | None = None) -> DescriptorRegisterType:
        return _descriptor_register(cls, element_type, number)

    def allocated(self, number: int) -> DescriptorRegisterType:
        """Return register `number` of the same file, with the same elements."""
        return type(self).get(self.element_type, number)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            element_type = parse_element_type(parser, "a register")
            index: IntAttr | NoneAttr = NoneAttr()
            if parser.parse_optional_punctuation(",") is not None:
                index = IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False))
        return (index, element_type)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.element_type)
            if self.number is not None:
                printer.print_string(f", {self.number}")

    def verify(self) -> None:
        verify_element_type(self.element_type, "a register")


@irdl_attr_definition
class DestType(DescriptorRegisterType):
    """Holds a destination only (DSR-008): `!dsr.dest<f32, 2>`."""

    name = "dsr.dest"


@irdl_attr_definition
class Src0Type(DescriptorRegisterType):
    """Holds a source or a destination (DSR-009): `!dsr.src0<f32, 2>`."""

    name = "dsr.src0"


@irdl_attr_definition
class Src1Type(DescriptorRegisterType):
    """Holds a source only (DSR-010): `!dsr.src1<f32, 2>`."""

    name = "dsr.src1"


class ExtensionRegisterType(RegisterType, ABC):
    """A register that holds what a descriptor has beyond a DSR; it has no element type."""

    @classmethod
    def get(cls, number: int | None = None) -> ExtensionRegisterType:
        return cls.new([NoneAttr() if number is None else IntAttr(number)])

    def allocated(self, number: int) -> ExtensionRegisterType:
        """Return register `number` of the same file."""
        return type(self).get(number)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        if parser.parse_optional_punctuation("<") is None:
            return (NoneAttr(),)
        number = parser.parse_integer(allow_boolean=False, allow_negative=False)
        parser.parse_punctuation(">")
        return (IntAttr(number),)

    def print_parameters(self, printer: Printer) -> None:
        if self.number is not None:
            with printer.in_angle_brackets():
                printer.print_string(str(self.number))


@irdl_attr_definition
class XdsrType(ExtensionRegisterType):
    """Extends a DSR for a FIFO, a circular buffer or a mem4d (DSR-005): `!dsr.xdsr<0>`."""

    name = "dsr.xdsr"


@irdl_attr_definition
class SrType(ExtensionRegisterType):
    """Holds one stride of a mem4d (DSR-006): `!dsr.sr<0>`."""

    name = "dsr.sr"


@dataclass(frozen=True)
class RegisterResource(Resource):
    """One register of the PE."""

    register: RegisterType

    def name(self) -> str:
        number = self.register.number
        return f"<{self.register.file()}>" if number is None else f"<{self.register.file()} {number}>"
