"""Printer of CSL trees, in one canonical layout.

What is printed parses to an equal tree. Comments and parentheses that change nothing are not in the tree and are lost.
Trees may also be built by hand, with any offsets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..diagnostics.nesting import deep_nesting
from .grammar.declarations import ATTRIBUTES
from .grammar.expressions import COMPARISON, PRECEDENCE
from .syntax import (
    Aggregate,
    AnyType,
    ArrayType,
    Asm,
    AsmOperand,
    Assign,
    Binary,
    Block,
    Break,
    Builtin,
    Call,
    Comptime,
    ComptimeBlock,
    Continue,
    Declaration,
    Dereference,
    EnumType,
    Expression,
    Field,
    File,
    Float,
    For,
    Function,
    FunctionType,
    If,
    Index,
    Integer,
    Layout,
    ManyPointerType,
    Name,
    Node,
    PointerType,
    Return,
    Statement,
    String,
    StructType,
    Switch,
    TensorAccess,
    Unary,
    Variable,
    While,
)

WIDTH = 100
INDENTATION = "  "

# How tightly an expression holds together, beyond the operators' precedences 1 to 7.
_LOOSE = 0
_PREFIX = 8
_AGGREGATE = 9
_TYPE = 10
_SUFFIX = 11

_BLOCK_LIKE = (Block, If, For, While, Switch)


@deep_nesting()
def print_file(file: File) -> str:
    """Return the text of a file, ending in a newline."""
    parts: list[str] = []
    before: Declaration | None = None
    for declaration in file.declarations:
        text = print_declaration(declaration)
        if before is not None:
            apart = "\n" in text or "\n" in parts[-1] or not isinstance(declaration, type(before))
            parts.append("\n\n" if apart else "\n")
        parts.append(text)
        before = declaration
    return "".join(parts) + "\n" if parts else ""


def print_declaration(node: Declaration) -> str:
    """Return a declaration at the left margin, without a newline at its end."""
    return _PRINTERS[type(node)](node, "") + (";" if isinstance(node, Variable) or _is_extern(node) else "")


def print_statement(node: Statement, indentation: str = "") -> str:
    """Return a statement with its `;` if it has one; `indentation` is that of its lines but the first."""
    text = _statement(node, indentation)
    return text if _ends_itself(node) else text + ";"


def print_expression(node: Expression, indentation: str = "") -> str:
    """Return an expression; `indentation` is that of its lines but the first."""
    return _PRINTERS[type(node)](node, indentation)


def quoted(value: bytes) -> str:
    """Return a CSL string literal of these bytes."""
    parts: list[str] = []
    for character in value.decode("utf-8", "surrogateescape"):
        code = ord(character)
        if character in '"\\':
            parts.append("\\" + character)
        elif character in "\n\r\t":
            parts.append({"\n": "\\n", "\r": "\\r", "\t": "\\t"}[character])
        elif 0xDC80 <= code <= 0xDCFF:
            # A byte that is not part of a UTF-8 character.
            parts.append(f"\\x{code - 0xDC00:02x}")
        elif code < 0x80 and not character.isprintable():
            parts.append(f"\\x{code:02x}")
        elif not character.isprintable():
            parts.extend(f"\\x{byte:02x}" for byte in character.encode())
        else:
            parts.append(character)
    return f'"{"".join(parts)}"'


def _is_extern(node: Node) -> bool:
    return isinstance(node, Function) and node.body is None


def _tightness(node: Expression) -> int:
    if isinstance(node, Binary):
        return PRECEDENCE[node.operator]
    if isinstance(node, Unary):
        return _PREFIX
    if isinstance(node, Aggregate):
        return _SUFFIX if node.type is None else _AGGREGATE
    if isinstance(node, PointerType | ManyPointerType | ArrayType | FunctionType):
        return _TYPE
    if isinstance(node, If | Switch | Return | Break | Continue | Comptime | TensorAccess | Block | Asm):
        return _LOOSE
    if isinstance(node, Integer) and not node.text and node.value < 0:
        return _PREFIX
    if isinstance(node, Float) and not node.text and str(node.value).startswith("-"):
        return _PREFIX
    return _SUFFIX


def _operand(node: Expression, least: int, indentation: str) -> str:
    """Return the expression, in parentheses if its precedence is below `least`."""
    text = _PRINTERS[type(node)](node, indentation)
    return text if _tightness(node) >= least else f"({text})"


def _type(node: Expression, indentation: str) -> str:
    return "anytype" if isinstance(node, AnyType) else _operand(node, _TYPE, indentation)


def _list(opening: str, texts: list[str], closing: str, indentation: str, padding: str = "") -> str:
    """Print items on one line if they fit, else one to a line. Only the last may have several lines of its own."""
    if not texts:
        return opening + closing
    length = len(indentation + opening) + sum(len(text) + 2 for text in texts[:-1]) + len(texts[-1].split("\n")[0])
    if length <= WIDTH and not any("\n" in text for text in texts[:-1]):
        return f"{opening}{padding}{', '.join(texts)}{padding}{closing}"
    deeper = indentation + INDENTATION
    # No literal spans lines, so every line break is one of layout.
    lines = "".join(f"{deeper}{text.replace(chr(10), chr(10) + INDENTATION)},\n" for text in texts)
    return f"{opening}\n{lines}{indentation}{closing}"


def _expressions(opening: str, nodes: list[Expression], closing: str, indentation: str) -> str:
    return _list(opening, [print_expression(node, indentation) for node in nodes], closing, indentation)


# Literals, operators and suffixes


def _integer(node: Integer, indentation: str) -> str:
    return node.text or str(node.value)


def _float(node: Float, indentation: str) -> str:
    return node.text or repr(node.value)


def _string(node: String, indentation: str) -> str:
    return quoted(node.value)


def _name(node: Name, indentation: str) -> str:
    return node.name


def _builtin(node: Builtin, indentation: str) -> str:
    return _expressions(f"@{node.name}(", node.arguments, ")", indentation)


def _call(node: Call, indentation: str) -> str:
    return _expressions(f"{_operand(node.function, _SUFFIX, indentation)}(", node.arguments, ")", indentation)


def _index(node: Index, indentation: str) -> str:
    return _expressions(f"{_operand(node.base, _SUFFIX, indentation)}[", node.indices, "]", indentation)


def _field(node: Field, indentation: str) -> str:
    return f"{_operand(node.base, _SUFFIX, indentation)}.{node.name}"


def _dereference(node: Dereference, indentation: str) -> str:
    return f"{_operand(node.pointer, _SUFFIX, indentation)}.*"


def _unary(node: Unary, indentation: str) -> str:
    operand = _operand(node.operand, _PREFIX, indentation)
    # `&&` would be one token, and `--` looks like one.
    apart = " " if node.operator in "-&" and operand[0] == node.operator else ""
    return node.operator + apart + operand


def _binary(node: Binary, indentation: str) -> str:
    level = PRECEDENCE[node.operator]
    # Chains lean to the left and may be long.
    operators: list[str] = []
    rights: list[Expression] = []
    left: Expression = node
    while isinstance(left, Binary) and PRECEDENCE[left.operator] == level:
        operators.append(left.operator)
        rights.append(left.right)
        left = left.left
        if level == COMPARISON:
            break
    least = level + (level == COMPARISON)
    parts = [_operand(left, least, indentation)]
    for operator, right in zip(reversed(operators), reversed(rights), strict=True):
        parts.append(f" {operator} {_operand(right, level + 1, indentation)}")
    return "".join(parts)


def _aggregate(node: Aggregate, indentation: str) -> str:
    texts = [f".{member.name} = {print_expression(member.value, indentation)}" for member in node.members]
    texts.extend(print_expression(element, indentation) for element in node.elements)
    if node.type is None:
        return _list(".{", texts, "}", indentation, " ")
    type = _type(node.type, indentation)
    if isinstance(node.type, ArrayType):
        return _list(f"{type}{{", texts, "}", indentation)
    return _list(f"{type} {{", texts, "}", indentation, " ")


def _tensor_access(node: TensorAccess, indentation: str) -> str:
    variables = ", ".join(variable.name for variable in node.variables)
    extents = _expressions("{", node.extents, "}", indentation)
    base = _operand(node.base, _SUFFIX, indentation)
    return f"|{variables}|{extents} -> {_expressions(base + '[', node.indices, ']', indentation)}"


# Types


def _pointer_type(node: PointerType, indentation: str) -> str:
    return f"*{'const ' if node.is_const else ''}{_type(node.pointee, indentation)}"


def _many_pointer_type(node: ManyPointerType, indentation: str) -> str:
    return f"[*]{'const ' if node.is_const else ''}{_type(node.element, indentation)}"


def _array_type(node: ArrayType, indentation: str) -> str:
    return _expressions("[", node.dimensions, "]", indentation) + _type(node.element, indentation)


def _function_type(node: FunctionType, indentation: str) -> str:
    parameters = ", ".join(_type(parameter, indentation) for parameter in node.parameters)
    return f"{node.keyword}({parameters}) {_type(node.result, indentation)}"


def _struct_type(node: StructType, indentation: str) -> str:
    texts = [f"{member.name}: {_type(member.type, indentation)}" for member in node.members]
    layout = f"{node.layout} " if node.layout else ""
    return _list(f"{layout}{node.keyword} {{", texts, "}", indentation, " ")


def _enum_type(node: EnumType, indentation: str) -> str:
    texts = [
        member.name if member.value is None else f"{member.name} = {print_expression(member.value, indentation)}"
        for member in node.members
    ]
    underlying = "" if node.underlying is None else f"({_type(node.underlying, indentation)})"
    return _list(f"enum{underlying} {{", texts, "}", indentation, " ")


def _any_type(node: AnyType, indentation: str) -> str:
    return "anytype"


# Control flow and statements


def _labeled(label: str | None, text: str) -> str:
    return text if label is None else f"{label}: {text}"


def _block(node: Block, indentation: str) -> str:
    if not node.statements:
        return _labeled(node.label, "{}")
    deeper = indentation + INDENTATION
    lines = "".join(f"{deeper}{print_statement(statement, deeper)}\n" for statement in node.statements)
    return _labeled(node.label, f"{{\n{lines}{indentation}}}")


def _ends_itself(node: Statement) -> bool:
    """Return True if the statement takes no `;`: it ends in a block, or in a statement that has one already."""
    return isinstance(node, _BLOCK_LIKE) or (isinstance(node, Comptime) and _ends_itself(node.operand))


def _statement(node: Statement, indentation: str) -> str:
    """Return a statement without its own `;`; statements within it keep theirs."""
    if isinstance(node, If):
        return _if_statement(node, indentation)
    if isinstance(node, Comptime):
        return f"comptime {_statement(node.operand, indentation)}"
    return _PRINTERS[type(node)](node, indentation)


def _takes_else(node: Statement) -> bool:
    """Return True if an `else` printed behind the statement would be parsed as part of it."""
    if isinstance(node, If):
        return node.otherwise is None or _takes_else(node.otherwise)
    if isinstance(node, For | While):
        return _takes_else(node.body)
    return isinstance(node, Comptime) and _takes_else(node.operand)


def _last(node: Expression, indentation: str) -> str:
    """Return the last expression of a statement, in parentheses if it would take an `else` that follows."""
    text = print_expression(node, indentation)
    return f"({text})" if _takes_else(node) else text


def _if_statement(node: If, indentation: str) -> str:
    """Print a chain of branches, of which all but the last body must not take the `else` that follows."""
    bodies: list[tuple[str, Statement]] = [
        (f"if ({print_expression(branch.condition, indentation)})", branch.body) for branch in node.branches
    ]
    if node.otherwise is not None:
        bodies.append(("", node.otherwise))
    parts: list[str] = []
    for number, (head, body) in enumerate(bodies):
        is_last = number == len(bodies) - 1
        if not is_last and _takes_else(body):
            body = Block(body.start, body.end, None, [body])
        text = f"{head} {_statement(body, indentation)}" if head else _statement(body, indentation)
        # Without a block, a body ends at `else`; the last ends the statement.
        parts.append(text + (";" if is_last and not _ends_itself(body) else ""))
    return " else ".join(parts)


def _if(node: If, indentation: str) -> str:
    parts: list[str] = []
    for branch in node.branches:
        body = print_expression(branch.body, indentation) if isinstance(branch.body, Expression) else "{}"
        is_last = branch is node.branches[-1] and node.otherwise is None
        if not is_last and _takes_else(branch.body):
            body = f"({body})"
        parts.append(f"if ({print_expression(branch.condition, indentation)}) {body}")
    if isinstance(node.otherwise, Expression):
        parts.append(print_expression(node.otherwise, indentation))
    return " else ".join(parts)


def _for(node: For, indentation: str) -> str:
    names = node.element.name if node.index is None else f"{node.element.name}, {node.index.name}"
    inline = "inline " if node.is_inline else ""
    head = f"{inline}for ({print_expression(node.iterable, indentation)}) |{names}|"
    return _labeled(node.label, f"{head} {print_statement(node.body, indentation)}")


def _while(node: While, indentation: str) -> str:
    head = f"while ({print_expression(node.condition, indentation)})"
    if node.update is not None:
        head += f" : ({_PRINTERS[type(node.update)](node.update, indentation)})"
    return _labeled(node.label, f"{head} {print_statement(node.body, indentation)}")


def _switch(node: Switch, indentation: str) -> str:
    deeper = indentation + INDENTATION
    lines: list[str] = []
    for branch in node.branches:
        values = ", ".join(print_expression(value, deeper) for value in branch.values) or "else"
        lines.append(f"{deeper}{values} => {_PRINTERS[type(branch.body)](branch.body, deeper)},\n")
    return f"switch ({print_expression(node.subject, indentation)}) {{\n{''.join(lines)}{indentation}}}"


def _return(node: Return, indentation: str) -> str:
    return "return" if node.value is None else f"return {_last(node.value, indentation)}"


def _break(node: Break, indentation: str) -> str:
    label = "" if node.label is None else f" :{node.label}"
    value = "" if node.value is None else f" {_last(node.value, indentation)}"
    return f"break{label}{value}"


def _continue(node: Continue, indentation: str) -> str:
    return "continue" if node.label is None else f"continue :{node.label}"


def _comptime(node: Comptime, indentation: str) -> str:
    return f"comptime {_PRINTERS[type(node.operand)](node.operand, indentation)}"


def _asm_operands(operands: list[AsmOperand], indentation: str) -> str:
    return ", ".join(
        f"[{operand.name}] {quoted(operand.constraint.value)} ({print_expression(operand.expression, indentation)})"
        for operand in operands
    )


def _asm(node: Asm, indentation: str) -> str:
    deeper = indentation + INDENTATION
    parts = [
        print_expression(node.code, deeper),
        _asm_operands(node.outputs, deeper),
        _asm_operands(node.inputs, deeper),
        ", ".join(quoted(clobber.value) for clobber in node.clobbers),
    ]
    while not parts[-1]:
        parts.pop()
    parts[1:] = [part and f" {part}" for part in parts[1:]]
    head = "asm volatile (" if node.is_volatile else "asm ("
    return f"{head}\n{deeper}" + f"\n{deeper}:".join(parts) + f"\n{indentation})"


def _assign(node: Assign, indentation: str) -> str:
    target = print_expression(node.target, indentation)
    return f"{target} {node.operator} {_last(node.value, indentation)}"


# Declarations


def _attributes(node: Variable | Function, indentation: str) -> str:
    attributes = (("align", node.alignment), ("linksection", node.link_section), ("linkname", node.link_name))
    return "".join(
        f" {name}({print_expression(value, indentation)})" for name, value in attributes if value is not None
    )


def _variable(node: Variable, indentation: str) -> str:
    parts = [node.storage, "comptime" if node.is_comptime else "", node.kind, node.name]
    text = " ".join(part for part in parts if part)
    if node.type is not None:
        text += f": {_type(node.type, indentation)}"
    text += _attributes(node, indentation)
    return text if node.value is None else f"{text} = {print_expression(node.value, indentation)}"


def _function(node: Function, indentation: str) -> str:
    texts: list[str] = []
    for parameter in node.parameters:
        prefix = "comptime " if parameter.is_comptime else ""
        name = "" if parameter.name is None else f"{parameter.name}: "
        texts.append(prefix + name + _type(parameter.type, indentation))
    words = " ".join(word for word in (node.storage, node.inlining, node.keyword, node.name) if word)
    text = _list(f"{words}(", texts, ")", indentation)
    if node.result is not None:
        result = _type(node.result, indentation)
        # A call of a function that has the name of an attribute would be read as the attribute.
        text += f" ({result})" if result.startswith(tuple(f"{name}(" for name in ATTRIBUTES)) else f" {result}"
    text += _attributes(node, indentation)
    return text if node.body is None else f"{text} {_block(node.body, indentation)}"


def _comptime_block(node: ComptimeBlock, indentation: str) -> str:
    return f"comptime {_block(node.body, indentation)}"


def _layout(node: Layout, indentation: str) -> str:
    return f"layout {_block(node.body, indentation)}"


_PRINTERS: dict[type[Node], Callable[[Any, str], str]] = {
    Aggregate: _aggregate,
    AnyType: _any_type,
    ArrayType: _array_type,
    Asm: _asm,
    Assign: _assign,
    Binary: _binary,
    Block: _block,
    Break: _break,
    Builtin: _builtin,
    Call: _call,
    Comptime: _comptime,
    ComptimeBlock: _comptime_block,
    Continue: _continue,
    Dereference: _dereference,
    EnumType: _enum_type,
    Field: _field,
    Float: _float,
    For: _for,
    Function: _function,
    FunctionType: _function_type,
    If: _if,
    Index: _index,
    Integer: _integer,
    Layout: _layout,
    ManyPointerType: _many_pointer_type,
    Name: _name,
    PointerType: _pointer_type,
    Return: _return,
    String: _string,
    StructType: _struct_type,
    Switch: _switch,
    TensorAccess: _tensor_access,
    Unary: _unary,
    Variable: _variable,
    While: _while,
}
