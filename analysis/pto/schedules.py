"""Schedules of kernels: their operations on pipes in execution order, loops unrolled and branches taken.

A schedule is exact where loops have constant bounds and conditions follow from constants, loop variables and the number
of the vector core. A branch on another condition has a schedule for either side; loops with other bounds run a few
times, and the schedule is not exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, NamedTuple, TypeAlias, TypeGuard

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerType, i1
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ...diagnostics.records import record
from ...dialects.pto.attributes import KernelKind
from ...dialects.pto.frontend_pipes import (
    AllocSlotOp,
    FreeOp,
    OpenPipeOp,
    PipeUseOp,
    PopOp,
    PushOp,
    TPopSignalFromAivOp,
    TPushSignalToAicOp,
    opened_pipes,
)
from ...dialects.pto.internal_pipes import (
    BoundPipeOp,
    InitializeL2G2LPipeOp,
    InitializePipeOp,
    TAllocOp,
    TFreeOp,
    TPopOp,
    TPopSignalOp,
    TPushOp,
    TPushSignalOp,
)
from ...dialects.pto.kernels import (
    Architecture,
    GetSubBlockIdxOp,
    SectionCubeOp,
    SectionVectorOp,
    architecture_of,
    core_of,
    kernel_kind,
)
from ...dialects.pto.memory import PartitionViewOp, SetValidShapeOp, SubViewOp, TReshapeOp, constant_value
from ...dialects.pto.tiles import TileOperation
from ...dialects.pto.types import TileBufType
from ...dialects.traversal import walk
from ...operations import integers, pipe_protocol
from ...operations.pipe_protocol import Behavior
from ...targets.chip import LANES

Action: TypeAlias = Literal["alloc", "push", "pop", "free"]

Access: TypeAlias = Literal["read", "write", "call"]
"""Actions on a pipe: allocate a slot, push an entry, pop one, free its slot."""

Pipe: TypeAlias = OpenPipeOp | InitializePipeOp
"""The operation that opens one end of a pipe, in either form of the dialect."""

DEFAULT_ITERATIONS = 24
"""Iterations of a loop with unknown bounds: several times the slots of most pipes."""

MAX_ITERATIONS = 2_000
"""Iterations after which a loop ends, as if its bounds were unknown."""

MAX_STEPS = 10_000
"""Steps after which a schedule ends; hazards behind them are left to a run."""

MAX_VISITS = 30_000
"""Operations after which a schedule ends."""

MAX_PATHS = 8
"""Schedules of one core of a kernel, for unknown conditions."""

MAX_OPERATIONS = 200
"""Operations that a constant may be folded from."""


@record
class PipeUse:
    """One operation on a pipe, in either form of the dialect."""

    op: Operation
    action: Action
    pipe: Pipe
    direction: int
    split: int
    entry: SSAValue | None

    @property
    def name(self) -> str:
        """Return the name of the pipe in messages."""
        return f"pipe {self.pipe.pipe_id}" if isinstance(self.pipe, OpenPipeOp) else "the pipe"

    @property
    def of_tile(self) -> bool:
        """True if the operation names an entry that is a tile."""
        return self.entry is not None and isinstance(self.entry.type, TileBufType)

    @property
    def of_signal(self) -> bool:
        """True if the entry is a control signal, which is a value once it is popped."""
        return self.entry is not None and self.entry.type == i1

    @property
    def of_contents(self) -> bool:
        """True if a push stores the entry and a pop loads it; the slot of a tensor is written before the push."""
        return self.of_tile or self.of_signal


@dataclass(eq=False)
class Slot:
    """The slot of an entry: the use that allocates or pops it, and the number of the entry at that end."""

    use: PipeUse
    number: int


class Step(NamedTuple):
    """One step of a schedule: a use of a pipe, or an access to a slot."""

    op: Operation
    use: PipeUse | None
    slot: Slot | None
    """The slot that is allocated, pushed, popped, freed or accessed; None if the operand is not a slot."""
    access: Access = "read"
    """The access to the slot where no pipe is used; a called function may read or write."""


@dataclass
class Schedule:
    """The steps of one path through a kernel; `exact` if the trip count of each loop is known.

    It is `complete` unless it was cut off for its length.
    """

    core: KernelKind
    lane: int
    steps: list[Step] = field(default_factory=list[Step])
    exact: bool = True
    complete: bool = True
    depends_on: Operation | None = None
    """The first loop or branch with an unknown trip count or condition."""

    @property
    def uses(self) -> list[PipeUse]:
        """The uses of pipes, without accesses to slots."""
        return [step.use for step in self.steps if step.use is not None]

    def pops_and_frees(self) -> dict[tuple[Pipe, int], list[PipeUse]]:
        """Return the pops and frees of each pipe and direction, in order."""
        groups: dict[tuple[Pipe, int], list[PipeUse]] = {}
        for use in self.uses:
            if use.action in ("pop", "free"):
                groups.setdefault((use.pipe, use.direction), []).append(use)
        return groups


_ACTIONS: Mapping[type[Operation], Action] = {
    AllocSlotOp: "alloc", PushOp: "push", PopOp: "pop", FreeOp: "free",
    TAllocOp: "alloc", TPushOp: "push", TPopOp: "pop", TFreeOp: "free",
    TPushSignalToAicOp: "push", TPopSignalFromAivOp: "pop", TPushSignalOp: "push", TPopSignalOp: "pop",
}  # fmt: skip


@cache
def _action_of(kind: type[Operation]) -> Action | None:
    """Return the action of a kind of operation on its pipe; None for operations on no pipe."""
    return next((action for base, action in _ACTIONS.items() if issubclass(kind, base)), None)


def pipe_uses(function: FuncOp) -> Iterator[PipeUse]:
    """Yield the operations on pipes in a function, in the order of its text."""
    pipes: dict[int, list[OpenPipeOp]] = {}
    for op in walk(function):
        action = _action_of(type(op))
        if action is None:
            continue
        if isinstance(op, PipeUseOp):
            if op.pipe_id not in pipes:
                pipes[op.pipe_id] = opened_pipes(function, op.pipe_id)
            entry = op.entry if isinstance(op, FreeOp) else op.entry_value
            if len(pipes[op.pipe_id]) == 1:
                yield PipeUse(op, action, pipes[op.pipe_id][0], op.DIRECTION, op.split_axis, entry)
        elif isinstance(op, BoundPipeOp) and isinstance(pipe := op.pipe_handle.owner, InitializePipeOp):
            from_cube = (core_of(op) is KernelKind.CUBE) == op.IS_PRODUCER
            direction = pipe_protocol.C2V if from_cube else pipe_protocol.V2C
            yield PipeUse(op, action, pipe, direction, op.split_axis, op.entry_value)


def schedules(
    function: FuncOp, uses: Sequence[PipeUse], values: Mapping[SSAValue, int] | None = None
) -> list[list[Schedule]]:
    """Return the schedules of a function for each core that runs it, each vector core if it asks for its number.

    `uses` are those of `pipe_uses`; `values` are given for arguments and other values that are not computed. A function
    of several blocks has no schedules.
    """
    if len(function.body.blocks) != 1 or not uses:
        return []
    kind = kernel_kind(function)
    inside = {core for use in uses if (core := core_of(use.op)) is not None}
    cores = [kind] if kind is not None else sorted(inside, key=lambda core: core.value)
    asks = any(isinstance(op, GetSubBlockIdxOp) for op in walk(function))
    plan = _Plan(function.body.blocks[0], uses)
    found: list[list[Schedule]] = []
    for core in cores:
        for lane in range(LANES if asks and core is KernelKind.VECTOR else 1):
            paths = _paths(plan, core, lane, values or {})
            if paths is not None:
                found.append(paths)
    return found


def _paths(plan: _Plan, core: KernelKind, lane: int, values: Mapping[SSAValue, int]) -> list[Schedule] | None:
    found: list[Schedule] = []
    pending: list[dict[scf.IfOp, bool]] = [{}]
    while pending and len(found) < MAX_PATHS:
        choices = pending.pop()
        run = _Execution(plan, Schedule(core, lane), choices, values)
        try:
            run.block(plan.body)
        except _TooLong:
            run.schedule.exact = run.schedule.complete = False
        except _Unordered:
            return None
        pending += run.others
        found.append(run.schedule)
    return found


@dataclass(frozen=True, eq=False)
class Kernel:
    """A function that uses pipes: the behavior of its pipes, its uses of them, and its schedules.

    `chip` decides in which memory its slots are; `schedules` has one list for each core and vector core that runs the
    function, with a schedule for each path through it.
    """

    function: FuncOp
    behavior: Behavior
    chip: Architecture | None
    uses: Sequence[PipeUse]
    schedules: Sequence[Sequence[Schedule]]

    def in_global_memory(self, pipe: Pipe) -> bool:
        """Return True if the slots of a pipe are in global memory, so that popped tiles are copies."""
        if isinstance(pipe, OpenPipeOp):
            return pipe.gm_slot_tensor is not None or (pipe.gm_slot_buffer is not None and self.chip != "a5")
        return isinstance(pipe, InitializeL2G2LPipeOp)

    def frees_at_pop(self, pipe: Pipe, direction: int) -> bool:
        """Return True if a pop already frees the slot, and a free does nothing."""
        return self.behavior == "a2a3" and self.takes_tiles(pipe, direction)

    def needs_both_lanes(self, use: PipeUse) -> bool:
        """Return True if both vector cores take part in an entry: of a split pipe, and on a2a3 of every pipe."""
        return self.behavior == "a2a3" or use.split != pipe_protocol.NO_SPLIT

    def takes_tiles(self, pipe: Pipe, direction: int) -> bool:
        """Return True if the entries of a pipe are tiles or signals; otherwise they are tensors in global memory."""
        uses = (use for use in self.uses if use.pipe is pipe and use.direction == direction)
        return any(use.of_contents for use in uses if use.action != "free")


def kernel_of(function: FuncOp, behavior: Behavior | None) -> Kernel:
    """Return a function with its schedules; without `behavior`, pipes behave as on its chip, or else as `ideal`."""
    stated = architecture_of(function)
    chip = stated if behavior is None or behavior == "ideal" else behavior
    uses = list(pipe_uses(function))
    return Kernel(function, behavior or stated or "ideal", chip, uses, schedules(function, uses))


class _Member(NamedTuple):
    """An operation that schedules visit."""

    op: Operation
    has_regions: bool
    use: PipeUse | None
    accesses: Sequence[tuple[SSAValue, Access]]
    """What it reads, writes or hands to a call, if that is a slot: the tile or tensor that operands are parts of."""


class _Plan:
    """The operations of a function that its schedules visit, on any path."""

    def __init__(self, body: Block, uses: Sequence[PipeUse]) -> None:
        self.body = body
        self.uses = {use.op: use for use in uses}
        self.around: set[Operation] = set()
        """The operations that contain operations on pipes."""
        self._relevant: set[Operation] = set()
        self._members: dict[Block, list[_Member]] = {}
        self._fixed: dict[SSAValue, bool] = {}
        for use in uses:
            self._note(use.op, self.around)
        pending = [
            use.entry for use in uses if use.entry is not None and use.action in ("alloc", "pop") and not use.of_signal
        ]
        seen: set[SSAValue] = set()
        while pending:
            value = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            for other in value.uses:
                self._note(other.operation, self._relevant)
                pending += _carriers(other.operation, other.index)

    def _note(self, op: Operation, containers: set[Operation]) -> None:
        """Mark `op` as relevant, and the operations around it as containers."""
        self._relevant.add(op)
        parent = op.parent_op()
        while parent is not None and parent not in containers:
            containers.add(parent)
            self._relevant.add(parent)
            parent = parent.parent_op()

    def is_fixed(self, value: SSAValue) -> bool:
        """Return True if a value is the same in every iteration: it depends on no loop and no branch."""
        pending = [value]
        while pending:
            current = pending[-1]
            if current in self._fixed:
                pending.pop()
                continue
            owner = current.owner
            operands = owner.operands if isinstance(owner, Operation) else ()
            if isinstance(owner, Block):
                self._fixed[current] = isinstance(owner.parent_op(), FuncOp)
            elif owner.regions or len(pending) > MAX_OPERATIONS:
                self._fixed[current] = False
            else:
                missing = [operand for operand in operands if operand not in self._fixed]
                if missing:
                    pending += missing
                    continue
                self._fixed[current] = all(self._fixed[operand] for operand in operands)
        return self._fixed[value]

    def members(self, block: Block) -> Sequence[_Member]:
        """Return the relevant operations of a block."""
        found = self._members.get(block)
        if found is None:
            found = self._members[block] = [
                _Member(op, bool(op.regions), self.uses.get(op), _accesses_of(op))
                for op in block.ops
                if op in self._relevant
            ]
        return found


def _carriers(op: Operation, operand: int) -> Sequence[SSAValue]:
    """Return the results and arguments that may be, or be a part of, an operand of `op`."""
    if type(op) in _PARTS:
        return op.results
    if isinstance(op, scf.ForOp):
        return op.body.blocks[0].args[operand - 2 : operand - 1] if operand > 2 else ()
    if isinstance(op, scf.YieldOp) and (parent := op.parent_op()) is not None:
        carried = parent.body.blocks[0].args[operand + 1 : operand + 2] if isinstance(parent, scf.ForOp) else ()
        return (*parent.results[operand : operand + 1], *carried)
    return ()


_PARTS = frozenset((PartitionViewOp, SubViewOp, TReshapeOp))
"""The operations whose result is a part, or another shape, of their first operand."""


class _TooLong(Exception):
    """Raised when the schedule has its maximal length."""


class _Unordered(Exception):
    """Raised for control flow of several blocks, whose order is unknown."""


class _Execution:
    """The execution of one path through a function."""

    def __init__(
        self, plan: _Plan, schedule: Schedule, choices: dict[scf.IfOp, bool], values: Mapping[SSAValue, int]
    ) -> None:
        self.schedule = schedule
        self.others: list[dict[scf.IfOp, bool]] = []
        """The branch decisions of paths not followed yet."""
        self._plan = plan
        self._choices = choices
        self._numbers: dict[SSAValue, int | None] = dict(values)
        self._opaque: set[SSAValue] = set()
        """The values that are unknown in every iteration."""
        self._slots: dict[SSAValue, Slot | None] = {}
        self._allocated: Counter[tuple[Pipe, int]] = Counter()
        self._visits = 0

    # -----------------------------------------------------------------------------------------
    # Values
    # -----------------------------------------------------------------------------------------

    def number(self, value: SSAValue, seen: dict[SSAValue, int | None] | None = None) -> int | None:
        """Return the value of an integer; None if it is unknown."""
        if value in self._numbers:
            return self._numbers[value]
        if value in self._opaque:
            return None
        if isinstance(value, BlockArgument):
            if isinstance(value.owner.parent_op(), FuncOp):
                self._opaque.add(value)
            return None
        if not isinstance(value.owner, Operation):
            return None
        seen = {} if seen is None else seen
        if value in seen or len(seen) > MAX_OPERATIONS:
            return seen.get(value)
        seen[value] = None
        seen[value] = found = self._result(value.owner, value, seen)
        if self._plan.is_fixed(value):
            self._numbers[value] = found
        return found

    def _result(self, op: Operation, value: SSAValue, seen: dict[SSAValue, int | None]) -> int | None:
        if op.name not in _COMPUTED:
            found = self.schedule.lane if isinstance(op, GetSubBlockIdxOp) else constant_value(value)
            if found is None and not op.regions:
                self._opaque.add(value)
            return found
        operands: list[int] = []
        for operand in op.operands:
            found = self.number(operand, seen)
            if found is None:
                if operand in self._opaque:
                    self._opaque.add(value)
                return None
            operands.append(found)
        return folded(op, operands)

    def slot(self, value: SSAValue) -> Slot | None:
        """Return the slot of a tile or tensor, or of a part of one."""
        return self._slots.get(_whole(value))

    def _bind(self, targets: Sequence[SSAValue], sources: Sequence[SSAValue]) -> None:
        """Bind `targets` to the current values of `sources`."""
        if not targets:
            return
        numbers = [self.number(source) for source in sources]
        slots = [self.slot(source) for source in sources]
        for target, known, slot in zip(targets, numbers, slots, strict=False):
            self._numbers[target] = known
            self._slots[target] = slot

    # -----------------------------------------------------------------------------------------
    # Control
    # -----------------------------------------------------------------------------------------

    def block(self, block: Block) -> Sequence[SSAValue]:
        """Execute a block; return the operands of its terminator."""
        steps = self.schedule.steps
        for op, has_regions, use, accesses in self._plan.members(block):
            self._visits += 1
            if self._visits > MAX_VISITS or len(steps) > MAX_STEPS:
                raise _TooLong
            if has_regions:
                self._control(op)
            elif use is not None:
                self._use(op, use)
            else:
                for value, access in accesses:
                    slot = self._slots.get(value)
                    if slot is not None:
                        steps.append(Step(op, None, slot, access))
        last = block.last_op
        return last.operands if isinstance(last, scf.YieldOp) else ()

    def _region(self, region: Region) -> Sequence[SSAValue]:
        if len(region.blocks) > 1:
            raise _Unordered
        return self.block(region.blocks[0]) if region.blocks else ()

    def _control(self, op: Operation) -> None:
        match op:
            case SectionCubeOp() | SectionVectorOp():
                core = KernelKind.CUBE if isinstance(op, SectionCubeOp) else KernelKind.VECTOR
                if core is self.schedule.core:
                    self._region(op.body)
            case scf.ForOp():
                self._for(op)
            case scf.IfOp():
                self._if(op)
            case scf.WhileOp():
                self._inexact(op)
                for _ in range(self._iterations(op)):
                    self._region(op.before_region)
                    self._region(op.after_region)
            case _:
                self._inexact(op)
                for region in op.regions:
                    self._region(region)

    def _inexact(self, op: Operation) -> None:
        """Record that the trip count of `op` is unknown."""
        if op in self._plan.around:
            self.schedule.exact = False
            self.schedule.depends_on = self.schedule.depends_on or op

    def _iterations(self, op: Operation) -> int:
        """Return the iterations of a loop with unknown bounds; one suffices for accesses to slots."""
        return DEFAULT_ITERATIONS if op in self._plan.around else 1

    def _for(self, op: scf.ForOp) -> None:
        lower, upper, step = (self.number(value) for value in (op.lb, op.ub, op.step))
        known = lower is not None and upper is not None and step is not None and step > 0
        values = range(lower, upper, step) if known else range(DEFAULT_ITERATIONS)  # pyright: ignore[reportArgumentType]
        if not known or values[MAX_ITERATIONS:]:
            self._inexact(op)
        body = op.body.blocks[0]
        self._bind(body.args[1:], op.iter_args)
        for value in values[: MAX_ITERATIONS if op in self._plan.around else 1]:
            self._numbers[body.args[0]] = value if known else None
            self._bind(body.args[1:], self._region(op.body))
        self._bind(op.results, body.args[1:])

    def _if(self, op: scf.IfOp) -> None:
        taken = self.number(op.cond)
        if taken is None and op in self._plan.around:
            self.schedule.depends_on = self.schedule.depends_on or op
            if op not in self._choices:
                self._choices[op] = True
                self.others.append({**self._choices, op: False})
            taken = int(self._choices[op])
        if taken is not None:
            self._bind(op.results, self._region(op.true_region if taken else op.false_region))
            return
        self._region(op.true_region)
        self._bind(op.results, self._region(op.false_region))

    # -----------------------------------------------------------------------------------------
    # Steps
    # -----------------------------------------------------------------------------------------

    def _use(self, op: Operation, use: PipeUse) -> None:
        slot = None
        if use.entry is not None and use.action in ("alloc", "pop"):
            slot = Slot(use, self._allocated[use.pipe, use.direction])
            if not use.of_signal:
                self._slots[use.entry] = slot
            self._allocated[use.pipe, use.direction] += 1
        elif use.entry is not None:
            slot = self.slot(use.entry)
        self.schedule.steps.append(Step(op, use, slot))


def _whole(value: SSAValue) -> SSAValue:
    """Return the tile or tensor that a value is a part, or another shape, of."""
    while type(owner := value.owner) in _PARTS:
        assert isinstance(owner, Operation)
        value = owner.operands[0]
    return value


def _accesses_of(op: Operation) -> list[tuple[SSAValue, Access]]:
    """Return what an operation does with each of its operands; nothing if it only names them."""
    if isinstance(op, PartitionViewOp | SubViewOp | TReshapeOp | SetValidShapeOp | scf.YieldOp):
        return []
    destination = op.destination if isinstance(op, TileOperation) else None
    return [
        (
            _whole(operand),
            "call" if isinstance(op, CallOp) else "write" if operand is destination else "read",
        )
        for operand in op.operands
    ]


def folded(op: Operation, values: Sequence[int]) -> int | None:
    """Return the result of an operation on constant integers; None if it is unknown, as for a division by 0."""
    result = op.results[0].type if len(op.results) == 1 else None
    widths = [_bits(operand.type) for operand in op.operands if _is_integer(operand.type)]
    if not _is_integer(result) or len(widths) < len(op.operands):
        return None
    operands = [integers.wrapper(bits)(value) for bits, value in zip(widths, values, strict=True)]
    if isinstance(op, arith.SelectOp):
        return operands[1] if operands[0] else operands[2]
    if isinstance(op, arith.CmpiOp):
        return int(integers.comparison(op.predicate.value.data, widths[0])(*operands))
    if op.name in integers.CONVERSIONS:
        return integers.conversion(op.name, widths[0], _bits(result))(*operands)
    if op.name not in integers.OPERATIONS:
        return None
    try:
        return integers.function(op.name, widths[0])(*operands)
    except ZeroDivisionError:
        return None


def _is_integer(type: Attribute | None) -> TypeGuard[IntegerType | IndexType]:
    return isinstance(type, IntegerType | IndexType)


def _bits(type: IntegerType | IndexType) -> int:
    return integers.INDEX_BITS if isinstance(type, IndexType) else type.bitwidth


_COMPUTED = frozenset({*integers.OPERATIONS, *integers.CONVERSIONS, arith.SelectOp.name, arith.CmpiOp.name})
"""The operations that are folded."""
