"""Hardware queues between the router and the unit.

Nothing here knows the streams made of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent
from xdsl.utils.exceptions import VerifyException

from ..assembly import parse_attributes, parse_symbol, print_attributes
from ..building import array, build, flag, integer, string
from ..machine.queue_fields import parse_control_offset, print_control_offset, verify_control_offset
from ..machine.region import RegionAttr, parse_region_list, print_region_list
from ..machine.region_overlap import first_overlap
from ..machine.rules import verify_unblocked_queue
from ..machine.symbols import Scope, SymbolDefinition, SymbolUser, described
from ..traits import VerifiedByKind
from .fabric import UnitsOp, color_named
from .fields import counted


@irdl_op_definition
class QueueOp(SymbolDefinition, SymbolUser):
    """A hardware queue of the unit, `input` or `output`, with the color it serves; where the color differs from
    unit to unit, each color comes with the regions of the grid on which it holds. What is sent or awaited where none
    holds is an error of the run (AMB-34).

    `unblocked` lets control wavelets of an input queue without data task start control tasks from the beginning; a
    data task does so too. `control_offset` is added to the ids that control wavelets of the queue carry.

    An id the target lacks is refused (DSD-219, DSD-220). Queues may share an id, but on WSE-3 they then serve one
    color on a PE.
    """

    NOUN: ClassVar = "a queue"

    name = "flow.queue"
    direction = prop_def(StringAttr)
    queue_id = prop_def(IntegerAttr)
    colors = prop_def(ArrayAttr[SymbolRefAttr])
    color_regions = prop_def(ArrayAttr[ArrayAttr[RegionAttr]])
    control_offset = opt_prop_def(IntegerAttr)
    unblocked = opt_prop_def(UnitAttr)
    traits = traits_def(HasParent(UnitsOp), VerifiedByKind())

    def __init__(
        self,
        name: str,
        direction: str,
        queue_id: int,
        colors: Sequence[SymbolRefAttr],
        color_regions: Sequence[ArrayAttr[RegionAttr]],
        *,
        unblocked: bool = False,
        control_offset: int | None = None,
    ):
        properties = {
            "sym_name": string(name),
            "direction": string(direction),
            "queue_id": integer(queue_id),
            "colors": array(tuple(colors)),
            "color_regions": array(tuple(color_regions)),
            "control_offset": None if control_offset is None else integer(control_offset),
            "unblocked": flag(unblocked),
        }
        build(self, [], [], properties)

    @classmethod
    def parse(cls, parser: Parser) -> QueueOp:
        direction = parser.parse_keyword_in(("input", "output"))
        name = parser.parse_symbol_name().data
        parser.parse_keyword("id")
        queue_id = parser.parse_integer(allow_boolean=False)
        colors: list[SymbolRefAttr] = []
        color_regions: list[ArrayAttr[RegionAttr]] = []

        def color() -> None:
            colors.append(parse_symbol(parser))
            parser.parse_keyword("on")
            color_regions.append(parse_region_list(parser))

        parser.parse_keyword("colors")
        parser.parse_comma_separated_list(parser.Delimiter.SQUARE, color)
        offset = parse_control_offset(parser)
        unblocked = parser.parse_optional_keyword("unblocked") is not None
        op = cls(name, direction, queue_id, colors, color_regions, unblocked=unblocked, control_offset=offset)
        op.attributes.update(parse_attributes(parser))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.direction.data} ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f" id {self.queue_id.value.data} colors [")
        for position, (color, regions) in enumerate(zip(self.colors, self.color_regions, strict=True)):
            if position:
                printer.print_string(", ")
            printer.print_attribute(color)
            printer.print_string(" on ")
            print_region_list(printer, regions)
        printer.print_string("]")
        print_control_offset(printer, self.control_offset)
        if self.unblocked is not None:
            printer.print_string(" unblocked")
        print_attributes(printer, self)

    @property
    def is_input(self) -> bool:
        return self.direction.data == "input"

    @property
    def symbol_kind(self) -> str:
        return f"{self.direction.data} queue"

    def places(self, grid: tuple[int, int]) -> Iterator[tuple[str, tuple[range, range]]]:
        """Yield the name of each color with the columns and rows on which it holds."""
        for color, regions in zip(self.colors, self.color_regions, strict=True):
            for region in regions:
                yield color.string_value(), region.resolve(*grid)

    def verify_(self) -> None:
        name = self.sym_name.data
        if self.direction.data not in ("input", "output"):
            raise VerifyException(f"queue @{name} is '{self.direction.data}'; make it 'input' or 'output'")
        verify_unblocked_queue(name, is_input=self.is_input, unblocked=self.unblocked is not None)
        verify_control_offset(name, is_input=self.is_input, offset=self.control_offset)
        if len(self.colors) != len(self.color_regions):
            raise VerifyException(
                f"queue @{name} has {counted(len(self.colors), 'color')}, but regions for {len(self.color_regions)}; "
                "give each color its regions"
            )

    def verify_symbols(self, scope: Scope) -> None:
        for color in self.colors:
            color_named(color, scope)
        name, number, target = self.sym_name.data, self.queue_id.value.data, scope.target
        queues = target.input_queues if self.is_input else target.output_queues
        if not 0 <= number < queues:
            raise VerifyException(
                f"{described(self)} has id {number}, which {target.name} does not have; choose one from 0 to "
                f"{queues - 1}"
            )
        places = list(self.places(scope.grid))
        if (found := first_overlap(places)) is not None:
            x, y = found[2]
            raise VerifyException(
                f"queue @{name} serves @{places[found[0]][0]} and @{places[found[1]][0]} at PE ({x}, {y}); a queue "
                "serves one color, so keep one of them there"
            )


def input_queue_named(symbol: SymbolRefAttr, scope: Scope) -> QueueOp:
    """Return the input queue called `symbol`; raises VerifyException if it is anything else."""
    noun = "an input queue"
    found = scope.find(symbol)
    if not isinstance(found, QueueOp) or not found.is_input:
        raise VerifyException(f"{described(found)} is used where {noun} is needed; name {noun}")
    return found
