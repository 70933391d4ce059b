"""What a program shows to the host: @export_symbol in PEs, @export_name in the layout, @rpc."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, StringAttr, SymbolRefAttr, i16
from xdsl.ir import SSAValue

from ...csl import syntax
from ...csl.source import Source
from ...dialects import wse
from .. import emit, types
from ..evaluator import Evaluator
from ..global_variables import GlobalVariable
from ..modules import Global
from ..pe import Export
from ..places import Held, Memory, Place, Temporary
from ..registry import Table, Where
from ..types import Type
from ..values import VOID, Address, Buffer, Callable, Value, boolean

TABLE = Table("Exported symbols and remote procedure calls")


PRIVATE = "loom."
"""What exported names of the libraries start with; the layout need not name them."""


@dataclass
class Name:
    """A name the layout exports: its type and whether the host may write it."""

    name: str
    type: Type
    mutable: bool
    node: syntax.Node
    source: Source


MAX_PARAMETERS = 15
"""Of an exported function (Builtins, @export_name)."""


@TABLE.row(
    "@export_name(name, type[, mutable])",
    where=Where.LAYOUT,
    refusal="{name} belongs in the layout block; a PE's program uses @export_symbol",
)
def _export_name(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = node.arguments
    name = ev.text(arguments[0], "the name of a symbol")
    type = ev.type_of(arguments[1])
    _check_exportable(ev, arguments[1], name, type)
    mutable = False
    if len(arguments) == 3:
        mutable = bool(ev.data(ev.typed(arguments[2], types.BOOL), arguments[2]))
    elif not isinstance(type, types.Function):
        ev.fail(node, f"@export_name of a '{type}' needs a third argument: true if the host may write it, or false")
    exports: dict[str, Name] = ev.session.exports
    previous = exports.get(name)
    if previous is not None:
        ev.fail(node, f"'{name}' is exported twice; once is enough", ev.note(previous.node, "first here"))
    exports[name] = Name(name, type, mutable, node, ev.source)
    return VOID


def _check_exportable(ev: Evaluator, node: syntax.Node, name: str, type: Type) -> None:
    """Check that the host can use an exported type: functions of scalars, scalars, pointers to what is in memory."""
    if isinstance(type, types.Function):
        if type.is_task:
            ev.fail(node, f"'{name}' is exported as a task; the host calls functions")
        if len(type.parameters) > MAX_PARAMETERS:
            ev.fail(
                node,
                f"'{name}' has {len(type.parameters)} parameters; an exported function has at most {MAX_PARAMETERS}",
            )
        for inner in (*type.parameters, *([] if type.result is types.VOID else [type.result])):
            # A result stays on the machine; parameters come from the host.
            if not _is_number(inner):
                ev.fail(node, f"'{name}' is exported as '{type}', but the host cannot use a '{inner}'; use numbers")
        return
    if isinstance(type, types.Pointer):
        if types.is_comptime_only(type.target):
            ev.fail(node, f"'{name}' is exported as '{type}', but a '{type.target}' exists at compile time only")
    elif _is_number(type) and not _is_plain(type):
        remedy = f"use a number of 16 or 32 bits, or a pointer such as [*]{type}"
        ev.fail(node, f"'{name}' is exported as '{type}'; {remedy}")
    elif not _is_plain(type):
        ev.fail(node, f"'{name}' is exported as '{type}'; export a function, a number or a pointer such as [*]f32")


def _is_number(type: Type) -> bool:
    if isinstance(type, types.Int):
        return not type.is_narrow
    return isinstance(type, types.Float) or type is types.BOOL or type is types.COLOR


def _is_plain(type: Type) -> bool:
    """Return True if the host takes one as it is, which it does not with 64 bits."""
    return _is_number(type) and not (isinstance(type, types.Int) and type.bits > 32)


@TABLE.row("@export_symbol(symbol[, name])", where=Where.COMPTIME, rules="HOST-028")
def _export_symbol(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = node.arguments
    pe = ev.program
    target = ev.place(arguments[0])
    if len(arguments) == 2:
        name = ev.text(arguments[1], "the name of a symbol")
    elif isinstance(arguments[0], syntax.Name):
        name = arguments[0].name
    else:
        ev.fail(node, "@export_symbol needs a name for this; give it as the second argument")
    if name in pe.exports:
        ev.fail(
            node, f"'{name}' is exported twice; give one another name", ev.note(pe.exports[name].node, "first here")
        )
    declared = ev.session.exports.get(name)
    if declared is None and not name.startswith(PRIVATE):
        ev.fail_for_lack(
            node, f"the layout does not export '{name}'; add @export_name(\"{name}\", ...) to the layout block"
        )
    type = target.type
    if isinstance(type, types.Function):
        function: Callable = target.load(ev, arguments[0]).data
        if declared is not None and declared.type != type:
            ev.fail(node, f"the layout exports '{name}' as '{declared.type}', but it is '{type}'")
        pe.exports[name] = Export(
            name, "", type, node, ev.source, function=function, target=target, identity=_identity(target)
        )
        return VOID
    if declared is not None:
        _check_declared(ev, node, declared, target)
    export = _exported(ev, name, target, type, node, arguments[0])
    export.target, export.identity = target, _identity(target)
    pe.exports[name] = export
    return VOID


def _element(type: types.Pointer) -> Type:
    return type.target.element if isinstance(type.target, types.Array) else type.target


def host_element(type: types.Pointer) -> Type:
    """Return the type of the elements the host sees behind a pointer: words or bytes of wide integers and structs."""
    element = _element(type)
    if isinstance(element, types.Enum):
        element = element.underlying
    if isinstance(element, types.Int) and element.bits >= 64:
        return types.U32
    return element if _is_plain(element) else types.U8 if types.size(element) % 2 else types.U16


def _length(type: types.Pointer, buffer: Buffer) -> int:
    """Return how many of what the host sees there are from the start of a buffer."""
    return (buffer.count or 1) * types.size(buffer.element) // types.size(host_element(type))


def _check_declared(ev: Evaluator, node: syntax.Node, declared: Name, target: Place) -> None:
    """Check that a symbol has the type and the mutability that the layout declares."""
    note = ev.note(declared.node, "exported here", declared.source)
    if declared.type != target.type:
        ev.fail(node, f"the layout exports '{declared.name}' as '{declared.type}', but it is '{target.type}'", note)
    if declared.mutable == target.is_const:
        have, want = ("constant", "mutable") if declared.mutable else ("a variable", "immutable")
        other = "var" if declared.mutable else "const"
        ev.fail(node, f"the layout exports '{declared.name}' as {want}, but it is {have}; declare it '{other}'", note)


def _exported(ev: Evaluator, name: str, target: Place, type: Type, node: syntax.Node, argument: syntax.Node) -> Export:
    assert ev.pe is not None
    if isinstance(type, types.Pointer):
        element = host_element(type)
        if isinstance(target, GlobalVariable):
            # A variable: the host follows it wherever it points at the time.
            assert target.where.buffer is not None
            count = DYNAMIC_INDEX
            first = target.initial().data
            if isinstance(first, Address) and first.buffer is not None:
                count = _length(type, first.buffer)
            pointer = emit.memref(element, count)
            return Export(name, target.where.buffer.symbol, type, node, ev.source, pointer)
        where: Address = target.load(ev, argument).data
        if (
            where.buffer is not None
            and where.offset == 0
            and emit.scalar(where.buffer.element) == emit.scalar(emit.stored(element))
        ):
            return Export(name, where.buffer.symbol, type, node, ev.source)
        memory = ev.pe.allocate(ev, f"{name}.pointer", type, Value(type, where), ev.source, node)
        assert memory.buffer is not None
        count = _length(type, where.buffer) if where.buffer is not None else DYNAMIC_INDEX
        pointer = emit.memref(element, count)
        return Export(name, memory.buffer.symbol, type, node, ev.source, pointer)
    if isinstance(target, Held) and _is_plain(type):
        target = Memory(target.address(ev, argument), type, const=True)
    if isinstance(target, Memory) and target.where.buffer is not None:
        element = type.element if isinstance(type, types.Array) else type
        return Export(name, target.where.buffer.symbol, types.Pointer(element, many=True), node, ev.source)
    ev.fail(argument, f"this is of type '{type}'; export a function, a variable or a pointer to one")


# What a program knows of its own exports


@TABLE.row("@rpc(data_task_id)", where=Where.COMPTIME, rules="HOST-028")
def _rpc(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    pe = ev.program
    if not _is_launch_color(ev, argument):
        value = ev.expr(argument)
        if value.type is not types.DATA_TASK_ID:
            ev.fail(argument, f"@rpc takes a 'data_task_id', not '{value.type}'")
    if "rpc" in pe.state:
        ev.fail(node, "@rpc is called twice; a PE has one server", ev.note(*pe.state["rpc"]))
    # The host launches functions by their names; the server's task id carries nothing more.
    pe.state["rpc"] = (node, "first here", ev.source)
    return VOID


def _is_launch_color(ev: Evaluator, argument: syntax.Expression) -> bool:
    """Return True for the @get_data_task_id of a color where data tasks have queues, as programs for WSE-2 write it."""
    if not isinstance(argument, syntax.Builtin) or argument.name != "get_data_task_id" or len(argument.arguments) != 1:
        return False
    (inner,) = argument.arguments
    type = ev.expr(inner).type
    if type is types.VOID:
        ev.fail(inner, "this has no color; leave @rpc out, as the host launches exported functions by their names")
    if type is not types.COLOR or ev.session.target.data_tasks_by_color:
        return False
    needed = f"on {ev.session.target.name} @get_data_task_id takes an 'input_queue'"
    ev.warn(argument, f"{needed}; leave @rpc out, as the host launches exported functions by their names")
    return True


def _ids(ev: Evaluator) -> dict[str, int]:
    """Return the number of each name the layout exports: its position there."""
    return {name: number for number, name in enumerate(ev.session.exports)}


@TABLE.row("@get_symbol_id(symbol)", where=Where.PE)
def _get_symbol_id(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    pe = ev.program
    wanted = _identity(ev.place(argument))
    ids = _ids(ev)
    for name, export in pe.exports.items():
        if name in ids and wanted is not None and export.identity == wanted:
            return Value(types.U16, ids[name])
    ev.fail(argument, "this symbol is not exported; export it with @export_symbol in a comptime block")


def _identity(target: Place) -> Hashable:
    """Return what a global symbol is, whichever way it is named."""
    if isinstance(target, GlobalVariable):
        return id(target.variable)
    if isinstance(target, Held) and isinstance(target.holder, Global) and not target.path:
        return id(target.holder)
    if isinstance(target, Temporary) and isinstance(target.value.data, Callable):
        return (id(target.value.data.module), id(target.value.data.node))
    return None


def _chosen(ev: Evaluator, node: syntax.Builtin, id: syntax.Expression, values: list[tuple[int, SSAValue]]) -> SSAValue:
    """Return the value with a number known at run time; any other number gives the first."""
    number = ev.ssa(ev.coerce(ev.expr(id), types.U16, id), id)
    ev.code.at(ev.source, node.start)
    result = values[0][1]
    for candidate, value in values[1:]:
        same = emit.binary(ev.code, "==", types.U16, number, ev.code.constant(types.U16, candidate))
        result = ev.code.value(arith.SelectOp(same, value, result))
    return result


def _exports_of(ev: Evaluator, node: syntax.Builtin, type: Type | None) -> list[tuple[int, SSAValue]]:
    """Return the numbers and values of the exported symbols of a type, or of all that are pointers."""
    pe = ev.program
    ids = _ids(ev)
    found: list[tuple[int, SSAValue]] = []
    for name, export in pe.exports.items():
        if name not in ids or export.target is None:
            continue
        if isinstance(export.target.type, types.Pointer) if type is None else export.target.type == type:
            found.append((ids[name], ev.ssa(export.target.load(ev, node), node)))
    if not found:
        what = "tensor pointer" if type is None else f"symbol of type '{type}'"
        ev.fail_for_lack(node, f"no {what} is exported")
    return found


@TABLE.row("@get_symbol_value(type, id)", where=Where.RUN_TIME)
def _get_symbol_value(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = node.arguments
    type = ev.type_of(arguments[0])
    return Value(type, _chosen(ev, node, arguments[1], _exports_of(ev, node, type)))


@TABLE.row("@get_tensor_ptr(id)", where=Where.RUN_TIME)
def _get_tensor_ptr(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    word = _chosen(ev, node, argument, _exports_of(ev, node, None))
    return Value(types.Pointer(types.U16, many=True), Address(None, 0, 1, word))


@TABLE.row(
    "@has_exported_tensors()",
    where=Where.FUNCTION,
    refusal="@has_exported_tensors may be called only in functions, as comptime blocks still export",
)
def _has_exported_tensors(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    pe = ev.program
    ids = _ids(ev)
    return boolean(any(name in ids and isinstance(e.type, types.Pointer) for name, e in pe.exports.items()))


def unify_export_types(pes: list[wse.PeOp]) -> None:
    """Make what several PE programs export under one name have one type, as the host sees one symbol.

    Arrays whose lengths differ are shown through pointers to an open number of elements.
    """
    by_name: dict[str, list[tuple[wse.PeOp, wse.ExportOp, MemRefType]]] = {}
    for pe in pes:
        buffers = {op.sym_name.data: op for op in pe.body.block.ops if isinstance(op, wse.BufferOp)}
        for op in pe.body.block.ops:
            if isinstance(op, wse.ExportOp) and (buffer := buffers.get(op.symbol.string_value())) is not None:
                by_name.setdefault(op.exported_name, []).append((pe, op, op.points_to or buffer.type))
    for name, shown in by_name.items():
        if len({type for _, _, type in shown}) == 1 and len({op.points_to is None for _, op, _ in shown}) == 1:
            continue
        for pe, op, type in shown:
            open_type = MemRefType(type.get_element_type(), (DYNAMIC_INDEX,))
            if op.points_to is None:
                pointer = f"{name}.pointer"
                target = op.symbol.string_value()
                added = wse.BufferOp(pointer, MemRefType(i16, ())), wse.InitializeOp(pointer, 0, address_of=target)
                for new in added:
                    new.location = op.location
                pe.body.block.insert_ops_before(added, op)
                op.properties["symbol"] = SymbolRefAttr(pointer)
                op.properties["exported_as"] = StringAttr(name)
            op.properties["points_to"] = open_type
