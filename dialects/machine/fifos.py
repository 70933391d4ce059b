"""FIFOs in memory: their options and the operation that defines one, which `wse` and `flow` have in common.

Nothing here knows the operations that push into a FIFO or pop from it.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import IntegerAttr, StringAttr, SymbolRefAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ...targets import Target
from ..assembly import parse_attributes, parse_options, parse_symbol, print_attributes
from .code import verify_activated
from .memory import BufferOperation
from .modes import PRIORITIES, SIMD_MODES
from .rules import verify_fifos
from .symbols import Scope, SymbolDefinition, SymbolUser

FIFO_SIDES = ("read", "write")
"""The sides of a FIFO: operations that read it, and those that write to it."""

FIFO_ACTIONS = ("test_or_suspend", "terminate", "suspend", "fault")
"""What an operation can do that finds a FIFO empty or full (DSD-130 to DSD-135)."""


def verify_fifo_side(side: str) -> None:
    """Raise VerifyException if a FIFO has no such side."""
    if side not in FIFO_SIDES:
        raise VerifyException(f"a FIFO has no side '{side}'; use {' or '.join(FIFO_SIDES)}")


def verify_fifo_actions(empty: StringAttr | None, full: StringAttr | None, target: Target) -> None:
    """Raise VerifyException for actions of a FIFO that do not exist, or not on `target` (DSD-137 to DSD-139)."""
    for side, given in (("empty_action", empty), ("full_action", full)):
        if given is None:
            continue
        action = given.data
        if action not in FIFO_ACTIONS:
            raise VerifyException(f"{side} of a FIFO is '{action}'; use one of {', '.join(FIFO_ACTIONS)}")
        if target.fifo_actions:
            continue
        if side == "full_action":
            raise VerifyException(f"a FIFO has no full_action on {target.name}; remove it (DSD-139)")
        if action in ("suspend", "fault"):
            rule = "DSD-137" if action == "suspend" else "DSD-138"
            raise VerifyException(
                f"a FIFO has no empty_action {action} on {target.name}; use test_or_suspend or terminate ({rule})"
            )


def parse_fifo_options(parser: Parser, names: Sequence[str]) -> dict[str, Attribute]:
    """Parse what may be said of a FIFO: actions, symbols, numbers and modes, those of `names`."""

    def word(allowed: Sequence[str]) -> Callable[[], Attribute]:
        return lambda: StringAttr(parser.parse_keyword_in(allowed))

    kinds: dict[str, Callable[[], Attribute]] = {
        "empty_action": word(FIFO_ACTIONS),
        "full_action": word(FIFO_ACTIONS),
        "activate_push": lambda: parse_symbol(parser),
        "activate_pop": lambda: parse_symbol(parser),
        "register": lambda: IntegerAttr(parser.parse_integer(allow_boolean=False), i64),
        "xdsr": lambda: IntegerAttr(parser.parse_integer(allow_boolean=False), i64),
        "priority": word(PRIORITIES),
        "simd": word(SIMD_MODES),
    }
    return parse_options(parser, {name: kinds[name] for name in names})


def print_fifo_options(printer: Printer, options: Mapping[str, Attribute]) -> None:
    """Print what `parse_fifo_options` reads."""
    for name, value in options.items():
        printer.print_string(f" {name} ")
        match value:
            case StringAttr():
                printer.print_string(value.data)
            case IntegerAttr():
                printer.print_string(str(value.value.data))
            case _:
                printer.print_attribute(value)


class FifoOperation(SymbolDefinition, SymbolUser, ABC):
    """A first-in first-out buffer in the memory of a PE, as many elements as its buffer has."""

    NOUN: ClassVar = "a FIFO"
    OPTIONS: ClassVar[tuple[str, ...]]
    """What may be said beside the buffer, in the order it is written."""
    HINT: ClassVar = ""
    """Ends the error about a task that cannot be activated."""

    buffer = prop_def(SymbolRefAttr)
    empty_action = opt_prop_def(StringAttr)
    full_action = opt_prop_def(StringAttr)
    activate_push = opt_prop_def(SymbolRefAttr)
    activate_pop = opt_prop_def(SymbolRefAttr)

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
    def symbol_kind(self) -> str:
        return "FIFO"

    @property
    def options(self) -> dict[str, Attribute]:
        """What is given beside the buffer, by name and in the order it is written."""
        return {name: self.properties[name] for name in self.OPTIONS if name in self.properties}

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name().data
        parser.parse_keyword("on")
        buffer = parser.parse_symbol_name().data
        options = parse_fifo_options(parser, cls.OPTIONS)
        return cls(name, buffer, options=options, attributes=parse_attributes(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" on ")
        printer.print_attribute(self.buffer)
        print_fifo_options(printer, self.options)
        print_attributes(printer, self)

    def verify_symbols(self, scope: Scope) -> None:
        name, buffer = self.sym_name.data, scope.get(BufferOperation, self.buffer)
        if buffer.type.get_num_dims() == 0 or buffer.element_count == 0:
            raise VerifyException(
                f"FIFO @{name} uses buffer @{buffer.sym_name.data}, which is not an array; name an array"
            )
        for task in (self.activate_push, self.activate_pop):
            if task is not None:
                verify_activated(task, scope, hint=self.HINT)
        verify_fifo_actions(self.empty_action, self.full_action, scope.target)
        fifos = [op for op in scope.own.values() if isinstance(op, FifoOperation)]
        verify_fifos([(op.sym_name.data, op.buffer.string_value()) for op in fifos], name, scope.target)
