"""Attributes of operations and descriptors: priorities, SIMD modes, control wavelets, microthreads.

Nothing here knows the operations that carry these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import IntAttr, NoneAttr, StringAttr, SymbolRefAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ..inheritance import ByInheritance
from ..machine.modes import Priority, SimdMode
from ..wse import Scope, verify_task_to_activate, verify_task_to_unblock


class ZeroedSource(StrEnum):
    """Which source's memory a send sets to zero when it is done (DSD-245 to DSD-247)."""

    FIRST_SOURCE = "first_source"
    SECOND_SOURCE = "second_source"


class ControlAction(StrEnum):
    """What a control wavelet does to the operation that receives it (DSD-197 to DSD-201)."""

    TERMINATE = "terminate"
    ACTIVATE = "activate"
    UNBLOCK = "unblock"


@irdl_attr_definition
class PriorityAttr(EnumAttribute[Priority], SpacedOpaqueSyntaxAttribute):
    """Priority of a microthread."""

    name = "dsd.priority"


@irdl_attr_definition
class SimdModeAttr(EnumAttribute[SimdMode], SpacedOpaqueSyntaxAttribute):
    """SIMD mode of a fabric descriptor."""

    name = "dsd.simd_mode"


@irdl_attr_definition
class ZeroedSourceAttr(EnumAttribute[ZeroedSource], SpacedOpaqueSyntaxAttribute):
    """The source an outgoing fabric descriptor zeroes."""

    name = "dsd.zeroed_source"


@irdl_attr_definition
class OnControlAttr(ParametrizedAttribute):
    """The action of a control wavelet: `#dsd.on_control<activate @t>`; all three end the operation."""

    name = "dsd.on_control"
    action: StringAttr
    symbol: SymbolRefAttr | NoneAttr

    @staticmethod
    def get(action: ControlAction, symbol: str | None = None) -> OnControlAttr:
        return OnControlAttr(StringAttr(action.value), NoneAttr() if symbol is None else SymbolRefAttr(symbol))

    def verify(self) -> None:
        if (self.task is None) != (self.control_action is ControlAction.TERMINATE):
            raise VerifyException("on_control is neither terminate, activate @task nor unblock @task; use one of them")

    @property
    def control_action(self) -> ControlAction:
        return ControlAction(self.action.data)

    @property
    def task(self) -> str | None:
        """The symbol that is activated or unblocked."""
        return _symbol_text(self.symbol)

    @staticmethod
    def parse_action(parser: AttrParser) -> OnControlAttr:
        """Parse `terminate`, `activate @t` or `unblock @t`."""
        action = parser.parse_str_enum(ControlAction)
        if action is ControlAction.TERMINATE:
            return OnControlAttr.get(action)
        return OnControlAttr.get(action, parser.parse_symbol_name().data)

    def print_action(self, printer: Printer) -> None:
        """Print what `parse_action` reads."""
        printer.print_string(self.action.data)
        if (task := self.task) is not None:
            printer.print_string(" ")
            printer.print_symbol_name(task)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            parsed = cls.parse_action(parser)
        return (parsed.action, parsed.symbol)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            self.print_action(printer)


def _symbol_text(symbol: SymbolRefAttr | NoneAttr) -> str | None:
    return symbol.string_value() if isinstance(symbol, SymbolRefAttr) else None


def _symbol(name: str | None) -> SymbolRefAttr | NoneAttr:
    return NoneAttr() if name is None else SymbolRefAttr(name)


@irdl_attr_definition
class AsyncAttr(ParametrizedAttribute, metaclass=ByInheritance):
    """Settings of an operation that runs on a microthread: `#dsd.async<activate = @sent, ut = 3>`.

    `activate` and `unblock` name what happens on completion, `on_control` what a control wavelet does, `ut`
    fixes the microthread (WSE-3, DSD-224), `priority` its priority (WSE-2, DSD-225). An operation without
    this attribute is synchronous, which none of these settings can be without (DSD-196).
    """

    name = "dsd.async"
    activate: SymbolRefAttr | NoneAttr
    unblock: SymbolRefAttr | NoneAttr
    on_control: OnControlAttr | NoneAttr
    ut: IntAttr | NoneAttr
    priority: PriorityAttr | NoneAttr

    @staticmethod
    def get(
        *,
        activate: str | None = None,
        unblock: str | None = None,
        on_control: OnControlAttr | None = None,
        ut: int | None = None,
        priority: Priority | None = None,
    ) -> AsyncAttr:
        return AsyncAttr(
            _symbol(activate),
            _symbol(unblock),
            NoneAttr() if on_control is None else on_control,
            NoneAttr() if ut is None else IntAttr(ut),
            NoneAttr() if priority is None else PriorityAttr(priority),
        )

    @property
    def activated(self) -> str | None:
        """The task that completion activates."""
        return _symbol_text(self.activate)

    @property
    def unblocked(self) -> str | None:
        """The task, queue or color that completion unblocks."""
        return _symbol_text(self.unblock)

    @property
    def control(self) -> OnControlAttr | None:
        """What a control wavelet does; None if nothing."""
        return self.on_control if isinstance(self.on_control, OnControlAttr) else None

    @property
    def microthread(self) -> int | None:
        """The microthread, if it is fixed."""
        return self.ut.data if isinstance(self.ut, IntAttr) else None

    @property
    def microthread_priority(self) -> Priority | None:
        """The priority given on the operation."""
        return self.priority.data if isinstance(self.priority, PriorityAttr) else None

    def with_microthread(self, number: int) -> AsyncAttr:
        """Return the same settings on microthread `number`."""
        return AsyncAttr(self.activate, self.unblock, self.on_control, IntAttr(number), self.priority)

    @staticmethod
    def parse_settings(parser: AttrParser, delimiter: Parser.Delimiter) -> AsyncAttr:
        """Parse the settings inside `delimiter`, each at most once; nothing at all means none."""
        found: dict[str, Attribute] = {}

        def setting() -> None:
            position = parser.pos
            key = parser.parse_identifier()
            if key in found:
                parser.raise_error(f"'{key}' is given twice; give it once", position)
            parser.parse_punctuation("=")
            match key:
                case "activate" | "unblock":
                    found[key] = SymbolRefAttr(parser.parse_symbol_name())
                case "on_control":
                    found[key] = OnControlAttr.parse_action(parser)
                case "ut":
                    found[key] = IntAttr(parser.parse_integer(allow_boolean=False))
                case "priority":
                    found[key] = PriorityAttr(parser.parse_str_enum(Priority))
                case _:
                    parser.raise_error(
                        f"'{key}' is not a setting of an asynchronous operation; use activate, unblock, "
                        "on_control, ut or priority",
                        position,
                    )

        parser.parse_optional_comma_separated_list(delimiter, setting)
        names = ("activate", "unblock", "on_control", "ut", "priority")
        return AsyncAttr.new([found.get(name, NoneAttr()) for name in names])

    def print_settings(self, printer: Printer, start: str, end: str) -> None:
        """Print the settings between `start` and `end`, or nothing if there are none."""
        texts: list[Callable[[], object]] = []

        def say(key: str, write: Callable[[], object]) -> None:
            texts.append(lambda: (printer.print_string(f"{key} = "), write()))

        for key, symbol in (("activate", self.activated), ("unblock", self.unblocked)):
            if symbol is not None:
                say(key, lambda symbol=symbol: printer.print_symbol_name(symbol))
        if (control := self.control) is not None:
            say("on_control", lambda: control.print_action(printer))
        if (number := self.microthread) is not None:
            say("ut", lambda: printer.print_string(str(number)))
        if (priority := self.microthread_priority) is not None:
            say("priority", lambda: printer.print_string(priority))
        if texts:
            with printer.delimited(start, end):
                printer.print_list(texts, lambda write: write())

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return cls.parse_settings(parser, parser.Delimiter.ANGLE).parameters

    def print_parameters(self, printer: Printer) -> None:
        self.print_settings(printer, "<", ">")

    def verify_settings(self) -> None:
        """Check what can be checked without knowing the program; called by the operations that carry it."""
        if self.activated is not None and self.unblocked is not None:
            raise VerifyException("activate and unblock are both given; keep one of them")

    def verify_symbols(self, scope: Scope) -> None:
        """Check tasks, microthread and priority against the program and its target."""
        if (task := self.activated) is not None:
            verify_task_to_activate(task, scope)
        if (symbol := self.unblocked) is not None:
            verify_task_to_unblock(symbol, scope)
        if (control := self.control) is not None and (symbol := control.task) is not None:
            if control.control_action is ControlAction.ACTIVATE:
                verify_task_to_activate(symbol, scope)
            else:
                verify_task_to_unblock(symbol, scope)
        number, target = self.microthread, scope.target
        if number is not None and not 0 <= number < target.microthreads:
            raise VerifyException(
                f"{target.name} has no microthread {number}; choose one from 0 to {target.microthreads - 1}"
            )
        if self.microthread_priority is not None and not target.operation_priority:
            raise VerifyException(f"on {target.name} an operation has no priority; give it to the fabric descriptor")
