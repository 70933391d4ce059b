"""Machine state in bodies: coordinates, parameters, the clock, task states, and what is reported.

Nothing here knows how that is kept.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, IntegerType, StringAttr, SymbolRefAttr, i1, i16, i32, i64
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, Pure
from xdsl.utils.exceptions import VerifyException

from ..machine.code import verify_activated
from ..machine.operations import (
    AssertOperation,
    BlockedMicrothreadOperation,
    Cb16Operation,
    DirectiveOperation,
    ExceptionMaskOperation,
    MicrothreadOperation,
    PrintOperation,
    RemainderOperation,
    SetClockOperation,
    TaskStateOperation,
    TimestampOperation,
)
from ..machine.symbols import Scope, SymbolUser
from ..traits import VerifiedByKind
from .code import verify_task_to_block
from .fabric import UnitsOp
from .memory import ParamOp
from .types import Scalar


class _AxisOp(IRDLOperation):
    """Shared by what gives a number for `x` or `y`."""

    axis = prop_def(StringAttr)
    result = result_def(Scalar)
    traits = traits_def(Pure())

    def __init__(self, axis: str, type: Attribute = i16):
        super().__init__(properties={"axis": StringAttr(axis)}, result_types=[type])

    @classmethod
    def parse(cls, parser: Parser):
        axis = parser.parse_keyword_in(("x", "y"))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(axis, parser.parse_type())
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.axis.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        if self.axis.data not in ("x", "y"):
            raise VerifyException(f"the grid has no axis '{self.axis.data}'; use x or y")
        if self.result.type not in (i16, i32, i64, IndexType()):
            raise VerifyException(
                f"{self.name} has a whole number as its result, not {self.result.type}; use i16, i32, i64 or index"
            )


@irdl_op_definition
class CoordinateOp(_AxisOp):
    """Gets the unit's own column (`x`) or row (`y`) in the grid."""

    name = "flow.coordinate"


@irdl_op_definition
class ExtentOp(_AxisOp):
    """Gets the number of columns (`x`) or rows (`y`) of the grid."""

    name = "flow.extent"


@irdl_op_definition
class GetParamOp(SymbolUser):
    """Reads a parameter of the unit."""

    name = "flow.get_param"
    param = prop_def(SymbolRefAttr)
    result = result_def(Scalar)
    traits = traits_def(VerifiedByKind(), Pure())
    assembly_format = "$param `:` type($result) attr-dict"

    def __init__(self, param: str, type: Attribute):
        super().__init__(properties={"param": SymbolRefAttr(param)}, result_types=[type])

    def verify_symbols(self, scope: Scope) -> None:
        param = scope.get(ParamOp, self.param)
        if param.type != self.result.type:
            raise VerifyException(
                f"parameter @{param.sym_name.data} has type {param.type}, not {self.result.type}; use its type"
            )


@irdl_op_definition
class AssertOp(AssertOperation):
    """Ends the run with an error that gives the message and the unit, where the condition does not hold.

    ```
    flow.assert %condition, "the index is in range"
    flow.assert %other, "table {u} is out of range", %table : i16
    ```

    `{u}` in the message stands for the value, if one is given, as an unsigned number of 16 bits; `{d}` for one of 64
    with its sign.
    """

    name = "flow.assert"
    condition = operand_def(i1)
    value = opt_operand_def(IntegerType)
    assembly_format = "$condition `,` $message (`,` $value^ `:` type($value))? attr-dict"

    def verify_(self) -> None:
        if self.value is not None and self.value.type not in (i16, i64):
            raise VerifyException(f"flow.assert shows a value of type {self.value.type}; use i16 or i64")


@irdl_op_definition
class PrintOp(PrintOperation):
    r"""Appends a text to the log of the machine, with the unit and its clock; costs no cycles.

    ```
    flow.print "x is {d}, 2x is {f}\n", %x, %y : i16, f32
    ```

    `{u}` prints an operand as unsigned number, `{d}` signed, `{x}` hexadecimal, `{X}` hexadecimal and `{b}` binary with
    every digit of the type, `{f}` a float; `{{` is a brace.
    """

    name = "flow.print"


@irdl_op_definition
class SetExceptionMaskOp(ExceptionMaskOperation):
    """Sets which floating point exceptions do not stop the unit: those whose bits are set in the mask.

    The bits, from bit 3 on: underflow, overflow, inexact result, undefined result, division by 0. At first none of them
    stops it.

    ```
    flow.set_exception_mask %mask
    ```
    """

    name = "flow.set_exception_mask"


@irdl_op_definition
class DirectiveOp(DirectiveOperation):
    """Calls a directive of the row (`x`) or column (`y`) of the unit, with a root and a count.

    Nothing is moved and no cycle passes: it compares. The calls of each unit along an axis are numbered; the run ends
    with an error if two units of a line make the call of one number with another directive, root or count.

    ```
    flow.directive "broadcast" along "x", %root, %count
    ```
    """

    name = "flow.directive"


@irdl_op_definition
class TimestampOp(TimestampOperation):
    """Reads the clock of the unit in cycles, 48 bits: three words, the lowest first.

    ```
    %low, %middle, %high = flow.timestamp
    ```
    """

    name = "flow.timestamp"
    assembly_format = "attr-dict"


@irdl_op_definition
class SetClockOp(SetClockOperation):
    """Lets the clock of the unit count from 0: `start` if it has not been started or reset before, `reset` always.

    Until then it counts from the start of the run. It costs nothing.

    ```
    flow.set_clock "start"
    ```
    """

    name = "flow.set_clock"


@irdl_op_definition
class RemfOp(RemainderOperation):
    """Divides floats and gives the exact remainder, with the sign of the first; a NaN for a divisor of 0.

    ```
    %r = flow.remf %a, %b : f32
    ```
    """

    name = "flow.remf"


@irdl_op_definition
class Cb16Op(Cb16Operation):
    """Computes with numbers of format `cb16` (six bits of exponent, nine of mantissa), each the i16 with its bits.

    ```
    %sum = flow.cb16 "addf" %a, %b : (i16, i16) -> i16
    %less = flow.cb16 "olt" %a, %b : (i16, i16) -> i1
    ```
    """

    name = "flow.cb16"


@irdl_op_definition
class ActivateOp(TaskStateOperation):
    """Makes a local task active; it runs once it is unblocked and the unit is free."""

    name = "flow.activate"

    def verify_symbols(self, scope: Scope) -> None:
        verify_activated(self.symbol, scope)


@irdl_op_definition
class BlockOp(TaskStateOperation):
    """Keeps a task, or the data task of a queue, from running until it is unblocked."""

    name = "flow.block"

    def verify_symbols(self, scope: Scope) -> None:
        verify_task_to_block(self.symbol, scope, "blocked")


@irdl_op_definition
class UnblockOp(TaskStateOperation):
    """Allows a blocked task, or the data task of a queue, to run."""

    name = "flow.unblock"

    def verify_symbols(self, scope: Scope) -> None:
        verify_task_to_block(self.symbol, scope)


@irdl_op_definition
class BlockMicrothreadOp(MicrothreadOperation):
    """Blocks a microthread: its operation takes and sends no element until it is unblocked.

    ```
    flow.block_microthread %number : i16
    ```
    """

    name = "flow.block_microthread"


@irdl_op_definition
class UnblockMicrothreadOp(MicrothreadOperation):
    """Lets the operation of a blocked microthread go on.

    ```
    flow.unblock_microthread %number : i16
    ```
    """

    name = "flow.unblock_microthread"


@irdl_op_definition
class BlockedMicrothreadOp(BlockedMicrothreadOperation):
    """Says, in `flow.units`, that a microthread is blocked when the program starts.

    ```
    flow.blocked_microthread 3
    ```
    """

    name = "flow.blocked_microthread"
    traits = traits_def(HasParent(UnitsOp))
