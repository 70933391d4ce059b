"""The DSD operations: one builtin for each row of the table."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.ir import SSAValue

from ...csl import syntax
from ...dialects import dsd
from ...operations import dsd_table
from ...targets.wavelets import POINTER_EXTENT
from .. import emit, types
from ..descriptors import CircularDescriptor, FabricDescriptor, FifoDescriptor, MemoryDescriptor
from ..dsd_operands import element_type, format_of, materialize, scalar_at, scalar_operand
from ..evaluator import Evaluator
from ..places import Memory
from ..registry import Table, Where
from ..struct_fields import Fields
from ..types import Type
from ..values import Address, Value, boolean, is_ssa
from .asynchronous import asynchronous
from .dsds import moved_by
from .dsrs import emit_on_registers, register_operand

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
    destination = _operand(ev, arguments[0], row, None)
    accumulator = _accumulator(ev, arguments[0])
    sources = [
        _accumulated(ev, accumulator, argument, row, n) or _operand(ev, argument, row, n)
        for n, argument in enumerate(arguments[1:count])
    ]
    if len(sources) == 2 and row.name not in SCALARS_ALONE and not any(map(_is_descriptor, sources)):
        rule = f"the SDK's compiler requires a DSD or DSR among the sources of @{node.name}"
        ev.warn(node, f"{rule}; compute the number first and move it")
    ev.code.at(ev.source, node.start)
    registers = any(value.type.name.startswith("dsr.") for value in (destination, *sources))
    if registers:
        asked = want is not types.VOID and settings is None
        op: dsd.DsdOperation = emit_on_registers(ev, row, destination, sources, settings, index, asked, node)
    else:
        # Only a FIFO can stop an operation, and only a synchronous one.
        fifos = any(isinstance(value.type, dsd.FifoType) for value in (destination, *sources))
        asked = want is not types.VOID and settings is None and fifos
        fp16 = format_of(ev, row)
        op = dsd.OPERATIONS[row.name](
            destination, sources, index=index, asynchronous=settings, with_result=asked, fp16=fp16
        )
        ev.code(op)
    return boolean(True if op.result is None else op.result)


SCALARS_ALONE = frozenset(("fscaleh", "fscales"))
"""Operations with two sources that the manual gives scalars only."""


def _is_descriptor(value: SSAValue) -> bool:
    return value.type.name.startswith(("dsd.", "dsr."))


def _accumulator(ev: Evaluator, node: syntax.Expression) -> Address | None:
    """Return the variable a destination written `&variable` stands for."""
    with _as_written(ev, node) as written:
        if not isinstance(written, syntax.Unary) or written.operator != "&":
            return None
        target = ev.place(written.operand)
    return target.where if isinstance(target, Memory) else None


def _accumulated(
    ev: Evaluator, accumulator: Address | None, node: syntax.Expression, row: dsd_table.DsdOperation, source: int
) -> SSAValue | None:
    """Return a source that is the destination's variable: it is read again for every element, so that they add up."""
    if accumulator is None:
        return None
    with _as_written(ev, node) as written:
        if not isinstance(written, syntax.Name | syntax.Index | syntax.Field | syntax.Dereference):
            return None
        target = ev.place(written)
    if not isinstance(target, Memory) or target.where != accumulator or not emit.has_one_register(target.type):
        return None
    needed = element_type(ev, row.sources[source])
    if types.size(target.type) != types.size(needed):
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
    amount = moved_by(ev, value, node, "'.index'")
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


def _operand(ev: Evaluator, node: syntax.Expression, row: dsd_table.DsdOperation, source: int | None) -> SSAValue:
    """Return one operand of an operation: the destination, or a source by its position."""
    needed = element_type(ev, row.destination if source is None else row.sources[source])
    value = ev.expr(node, None if source is None else needed)
    data = value.data
    if isinstance(data, MemoryDescriptor | FabricDescriptor | FifoDescriptor | CircularDescriptor):
        return materialize(ev, data, needed, node)
    if isinstance(value.type, types.Register):
        return register_operand(ev, value, needed, node)
    noun = "the destination" if source is None else f"source {source + 1}"
    if isinstance(value.type, types.Pointer) and source is None:
        where = data if isinstance(data, Address) else Address(None, 0, 1, data)
        if not row.scalar_destination:
            ev.fail(node, f"{noun} of @{row.name} must be a DSD, not a pointer (DSD-072)")
        target = value.type.target
        if emit.has_one_register(target) and types.size(target) not in (2, 4):
            ev.fail(node, f"{noun} of @{row.name} has {8 * types.size(needed)} bits, but this points to a '{target}'")
        return scalar_at(ev, where, needed)
    if source is None:
        ev.fail(node, f"{noun} of @{row.name} is a DSD, a DSR or a pointer to a variable, not '{value.type}'")
    if source not in row.scalar_sources:
        ev.fail(node, f"{noun} of @{row.name} must be a DSD or DSR, not '{value.type}'")
    return scalar_operand(ev, value, needed, row, node)
