"""Pass `dsr-allocate`: descriptors are loaded into registers, and DSD operations work on those."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from .. import targets
from ..diagnostics import LoomError, location_of
from ..dialects import dsd, dsr, wse
from ..dialects.traversal import walk
from ..verification import verify_dominance
from .analysis.liveness import Demand, File, Load, OutOfRegisters, Plan, Register, plan_registers
from .pe_program import described, pe_programs, skeleton_of

_FILES: dict[File, type[dsr.RegisterType]] = {
    "dest": dsr.DestType,
    "src0": dsr.Src0Type,
    "src1": dsr.Src1Type,
    "xdsr": dsr.XdsrType,
    "sr": dsr.SrType,
}


@dataclass(frozen=True)
class DsrAllocatePass(ModulePass):
    """Turns the DSD operations on descriptors into operations on allocated registers, with the loads they need.

    The destination goes into a dest register, the first source into a src0, the second into a src1 (DSR-001,
    DSR-002); a mem4d also takes an XDSR and its stride registers (DSR-005, DSR-061, DSR-064). The descriptors
    themselves remain, as what is loaded. A load is left out where the register still holds the descriptor, and
    stands before a loop that does not change it. An asynchronous operation keeps its registers until it has ended;
    its settings move to the loads of its fabric operands (DSD-182, DSD-194).

    Registers that the program names itself are left alone, those it leaves open are numbered. A file with too few
    registers is an error that names what is live.
    """

    name = "dsr-allocate"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for pe in pe_programs(op):
            _allocate(pe)
        for inner in walk(op):
            if isinstance(inner, dsd.DescriptorOperation):
                raise LoomError(f"{described(inner)} is left on descriptors; it stands outside any program", None)
        verify_dominance(op)


def _allocate(pe: wse.PeOp) -> None:
    target = targets.get(pe.program.target.data)
    sizes: dict[File, int] = {file: type.file_size(target) for file, type in _FILES.items()}
    reserved = _number_open_registers(pe, sizes)
    operations = [op for op in walk(pe) if isinstance(op, dsd.DescriptorOperation)]
    demands = {op: [demand for _, demand in _demands(op)] for op in operations}
    microthreads = {
        op: op.settings.microthread
        for op in operations
        if op.settings is not None and op.settings.microthread is not None
    }
    try:
        plan = plan_registers(
            skeleton_of(pe), demands, sizes, reserved=reserved, is_invariant=_is_invariant, microthreads=microthreads
        )
    except OutOfRegisters as error:
        needing = cast(dsd.DsdOperation, error.operation)
        holding = ", ".join(described(cast(dsd.DsdOperation, op)) for op in error.live)
        message = f"{target.name} has {sizes[error.file]} {error.file} registers, too few for {described(needing)}" + (
            f" while these hold theirs: {holding}; let one of them end first" if holding else ""
        )
        raise LoomError(message, location_of(needing)) from None
    _write(operations, plan)


def _demands(op: dsd.DescriptorOperation) -> Iterator[tuple[SSAValue, Demand]]:
    """The operands that are descriptors, with what each needs."""
    for position, operand in enumerate(op.table_operands):
        type = operand.type
        if not isinstance(type, dsd.DescriptorType):
            continue
        file: File = "dest" if position == 0 else "src0" if position == 1 else "src1"
        if position == 1 and isinstance(type, dsd.FifoType):
            file = "src1"  # The only source file that holds FIFOs (DSR-011).
        strides = dsr.needed_stride_registers(operand) if isinstance(type, dsd.Mem4dType) else 0
        yield operand, Demand(operand, file, dsr.needs_xdsr(type), strides)


def _is_invariant(loop: object, descriptor: object) -> bool:
    """Whether a descriptor is made outside a loop."""
    owner = cast(SSAValue, descriptor).owner
    parent = owner.parent_op() if isinstance(owner, Block) else owner
    while parent is not None:
        if parent is loop:
            return False
        parent = parent.parent_op()
    return True


def _write(operations: list[dsd.DescriptorOperation], plan: Plan) -> None:
    """Insert the loads and put every operation on its registers."""
    reader: dict[Load, dsd.DescriptorOperation] = {}
    for op in operations:
        for position, _ in enumerate(_demands(op)):
            reader.setdefault(plan.operands[op, position], op)
    values: dict[Load, SSAValue] = {}
    for load in plan.loads:
        op = reader[load]
        descriptor = cast(SSAValue, load.demand.descriptor)
        type = cast(dsd.DescriptorType, descriptor.type)
        (file, number), *extensions = load.registers
        gets = [_get(register) for register in extensions]
        extras = [get.results[0] for get in gets]
        new = dsr.LoadOp(
            descriptor,
            cast("type[dsr.DescriptorRegisterType]", _FILES[file]).get(type.element_type, number),
            xdsr=extras.pop(0) if load.demand.extended else None,
            srs=extras,
            asynchronous=op.settings if isinstance(type, dsd.FabricDescriptorType) else None,
        )
        for inserted in (*gets, new):
            inserted.location = op.location
        Rewriter.insert_op([*gets, new], InsertPoint.before(cast(Operation, load.before)))
        values[load] = new.result
    for op in operations:
        operands: list[SSAValue] = []
        position = 0
        for operand in op.table_operands:
            if isinstance(operand.type, dsd.DescriptorType):
                operand = values[plan.operands[op, position]]
                position += 1
            operands.append(operand)
        new = dsr.OPERATIONS[op.definition.name](
            operands[0],
            operands[1:],
            index=op.index,
            asynchronous=op.asynchronous,
            with_result=op.result is not None,
        )
        new.attributes.update(op.attributes)
        new.location = op.location
        Rewriter.replace_op(op, new)


def _get(register: Register) -> Operation:
    """Names an XDSR or stride register for a load."""
    file, number = register
    return dsr.GetXdsrOp(dsr.XdsrType.get(number)) if file == "xdsr" else dsr.GetSrOp(dsr.SrType.get(number))


def _number_open_registers(pe: wse.PeOp, sizes: dict[File, int]) -> set[Register]:
    """Number the registers that the program's own loads leave open; returns all that the program has by itself."""
    named: set[Register] = set()
    values: list[tuple[File, SSAValue, dsr.RegisterType]] = []
    for fifo in pe.body.block.ops:
        if isinstance(fifo, wse.FifoOp) and fifo.register is not None and fifo.xdsr is not None:
            number = fifo.register.value.data
            named |= {("dest", number), ("src1", number), ("xdsr", fifo.xdsr.value.data)}
    for op in walk(pe):
        for result in op.results:
            type = result.type
            if isinstance(type, dsr.RegisterType):
                file = cast(File, type.file())
                if type.number is None:
                    values.append((file, result, type))
                else:
                    named.add((file, type.number))
    for file, value, type in values:
        number = next((number for number in range(sizes[file]) if (file, number) not in named), None)
        if number is None:
            owner = value.owner
            message = f"all {sizes[file]} {file} registers are taken by loads of the program; give two the same number"
            raise LoomError(message, location_of(owner) if isinstance(owner, Operation) else None)
        named.add((file, number))
        allocated = cast("dsr.DescriptorRegisterType | dsr.ExtensionRegisterType", type).allocated(number)
        Rewriter.replace_value_with_new_type(value, allocated)
    return named
