"""DSRs: registers that hold descriptors from one task to the next."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from xdsl.ir import SSAValue

from ...csl import syntax
from ...dialects import dsd, dsr
from ...operations import dsd_table
from .. import comptime_known, emit, types
from ..choices import each
from ..descriptors import (
    DESCRIPTORS,
    CircularDescriptor,
    FabricChoice,
    FabricDescriptor,
    FifoDescriptor,
    MemoryDescriptor,
)
from ..dsd_operands import format_of, materialize
from ..errors import UnknownDescriptor
from ..evaluator import Evaluator
from ..places import Memory
from ..registry import Table, Where
from ..struct_fields import Fields
from ..types import Type
from ..values import VOID, Value, is_members
from .asynchronous import asynchronous

TABLE = Table("DSRs, XDSRs and stride registers")


_ONLY_OF_PES = "registers belong in a PE's program, not in the layout"

FILES: dict[str, type[dsr.DescriptorRegisterType]] = {
    "dsr_dest": dsr.DestType,
    "dsr_src0": dsr.Src0Type,
    "dsr_src1": dsr.Src1Type,
}


FIFO_FILES = {"dsr_fifo_dest": "dsr_dest", "dsr_fifo_src1": "dsr_src1"}
"""The types of registers that hold a FIFO, each with the type of the register itself (DSR-011)."""


@TABLE.row("@get_dsr(type, number)", where=Where.PE, refusal=_ONLY_OF_PES, rules="DSR-017 to DSR-025")
def _get_dsr(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    file, number = node.arguments
    type = ev.type_of(file)
    if not isinstance(type, types.Register) or FIFO_FILES.get(type.name, type.name) not in FILES:
        known = ", ".join([*FILES, *FIFO_FILES])
        ev.fail(file, f"@get_dsr takes one of the types {known}, not '{type}' (DSR-019)")
    value = ev.expr(number)
    if isinstance(value.type, types.Register):
        plain = FIFO_FILES.get(type.name)
        if plain is None:
            ev.fail(node, f"a '{type}' takes a register number; only a FIFO register takes another DSR (DSR-023)")
        if value.type.name != plain:
            ev.fail(number, f"a '{type}' is a '{plain}', not a '{value.type}' (DSR-025)")
        return Value(type, value.data)
    file = FIFO_FILES.get(type.name, type.name)
    register = _numbered(ev, value, FILES[file], "DSR-022", number)
    ev.program.use(ev, file, register, node)
    return Value(type, register)


@TABLE.row("@get_xdsr(number)", where=Where.PE, refusal=_ONLY_OF_PES, rules="DSR-026 to DSR-028")
@TABLE.row("@get_sr(number)", where=Where.PE, refusal=_ONLY_OF_PES, since="2.10", rules="DSR-029 to DSR-031")
def _get_extension(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (number,) = node.arguments
    type, file, rule = (
        (types.XDSR, dsr.XdsrType, "DSR-028") if node.name == "get_xdsr" else (types.SR, dsr.SrType, "DSR-031")
    )
    return Value(type, _numbered(ev, ev.expr(number), file, rule, number))


def _numbered(ev: Evaluator, value: Value, file: type[dsr.RegisterType], rule: str, node: syntax.Node) -> int:
    """Return the number of a register, which the target must have."""
    if not types.is_integer(value.type):
        ev.fail(node, f"the number of a register is an integer, not a '{value.type}'")
    number = int(ev.data(value, node, "the number of a register"))
    size, target = file.file_size(ev.session.target), ev.session.target.name
    if not 0 <= number < size:
        ev.fail(node, f"{target} has no {file.file()} register {number}; they are 0 to {size - 1} ({rule})")
    return number


LOADS: dict[str, tuple[type[DESCRIPTORS], ...]] = {
    "load_to_dsr": (MemoryDescriptor, FabricDescriptor, FabricChoice),
    "load_to_dsr_xdsr": (CircularDescriptor,),
    "load_to_dsr_xdsr_sr": (MemoryDescriptor,),
}
"""The builtins that load registers, and what they load."""


@TABLE.row("@load_to_dsr(dsr, dsd[, config])", where=Where.PE, refusal=_ONLY_OF_PES, rules="DSR-032 to DSR-047")
@TABLE.row(
    "@load_to_dsr_xdsr(dsr, xdsr, dsd[, config])",
    where=Where.PE,
    refusal=_ONLY_OF_PES,
    since="2.10",
    rules="DSR-048 to DSR-052",
)
@TABLE.row(
    "@load_to_dsr_xdsr_sr(dsr, xdsr, srs, dsd[, config])",
    where=Where.PE,
    refusal=_ONLY_OF_PES,
    since="2.10",
    rules="DSR-053 to DSR-064",
)
def _load_to_dsr(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    extensions = node.name.count("_") - 2
    arguments = node.arguments
    register = ev.expr(arguments[0])
    if not isinstance(register.type, types.Register) or register.type.name not in FILES:
        noun = f"a value of type '{register.type}'"
        if register.type in (types.DSR_FIFO_DEST, types.DSR_FIFO_SRC1):
            noun += " (DSR-045): it always holds its FIFO"
        ev.fail(arguments[0], f"@{node.name} loads a DSR, not {noun}")
    number = int(ev.data(register, arguments[0], "a DSR"))
    xdsr, srs = _extensions(ev, arguments[1 : 1 + extensions])
    dsd_value, is_mem4d = _loadable(ev, node, arguments[1 + extensions])
    given = ev.expr(arguments[2 + extensions]) if len(arguments) > 2 + extensions else None

    def load(alternative: Value) -> Value:
        _load(ev, node, (register, number), xdsr, srs, alternative, is_mem4d, given)
        return VOID

    return each(ev, dsd_value, node, load)


def _load(
    ev: Evaluator,
    node: syntax.Builtin,
    destination: tuple[Value, int],
    xdsr: int | None,
    srs: list[int],
    dsd_value: Value,
    is_mem4d: bool,
    given: Value | None,
) -> None:
    """Load a DSD, which is not a choice, into a register, given as its value and number."""
    register, number = destination
    assert isinstance(register.type, types.Register)
    arguments, extensions = node.arguments, node.name.count("_") - 2
    data: Any = dsd_value.data
    if is_mem4d and node.name == "load_to_dsr":
        ev.warn(
            arguments[1],
            "only SDK 1.4 takes a mem4d_dsd in @load_to_dsr, and chooses the XDSR and stride registers; name them in "
            "@load_to_dsr_xdsr_sr for SDK 2.10 (DSR-043)",
        )
    name = register.type.name
    file = FILES[name]
    is_initial = ev.builder is None
    if isinstance(data, FabricDescriptor) and data.output != (file is dsr.DestType):
        kind, place, rule = (
            ("fabout_dsd", "a destination", "DSR-041, DSR-042") if data.output else ("fabin_dsd", "a source", "DSR-040")
        )
        files = "dsr_dest" if data.output else "dsr_src0 or dsr_src1"
        ev.fail(
            arguments[0],
            f"a {kind} is {place} and cannot be loaded into a '{register.type}'; load it into a {files} ({rule})",
        )

    def load() -> None:
        settings: dsd.AsyncAttr | None = None
        save_address = single_step = False
        if given is not None:
            where = arguments[2 + extensions]
            fields = Fields(ev, given, where, f"the configuration of @{node.name}")
            save_address, single_step = fields.flag("save_address"), fields.flag("single_step")
            settings = asynchronous(ev, fields, where)
            fields.end()
            _check_settings(ev, data, [settings is not None, save_address, single_step], where)
            if single_step and not is_initial:
                _step(ev, name, number, dsd_value, node)
        loaded = _with_own_color(ev, data, arguments[1 + extensions])
        element = types.I16 if _loaded_words(data) == 1 else types.F32
        value = materialize(ev, loaded, element, node, in_register=True)
        builder = ev.code
        builder.at(ev.source, node.start)
        strides: list[int | None] = [*srs]
        if node.name == "load_to_dsr_xdsr_sr":
            _check_stride_registers(ev, dsr.needed_stride_registers(value), len(srs), arguments[3], node)
        elif is_mem4d:
            # The pass that allocates registers chooses which.
            strides = [None] * dsr.needed_stride_registers(value)
        has_xdsr = xdsr is not None or is_mem4d
        builder(
            dsr.LoadOp(
                value,
                file.get(emit.scalar(element), number),
                xdsr=builder.value(dsr.GetXdsrOp(dsr.XdsrType.get(xdsr))) if has_xdsr else None,
                srs=[builder.value(dsr.GetSrOp(dsr.SrType.get(sr))) for sr in strides],
                asynchronous=settings,
                save_address=save_address,
                single_step=single_step,
            )
        )

    if ev.builder is not None:
        load()
    elif extensions and ev.frame.function is not None:
        rule = {1: "DSR-052", 2: "DSR-057"}[extensions]
        ev.fail(node, f"at compile time @{node.name} belongs in a comptime block of the file itself ({rule})")
    else:
        if given is not None and Fields(ev, given, node, f"the configuration of @{node.name}").flag("single_step"):
            _step(ev, name, number, dsd_value, node)
        # Tasks may be bound and queues be given their colors further down.
        ev.program.initial_loads.append((ev.frame.module, load))


def _step(ev: Evaluator, file: str, number: int, value: Value, node: syntax.Node) -> None:
    """Remember what a register is loaded with for @map, which reads it in memory (DSR-068)."""
    assert ev.pe is not None
    at_start = ev.builder is None
    type, where = ev.pe.step(ev, file, number, value.type, value if at_start else None, node)
    if type != value.type:
        ev.fail(
            node,
            f"'{file}' {number} is loaded with '.single_step' with a '{type}' elsewhere, and here with a "
            f"'{value.type}'; take another register for one of them",
        )
    if not at_start:
        Memory(where, type, const=False).store(ev, value, node)


def stepped(ev: Evaluator, value: Value, node: syntax.Expression) -> Value:
    """Return the DSD that a register loaded with `single_step` holds, for @map (DSR-068)."""
    assert isinstance(value.type, types.Register) and ev.pe is not None
    number = ev.data(value, node, "a DSR")
    found = ev.pe.stepped(value.type.name, number)
    if found is None:
        # A load may come in code that is emitted later.
        message = (
            f"@map needs '{value.type}' {number} to be loaded with '.single_step = true', which no load of it is "
            "(DSR-068)"
        )
        raise UnknownDescriptor(ev.error(node, message).diagnostics)
    type, where = found
    return Memory(where, type, const=True).load(ev, node)


def _check_settings(ev: Evaluator, data: DESCRIPTORS, given: list[bool], node: syntax.Node) -> None:
    """Check what a register is loaded with: asynchronous settings, `save_address` or `single_step`."""
    is_async, save_address, _ = given
    if sum(given) > 1:
        ev.fail(node, "a load has one of asynchronous settings, '.save_address' and '.single_step' (AMB-33)")
    if is_async and not isinstance(data, FabricDescriptor):
        ev.fail(node, "only a fabric DSD is loaded with '.async'; remove it from a load of memory (DSR-036)")
    if save_address and isinstance(data, FabricDescriptor):
        ev.fail(node, "only a memory DSD is loaded with '.save_address'; remove it from a fabric DSD (DSR-037)")


def _check_stride_registers(
    ev: Evaluator, needed: int, given: int, descriptor: syntax.Expression, node: syntax.Node
) -> None:
    """Check how many stride registers a mem4d DSD is loaded with (DSR-061 to DSR-064)."""
    most = dsr.MAX_STRIDE_REGISTERS
    unknown = comptime_known.reason(ev, descriptor) if ev.builder is not None else None
    if unknown is not None and given == most:
        return
    if given != needed:
        needed = needed if unknown is None else most
        ev.fail(node, f"this DSD needs {needed} stride registers, not {given}; give that many (DSR-062, DSR-064)")
    if unknown is not None:
        ev.warn(
            node,
            f"the SDK's compiler does not know this DSD at compile time and wants {most} stride registers (DSR-064): "
            f"{unknown}",
        )


def _extensions(ev: Evaluator, arguments: list[syntax.Expression]) -> tuple[int | None, list[int]]:
    """Return the numbers of the XDSR and of the stride registers that a load names."""
    if not arguments:
        return None, []
    xdsr = ev.expr(arguments[0])
    if xdsr.type is not types.XDSR:
        ev.fail(arguments[0], f"this must be an XDSR, made by @get_xdsr, not a value of type '{xdsr.type}'")
    number = int(ev.data(xdsr, arguments[0], "an XDSR"))
    if len(arguments) == 1:
        return number, []
    srs = ev.expr(arguments[1])
    members: tuple[Value, ...] = () if srs.type is types.VOID else srs.data if is_members(srs.data) else ()
    if any(member.type is not types.SR for member in members) or (
        srs.type is not types.VOID and (not isinstance(srs.type, types.Struct) or srs.type.names)
    ):
        ev.fail(arguments[1], "the stride registers must be a tuple of @get_sr values, such as .{ sr0, sr1 }")
    return number, [int(ev.data(member, arguments[1], "a stride register")) for member in members]


def _loadable(ev: Evaluator, node: syntax.Builtin, argument: syntax.Expression) -> tuple[Value, bool]:
    """Return the DSD that a builtin loads, of a kind that goes into its registers; and whether it is a mem4d."""
    value = ev.expr(argument)
    data = value.data
    is_wide = isinstance(data, MemoryDescriptor) and value.type is types.MEM4D
    if isinstance(data, LOADS[node.name]) and (is_wide or node.name != "load_to_dsr_xdsr_sr"):
        return value, is_wide
    match data:
        case CircularDescriptor():
            hint = "load it with @load_to_dsr_xdsr (DSR-044)"
        case MemoryDescriptor() | FabricDescriptor() | FabricChoice():
            hint = "load it with @load_to_dsr"
        case FifoDescriptor():
            hint = "name its registers in @allocate_fifo (DSR-071)"
        case _:
            hint = "load a DSD (DSR-034)"
    ev.fail(argument, f"@{node.name} does not take a value of type '{value.type}'; {hint}")


def _loaded_words(data: DESCRIPTORS) -> int:
    """Return the words of an element of what a register is loaded with.

    The width of wavelets is known to the operation alone: 32 bits, but for a SIMD mode, which packs values of 16 bits
    (DSD-239) and lets others be.
    """
    if isinstance(data, MemoryDescriptor | CircularDescriptor | FifoDescriptor):
        return data.unit
    assert isinstance(data, FabricDescriptor)
    return 1 if any(name == "simd" and mode != dsd.SimdMode.SIMD_OFF for name, mode in data.options) else 2


def _with_own_color(ev: Evaluator, data: Any, node: syntax.Node) -> Any:
    """Return what a register is loaded with: its queue has the color that @initialize_queue gives it, or none.

    The run reports what is sent or awaited on a queue without a color (AMB-34).
    """
    assert ev.pe is not None
    if not isinstance(data, FabricDescriptor) or data.queue is None or ev.pe.is_initialized(data.output, data.queue):
        return data
    if data.output and not ev.session.target.queues_keep_color:
        return data
    way, rule = ("output", "DSR-047") if data.output else ("input", "DSR-046")
    ev.pe.report_queue(data.output, data.queue)
    ev.warn(
        node,
        f"{way} queue {data.queue} is used through a DSR, and so must be given its color by @initialize_queue ({rule})",
    )
    return replace(data, color=None)


def register_operand(ev: Evaluator, value: Value, needed: Type, node: syntax.Node) -> SSAValue:
    """Return a register as an operand of an operation."""
    assert isinstance(value.type, types.Register)
    number = ev.data(value, node, "a DSR")
    plain = FIFO_FILES.get(value.type.name)
    file = FILES.get(plain or value.type.name)
    if file is None:
        ev.fail(node, f"an operation takes a DSR, not a value of type '{value.type}'")
    register = file.get(emit.scalar(needed), number)
    return ev.code.value(dsr.GetDsrOp(register, fifo=plain is not None))


def emit_on_registers(
    ev: Evaluator,
    row: dsd_table.DsdOperation,
    destination: SSAValue,
    sources: list[SSAValue],
    settings: dsd.AsyncAttr | None,
    index: SSAValue | None,
    asked: bool,
    node: syntax.Node,
) -> dsd.DsdOperation:
    """Emit an operation some operands of which are registers; descriptors among them are loaded first.

    `asked` says that its result is wanted.
    """
    builder = ev.code
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
                dsr.LoadOp(value, file.get(element), asynchronous=settings if on_fabric else None, implicit=True)
                if not dsr.needs_xdsr(value.type)
                else _extended(ev, value, file)
            )
        )
    fp16 = format_of(ev, row)
    op = dsr.OPERATIONS[row.name](
        operands[0], operands[1:], index=index, asynchronous=settings, with_result=asked, fp16=fp16
    )
    builder(op)
    return op


def _extended(ev: Evaluator, value: SSAValue, file: type[dsr.DescriptorRegisterType]) -> dsr.LoadOp:
    builder = ev.code
    xdsr = builder.value(dsr.GetXdsrOp(dsr.XdsrType.get()))
    srs = [builder.value(dsr.GetSrOp(dsr.SrType.get())) for _ in range(dsr.needed_stride_registers(value))]
    element = cast(dsd.DescriptorType, value.type).element_type
    extra = srs if isinstance(value.type, dsd.Mem4dType) else []
    return dsr.LoadOp(value, file.get(element), xdsr=xdsr, srs=extra, implicit=True)
