"""Functions, tasks and calls: what `wse` and `flow` have in common of the code that a PE runs.

Nothing here knows what the bodies do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from xdsl.dialects.builtin import FunctionType, SymbolRefAttr, UnitAttr
from xdsl.irdl import opt_prop_def, prop_def, region_def, traits_def, var_operand_def
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from ..assembly import print_arguments, print_attributes, print_body
from .rules import verify_body, verify_call
from .symbols import Scope, SymbolDefinition, SymbolUser, described


class FuncOperation(SymbolDefinition, ABC):
    """A function."""

    NOUN: ClassVar = "a function"

    function_type = prop_def(FunctionType)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove())

    @property
    def symbol_kind(self) -> str:
        return "function"

    def verify_(self) -> None:
        verify_body(self.sym_name.data, self.body, self.function_type)


class TaskOperation(SymbolDefinition, SymbolUser, ABC):
    """A task, started by activation, by wavelets of its queue or by control wavelets."""

    NOUN: ClassVar = "a task"

    queue = opt_prop_def(SymbolRefAttr)
    active = opt_prop_def(UnitAttr)
    blocked = opt_prop_def(UnitAttr)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove())

    @property
    @abstractmethod
    def kind_name(self) -> str:
        """What starts the task: `local`, `data` or `control`."""

    @property
    def is_local(self) -> bool:
        """True if activation starts the task."""
        return self.kind_name == "local"

    @property
    def is_data(self) -> bool:
        """True if wavelets of an input queue start the task."""
        return self.kind_name == "data"

    @property
    def symbol_kind(self) -> str:
        return f"{self.kind_name} task"

    def print_state_and_body(self, printer: Printer) -> None:
        """Print the state at the start, arguments, attributes and body, which end every task."""
        if self.active is not None:
            printer.print_string(" active")
        if self.blocked is not None:
            printer.print_string(" blocked")
        if self.body.block.args:
            printer.print_string(" ")
            print_arguments(printer, self.body)
        print_attributes(printer, self)
        print_body(printer, self.body)


def verify_activated(symbol: SymbolRefAttr | str, scope: Scope, *, hint: str = "") -> None:
    """Raise VerifyException unless `symbol` is a local task: nothing else can be activated (DSD-190, DSD-191)."""
    found = scope.find(symbol)
    if not isinstance(found, TaskOperation) or not found.is_local:
        raise VerifyException(f"{described(found)} cannot be activated; name a local task{hint}")


class CallOperation(SymbolUser, ABC):
    """A call of a function of the same program."""

    callee = prop_def(SymbolRefAttr)
    arguments = var_operand_def()

    def verify_symbols(self, scope: Scope) -> None:
        function = scope.get(FuncOperation, self.callee)
        verify_call(self, function.sym_name.data, function.function_type)
