"""Builtins of FIFOs."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import IntegerAttr, StringAttr, SymbolRefAttr, i64
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from ...csl import syntax
from ...dialects import dsd, wse
from ...dialects.machine.fifos import verify_fifo_actions
from .. import types
from ..descriptors import FifoDescriptor
from ..dsd_operands import field
from ..evaluator import Evaluator
from ..pe import location
from ..registry import Table, Where
from ..struct_fields import Fields, one_of
from ..types import Type
from ..values import VOID, Value
from .asynchronous import symbol_of_completion
from .dsds import element_words, word

TABLE = Table("FIFOs")


@TABLE.row(
    "@allocate_fifo(array[, config])",
    where=Where.GLOBAL,
    refusal="a FIFO exists for the whole program; make it a global: const fifo = @allocate_fifo(...) (DSD-113)",
    rules="DSD-111 to DSD-126",
)
def _allocate_fifo(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = node.arguments
    if ev.pe is None:
        ev.fail(node, "FIFOs belong in a PE's program, not in the layout")
    target = ev.place(arguments[0])
    type = target.type
    is_const = type.const if isinstance(type, types.Pointer) else target.is_const
    if isinstance(type, types.Pointer):
        where = target.load(ev, arguments[0]).data
        type = type.target
    else:
        where = target.address(ev, arguments[0])
    if not isinstance(type, types.Array) or where.buffer is None or where.offset != 0:
        ev.fail(arguments[0], f"a FIFO needs an array as its buffer, not a '{type}'")
    if is_const:
        ev.fail(arguments[0], "a FIFO writes to its array; declare the array with 'var'")
    _check_alignment(ev, arguments[0])
    unit = element_words(ev, type.element, arguments[0])
    options: dict[str, Attribute] = {}
    if len(arguments) == 2:
        options = _fifo_options(ev, arguments[1])
    symbol = ev.pe.unique(_name(ev, node) or f"{where.buffer.symbol}.fifo")
    for name in ("register", "xdsr") if "register" in options else ():
        if any(other.properties.get(name) == options[name] for other in ev.pe.fifos):
            number = cast(IntegerAttr, options[name]).value.data
            file = "DSR" if name == "register" else "XDSR"
            ev.fail(arguments[1], f"another FIFO has {file} {number}; give each its own (DSR-075)")
    op = wse.FifoOp(symbol, where.buffer.symbol, options=options)
    op.location = location(ev.source, node)
    ev.pe.fifos.append(op)
    return Value(types.FIFO, FifoDescriptor(symbol, unit))


def _name(ev: Evaluator, node: syntax.Builtin) -> str | None:
    """Return the name of the global that a call is in the initializer of."""
    module = ev.frame.module
    for found in module.globals.values():
        value = found.node.value if isinstance(found.node, syntax.Variable) else None
        if value is not None and value.start <= node.start < value.end:
            return module.symbol(found.node.name)
    return None


def _check_alignment(ev: Evaluator, node: syntax.Expression) -> None:
    """Check the alignment that a buffer is given; warn of one that another module defines (DSD-118 to DSD-120)."""
    named = node.operand if isinstance(node, syntax.Unary) and node.operator == "&" else node
    found = ev.frame.module.globals.get(named.name) if isinstance(named, syntax.Name) else None
    if found is None or not isinstance(found.node, syntax.Variable):
        return
    needed, name = ev.session.target.fifo_alignment, found.node.name
    if found.node.alignment is not None:
        alignment = ev.integer(found.node.alignment, "an alignment")
        if alignment < needed:
            rule = f"but a FIFO needs {needed}; declare it align({needed}) (DSD-118)"
            ev.fail(node, f"'{name}' has an alignment of {alignment} bytes, {rule}")
    elif found.node.storage == "extern":
        ev.warn(
            node,
            f"the definition of '{name}' needs an alignment of {needed} bytes for a FIFO; say "
            f"align({needed}) there, and here",
        )


def _fifo_options(ev: Evaluator, node: syntax.Expression) -> dict[str, Attribute]:
    """Return the configuration of a FIFO, as properties of its operation."""
    fields = Fields(ev, ev.expr(node), node, "a FIFO's configuration")
    options: dict[str, Attribute] = {}
    actions = [fields.choice(name) for name in ("empty_action", "full_action")]
    empty, full = (None if action is None else StringAttr(action) for action in actions)
    try:
        verify_fifo_actions(empty, full, ev.session.target)
    except VerifyException as error:
        ev.fail(node, str(error))
    for name, action in (("empty_action", empty), ("full_action", full)):
        if action is not None:
            options[name] = action
    for name in ("activate_push", "activate_pop"):
        task = symbol_of_completion(ev, fields, name, node)
        if task is not None:
            options[name] = SymbolRefAttr(task)
    options |= _fifo_registers(ev, fields, node)
    priority, simd = fields.choice("priority"), fields.choice("simd_mode")
    if priority is not None:
        options["priority"] = StringAttr(one_of(ev, dsd.Priority, priority, "priority", node))
    if simd is not None:
        options["simd"] = StringAttr(one_of(ev, dsd.SimdMode, simd, "simd_mode", node))
    for name, given, on_wse2 in (("priority", priority, False), ("simd_mode", simd, True)):
        if given is not None and ev.session.target.operation_priority != on_wse2:
            rule = "there the operation has it (DSD-229)" if name == "priority" else "fabric DSDs have it (DSD-244)"
            ev.fail(node, f"'.{name}' of a FIFO does not exist on {ev.session.target.name}; {rule}")
    fields.end()
    return options


def _fifo_registers(ev: Evaluator, fields: Fields, node: syntax.Expression) -> dict[str, Attribute]:
    """Return the registers that are to hold a FIFO."""
    found: dict[str, int] = {}
    for name, type in (("dest", types.DSR_DEST), ("src", types.DSR_SRC1), ("xdsr", types.XDSR)):
        value = fields.take(name)
        if value is None:
            continue
        if value.type is not type:
            ev.fail(node, f"field '.{name}' is a '{type}', not a '{value.type}' (DSR-072)")
        found[name] = int(ev.data(value, node, f"field '.{name}'"))
    if not found:
        return {}
    if len(found) < 3:
        ev.fail(node, "a FIFO is given '.dest', '.src' and '.xdsr' together, or none of them (DSR-073)")
    if found["dest"] != found["src"]:
        ev.fail(
            node,
            f"'.dest' is register {found['dest']} and '.src' {found['src']}; both must have the same number (DSR-074)",
        )
    return {"register": IntegerAttr(found["dest"], i64), "xdsr": IntegerAttr(found["xdsr"], i64)}


@TABLE.row(
    "@set_fifo_read_length(fifo, length)",
    "@set_fifo_write_length(fifo, length)",
    where=Where.RUN_TIME,
    refusal="{name} changes the FIFO at run time; it cannot be called in a comptime block (DSD-156)",
    rules="DSD-150 to DSD-158",
)
def _set_fifo_length(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = node.arguments
    fifo, length = ev.expr(arguments[0]), ev.expr(arguments[1], types.U16)
    if not isinstance(fifo.data, FifoDescriptor):
        ev.fail(
            arguments[0],
            f"@{node.name} sets a length of a FIFO known at compile time, not of a '{fifo.type}' (DSD-152)",
        )
    length = ev.coerce(length, types.U16, arguments[1])
    ev.code.at(ev.source, node.start)
    side = "read" if node.name == "set_fifo_read_length" else "write"
    ev.code(dsd.SetFifoLengthOp(fifo.data.symbol, side, field(ev, word(ev, length, arguments[1], "a length"))))
    return VOID
