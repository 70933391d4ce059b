"""Assertions, prints, the clock, task states and arithmetic of floats, which `wse` and `flow` have in common.

Nothing here knows how that is kept or executed.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    AnyFloatConstr,
    Float32Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    f32,
    i1,
    i16,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from ...operations import cb16
from ...operations.print_format import check_format
from ..traits import VerifiedByKind
from .symbols import Scope, SymbolUser


class AssertOperation(IRDLOperation):
    """Ends the run with an error that gives the message, where the condition does not hold.

    `{u}` in the message stands for the value, if one is given, as an unsigned number.
    """

    condition = operand_def(i1)
    message = prop_def(StringAttr)
    value = opt_operand_def(i16)
    assembly_format = "$condition `,` $message (`,` $value^)? attr-dict"

    def __init__(self, condition: SSAValue, message: str, value: SSAValue | None = None):
        super().__init__(operands=[condition, value], properties={"message": StringAttr(message)})


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


class SetClockOperation(IRDLOperation):
    """Lets the clock count from 0: `start` does where it never has, `reset` always."""

    action = prop_def(StringAttr)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$action attr-dict"

    def __init__(self, action: str):
        super().__init__(properties={"action": StringAttr(action)})

    def verify_(self) -> None:
        if self.action.data not in ("start", "reset"):
            raise VerifyException(f'unknown action \'{self.action.data}\'; use "start" or "reset"')


class ExceptionMaskOperation(IRDLOperation):
    """Sets which floating point exceptions do not stop the PE: those whose bits are set."""

    mask = operand_def(i16)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$mask attr-dict"

    def __init__(self, mask: SSAValue):
        super().__init__(operands=[mask])


class DirectiveOperation(IRDLOperation):
    """Calls a directive of the row (`x`) or column (`y`); ends the run if others of it call another one there.

    Each PE's calls are numbered from 1. All PEs that make the call of a number have to give the same directive, root
    and count.
    """

    directive = prop_def(StringAttr)
    axis = prop_def(StringAttr)
    root = operand_def(i16)
    count = operand_def(i16)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$directive `along` $axis `,` $root `,` $count attr-dict"

    def __init__(self, directive: str, axis: str, root: SSAValue, count: SSAValue):
        super().__init__(
            operands=[root, count], properties={"directive": StringAttr(directive), "axis": StringAttr(axis)}
        )

    def verify_(self) -> None:
        if self.axis.data not in ("x", "y"):
            raise VerifyException(f'unknown axis \'{self.axis.data}\'; use "x" or "y"')


class TaskStateOperation(SymbolUser, ABC):
    """Changes the state of the task `symbol`, or of the tasks of the queue `symbol`."""

    symbol = prop_def(SymbolRefAttr)
    traits = traits_def(VerifiedByKind())
    assembly_format = "$symbol attr-dict"

    def __init__(self, symbol: str):
        super().__init__(properties={"symbol": SymbolRefAttr(symbol)})


def _verify_blockable(scope: Scope) -> None:
    target = scope.target
    if target.microthread_of_queue:
        raise VerifyException(
            f"on {target.name} a program cannot block a microthread; block the task that issues the operation, or "
            "compile for WSE-3 (Microthread IDs)"
        )


class MicrothreadOperation(SymbolUser, ABC):
    """Blocks or unblocks the microthread of a number."""

    number = operand_def(i16)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$number attr-dict `:` type($number)"

    def __init__(self, number: SSAValue):
        super().__init__(operands=[number])

    @property
    def known_number(self) -> int | None:
        """The number, if it is known at compile time."""
        owner = self.number.owner
        if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
            return owner.value.value.data
        return None

    def verify_symbols(self, scope: Scope) -> None:
        _verify_blockable(scope)
        number = self.known_number
        if number is not None:
            _verify_microthread(number, scope)


def _verify_microthread(number: int, scope: Scope) -> None:
    target = scope.target
    if not 0 <= number < target.microthreads:
        raise VerifyException(
            f"{target.name} has no microthread {number}; choose one from 0 to {target.microthreads - 1}"
        )


class BlockedMicrothreadOperation(SymbolUser, ABC):
    """Says that a microthread is blocked when the program starts."""

    number = prop_def(IntegerAttr)

    def __init__(self, number: int):
        super().__init__(properties={"number": IntegerAttr(number, i16)})

    @classmethod
    def parse(cls, parser: Parser):
        op = cls(parser.parse_integer(allow_boolean=False))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.number.value.data}")
        printer.print_op_attributes(self.attributes)

    def verify_symbols(self, scope: Scope) -> None:
        _verify_blockable(scope)
        _verify_microthread(self.number.value.data, scope)


class RemainderOperation(IRDLOperation):
    """The remainder of floats, exact and with the sign of the first; a NaN for a divisor of 0 (the C function fmod)."""

    T: ClassVar = VarConstraint("T", AnyFloatConstr)
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)
    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs attr-dict `:` type($result)"

    def __init__(self, lhs: SSAValue, rhs: SSAValue):
        super().__init__(operands=[lhs, rhs], result_types=[lhs.type])


class Cb16Operation(IRDLOperation):
    """An operation on numbers of format `cb16`, each the i16 with its bits; `operations/cb16.py` has the table."""

    function = prop_def(StringAttr)
    arguments = var_operand_def(IntegerType | Float32Type)
    result = result_def(IntegerType | Float32Type)
    traits = traits_def(Pure())
    assembly_format = "$function $arguments attr-dict `:` functional-type($arguments, $result)"

    def __init__(self, function: str, arguments: Sequence[SSAValue], type: Attribute):
        super().__init__(operands=[arguments], properties={"function": StringAttr(function)}, result_types=[type])

    def verify_(self) -> None:
        signature = cb16.FUNCTIONS.get(self.function.data)
        if signature is None:
            raise VerifyException(
                f"unknown cb16 function '{self.function.data}'; use one of {', '.join(cb16.FUNCTIONS)}"
            )
        types = (*self.arguments.types, self.result.type)
        if len(types) != len(signature):
            raise VerifyException(
                f"'{self.function.data}' of cb16 takes {len(signature) - 1} operands, not {len(types) - 1}; "
                "correct them"
            )
        for type, letter in zip(types, signature, strict=True):
            if letter == "i" and isinstance(type, IntegerType):
                continue
            wanted = {"c": i16, "f": f32, "b": i1, "i": i16}[letter]
            if type != wanted:
                raise VerifyException(f"'{self.function.data}' of cb16 takes {wanted}, not {type}; use that")
