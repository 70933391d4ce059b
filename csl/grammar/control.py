"""Control that has a value: `if`, `switch`, jumps, `comptime` and `asm`."""

from __future__ import annotations

from collections.abc import Callable

from ..lexer import ASSIGNMENTS, END, NAME, STRING
from ..syntax import (
    Asm,
    AsmOperand,
    Break,
    Comptime,
    Continue,
    Expression,
    If,
    IfBranch,
    Return,
    Statement,
    String,
    Switch,
    SwitchBranch,
)
from .types import Types

_NO_VALUE = frozenset((";", "=>", ",", ")", "]", "}", "else", END))


class Control(Types):
    """Parses control within expressions."""

    __slots__ = ()

    def if_expression(self) -> Expression:
        first = self.position
        branches, otherwise = self.branches(self.expression)
        self.height += 1
        if isinstance(otherwise, If):
            # It stood in parentheses, which are not kept.
            branches += otherwise.branches
            otherwise = otherwise.otherwise
        return If(self.starts[first], self.ends[self.position - 1], branches, otherwise)

    def branches(self, side: Callable[[], Statement]) -> tuple[list[IfBranch], Statement | None]:
        """Parse the branches of an `if` and its last `else`, each body by `side`."""
        kinds = self.kinds
        branches: list[IfBranch] = []
        while True:
            start = self.starts[self.position]
            self.position += 1
            condition = self.parenthesized("after 'if'")
            body = side()
            branches.append(IfBranch(start, self.ends[self.position - 1], condition, body))
            if kinds[self.position] != "else":
                return branches, None
            self.position += 1
            if kinds[self.position] != "if":
                return branches, side()

    def switch(self) -> Switch:
        kinds = self.kinds
        first = self.position
        self.position = first + 1
        subject = self.parenthesized("after 'switch'")
        if kinds[self.position] != "{":
            self.fail_expected("'{' to begin the branches of the 'switch'")
        branches = self.items("}", self.switch_branch)
        if not branches:
            self.report_token(first, "a 'switch' needs at least one branch 'value => expression'")
        self.height += 1
        return Switch(self.starts[first], self.ends[self.position - 1], subject, branches)

    def switch_branch(self) -> SwitchBranch:
        kinds = self.kinds
        first = self.position
        values: list[Expression] = []
        if kinds[first] == "else":
            self.position = first + 1
        else:
            values.append(self.expression())
            while kinds[self.position] == ",":
                self.position += 1
                if kinds[self.position] == "=>":
                    break
                values.append(self.expression())
        if kinds[self.position] == ":":
            self.fail(self.position, "a branch of a 'switch' is written 'value => expression'")
        self.expect("=>", "after the values of a branch")
        body: Statement
        if kinds[self.position] in ("for", "while", "inline") or (self.is_label() and kinds[self.position + 2] != "{"):
            body = self.statement()
        else:
            body = self.expression()
            if kinds[self.position] in ASSIGNMENTS:
                body = self.assignment(body)
        if kinds[self.position] == ";":
            self.fail(self.position, "the branches of a 'switch' are separated by ',', not ';'")
        return SwitchBranch(self.starts[first], self.ends[self.position - 1], values, body)

    def return_(self) -> Return:
        token = self.position
        self.position = token + 1
        value = None if self.kinds[self.position] in _NO_VALUE else self.expression()
        return Return(self.starts[token], self.ends[self.position - 1], value)

    def label_reference(self) -> str | None:
        """Parse `:label` after `break` and `continue`."""
        if self.kinds[self.position] != ":":
            return None
        self.position += 1
        return self.expect_name("a label")

    def break_(self) -> Break:
        token = self.position
        self.position = token + 1
        label = self.label_reference()
        value = None
        if label is not None and self.kinds[self.position] not in _NO_VALUE:
            value = self.expression()
        return Break(self.starts[token], self.ends[self.position - 1], label, value)

    def continue_(self) -> Continue:
        token = self.position
        self.position = token + 1
        label = self.label_reference()
        return Continue(self.starts[token], self.ends[self.position - 1], label)

    def comptime(self) -> Expression:
        token = self.position
        self.position = token + 1
        operand = self.expression()
        return Comptime(self.starts[token], self.ends[self.position - 1], operand)

    def asm(self) -> Expression:
        kinds = self.kinds
        first = self.position
        self.position = first + 1
        is_volatile = kinds[self.position] == NAME and self.texts[self.position] == "volatile"
        if is_volatile:
            self.position += 1
        opening = self.position
        self.expect("(", "after 'asm'")
        code = self.expression()
        if kinds[self.position] == ",":
            self.position += 1
        outputs: list[AsmOperand] = []
        inputs: list[AsmOperand] = []
        clobbers: list[String] = []
        for operands in (outputs, inputs):
            if kinds[self.position] == ":":
                self.position += 1
                while kinds[self.position] == "[":
                    operands.append(self.asm_operand())
                    if kinds[self.position] == ",":
                        self.position += 1
        if kinds[self.position] == ":":
            self.position += 1
            while kinds[self.position] == STRING:
                clobbers.append(self.string())
                if kinds[self.position] == ",":
                    self.position += 1
        if kinds[self.position] != ")":
            self.fail_expected("')' or ':' and the next part of 'asm'", self.note(opening, "the '(' is here"))
        self.position += 1
        self.height += 1
        return Asm(self.starts[first], self.ends[self.position - 1], is_volatile, code, outputs, inputs, clobbers)

    def asm_operand(self) -> AsmOperand:
        first = self.position
        self.position = first + 1
        name = self.expect_name("an operand of 'asm'")
        self.expect("]", "after the name of an operand of 'asm'")
        constraint = self.string()
        expression = self.parenthesized("after the constraint of an operand of 'asm'")
        return AsmOperand(self.starts[first], self.ends[self.position - 1], name, constraint, expression)
