"""The rules of expressions."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ..csl import syntax
from ..csl.errors import CslError
from ..targets.wavelets import EXTENTS
from . import calls, control, emit, linkage, packing, recovery, scalars, source_names, types
from .addresses import HeldAddress, linear, moved
from .asking import key_of, lasting_question, question
from .checking import check_untaken
from .comptime_known import reason
from .comptime_known import warn as warn_of_late
from .conversion import as_wanted, cast, check_addressable, extremes, peer
from .errors import Mistyped
from .evaluator import Evaluator, Unchecked, suggestion
from .frames import Break, Continue, Frame, Return
from .modules import Global, Module
from .places import Held, Memory, Overlay, Place, Temporary, index_word
from .registry import BUILTINS, EXPRESSIONS, Where, check_count, check_place, expression, place
from .types import Type
from .values import VOID, Address, Callable, Column, Local, Value, boolean, element_data, is_ssa, known, string, struct

CONSTANTS: dict[str, Value] = {
    "true": boolean(True),
    "false": boolean(False),
    **{name: Value(types.DIRECTION, number) for number, name in enumerate(types.DIRECTIONS)},
    **{name: Value(types.TYPE, type) for name, type in types.UNIVERSE.items()},
}
"""Names that are known everywhere."""


@expression(syntax.Integer)
def _integer(ev: Evaluator, node: syntax.Integer, want: Type | None) -> Value:
    _check_size(ev, node.value, node)
    return Value(types.COMPTIME_INT, node.value)


@expression(syntax.Float)
def _float(ev: Evaluator, node: syntax.Float, want: Type | None) -> Value:
    return Value(types.COMPTIME_FLOAT, node.value)


@expression(syntax.String)
def _string(ev: Evaluator, node: syntax.String, want: Type | None) -> Value:
    value: Any = node.value
    return string(value) if isinstance(value, str) else Value(types.COMPTIME_STRING, bytes(value))


# Names and places


@expression(syntax.Name)
@expression(syntax.Index)
@expression(syntax.Field)
@expression(syntax.Dereference)
def _place_value(ev: Evaluator, node: Any, want: Type | None) -> Value:
    return ev.place(node).load(ev, node)


@place(syntax.Node)
def _temporary(ev: Evaluator, node: syntax.Node) -> Place:
    return Temporary(ev.expr(node))


@place(syntax.Builtin)
def _builtin_place(ev: Evaluator, node: syntax.Builtin) -> Place:
    if node.name != "field":
        return Temporary(ev.expr(node))
    check_count(ev, BUILTINS["@field"], node)
    return _member(ev, ev.place(node.arguments[0]), ev.text(node.arguments[1], "the name of a field"), node)


@place(syntax.Name)
def _name(ev: Evaluator, node: syntax.Name) -> Place:
    local = ev.frame.find(node.name)
    if local is not None:
        return local_place(local)
    found = ev.frame.module.globals.get(node.name)
    if found is not None:
        return global_place(ev, found, node)
    constant = CONSTANTS.get(node.name)
    if constant is not None:
        return Temporary(constant)
    if node.name[:1] in ("i", "u") and node.name[1:].isdecimal() and node.name.isascii():
        return Temporary(Value(types.TYPE, _integer_type(ev, node)))
    error = Mistyped(ev.error(node, f"'{node.name}' is not declared{_similar(ev, node.name)}").diagnostics)
    raise error if ev.mistakes is None else ev.mistakes.of_undeclared(ev.source, node.name, error)


def _integer_type(ev: Evaluator, node: syntax.Name) -> types.Int:
    """Return the type `uN` or `iN` (Types, Arbitrary-Width Integer Types)."""
    # Nine digits are too many already, and Python converts only so many.
    bits = int(node.name[1:10])
    if bits > types.MAX_INTEGER_BITS:
        ev.fail(node, f"there are no integers of {node.name[1:]} bits; use 0 to {types.MAX_INTEGER_BITS}")
    return types.Int(bits, node.name[0] == "i")


def _similar(ev: Evaluator, name: str) -> str:
    names = [*ev.frame.module.globals, *CONSTANTS, *(n for scope in ev.frame.scopes for n in scope)]
    return suggestion(name, names) or "; declare it, or import the module that does"


def local_place(local: Local) -> Place:
    if local.memory is not None:
        return Memory(local.memory, local.type, const=not local.mutable)
    if local.value is None:
        recovery.check(local.type)
        local.value = Value(local.type, control.zero(local.type))
    return Held(local, local.value.type if local.type is types.COMPTIME_STRUCT else local.type)


class GlobalVariable(Memory):
    """A global variable: at compile time, its initial value."""

    def __init__(self, variable: Global, where: Address, type: Type) -> None:
        super().__init__(where, type, const=False)
        self.variable = variable

    def asked(self) -> Hashable:
        return "variable", self.type, key_of(self.where), key_of(self.variable)

    def initial(self) -> Value:
        """Return what the variable holds when the program starts."""
        value = self.variable.value
        return Value(self.type, control.zero(self.type)) if value is None else value


@lasting_question
def global_place(ev: Evaluator, found: Global, node: syntax.Node) -> Place:
    """Return what a global name stands for, resolving it first."""
    declaration = found.node
    if isinstance(declaration, syntax.Function):
        function = Callable(found.module, declaration)
        return Temporary(Value(calls.signature(ev, function, node), function))
    resolve(ev, found, node)
    assert found.type is not None
    if declaration.storage == "extern" and ev.pe is not None:
        return global_place(ev, linkage.definition(ev, found), node)
    if declaration.kind != "var" or types.is_comptime_only(found.type) or ev.pe is None:
        if found.value is None:
            found.value = Value(found.type, control.zero(found.type))
        return Held(found, found.value.type if found.type is types.COMPTIME_STRUCT else found.type)
    if found.memory is None:
        found.memory = ev.pe.variable(ev, found)
    return GlobalVariable(found, found.memory, found.type)


def resolve(ev: Evaluator, found: Global, node: syntax.Node) -> None:
    """Find the type and the initial value of a global, whatever the order of the text."""
    if found.type is not None:
        recovery.check(found.type)
        return
    declaration = found.node
    assert isinstance(declaration, syntax.Variable)
    if found.resolving:
        ev.fail(node, f"'{declaration.name}' depends on its own value; break the cycle")
    found.resolving = True
    try:
        frame = Frame(found.module, comptime=True)
        if found.module.is_library and not ev.frame.module.is_library and declaration.kind != "param":
            frame.called_at = (ev.source, node.start, node.end, declaration.name)
        with ev.at_compile_time(), ev.framed(frame):
            _resolve(ev, found, declaration, node)
    except CslError as error:
        raise recovery.poison_global(ev, found, error) from None
    finally:
        found.resolving = False


def _resolve(ev: Evaluator, found: Global, declaration: syntax.Variable, node: syntax.Node) -> None:
    module, name = found.module, declaration.name
    type = None if declaration.type is None else ev.type_of(declaration.type)
    if declaration.kind == "param" and name in module.bindings:
        value = module.bindings[name]
    elif declaration.value is None:
        if declaration.kind == "param":
            ev.fail(
                declaration,
                f"param '{name}' has no value; give it one where the file is imported or placed, or with --params",
            )
        if declaration.kind == "const" and not declaration.storage:
            ev.fail(declaration, f"constant '{name}' has no value; give it one")
        if type is None:
            ev.fail(declaration, f"'{name}' has neither type nor value; give it one of them")
        found.type = type
        _check_storage(ev, declaration, type)
        return
    else:
        value = ev.expr(declaration.value, type)
    if type is not None:
        if declaration.kind == "param" and name in module.bindings:
            value = _bound(ev, value, type, declaration)
        else:
            value = ev.coerce(value, type, declaration.value or declaration)
    found.value = value
    source_names.note(ev, name, value)
    found.type = value.type if type is None or type is types.COMPTIME_STRUCT else type
    if declaration.kind == "var":
        _check_variable(ev, declaration, found.type)
    _check_storage(ev, declaration, found.type)


def _check_storage(ev: Evaluator, declaration: syntax.Variable, type: Type) -> None:
    if declaration.storage and not linkage.is_shareable(type):
        ev.fail(declaration, f"'{declaration.name}' is a '{type}', which cannot be shared by 'export' or 'extern'")


def _check_variable(ev: Evaluator, declaration: syntax.Variable, type: Type) -> None:
    """Check that a variable that changes at run time has a run-time type."""
    if types.is_comptime_only(type):
        advice = "give it another type" if type in (types.COMPTIME_INT, types.COMPTIME_FLOAT) else "declare it 'const'"
        ev.fail(
            declaration, f"variable '{declaration.name}' is a '{type}', which exists at compile time only; {advice}"
        )


def _bound(ev: Evaluator, value: Value, type: Type, declaration: syntax.Variable) -> Value:
    """Return the value a param is given, in its own type: numbers convert if they fit."""
    source = value.type
    if type is types.COLOR and (types.is_integer(source) or source is type):
        count = ev.session.target.routable_colors
        for number in extremes(value.data):
            if not 0 <= number < count:
                ev.fail(
                    declaration,
                    f"color {number} of '{declaration.name}' does not exist; use 0 to {count - 1}",
                )
        return Value(type, value.data)
    if types.is_float(type) and types.is_integer(source):
        return cast(ev, value, type, declaration)
    return ev.coerce(value, type, declaration)


@place(syntax.Index)
def _index(ev: Evaluator, node: syntax.Index) -> Place:
    base = ev.place(node.base)
    type = base.type
    indices = [index_word(ev, ev.expr(index), index) for index in node.indices]
    if isinstance(type, types.Pointer):
        if type.many:
            if len(indices) != 1:
                ev.fail(node, f"'{type}' takes one index, not {len(indices)}")
            where = base.load(ev, node.base).data
            if isinstance(where, HeldAddress):
                held = _held(ev, where, type, node)
                if isinstance(held, Held) and isinstance(held.type, types.Array):
                    return held.element(ev, linear(ev, held.type, indices, node.indices), node)
                return held.element(ev, indices[0], node)
            return _pointed(ev, moved(ev, _as_address(where), indices[0], types.size(type.target)), type)
        if isinstance(type.target, types.Array):
            _warn_of_pointer(ev, node, type, "[i]")
            base = _pointee(ev, base.load(ev, node.base).data, type, node)
            type = type.target
    if isinstance(type, types.Struct) and type.names is None:
        index = ev.data(Value(types.COMPTIME_INT, indices[0]), node.indices[0], "an index of a tuple")
        if len(indices) != 1 or not 0 <= index < len(type.types):
            ev.fail(node, f"index {index} is outside the tuple, which has {len(type.types)} elements")
        return base.field(ev, index, node)
    if not isinstance(type, types.Array):
        ev.fail(node, f"a value of type '{type}' has no elements")
    if len(indices) != len(type.dims):
        ev.fail(node, f"'{type}' has {len(type.dims)} dimensions, but there are {len(indices)} indices")
    return base.element(ev, linear(ev, type, indices, node.indices), node)


def _warn_of_pointer(ev: Evaluator, node: syntax.Node, type: types.Pointer, part: str) -> None:
    """Warn of a part taken of a pointer to one value, which the manual only lets be dereferenced (Types)."""
    ev.warn(node, f"the SDK's compiler only dereferences a '{type}'; write '.*{part}'")


def _as_address(data: Any) -> Address:
    """Return a pointer's data; what was loaded from memory is a word."""
    return data if isinstance(data, Address) else Address(None, 0, 1, data)


def _function_at(data: Any) -> Any:
    """Return the function a pointer's data stands for: itself, or its number at run time."""
    return data.base if isinstance(data, Address) else data


def _pointed(ev: Evaluator, where: Address, type: types.Pointer) -> Memory:
    return Memory(where, type.target, type.const)


@place(syntax.Dereference)
def _dereference(ev: Evaluator, node: syntax.Dereference) -> Place:
    value = ev.expr(node.pointer)
    type = value.type
    if not isinstance(type, types.Pointer):
        ev.fail(node, f"'.*' needs a pointer, not a value of type '{type}'")
    if type.many:
        ev.fail(node, f"'{type}' points to an unknown number of elements; select one with [index]")
    if isinstance(type.target, types.Function):
        return Temporary(Value(type.target, _function_at(value.data)))
    return _pointee(ev, value.data, type, node)


def _pointee(ev: Evaluator, data: Any, type: types.Pointer, node: syntax.Node) -> Place:
    """Return what a pointer points to."""
    if isinstance(data, HeldAddress):
        return _held(ev, data, type, node)
    return Memory(_as_address(data), type.target, type.const)


def _held(ev: Evaluator, where: HeldAddress, type: types.Pointer, node: syntax.Node) -> Place:
    """Return the place a pointer of a type points to at compile time: the variable, or its bytes as another type."""
    held = where.place
    if held is None or where.offset != 0:
        ev.fail(node, "this pointer points outside the variable it was derived from, which exists at compile time only")
    if type.many:
        same = isinstance(held.type, types.Array) and len(held.type.dims) == 1 and held.type.element == type.target
    else:
        same = held.type == type.target
    if same and isinstance(held, Held):
        return held
    whole, offset = held.beginning() if isinstance(held, Held) else (held.whole, held.offset)
    return Overlay(whole, offset, type.target)


@place(syntax.Field)
def _field(ev: Evaluator, node: syntax.Field) -> Place:
    base = ev.place(node.base)
    if base.type is types.MODULE:
        module: Module = base.load(ev, node).data
        found = module.globals.get(node.name)
        if found is None:
            advice = suggestion(node.name, module.globals) or "; look for its name there"
            ev.fail(node, f"module '{module.library or module.path.name}' does not declare '{node.name}'{advice}")
        return global_place(ev, found, node)
    return _member(ev, base, node.name, node)


def _member(ev: Evaluator, base: Place, name: str, node: syntax.Node) -> Place:
    type = base.type
    if type is types.COMPTIME_STRUCT:
        base = Temporary(base.load(ev, node))
        type = base.type
    if isinstance(type, types.Pointer) and isinstance(type.target, types.Record) and not type.many:
        _warn_of_pointer(ev, node, type, f".{name}")
        base = _pointee(ev, base.load(ev, node).data, type, node)
        type = type.target
    if type is types.TYPE:
        enum = base.load(ev, node).data
        if isinstance(enum, types.Enum):
            number = enum.values.get(name)
            if number is None:
                ev.fail(node, f"'{enum}' has no member '{name}'")
            return Temporary(Value(enum, number))
    if isinstance(type, types.Record):
        position = type.index(name)
        if position is not None:
            return base.field(ev, position, node)
        have = f"it has: {', '.join(type.names)}" if type.names else "it is a tuple; use an index"
        ev.fail(node, f"there is no field '{name}' in this struct; {have}")
    ev.fail(node, f"a value of type '{type}' has no fields")


def assign(ev: Evaluator, target: syntax.Node, value: Value, node: syntax.Node) -> None:
    """Emit `target = value`."""
    where = ev.place(target)
    if isinstance(where, Held) and where.type is types.COMPTIME_STRUCT and isinstance(value.type, types.Struct):
        where.store(ev, value, target)
        return
    held = where.holder if isinstance(where, Held) else None
    if held is not None and not where.path and held.type is types.COMPTIME_STRUCT:  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        where.store(ev, ev.coerce(value, types.COMPTIME_STRUCT, node), target)
        return
    where.store(ev, ev.coerce(value, where.type, node), target)


# Operators


@expression(syntax.Unary)
def _unary(ev: Evaluator, node: syntax.Unary, want: Type | None) -> Value:
    symbol = node.operator
    if symbol == "&":
        return _address_of(ev, node)
    if isinstance(want, types.Cast):
        want = types.Cast(want.target, numbers_only=True)
    value = ev.expr(node.operand, want)
    type, data = value.type, value.data
    if symbol == "!":
        if type is not types.BOOL:
            ev.mistyped(node, f"'!' needs a 'bool', not '{type}'; compare with zero, or use '~' for the bits")
        if is_ssa(data):
            return boolean(control.negated(ev, data))
        return boolean(ev.lift(operator.not_, data))
    if symbol == "~":
        if type is types.COMPTIME_INT:
            ev.fail(node, "'~' needs an integer of known width; give it one with @as")
        if not types.is_integer(type):
            ev.mistyped(node, f"'~' needs an integer, not '{type}'")
        if is_ssa(data):
            ev.code.at(ev.source, node.start)
            return Value(type, emit.binary(ev.code, "^", type, data, ev.code.constant(type, -1)))
        return Value(type, ev.fitted(type, ev.lift(operator.invert, data)))
    if not types.is_numeric(type):
        ev.mistyped(node, f"'-' needs a number, not '{type}'")
    if is_ssa(data):
        ev.code.at(ev.source, node.start)
        if type is types.CB16:
            return Value(type, emit.of_cb16(ev.code, "negf", [data], data.type))
        if isinstance(type, types.Float):
            return Value(type, ev.code.value(arith.NegfOp(data)))
        return Value(type, emit.binary(ev.code, "-", type, ev.code.constant(type, 0), data))
    return Value(type, ev.fitted(type, ev.lift(operator.neg, data)))


def _address_of(ev: Evaluator, node: syntax.Unary) -> Value:
    where = ev.place(node.operand)
    if isinstance(where.type, types.Function):
        check_addressable(ev, where.load(ev, node), node)
        return Value(types.Pointer(where.type, True), where.load(ev, node).data)
    address = where.address(ev, node)
    return Value(types.Pointer(where.type, where.is_const), address)


@expression(syntax.Binary)
def _binary(ev: Evaluator, node: syntax.Binary, want: Type | None) -> Value:
    symbol = node.operator
    if symbol in ("and", "or"):
        return _logical(ev, node)
    # A chain of additions is a deep left spine: walk it without recursion.
    spine = [node]
    while isinstance(spine[-1].left, syntax.Binary) and spine[-1].left.operator not in ("and", "or"):
        spine.append(spine[-1].left)
    left = ev.expr(spine[-1].left)
    for link in reversed(spine):
        left = binary(ev, link.operator, left, ev.expr(link.right), link)
    return left


def binary(ev: Evaluator, symbol: str, left: Value, right: Value, node: syntax.Node) -> Value:
    """Evaluate or emit `left symbol right`. Raises CslError if the types do not fit."""
    if symbol in ("<<", ">>"):
        return _shift(ev, symbol, left, right, node)
    if left.type is types.UNDEFINED or right.type is types.UNDEFINED:
        return left
    left, right = peer(ev, left, right, node)
    type = left.type
    comparison = symbol in scalars.COMPARISONS
    if not types.is_numeric(type):
        return _other(ev, symbol, left, right, node)
    if symbol == "%" and not types.is_integer(type):
        ev.warn(node, f"the SDK's compiler takes '%' of integers, not of '{type}'; subtract multiples instead")
    if symbol in scalars.BITWISE and not types.is_integer(type):
        ev.mistyped(node, f"'{symbol}' works on integers, not on '{type}'")
    result = types.BOOL if comparison else type
    if symbol in ("/", "%") and types.is_integer(type) and right.data == 0 and not is_ssa(right.data):
        ev.fail(node, "division by zero")
    if is_ssa(left.data) or is_ssa(right.data) or _may_stop(ev, type, node):
        a, b = ev.ssa(left, node), ev.ssa(right, node)
        ev.code.at(ev.source, node.start)
        return Value(result, emit.binary(ev.code, symbol, type, a, b))
    try:
        value = Value(result, scalars.binary(ev.lanes, symbol, type, left.data, right.data))
    except ZeroDivisionError:
        ev.fail(node, "division by zero")
    if type is types.COMPTIME_INT and not comparison:
        _check_size(ev, value.data, node)
    if type is types.COMPTIME_FLOAT and not comparison:
        if symbol == "/" and 0.0 in extremes(right.data):
            ev.fail(node, "division by zero")
        if any(number != number for number in extremes(value.data)):
            ev.fail(node, f"'{symbol}' of these numbers is not a number")
    return value


def _may_stop(ev: Evaluator, type: Type, node: syntax.Node) -> bool:
    """Return True if an operation on numbers that happen to be known may stop the PE by an exception when it runs."""
    if ev.builder is None or ev.is_checking or not isinstance(type, types.Float):
        return False
    return _traps(ev) and reason(ev, node) is not None


@question
def _traps(ev: Evaluator) -> bool:
    """Return True if the program may let operations stop the PE."""
    files = (module.file for module in ev.instances if not module.is_library)
    return any(map(ev.session.analyses.traps, files))


def _shift(ev: Evaluator, symbol: str, left: Value, right: Value, node: syntax.Node) -> Value:
    type = left.type
    if not types.is_integer(type) or not types.is_integer(right.type):
        ev.mistyped(node, f"'{symbol}' works on integers, not on '{type}' and '{right.type}'")
    if isinstance(right.type, types.Int) and right.type.signed:
        ev.fail(node, f"the shift amount must be unsigned, not '{right.type}'; convert it with @as")
    if type is types.COMPTIME_INT and is_ssa(right.data):
        left = ev.coerce(left, right.type, node)
        type = left.type
    if is_ssa(left.data) or is_ssa(right.data):
        amount = right.data
        if is_ssa(amount):
            assert isinstance(right.type, types.Int) and isinstance(type, types.Int)
            if right.type.carrier > type.carrier:
                # What a narrower integer cannot hold shifts everything out, as the width does.
                amount = ev.code.value(arith.MinUIOp(amount, ev.code.constant(right.type, type.carrier)))
            amount = ev.code.extend(amount, right.type, type.bits)
        else:
            if isinstance(type, types.Int):
                width = type.carrier

                def at_most_width(number: int) -> int:
                    return min(number, width)

                amount = ev.lift(at_most_width, amount)
            amount = ev.ssa(Value(type, amount), node)
        value = ev.ssa(left, node)
        ev.code.at(ev.source, node.start)
        return Value(type, emit.binary(ev.code, symbol, type, value, amount))
    if not isinstance(right.data, Column) and right.data < 0:
        ev.fail(node, f"a shift by {right.data} bits; the shift amount must be at least 0")
    if symbol == "<<" and type is types.COMPTIME_INT and extremes(right.data)[1] > types.MAX_COMPTIME_BITS:
        ev.fail(node, f"an integer of more than {types.MAX_COMPTIME_BITS} bits; does this loop ever end?")
    result = Value(type, scalars.binary(ev.lanes, symbol, type, left.data, right.data))
    if type is types.COMPTIME_INT:
        _check_size(ev, result.data, node)
    return result


def _check_size(ev: Evaluator, data: Any, node: syntax.Node) -> None:
    if isinstance(data, int) and data.bit_length() > types.MAX_COMPTIME_BITS:
        ev.fail(node, f"an integer of more than {types.MAX_COMPTIME_BITS} bits; does this loop ever end?")


def _other(ev: Evaluator, symbol: str, left: Value, right: Value, node: syntax.Node) -> Value:
    """Evaluate or emit an operator on values that are not numbers."""
    type = left.type
    if type is types.BOOL and symbol in ("&", "|", "^"):
        instead = {"&": "and", "|": "or", "^": "!="}[symbol]
        ev.warn(node, f"the SDK's compiler takes '{symbol}' of integers only (Syntax, Operators); write '{instead}'")
        if is_ssa(left.data) or is_ssa(right.data):
            return boolean(emit.binary(ev.code, symbol, types.BOOL, ev.ssa(left, node), ev.ssa(right, node)))
        return boolean(ev.lift(scalars.BITWISE[symbol], left.data, right.data))
    if symbol not in ("==", "!="):
        ev.mistyped(node, f"'{symbol}' does not work on values of type '{type}'")
    if isinstance(type, types.Pointer | types.Array | types.Record):
        shown = f"the SDK's compiler does not compare values of type '{type}' (Syntax, Operators)"
        ev.warn(node, f"{shown}; compare numbers that distinguish them")
    if isinstance(type, types.Pointer) and not isinstance(left.data, Callable):
        a, b = ev.ssa(left, node), ev.ssa(right, node)
        return boolean(emit.binary(ev.code, symbol, types.U16, a, b))
    if is_ssa(left.data) or is_ssa(right.data):
        a, b = ev.ssa(left, node), ev.ssa(right, node)
        ev.code.at(ev.source, node.start)
        return boolean(emit.binary(ev.code, symbol, types.U16, a, b))
    if isinstance(left.data, Column | int) or isinstance(right.data, Column | int):
        return boolean(ev.lift(scalars.COMPARISONS[symbol], left.data, right.data))
    same = _same(ev, left, right, node)
    if symbol == "==":
        return boolean(same)
    if is_ssa(same):
        return boolean(emit.binary(ev.code, "^", types.BOOL, same, ev.code.constant(types.BOOL, True)))
    return boolean(ev.lift(operator.not_, same))


def _same(ev: Evaluator, left: Value, right: Value, node: syntax.Node) -> Any:
    """Return whether two values are equal, with all their parts: known, for each lane, or as SSA value."""
    one: Any = left.data
    other: Any = right.data
    parts, others = _parts(left), _parts(right)
    if parts is not None and others is not None:
        if len(parts) != len(others):
            return False
        same: Any = True
        for a, b in zip(parts, others, strict=True):
            found = _same(ev, a, b, node)
            if found is False:
                return False
            same = found if same is True else _both(ev, same, found, node)
        return same
    if is_ssa(one) or is_ssa(other):
        type = left.type if is_ssa(one) else right.type
        a, b = (ev.ssa(ev.coerce(value, type, node), node) for value in (left, right))
        return emit.binary(ev.code, "==", type if types.is_numeric(type) else types.U16, a, b)
    if left.type != right.type:
        return False
    if isinstance(one, Column) or isinstance(other, Column):
        return ev.lift(scalars.COMPARISONS["=="], one, other)
    return bool(one == other)


_SEQUENCES: tuple[type[Any], ...] = (list, tuple, np.ndarray)


def _parts(whole: Value) -> list[Value] | None:
    """Return the elements of an array, or what a struct has in its fields; None of anything else."""
    data: Any = whole.data
    if not isinstance(data, _SEQUENCES):
        return None
    kept: list[Any] = [*data]
    element = whole.type.element if isinstance(whole.type, types.Array) else types.VOID
    return [each if isinstance(each, Value) else Value(element, each) for each in kept]


def _both(ev: Evaluator, one: Any, other: Any, node: syntax.Node) -> Any:
    if is_ssa(one) or is_ssa(other):
        return emit.binary(ev.code, "&", types.BOOL, ev.ssa(boolean(one), node), ev.ssa(boolean(other), node))
    return ev.lift(scalars.BITWISE["&"], one, other)


def _logical(ev: Evaluator, node: syntax.Binary) -> Value:
    left = ev.expr(node.left)
    condition = ev.truth(left, node.left)
    stop = node.operator == "or"
    if not is_ssa(condition):
        if condition == stop:
            return boolean(stop)
        right = ev.expr(node.right)
        ev.truth(right, node.right)
        return right

    def right_side() -> Value:
        value = ev.expr(node.right)
        if value.type is not types.BOOL:
            ev.fail(node.right, f"'{node.operator}' needs a 'bool', not '{value.type}'")
        return value

    if ev.session.analyses.is_plain(node.right):
        right = right_side()
        if not is_ssa(right.data):
            return boolean(stop if ev.truth(right, node.right) == stop else condition)
        ev.code.at(ev.source, node.start)
        return boolean(ev.code.value((arith.OrIOp if stop else arith.AndIOp)(condition, right.data)))
    if stop:
        return control.branch(ev, condition, lambda: boolean(True), right_side, node)
    return control.branch(ev, condition, right_side, lambda: boolean(False), node)


# Aggregates and types


@expression(syntax.Aggregate)
def _aggregate(ev: Evaluator, node: syntax.Aggregate, want: Type | None) -> Value:
    if node.type is None:
        if node.members:
            return _anonymous(ev, node, want)
        if isinstance(want, types.Struct) and want.names is not None and not node.elements:
            want = None
        inner = want.types if isinstance(want, types.Struct) and len(want.types) == len(node.elements) else None
        values = [ev.expr(e, inner[n] if inner else None) for n, e in enumerate(node.elements)]
        return Value(types.Struct(None, tuple(value.type for value in values)), tuple(values))
    type = ev.type_of(node.type)
    match type:
        case types.Array():
            return _array(ev, node, type)
        case types.Struct():
            return _named(ev, node, type)
        case types.Union():
            return _union(ev, node, type)
        case _:
            ev.fail(node, f"a value of type '{type}' cannot be written with braces")


def _anonymous(ev: Evaluator, node: syntax.Aggregate, want: Type | None) -> Value:
    names: list[str] = []
    values: list[Value] = []
    for member in node.members:
        if member.name in names:
            ev.fail(member, f"field '{member.name}' is given twice")
        names.append(member.name)
        inner = None
        if isinstance(want, types.Struct) and (position := want.index(member.name)) is not None:
            inner = want.types[position]
        values.append(ev.expr(member.value, inner))
    return Value(types.Struct(tuple(names), tuple(value.type for value in values)), tuple(values))


def _array(ev: Evaluator, node: syntax.Aggregate, type: types.Array) -> Value:
    if node.members:
        ev.fail(node, f"elements of '{type}' have no names")
    if len(node.elements) != type.count:
        ev.fail(node, f"'{type}' has {type.count} elements, but {len(node.elements)} are given")
    return Value(type, [element_data(type, ev.typed(member, type.element)) for member in node.elements])


def _named(ev: Evaluator, node: syntax.Aggregate, type: types.Struct) -> Value:
    given = {member.name: member for member in node.members}
    for member in node.members:
        if type.index(member.name) is None:
            ev.fail(member, f"'{type}' has no field '{member.name}'")
    members: list[Value] = []
    for name, inner in zip(type.names or (), type.types, strict=True):
        if name not in given:
            ev.fail(node, f"field '{name}' of '{type}' is missing")
        members.append(ev.typed(given[name].value, inner))
    return Value(type, tuple(members))


def _union(ev: Evaluator, node: syntax.Aggregate, type: types.Union) -> Value:
    if len(node.members) != 1 or node.elements:
        ev.fail(node, f"a value of '{type}' is written with one of its variants, {{ .name = value }}")
    (member,) = node.members
    position = type.index(member.name)
    if position is None:
        ev.fail(member, f"'{type}' has no field '{member.name}'")
    return packing.union(ev, type, position, ev.typed(member.value, type.types[position]), member)


@expression(syntax.PointerType)
def _pointer_type(ev: Evaluator, node: syntax.PointerType, want: Type | None) -> Value:
    return Value(types.TYPE, types.Pointer(_pointee_type(ev, node.pointee), node.is_const))


def _pointee_type(ev: Evaluator, node: syntax.Expression) -> Type:
    type = ev.type_of(node)
    if types.is_comptime_only(type) and not isinstance(type, types.Function) and type is not types.ANYOPAQUE:
        ev.fail(node, f"a '{type}' exists at compile time only; there are no pointers to such values")
    return type


@expression(syntax.ManyPointerType)
def _many_pointer_type(ev: Evaluator, node: syntax.ManyPointerType, want: Type | None) -> Value:
    return Value(types.TYPE, types.Pointer(_pointee_type(ev, node.element), node.is_const, many=True))


MAX_ARRAY_ELEMENTS = 1 << 24
"""Elements of an array at compile time, many more than a PE's memory holds."""


@expression(syntax.ArrayType)
def _array_type(ev: Evaluator, node: syntax.ArrayType, want: Type | None) -> Value:
    dims: list[int] = []
    for dimension in node.dimensions:
        extent = ev.integer(dimension, "the extent of an array")
        if extent < 0:
            ev.fail(dimension, f"an array of {extent} elements; an extent must be at least 0")
        dims.append(extent)
    element = ev.type_of(node.element)
    if isinstance(element, types.Array):
        ev.fail(node, "an array cannot have arrays as elements; write the extents in one list, [rows, columns]T")
    array = types.Array(tuple(dims), element)
    if array.count > MAX_ARRAY_ELEMENTS:
        words = ev.session.target.memory_bytes // 2
        ev.fail(node, f"an array of {array.count} elements is too large; a PE has {words:,} words of memory")
    return Value(types.TYPE, array)


@expression(syntax.FunctionType)
def _function_type(ev: Evaluator, node: syntax.FunctionType, want: Type | None) -> Value:
    parameters = tuple(ev.type_of(parameter) for parameter in node.parameters)
    return Value(types.TYPE, types.Function(parameters, ev.type_of(node.result), node.keyword == "task"))


@expression(syntax.StructType)
def _struct_type(ev: Evaluator, node: syntax.StructType, want: Type | None) -> Value:
    names = tuple(member.name for member in node.members)
    for n, member in enumerate(node.members):
        if member.name in names[:n]:
            ev.fail(member, f"field '{member.name}' is declared twice")
    inner = tuple(ev.type_of(member.type) for member in node.members)
    kind = types.Union if node.keyword == "union" else types.Struct
    type = kind(names, inner, (ev.source.path, node.start), node.layout)
    for member, field in zip(node.members, inner, strict=True):
        _check_field(ev, member, type, field)
    if isinstance(type, types.Union):
        _check_union(ev, node, type)
    return Value(types.TYPE, type)


def _check_field(ev: Evaluator, member: syntax.FieldDeclaration, type: types.Record, field: Type) -> None:
    """Raise CslError if a field's type has no bits, as what is packed, shared or a variant must have."""
    if type.layout == "packed" and types.bit_width(field) is None:
        ev.fail(
            member, f"a '{field}' cannot be packed; use numbers, bool, enums, pointers, and packed structs and unions"
        )
    if type.layout == "extern" and not linkage.is_shareable(field):
        ev.fail(member, f"a '{field}' has no layout outside CSL, which 'extern' requires; use numbers and extern types")
    if isinstance(type, types.Union) and not (_has_words(field) or types.is_comptime_only(type)):
        ev.fail(member, f"a '{field}' as a variant of a union is not supported; use numbers and structs of them")


def _has_words(type: Type) -> bool:
    """Return True if a value can be put together again from its words."""
    if isinstance(type, types.Array):
        return _has_words(type.element)
    if isinstance(type, types.Record):
        return all(map(_has_words, type.types))
    return emit.has_one_register(type)


def _check_union(ev: Evaluator, node: syntax.StructType, type: types.Union) -> None:
    if not type.types:
        ev.fail(node, "a union needs at least one variant")
    widths = [types.bit_width(field) for field in type.types]
    if type.layout == "packed" and len(set(widths)) > 1:
        shown = ", ".join(f"{name} {width}" for name, width in zip(type.names or (), widths, strict=True))
        ev.fail(node, f"the variants of a packed union must have the same number of bits, but have: {shown}")


@expression(syntax.EnumType)
def _enum_type(ev: Evaluator, node: syntax.EnumType, want: Type | None) -> Value:
    underlying = types.U16 if node.underlying is None else ev.type_of(node.underlying)
    if not isinstance(underlying, types.Int):
        ev.fail(node, f"members of an enum are numbers of an integer type, not '{underlying}'")
    given: dict[str, int] = {}
    for member in node.members:
        if member.value is not None:
            number = ev.integer(member.value, "the number of an enum's member")
            if number in given.values():
                ev.fail(member, f"two members have the number {number}; numbers must be unique")
            if not underlying.holds(number):
                ev.fail(member, f"{number} does not fit in '{underlying}'")
            given[member.name] = number
    members: list[tuple[str, int]] = []
    taken, following = set(given.values()), 0
    for member in node.members:
        if any(member.name == name for name, _ in members):
            ev.fail(member, f"member '{member.name}' is declared twice")
        if member.name in given:
            members.append((member.name, given[member.name]))
            continue
        while following in taken:
            following += 1
        members.append((member.name, following))
        following += 1
    return Value(types.TYPE, types.Enum(underlying, tuple(members), (ev.source.path, node.start)))


@expression(syntax.AnyType)
def _any_type(ev: Evaluator, node: syntax.AnyType, want: Type | None) -> Value:
    ev.fail(node, "'anytype' can only be the type of a parameter")


# Control flow


def body(ev: Evaluator, node: syntax.Node, want: Type | None = None) -> Value:
    """Return the value of a branch: a statement has none."""
    rule = EXPRESSIONS.get(type(node))
    if rule is None:
        ev.execute(node)
        return VOID
    return rule(ev, node, want)


@expression(syntax.If)
def _if(ev: Evaluator, node: syntax.If, want: Type | None) -> Value:
    return _if_from(ev, node, 0, want)


def _if_from(ev: Evaluator, node: syntax.If, first: int, want: Type | None) -> Value:
    """Return the chain of conditions from one on; a chain of known conditions costs no recursion."""
    for position in range(first, len(node.branches)):
        link = node.branches[position]
        condition = ev.truth(ev.expr(link.condition), link.condition)
        if is_ssa(condition):

            def then(link: syntax.IfBranch = link) -> Value:
                return as_wanted(ev, _scoped(ev, link.body, want), want, link.body)

            def otherwise(position: int = position) -> Value:
                return as_wanted(ev, _if_from(ev, node, position + 1, want), want, node)

            return control.branch(ev, condition, then, otherwise, node)
        if condition:
            check_untaken(ev, link.condition, lambda position=position: _if_from(ev, node, position + 1, want))
            return _scoped(ev, link.body, want)
        check_untaken(ev, link.condition, lambda link=link: _scoped(ev, link.body, want))
    if node.otherwise is None:
        return VOID
    return _scoped(ev, node.otherwise, want)


def _scoped(ev: Evaluator, node: syntax.Node, want: Type | None) -> Value:
    with ev.scope():
        return body(ev, node, want)


@expression(syntax.Switch)
def _switch(ev: Evaluator, node: syntax.Switch, want: Type | None) -> Value:
    subject = ev.expr(node.subject)
    is_evaluated = subject.type is types.COMPTIME_INT and ev.builder is None
    if not isinstance(subject.type, types.Int | types.Enum) and not is_evaluated:
        ev.fail(node.subject, f"a switch takes an integer of known width or an enum, not '{subject.type}'")
    otherwise: syntax.SwitchBranch | None = None
    cases: list[tuple[syntax.SwitchBranch, list[Value]]] = []
    seen: set[Any] = set()
    for link in node.branches:
        if not link.values:
            otherwise = link
            continue
        values: list[Value] = []
        for at in link.values:
            value = ev.coerce(ev.comptime_expr(at, subject.type), subject.type, at)
            key = ev.data(value, at, "a case")
            values.append(Value(subject.type, key))
            if isinstance(key, int | bytes) and key in seen:
                ev.fail(at, "this case occurs twice")
            if isinstance(key, int | bytes):
                seen.add(key)
        cases.append((link, values))
    if isinstance(subject.type, types.Enum) and otherwise is None:
        missing = [name for name, number in subject.type.members if number not in seen]
        if missing:
            ev.fail(node, f"no case for {', '.join(missing)}; add it, or an 'else' case")
    elif otherwise is None and not _is_complete(subject.type, seen):
        ev.fail(node, "not all values have a case; add an 'else' case")
    if isinstance(subject.data, Column):
        subject = Value(subject.type, ev.data(subject, node.subject))
    if not is_ssa(subject.data):
        matches = (link for link, values in cases for value in values if _same(ev, subject, value, node) is True)
        taken = next(matches, otherwise)
        for link in node.branches:
            if link is not taken:
                check_untaken(ev, node.subject, lambda link=link: _scoped(ev, link.body, want))
        return VOID if taken is None else _scoped(ev, taken.body, want)
    return _switch_from(ev, node, subject, cases, otherwise, want)


def _is_complete(type: Type, seen: set[Any]) -> bool:
    """Return True if all values of a type have been seen."""
    return isinstance(type, types.Int) and len(seen).bit_length() > type.bits


def _switch_from(
    ev: Evaluator,
    node: syntax.Switch,
    subject: Value,
    cases: list[tuple[syntax.SwitchBranch, list[Value]]],
    otherwise: syntax.SwitchBranch | None,
    want: Type | None,
) -> Value:
    if not cases:
        return VOID if otherwise is None else as_wanted(ev, _scoped(ev, otherwise.body, want), want, otherwise)
    (link, values), *rest = cases
    if not rest and otherwise is None:
        # Every value has a case, so the last needs no test.
        return as_wanted(ev, _scoped(ev, link.body, want), want, link)
    condition: SSAValue | None = None
    for value in values:
        test = emit.binary(ev.code, "==", types.U16, subject.data, ev.ssa(value, node))
        condition = test if condition is None else ev.code.value(arith.OrIOp(condition, test))
    assert condition is not None
    return control.branch(
        ev,
        condition,
        lambda: as_wanted(ev, _scoped(ev, link.body, want), want, link),
        lambda: _switch_from(ev, node, subject, rest, otherwise, want),
        node,
    )


@expression(syntax.Comptime)
def _comptime(ev: Evaluator, node: syntax.Comptime, want: Type | None) -> Value:
    if ev.builder is None:
        return body(ev, node.operand, want)
    try:
        with ev.at_compile_time():
            value = body(ev, node.operand, want)
    except (Break, Continue, Return) as jump:
        ev.fail(jump.node, "this jump leaves code evaluated at compile time; let it end inside")
    if not known(value):
        ev.fail(node.operand, "this is not known at compile time")
    warn_of_late(ev, node.operand, forced=True)
    return value


@expression(syntax.Call)
def _call(ev: Evaluator, node: syntax.Call, want: Type | None) -> Value:
    function = ev.expr(node.function)
    if isinstance(function.type, types.Pointer) and isinstance(function.type.target, types.Function):
        function = Value(function.type.target, _function_at(function.data))
    if not isinstance(function.type, types.Function):
        ev.fail(node, f"a value of type '{function.type}' cannot be called")
    if isinstance(function.data, Callable) and function.data.is_task:
        ev.fail(node, f"task '{function.data.name}' cannot be called; activate the id it is bound to")
    wanted = [None if type is types.COMPTIME_STRUCT else type for type in function.type.parameters]
    wanted += [None] * len(node.arguments)
    arguments = [ev.expr(argument, type) for argument, type in zip(node.arguments, wanted, strict=False)]
    if is_ssa(function.data):
        return calls.call_indirectly(ev, function, arguments, node)
    return calls.call(ev, function.data, arguments, node)


@expression(syntax.Builtin)
def _builtin(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    name = f"@{node.name}"
    row = BUILTINS.get(name)
    if row is None or (row.is_internal and not ev.frame.module.is_library):
        known = [other for other, row in BUILTINS.items() if not row.is_internal]
        ev.fail(node, f"there is no builtin {name}{suggestion(name, known)}")
    if ev.is_checking and row.table.has_effects:
        raise Unchecked
    check_count(ev, row, node)
    if row.where is not Where.ANYWHERE or row.on_wse2:
        check_place(ev, row, node)
    return row.rule(ev, node, want)


@expression(syntax.Asm)
def _asm(ev: Evaluator, node: syntax.Asm, want: Type | None) -> Value:
    ev.fail(node, "assembly cannot be run without the machine; write it in CSL")


# Tensor accesses


@expression(syntax.TensorAccess)
def _tensor_access(ev: Evaluator, node: syntax.TensorAccess, want: Type | None) -> Value:
    """Return a struct of what @get_dsd takes instead: `base_address`, `offset`, `stride` and `extent`."""
    extents = tuple(_extent(ev, extent) for extent in node.extents)
    if len(extents) != len(node.variables):
        ev.fail(node, f"{len(node.variables)} variables but {len(extents)} extents; give each variable one (DSD-058)")
    if len(extents) > 4:
        ev.fail(node, f"{len(extents)} variables; a DSD has at most 4 dimensions (DSD-057)")
    if not isinstance(node.base, syntax.Name):
        ev.fail(node.base, "a tensor access is of the name of an array, or of a pointer to one; name it (DSD-023)")
    base = ev.place(node.base)
    type = base.type
    if isinstance(type, types.Pointer):
        pointer = base.load(ev, node.base)
        where = pointer.data
        if not isinstance(where, Address) or is_ssa(where.base) or is_ssa(where.offset):
            ev.fail(
                node.base,
                f"the pointer '{node.base.name}' must be known at compile time; set one of the run with "
                "@set_dsd_base_addr (DSD-023)",
            )
        array = type.target if not type.many else types.Array((types.MAX_POINTER_EXTENT,), type.target)
    else:
        pointer, array = Value(types.Pointer(type, base.is_const), base.address(ev, node.base)), type
    if not isinstance(array, types.Array):
        ev.fail(node.base, f"a tensor access needs an array, not a value of type '{type}'")
    if len(node.indices) != len(array.dims):
        ev.fail(
            node, f"'{array}' has {len(array.dims)} dimensions, but there are {len(node.indices)} indices (DSD-024)"
        )
    offset, steps = _affine(ev, node, array, extents)
    strides: list[int] = []
    # A descriptor's stride counts from where the faster walks have ended (DSD-061).
    walked = 0
    for step, extent in zip(reversed(steps), reversed(extents), strict=True):
        strides.append(step - walked)
        walked += step * (extent - 1) if extent > 0 else 0
    if not all(map(types.I16.holds, (offset, *strides))):
        ev.fail(node, f"offset {offset} or stride {max(strides, key=abs)} does not fit in 'i16' (DSD-032)")
    narrow = len(strides) == 1 and types.I8.holds(strides[0])
    return struct(
        base_address=pointer,
        offset=Value(types.I16, offset),
        stride=_numbers(types.I8 if narrow else types.I16, strides),
        extent=_numbers(types.U16, extents),
    )


def _numbers(type: Type, numbers: Sequence[int]) -> Value:
    """Return a tuple of numbers."""
    return Value(types.Struct(None, (type,) * len(numbers)), tuple(Value(type, number) for number in numbers))


def _extent(ev: Evaluator, node: syntax.Expression) -> int:
    extent = ev.integer(node, "an extent")
    if extent not in EXTENTS:
        ev.fail(node, f"an extent of {extent}; it is from 0 to {EXTENTS[-1]} (DSD-021)")
    return extent


NOT_AFFINE = "the index is not affine: it must be a sum of the variables times constants (DSD-025)"


def _affine(
    ev: Evaluator, node: syntax.TensorAccess, array: types.Array, extents: tuple[int, ...]
) -> tuple[int, list[int]]:
    """Return the start and the step per variable of the linear index, evaluated at points of the domain."""

    def at(point: list[int]) -> int:
        scope = {
            variable.name: Local(variable.name, types.COMPTIME_INT, Value(types.COMPTIME_INT, number), False)
            for variable, number in zip(node.variables, point, strict=True)
        }
        ev.frame.scopes.append(scope)
        try:
            result = 0
            for extent, index in zip(array.dims, node.indices, strict=True):
                result = result * extent + ev.integer(index, "an index of a tensor access")
            return result
        finally:
            ev.frame.scopes.pop()

    origin = [0] * len(extents)
    start = at(origin)
    steps: list[int] = []
    for n in range(len(extents)):
        # The step of a variable that takes one value only counts too: the DSD may be made longer, or its stride read.
        try:
            steps.append(at([int(k == n) for k in range(len(extents))]) - start)
        except CslError:
            if extents[n] > 1:
                raise
            # A table looked up with the variable, say, has no second element.
            ev.fail(node, NOT_AFFINE)
    # Any other points must agree, or the index is not affine (DSD-025).
    corner = [max(0, extent - 1) for extent in extents]
    middle = [max(0, extent - 1) // 2 for extent in extents]
    for point in (corner, middle):
        if at(point) != start + sum(p * s for p, s in zip(point, steps, strict=True)):
            ev.fail(node, NOT_AFFINE)
    return start, steps
