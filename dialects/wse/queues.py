"""Where wavelets and elements wait on a PE: queues between router and PE, and FIFOs in memory.

Nothing here knows the operations that take from them and put into them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, SymbolNameConstraint, SymbolRefAttr, UnitAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from ...targets import Target
from ..assembly import parse_attributes, parse_symbol, print_attributes
from ..machine.fifo_options import FIFO_OPTIONS, parse_fifo_options, print_fifo_options, verify_fifo_actions
from ..machine.rules import verify_fifos, verify_unblocked_queue
from .attributes import EVERYWHERE, QueueColorAttr, parse_queue_color, print_queue_color
from .program import PeOp
from .symbols import SymbolUser, described

if TYPE_CHECKING:
    from .scope import Scope


@irdl_op_definition
class FifoOp(SymbolUser):
    """A first-in first-out buffer in the PE's memory, for DSD operations that push into it and pop from it.

    ```
    wse.fifo @f on @memory
    wse.fifo @g on @storage activate_push @pop_again activate_pop @push_again
    wse.fifo @h on @space empty_action terminate full_action suspend register 3 xdsr 0
    ```

    It holds as many elements as the buffer has. `activate_push` names the local task to activate when a push lets a
    pop go on that had found too little (DSD-147), `activate_pop` when a pop makes room for a push that had found none
    (DSD-144). `empty_action` and `full_action` say what an operation does that finds the FIFO empty or full:
    `test_or_suspend`, the default (DSD-136), stops a synchronous one, whose result is then false (DSD-131), and lets
    an asynchronous one wait (DSD-132); `terminate` ends either as if it were done (DSD-133), `suspend` lets either wait
    (DSD-134), and `fault` is an error (DSD-135). `register` is the dest and the src1 register that hold the FIFO from
    the start on, with `xdsr` (DSR-071, DSR-074). `priority` (WSE-3, DSD-227) and `simd` (WSE-2, DSD-243) are kept for
    the machine and change nothing here.

    Refused are: a buffer that is a scalar, or is the memory of another FIFO, or has an alignment below the target's for
    FIFOs (DSD-118); a task that is not local (DSD-143); on WSE-2 the actions `suspend` and `fault`, and any
    `full_action` (DSD-137 to DSD-139); a register without an XDSR or the reverse (DSR-073), one that the target lacks
    (DSR-076), and one of another FIFO (DSR-075); a `priority` on WSE-2 (DSD-229), a `simd` on WSE-3 (DSD-244).
    """

    name = "wse.fifo"
    sym_name = prop_def(SymbolNameConstraint())
    buffer = prop_def(SymbolRefAttr)
    empty_action = opt_prop_def(StringAttr)
    full_action = opt_prop_def(StringAttr)
    activate_push = opt_prop_def(SymbolRefAttr)
    activate_pop = opt_prop_def(SymbolRefAttr)
    register = opt_prop_def(IntegerAttr)
    xdsr = opt_prop_def(IntegerAttr)
    priority = opt_prop_def(StringAttr)
    simd = opt_prop_def(StringAttr)
    traits = traits_def(SymbolOpInterface(), HasParent(PeOp))

    def __init__(
        self,
        name: str,
        buffer: str,
        *,
        options: Mapping[str, Attribute] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            properties={"sym_name": StringAttr(name), "buffer": SymbolRefAttr(buffer), **(options or {})},
            attributes=attributes or {},
        )

    @property
    def options(self) -> dict[str, Attribute]:
        """What is given beside the buffer, by name and in the order it is written."""
        return {name: self.properties[name] for name in FIFO_OPTIONS if name in self.properties}

    @classmethod
    def parse(cls, parser: Parser) -> FifoOp:
        name = parser.parse_symbol_name().data
        parser.parse_keyword("on")
        buffer = parser.parse_symbol_name().data
        return cls(name, buffer, options=parse_fifo_options(parser, FIFO_OPTIONS), attributes=parse_attributes(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" on ")
        printer.print_attribute(self.buffer)
        print_fifo_options(printer, self.options)
        print_attributes(printer, self)

    def verify_symbols(self, scope: Scope) -> None:
        name, buffer, target = self.sym_name.data, scope.buffer(self.buffer), scope.target
        if buffer.type.get_num_dims() == 0 or buffer.element_count == 0:
            raise VerifyException(f"FIFO @{name} lies on buffer @{buffer.sym_name.data}, which is no array; name one")
        minimum = target.fifo_alignment
        if buffer.alignment is not None and buffer.alignment.value.data < minimum:
            raise VerifyException(
                f"FIFO @{name} lies on buffer @{buffer.sym_name.data} with alignment {buffer.alignment.value.data}, "
                f"but {target.name} needs {minimum} bytes for a FIFO; align the buffer so, or leave the alignment out"
            )
        for task in (self.activate_push, self.activate_pop):
            if task is not None:
                scope.task_to_activate(task)
        verify_fifo_actions(self.empty_action, self.full_action, target)
        fifos = [op for op in scope.pe.values() if isinstance(op, FifoOp)]
        verify_fifos([(op.sym_name.data, op.buffer.string_value()) for op in fifos], name, target)
        self._verify_registers(fifos, target)
        if self.priority is not None and target.operation_priority:
            raise VerifyException(
                f"FIFO @{name} has a priority, which on {target.name} an operation has; give it there (DSD-229)"
            )
        if self.simd is not None and not target.operation_priority:
            raise VerifyException(
                f"FIFO @{name} has a SIMD mode, which {target.name} does not know; remove it (DSD-244)"
            )

    def _verify_registers(self, fifos: Sequence[FifoOp], target: Target) -> None:
        name = self.sym_name.data
        if (self.register is None) != (self.xdsr is None):
            raise VerifyException(f"FIFO @{name} has a register or an xdsr alone; give both or none (DSR-073)")
        sizes = (("register", min(target.dsr_dest, target.dsr_src1)), ("xdsr", target.xdsrs))
        for kind, size in sizes:
            given = self.properties.get(kind)
            if given is None:
                continue
            assert isa(given, IntegerAttr)
            number = given.value.data
            if not 0 <= number < size:
                raise VerifyException(
                    f"FIFO @{name} has {kind} {number}, which {target.name} lacks; choose one from 0 to {size - 1}"
                )
            for other in fifos[: fifos.index(self)]:
                if other.properties.get(kind) == given:
                    raise VerifyException(
                        f"FIFO @{name} has {kind} {number}, as @{other.sym_name.data} does; give it its own (DSR-075)"
                    )


class QueueOp(SymbolUser, ABC):
    """What input and output queues have in common.

    A queue serves one color on each PE; with a list of colors each entry holds on its region. Where none holds, the run
    reports what is sent or awaited on the queue (AMB-34).
    """

    sym_name = prop_def(SymbolNameConstraint())
    colors = prop_def(ArrayAttr[QueueColorAttr])
    id = opt_prop_def(IntegerAttr)
    unblocked = opt_prop_def(UnitAttr)
    traits = traits_def(SymbolOpInterface(), HasParent(PeOp))

    def __init__(
        self,
        name: str,
        colors: Sequence[QueueColorAttr] | str,
        id: int | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        *,
        unblocked: bool = False,
    ):
        if isinstance(colors, str):
            colors = [QueueColorAttr.get(colors)]
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "colors": ArrayAttr(colors),
                "id": None if id is None else IntegerAttr(id, i64),
                "unblocked": UnitAttr() if unblocked else None,
            },
            attributes=attributes or {},
        )

    @property
    def queue_id(self) -> int | None:
        """The queue's number on the machine, if it is fixed."""
        return None if self.id is None else self.id.value.data

    @classmethod
    def _parse_fields(
        cls, parser: Parser
    ) -> tuple[str, Sequence[QueueColorAttr], int | None, bool, Mapping[str, Attribute]]:
        name = parser.parse_symbol_name().data
        if parser.parse_keyword_in(("color", "colors")) == "color":
            colors = [QueueColorAttr(parse_symbol(parser), EVERYWHERE)]
        else:
            colors = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_queue_color(parser))
        number = None
        if parser.parse_optional_keyword("id") is not None:
            number = parser.parse_integer(allow_boolean=False)
        unblocked = parser.parse_optional_keyword("unblocked") is not None
        return name, colors, number, unblocked, parse_attributes(parser)

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
        if self.unblocked is not None:
            printer.print_string(" unblocked")
        print_attributes(printer, self)

    def verify_(self) -> None:
        verify_unblocked_queue(
            self.sym_name.data, is_input=isinstance(self, InputQueueOp), unblocked=self.unblocked is not None
        )

    @abstractmethod
    def queue_words(self, target: Target) -> tuple[int, ...]:
        """Length in words of each of the target's queues of this kind."""

    def verify_symbols(self, scope: Scope) -> None:
        for color in self.colors:
            scope.color(color.color)
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
    ```

    Control wavelets of a queue that has a data task start control tasks; those of another one do so only if it is
    `unblocked`, from the beginning or by `wse.unblock`. Without an id, `dsd-assign-queues` chooses one. An id the
    target lacks is refused (DSD-220).
    """

    name = "wse.input_queue"

    @classmethod
    def parse(cls, parser: Parser) -> InputQueueOp:
        name, colors, number, unblocked, attributes = cls._parse_fields(parser)
        return cls(name, colors, number, attributes, unblocked=unblocked)

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

    name = "wse.output_queue"

    @classmethod
    def parse(cls, parser: Parser) -> OutputQueueOp:
        name, colors, number, unblocked, attributes = cls._parse_fields(parser)
        return cls(name, colors, number, attributes, unblocked=unblocked)

    def queue_words(self, target: Target) -> tuple[int, ...]:
        return target.output_queue_words
