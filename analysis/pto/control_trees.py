"""Control trees of kernels: loops, branches and events on pipes, with symbolic trip counts and conditions.

Integers are symbols of what they are computed from: the arguments of the program, by name as in a run, the block, and
elements of arrays that no kernel writes. Any other result of an operation is a symbol of its own core.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import ModuleOp, i1
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from ...dialects.pto.attributes import KernelKind
from ...dialects.pto.kernels import (
    GetBlockIdxOp,
    GetBlockNumOp,
    GetSubBlockIdxOp,
    GetSubBlockNumOp,
    SectionCubeOp,
    SectionVectorOp,
)
from ...dialects.pto.memory import AddPtrOp, LoadScalarOp, MakeTensorViewOp, PartitionViewOp, SubViewOp, constant_value
from ...dialects.pto.tiles import TLoadOp
from ...dialects.pto.types import PartitionTensorViewType, PtrType, TensorViewType
from ...dialects.traversal import walk
from ...operations import integers
from ..event_graph import Event
from ..model_checking.control_trees import Branch, EventNode, Exit, Loop, Node, iteration
from ..symbolic_integers import (
    BLOCK,
    ITERATION,
    Affine,
    And,
    Condition,
    IsNegative,
    IsTrue,
    IsZero,
    Not,
    Symbol,
    add,
    free_symbols,
    scale,
    symbol,
)
from .schedules import PipeUse, Schedule, folded

_VIEWS = (AddPtrOp, MakeTensorViewOp, PartitionViewOp, SubViewOp)
"""Operations that derive a pointer or view from their first operand."""


class Arguments:
    """The arguments of a module's functions: their values at call sites, and which arrays the program writes."""

    def __init__(self, module: ModuleOp) -> None:
        operations = list(walk(module))
        self._calls: dict[str, list[CallOp]] = {}
        for op in operations:
            if isinstance(op, CallOp):
                self._calls.setdefault(op.callee.root_reference.data, []).append(op)
        self._written: set[str | None] = set()
        """The names of arrays; None for one that is unknown."""
        for op in operations:
            if isinstance(op, (*_VIEWS, LoadScalarOp, CallOp, scf.YieldOp, scf.ForOp)):
                continue
            for index, operand in enumerate(op.operands):
                if isinstance(operand.type, PtrType | TensorViewType | PartitionTensorViewType) and not (
                    isinstance(op, TLoadOp) and index == 0
                ):
                    self._written |= self.arrays(operand)

    def origin(self, value: SSAValue) -> SSAValue:
        """Return the operand of a function's argument if the function has one call site."""
        for _ in range(len(self._calls) + 1):
            function = value.block.parent_op() if isinstance(value, BlockArgument) else None
            if not isinstance(value, BlockArgument) or not isinstance(function, FuncOp):
                break
            calls = self._calls.get(function.sym_name.data, [])
            if len(calls) != 1:
                break
            value = calls[0].operands[value.index]
        return value

    def arrays(self, value: SSAValue) -> set[str | None]:
        """Return the arrays that a pointer or view may point into."""
        found: set[str | None] = set()
        seen: set[SSAValue] = set()
        pending = [value]
        while pending:
            value = self.origin(pending.pop())
            if value in seen:
                continue
            seen.add(value)
            owner = value.owner
            if isinstance(owner, _VIEWS):
                pending.append(owner.operands[0])
            elif isinstance(value, OpResult) and isinstance(owner, scf.IfOp | scf.ForOp):
                pending += [
                    last.operands[value.index]
                    for region in owner.regions
                    if region.blocks and isinstance(last := region.blocks[-1].last_op, scf.YieldOp)
                ]
                pending += [owner.iter_args[value.index]] if isinstance(owner, scf.ForOp) else []
            elif isinstance(value, BlockArgument) and isinstance(loop := value.block.parent_op(), scf.ForOp):
                pending.append(loop.results[value.index - 1])
            elif isinstance(value, BlockArgument) and isinstance(value.block.parent_op(), FuncOp):
                found.add(name_of(value))
            else:
                found.add(None)
        return found

    def array(self, value: SSAValue) -> str | None:
        """Return the array that a pointer points into, if there is one and no kernel writes it."""
        found = self.arrays(value)
        return found.pop() if len(found) == 1 and None not in self._written and not found & self._written else None


def name_of(argument: BlockArgument) -> str:
    """Return the name of an argument in a run."""
    return argument.name_hint or f"arg{argument.index}"


class Numbers:
    """The integers and conditions of one core as symbolic expressions."""

    def __init__(self, arguments: Arguments, core: str, lane: int) -> None:
        self._arguments = arguments
        self._core = core
        self._lane = lane
        self._numbers: dict[SSAValue, Affine] = {}
        self._loops: dict[Operation, int] = {}

    def round_of(self, loop: Operation) -> int:
        """Return the key of a loop, unique in this core."""
        return self._loops.setdefault(loop, len(self._loops))

    def number(self, value: SSAValue) -> Affine:
        """Return an SSA value as a symbolic integer."""
        if value not in self._numbers:
            # Operands first; the operations of a loop are visited in any order.
            pending = [value]
            while pending:
                current = pending[-1]
                needed = [other for other in self._operands(current) if other not in self._numbers]
                if needed and len(pending) < _MAX_PENDING:
                    pending += needed
                    continue
                pending.pop()
                if current not in self._numbers:
                    self._numbers[current] = self._number(current)
        return self._numbers[value]

    def _operands(self, value: SSAValue) -> Sequence[SSAValue]:
        """Return the values that have to be evaluated before."""
        origin = self._arguments.origin(value)
        if origin is not value:
            return (origin,)
        owner = value.owner
        if isinstance(owner, LoadScalarOp):
            return (owner.offset, *_offsets(owner.ptr))
        if isinstance(owner, Operation) and _is_pure(owner):
            return owner.operands
        if isinstance(value, BlockArgument) and isinstance(loop := value.block.parent_op(), scf.ForOp):
            return (loop.lb, loop.step) if value.index == 0 else ()
        return ()

    def _number(self, value: SSAValue) -> Affine:
        origin = self._arguments.origin(value)
        if origin is not value:
            return self._numbers.get(origin, self._own(value))
        if isinstance(value, BlockArgument):
            return self._of_argument(value)
        owner = value.owner
        constant = constant_value(value)
        if constant is not None:
            return Affine(constant)
        match owner:
            case GetSubBlockIdxOp():
                return Affine(self._lane)
            case GetBlockIdxOp():
                return symbol(BLOCK)
            case GetBlockNumOp():
                return symbol("the number of blocks")
            case GetSubBlockNumOp():
                return symbol("the number of vector cores")
            case LoadScalarOp():
                array = self._arguments.array(owner.ptr)
                if array is None:
                    return self._own(value)
                place = self._known(owner.offset)
                for offset in _offsets(owner.ptr):
                    place = add(place, self._known(offset))
                return symbol(f"%{array}", place)
            case Operation() if _is_pure(owner):
                return self._computed(owner)
            case _:
                return self._own(value)

    def _known(self, value: SSAValue) -> Affine:
        return self._numbers.get(value) or self._own(value)

    def _of_argument(self, value: BlockArgument) -> Affine:
        around = value.block.parent_op()
        if isinstance(around, FuncOp):
            return symbol(f"%{name_of(value)}")
        if isinstance(around, scf.ForOp) and value.index == 0:
            turn, step = iteration(self.round_of(around)), self._known(around.step)
            moved = _product(turn, step)
            return add(self._known(around.lb), moved)
        return self._own(value)

    def _own(self, value: SSAValue) -> Affine:
        """Return a symbol of this core alone, a different one in each iteration of the loops around it."""
        op: Operation | None = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
        name = value.name_hint or "a value"
        inside: list[Affine] = []
        around = op.parent_op() if isinstance(value, OpResult) and op is not None else op
        while around is not None and not isinstance(around, FuncOp):
            if isinstance(around, scf.ForOp | scf.WhileOp):
                inside.append(iteration(self.round_of(around)))
            around = around.parent_op()
        return Affine(0, ((Symbol(f"%{name}", tuple(inside), (self._core, len(self._numbers))), 1),))

    def _computed(self, op: Operation) -> Affine:
        operands = [self._known(operand) for operand in op.operands]
        if not any(operand.terms for operand in operands):
            value = folded(op, [operand.constant for operand in operands])
            if value is not None:
                return Affine(value)
        match op:
            case arith.AddiOp():
                return add(operands[0], operands[1])
            case arith.SubiOp():
                return add(operands[0], operands[1], -1)
            case arith.MuliOp():
                return _product(operands[0], operands[1])
            case arith.IndexCastOp() | arith.ExtSIOp():
                return operands[0]
            case arith.ConstantOp():
                return symbol(str(op.value))
            case arith.CmpiOp() | arith.CmpfOp():
                return symbol(f"{op.name} {op.predicate.value.data}", *operands)
            case _:
                return symbol(op.name, *operands)

    # -----------------------------------------------------------------------------------------
    # Conditions
    # -----------------------------------------------------------------------------------------

    def condition(self, value: SSAValue) -> Condition:
        """Return a boolean value as a condition."""
        constant = constant_value(value)
        if constant is not None:
            return constant != 0
        op = value.owner
        if isinstance(op, arith.CmpiOp):
            return self._comparison(op)
        if isinstance(op, arith.AndIOp) and value.type == i1:
            return And(self.condition(op.lhs), self.condition(op.rhs))
        if isinstance(op, arith.OrIOp) and value.type == i1:
            return Not(And(Not(self.condition(op.lhs)), Not(self.condition(op.rhs))))
        if isinstance(op, arith.XOrIOp) and value.type == i1 and constant_value(op.rhs) is not None:
            left = self.condition(op.lhs)
            return Not(left) if constant_value(op.rhs) else left
        return IsTrue(self.number(value))

    def _comparison(self, op: arith.CmpiOp) -> Condition:
        left, right = self.number(op.lhs), self.number(op.rhs)
        predicate = integers.PREDICATES[op.predicate.value.data]
        if op.lhs.type == i1 or (predicate.is_unsigned and not (_is_natural(left) and _is_natural(right))):
            if not left.terms and not right.terms:
                value = folded(op, [left.constant, right.constant])
                if value is not None:
                    return bool(value)
            return IsTrue(self.number(op.result))
        less, more = add(left, right, -1), add(right, left, -1)
        if not less.terms:
            return predicate.compare(left.constant, right.constant)
        match predicate.name:
            case "eq":
                return IsZero(less)
            case "ne":
                return Not(IsZero(less))
            case "slt" | "ult":
                return IsNegative(less)
            case "sle" | "ule":
                return Not(IsNegative(more))
            case "sgt" | "ugt":
                return IsNegative(more)
            case _:
                return Not(IsNegative(less))


_MAX_PENDING = 400
"""Operations that one integer may be computed from."""


def _is_natural(value: Affine) -> bool:
    """Return True if an integer cannot be negative."""
    return value.constant >= 0 and all(times > 0 and part.name in (ITERATION, BLOCK) for part, times in value.terms)


def _is_pure(op: Operation) -> bool:
    """Return True if an operation computes one number from others, without effects."""
    return len(op.results) == 1 and not op.regions and op.name.partition(".")[0] in (arith.Arith.name, math.Math.name)


def _product(left: Affine, right: Affine) -> Affine:
    if not left.terms:
        return scale(right, left.constant)
    if not right.terms:
        return scale(left, right.constant)
    return symbol(arith.MuliOp.name, *sorted((left, right), key=str))


def _offsets(pointer: SSAValue) -> list[SSAValue]:
    """Return the offsets added to a pointer."""
    found: list[SSAValue] = []
    while isinstance(pointer.owner, AddPtrOp):
        found.append(pointer.owner.offset)
        pointer = pointer.owner.ptr
    return found


# ---------------------------------------------------------------------------------------------
# Trees
# ---------------------------------------------------------------------------------------------


class UnknownControl(Exception):
    """Raised for control flow other than loops and branches around operations on pipes."""


def control_of(
    function: FuncOp,
    path: Schedule,
    names: Mapping[Operation, Event],
    uses: Sequence[PipeUse],
    numbers: Numbers,
    *,
    opaque: bool = False,
) -> list[Node]:
    """Return the control tree of one core for the pipes in `uses`; `names` has the events it takes part in.

    With `opaque`, a trip count that depends on the iteration of a loop around it is any number, the same for all cores
    that compute it alike in that iteration: how it changes from iteration to iteration is forgotten.

    Raises UnknownControl for operations other than loops and branches around uses of pipes.
    """
    around: set[Operation] = set()
    for use in uses:
        parent = use.op.parent_op()
        while parent is not None and parent not in around:
            around.add(parent)
            parent = parent.parent_op()
    if len(function.body.blocks) != 1:
        raise UnknownControl
    tree = _Tree(path.core, around, {use.op: use for use in uses}, names, numbers, opaque=opaque)
    return tree.nodes(function.body.blocks[0])


class _Tree:
    def __init__(
        self,
        core: KernelKind,
        around: set[Operation],
        uses: Mapping[Operation, PipeUse],
        names: Mapping[Operation, Event],
        numbers: Numbers,
        *,
        opaque: bool,
    ) -> None:
        self._opaque = opaque
        self._core = core
        self._around = around
        self._uses = uses
        self._names = names
        self._numbers = numbers

    def nodes(self, block: Block) -> list[Node]:
        found: list[Node] = []
        for op in block.ops:
            if op in self._names:
                found.append(self._use(op))
            elif op in self._around and op not in self._uses:
                found += self._region(op)
        return found

    def _use(self, op: Operation) -> EventNode:
        use, event = self._uses[op], self._names[op]
        if use.of_signal and use.entry is not None and event.action == "push":
            return EventNode(event, op, signal=self._numbers.condition(use.entry))
        if use.of_signal and use.entry is not None and event.action == "pop":
            return EventNode(event, op, received=self._numbers.number(use.entry))
        return EventNode(event, op)

    def _region(self, op: Operation) -> list[Node]:
        if any(len(region.blocks) > 1 for region in op.regions):
            raise UnknownControl
        match op:
            case SectionCubeOp() | SectionVectorOp():
                core = KernelKind.CUBE if isinstance(op, SectionCubeOp) else KernelKind.VECTOR
                return self.nodes(op.body.blocks[0]) if core is self._core else []
            case scf.ForOp():
                return [self._for(op)]
            case scf.IfOp():
                condition = self._numbers.condition(op.cond)
                then = self.nodes(op.true_region.blocks[0])
                other = self.nodes(op.false_region.blocks[0]) if op.false_region.blocks else []
                if isinstance(condition, bool):
                    return then if condition else other
                return [Branch(condition, then, other, op)]
            case scf.WhileOp():
                before, after = op.before_region.blocks[0], op.after_region.blocks[0]
                if not isinstance(last := before.last_op, scf.ConditionOp):
                    raise UnknownControl
                leave = Exit(self._numbers.condition(last.condition), op)
                body = [*self.nodes(before), leave, *self.nodes(after)]
                return [Loop(self._numbers.round_of(op), True, body, origin=op)]
            case _:
                raise UnknownControl

    def _for(self, op: scf.ForOp) -> Loop:
        lower, upper, step = (self._numbers.number(value) for value in (op.lb, op.ub, op.step))
        key, body = self._numbers.round_of(op), self.nodes(op.body.blocks[0])
        if step.terms or step.constant <= 0:
            trips = symbol(arith.CeilDivSIOp.name, add(upper, lower, -1), step)
            return Loop(key, IsNegative(add(iteration(key), trips, -1)), body, None, op)
        test = IsNegative(add(add(lower, scale(iteration(key), step.constant)), upper, -1))
        distance = add(upper, lower, -1)
        trips = _quotient(distance, step.constant)
        if self._opaque and any(leaf.name == ITERATION for leaf in free_symbols(trips)):
            test = IsNegative(add(iteration(key), symbol("trips", trips), -1))
        return Loop(key, test, body, None if distance.terms else max(0, trips.constant), op, trips)


def _quotient(distance: Affine, step: int) -> Affine:
    """Return the number of steps that cover a distance."""
    if all(times % step == 0 for _, times in distance.terms):
        terms = tuple((part, times // step) for part, times in distance.terms)
        return Affine(-(-distance.constant // step), terms)
    return symbol(arith.CeilDivSIOp.name, distance, Affine(step))
