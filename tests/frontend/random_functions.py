"""Random CSL functions of integers, with every kind of control flow.

Evaluated at compile time, jumps are exceptions and variables are Python's; emitted, jumps are flags and variables are
results of structured control flow. So each is an oracle for the other.
"""

from __future__ import annotations

import random

TYPES = ("i16", "u16", "i32", "u32")


class Writer:
    """Writes one program: some functions of one type, that call only those before them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.type = self.random.choice(TYPES)
        self.lines: list[str] = []
        self.depth = 0
        self.names = 0
        self.labels: list[tuple[str, bool]] = []
        """The labels of loops, "" of those without one, and of blocks with a value, which are no loops."""
        self.is_leaving = False

    def program(self) -> tuple[str, str]:
        """Return the text of the functions, and the name of the last."""
        functions: list[str] = []
        for number in range(self.random.randint(1, 3)):
            name = f"f{number}"
            self.function(name, functions)
            functions.append(name)
        return "\n".join(self.lines), functions[-1]

    def function(self, name: str, callable: list[str]) -> None:
        self.callable = callable
        self.budget = self.random.randint(6, 22)
        self.line(f"fn {name}(a: {self.type}, b: {self.type}) {self.type} {{")
        self.depth += 1
        self.line(f"var x: {self.type} = a;")
        self.line(f"var y: {self.type} = 3;")
        self.line(f"var cells = @zeros([4]{self.type});")
        self.line("var record = pair { .first = b, .second = a };")
        self.line("const here = &cells;")
        self.line("const spot = &y;" if self.random.random() < 0.5 else "const spot = &cells[1];")
        self.variables = ["x", "y", "record.first", "record.second", "cells[0]", "cells[3]", "spot.*", "here.*[2]"]
        self.constants = ["a", "b"]
        self.statements(self.random.randint(3, 6))
        self.line(f"return {self.expression(2)};")
        self.depth -= 1
        self.line("}")

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def expression(self, depth: int) -> str:
        choice = self.random.random()
        if depth == 0 or choice < 0.3:
            pool = [*self.variables, *self.constants]
            return (
                self.random.choice(pool)
                if self.random.random() < 0.75
                else f"@as({self.type}, {self.random.randint(0, 9)})"
            )
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        if choice < 0.7:
            return f"({left} {self.random.choice('+-*&|^')} {right})"
        if choice < 0.78:
            return f"({left} {self.random.choice('/%')} (({right} & 7) + 1))"
        if choice < 0.84:
            return f"({left} {self.random.choice(['<<', '>>'])} @as(u16, {self.random.randint(0, 9)}))"
        if choice < 0.92:
            sides = [f"@as({self.type}, {left})", f"@as({self.type}, {right})"]
            if self.random.random() < 0.25:
                sides[self.random.randint(0, 1)] = self.leave()
            return f"@as({self.type}, if ({self.condition(1)}) {sides[0]} else {sides[1]})"
        if self.callable:
            return f"{self.random.choice(self.callable)}(@as({self.type}, {left}), @as({self.type}, {right}))"
        return f"(~@as({self.type}, {left}))"

    def condition(self, depth: int) -> str:
        comparison = self.random.choice(["==", "!=", "<", ">", "<=", ">="])
        simple = f"@as({self.type}, {self.expression(1)}) {comparison} @as({self.type}, {self.expression(1)})"
        if depth == 0 or self.random.random() < 0.6:
            return simple
        word = self.random.choice(["and", "or"])
        return f"({simple}) {word} {'!' if self.random.random() < 0.3 else ''}({self.condition(depth - 1)})"

    def statements(self, count: int) -> None:
        outer = list(self.variables), list(self.constants)
        for _ in range(count):
            if self.budget <= 0:
                break
            self.budget -= 1
            self.statement()
        self.variables, self.constants = outer

    def statement(self) -> None:
        choice = self.random.random()
        if choice < 0.36 or self.depth > 5:
            operator = self.random.choice(["=", "=", "+=", "-=", "^=", "*=", "|="])
            self.line(f"{self.random.choice(self.variables)} {operator} {self.expression(2)};")
        elif choice < 0.44:
            name = self.fresh("v")
            kind = self.random.choice(["var", "const"])
            self.line(f"{kind} {name}: {self.type} = {self.expression(2)};")
            (self.variables if kind == "var" else self.constants).append(name)
        elif choice < 0.64:
            self.line(f"if ({self.condition(1)}) {{")
            self.block(2)
            if self.random.random() < 0.3:
                self.line(f"}} else if ({self.condition(1)}) {{")
                self.block(2)
            if self.random.random() < 0.5:
                self.line("} else {")
                self.block(2)
            self.line("}")
        elif choice < 0.74:
            self.for_loop()
        elif choice < 0.82:
            self.while_loop()
        elif choice < 0.87:
            self.switch()
        elif choice < 0.92:
            self.labeled()
        elif choice < 0.95:
            self.line(f"if ({self.condition(0)}) return {self.expression(1)};")
        else:
            self.jump()

    def block(self, count: int) -> None:
        self.depth += 1
        self.statements(self.random.randint(1, count))
        self.depth -= 1

    def for_loop(self) -> None:
        name, position, label = self.fresh("item"), self.fresh("p"), self.fresh("loop")
        if self.random.random() < 0.6:
            iterable = self.random.choice(["@range(i16, 4)", "@range(u16, 2, 9, 3)", "@range(i16, 5, 0, -2)"])
        else:
            iterable = f"[3]{self.type} {{ 2, 7, 1 }}"
        has_label = self.random.random() < 0.5
        self.line(f"{label}: " * has_label + f"for ({iterable}) |{name}, {position}| {{")
        self.constants += [f"@as({self.type}, {name})", f"@as({self.type}, {position})"]
        self.labels.append((label if has_label else "", True))
        self.block(3)
        self.labels.pop()
        del self.constants[-2:]
        self.line("}")

    def while_loop(self) -> None:
        name, label = self.fresh("n"), self.fresh("loop")
        self.line(f"var {name}: i16 = 0;")
        has_label = self.random.random() < 0.5
        test = f"{name} < {self.random.randint(1, 5)}"
        if self.random.random() < 0.4:
            test += f" and ({self.condition(0)})"
        self.line(f"{label}: " * has_label + f"while ({test}) : ({name} += 1) {{")
        self.constants.append(f"@as({self.type}, {name})")
        self.labels.append((label if has_label else "", True))
        self.block(3)
        self.labels.pop()
        self.constants.pop()
        self.line("}")

    def switch(self) -> None:
        self.line(f"switch (@as({self.type}, {self.expression(1)}) & 3) {{")
        self.depth += 1
        for number in self.random.sample(range(4), 2):
            self.line(f"{number} => {{")
            self.block(1)
            self.line("},")
        self.line("else => {")
        self.block(1)
        self.line("},")
        self.depth -= 1
        self.line("}")

    def labeled(self) -> None:
        name, label = self.fresh("v"), self.fresh("made")
        kind = f": {self.type}" if self.random.random() < 0.5 else ""
        self.line(f"const {name}{kind} = {label}: {{")
        self.labels.append((label, False))
        self.depth += 1
        if self.random.random() < 0.5:
            self.line(f"if ({self.condition(0)}) {{ break :{label} {self.typed()}; }}")
        self.statements(2)
        self.labels.pop()
        self.line(f"break :{label} {self.typed()};")
        self.depth -= 1
        self.line("};")
        self.constants.append(name)

    def jump(self) -> None:
        self.line(f"if ({self.condition(0)}) {self.leave()};")

    def leave(self) -> str:
        """Return a jump out of a loop, a block that has a value, or the function."""
        is_simple = self.is_leaving
        self.is_leaving = True
        blocks = [label for label, is_loop in self.labels if not is_loop]
        loops = [label for label, is_loop in self.labels if is_loop]
        value = f"@as({self.type}, {self.random.choice(self.constants)})" if is_simple else self.typed()
        choice = self.random.random()
        if blocks and choice < 0.4:
            text = f"break :{self.random.choice(blocks)} {value}"
        elif loops and choice < 0.85:
            label = self.random.choice([loops[-1], ""] if self.random.random() < 0.6 else loops)
            text = f"{self.random.choice(['break', 'continue'])}{f' :{label}' if label else ''}"
        else:
            text = f"return {value}"
        self.is_leaving = is_simple
        return text

    def typed(self) -> str:
        return f"@as({self.type}, {self.expression(1)})"
