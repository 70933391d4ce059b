"""Verification after every pass: what has to hold, and where it does not.

xDSL's verifier checks each operation but not that a value is defined before its uses, and its errors do not say
which operation they are about; both are added here. Operations of a program are mostly alike, and those whose check
sees nothing but their own types and attributes are checked once for all that have the same.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from types import TracebackType

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl.dominance import DominanceInfo
from xdsl.utils.exceptions import DiagnosticException

from ..diagnostics.errors import LoomError, Mistakes
from ..diagnostics.locations import location_of
from ..diagnostics.nesting import deep_nesting
from .scalar_types import SCALAR_DIALECTS
from .traits import VerifiedByConstants, VerifiedByDescriptors, VerifiedByKind


@deep_nesting()
def verify(module: ModuleOp) -> None:
    """Check every operation and that definitions dominate uses; raises LoomError with all that fail."""
    if _Quick().holds(module):
        return
    # Something is wrong: xDSL's verifiers find it in the order of the program, and say what.
    failures = Failures()
    _verify_each(module, failures)
    if not failures:
        with failures.going_on():
            module.verify()
    if not failures:
        with failures.going_on():
            verify_dominance(module)
    failures.end_in_order()


def _verify_each(op: Operation, failures: Failures) -> None:
    """Verify what is inside an operation, then the operation."""
    before = len(failures.errors)
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                _verify_each(inner, failures)
    try:
        with failures.going_on():
            op.verify(verify_nested_ops=False)
    except Exception:
        # Verifiers rely on what is inside, which was found to be wrong.
        if len(failures.errors) == before:
            raise


class Failures(Mistakes):
    """Errors of verifiers, which go on behind them."""

    @contextmanager
    def going_on(self) -> Generator[None]:
        """Record an error inside, with the location that the operation in its hands has now."""
        try:
            yield
        except DiagnosticException as error:
            self.add_independent(located(error))


@deep_nesting()
def verify_dominance(module: ModuleOp) -> None:
    """Check that every operand is defined on all ways to its use; raises LoomError at the first that is not."""
    _Dominance().operation(module)


def located(error: DiagnosticException) -> LoomError:
    """Return `error` with the location of the operation it is about.

    xDSL's exceptions do not carry their operation, but the verifier, pattern or pass that raised them had it in its
    hands: the innermost stack frame with an operation called `self` or `op` names it. Raise the result `from None`:
    the message of the verifier's exceptions holds the whole module.
    """
    if isinstance(error, LoomError):
        return error
    op = _operation_in(error.__traceback__)
    location = None
    while op is not None and (location := location_of(op)) is None:
        op = op.parent_op()
    return LoomError(" ".join(str(error).split()), location)


def _operation_in(traceback: TracebackType | None) -> Operation | None:
    found: Operation | None = None
    while traceback is not None:
        for name in ("self", "op"):
            value: object = traceback.tb_frame.f_locals.get(name)
            # An operation in the making, whose own types are refused, does not know its place yet.
            if isinstance(value, Operation) and hasattr(value, "location"):
                found = value
        traceback = traceback.tb_next
    return found


_FOREIGN_BY_KIND = frozenset({"scf.yield", "memref.load", "memref.store"})
"""Operations of xDSL's dialects to which the trait `VerifiedByKind` would apply, beside those of `SCALAR_DIALECTS`."""


class _Sight(Enum):
    """What the check of an operation sees."""

    KIND = auto()
    """Its own types and attributes."""
    CONSTANTS = auto()
    """These, and its operands that are constants."""
    DESCRIPTORS = auto()
    """These, and how its descriptors were made."""
    ALL = auto()
    """Anything."""

    @staticmethod
    def of(kind: type[Operation]) -> _Sight:
        by_kind = kind.has_trait(VerifiedByKind, value_if_unregistered=False)
        if by_kind or kind.name in _FOREIGN_BY_KIND or kind.name.partition(".")[0] in SCALAR_DIALECTS:
            return _Sight.KIND
        if kind.has_trait(VerifiedByConstants, value_if_unregistered=False):
            return _Sight.CONSTANTS
        if kind.has_trait(VerifiedByDescriptors, value_if_unregistered=False):
            return _Sight.DESCRIPTORS
        return _Sight.ALL


class _Quick:
    """One walk that checks all operations and dominance, and each kind of operation once."""

    def __init__(self) -> None:
        self._visible: set[SSAValue] = set()
        self._sights: dict[type[Operation], _Sight] = {}
        self._numbers: dict[Attribute, int] = {}
        self._number_of: dict[int, int] = {}
        """By identity, which lasts as long as the module keeps its attributes: hashing them takes longer."""
        self._parent: type[Operation] | None = None
        self._good: set[Hashable] = set()
        self._made_by: dict[SSAValue, Hashable] = {}
        """The kind of operation that made a value, where it is seen by kind."""

    def holds(self, module: ModuleOp) -> bool:
        """Return True if the module verifies; if not, the walk stopped at the first error."""
        try:
            return self._operation(module)
        except (DiagnosticException, ValueError):
            return False

    def _number(self, attribute: Attribute) -> int:
        found = self._number_of.get(id(attribute))
        if found is None:
            found = self._number_of[id(attribute)] = self._numbers.setdefault(attribute, len(self._numbers))
        return found

    def _kind(self, op: Operation, operands: Sequence[SSAValue]) -> tuple[object, ...]:
        """Return the key of the check by kind: all that it can see, and whether the operation ends its block."""
        number = self._number
        return (
            type(op),
            self._parent,
            op.next_op is None,
            *[number(operand.type) for operand in operands],
            *[~number(result.type) for result in op.results],
            *[(name, number(value)) for name, value in op.properties.items()],
            *[(number(value), name) for name, value in op.attributes.items()],
        )

    def _constant(self, operand: SSAValue) -> int | None:
        """Return the number of the value of a constant; None for other operands."""
        owner = operand.owner
        return self._number(owner.value) if isinstance(owner, ConstantOp) else None

    def _operation(self, op: Operation) -> bool:
        operands = list(op.operands)
        if not self._visible.issuperset(operands):
            return False
        sight = self._sights.get(type(op))
        if sight is None:
            sight = self._sights[type(op)] = _Sight.of(type(op))
        key: Hashable = None
        if op.regions and any(region.first_block is not None for region in op.regions):
            if not self._regions(op):
                return False
        elif sight is _Sight.KIND:
            key = self._kind(op, operands)
            for result in op.results:
                self._made_by[result] = key
        elif sight is _Sight.CONSTANTS:
            key = (self._kind(op, operands), *map(self._constant, operands))
        elif sight is _Sight.DESCRIPTORS:
            made_by = [self._made_by.get(operand) for operand in operands if operand.type.name.startswith("dsd.")]
            if None not in made_by:
                key = (self._kind(op, operands), *made_by)
        if key is None:
            op.verify(verify_nested_ops=False)
        elif key not in self._good:
            op.verify(verify_nested_ops=False)
            self._good.add(key)
        self._visible.update(op.results)
        return True

    def _regions(self, op: Operation) -> bool:
        outside, self._parent = self._parent, type(op)
        good = self._good
        if isinstance(op, ModuleOp):
            # It may be for another chip than those around it.
            self._good = set()
        for region in op.regions:
            blocks = list(region.blocks)
            # Branches between blocks are not for this walk.
            if len(blocks) > 1 or not all(map(self._block, blocks)):
                return False
        self._parent, self._good = outside, good
        return True

    def _block(self, block: Block) -> bool:
        if block.is_empty:
            block.verify()
        own: list[SSAValue] = list(block.args)
        self._visible.update(own)
        for op in block.ops:
            if op.parent is not block or not self._operation(op):
                return False
            own.extend(op.results)
        self._visible.difference_update(own)
        return True


class _Dominance:
    """One walk over the IR in order, holding the values visible at the current point."""

    def __init__(self) -> None:
        self.visible: set[SSAValue] = set()

    def operation(self, op: Operation) -> None:
        if not self.visible.issuperset(op.operands):
            index, operand = next((i, operand) for i, operand in enumerate(op.operands) if operand not in self.visible)
            name = f"%{operand.name_hint}" if operand.name_hint else f"operand {index}"
            raise LoomError(f"{name} of {op.name} is used before it is defined", location_of(op))
        for region in op.regions:
            self.region(region)
        self.visible.update(op.results)

    def region(self, region: Region) -> None:
        blocks = list(region.blocks)
        if len(blocks) == 1:
            self.visible.difference_update(self.block(blocks[0]))
            return
        # A block sees what the blocks that dominate it define.
        info = DominanceInfo(region)
        defined: dict[Block, set[SSAValue]] = {
            block: {*block.args, *(result for op in block.ops for result in op.results)} for block in blocks
        }
        for block in blocks:
            inherited = {
                value
                for other in blocks
                if info.strictly_dominates(other, block)
                for value in defined[other]
                if value not in self.visible
            }
            self.visible |= inherited
            self.visible.difference_update(self.block(block), inherited)

    def block(self, block: Block) -> list[SSAValue]:
        """Check a block; returns what it made visible."""
        own: list[SSAValue] = list(block.args)
        self.visible.update(own)
        for op in block.ops:
            self.operation(op)
            own += op.results
        return own
