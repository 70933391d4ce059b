"""Functions, tasks and calls of a unit.

Nothing here knows what the bodies do.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    FunctionType,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator
from xdsl.utils.exceptions import VerifyException

from ..assembly import (
    named,
    parameter_types,
    parse_arguments,
    parse_attributes,
    parse_body,
    parse_parameter,
    parse_symbol,
)
from ..building import build, flag, integer, string, symbol
from ..machine.code import CallOperation, FuncOperation, TaskOperation, parse_shared
from ..machine.rules import verify_return, verify_task_id
from ..machine.symbols import Scope, described
from .fabric import UnitsOp, color_named
from .queues import QueueOp, input_queue_named
from .types import StreamType, verify_scalar_type


@irdl_op_definition
class FuncOp(FuncOperation):
    """A function of the unit. An exported one can be launched; its results are dropped.

    Arguments and results are scalars and streams.

    ```
    flow.func @add(%x: i16) -> (i16) { ... }
    flow.func @add(i16) -> (i16) shares @cell::@add
    ```

    With `shares` its body is that of a function of another class of units, and the symbols that it names are those of
    this class.
    """

    name = "flow.func"
    traits = traits_def(HasParent(UnitsOp))

    def __init__(self, name: str, body: Region, results: Sequence[Attribute] = ()):
        type = FunctionType.from_lists(list(body.block.arg_types), results)
        build(self, [], [], {"sym_name": string(name), "function_type": type}, body=body)

    @classmethod
    def sharing(cls, name: str, type: FunctionType, shares: SymbolRefAttr) -> FuncOp:
        """Return a function whose body is that of another class of units."""
        properties = {"sym_name": string(name), "function_type": type, "shares": shares}
        return cls.create(properties=properties, regions=[Region()])

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        name = parser.parse_symbol_name().data
        listed = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_parameter(parser))
        parameters = listed or []
        results: list[Attribute] = []
        if parser.parse_optional_punctuation("->") is not None:
            results = list(parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type))
        shares = parse_shared(parser)
        attributes = parse_attributes(parser)
        if shares is None:
            op = cls(name, parse_body(parser, named(parser, parameters), ReturnOp), results)
        else:
            op = cls.sharing(name, FunctionType.from_lists(parameter_types(parameters), results), shares)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        if self.function_type.inputs.data:
            self.print_parameters(printer)
        if results := self.function_type.outputs.data:
            printer.print_string(" -> ")
            with printer.in_parens():
                printer.print_list(results, printer.print_attribute)
        self.print_code(printer)

    def verify_(self) -> None:
        super().verify_()
        name = self.sym_name.data
        for noun, types in (("an argument", self.function_type.inputs), ("a result", self.function_type.outputs)):
            for type in types:
                if not isinstance(type, StreamType):
                    verify_scalar_type(type, f"{noun} of function @{name}", of_core=True)


TASK_KINDS = ("local", "data", "control")


@irdl_op_definition
class TaskOp(TaskOperation):
    """A task: `local` (run by activation), `data` (run by each wavelet of an input queue, whose payload is its
    arguments: one of 16 or 32 bits, or two halves, low half first) or `control` (run by control wavelets).

    A data task has the id of its queue on WSE-3, of one of its queue's colors on WSE-2; no other task has that id.
    `shares` is as for a function.
    """

    name = "flow.task"
    kind = prop_def(StringAttr)
    task_id = prop_def(IntegerAttr)
    traits = traits_def(HasParent(UnitsOp))

    def __init__(
        self,
        name: str,
        kind: str,
        task_id: int,
        body: Region | None,
        *,
        queue: str | None = None,
        active: bool = False,
        blocked: bool = False,
        shares: SymbolRefAttr | None = None,
    ):
        properties = {
            "sym_name": string(name),
            "shares": shares,
            "kind": string(kind),
            "task_id": integer(task_id),
            "queue": None if queue is None else symbol(queue),
            "active": flag(active),
            "blocked": flag(blocked),
        }
        build(self, [], [], properties, body=Region() if body is None else body)

    @classmethod
    def parse(cls, parser: Parser) -> TaskOp:
        kind = parser.parse_keyword_in(TASK_KINDS)
        name = parser.parse_symbol_name().data
        parser.parse_keyword("id")
        task_id = parser.parse_integer(allow_boolean=False)
        queue = parse_symbol(parser).root_reference.data if parser.parse_optional_keyword("on") else None
        active = parser.parse_optional_keyword("active") is not None
        blocked = parser.parse_optional_keyword("blocked") is not None
        shares = parse_shared(parser)
        arguments = parse_arguments(parser) if shares is None else []
        attributes = parse_attributes(parser)
        body = parse_body(parser, arguments, ReturnOp) if shares is None else None
        op = cls(name, kind, task_id, body, queue=queue, active=active, blocked=blocked, shares=shares)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data} ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f" id {self.task_id.value.data}")
        if self.queue is not None:
            printer.print_string(" on ")
            printer.print_attribute(self.queue)
        self.print_state_and_body(printer)

    @property
    def kind_name(self) -> str:
        return self.kind.data

    def verify_(self) -> None:
        name, kind = self.sym_name.data, self.kind.data
        if kind not in TASK_KINDS:
            raise VerifyException(f"task @{name} is '{kind}'; make it one of {', '.join(TASK_KINDS)}")
        if self.is_data and self.queue is None:
            raise VerifyException(f"data task @{name} has no queue; name the input queue that starts it")
        if self.queue is not None and not self.is_data:
            raise VerifyException(f"{kind} task @{name} has a queue; remove it, only data tasks have one")
        super().verify_()

    def verify_symbols(self, scope: Scope) -> None:
        number, target = self.task_id.value.data, scope.target
        if self.queue is not None:
            queue = input_queue_named(self.queue, scope)
            if target.data_tasks_by_color:
                numbers = [color_named(color, scope).color.value.data for color in queue.colors]
                wanted = "of its queue's color"
            else:
                numbers, wanted = [queue.queue_id.value.data], "of its queue"
            if number not in numbers:
                raise VerifyException(
                    f"data task @{self.sym_name.data} has id {number}, but on {target.name} it has the id {wanted}; "
                    f"use {numbers[0]}"
                )
            return
        verify_task_id(described(self), number, target, control=not self.is_local)


def verify_task_to_block(symbol: SymbolRefAttr, scope: Scope, done: str = "unblocked") -> None:
    """Raise VerifyException unless `symbol` is a task, or an input queue, which stands for what its wavelets start.

    See DSD-192 and DSD-193.
    """
    found = scope.find(symbol)
    if not isinstance(found, TaskOp) and not (isinstance(found, QueueOp) and found.is_input):
        raise VerifyException(f"{described(found)} cannot be {done}; name a task or an input queue")


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Ends a task or function."""

    name = "flow.return"
    values = var_operand_def()
    traits = traits_def(IsTerminator(), HasParent(FuncOp, TaskOp))
    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, values: Sequence[SSAValue] = ()):
        super().__init__(operands=[values])

    def verify_(self) -> None:
        verify_return(self)


@irdl_op_definition
class CallOp(CallOperation):
    """Calls a function of the same unit."""

    name = "flow.call"
    results_ = var_result_def()
    assembly_format = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $results_)"

    def __init__(self, callee: str, arguments: Sequence[SSAValue], results: Sequence[Attribute]):
        super().__init__(operands=[arguments], properties={"callee": SymbolRefAttr(callee)}, result_types=[results])
