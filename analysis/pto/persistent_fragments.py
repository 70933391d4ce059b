"""Persistent fragments of threads: arrays that keep their elements from one section of threads to the next.

A kernel declares one by `llvm.alloca` with `pto.persistent`, outside of `pto.section.simt`. The first section that uses
it stores the elements that it keeps, at places that are known when it is compiled; the sections after it, with as many
threads, load and store them. The elements are kept in numbered slots, two for one of 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, cast

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    VectorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...diagnostics.records import record
from ...dialects.pto.instruction_operation import InstructionOp
from ...dialects.pto.kernels import is_entry
from ...dialects.pto.memory import constant_value
from ...dialects.traversal import walk
from ...targets.chip import MAX_KEPT_WORDS

_PERSISTENT = "pto.persistent"
_WORD = 32
_LONGEST = 64
_LANES = (2, 4)
"""Numbers of elements that one access of a vector may have."""

MAX_UNROLLED = 100_000
"""How many operations of unrolled loops are looked at in a function."""


class FragmentError(Exception):
    """A rule that a fragment breaks: `op` is where, `message` says what in the words of PTOAS, with a remedy."""

    def __init__(self, op: Operation, message: str) -> None:
        super().__init__(message)
        self.op = op
        self.message = message


def _refuse(op: Operation, message: str) -> NoReturn:
    raise FragmentError(op, message)


@dataclass
class _Fragment:
    """One fragment: its elements, and what accesses them, in the order of the text."""

    alloca: llvm.AllocaOp
    element: Attribute
    bytes: int
    count: int
    accesses: list[_Access] = field(default_factory=list["_Access"])
    kept: set[int] = field(default_factory=set[int])
    """The elements that the first section stores."""


@record
class _Access:
    """A load or store of one element in a section."""

    op: Operation
    section: InstructionOp
    place: int


@record
class _Pointer:
    """A pointer `offset` bytes behind the beginning of a fragment."""

    fragment: _Fragment
    offset: int


def verify_fragments(function: FuncOp) -> None:
    """Raise FragmentError for the first rule that a persistent fragment of a function breaks."""
    allocas = [op for op in walk(function) if isinstance(op, llvm.AllocaOp) and _PERSISTENT in op.attributes]
    if not allocas:
        return
    if not is_entry(function):
        _refuse(
            allocas[0],
            "persistent SIMT fragment must be defined in a PTO kernel entry; write pto.entry on the function",
        )
    fragments = [_declared(alloca) for alloca in allocas]
    for fragment in fragments:
        _verify_uses(fragment)
    _Accesses(fragments).collect(function)
    sections = [op for op in walk(function) if _is_section(op)]
    for fragment in fragments:
        _verify_sections(fragment, cast("list[InstructionOp]", sections))
    _verify_slots(function, fragments)


def _is_section(op: Operation) -> bool:
    return isinstance(op, InstructionOp) and op.row.name == "section.simt"


def _section_of(op: Operation) -> InstructionOp | None:
    parent = op.parent_op()
    while parent is not None and not _is_section(parent):
        parent = parent.parent_op()
    return cast("InstructionOp | None", parent)


# ---------------------------------------------------------------------------------------------
# Declarations
# ---------------------------------------------------------------------------------------------


def _declared(alloca: llvm.AllocaOp) -> _Fragment:
    if not isinstance(alloca.attributes[_PERSISTENT], UnitAttr):
        _refuse(alloca, f"expects '{_PERSISTENT}' to be a unit attribute; write it without a value")
    if _section_of(alloca) is not None:
        _refuse(alloca, "persistent SIMT fragment must be defined outside pto.section.simt; move it in front")
    size = _bytes(alloca.elem_type)
    if size is None:
        _refuse(
            alloca,
            "persistent SIMT fragment requires an integer scalar element type up to 64 bits or f16/bf16/f32, got "
            f"{alloca.elem_type}",
        )
    count = constant_value(alloca.size)
    if count is None:
        _refuse(alloca, "persistent fragment element count must be a compile-time integer constant")
    if count <= 0:
        _refuse(alloca, f"persistent SIMT fragment element count must be positive, not {count}")
    return _Fragment(alloca, alloca.elem_type, size, count)


def _bytes(element: Attribute) -> int | None:
    """Return the bytes of an element; None for all but scalars of up to 64 bits."""
    if isinstance(element, IntegerType):
        bits = cast("IntegerType", element).width.data
        return None if bits > _LONGEST else 1 << max(0, (bits - 1).bit_length() - 3)
    if isinstance(element, Float32Type):
        return 4
    return 2 if isinstance(element, Float16Type | BFloat16Type) else None


def _verify_uses(fragment: _Fragment) -> None:
    """Check that pointers into a fragment are only moved on, loaded from and stored to."""
    pending: list[SSAValue] = [fragment.alloca.res]
    while pending:
        pointer = pending.pop()
        for use in pointer.uses:
            user = use.operation
            match user:
                case llvm.GEPOp() if use.index != 0:
                    _refuse(user, "persistent SIMT fragment pointer must be the base of llvm.getelementptr")
                case llvm.GEPOp():
                    pending.append(user.result)
                case llvm.StoreOp() if use.index != 1:
                    _refuse(user, "persistent SIMT fragment pointer must not be stored as a value")
                case llvm.StoreOp() | llvm.LoadOp():
                    _verify_place(user)
                case _:
                    _refuse(
                        user,
                        f"unsupported use of persistent SIMT fragment pointer by '{user.name}'; load and store its "
                        "elements instead",
                    )


def _verify_place(access: Operation) -> None:
    """Check that an access is in a section; in loops there that are unrolled, or not in any."""
    section = _section_of(access)
    if section is None:
        _refuse(access, "persistent SIMT fragment access must be inside pto.section.simt; move it into one")
    parent = access.parent_op()
    while parent is not None and parent is not section:
        if not isinstance(parent, scf.ForOp) or _rounds(parent) is None:
            _refuse(
                access,
                "persistent SIMT fragment access must be directly inside the single top-level block of the "
                'pto.section.simt body; move it out of the branch or loop, or write pto.unroll = "full" on a loop '
                "with constant bounds",
            )
        parent = parent.parent_op()


def _rounds(loop: scf.ForOp) -> range | None:
    """Return the numbers that a loop counts, if it is one that PTOAS unrolls."""
    mode = loop.attributes.get("pto.unroll")
    bounds = [constant_value(bound) for bound in (loop.lb, loop.ub, loop.step)]
    if not isinstance(mode, StringAttr) or mode.data != "full" or None in bounds:
        return None
    first, behind, step = (bound or 0 for bound in bounds)
    return range(first, behind, step) if step > 0 and behind > first else None


# ---------------------------------------------------------------------------------------------
# Accesses
# ---------------------------------------------------------------------------------------------


class _Accesses:
    """Collects the accesses to fragments in the order in which threads make them, with unrolled loops."""

    def __init__(self, fragments: Sequence[_Fragment]) -> None:
        self._pointers: dict[SSAValue, _Pointer] = {each.alloca.res: _Pointer(each, 0) for each in fragments}
        self._numbers: dict[SSAValue, int] = {}
        self._seen = 0

    def collect(self, function: FuncOp) -> None:
        for block in function.body.blocks:
            self._block(block)

    def _block(self, block: Block) -> None:
        for op in block.ops:
            self._seen += 1
            if self._seen > MAX_UNROLLED:
                _refuse(op, f"more than {MAX_UNROLLED} operations are unrolled in front of this one; unroll less")
            self._operation(op)
            rounds = _rounds(op) if isinstance(op, scf.ForOp) and _section_of(op) is not None else None
            if isinstance(op, scf.ForOp) and rounds is not None:
                for number in rounds:
                    self._numbers[op.body.block.args[0]] = number
                    self._block(op.body.block)
                continue
            for region in op.regions:
                for inner in region.blocks:
                    self._block(inner)

    def _operation(self, op: Operation) -> None:
        match op:
            case llvm.GEPOp() if op.ptr in self._pointers:
                base = self._pointers[op.ptr]
                size = _bytes(op.elem_type)
                if size is None:
                    _refuse(op, f"GEP element type must have a non-zero fixed byte size, got {op.elem_type}")
                self._pointers[op.result] = _Pointer(base.fragment, base.offset + self._index(op) * size)
            case llvm.LoadOp() if op.ptr in self._pointers:
                self._access(op, op.dereferenced_value.type, self._pointers[op.ptr])
            case llvm.StoreOp() if op.ptr in self._pointers:
                self._access(op, op.value.type, self._pointers[op.ptr])
            case _ if len(op.results) == 1:
                number = self._number(op)
                if number is not None:
                    self._numbers[op.results[0]] = number
            case _:
                pass

    def _index(self, op: llvm.GEPOp) -> int:
        """Return the index of a pointer that is moved on."""
        stated = op.rawConstantIndices.get_values()
        if len(stated) != 1:
            _refuse(
                op,
                "persistent SIMT fragment currently requires llvm.getelementptr to have exactly one index, not "
                f"{len(stated)}",
            )
        if not op.ssa_indices:
            return stated[0]
        found = self._numbers.get(op.ssa_indices[0])
        if found is None:
            _refuse(op, "persistent fragment GEP index must be a compile-time integer constant")
        return found

    def _number(self, op: Operation) -> int | None:
        """Return the integer that an operation computes; None if it is not known."""
        given = [self._numbers.get(operand) for operand in op.operands]
        match op, given:
            case arith.ConstantOp(), _:
                return constant_value(op.result)
            case llvm.ConstantOp(), _:
                return op.value.value.data if isinstance(op.value, IntegerAttr) else None
            case ((arith.IndexCastOp() | arith.ExtSIOp() | arith.ExtUIOp()), [int(number)]):
                return number
            case arith.AddiOp(), [int(left), int(right)]:
                return left + right
            case arith.SubiOp(), [int(left), int(right)]:
                return left - right
            case arith.MuliOp(), [int(left), int(right)]:
                return left * right
            case _:
                return None

    def _access(self, op: Operation, accessed: Attribute, pointer: _Pointer) -> None:
        fragment, offset = pointer.fragment, pointer.offset
        lanes = _lanes(op, accessed, fragment.element)
        if offset < 0 or offset % fragment.bytes:
            _refuse(
                op,
                f"persistent SIMT fragment byte offset {offset} must be non-negative and aligned to element byte size "
                f"{fragment.bytes}",
            )
        if offset + lanes * fragment.bytes > fragment.count * fragment.bytes:
            several = "" if lanes == 1 else f" with {lanes} scalar lane(s)"
            _refuse(
                op,
                f"persistent SIMT fragment access at byte offset {offset}{several} exceeds allocation size "
                f"{fragment.count * fragment.bytes}",
            )
        section = _section_of(op)
        assert section is not None
        first = offset // fragment.bytes
        fragment.accesses += [_Access(op, section, place) for place in range(first, first + lanes)]


def _lanes(op: Operation, accessed: Attribute, element: Attribute) -> int:
    """Return how many elements an access has."""
    lanes, scalar = 1, accessed
    if isinstance(accessed, VectorType):
        vector = cast("VectorType[Attribute]", accessed)
        shape, scalar = vector.get_shape(), vector.element_type
        if len(shape) != 1:
            _refuse(op, "persistent SIMT fragment vector access must be fixed-length and one-dimensional")
        (lanes,) = shape
        if lanes not in _LANES:
            _refuse(
                op,
                f"persistent SIMT fragment currently supports only 2- or 4-lane vector accesses, got {lanes} lanes",
            )
        ordering = op.ordering if isinstance(op, llvm.LoadOp | llvm.StoreOp) else None
        if ordering is not None and ordering.value.data:
            _refuse(op, "persistent SIMT fragment vector access cannot be volatile or atomic")
    if scalar != element:
        _refuse(
            op,
            f"persistent SIMT fragment access element type {scalar} must match alloca element type {element}",
        )
    return lanes


# ---------------------------------------------------------------------------------------------
# Sections
# ---------------------------------------------------------------------------------------------


def _verify_sections(fragment: _Fragment, sections: Sequence[InstructionOp]) -> None:
    """Check that one section stores the elements first, and that those after it have its threads."""
    if not fragment.accesses:
        _refuse(
            fragment.alloca,
            "persistent SIMT fragment requires at least one llvm.load or llvm.store inside pto.section.simt",
        )
    used = {access.section for access in fragment.accesses}
    first = next(section for section in sections if section in used)
    if not all(_dominates(first, section) for section in used):
        _refuse(
            fragment.alloca,
            "persistent SIMT fragment requires a unique init section that dominates every access section; store its "
            "elements in a section in front of the branch",
        )
    for access in fragment.accesses:
        if access.section is first and access.place not in fragment.kept:
            if not isinstance(access.op, llvm.StoreOp):
                _refuse(
                    access.op,
                    f"persistent SIMT fragment element offset {access.place} must be initialized by a store before its "
                    "first load in the init section",
                )
            fragment.kept.add(access.place)
    for access in fragment.accesses:
        if access.place not in fragment.kept:
            _refuse(
                access.op,
                f"persistent SIMT fragment element offset {access.place} is not initialized by the init section and is "
                "not part of residentElements; store it there too",
            )
    wanted = _threads(first)
    for section in sections:
        if section is not first and _dominates(first, section) and _threads(section) != wanted:
            _refuse(
                section,
                f"persistent SIMT fragment carry section launch dimensions {_threads(section)} must match init section "
                f"dimensions {wanted}",
            )


def _threads(section: InstructionOp) -> tuple[int, ...]:
    stated: Iterator[Attribute | None] = (section.attribute(name) for name in ("dimX", "dimY", "dimZ"))
    return tuple(cast("IntegerAttr[IntegerType]", each).value.data if isinstance(each, IntegerAttr) else 0
                 for each in stated)  # fmt: skip


def _dominates(first: Operation, other: Operation) -> bool:
    """Return True if `first` has run whenever `other` does: it is before it in a block that `other` is inside of."""
    outer: Operation | None = other
    while outer is not None and outer.parent is not first.parent:
        outer = outer.parent_op()
    return outer is not None and (outer is first or first.is_before_in_block(outer))


def _verify_slots(function: FuncOp, fragments: Sequence[_Fragment]) -> None:
    """Check that the slots suffice; elements of 64 bits begin at an even one."""
    following = 0
    for fragment in fragments:
        width = 1 if fragment.bytes * 8 <= _WORD else 2
        for place in sorted(fragment.kept):
            slot = following + following % 2 if width > 1 else following
            if slot > MAX_KEPT_WORDS - width:
                _refuse(
                    fragment.alloca,
                    f"persistent SIMT fragment slot allocation in function '{function.sym_name.data}' exceeds the "
                    f"{MAX_KEPT_WORDS}-slot limit: element offset {place} of type '{fragment.element}' needs {width} "
                    f"slot(s), next candidate slot is {slot}; keep fewer elements",
                )
            following = slot + width
