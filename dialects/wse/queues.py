"""Queues between the router and the PE.

Nothing here knows the operations that take from them and put into them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent
from xdsl.utils.exceptions import VerifyException

from ...targets import Target
from ..assembly import parse_attributes, parse_symbol, print_attributes
from ..building import array, build, flag, integer, string
from ..machine.queue_fields import parse_control_offset, print_control_offset, verify_control_offset
from ..machine.rules import verify_unblocked_queue
from ..machine.symbols import Scope, SymbolDefinition, SymbolUser, described
from ..traits import VerifiedByKind
from .attributes import EVERYWHERE, QueueColorAttr, parse_queue_color, print_queue_color
from .fabric import ColorOp
from .program import PeOp


class QueueOp(SymbolDefinition, SymbolUser, ABC):
    """What input and output queues have in common.

    A queue serves one color on each PE; with a list of colors each entry holds on its region. Where none holds, the run
    reports what is sent or awaited on the queue (AMB-34).
    """

    colors = prop_def(ArrayAttr[QueueColorAttr])
    id = opt_prop_def(IntegerAttr)
    control_offset = opt_prop_def(IntegerAttr)
    unblocked = opt_prop_def(UnitAttr)
    traits = traits_def(HasParent(PeOp), VerifiedByKind())

    def __init__(
        self,
        name: str,
        colors: Sequence[QueueColorAttr] | str,
        id: int | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        *,
        unblocked: bool = False,
        control_offset: int | None = None,
    ):
        if isinstance(colors, str):
            colors = [QueueColorAttr.get(colors)]
        properties = {
            "sym_name": string(name),
            "colors": array(tuple(colors)),
            "id": None if id is None else integer(id),
            "control_offset": None if control_offset is None else integer(control_offset),
            "unblocked": flag(unblocked),
        }
        build(self, [], [], properties, attributes=attributes)

    @property
    def queue_id(self) -> int | None:
        """The queue's number on the machine, if it is fixed."""
        return None if self.id is None else self.id.value.data

    @classmethod
    def _parse_fields(
        cls, parser: Parser
    ) -> tuple[str, Sequence[QueueColorAttr], int | None, int | None, bool, Mapping[str, Attribute]]:
        name = parser.parse_symbol_name().data
        if parser.parse_keyword_in(("color", "colors")) == "color":
            colors = [QueueColorAttr(parse_symbol(parser), EVERYWHERE)]
        else:
            colors = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_queue_color(parser))
        number = None
        if parser.parse_optional_keyword("id") is not None:
            number = parser.parse_integer(allow_boolean=False)
        offset = parse_control_offset(parser)
        unblocked = parser.parse_optional_keyword("unblocked") is not None
        return name, colors, number, offset, unblocked, parse_attributes(parser)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        if len(self.colors) == 1 and self.colors.data[0].is_everywhere:
            printer.print_string(" color ")
            print_queue_color(printer, self.colors.data[0])
        else:
            printer.print_string(" colors ")
            with printer.in_square_brackets():
                printer.print_list(self.colors, lambda color: print_queue_color(printer, color))
        if self.id is not None:
            printer.print_string(f" id {self.id.value.data}")
        print_control_offset(printer, self.control_offset)
        if self.unblocked is not None:
            printer.print_string(" unblocked")
        print_attributes(printer, self)

    def verify_(self) -> None:
        verify_unblocked_queue(
            self.sym_name.data, is_input=isinstance(self, InputQueueOp), unblocked=self.unblocked is not None
        )
        verify_control_offset(self.sym_name.data, is_input=isinstance(self, InputQueueOp), offset=self.control_offset)

    @abstractmethod
    def queue_words(self, target: Target) -> tuple[int, ...]:
        """Return the length in words of each of the target's queues of this kind."""

    def verify_symbols(self, scope: Scope) -> None:
        for color in self.colors:
            scope.get(ColorOp, color.color)
        number = self.queue_id
        queues = len(self.queue_words(scope.target))
        if number is not None and not 0 <= number < queues:
            raise VerifyException(
                f"{described(self)} has id {number}, which {scope.target.name} does not have; "
                f"choose one from 0 to {queues - 1}"
            )


@irdl_op_definition
class InputQueueOp(QueueOp):
    """A queue that takes wavelets of a color from the router to the PE.

    ```
    wse.input_queue @from_north color @south id 3
    wse.input_queue @from_west colors [@east0 on [1::2, :], @east1 on [::2, :]]
    wse.input_queue @commands color @down id 4 unblocked
    wse.input_queue @orders color @up id 5 control_offset 2
    ```

    Control wavelets of a queue that has a data task start control tasks; those of another one do so only if it is
    `unblocked`, from the beginning or by `wse.unblock`. `control_offset` is added to the ids that they carry (WSE-3,
    where each queue may have a control task table of its own). Without an id, `dsd-assign-queues` chooses one.
    An id the target lacks is refused (DSD-220).
    """

    NOUN: ClassVar = "an input queue"

    name = "wse.input_queue"

    @classmethod
    def parse(cls, parser: Parser) -> InputQueueOp:
        name, colors, number, offset, unblocked, attributes = cls._parse_fields(parser)
        return cls(name, colors, number, attributes, unblocked=unblocked, control_offset=offset)

    def queue_words(self, target: Target) -> tuple[int, ...]:
        return target.input_queue_words


@irdl_op_definition
class OutputQueueOp(QueueOp):
    """A queue that takes wavelets of a color from the PE to the router.

    ```
    wse.output_queue @to_east color @east0 id 2
    ```

    Without an id, `dsd-assign-queues` chooses one. An id the target lacks is refused: WSE-2 has
    output queues 0 to 5 only (DSD-219, DSD-220).
    """

    NOUN: ClassVar = "an output queue"

    name = "wse.output_queue"

    @classmethod
    def parse(cls, parser: Parser) -> OutputQueueOp:
        name, colors, number, offset, unblocked, attributes = cls._parse_fields(parser)
        return cls(name, colors, number, attributes, unblocked=unblocked, control_offset=offset)

    def queue_words(self, target: Target) -> tuple[int, ...]:
        return target.output_queue_words
