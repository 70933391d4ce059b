"""Functions, tasks and calls of a PE, and what is loaded before the program starts.

Nothing here knows what the bodies do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    FunctionType,
    IntegerAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator, NoTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from ..assembly import (
    named,
    parameter_types,
    parse_arguments,
    parse_attributes,
    parse_body,
    parse_members,
    parse_parameter,
    print_attributes,
    print_body,
)
from ..building import build, flag, integer, string, symbol
from ..inheritance import ByInheritance
from ..machine.code import CallOperation, FuncOperation, TaskOperation, parse_shared, verify_activated
from ..machine.rules import verify_return, verify_task_id
from ..machine.symbols import Scope, described
from .attributes import TaskKind, TaskKindAttr
from .fabric import ColorOp
from .program import PeOp
from .queues import InputQueueOp


@irdl_op_definition
class InitialOp(IRDLOperation, metaclass=ByInheritance):
    """Loads of registers before the program starts, in the order written (DSR-039).

    ```
    wse.initial {
      %a = wse.get_buffer @a : memref<16xf32>
      %d = dsd.mem1d %a extent 16 : memref<16xf32>
      dsr.load %d : !dsd.mem1d<f32> -> !dsr.src1<f32, 2>
    }
    ```

    It contains loads and what they need, nothing else.
    """

    name = "wse.initial"
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), HasParent(PeOp))

    def __init__(self, body: Region | None = None, attributes: Mapping[str, Attribute] | None = None):
        super().__init__(regions=[Region(Block()) if body is None else body], attributes=attributes or {})

    @classmethod
    def parse(cls, parser: Parser) -> InitialOp:
        attributes = parse_attributes(parser)
        return cls(parse_members(parser), attributes)

    def print(self, printer: Printer) -> None:
        print_attributes(printer, self)
        print_body(printer, self.body)

    def verify_(self) -> None:
        for op in self.body.block.ops:
            if op.name != "dsr.load" and not op.has_trait(Pure):
                raise VerifyException(
                    f"{op.name} has side effects, which wse.initial does not allow; put it into a wse.func"
                )


@irdl_op_definition
class FuncOp(FuncOperation):
    """A function of the PE: called by other code, or launched by the host if exported.

    ```
    wse.func @main(%iterations: i16) { ... wse.return }
    wse.func @square(%x: f32) -> f32 { ... wse.return %y : f32 }
    wse.func @square(f32) -> f32 shares @cell::@square
    ```

    A body that ends without `wse.return` returns nothing. With `shares` it is the body of a function of another PE
    program; the symbols that it names are those of this program.
    """

    name = "wse.func"
    traits = traits_def(HasParent(PeOp))

    def __init__(
        self,
        name: str,
        function_type: FunctionType,
        body: Region | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        *,
        shares: SymbolRefAttr | None = None,
    ):
        if body is None:
            body = Region(Block(arg_types=function_type.inputs) if shares is None else [])
        properties = {"sym_name": string(name), "function_type": function_type, "shares": shares}
        build(self, [], [], properties, attributes=attributes, body=body)

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        name = parser.parse_symbol_name().data
        parameters = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_parameter(parser))
        results: list[Attribute] = []
        if parser.parse_optional_punctuation("->") is not None:
            listed = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
            results = [parser.parse_type()] if listed is None else list(listed)
        shares = parse_shared(parser)
        attributes = parse_attributes(parser)
        type = FunctionType.from_lists(parameter_types(parameters), results)
        body = parse_body(parser, named(parser, parameters), ReturnOp) if shares is None else None
        return cls(name, type, body, attributes, shares=shares)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        self.print_parameters(printer)
        results = self.function_type.outputs.data
        if len(results) == 1:
            printer.print_string(" -> ")
            printer.print_attribute(results[0])
        elif results:
            printer.print_string(" -> ")
            with printer.in_parens():
                printer.print_list(results, printer.print_attribute)
        self.print_code(printer)


@irdl_op_definition
class TaskOp(TaskOperation):
    """Code that the PE's scheduler starts.

    ```
    wse.task @step local { ... }
    wse.task @done local id 9 blocked { ... }
    wse.task @receive data @from_west (%value: f32) { ... }
    wse.task @end control id 5 { ... }
    wse.task @step local id 7 shares @cell::@step
    ```

    A local task runs when it is activated and not blocked; `active` and `blocked` give its state
    when the program starts. A data task runs for each wavelet of its input queue and takes the
    wavelet as one argument, or as two of 16 bits, the low half first. A control task runs for a
    control wavelet that carries its id in bits 16 to 21; it takes no argument, the 16 bits of data below the id,
    or the whole wavelet as a data task does. `shares` is as for a function.
    """

    name = "wse.task"
    kind = prop_def(TaskKindAttr)
    id = opt_prop_def(IntegerAttr)
    traits = traits_def(HasParent(PeOp))

    def __init__(
        self,
        name: str,
        kind: TaskKind,
        body: Region | None = None,
        *,
        queue: str | None = None,
        id: int | None = None,
        active: bool = False,
        blocked: bool = False,
        attributes: Mapping[str, Attribute] | None = None,
        shares: SymbolRefAttr | None = None,
    ):
        if body is None:
            body = Region(Block() if shares is None else [])
        properties = {
            "sym_name": string(name),
            "shares": shares,
            "kind": TaskKindAttr(kind),
            "queue": None if queue is None else symbol(queue),
            "id": None if id is None else integer(id),
            "active": flag(active),
            "blocked": flag(blocked),
        }
        build(self, [], [], properties, attributes=attributes, body=body)

    @property
    def task_kind(self) -> TaskKind:
        return self.kind.data

    @property
    def kind_name(self) -> str:
        return self.kind.data

    @property
    def task_id(self) -> int | None:
        """The task's number on the machine, if it is fixed."""
        return None if self.id is None else self.id.value.data

    @classmethod
    def parse(cls, parser: Parser) -> TaskOp:
        name = parser.parse_symbol_name().data
        kind = parser.parse_str_enum(TaskKind)
        queue = parser.parse_symbol_name().data if kind is TaskKind.DATA else None
        number = None
        if parser.parse_optional_keyword("id") is not None:
            number = parser.parse_integer(allow_boolean=False)
        active = parser.parse_optional_keyword("active") is not None
        blocked = parser.parse_optional_keyword("blocked") is not None
        shares = parse_shared(parser)
        arguments = parse_arguments(parser) if shares is None else []
        attributes = parse_attributes(parser)
        return cls(
            name,
            kind,
            parse_body(parser, arguments, ReturnOp) if shares is None else None,
            queue=queue,
            id=number,
            active=active,
            blocked=blocked,
            attributes=attributes,
            shares=shares,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(f" {self.task_kind}")
        if self.queue is not None:
            printer.print_string(" ")
            printer.print_attribute(self.queue)
        if self.id is not None:
            printer.print_string(f" id {self.id.value.data}")
        self.print_state_and_body(printer)

    def verify_(self) -> None:
        name = self.sym_name.data
        if (self.queue is not None) != (self.task_kind is TaskKind.DATA):
            raise VerifyException(
                f"{self.task_kind} task @{name} "
                + ("needs the input queue that starts it" if self.queue is None else "has a queue")
                + "; only data tasks have one"
            )
        super().verify_()
        if self.id is not None and self.task_kind is TaskKind.DATA:
            raise VerifyException(f"data task @{name} has an id, which its queue gives it; remove the id")
        if self.task_kind is TaskKind.CONTROL and self.id is None:
            raise VerifyException(f"control task @{name} has no id, so no control wavelet can name it; give it one")

    def verify_symbols(self, scope: Scope) -> None:
        if self.queue is not None:
            scope.get(InputQueueOp, self.queue)
        if self.task_id is not None:
            control = self.task_kind is TaskKind.CONTROL
            verify_task_id(described(self), self.task_id, scope.target, control=control)


TASK_HINT = " (wse.task ... local)"
"""Says how a local task is written, where an error asks for one."""


def verify_task_to_activate(symbol: SymbolRefAttr | str, scope: Scope) -> None:
    """Raise VerifyException unless `symbol` is a local task (DSD-190, DSD-191)."""
    verify_activated(symbol, scope, hint=TASK_HINT)


def verify_task_to_unblock(symbol: SymbolRefAttr | str, scope: Scope, done: str = "unblocked") -> None:
    """Raise VerifyException unless `symbol` can be unblocked on the target: DSD-192, DSD-193, DSD-204 to DSD-206."""
    found = scope.find(symbol)
    if isinstance(found, TaskOp) and found.task_kind is not TaskKind.CONTROL:
        return
    by_color = scope.target.data_tasks_by_color
    if isinstance(found, ColorOp if by_color else InputQueueOp):
        return
    other = "a color" if by_color else "an input queue"
    raise VerifyException(
        f"{described(found)} cannot be {done} on {scope.target.name}; name a local task, a data task or {other}"
    )


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Ends a function or task.

    ```
    wse.return
    wse.return %y : f32
    ```
    """

    name = "wse.return"
    arguments = var_operand_def()
    traits = traits_def(IsTerminator(), HasParent(FuncOp, TaskOp))
    assembly_format = "($arguments^ `:` type($arguments))? attr-dict"

    def __init__(self, *arguments: SSAValue):
        build(self, arguments, [], {})

    def verify_(self) -> None:
        verify_return(self)


@irdl_op_definition
class CallOp(CallOperation):
    """Calls a function of the same PE program.

    ```
    %y = wse.call @square(%x) : (f32) -> f32
    ```
    """

    name = "wse.call"
    res = var_result_def()
    assembly_format = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $res)"

    def __init__(self, callee: str, arguments: Sequence[SSAValue] = (), results: Sequence[Attribute] = ()):
        super().__init__(
            operands=[arguments],
            result_types=[results],
            properties={"callee": SymbolRefAttr(callee)},
        )

    @classmethod
    def of(cls, function: FuncOp, arguments: Sequence[SSAValue] = ()) -> CallOp:
        """Return a call of a function, with the results of that."""
        return cls(function.sym_name.data, arguments, function.function_type.outputs.data)
