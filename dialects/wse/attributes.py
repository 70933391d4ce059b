"""Attributes and words of the assembly: ports of routers, kinds of tasks, axes, host streams, colors of queues.

Nothing here knows an operation.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, SymbolRefAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

from ..assembly import parse_symbol
from ..machine.region import RegionAttr, Regions, parse_region_list, print_region_list, regions_attribute

EVERYWHERE = ArrayAttr([RegionAttr.get()])
"""The whole rectangle, `[:, :]`."""


class Direction(StrEnum):
    """A port of a PE's router; `ramp` leads to the PE itself. x grows east, y grows south."""

    RAMP = "ramp"
    NORTH = "north"
    SOUTH = "south"
    EAST = "east"
    WEST = "west"


class TaskKind(StrEnum):
    """What starts a task: an activation, a wavelet of data, or a control wavelet."""

    LOCAL = "local"
    DATA = "data"
    CONTROL = "control"


class Axis(StrEnum):
    """A direction of the rectangle: x counts columns, y counts rows."""

    X = "x"
    Y = "y"


@irdl_attr_definition
class DirectionAttr(EnumAttribute[Direction], SpacedOpaqueSyntaxAttribute):
    """A port of a router, in a `wse.route`."""

    name = "wse.direction"


@irdl_attr_definition
class TaskKindAttr(EnumAttribute[TaskKind], SpacedOpaqueSyntaxAttribute):
    """The kind of a `wse.task`."""

    name = "wse.task_kind"


@irdl_attr_definition
class AxisAttr(EnumAttribute[Axis], SpacedOpaqueSyntaxAttribute):
    """The axis of a `wse.coordinate` or `wse.extent`."""

    name = "wse.axis"


@irdl_attr_definition
class QueueColorAttr(ParametrizedAttribute):
    """The color a queue serves on some PEs: `#wse.queue_color<@east0 on [::2, :]>`."""

    name = "wse.queue_color"
    color: SymbolRefAttr
    regions: ArrayAttr[RegionAttr]

    @staticmethod
    def get(color: str, regions: Regions = EVERYWHERE) -> QueueColorAttr:
        return QueueColorAttr(SymbolRefAttr(color), regions_attribute(regions))

    @property
    def color_name(self) -> str:
        return self.color.string_value()

    @property
    def is_everywhere(self) -> bool:
        return self.regions == EVERYWHERE

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            parsed = parse_queue_color(parser)
        return (parsed.color, parsed.regions)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_queue_color(printer, self)


def parse_queue_color(parser: AttrParser) -> QueueColorAttr:
    color = parse_symbol(parser)
    if parser.parse_optional_keyword("on") is None:
        return QueueColorAttr(color, EVERYWHERE)
    return QueueColorAttr(color, parse_region_list(parser))


def print_queue_color(printer: Printer, color: QueueColorAttr) -> None:
    printer.print_attribute(color.color)
    if not color.is_everywhere:
        printer.print_string(" on ")
        print_region_list(printer, color.regions)


class StreamWay(StrEnum):
    """Which way the wavelets of a host stream go: from the host in, or out to it."""

    IN = "in"
    OUT = "out"
