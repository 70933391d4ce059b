"""Pass `dsr-allocate`: descriptors are loaded into registers, and DSD operations work on those."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from .. import targets
from ..analysis.coloring import Exhausted, color_graph, graph_of
from ..analysis.register_allocation import (
    Demand,
    File,
    Load,
    OutOfRegisters,
    Plan,
    Register,
    fewest_to_end,
    plan_registers,
)
from ..analysis.wse.pe_program import PeCode, Position, ProgramReader, described, members_of, programs
from ..diagnostics.errors import LoomError, Mistakes
from ..diagnostics.locations import location_of
from ..diagnostics.records import record
from ..dialects import dsd, dsr, wse
from ..dialects.machine.code import CodeOperation, reference_to
from ..dialects.machine.sharing import own_body, part
from ..dialects.traversal import walk
from ..dialects.verification import verify_dominance

_FILES: dict[File, type[dsr.RegisterType]] = {
    "dest": dsr.DestType,
    "src0": dsr.Src0Type,
    "src1": dsr.Src1Type,
    "xdsr": dsr.XdsrType,
    "sr": dsr.SrType,
}


_PLENTY = 1 << 12
"""Registers that no program runs out of."""


@dataclass(frozen=True)
class DsrAllocatePass(ModulePass):
    """Turns the DSD operations on descriptors into operations on allocated registers, with the loads they need.

    The destination goes into a dest register, the first source into a src0, the second into a src1 (DSR-001,
    DSR-002); a mem4d also takes an XDSR and its stride registers (DSR-005, DSR-061, DSR-064). The descriptors
    themselves remain, as what is loaded. A load is left out where the register still holds the descriptor, and
    is before a loop that does not change it; calls lose what their functions load. An asynchronous operation keeps
    its registers until it has ended, and nothing is loaded there meanwhile; its settings move to the loads of its
    fabric operands (DSD-182, DSD-194).

    Registers that the program names itself are left alone, those it leaves open are numbered. A descriptor beside such
    a register in one operation has a load of its own, open and `implicit`, and is loaded like any other instead. A file
    with too few registers is an error that names what is live.
    """

    name = "dsr-allocate"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        mistakes = Mistakes()
        for program in programs(op):
            _number_open_registers(program, mistakes)
            _Allocation(program, mistakes).carry_out()
        mistakes.end()
        for inner in walk(op):
            if isinstance(inner, dsd.DescriptorOperation):
                raise LoomError(f"{described(inner)} still works on descriptors; it is outside any program", None)
        verify_dominance(op)


def _is_open(value: SSAValue) -> bool:
    """Return True if a value is a register without a number."""
    return isinstance(value.type, dsr.RegisterType) and value.type.number is None


def _is_left_open(value: SSAValue) -> bool:
    """Return True if a value is a register that the program names and leaves open."""
    users = [use.operation for use in value.uses]
    extends = isinstance(value.owner, dsr.GetXdsrOp | dsr.GetSrOp) and bool(users)
    return _is_open(value) and not any(map(_is_own, users if extends else [value.owner]))


def _is_own(op: object) -> bool:
    """Return True for the open load of a descriptor beside registers, which names none."""
    return isinstance(op, dsr.LoadOp) and op.implicit is not None and _is_open(op.result)


def _sizes(program: wse.ProgramOp) -> dict[File, int]:
    target = targets.get(program.target.data)
    return {file: type.file_size(target) for file, type in _FILES.items()}


@record
class _Needs:
    """What the operations of a body need of registers; operations and loops are called by their numbers in the outline,
    descriptors by theirs in the body."""

    demands: tuple[tuple[int, tuple[Demand, ...]], ...]
    microthreads: tuple[tuple[int, int], ...]
    invariant: tuple[tuple[int, int], ...]
    """The loops and the descriptors made outside them."""


@record
class _Written:
    """The loads of a body, each with the number of the operation or loop that it is before, and its registers; and
    the load of each operand that is a descriptor, operation by operation."""

    loads: tuple[tuple[int, tuple[Register, ...]], ...] = ()
    operands: tuple[tuple[int, tuple[int, ...]], ...] = ()


class _Allocation:
    """The registers of a program: planned once for PE programs that ask for the same, written once into each body."""

    def __init__(self, program: wse.ProgramOp, mistakes: Mistakes):
        self._program = program
        self._mistakes = mistakes
        self._sizes = _sizes(program)
        self._reader = ProgramReader(program)
        self._needs: dict[Hashable, _Needs] = {}
        self._plans: dict[Hashable, dict[str, _Written]] = {}

    def carry_out(self) -> None:
        decisions: list[tuple[CodeOperation, Hashable]] = []
        for pe in self._program.pes:
            code = PeCode(pe, self._reader)
            written = self._planned(code)
            for name, member in code.members.items():
                decisions.append((member, (written.get(name, _Written()), code.items(name))))
        for each in part(self._reader.bodies, decisions):
            written, numbered = each.decision
            inside = [*walk(each.op)][1:]
            own = dict(zip(self._reader.body(each.home).inside, inside, strict=True))
            _write(written, [own[item] for item in numbered])

    def _planned(self, code: PeCode) -> dict[str, _Written]:
        """Return what is to be written into each body of a PE program."""
        needs = {name: self._needs_of(code, name) for name in code.members}
        reserved = tuple(sorted(_named_registers(code)))
        key = code.outline, reserved, tuple(needs.values())
        found = self._plans.get(key)
        if found is None:
            found = self._plans[key] = _by_member(self._plan(code, needs, reserved))
        return found

    def _needs_of(self, code: PeCode, name: str) -> _Needs:
        home, items = code.bodies.home(code.members[name]), code.items(name)
        found = self._needs.get((home, items))
        if found is None:
            # What is loaded of a fabric descriptor has the settings of the operation in it.
            numbers: dict[tuple[SSAValue, dsd.AsyncAttr | None], int] = {}
            demands: list[tuple[int, tuple[Demand, ...]]] = []
            microthreads: list[tuple[int, int]] = []
            for number, op in enumerate(items):
                if isinstance(op, dsd.DsdOperation):
                    wanted = [
                        replace(
                            each.demand, descriptor=numbers.setdefault((each.descriptor, each.settings), len(numbers))
                        )
                        for each in _wanted(op)
                    ]
                    if not wanted and not isinstance(op, dsd.DescriptorOperation):
                        continue
                    demands.append((number, tuple(wanted)))
                    if op.settings is not None and op.settings.microthread is not None:
                        microthreads.append((number, op.settings.microthread))
            loops = [(number, op) for number, op in enumerate(items) if not isinstance(op, dsd.DsdOperation)]
            invariant = [
                (loop, number)
                for loop, op in loops
                for (value, _), number in numbers.items()
                if _is_invariant(op, value)
            ]
            found = _Needs(tuple(demands), tuple(microthreads), tuple(invariant))
            self._needs[home, items] = found
        return found

    def _plan(self, code: PeCode, needs: Mapping[str, _Needs], reserved: Iterable[Register]) -> Plan:
        demands = {
            (name, number): [replace(demand, descriptor=(name, demand.descriptor)) for demand in wanted]
            for name, each in needs.items()
            for number, wanted in each.demands
        }
        microthreads = {
            (name, number): microthread for name, each in needs.items() for number, microthread in each.microthreads
        }
        invariant = {
            ((name, loop), (name, descriptor)) for name, each in needs.items() for loop, descriptor in each.invariant
        }

        def plan(demands: Mapping[Position, Sequence[Demand]], sizes: Mapping[File, int]) -> Plan:
            return plan_registers(
                code.outline.program, demands, sizes, reserved=reserved,
                is_invariant=lambda loop, descriptor: (loop, descriptor) in invariant, microthreads=microthreads,
            )  # fmt: skip

        rest: Mapping[Position, Sequence[Demand]] = demands
        while True:
            try:
                found = plan(rest, self._sizes)
            except OutOfRegisters as error:
                competing = (error.operation, *error.live)
                taken = len({register for register in reserved if register[0] == error.file})
                needed = {
                    op: sum(demand.units().count(error.file) for demand in rest.get(cast(Position, op), ()))
                    for op in competing
                }
                self._mistakes.add(self._out_of_registers(code, error, needed, taken))
                # Others that compete, without any of these, are a mistake by themselves.
                rest = {op: wanted for op, wanted in rest.items() if op not in competing}
            else:
                # After a mistake the passes that follow get what a machine with registers enough would need.
                return found if rest is demands else plan(demands, dict.fromkeys(self._sizes, _PLENTY))

    def _out_of_registers(
        self, code: PeCode, error: OutOfRegisters, needed: Mapping[Hashable, int], taken: int
    ) -> LoomError:
        """Return the error for operations that compete for registers.

        It names the fewest operations that have to complete before the last of them, so that the rest fits. `needed`
        are the registers that each needs, `taken` are those that the program chooses itself.
        """

        def text(op: Hashable) -> str:
            return described(cast(dsd.DsdOperation, code.at(op)))

        target = targets.get(self._program.target.data)
        size, count = self._sizes[error.file], needed[error.operation]
        message = f"{target.name} has {size} {error.file} registers, too few for {text(error.operation)}"
        if error.live:
            held = ", ".join(f"{text(op)} with {needed[op]}" for op in error.live)
            if sum(needed.values()) > size - taken:
                message += f", which needs {count}, while these hold theirs: {held}"
            else:
                message += f", which needs {count}, and these, of which some run at a time: {held}"
            first = fewest_to_end(error, needed, size - taken)
            message += f"; let {' and '.join(map(text, first))} complete first"
        return LoomError(message, location_of(cast(dsd.DsdOperation, code.at(error.operation))))


def _by_member(plan: Plan) -> dict[str, _Written]:
    """Return what a plan says of each function and task."""
    loads: dict[str, list[Load]] = {}
    for load in plan.loads:
        name, _ = cast("tuple[str, int]", load.before)
        loads.setdefault(name, []).append(load)
    operands: dict[str, dict[int, dict[int, Load]]] = {}
    for (operation, position), load in plan.operands.items():
        name, number = cast("tuple[str, int]", operation)
        operands.setdefault(name, {}).setdefault(number, {})[position] = load
    written: dict[str, _Written] = {}
    for name, own in loads.items():
        order = {load: number for number, load in enumerate(own)}
        written[name] = _Written(
            tuple((cast("tuple[str, int]", load.before)[1], tuple(load.registers)) for load in own),
            tuple(
                (number, tuple(order[by_position[position]] for position in sorted(by_position)))
                for number, by_position in sorted(operands.get(name, {}).items())
            ),
        )
    return written


class _Wanted(NamedTuple):
    """An operand that has to be loaded."""

    position: int
    descriptor: SSAValue
    settings: dsd.AsyncAttr | None
    """Those that its load has."""
    demand: Demand


def _wanted(op: dsd.DsdOperation) -> Iterator[_Wanted]:
    """Yield the operands that are descriptors, beside registers those with an open load of their own."""
    for position, operand in enumerate(op.table_operands):
        settings, descriptor = None, operand
        if _is_own(operand.owner):
            load = cast(dsr.LoadOp, operand.owner)
            descriptor, settings = load.descriptor, load.asynchronous
            file = cast(File, load.register.file())
        else:
            file: File = "dest" if position == 0 else "src0" if position == 1 else "src1"
            if position == 1 and isinstance(operand.type, dsd.FifoType):
                file = "src1"  # The only source file that holds FIFOs (DSR-011).
            if isinstance(operand.type, dsd.FabricDescriptorType):
                settings = op.settings
        type = descriptor.type
        if isinstance(type, dsd.DescriptorType):
            strides = dsr.needed_stride_registers(descriptor) if isinstance(type, dsd.Mem4dType) else 0
            yield _Wanted(position, descriptor, settings, Demand(descriptor, file, dsr.needs_xdsr(type), strides))


def _is_invariant(loop: object, descriptor: object) -> bool:
    """Return True if a descriptor is made outside a loop."""
    owner = cast(SSAValue, descriptor).owner
    parent = owner.parent_op() if isinstance(owner, Block) else owner
    while parent is not None:
        if parent is loop:
            return False
        parent = parent.parent_op()
    return True


def _write(written: _Written, items: Sequence[Operation]) -> None:
    """Insert the loads of a body, whose operations and loops are `items`, and put its operations on their registers."""
    reader: dict[int, tuple[dsd.DsdOperation, _Wanted]] = {}
    """The first operation that reads each load, and which operand that is."""
    for number, loads in written.operands:
        op = cast(dsd.DsdOperation, items[number])
        for load, wanted in zip(loads, _wanted(op), strict=True):
            reader.setdefault(load, (op, wanted))
    values: list[SSAValue] = []
    for load, (before, registers) in enumerate(written.loads):
        op, (_, descriptor, settings, _) = reader[load]
        type = cast(dsd.DescriptorType, descriptor.type)
        (file, number), *extensions = registers
        gets = [_get(register) for register in extensions]
        extras = [get.results[0] for get in gets]
        new = dsr.LoadOp(
            descriptor,
            cast("type[dsr.DescriptorRegisterType]", _FILES[file]).get(type.element_type, number),
            xdsr=extras.pop(0) if dsr.needs_xdsr(type) else None,
            srs=extras,
            asynchronous=settings,
            implicit=True,
        )
        for inserted in (*gets, new):
            inserted.location = op.location
        Rewriter.insert_op([*gets, new], InsertPoint.before(items[before]))
        values.append(new.result)
    read = dict(written.operands)
    for number, op in enumerate(items):
        loaded = [values[load] for load in read.get(number, ())]
        if isinstance(op, dsd.DescriptorOperation):
            _put_on_registers(op, loaded)
        elif isinstance(op, dsd.DsdOperation):
            for (position, *_), value in zip(_wanted(op), loaded, strict=True):
                _reload(op, op.table_operands[position], value)


def _put_on_registers(op: dsd.DescriptorOperation, loaded: Iterable[SSAValue]) -> None:
    """Replace an operation on descriptors by one on the registers that they are loaded into."""
    values = iter(loaded)
    operands = [
        next(values) if isinstance(operand.type, dsd.DescriptorType) else operand for operand in op.table_operands
    ]
    new = dsr.OPERATIONS[op.definition.name](
        operands[0],
        operands[1:],
        index=op.index,
        asynchronous=op.asynchronous,
        with_result=op.result is not None,
        fp16=op.fp16,
        drops_data=op.drops_data is not None,
    )
    new.attributes.update(op.attributes)
    new.location = op.location
    Rewriter.replace_op(op, new)


def _reload(op: dsd.DsdOperation, operand: SSAValue, value: SSAValue) -> None:
    """Put a load that has been planned in the place of an operand's own one, which is removed."""
    own = cast(dsr.LoadOp, operand.owner)
    extensions = own.operands[1:]
    op.operands[list(op.operands).index(operand)] = value
    for unused in (own, *(cast(Operation, extension.owner) for extension in extensions)):
        if not any(result.uses for result in unused.results):
            unused.detach()
            unused.erase()


def _get(register: Register) -> Operation:
    """Name an XDSR or stride register for a load."""
    file, number = register
    return dsr.GetXdsrOp(dsr.XdsrType.get(number)) if file == "xdsr" else dsr.GetSrOp(dsr.SrType.get(number))


def _named_registers(code: PeCode) -> set[Register]:
    """Return the registers that a PE program names by itself."""
    named: set[Register] = set()
    for fifo in members_of(code.pe, wse.FifoOp):
        if fifo.register is not None and fifo.xdsr is not None:
            number = fifo.register.value.data
            named |= {("dest", number), ("src1", number), ("xdsr", fifo.xdsr.value.data)}
    for op in code.register_makers:
        for result in op.results:
            if isinstance(result.type, dsr.RegisterType) and result.type.number is not None:
                named.add((cast(File, result.type.file()), result.type.number))
    return named


def _number_open_registers(program: wse.ProgramOp, mistakes: Mistakes) -> None:
    """Number the registers that the program's own loads leave open.

    Two that are in use at the same time get different numbers. A register is in use from its load to the last
    operation that takes it, and until that has ended if it is asynchronous.
    """
    if not any(_is_left_open(result) for op in walk(program) for result in op.results):
        return
    leaders = _with_bodies_of_their_own(program)
    reader = ProgramReader(program)
    for pe in leaders:
        _number_open_registers_of(PeCode(pe, reader), _sizes(program), mistakes)


def _with_bodies_of_their_own(program: wse.ProgramOp) -> list[wse.PeOp]:
    """Let PE programs share bodies with open registers only if they share all bodies; return one of each such group.

    Which registers are in use at the same time is said by all bodies of a PE program together.
    """
    reader = ProgramReader(program)
    bodies = reader.bodies
    groups: dict[Hashable, list[PeCode]] = {}
    for pe in program.pes:
        code = PeCode(pe, reader)
        named = frozenset(_named_registers(code))
        key = code.outline, named, tuple(members_of(pe, wse.InitialOp)), tuple(map(bodies.home, code.members.values()))
        groups.setdefault(key, []).append(code)
    has_open: dict[CodeOperation, bool] = {}
    for codes in groups.values():
        own = {code.pe for code in codes}
        for name, member in codes[0].members.items():
            home = bodies.home(member)
            if home not in has_open:
                has_open[home] = any(_is_left_open(result) for inner in walk(home) for result in inner.results)
            if has_open[home] and home.parent_op() not in own:
                own_body(member, bodies)
                for code in codes[1:]:
                    code.members[name].shares = reference_to(member)
    return [codes[0].pe for codes in groups.values()]


def _number_open_registers_of(code: PeCode, sizes: dict[File, int], mistakes: Mistakes) -> None:
    named = _named_registers(code)
    values: dict[File, list[SSAValue]] = {}
    for op in code.register_makers:
        for result in filter(_is_left_open, op.results):
            values.setdefault(cast(File, cast(dsr.RegisterType, result.type).file()), []).append(result)
    if not values:
        return
    ranges = _Ranges(code)
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
            mistakes.add(LoomError(message, location_of(owner) if isinstance(owner, Operation) else None))
            found = {value: _PLENTY + number for number, value in enumerate(open_values)}
        for value, number in found.items():
            named.add((file, number))
            open_type = cast("dsr.DescriptorRegisterType | dsr.ExtensionRegisterType", value.type)
            Rewriter.replace_value_with_new_type(value, open_type.allocated(number))


@record
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

    def __init__(self, code: PeCode):
        self._code = code
        self._order: dict[Operation, int] = {}
        self._body: dict[Operation, Operation] = {}
        self._calls: list[tuple[int, str]] = []
        callees: dict[str, set[str]] = {}
        for member in code.pe.body.block.ops:
            # A body with open registers is that of PE programs that share all bodies, which have the same ranges.
            home = code.bodies.home(member) if isinstance(member, CodeOperation) else member
            for op in walk(home):
                self._order[op] = len(self._order)
                self._body[op] = member
                if isinstance(op, wse.CallOp):
                    name = op.callee.string_value()
                    self._calls.append((self._order[op], name))
                    callees.setdefault(wse.symbol_name(member) or "", set()).add(name)
        self._callees = callees
        self._microthreads: dict[dsd.DsdOperation, int | None] = {}
        self._registers = code.registers

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
                for other in self._code.overlapping(op):
                    if other is not op and not self._kept_apart(op, other):
                        yield from ((values[n], values[m]) for m in users.get(other, ()) if m != n)

    def _kept_apart(self, op: dsd.DsdOperation, other: dsd.DsdOperation) -> bool:
        """Return True if two operations have one microthread, and so never run at the same time (DSD-209)."""
        one = self._microthread(op)
        return one is not None and one == self._microthread(other)

    def _microthread(self, op: dsd.DsdOperation) -> int | None:
        """Return the microthread that an operation is given, if it is."""
        if op not in self._microthreads:
            self._microthreads[op] = None if op.settings is None else op.settings.microthread
        return self._microthreads[op]

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
