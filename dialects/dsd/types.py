"""Types of descriptors: of elements in memory, and of wavelets.

Nothing here knows how a descriptor is made or used.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser

from ..inheritance import ByInheritance
from ..wse import parse_element_type, verify_element_type


@dataclass(frozen=True, init=False)
class DescriptorType(ParametrizedAttribute, TypeAttribute, metaclass=ByInheritance):
    """A descriptor; its elements or wavelets hold `element_type`."""

    element_type: Attribute

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (parse_element_type(parser, "a descriptor"),)

    def verify(self) -> None:
        verify_element_type(self.element_type, "a descriptor")


class MemoryDescriptorType(DescriptorType, ABC):
    """A descriptor of elements in the PE's memory."""


class FabricDescriptorType(DescriptorType, ABC):
    """A descriptor of wavelets."""


@irdl_attr_definition
class Mem1dType(MemoryDescriptorType):
    """Elements at one stride: `!dsd.mem1d<f32>`."""

    name = "dsd.mem1d"


@irdl_attr_definition
class Mem4dType(MemoryDescriptorType):
    """Elements of up to four nested walks: `!dsd.mem4d<f32>`."""

    name = "dsd.mem4d"


@irdl_attr_definition
class CircbufType(MemoryDescriptorType):
    """Elements of a buffer whose walk wraps around: `!dsd.circbuf<f32>`."""

    name = "dsd.circbuf"


@irdl_attr_definition
class FifoType(MemoryDescriptorType):
    """A first-in first-out buffer in memory: `!dsd.fifo<f32>`."""

    name = "dsd.fifo"


@irdl_attr_definition
class FabinType(FabricDescriptorType):
    """Wavelets that arrive: `!dsd.fabin<f32>`."""

    name = "dsd.fabin"


@irdl_attr_definition
class FaboutType(FabricDescriptorType):
    """Wavelets that are sent: `!dsd.fabout<f32>`."""

    name = "dsd.fabout"
