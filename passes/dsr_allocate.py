"""Pass `dsr-allocate`: descriptors are loaded into registers, and DSD operations work on those."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from .. import targets
from ..analysis.coloring import Exhausted, color_graph, graph_of
from ..analysis.concurrency import Concurrency
from ..analysis.register_allocation import Demand, File, Load, OutOfRegisters, Plan, Register, plan_registers
from ..analysis.wse.pe_program import Registers, described, pe_programs, skeleton_of
from ..diagnostics.errors import LoomError
from ..diagnostics.locations import location_of
from ..dialects import dsd, dsr, wse
from ..dialects.traversal import walk
from ..dialects.verification import verify_dominance

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
    is before a loop that does not change it. An asynchronous operation keeps its registers until it has ended;
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
                raise LoomError(f"{described(inner)} still works on descriptors; it is outside any program", None)
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
            f" while these hold theirs: {holding}; let one of them complete first" if holding else ""
        )
        raise LoomError(message, location_of(needing)) from None
    _write(operations, plan)


def _demands(op: dsd.DescriptorOperation) -> Iterator[tuple[SSAValue, Demand]]:
    """Yield the operands that are descriptors, with what each needs."""
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
    """Return True if a descriptor is made outside a loop."""
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
            fp16=op.fp16,
        )
        new.attributes.update(op.attributes)
        new.location = op.location
        Rewriter.replace_op(op, new)


def _get(register: Register) -> Operation:
    """Name an XDSR or stride register for a load."""
    file, number = register
    return dsr.GetXdsrOp(dsr.XdsrType.get(number)) if file == "xdsr" else dsr.GetSrOp(dsr.SrType.get(number))


def _number_open_registers(pe: wse.PeOp, sizes: dict[File, int]) -> set[Register]:
    """Number the registers that the program's own loads leave open; returns all that the program has by itself.

    Two that are in use at the same time get different numbers. A register is in use from its load to the last
    operation that takes it, and until that has ended if it is asynchronous.
    """
    named: set[Register] = set()
    values: dict[File, list[SSAValue]] = {}
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
                    values.setdefault(file, []).append(result)
                else:
                    named.add((file, type.number))
    if not values:
        return named
    ranges = _Ranges(pe)
    for file, open_values in values.items():
        free = [number for number in range(sizes[file]) if (file, number) not in named]
        graph = graph_of(open_values, ranges.overlapping(open_values))
        try:
            found = color_graph(graph, dict.fromkeys(open_values, free), exact=len(open_values) <= 64)
        except Exhausted:
            deepest = max(open_values, key=lambda value: len(graph[value]))
            owner = deepest.owner
            message = (
                f"all {sizes[file]} {file} registers are taken by loads of the program that are in use at the same "
                "time; let one operation end before another starts, or give two registers the same number"
            )
            raise LoomError(message, location_of(owner) if isinstance(owner, Operation) else None) from None
        for value, number in found.items():
            named.add((file, number))
            open_type = cast("dsr.DescriptorRegisterType | dsr.ExtensionRegisterType", value.type)
            Rewriter.replace_value_with_new_type(value, open_type.allocated(number))
    return named


@dataclass(frozen=True)
class _Range:
    """Where a register is in use: from one operation of a body to another, by their order in the program.

    `operations` take it; `calls` are made meanwhile. `always` says that its use cannot be followed.
    """

    body: Operation | None
    start: int
    end: int
    operations: tuple[dsd.DsdOperation, ...]
    calls: frozenset[str]
    always: bool = False


class _Ranges:
    """Where the registers of a PE program's own loads are in use."""

    def __init__(self, pe: wse.PeOp):
        self._order: dict[Operation, int] = {}
        self._body: dict[Operation, Operation] = {}
        self._calls: list[tuple[int, str]] = []
        callees: dict[str, set[str]] = {}
        for member in pe.body.block.ops:
            for op in walk(member):
                self._order[op] = len(self._order)
                self._body[op] = member
                if isinstance(op, wse.CallOp):
                    name = op.callee.string_value()
                    self._calls.append((self._order[op], name))
                    callees.setdefault(wse.symbol_name(member) or "", set()).add(name)
        self._callees = callees
        self._registers = Registers(pe)
        self._concurrency = Concurrency(skeleton_of(pe))

    def overlapping(self, values: Sequence[SSAValue]) -> Iterator[tuple[SSAValue, SSAValue]]:
        """Yield the pairs of values whose registers may be in use at the same time."""
        ranges = [self._range(value) for value in values]
        in_order = sorted(range(len(values)), key=lambda n: ranges[n].start)
        bodies: dict[str, list[int]] = {}
        users: dict[Operation, list[int]] = {}
        active: list[int] = []
        for n in in_order:
            own = ranges[n]
            if own.always:
                yield from ((values[n], other) for other in values if other is not values[n])
            if own.body is not None:
                bodies.setdefault(wse.symbol_name(own.body) or "", []).append(n)
            for op in own.operations:
                users.setdefault(op, []).append(n)
            # What starts where another ends may have its register.
            active = [other for other in active if ranges[other].end > own.start]
            yield from ((values[other], values[n]) for other in active)
            active.append(n)
        for n, own in enumerate(ranges):
            for name in self._called(own.calls):
                yield from ((values[n], values[other]) for other in bodies.get(name, ()) if other != n)
            for op in own.operations:
                if not self._registers.is_async(op):
                    continue
                for other in self._concurrency.overlapping(op):
                    if other is not op and not self._kept_apart(op, cast(dsd.DsdOperation, other)):
                        yield from ((values[n], values[m]) for m in users.get(cast(Operation, other), ()) if m != n)

    def _kept_apart(self, op: dsd.DsdOperation, other: dsd.DsdOperation) -> bool:
        """Return True if two operations have one microthread, and so never run at the same time (DSD-209)."""
        one, two = (None if each.settings is None else each.settings.microthread for each in (op, other))
        return one is not None and one == two

    def _range(self, value: SSAValue) -> _Range:
        owner = cast(Operation, value.owner)
        start = end = self._order[owner]
        operations: dict[dsd.DsdOperation, None] = {}
        always = False
        pending = [value]
        while pending:
            current = pending.pop()
            for use in current.uses:
                user = use.operation
                end = max(end, self._last(owner, user))
                if isinstance(user, dsd.DsdOperation):
                    operations[user] = None
                elif isinstance(user, dsr.LoadOp):
                    # What extends a register is in use as long as that.
                    pending.append(user.result)
                else:
                    always = True
        body = self._body[owner]
        calls = frozenset(name for place, name in self._calls if start < place < end)
        return _Range(body, start, end, tuple(operations), calls, always)

    def _last(self, owner: Operation, user: Operation) -> int:
        """Return the order of the last operation up to which a use keeps a value, which a loop may come back to."""
        place = self._order[user]
        current: Operation | None = user
        while current is not None and current.parent is not owner.parent:
            current = current.parent_op()
            if current is not None and not isinstance(current, scf.IfOp | scf.IndexSwitchOp):
                place = max(place, max(self._order[inner] for inner in walk(current)) + 1)
        return place

    def _called(self, names: frozenset[str]) -> set[str]:
        """Return the functions that a call of `names` may run."""
        found: set[str] = set()
        pending = list(names)
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending.extend(self._callees.get(name, ()))
        return found
