"""Assertions, prints, the clock and changes of task states, which `wse` and `flow` have in common.

Nothing here knows how that is kept or executed.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, StringAttr, SymbolRefAttr, i1, i16
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from ...operations.print_format import check_format
from ..traits import VerifiedByKind
from .symbols import SymbolUser


class AssertOperation(IRDLOperation):
    """Ends the run with an error that gives the message, where the condition does not hold."""

    condition = operand_def(i1)
    message = prop_def(StringAttr)
    assembly_format = "$condition `,` $message attr-dict"

    def __init__(self, condition: SSAValue, message: str):
        super().__init__(operands=[condition], properties={"message": StringAttr(message)})


class PrintOperation(IRDLOperation):
    """Appends a text to the log of the machine, its operands printed as `print_format` says."""

    format = prop_def(StringAttr)
    arguments = var_operand_def(IntegerType | AnyFloat | IndexType)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$format (`,` $arguments^ `:` type($arguments))? attr-dict"

    def __init__(self, format: str, arguments: Sequence[SSAValue] = ()):
        super().__init__(operands=[arguments], properties={"format": StringAttr(format)})

    def verify_(self) -> None:
        try:
            check_format(self.format.data, [isinstance(type, AnyFloat) for type in self.arguments.types])
        except ValueError as error:
            raise VerifyException(str(error)) from None


class TimestampOperation(IRDLOperation):
    """The clock in cycles, 48 bits: three words, the lowest first."""

    low = result_def(i16)
    middle = result_def(i16)
    high = result_def(i16)
    traits = traits_def(MemoryWriteEffect())

    def __init__(self):
        super().__init__(result_types=[i16, i16, i16])


class TaskStateOperation(SymbolUser, ABC):
    """Changes the state of the task `symbol`, or of the tasks of the queue `symbol`."""

    symbol = prop_def(SymbolRefAttr)
    traits = traits_def(VerifiedByKind())
    assembly_format = "$symbol attr-dict"

    def __init__(self, symbol: str):
        super().__init__(properties={"symbol": SymbolRefAttr(symbol)})
