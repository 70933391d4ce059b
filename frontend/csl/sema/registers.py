"""DSRs: registers that hold descriptors from one task to the next."""

from __future__ import annotations

from typing import cast

from xdsl.ir import SSAValue

from ....dialects import dsd, dsd_table, dsr
from .. import syntax
from . import emit, types
from .core import Evaluator, builtin
from .descriptors import CircularDescriptor, FabricDescriptor, FifoDescriptor, MemoryDescriptor
from .operations import Fields, asynchronous, expect, materialize
from .types import Type
from .values import VOID, Value

FILES: dict[str, type[dsr.DescriptorRegisterType]] = {
    "dsr_dest": dsr.DestType,
    "dsr_src0": dsr.Src0Type,
    "dsr_src1": dsr.Src1Type,
}


@builtin("@get_dsr")
def _get_dsr(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    file, number = expect(ev, node, 2)
    type = ev.type_of(file)
    if not isinstance(type, types.Register):
        ev.fail(file, f"@get_dsr takes dsr_dest, dsr_src0 or dsr_src1, not '{type}'")
    id = ev.integer(number, "the number of a DSR")
    size = FILES[type.name].file_size(ev.session.target)
    if not 0 <= id < size:
        ev.fail(number, f"there is no {type} {id} on {ev.session.target.name}; they are 0 to {size - 1} (DSR-022)")
    return Value(type, id)


@builtin("@load_to_dsr")
def _load_to_dsr(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = expect(ev, node, 2, 3)
    register, descriptor = ev.expr(arguments[0]), ev.expr(arguments[1])
    if not isinstance(register.type, types.Register):
        ev.fail(arguments[0], f"@load_to_dsr loads a DSR, not a value of type '{register.type}'")
    data = descriptor.data
    if not isinstance(data, MemoryDescriptor | FabricDescriptor | CircularDescriptor | FifoDescriptor):
        ev.fail(arguments[1], f"@load_to_dsr takes a DSD, not a value of type '{descriptor.type}'")
    if ev.builder is None:
        ev.fail(node, "loading a DSR at compile time is not supported yet; load it when the program starts")
    settings: dsd.AsyncAttr | None = None
    save_address = single_step = False
    if len(arguments) == 3:
        fields = Fields(ev, ev.expr(arguments[2]), arguments[2], "the configuration of @load_to_dsr")
        save_address, single_step = fields.flag("save_address"), fields.flag("single_step")
        settings = asynchronous(ev, fields, arguments[2])
        fields.end()
    number = ev.data(register, arguments[0], "a DSR")
    # A wavelet's width is known to the operation only; 32 bits unless the memory says otherwise.
    width = data.unit if not isinstance(data, FabricDescriptor) else 2
    element = types.F32 if width == 2 else types.I16
    value = materialize(ev, data, element, node, in_register=True)
    ev.builder.at(ev.source, node.start)
    _load(ev, value, FILES[register.type.name], element, number, settings, save_address, single_step)
    return VOID


def _load(
    ev: Evaluator,
    descriptor: SSAValue,
    file: type[dsr.DescriptorRegisterType],
    element: Type,
    number: int | None = None,
    settings: dsd.AsyncAttr | None = None,
    save_address: bool = False,
    single_step: bool = False,
) -> SSAValue:
    """Emits the load of a register, with what else its descriptor needs."""
    builder = ev.builder
    assert builder is not None
    xdsr = None
    srs: list[SSAValue] = []
    if dsr.needs_xdsr(descriptor.type):
        xdsr = builder.value(dsr.GetXdsrOp(dsr.XdsrType.get()))
        if isinstance(descriptor.type, dsd.Mem4dType):
            srs = [builder.value(dsr.GetSrOp(dsr.SrType.get())) for _ in range(dsr.needed_stride_registers(descriptor))]
    return builder.value(
        dsr.LoadOp(
            descriptor,
            file.get(emit.scalar(element), number),
            xdsr=xdsr,
            srs=srs,
            asynchronous=settings,
            save_address=save_address,
            single_step=single_step,
        )
    )


def operand(ev: Evaluator, value: Value, needed: Type, source: int | None, node: syntax.Node) -> SSAValue:
    """A register as an operand of an operation."""
    assert ev.builder is not None and isinstance(value.type, types.Register)
    number = ev.data(value, node, "a DSR")
    register = FILES[value.type.name].get(emit.scalar(needed), number)
    return ev.builder.value(dsr.GetDsrOp(register))


def apply(
    ev: Evaluator,
    row: dsd_table.DsdOperation,
    destination: SSAValue,
    sources: list[SSAValue],
    settings: dsd.AsyncAttr | None,
    index: SSAValue | None,
    asked: bool,
    node: syntax.Node,
) -> dsd.DsdOperation:
    """Emits an operation some operands of which are registers; descriptors among them are loaded first.

    `asked` says that its result is wanted.
    """
    builder = ev.builder
    assert builder is not None
    taken = {type(value.type) for value in (destination, *sources) if isinstance(value.type, dsr.RegisterType)}
    operands: list[SSAValue] = []
    for position, value in enumerate((destination, *sources)):
        if not isinstance(value.type, dsd.DescriptorType):
            operands.append(value)
            continue
        files: list[type[dsr.DescriptorRegisterType]] = (
            [dsr.DestType] if position == 0 else [dsr.Src0Type, dsr.Src1Type]
        )
        if position > 0 and isinstance(value.type, dsd.FifoType):
            files = [dsr.Src1Type]
        file = next((file for file in files if position == 0 or file not in taken), files[-1])
        taken.add(file)
        on_fabric = isinstance(value.type, dsd.FabricDescriptorType)
        element = cast(dsd.DescriptorType, value.type).element_type
        operands.append(
            builder.value(
                dsr.LoadOp(value, file.get(element), asynchronous=settings if on_fabric else None)
                if not dsr.needs_xdsr(value.type)
                else _extended(ev, value, file)
            )
        )
    op = dsr.OPERATIONS[row.name](operands[0], operands[1:], index=index, asynchronous=settings, with_result=asked)
    builder(op)
    return op


def _extended(ev: Evaluator, value: SSAValue, file: type[dsr.DescriptorRegisterType]) -> dsr.LoadOp:
    builder = ev.builder
    assert builder is not None
    xdsr = builder.value(dsr.GetXdsrOp(dsr.XdsrType.get()))
    srs = [builder.value(dsr.GetSrOp(dsr.SrType.get())) for _ in range(dsr.needed_stride_registers(value))]
    element = cast(dsd.DescriptorType, value.type).element_type
    return dsr.LoadOp(value, file.get(element), xdsr=xdsr, srs=srs if isinstance(value.type, dsd.Mem4dType) else [])


__all__ = ["apply", "operand"]
