"""Asynchronous operations: their microthread, and what their completion starts.

Nothing here knows which operations can.
"""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import IntegerAttr, StringAttr, SymbolRefAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import opt_prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..assembly import parse_symbol
from ..building import integer, string, symbol
from ..machine.code import verify_activated
from ..machine.modes import PRIORITIES
from ..machine.symbols import Scope, SymbolUser
from .code import verify_task_to_block

CONTROL_ACTIONS = ("terminate", "activate", "unblock")


class AsynchronousOp(SymbolUser, ABC):
    """Shared by what says how an operation runs on a microthread: `async(microthread = 2, activate = @done)`."""

    microthread = opt_prop_def(IntegerAttr)
    activate = opt_prop_def(SymbolRefAttr)
    unblock = opt_prop_def(SymbolRefAttr)
    on_control = opt_prop_def(StringAttr)
    control_task = opt_prop_def(SymbolRefAttr)
    priority = opt_prop_def(StringAttr)

    @property
    def is_async(self) -> bool:
        """True if there is a microthread."""
        return self.microthread is not None

    @staticmethod
    def settings(
        microthread: int | None = None,
        activate: str | None = None,
        unblock: str | None = None,
        on_control: tuple[str, str | None] | None = None,
        priority: str | None = None,
    ) -> dict[str, Attribute | None]:
        """Return the properties that hold these settings; `on_control` is an action and the task it names."""
        action, task = on_control or (None, None)
        return {
            "microthread": None if microthread is None else integer(microthread),
            "activate": None if activate is None else symbol(activate),
            "unblock": None if unblock is None else symbol(unblock),
            "on_control": None if action is None else string(action),
            "control_task": None if task is None else symbol(task),
            "priority": None if priority is None else string(priority),
        }

    @staticmethod
    def parse_settings(parser: Parser) -> dict[str, Attribute | None]:
        """Return the properties of `async(...)`; none without it."""
        if parser.parse_optional_keyword("async") is None:
            return {}
        parser.parse_punctuation("(")
        parser.parse_keyword("microthread")
        parser.parse_punctuation("=")
        found: dict[str, Attribute | None] = {
            "microthread": IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        }
        while parser.parse_optional_punctuation(",") is not None:
            key = parser.parse_keyword_in(("activate", "unblock", "on_control", "priority"))
            parser.parse_punctuation("=")
            if key == "on_control":
                action = parser.parse_keyword_in(CONTROL_ACTIONS)
                found[key] = StringAttr(action)
                if action != "terminate":
                    found["control_task"] = parse_symbol(parser)
            elif key == "priority":
                found[key] = StringAttr(parser.parse_keyword_in(PRIORITIES))
            else:
                found[key] = parse_symbol(parser)
        parser.parse_punctuation(")")
        return found

    def print_settings(self, printer: Printer) -> None:
        """Print what `parse_settings` reads."""
        if self.microthread is None:
            return
        printer.print_string(f" async(microthread = {self.microthread.value.data}")
        for key, task in (("activate", self.activate), ("unblock", self.unblock)):
            if task is not None:
                printer.print_string(f", {key} = ")
                printer.print_attribute(task)
        if self.on_control is not None:
            printer.print_string(f", on_control = {self.on_control.data}")
            if self.control_task is not None:
                printer.print_string(" ")
                printer.print_attribute(self.control_task)
        if self.priority is not None:
            printer.print_string(f", priority = {self.priority.data}")
        printer.print_string(")")

    def verify_settings(self) -> None:
        """Check what can be checked without knowing the program."""
        if self.activate is not None and self.unblock is not None:
            raise VerifyException(
                "an operation activates or unblocks a task at its end, not both (DSD-189); keep one of them"
            )
        if self.on_control is None:
            action_fits = self.control_task is None
        else:
            action_fits = (self.control_task is None) == (self.on_control.data == "terminate")
        if not action_fits or (self.on_control is not None and self.on_control.data not in CONTROL_ACTIONS):
            raise VerifyException("on_control is neither terminate, activate @task nor unblock @task; use one of them")
        if self.microthread is None and (self.activate or self.unblock or self.on_control or self.priority):
            raise VerifyException(
                "only an asynchronous operation has a completion task or a priority (DSD-196); give it a microthread"
            )
        if self.priority is not None and self.priority.data not in PRIORITIES:
            raise VerifyException(f"'{self.priority.data}' is not a priority; use {', '.join(PRIORITIES)}")

    def verify_symbols(self, scope: Scope) -> None:
        if self.activate is not None:
            verify_activated(self.activate, scope)
        if self.unblock is not None:
            verify_task_to_block(self.unblock, scope)
        if self.control_task is not None and self.on_control is not None:
            if self.on_control.data == "activate":
                verify_activated(self.control_task, scope)
            else:
                verify_task_to_block(self.control_task, scope)
        number, target = self.microthread, scope.target
        if number is not None and not 0 <= number.value.data < target.microthreads:
            raise VerifyException(
                f"{target.name} has no microthread {number.value.data}; choose one from 0 to {target.microthreads - 1}"
            )
