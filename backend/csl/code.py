"""CSL statements from `arith`, `math`, `scf` and `memref`: the bodies of functions and tasks.

Every SSA value becomes a `const` local, or the expression itself where it is short, has no effect and is used once.
Results of structured control flow become `var` locals, assigned where a region yields. Operations of other dialects
are left to subclasses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, FloatAttr, IntegerAttr, MemRefType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.traits import is_side_effect_free

from ...csl import syntax
from ...csl.syntax import Expression, Statement
from ...diagnostics.errors import LoomError
from ...diagnostics.records import record
from ...dialects.scalar_types import SCALAR_DIALECTS
from . import tree
from .names import Names
from .scalars import expression_of, reads_well_in
from .types import INDEX, literal_of, refuse, scalar_type

MAX_INLINED_HEIGHT = 6
"""Maximum height of an expression that is printed where it is used; higher ones are bound to a name."""


@record
class Place:
    """An array or variable: how it is written, and the CSL type of its elements.

    `pointer` is given where memory is known by a pointer to an unknown number of elements; `holds` is the type of a
    variable that is itself a pointer, which the IR has as an address.
    """

    expression: Expression
    element: str
    pointer: Expression | None = None
    holds: Expression | None = None

    @property
    def address(self) -> Expression:
        """A pointer to the array or variable."""
        return tree.address_of(self.expression) if self.pointer is None else self.pointer


class Code:
    """Writes the body of one function or task."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.statements: list[Statement] = []
        self._expressions: dict[SSAValue, Expression] = {}
        self._constants: dict[SSAValue, int | float] = {}

    # For subclasses

    def write_operation(self, op: Operation) -> bool:
        """Write an operation of another dialect; return False if CSL has no equivalent."""
        raise NotImplementedError

    def place_of(self, user: Operation, value: SSAValue) -> Place:
        """Return the array or variable that a memref is."""
        raise NotImplementedError

    def element_of(self, user: Operation, array: SSAValue, indices: Sequence[SSAValue]) -> Place:
        """Return the element of an array, or the variable that a memref of rank 0 is."""
        place = self.place_of(user, array)
        expression = tree.index(place.expression, [self.value(index) for index in indices])
        return replace(place, expression=expression)

    def library(self, name: str) -> str:
        """Import a library such as `math` if need be; return its name in the file."""
        raise NotImplementedError

    def type_text(self, user: Operation, type: Attribute) -> str:
        """Return the name of a type in CSL; raises LoomError at `user` if CSL has none."""
        text = scalar_type(type)
        if text is None:
            raise refuse(user, f"{user.name} has a value of type {type}, which CSL does not have; use another type")
        return text

    def refuse_operation(self, op: Operation) -> LoomError:
        """Return the error at an operation that CSL cannot express."""
        return refuse(op, f"{op.name} cannot be written in CSL; replace it before printing")

    def skipped(self, op: Operation) -> bool:
        """Return True if an operation is written as part of another one."""
        return False

    # Values

    def type_of(self, user: Operation, value: SSAValue) -> Expression | None:
        """Return the type to write in a declaration of the value; None to omit it."""
        return tree.name(self.type_text(user, value.type))

    def is_constant(self, value: SSAValue) -> bool:
        return value in self._constants

    def constant(self, value: SSAValue) -> int | float:
        return self._constants[value]

    def set_constant(self, value: SSAValue, number: int | float) -> None:
        self._constants[value] = number

    def set_value(self, value: SSAValue, expression: Expression) -> None:
        """Use `expression` for the value from now on."""
        self._expressions[value] = expression

    def value(self, value: SSAValue, *, typed: bool = False) -> Expression:
        """Return the expression of a value; a constant is a bare literal, or with its type if `typed`."""
        if value not in self._constants:
            return self._expressions[value]
        type = scalar_type(value.type) or INDEX
        literal = literal_of(type, self._constants[value])
        return tree.builtin("as", tree.name(type), literal) if typed and type != "bool" else literal

    def emit(self, statement: Statement) -> None:
        self.statements.append(statement)

    def bind(self, op: Operation, expression: Expression, *, pure: bool = True) -> None:
        """Make `expression` the result of `op`: declare a name for it, or substitute it at its use."""
        result = op.results[0]
        if pure and not self._uses(result):
            return
        if pure and self._only_here(op) and tree.height(expression) <= MAX_INLINED_HEIGHT:
            if reads_well_in(self._uses(result)[0], expression):
                self.set_value(result, expression)
                return
        if not self._uses(result):
            self.emit(tree.assign(tree.name("_"), expression))
            return
        self.declare(op, result, expression)

    def declare(self, op: Operation, value: SSAValue, expression: Expression) -> None:
        """Declare a `const` local of this value."""
        local = self.names.new(value.name_hint)
        self.emit(tree.declare("const", local, self.type_of(op, value), expression))
        self.set_value(value, tree.name(local))

    def _uses(self, value: SSAValue) -> list[Operation]:
        return [use.operation for use in value.uses if not self.skipped(use.operation)]

    def _only_here(self, op: Operation) -> bool:
        uses = self._uses(op.results[0])
        return len(uses) == 1 and uses[0].parent is op.parent

    # Statements

    def body(self, block: Block) -> list[Statement]:
        """Write a block; return its statements, after those that `statements` already holds."""
        for op in block.ops:
            self.write(op)
        return self.statements

    def _region(self, region: Region, results: Sequence[syntax.Name | None] = ()) -> list[Statement]:
        """Return the statements of a region of `scf`, which assign what it yields to `results`."""
        outer, self.statements = self.statements, []
        if region.blocks:
            block = region.block
            self.body(block)
            if isinstance(last := block.last_op, scf.YieldOp):
                self._assign_all(last, results, last.operands)
        written, self.statements = self.statements, outer
        return written

    def write(self, op: Operation) -> None:
        """Write one operation; raises LoomError at what CSL cannot express."""
        if self.skipped(op):
            return
        first = len(self.statements)
        match op:
            case arith.ConstantOp():
                self._constant(op)
            case scf.IfOp():
                self._if(op)
            case scf.ForOp():
                self._for(op)
            case scf.WhileOp():
                self._while(op)
            case scf.IndexSwitchOp():
                self._index_switch(op)
            case scf.YieldOp() | scf.ConditionOp():
                pass
            case memref.LoadOp():
                self._load(op)
            case memref.StoreOp():
                self._store(op)
            case memref.DimOp():
                self._dim(op)
            case _:
                self._other(op)
        self.note_origin(op, self.statements[first:])

    def note_origin(self, op: Operation, written: Sequence[Statement]) -> None:
        """Note the statements that an operation became."""

    def _other(self, op: Operation) -> None:
        if op.dialect_name() in SCALAR_DIALECTS:
            expression = expression_of(op, self)
            if expression is not None:
                self.bind(op, expression)
                return
        elif self.write_operation(op):
            return
        if not op.results or not is_side_effect_free(op) or self._uses(op.results[0]):
            raise self.refuse_operation(op)

    def _constant(self, op: arith.ConstantOp) -> None:
        match op.value:
            case IntegerAttr() | FloatAttr():
                self.type_text(op, op.result.type)
                self._constants[op.result] = op.value.value.data
            case _:
                raise refuse(op, f"{op.name} of type {op.result.type} cannot be written in CSL; make it a wse.buffer")

    def _load(self, op: memref.LoadOp) -> None:
        if not self._uses(op.res):
            return
        place = self.element_of(op, op.memref, op.indices)
        expression = place.expression
        type = self.type_text(op, op.res.type)
        if place.holds is not None or place.element != type:
            expression = tree.builtin("bitcast", tree.name(type), expression)
        self.bind(op, expression, pure=False)

    def _store(self, op: memref.StoreOp) -> None:
        place = self.element_of(op, op.memref, op.indices)
        target = place.expression
        if place.holds is not None:
            # An address becomes a pointer only as an unsigned number.
            address = tree.builtin("bitcast", tree.name("u16"), self.value(op.value, typed=True))
            value = tree.builtin("bitcast", place.holds, address)
        elif place.element != self.type_text(op, op.value.type):
            value = tree.builtin("bitcast", tree.name(place.element), self.value(op.value, typed=True))
        else:
            value = self.value(op.value)
        self.emit(tree.assign(target, value))

    def _dim(self, op: memref.DimOp) -> None:
        type = op.source.type
        if not isinstance(type, MemRefType) or op.index not in self._constants:
            raise refuse(op, f"{op.name} of an unknown dimension cannot be written in CSL; make it a constant")
        size = type.get_shape()[int(self._constants[op.index])]
        if size == DYNAMIC_INDEX:
            raise refuse(op, f"{op.name} of an open extent cannot be written in CSL; pass the extent along")
        self._constants[op.result] = size

    # Control flow

    def _result_variables(self, op: Operation, initial: Sequence[SSAValue | None]) -> list[syntax.Name | None]:
        """Declare a `var` for each result that is used, with its initial value if there is one."""
        variables: list[syntax.Name | None] = []
        for result, start in zip(op.results, initial, strict=True):
            if not self._uses(result) and start is None:
                variables.append(None)
                continue
            variable = self._variable(op, result, start)
            self.set_value(result, variable)
            variables.append(variable)
        return variables

    def _variable(self, op: Operation, value: SSAValue, start: SSAValue | None) -> syntax.Name:
        local = self.names.new(value.name_hint)
        first = None if start is None else self.value(start)
        self.emit(tree.declare("var", local, self.type_of(op, value), first))
        return tree.name(local)

    def _assign_all(self, op: Operation, targets: Sequence[syntax.Name | None], values: Sequence[SSAValue]) -> None:
        """Assign in parallel: no assignment reads what another has written."""
        pending: list[tuple[syntax.Name, SSAValue, Expression]] = []
        for target, value in zip(targets, values, strict=False):
            if target is None:
                continue
            expression = self.value(value)
            if not (isinstance(expression, syntax.Name) and expression.name == target.name):
                pending.append((target, value, expression))
        written: set[str] = set()
        for position, (target, value, expression) in enumerate(pending):
            if written & tree.names_in(expression):
                local = self.names.new(value.name_hint)
                self.emit(tree.declare("const", local, self.type_of(op, value), expression))
                pending[position] = (target, value, tree.name(local))
            written.add(target.name)
        for target, _, expression in pending:
            self.emit(tree.assign(target, expression))

    def _if(self, op: scf.IfOp) -> None:
        condition = self.value(op.cond)
        if len(op.results) == 1 and self._only_yields(op.true_region) and self._only_yields(op.false_region):
            yes, no = (self._yielded(region) for region in (op.true_region, op.false_region))
            self.bind(op, tree.choice(condition, yes, no))
            return
        results = self._result_variables(op, [None] * len(op.results))
        yes = self._region(op.true_region, results)
        no = self._region(op.false_region, results)
        if yes:
            self.emit(tree.branch(condition, yes, no))
        elif no:
            self.emit(tree.branch(tree.unary("!", condition), no, []))

    def _only_yields(self, region: Region) -> bool:
        return bool(region.blocks) and all(isinstance(op, arith.ConstantOp | scf.YieldOp) for op in region.block.ops)

    def _yielded(self, region: Region) -> Expression:
        self.body(region.block)
        last = region.block.last_op
        assert isinstance(last, scf.YieldOp)
        return self.value(last.operands[0], typed=True)

    def _for(self, op: scf.ForOp) -> None:
        induction, *carried = op.body.block.args
        for argument, result in zip(carried, op.results, strict=True):
            result.name_hint = argument.name_hint or result.name_hint
        variables = self._result_variables(op, list(op.iter_args))
        element = self.names.new(induction.name_hint, "i")
        self.set_value(induction, tree.name(element))
        self._hand_on(carried, variables)
        type = tree.name(self.type_text(op, induction.type))
        bounds = [self.value(bound) for bound in (op.lb, op.ub, op.step)]
        body = self._region(op.body, variables)
        self.emit(tree.repeat(element, type, bounds[0], bounds[1], bounds[2], body))

    def _hand_on(self, arguments: Sequence[BlockArgument], variables: Sequence[syntax.Name | None]) -> None:
        for argument, variable in zip(arguments, variables, strict=True):
            assert variable is not None
            self.set_value(argument, variable)

    def _while(self, op: scf.WhileOp) -> None:
        before, after = op.before_region.block, op.after_region.block
        condition = before.last_op
        if not isinstance(condition, scf.ConditionOp):
            raise refuse(op, f"{op.name} has no scf.condition; end its first region with one")
        carried: list[syntax.Name | None] = [
            self._variable(op, argument, start) for argument, start in zip(before.args, op.arguments, strict=True)
        ]
        self._hand_on(before.args, carried)
        results = self._result_variables(op, [None] * len(op.results))
        outer, self.statements = self.statements, []
        self.body(before)
        self._assign_all(op, results, condition.args)
        test = self.value(condition.condition)
        if not (isinstance(test, syntax.Name) and test.name == "true"):
            self.emit(tree.branch(tree.unary("!", test), [tree.leave()], []))
        for argument, value in zip(after.args, condition.args, strict=True):
            if self.is_constant(value):
                self.set_constant(argument, self.constant(value))
            else:
                self.set_value(argument, self.value(value))
        self.body(after)
        if isinstance(last := after.last_op, scf.YieldOp):
            self._assign_all(op, carried, last.operands)
        body, self.statements = self.statements, outer
        # A loop that only tests before it runs reads better as such.
        first = body[0] if body else None
        if isinstance(first, syntax.If) and _only_leaves(first):
            negated = first.branches[0].condition
            assert isinstance(negated, syntax.Unary)
            self.emit(syntax.While(tree.NOWHERE, tree.NOWHERE, None, negated.operand, None, tree.block(body[1:])))
        else:
            self.emit(tree.forever(body))

    def _index_switch(self, op: scf.IndexSwitchOp) -> None:
        results = self._result_variables(op, [None] * len(op.results))
        argument = self.value(op.arg, typed=True)
        chain: list[Statement] = self._region(op.default_region, results)
        for case, region in reversed(list(zip(op.cases.get_values(), op.case_regions, strict=True))):
            condition = tree.binary("==", argument, tree.integer(case))
            link = tree.branch(condition, self._region(region, results), chain)
            chain = [link]
        for statement in chain:
            self.emit(statement)


def _only_leaves(node: syntax.If) -> bool:
    body = node.branches[0].body
    return (
        len(node.branches) == 1
        and node.otherwise is None
        and isinstance(body, syntax.Block)
        and len(body.statements) == 1
        and isinstance(body.statements[0], syntax.Break)
    )
