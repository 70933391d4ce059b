"""The DSD operations: one builtin for each row of the table."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from ...csl import syntax
from ...dialects import dsd
from ...operations import dsd_table
from ...targets.wavelets import POINTER_EXTENT
from .. import emit, types
from ..choices import Operands, for_each
from ..descriptors import CircularDescriptor, FabricDescriptor, FifoDescriptor, MemoryDescriptor
from ..dsd_operands import element_type, format_of, materialize, scalar_at, scalar_operand
from ..evaluator import Evaluator
from ..places import Memory
from ..registry import Table, Where
from ..struct_fields import Fields
from ..types import Type
from ..values import VOID, Address, Value, boolean, is_ssa
from .asynchronous import asynchronous
from .dsds import word
from .dsrs import FIFO_FILES, emit_on_registers, register_operand
from .type_facts import warn_program

TABLE = Table("DSD operations")


def _operation(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """Return a builtin of the table of DSD operations."""
    row = dsd_table.OPERATIONS[node.name]
    count = 1 + len(row.sources)
    arguments = node.arguments
    settings: dsd.AsyncAttr | None = None
    index: SSAValue | None = None
    if len(arguments) > count:
        fields = Fields(ev, ev.expr(arguments[count]), arguments[count], f"the configuration of @{node.name}")
        wanted = fields.take("index")
        if wanted is not None:
            index = _index_operand(ev, wanted, arguments[count])
        settings = asynchronous(ev, fields, arguments[count])
        fields.end()

    def emit(operands: Operands) -> Value:
        return _emitted(ev, node, row, operands, settings, index, is_wanted=want is not types.VOID)

    return for_each(ev, node, emit)


def _emitted(
    ev: Evaluator,
    node: syntax.Builtin,
    row: dsd_table.DsdOperation,
    operands: Operands,
    settings: dsd.AsyncAttr | None,
    index: SSAValue | None,
    *,
    is_wanted: bool,
) -> Value:
    """Emit an operation on operands none of which is a choice; return True if it ended as it should."""
    arguments, count = node.arguments, 1 + len(row.sources)
    destination = _operand(ev, operands, arguments[0], row, None)
    accumulator = _accumulator(ev, arguments[0])
    if row.name == "faddhs":
        sources = _mixed_sources(ev, operands, arguments, row, accumulator, to_number=not _is_descriptor(destination))
    else:
        sources = [
            _accumulated(ev, accumulator, argument, row, n) or _operand(ev, operands, argument, row, n)
            for n, argument in enumerate(arguments[1:count])
        ]
    if len(sources) == 2 and row.name not in SCALARS_ALONE and not any(map(_is_descriptor, sources)):
        rule = f"the SDK's compiler requires a DSD or DSR among the sources of @{node.name}"
        ev.warn(node, f"{rule}; compute the number first and move it")
    ev.code.at(ev.source, node.start)
    registers = any(value.type.name.startswith("dsr.") for value in (destination, *sources))
    if registers:
        asked = is_wanted and settings is None
        op: dsd.DsdOperation = emit_on_registers(ev, row, destination, sources, settings, index, asked, node)
        _verify(ev, op, node)
    else:
        # Only a FIFO can stop an operation, and only a synchronous one.
        fifos = any(isinstance(value.type, dsd.FifoType) for value in (destination, *sources))
        asked = is_wanted and settings is None and fifos
        fp16 = format_of(ev, row)
        op = dsd.OPERATIONS[row.name](
            destination, sources, index=index, asynchronous=settings, with_result=asked, fp16=fp16
        )
        _verify(ev, op, node)
        ev.code(op)
    return boolean(True if op.result is None else op.result)


def _verify(ev: Evaluator, op: dsd.DsdOperation, node: syntax.Builtin) -> None:
    """Report at the call what an operation may not do by itself or on this machine."""
    try:
        op.verify_use()
        op.verify_target(ev.session.target)
    except VerifyException as error:
        ev.fail(node, str(error).replace(op.definition.name, f"@{op.definition.name}", 1))


SCALARS_ALONE = frozenset(("fscaleh", "fscales"))
"""Operations with two sources that the manual gives scalars only."""


@TABLE.row(
    "@dfilt(dsd, config)",
    where=Where.RUN_TIME,
    refusal="{name} works on the fabric, which does not exist at compile time",
)
def _dfilt(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """Drop the data wavelets of a queue until as many control wavelets have come as the extent of a DSD says.

    It is a `mov32` that stores nothing, so its destination is never looked at.
    """
    row, (argument, config) = dsd_table.OPERATIONS["mov32"], node.arguments
    fields = Fields(ev, ev.expr(config), config, "the configuration of @dfilt")
    for name in ("on_control", "index"):
        if fields.take(name) is not None:
            ev.fail(config, f"@dfilt does not support '.{name}'; leave it out")
    settings = asynchronous(ev, fields, config)
    fields.end()
    if settings is None:
        ev.fail(config, "@dfilt needs '.async = true' in its configuration")

    def emit(operands: Operands) -> Value:
        _drop(ev, node, row, operands.expr(argument), settings)
        return VOID

    return for_each(ev, node, emit)


def _drop(
    ev: Evaluator, node: syntax.Builtin, row: dsd_table.DsdOperation, value: Value, settings: dsd.AsyncAttr
) -> None:
    argument = node.arguments[0]
    is_register = isinstance(value.type, types.Register) and value.type.name == "dsr_src1"
    if not is_register and (not isinstance(value.data, FabricDescriptor) or value.type is not types.FABIN):
        ev.fail(argument, f"@dfilt takes a fabin_dsd, or a dsr_src1 that holds one, not a value of type '{value.type}'")
    source = _given(ev, value, argument, row, 0)
    ev.code.at(ev.source, node.start)
    destination = scalar_at(ev, Address(None, 0, 1, 0), types.U32)
    if is_register:
        op = emit_on_registers(ev, row, destination, [source], settings, None, False, node)
        op.properties["drops_data"] = UnitAttr()
    else:
        ev.code(dsd.OPERATIONS["mov32"](destination, [source], asynchronous=settings, drops_data=True))


def _is_descriptor(value: SSAValue) -> bool:
    return value.type.name.startswith(("dsd.", "dsr."))


def _accumulator(ev: Evaluator, node: syntax.Expression) -> Address | None:
    """Return the variable a destination written `&variable` stands for."""
    with _as_written(ev, node) as written:
        if not isinstance(written, syntax.Unary) or written.operator != "&":
            return None
        target = ev.place(written.operand)
    return target.where if isinstance(target, Memory) else None


def _mixed_sources(
    ev: Evaluator,
    operands: Operands,
    arguments: list[syntax.Expression],
    row: dsd_table.DsdOperation,
    accumulator: Address | None,
    *,
    to_number: bool,
) -> list[SSAValue]:
    """Return the f16 and the f32 that an operation adds, whichever the program writes first.

    Types tell them apart, those of the arrays of DSDs included. Where they do not, a number is the f16, or the f32 if
    a number is the destination, as the manual has it; of two DSDs the first is the f16.
    """
    nodes = arguments[1:3]
    added = [_is_accumulator(ev, accumulator, node) for node in nodes]
    values = [None if type is not None else operands.expr(node) for node, type in zip(nodes, added, strict=True)]
    bits = [
        8 * types.size(type) if type is not None else _bits(value) for type, value in zip(added, values, strict=True)
    ]
    if bits[0] != bits[1]:
        is_swapped = bits[0] == 32 or bits[1] == 16
    else:
        numbers = [n for n, value in enumerate(values) if value is None or types.is_numeric(value.type)]
        is_swapped = numbers == [0 if to_number else 1]
    sources: list[SSAValue] = []
    for source, n in enumerate((1, 0) if is_swapped else (0, 1)):
        value = values[n]
        operand = _accumulated(ev, accumulator, nodes[n], row, source) if value is None else None
        if operand is None:
            operand = _given(ev, operands.expr(nodes[n]) if value is None else value, nodes[n], row, source)
        sources.append(operand)
    return sources


def _bits(value: Value | None) -> int | None:
    """Return the width of a number, or of the elements of a DSD over memory; None if its type does not say."""
    if value is None:
        return None
    if isinstance(value.data, MemoryDescriptor | CircularDescriptor):
        return 16 * value.data.unit
    return value.type.bits if isinstance(value.type, types.Float) else None


def _is_accumulator(ev: Evaluator, accumulator: Address | None, node: syntax.Expression) -> Type | None:
    """Return the type of a source that is the destination's variable, None if it is another."""
    if accumulator is None:
        return None
    with _as_written(ev, node) as written:
        if not isinstance(written, syntax.Name | syntax.Index | syntax.Field | syntax.Dereference):
            return None
        target = ev.place(written)
    if not isinstance(target, Memory) or target.where != accumulator or not emit.has_one_register(target.type):
        return None
    return target.type


def _accumulated(
    ev: Evaluator, accumulator: Address | None, node: syntax.Expression, row: dsd_table.DsdOperation, source: int
) -> SSAValue | None:
    """Return a source that is the destination's variable: it is read again for every element, so that they add up."""
    if source in row.scalar_only:
        return None
    type = _is_accumulator(ev, accumulator, node)
    needed = element_type(ev, row.sources[source])
    if accumulator is None or type is None or types.size(type) != types.size(needed):
        return None
    everywhere = MemoryDescriptor(accumulator, (0,), (POINTER_EXTENT,), types.size(needed) // 2)
    return materialize(ev, everywhere, needed, node)


@contextmanager
def _as_written(ev: Evaluator, node: syntax.Expression) -> Generator[syntax.Expression]:
    """Yield an operand as the program writes it, to be evaluated there: a library may hand on its parameters."""
    frame = ev.frame
    if frame.written is None or frame.function is None or not isinstance(node, syntax.Name):
        yield node
        return
    caller, arguments = frame.written
    positions = {parameter.name: position for position, parameter in enumerate(frame.function.parameters)}
    position = positions.get(node.name)
    if position is None:
        yield node
        return
    ev.frame = caller
    try:
        yield arguments[position]
    finally:
        ev.frame = frame


def _index_operand(ev: Evaluator, value: Value, node: syntax.Node) -> SSAValue:
    amount = word(ev, ev.coerce(value, types.U16, node), node, "'.index'")
    return amount if is_ssa(amount) else ev.code.constant(types.I16, amount)


def _declare() -> None:
    """Declare the operations of the table, those with the same number of sources in one row."""
    by_sources: dict[int, list[str]] = {}
    for name, row in dsd_table.OPERATIONS.items():
        by_sources.setdefault(len(row.sources), []).append(name)
    for count, names in sorted(by_sources.items()):
        sources = ["source"] if count == 1 else [f"source{number + 1}" for number in range(count)]
        arguments = ", ".join(["destination", *sources])
        TABLE.row(
            *(f"@{name}({arguments}[, config])" for name in names),
            where=Where.RUN_TIME,
            refusal="{name} works on memory and the fabric, which do not exist at compile time",
            rules="DSD-072, DSD-073, DSD-180 to DSD-196",
        )(_operation)


_declare()


def _operand(
    ev: Evaluator, operands: Operands, node: syntax.Expression, row: dsd_table.DsdOperation, source: int | None
) -> SSAValue:
    """Return one operand of an operation: the destination, or a source by its position."""
    needed = element_type(ev, row.destination if source is None else row.sources[source])
    return _given(ev, operands.expr(node, None if source is None else needed), node, row, source)


def _check_width(
    ev: Evaluator, element: Type, needed: Type, row: dsd_table.DsdOperation, node: syntax.Expression
) -> None:
    """Warn of a DSD over elements of another width than the operation has, as the program wrote it."""
    is_written = not ev.frame.module.is_library or ev.frame.written is not None
    if types.size(element) != types.size(needed) and is_written and not ev.is_checking:
        warn_program(
            ev,
            node,
            f"@{row.name} takes this DSD as one over '{needed}', but its array has elements of type '{element}'; if "
            "that is meant, convert its pointer with @ptrcast",
        )


def _given(
    ev: Evaluator, value: Value, node: syntax.Expression, row: dsd_table.DsdOperation, source: int | None
) -> SSAValue:
    """Return the operand that a value makes."""
    needed = element_type(ev, row.destination if source is None else row.sources[source])
    data = value.data
    noun = "the destination" if source is None else f"source {source + 1}"
    if isinstance(data, FabricDescriptor) and data.output != (source is None):
        rule = "wavelets are sent to a fabout_dsd" if source is None else "wavelets are received from a fabin_dsd"
        ev.fail(node, f"{noun} of @{row.name} is a '{value.type}', but {rule} (DSD-102)")
    if isinstance(data, MemoryDescriptor | FabricDescriptor | FifoDescriptor | CircularDescriptor):
        if isinstance(data, MemoryDescriptor) and data.element is not None:
            _check_width(ev, data.element, needed, row, node)
        return materialize(ev, data, needed, node)
    if isinstance(value.type, types.Register):
        if FIFO_FILES.get(value.type.name, value.type.name) == ("dsr_src1" if source is None else "dsr_dest"):
            rule = "sources only; use a dsr_dest or dsr_src0 (DSR-010)"
            if source is not None:
                rule = "destinations only; use a dsr_src0 or dsr_src1 (DSR-008)"
            ev.fail(node, f"{noun} of @{row.name} is a '{value.type}', which holds {rule}")
        return register_operand(ev, value, needed, node)
    if isinstance(value.type, types.Pointer) and source is None:
        where = data if isinstance(data, Address) else Address(None, 0, 1, data)
        if not row.scalar_destination:
            ev.fail(node, f"{noun} of @{row.name} must be a DSD, not a pointer (DSD-072)")
        target = value.type.target
        if emit.has_one_register(target) and types.size(target) not in (2, 4):
            ev.fail(node, f"{noun} of @{row.name} has {8 * types.size(needed)} bits, but this points to a '{target}'")
        return scalar_at(ev, where, needed)
    if source is None:
        advice = "; write '&' before the variable" if types.is_integer(value.type) or types.is_float(value.type) else ""
        ev.fail(node, f"{noun} of @{row.name} is a DSD, a DSR or a pointer to a variable, not '{value.type}'{advice}")
    if source not in row.scalar_sources:
        ev.fail(node, f"{noun} of @{row.name} must be a DSD or DSR, not '{value.type}'")
    return scalar_operand(ev, value, needed, row, node)
