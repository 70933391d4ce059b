"""What a FIFO can be given beside its buffer, at every level: its words, and what the machine allows.

Knows targets and keywords, not the operations that hold them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ...targets import Target
from ..assembly import parse_options, parse_symbol

FIFO_SIDES = ("read", "write")
"""The sides of a FIFO: operations that read it, and those that write to it."""

FIFO_ACTIONS = ("test_or_suspend", "terminate", "suspend", "fault")
"""What an operation can do that finds a FIFO empty or full (DSD-130 to DSD-135)."""


FIFO_OPTIONS = (
    "empty_action", "full_action", "activate_push", "activate_pop", "register", "xdsr", "priority", "simd"
)  # fmt: skip
"""What may be said of a FIFO beside its buffer, in the order it is written."""

_PRIORITIES = ("low", "medium", "high")
_SIMD_MODES = ("simd_32", "simd_64", "simd_32_or_64", "simd_off", "simd_max")


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
        "priority": word(_PRIORITIES),
        "simd": word(_SIMD_MODES),
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
