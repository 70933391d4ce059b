"""The builtins of values and types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.ir import Block, SSAValue

from .. import targets
from ..csl import syntax
from ..diagnostics.errors import shown
from ..dialects import wse
from . import control, types
from .conversion import bitcast, cast, coerce, describe, equal, extremes
from .core import Evaluator, Unchecked, builtin, suggestion
from .emit import Builder, has_one_register, stored
from .expressions import initializes_global, place
from .late import warn as warn_of_late
from .modules import INTERNAL, LIBRARIES, Module
from .operations import expect
from .tasks import TASK_KINDS, pe_of
from .types import Type
from .values import (
    VOID,
    Address,
    Column,
    RangeData,
    Value,
    boolean,
    is_elements,
    is_ssa,
    kept_of,
    known,
    string,
    struct,
)

if TYPE_CHECKING:
    from typing_extensions import TypeIs

# Types and conversions


@builtin("@as")
def _as(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    target, value = expect(ev, node, 2)
    type = ev.type_of(target)
    converts = types.is_numeric(type) or type is types.BOOL or isinstance(type, types.Enum)
    return cast(ev, ev.expr(value, types.Cast(type) if converts else type), type, node)


@builtin("@bitcast")
def _bitcast(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    target, value = expect(ev, node, 2)
    return bitcast(ev, ev.expr(value), ev.type_of(target), node)


@builtin("@ptrcast")
def _ptrcast(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    target, value = expect(ev, node, 2)
    type, pointer = ev.type_of(target), ev.expr(value)
    if not isinstance(type, types.Pointer) or not isinstance(pointer.type, types.Pointer):
        ev.fail(node, f"@ptrcast converts pointers to pointers, not '{pointer.type}' to '{type}'")
    if ev.builder is None and not ev.frame.module.is_library:
        ev.warn(node, "the SDK's compiler does not evaluate @ptrcast at compile time; write it in a function")
    return Value(type, pointer.data)


@builtin("@type_of")
def _type_of(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = expect(ev, node, 1)
    if ev.frame.returned is None:
        return Value(types.TYPE, place(ev, argument).type)
    # The argument may be code for run time: it is emitted, and thrown away.
    before = [(local, local.value) for local in ev.live]
    builder, ev.builder = ev.builder, Builder(Block())
    try:
        return Value(types.TYPE, place(ev, argument).type)
    finally:
        ev.builder = builder
        for local, value in before:
            local.value = value


@builtin("@is_same_type")
def _is_same_type(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    left, right = expect(ev, node, 2)
    return boolean(ev.type_of(left) == ev.type_of(right))


@builtin("@is_comptime")
def _is_comptime(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    expect(ev, node, 0)
    if ev.is_checking:
        raise Unchecked
    return boolean(ev.builder is None)


@builtin("@fp16")
def _fp16(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    expect(ev, node, 0)
    return Value(types.TYPE, ev.session.fp16)


def _array_type(ev: Evaluator, node: syntax.Expression) -> types.Array:
    type = ev.type_of(node)
    if not isinstance(type, types.Array):
        ev.fail(node, f"this must be an array type, not '{type}'")
    return type


@builtin("@zeros")
def _zeros(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = expect(ev, node, 1)
    type = _array_type(ev, argument)
    if not types.is_numeric(type.element):
        if types.is_comptime_only(type.element) or not _has_zero(type.element):
            ev.fail(argument, f"@zeros makes arrays of numbers, and there is no zero of type '{type.element}'")
        instead = "@constants(..., false)" if type.element is types.BOOL else "@constants"
        ev.warn(node, f"the SDK's compiler makes @zeros of numbers only, not of '{type.element}'; write {instead}")
    return Value(type, control.zero(type))


def _has_zero(type: Type) -> bool:
    """Whether a value whose words are all zero is one of the type."""
    if isinstance(type, types.Enum):
        return 0 in type.names
    if isinstance(type, types.Array):
        return _has_zero(type.element)
    if isinstance(type, types.Struct):
        return all(map(_has_zero, type.types))
    return has_one_register(type) or isinstance(type, types.Union)


@builtin("@constants")
def _constants(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    target, value = expect(ev, node, 2)
    type = _array_type(ev, target)
    return Value(type, [kept_of(type, ev.typed(value, type.element))] * type.count)


@builtin("@dimensions")
def _dimensions(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = expect(ev, node, 1)
    dims = _array_type(ev, argument).dims
    return Value(types.Array((len(dims),), types.U32), list(dims))


@builtin("@element_count")
def _element_count(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = expect(ev, node, 1)
    return Value(types.U32, _array_type(ev, argument).count)


@builtin("@element_type")
def _element_type(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = expect(ev, node, 1)
    return Value(types.TYPE, _array_type(ev, argument).element)


@builtin("@rank")
def _rank(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = expect(ev, node, 1)
    return Value(types.U16, len(_array_type(ev, argument).dims))


@builtin("@range")
def _range(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = expect(ev, node, 2, 4)
    element = ev.type_of(arguments[0])
    if not types.is_integer(element):
        ev.fail(arguments[0], f"a range counts in an integer type, not in '{element}'")

    def number(node: syntax.Expression, type: Type) -> Value:
        value = ev.expr(node, type)
        if not types.is_integer(value.type):
            ev.fail(node, f"a bound of a range is an integer, not '{value.type}'")
        value = coerce(ev, value, type, node)
        # A known bound must not wrap where the loop computes with it.
        return value if is_ssa(value.data) else Value(types.COMPTIME_INT, value.data)

    if len(arguments) == 2:
        data = RangeData(Value(element, 0), number(arguments[1], element), Value(element, 1))
        return Value(types.Range(element), data)
    # Ranges of unsigned numbers may count down, as in the manual's example @range(u16, 2, 7, -1).
    signed = types.Int(element.bits, True) if isinstance(element, types.Int) else element
    step = ev.expr(arguments[3], element)
    if types.is_integer(step.type) and not is_ssa(step.data) and extremes(step.data)[0] < 0:
        step = coerce(ev, step, signed, arguments[3])
        step = Value(types.COMPTIME_INT, step.data)
    else:
        step = number(arguments[3], element)
    return Value(types.Range(element), RangeData(number(arguments[1], element), number(arguments[2], element), step))


@builtin("@range_start", "@range_stop", "@range_step")
def _range_part(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = expect(ev, node, 1)
    value = ev.expr(argument)
    if not isinstance(value.type, types.Range):
        ev.fail(argument, f"@{node.name} takes a range, not '{value.type}'")
    part: Value = getattr(value.data, node.name.removeprefix("range_"))
    element = value.type.element
    return Value(element, part.data if is_ssa(part.data) else ev.fitted(element, part.data))


# Identifiers


def _identifier(ev: Evaluator, node: syntax.Builtin, type: types.Identifier, allowed: range, what: str) -> Value:
    (argument,) = expect(ev, node, 1)
    value = ev.expr(argument, types.U16)
    if not types.is_integer(value.type):
        ev.fail(argument, f"@{node.name} takes an integer, not '{value.type}'")
    if is_ssa(value.data):
        if type in (types.INPUT_QUEUE, types.OUTPUT_QUEUE):
            ev.fail(argument, "the number of a queue must be known at compile time")
        return Value(type, coerce(ev, value, types.U16, argument).data)
    if ev.builder is not None and type in (types.INPUT_QUEUE, types.OUTPUT_QUEUE):
        warn_of_late(ev, argument)
    if isinstance(value.type, types.Int) and value.type.signed and type in TASK_KINDS:
        ev.warn(argument, f"the SDK's compiler takes unsigned integers for @{node.name}, not '{value.type}'; use 'u16'")
    low, high = extremes(value.data)
    if low < allowed[0] or high > allowed[-1]:
        wrong = low if low < allowed[0] else high
        arch = ev.session.target.name.upper().replace("WSE", "WSE-")
        ev.fail(argument, f"there is no {what} {wrong} on {arch}; they are {allowed[0]} to {allowed[-1]}")
    return Value(type, value.data)


@builtin("@get_color")
def _get_color(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    return _identifier(ev, node, types.COLOR, range(ev.session.target.routable_colors), "color")


@builtin("@get_local_task_id")
def _get_local_task_id(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    return _identifier(ev, node, types.LOCAL_TASK_ID, ev.session.target.local_task_ids, "local task id")


@builtin("@get_control_task_id")
def _get_control_task_id(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    return _identifier(ev, node, types.CONTROL_TASK_ID, ev.session.target.control_task_ids, "control task id")


@builtin("@get_input_queue")
def _get_input_queue(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    return _identifier(ev, node, types.INPUT_QUEUE, range(ev.session.target.input_queues), "input queue")


@builtin("@get_output_queue")
def _get_output_queue(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = expect(ev, node, 1)
    if isinstance(ev.expr(argument).type, types.Identifier):
        # `@get_output_queue(input_queues[2])` stands in published programs.
        return Value(types.OUTPUT_QUEUE, ev.expr(argument).data)
    return _identifier(ev, node, types.OUTPUT_QUEUE, range(ev.session.target.output_queues), "output queue")


@builtin("@get_ut_id")
def _get_ut_id(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = expect(ev, node, 1)
    if not ev.session.target.queues_keep_color:
        ev.fail(node, "@get_ut_id exists on WSE-3 only; on WSE-2 the microthread is that of the queue")
    value = ev.expr(argument)
    if value.type in (types.INPUT_QUEUE, types.OUTPUT_QUEUE):
        return Value(types.UT_ID, value.data)
    return _identifier(ev, node, types.UT_ID, range(ev.session.target.microthreads), "microthread")


@builtin("@get_data_task_id")
def _get_data_task_id(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = expect(ev, node, 1)
    value = ev.expr(argument)
    needed = types.COLOR if ev.session.target.name == "wse2" else types.INPUT_QUEUE
    if value.type is not needed:
        ev.fail(argument, f"a data task id is made of a '{needed}' on {ev.session.target.name}, not of '{value.type}'")
    return Value(types.DATA_TASK_ID, value.data)


@builtin("@get_int")
def _get_int(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = expect(ev, node, 1)
    value = ev.expr(argument)
    if isinstance(value.type, types.Enum):
        return Value(value.type.underlying, value.data)
    if isinstance(value.type, types.Identifier) and value.type is not types.DIRECTION:
        return Value(types.U16, value.data)
    if value.type is types.DIRECTION and ev.frame.module.is_library:
        return Value(types.U16, value.data)
    if types.is_integer(value.type):
        return value
    ev.fail(argument, f"a '{value.type}' has no underlying integer")


@builtin("@is_arch")
def _is_arch(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = expect(ev, node, 1)
    name = ev.text(argument, "an architecture")
    if name not in targets.TARGETS:
        ev.warn(argument, f"there is no architecture '{name}'; there are: {', '.join(targets.TARGETS)}")
    return boolean(name.lower() == ev.session.target.name)


# Assertions and output


def _asserted(ev: Evaluator, arguments: list[syntax.Expression]) -> str:
    """What to say of an assertion that fails: its message, or the condition as it is written."""
    if len(arguments) > 1:
        return ev.text(arguments[1], "the message of an assertion")
    text = " ".join(ev.source.text[arguments[0].start : arguments[0].end].split())
    return f"'{text}' does not hold"


@builtin("@comptime_assert")
def _comptime_assert(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = expect(ev, node, 1, 2)
    condition = ev.expr(arguments[0])
    if condition.type is not types.BOOL:
        ev.mistyped(arguments[0], f"@comptime_assert takes a 'bool', not '{condition.type}'")
    message = _asserted(ev, arguments)
    if ev.builder is not None:
        warn_of_late(ev, arguments[0])
    if isinstance(condition.data, Column):
        # One PE that fails is enough, so its lanes are told apart.
        ev.data(condition, arguments[0])
    if not ev.data(condition, arguments[0], "the condition of @comptime_assert"):
        ev.mistyped(node, f"comptime_assert failed: {message}")
    return VOID


@builtin("@assert")
def _assert(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = expect(ev, node, 1, 2)
    condition = ev.expr(arguments[0])
    if condition.type is not types.BOOL:
        ev.fail(arguments[0], f"@assert takes a 'bool', not '{condition.type}'")
    if ev.builder is None:
        if not ev.data(condition, arguments[0]):
            ev.fail(node, _asserted(ev, arguments))
        return VOID
    message = _asserted(ev, arguments)
    test = ev.ssa(condition, arguments[0])
    ev.code.at(ev.source, node.start)
    ev.code(wse.AssertOp(test, message))
    return VOID


@builtin("@comptime_print")
def _comptime_print(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    if ev.in_layout and ev.lanes.depth:
        from .core import Serial

        raise Serial
    parts: list[str] = []
    for argument in node.arguments:
        value = ev.expr(argument)
        if not known(value):
            ev.fail(argument, "this is not known at compile time")
        if ev.builder is not None:
            warn_of_late(ev, argument)
        parts.append(describe(value))
    text = shown(", ".join(parts))
    if ev.builder is not None:
        key = (ev.source.location(node.start), text)
        if key in ev.session.printed:
            return VOID
        ev.session.printed.add(key)
    ev.session.options.print(text)
    return VOID


# Structs and strings

MAX_STRING_LENGTH = 1 << 24
MAX_FIELDS = 1 << 12


@builtin("@concat_structs")
def _concat_structs(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    left, right = (ev.expr(argument) for argument in expect(ev, node, 2))
    if not isinstance(left.type, types.Struct) or not isinstance(right.type, types.Struct):
        ev.fail(node, f"@concat_structs joins structs, not '{left.type}' and '{right.type}'")
    for side in (left.type, right.type):
        if side.origin is not None:
            ev.warn(node, f"the SDK's compiler joins anonymous structs, not '{side}'; write its fields as .{{ ... }}")
    if not left.data:
        return right
    if not right.data:
        return left
    if len(left.data) + len(right.data) > MAX_FIELDS:
        ev.fail(node, f"a struct of {len(left.data) + len(right.data)} fields; does this loop ever end?")
    if (left.type.names is None) != (right.type.names is None):
        ev.fail(node, "@concat_structs joins two structs with names or two tuples, not one of each")
    names = None
    if left.type.names is not None and right.type.names is not None:
        both = set(left.type.names) & set(right.type.names)
        if both:
            ev.fail(node, f"both structs have a field '{sorted(both)[0]}'; rename one")
        names = (*left.type.names, *right.type.names)
    return Value(types.Struct(names, (*left.type.types, *right.type.types)), (*left.data, *right.data))


@builtin("@field")
def _field(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    return place(ev, node).load(ev, node)


@builtin("@has_field")
def _has_field(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    value, name = expect(ev, node, 2)
    type = ev.expr(value).type
    if not isinstance(type, types.Record):
        ev.warn(value, f"the SDK's compiler takes @has_field of structs only, not of '{type}'")
        return boolean(False)
    return boolean(type.index(ev.text(name, "the name of a field")) is not None)


def _bytes(ev: Evaluator, node: syntax.Expression) -> bytes:
    value = ev.expr(node)
    if value.type is not types.COMPTIME_STRING:
        ev.fail(node, f"this must be a string, not '{value.type}'")
    return value.data


@builtin("@strlen")
def _strlen(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = expect(ev, node, 1)
    return Value(types.COMPTIME_INT, len(_bytes(ev, argument)))


@builtin("@strcat")
def _strcat(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    text = b"".join(_bytes(ev, argument) for argument in node.arguments)
    if len(text) > MAX_STRING_LENGTH:
        ev.fail(node, f"a string of {len(text)} bytes; does this loop ever end?")
    return Value(types.COMPTIME_STRING, text)


@builtin("@get_array")
def _get_array(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = expect(ev, node, 1)
    text = _bytes(ev, argument)
    return Value(types.Array((len(text),), types.U8), list(text))


@builtin("@get_string_from_byte")
def _get_string_from_byte(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = expect(ev, node, 1)
    number = ev.integer(argument, "a byte")
    if not 0 <= number <= 255:
        ev.fail(argument, f"{number} is no byte; a byte is 0 to 255")
    return Value(types.COMPTIME_STRING, bytes([number]))


# Modules and files


@builtin("@import_module")
def _import_module(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = expect(ev, node, 1, 2)
    if not initializes_global(ev, node):
        ev.fail(node, "a module is imported for the whole program; make it a global: const name = @import_module(...)")
    name = ev.text(arguments[0], "the name of a file")
    bindings: dict[str, Value] = {}
    if len(arguments) == 2:
        value = ev.expr(arguments[1])
        if not isinstance(value.type, types.Struct) or (value.type.names is None and value.type.types):
            ev.fail(arguments[1], f"params are given by a struct, .{{ .name = value }}, not by '{value.type}'")
        bindings = dict(zip(value.type.names or (), value.data, strict=True))
    path = ev.find_file(arguments[0], name)
    if LIBRARIES in path.parents and path.stem in INTERNAL and not ev.frame.module.is_library:
        ev.fail(arguments[0], f"there is no library {name}")
    _check_circle(ev, node, path, bindings)
    module = ev.load(path, bindings, _module_name(ev, node))
    module.importer, module.imported_at = ev.frame.module, node
    for binding in bindings:
        declared = module.globals.get(binding)
        if declared is None or not _is_param(declared.node):
            params = [name for name, found in module.globals.items() if _is_param(found.node)]
            ev.warn(node, f"{_shown(name)} has no param '{binding}'{suggestion(binding, params) or '; remove it'}")
    return Value(types.MODULE, module)


def _shown(name: str) -> str:
    """How an error calls an imported module: a library in angled brackets, another by its file."""
    return name if name.startswith("<") else f"'{Path(name).name}'"


MAX_IMPORT_DEPTH = 64
"""Imports of imports."""


def _check_circle(ev: Evaluator, node: syntax.Builtin, path: Path, bindings: dict[str, Value]) -> None:
    """A file that is importing this one is not imported again with the same params; every import is a new instance."""
    importer: Module | None = ev.frame.module
    depth = 0
    while importer is not None:
        same = importer.path.samefile(path) and importer.bindings.keys() == bindings.keys()
        if same and all(equal(importer.bindings[name], value) for name, value in bindings.items()):
            way = "" if depth == 0 else " by way of this file"
            ev.fail(node, f"'{path.name}' imports itself{way}; break the circle")
        importer = importer.importer
        depth += 1
    if depth > MAX_IMPORT_DEPTH:
        ev.fail(node, f"imports are nested more than {MAX_IMPORT_DEPTH} deep; does this circle ever end?")


def _is_param(node: syntax.Node) -> bool:
    return isinstance(node, syntax.Variable) and node.kind == "param"


def _module_name(ev: Evaluator, node: syntax.Node) -> str:
    """The name of the constant an import initializes, below that of the importing module."""
    module = ev.frame.module
    for name, found in module.globals.items():
        value = getattr(found.node, "value", None)
        if value is node:
            return module.symbol(name)
    return module.symbol(f"import{len(ev.instances)}")


@builtin("@loom_shared")
def _shared(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = expect(ev, node, 1)
    return Value(types.MODULE, shared_module(ev, ev.text(argument, "the name of a library")))


def shared_module(ev: Evaluator, name: str) -> Module:
    """The one instance of a library that all of a PE's program shares."""
    assert ev.pe is not None
    plain = name.strip("<>")
    module = ev.pe.shared.get(plain)
    if module is None:
        module = ev.pe.shared[plain] = ev.load(LIBRARIES / f"{plain}.csl", {}, plain, is_library=True)
    return module


def _shared_call(ev: Evaluator, library: str, name: str, node: syntax.Builtin) -> Value:
    from .values import Callable

    pe_of(ev, node)
    if ev.builder is None:
        ev.fail(node, f"@{node.name} is for run time only")
    module = shared_module(ev, library)
    declaration = module.globals[name].node
    assert isinstance(declaration, syntax.Function)
    return ev.call_value(Callable(module, declaration), [ev.expr(argument) for argument in node.arguments], node)


@builtin("@random16")
def _random16(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    expect(ev, node, 0)
    return _shared_call(ev, "pseudorandom", "random16", node)


@builtin("@set_active_prng")
def _set_active_prng(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    expect(ev, node, 1)
    return _shared_call(ev, "pseudorandom", "set_active", node)


@builtin("@import_comptime_value")
def _import_comptime_value(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    target, name = expect(ev, node, 2)
    type = ev.type_of(target)
    path = ev.find_file(name, ev.text(name, "the name of a file"))
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        ev.fail(name, f"'{path.name}' is no JSON: {error}")
    return _from_json(ev, type, data, name)


def _is_object(data: Any) -> TypeIs[dict[str, Any]]:
    """Return whether data of a JSON file is an object."""
    return isinstance(data, dict)


def _from_json(ev: Evaluator, type: Type, data: Any, node: syntax.Node) -> Value:
    match type:
        case types.Array():
            if not is_elements(data) or len(data) != type.count:
                have = f"a list of {len(data)}" if is_elements(data) else "no list"
                ev.fail(node, f"'{type}' needs a list of {type.count} elements, but the file has {have}")
            return Value(type, [kept_of(type, _from_json(ev, type.element, inner, node)) for inner in data])
        case types.BOOL:
            if isinstance(data, bool):
                return boolean(data)
        case types.COMPTIME_STRING:
            if isinstance(data, str):
                return string(data)
        case types.COMPTIME_STRUCT:
            if _is_object(data):
                members: dict[str, Value] = {}
                for label, item in data.items():
                    field_name, colon, type_text = label.partition(":")
                    if not colon:
                        ev.fail(node, f"the field '{label}' has no type; write it as \"name:type\"")
                    members[field_name] = _from_json(ev, _type_from_text(ev, type_text, node), item, node)
                return struct(**members)
        case _:
            if types.is_numeric(type) or type is types.COLOR:
                if isinstance(data, int | float) and not isinstance(data, bool):
                    if isinstance(data, float) and not types.is_float(type):
                        ev.fail(node, f"{data} in the file is no integer, but '{type}' is needed")
                    if types.is_float(type):
                        return Value(type, ev.fitted(type, float(data)))
                    if type is types.COLOR:
                        if not 0 <= data < ev.session.target.routable_colors:
                            ev.fail(node, f"there is no color {data}, which the file has")
                        return Value(type, data)
                    return coerce(ev, Value(types.COMPTIME_INT, data), type, node)
    ev.fail(node, f"the file has {json.dumps(data)[:40]} where '{type}' is needed")


def _type_from_text(ev: Evaluator, text: str, node: syntax.Node) -> Type:
    text = text.strip()
    if text.startswith("[") and "]" in text:
        extent, _, element = text[1:].partition("]")
        if extent.strip().isdigit():
            return types.Array((int(extent),), _type_from_text(ev, element, node))
    type = types.UNIVERSE.get(text)
    if type is None:
        ev.fail(node, f"'{text}' in the file is no type")
    return type


@builtin("@get_rectangle")
def _get_rectangle(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    expect(ev, node, 0)
    if ev.session.rectangle is None:
        ev.fail(node, "the rectangle is not set yet; call @set_rectangle first")

    def pair(width: int, height: int) -> Value:
        return struct(width=Value(types.U16, width), height=Value(types.U16, height))

    width, height = ev.session.rectangle
    offsets = ev.session.options.offsets
    fabric = ev.session.options.fabric or (width + offsets[0] + 3, height + offsets[1] + 1)
    return struct(
        width=Value(types.U16, width), height=Value(types.U16, height), fabric=pair(*fabric), offsets=pair(*offsets)
    )


# What the libraries use


@builtin("@loom_coordinate")
def _coordinate(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = expect(ev, node, 1)
    pe = pe_of(ev, node)
    axis = ev.text(argument, "an axis")
    if ev.builder is None:
        from .scalars import column

        lanes = pe.state["lanes"]
        return Value(types.U16, column(lanes, pe.columns if axis == "x" else pe.rows))
    ev.code.at(ev.source, node.start)
    return Value(types.U16, ev.code.value(wse.CoordinateOp(wse.Axis(axis))))


@builtin("@loom_timestamp")
def _timestamp(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = expect(ev, node, 1)
    pointer = ev.expr(argument)
    if ev.builder is None:
        ev.fail(node, "there are no cycles at compile time")
    ev.code.at(ev.source, node.start)
    op = ev.code(wse.TimestampOp())
    from .places import Memory

    assert isinstance(pointer.type, types.Pointer) and isinstance(pointer.type.target, types.Array)
    where = pointer.data if isinstance(pointer.data, Address) else Address(None, 0, 1, pointer.data)
    words = Memory(where, pointer.type.target, const=False)
    for position, word in enumerate(op.results):
        words.element(ev, position, node).store(ev, Value(types.U16, word), node)
    return VOID


@builtin("@loom_print")
def _print(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    if not node.arguments:
        ev.fail(node, "@loom_print takes a format and what it shows")
    text = _bytes(ev, node.arguments[0]).decode(errors="replace")
    values = [ev.expr(argument) for argument in node.arguments[1:]]
    if len(values) == 1 and isinstance(values[0].type, types.Struct) and values[0].type.names is None:
        values = list(values[0].data)
    if ev.builder is None:
        return VOID
    operands: list[SSAValue] = []
    pieces: list[str] = []
    rest = text
    while rest:
        head, brace, rest = rest.partition("{")
        pieces.append(head.replace("}}", "}").replace("}", "}}"))
        if not brace:
            break
        if rest.startswith("{"):
            pieces.append("{{")
            rest = rest[1:]
            continue
        format, _, rest = rest.partition("}")
        if not values:
            ev.fail(node, f"the format '{text}' shows more values than are given")
        value = values.pop(0)
        if format == "s":
            pieces.append(value.data.decode(errors="replace").replace("{", "{{").replace("}", "}}"))
            continue
        if value.type is types.COMPTIME_INT:
            value = coerce(ev, value, types.I32, node)
        elif value.type is types.COMPTIME_FLOAT:
            value = coerce(ev, value, types.F32, node)
        if types.is_float(value.type) != (format == "f"):
            ev.fail(node, f"'{{{format}}}' does not show a '{value.type}'")
        if value.type is types.BOOL:
            value = cast(ev, value, types.U16, node)
        if isinstance(value.type, types.Int):
            value = cast(ev, value, stored(value.type), node)
        operands.append(ev.ssa(value, node))
        pieces.append(f"{{{format}}}")
    if values:
        ev.fail(node, f"the format '{text}' shows fewer values than are given")
    ev.code.at(ev.source, node.start)
    ev.code(wse.PrintOp("".join(pieces), operands))
    return VOID


@builtin("@loom_host_stream")
def _host_stream(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    color, way = expect(ev, node, 2)
    pe = pe_of(ev, node)
    number = ev.data(ev.expr(color), color, "the color of a stream")
    pe.use(ev, "color", number, node)
    pe.color(number)
    pe.host_streams[number, ev.text(way, "a direction")] = None
    return VOID
