"""Machine state in bodies: memory as values, coordinates, the clock, task states, and what is reported.

Nothing here knows how that is kept or executed.
"""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import AnyFloat, IntegerType, MemRefType, SymbolRefAttr, i16
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, HasParent, MemoryEffect, MemoryEffectKind, Pure, Resource
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from ..building import build, symbol
from ..inheritance import ByInheritance
from ..machine.elements import verify_memory_type
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
from .attributes import Axis, AxisAttr
from .code import verify_task_to_activate, verify_task_to_unblock
from .memory import BufferOp, ParamOp
from .program import PeOp


class TaskStates(Resource):
    """Which tasks of a PE are active and which are blocked."""

    def name(self) -> str:
        return "<TaskStates>"


class WritesTaskStates(MemoryEffect):
    """The operation activates, blocks or unblocks a task."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return {EffectInstance(MemoryEffectKind.WRITE, resource=TaskStates())}


@irdl_op_definition
class GetBufferOp(SymbolUser):
    """Gets the memory of a buffer.

    ```
    %u = wse.get_buffer @u : memref<64xf32>
    ```
    """

    name = "wse.get_buffer"
    buffer = prop_def(SymbolRefAttr)
    result = result_def(MemRefType)
    traits = traits_def(VerifiedByKind(), Pure())
    assembly_format = "$buffer attr-dict `:` type($result)"

    def __init__(self, buffer: str, type: MemRefType):
        build(self, [], [type], {"buffer": symbol(buffer)})

    @classmethod
    def of(cls, buffer: BufferOp) -> GetBufferOp:
        """Return the operation that gets the memory of a buffer, with the type of that."""
        return cls(buffer.sym_name.data, buffer.type)

    def verify_symbols(self, scope: Scope) -> None:
        buffer = scope.get(BufferOp, self.buffer)
        if buffer.type != self.result.type:
            raise VerifyException(
                f"buffer @{buffer.sym_name.data} has type {buffer.type}, not {self.result.type}; use its type"
            )


@irdl_op_definition
class AddressOfOp(SymbolUser):
    """Gets the address of a buffer, in bytes; a constant once memory is laid out.

    ```
    %p = wse.address_of @u : i16
    ```
    """

    name = "wse.address_of"
    buffer = prop_def(SymbolRefAttr)
    result = result_def(i16)
    traits = traits_def(Pure())
    assembly_format = "$buffer attr-dict `:` type($result)"

    def __init__(self, buffer: str):
        super().__init__(properties={"buffer": SymbolRefAttr(buffer)}, result_types=[i16])

    def verify_symbols(self, scope: Scope) -> None:
        scope.get(BufferOp, self.buffer)


@irdl_op_definition
class ViewOp(IRDLOperation, metaclass=ByInheritance):
    """Views memory at a run-time byte address, as an array of open extent or as one element.

    ```
    %m = wse.view %p : memref<?xf32>
    %s = wse.view %p : memref<f32>
    ```

    It is loaded, stored and described (`dsd.mem1d`, `dsd.mem4d`, `dsd.set_base`) like a buffer; with rank 0 it is also
    the scalar destination of a DSD operation. Nothing is checked against a buffer: an element may be of any buffer, or
    parts of several. An address outside the memory of the PE, or an odd one of an element other than i8, is an error
    when the access happens; an address of a 32-bit element that is not a multiple of 4 is a warning.
    """

    name = "wse.view"
    address = operand_def(i16)
    result = result_def(MemRefType)
    traits = traits_def(Pure())
    assembly_format = "$address attr-dict `:` type($result)"

    def __init__(self, address: SSAValue, type: MemRefType):
        super().__init__(operands=[address], result_types=[type])

    def verify_(self) -> None:
        type = self.result.type
        assert isa(type, MemRefType)
        verify_memory_type(type.get_element_type(), "memory")
        if type.get_num_dims() > 1 or type.has_static_shape() != (type.get_num_dims() == 0):
            raise VerifyException(
                f"a view of type {type} is neither a one-dimensional array of open extent nor a single element; use "
                f"memref<?x{type.get_element_type()}> or memref<{type.get_element_type()}>"
            )


@irdl_op_definition
class AssertOp(AssertOperation):
    """Ends the run with an error that gives the message and the PE, where the condition does not hold.

    ```
    wse.assert %condition, "the index is in range"
    wse.assert %other, "table {u} is out of range", %table
    ```

    `{u}` in the message stands for the value, if one is given, as an unsigned number.
    """

    name = "wse.assert"


@irdl_op_definition
class PrintOp(PrintOperation):
    r"""Appends a text to the log of the machine, with the PE and its clock; costs no cycles.

    ```
    wse.print "x is {d}, 2x is {f}\n", %x, %y : i16, f32
    ```

    `{u}` prints an operand as unsigned number, `{d}` signed, `{x}` hexadecimal, `{X}` hexadecimal and `{b}` binary with
    every digit of the type, `{f}` a float; `{{` is a brace.
    """

    name = "wse.print"
    arguments = var_operand_def(IntegerType | AnyFloat)


@irdl_op_definition
class SetExceptionMaskOp(ExceptionMaskOperation):
    """Sets which floating point exceptions do not stop the PE: those whose bits are set in the mask.

    The bits, from bit 3 on: underflow, overflow, inexact result, undefined result, division by 0. At first none of them
    stops it.

    ```
    wse.set_exception_mask %mask
    ```
    """

    name = "wse.set_exception_mask"


@irdl_op_definition
class DirectiveOp(DirectiveOperation):
    """Calls a directive of the row (`x`) or column (`y`) of the PE, with a root and a count.

    Nothing is moved and no cycle passes: it compares. The calls of each PE along an axis are numbered; the run ends
    with an error if two PEs of a line make the call of one number with another directive, root or count.

    ```
    wse.directive "broadcast" along "x", %root, %count
    ```
    """

    name = "wse.directive"


@irdl_op_definition
class TimestampOp(TimestampOperation):
    """Reads the cycle counter of the PE, 48 bits: three words, the lowest first.

    ```
    %low, %middle, %high = wse.timestamp : i16, i16, i16
    ```
    """

    name = "wse.timestamp"
    assembly_format = "attr-dict `:` type($low) `,` type($middle) `,` type($high)"


@irdl_op_definition
class SetClockOp(SetClockOperation):
    """Lets the clock of the PE count from 0: `start` if it has not been started or reset before, `reset` always.

    Until then it counts from the start of the run. It costs nothing.

    ```
    wse.set_clock "start"
    ```
    """

    name = "wse.set_clock"


@irdl_op_definition
class RemfOp(RemainderOperation):
    """Divides floats and gives the exact remainder, with the sign of the first; a NaN for a divisor of 0.

    ```
    %r = wse.remf %a, %b : f32
    ```
    """

    name = "wse.remf"


@irdl_op_definition
class Cb16Op(Cb16Operation):
    """Computes with numbers of format `cb16` (six bits of exponent, nine of mantissa), each the i16 with its bits.

    ```
    %sum = wse.cb16 "addf" %a, %b : (i16, i16) -> i16
    %less = wse.cb16 "olt" %a, %b : (i16, i16) -> i1
    %wide = wse.cb16 "extf" %a : (i16) -> f32
    ```

    The functions are those of `arith` and `math` by their names there, and comparisons of floats. A result is rounded
    to nearest, to even on a tie.
    """

    name = "wse.cb16"


@irdl_op_definition
class GetParamOp(SymbolUser):
    """Gets the value of a parameter on this PE.

    ```
    %c = wse.get_param @coefficient : f32
    ```
    """

    name = "wse.get_param"
    param = prop_def(SymbolRefAttr)
    result = result_def()
    traits = traits_def(VerifiedByKind(), Pure())
    assembly_format = "$param attr-dict `:` type($result)"

    def __init__(self, param: str, type: Attribute):
        super().__init__(properties={"param": SymbolRefAttr(param)}, result_types=[type])

    @classmethod
    def of(cls, param: ParamOp) -> GetParamOp:
        """Return the operation that gets the value of a parameter, with the type of that."""
        return cls(param.sym_name.data, param.type)

    def verify_symbols(self, scope: Scope) -> None:
        param = scope.get(ParamOp, self.param)
        if param.type != self.result.type:
            raise VerifyException(
                f"parameter @{param.sym_name.data} has type {param.type}, not {self.result.type}; use its type"
            )


class _AxisOp(IRDLOperation, ABC):
    """Shared by what gives a number for x or y."""

    axis = prop_def(AxisAttr)
    result = result_def(i16)
    traits = traits_def(Pure())

    def __init__(self, axis: Axis):
        super().__init__(properties={"axis": AxisAttr(axis)}, result_types=[i16])

    @classmethod
    def parse(cls, parser: Parser):
        axis = parser.parse_str_enum(Axis)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        if parser.parse_type() != i16:
            parser.raise_error("coordinates and extents are of type i16", position)
        op = cls(axis)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.axis.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : i16")


@irdl_op_definition
class CoordinateOp(_AxisOp):
    """Gets a coordinate of this PE in the rectangle: x from 0 at the west, y from 0 at the north.

    ```
    %x = wse.coordinate x : i16
    ```
    """

    name = "wse.coordinate"


@irdl_op_definition
class ExtentOp(_AxisOp):
    """Gets the size of the rectangle in PEs: its width for x, its height for y.

    ```
    %width = wse.extent x : i16
    ```
    """

    name = "wse.extent"


@irdl_op_definition
class ActivateOp(SymbolUser):
    """Activates a local task: it runs once the PE is free and the task is not blocked.

    ```
    wse.activate @step
    ```
    """

    name = "wse.activate"
    task = prop_def(SymbolRefAttr)
    traits = traits_def(VerifiedByKind(), WritesTaskStates())
    assembly_format = "$task attr-dict"

    def __init__(self, task: str):
        super().__init__(properties={"task": SymbolRefAttr(task)})

    def verify_symbols(self, scope: Scope) -> None:
        verify_task_to_activate(self.task, scope)


@irdl_op_definition
class BlockOp(TaskStateOperation):
    """Blocks a task, or the tasks of a queue: activations are kept until it is unblocked.

    ```
    wse.block @step
    ```
    """

    name = "wse.block"
    traits = traits_def(WritesTaskStates())

    def verify_symbols(self, scope: Scope) -> None:
        verify_task_to_unblock(self.symbol, scope, "blocked")


@irdl_op_definition
class UnblockOp(TaskStateOperation):
    """Lets a blocked task, or the tasks of a queue, run again.

    ```
    wse.unblock @step
    ```
    """

    name = "wse.unblock"
    traits = traits_def(WritesTaskStates())

    def verify_symbols(self, scope: Scope) -> None:
        verify_task_to_unblock(self.symbol, scope)


@irdl_op_definition
class BlockMicrothreadOp(MicrothreadOperation):
    """Blocks a microthread (WSE-3, Microthread IDs): its operation takes and sends no element until it is unblocked.

    ```
    wse.block_microthread %number : i16
    ```
    """

    name = "wse.block_microthread"


@irdl_op_definition
class UnblockMicrothreadOp(MicrothreadOperation):
    """Lets the operation of a blocked microthread go on.

    ```
    wse.unblock_microthread %number : i16
    ```
    """

    name = "wse.unblock_microthread"


@irdl_op_definition
class BlockedMicrothreadOp(BlockedMicrothreadOperation):
    """Says, in a `wse.pe`, that a microthread is blocked when the program starts.

    ```
    wse.blocked_microthread 3
    ```
    """

    name = "wse.blocked_microthread"
    traits = traits_def(HasParent(PeOp))
