"""The choice of layouts: constraint propagation over the values of a program, and where a layout has to be changed.

Operations ask for layouts (`requests.py`) and relate those of their operands and results (`transfer.py`). Requests are
granted by urgency; what is granted is propagated along the relations before the next. The first layout of a value
stays, and an operation that needs another gets the value changed in front of it. Values that branches, loops and calls
pass on are one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue, Use

from ....diagnostics.records import record
from ....dialects.pto.registers import VmiLayoutAttr, VmiMaskType, VmiVRegType
from .control_flow import Functions, inner_first, virtual_values
from .layouts import contiguous, is_virtual, layout_of
from .problems import CONTRACT, fail
from .requests import Urgency, Wish, wishes_of
from .transfer import Port, binds, port_of, relations


@record
class Change:
    """An operand that needs another layout than its value has."""

    op: Operation
    index: int
    layout: VmiLayoutAttr


@dataclass
class Choice:
    """The layout of a value, None as long as none is possible, and the operands that need others."""

    layout: VmiLayoutAttr | None = None
    changes: list[Change] = field(default_factory=list[Change])

    def at(self, op: Operation, index: int) -> VmiLayoutAttr | None:
        """Return the layout that an operand has."""
        return next((each.layout for each in self.changes if (each.op, each.index) == (op, index)), self.layout)


class _Propagation:
    """Grants requests, and follows the relations of operations from what is granted."""

    def __init__(self) -> None:
        self.choices: dict[SSAValue, Choice] = {}
        self._equal: dict[SSAValue, list[SSAValue]] = {}
        self._pending: list[tuple[SSAValue, VmiLayoutAttr]] = []
        self._seen: set[tuple[SSAValue, VmiLayoutAttr]] = set()
        self._seen_operands: set[tuple[Operation, int, VmiLayoutAttr]] = set()

    def equate(self, one: SSAValue, other: SSAValue) -> None:
        """Have two values the same layout."""
        if one is other or isinstance(one.type, VmiVRegType) is not isinstance(other.type, VmiVRegType):
            return
        for value, same in ((one, other), (other, one)):
            known = self._equal.setdefault(value, [])
            if not any(each is same for each in known):
                known.append(same)

    def layout(self, value: SSAValue) -> VmiLayoutAttr | None:
        """Return the layout granted to a value."""
        choice = self.choices.get(value)
        return choice.layout if choice is not None else None

    def can_take(self, op: Operation, index: int, layout: VmiLayoutAttr | None) -> bool:
        """Return True if an operand may have a layout."""
        if layout is None:
            return False
        port = Port("operand", index)
        return any(relation.get(port) == layout for relation in relations(op, port, layout) or ())

    def _can_give(self, value: SSAValue, layout: VmiLayoutAttr) -> bool:
        if layout_of(value.type) == layout or isinstance(value, BlockArgument):
            return True
        assert isinstance(value, OpResult)
        if not binds(value.op):
            return True
        port = Port("result", value.index)
        return any(relation.get(port) == layout for relation in relations(value.op, port, layout) or ())

    def request(self, value: SSAValue, layout: VmiLayoutAttr) -> None:
        """Ask for the layout of a value; the first that its operation can give is granted."""
        if not is_virtual(value):
            return
        choice = self.choices.setdefault(value, Choice())
        if choice.layout is None and self._can_give(value, layout):
            choice.layout = layout
            if (value, layout) not in self._seen:
                self._seen.add((value, layout))
                self._pending.append((value, layout))

    def request_operand(self, op: Operation, index: int, layout: VmiLayoutAttr) -> None:
        """Ask for the layout of an operand: that of its value, or else a change in front of the operation."""
        value = op.operands[index]
        if not is_virtual(value):
            return
        choice = self.choices.setdefault(value, Choice())
        if choice.layout is None and isinstance(value, OpResult):
            self.request(value, layout)
        if choice.layout != layout:
            if not any((each.op, each.index) == (op, index) for each in choice.changes):
                choice.changes.append(Change(op, index, layout))
            if choice.at(op, index) != layout:
                return
        if (op, index, layout) not in self._seen_operands:
            self._seen_operands.add((op, index, layout))
            self._through(op, Port("operand", index), layout)

    def run(self) -> None:
        """Follow all relations."""
        while self._pending:
            value, layout = self._pending.pop()
            for equal in self._equal.get(value, ()):
                self.request(equal, layout)
            if isinstance(value, OpResult):
                self._through(value.op, Port("result", value.index), layout)
            uses: list[Use] = list(value.uses)
            for use in uses:
                if self.choices[value].at(use.operation, use.index) == layout:
                    self._through(use.operation, port_of(use.operation, value), layout)

    def _through(self, op: Operation, port: Port, layout: VmiLayoutAttr) -> None:
        """Follow the relations of one operation, where a single one is left."""
        found = relations(op, port, layout)
        if found is None or len(found) != 1:
            return
        for each, wanted in found[0].items():
            if each.kind == "operand":
                self.request_operand(op, each.index, wanted)
            else:
                self.request(op.results[each.index], wanted)


class _Sets:
    """Values that are one, and what is asked of them: layouts of vectors, the layouts that masks have."""

    def __init__(self) -> None:
        self._parent: dict[SSAValue, SSAValue] = {}
        self.natural: dict[SSAValue, VmiLayoutAttr] = {}
        self.preferred: dict[SSAValue, VmiLayoutAttr] = {}

    def add(self, value: SSAValue) -> None:
        """Add a value with the layout that it has."""
        if value not in self._parent:
            self._parent[value] = value
            if (layout := layout_of(value.type)) is not None:
                self.natural[value] = layout

    def root(self, value: SSAValue) -> SSAValue:
        """Return the value that stands for all that are one with it."""
        self.add(value)
        while self._parent[value] is not value:
            self._parent[value] = value = self._parent[self._parent[value]]
        return value

    def values(self) -> Iterator[SSAValue]:
        """Yield all values, in the order of the program."""
        return iter(list(self._parent))

    def chosen(self, value: SSAValue) -> VmiLayoutAttr | None:
        """Return what is asked of a value so far."""
        root = self.root(value)
        return self.natural.get(root) or self.preferred.get(root)

    def unite(self, one: SSAValue, other: SSAValue, op: Operation) -> None:
        """Make two values one. Raises LoomError if they have different layouts."""
        if isinstance(one.type, VmiVRegType) is not isinstance(other.type, VmiVRegType):
            return
        first, second = self.root(one), self.root(other)
        if first is second:
            return
        mask = isinstance(one.type, VmiMaskType)
        for kind, known in (("natural", self.natural), ("preferred", self.preferred)):
            _agree("mask" if mask else kind, known.get(first), known.get(second), op)
            if second in known:
                known.setdefault(first, known[second])
        self._parent[second] = first

    def ask(self, known: dict[SSAValue, VmiLayoutAttr], kind: str, value: SSAValue, wish: Wish) -> None:
        """Note what is asked of a value. Raises LoomError if another layout is."""
        root = self.root(value)
        _agree(kind, known.get(root), wish.layout, wish.op)
        known[root] = wish.layout


def _agree(kind: str, one: VmiLayoutAttr | None, other: VmiLayoutAttr | None, op: Operation) -> None:
    if one is not None and other is not None and one != other:
        what = "mask layouts" if kind == "mask" else f"{kind} layouts"
        fail(op, CONTRACT, f"conflicting {what} {one} and {other}", "bring both to one width or shape before they meet")


def assign(module: ModuleOp) -> dict[SSAValue, Choice]:
    """Return the layouts of all vectors and masks. Raises LoomError where operations ask for what cannot be."""
    sets = _Sets()
    for value in virtual_values(module):
        sets.add(value)
    explicit = {value: layout for value in sets.values() if (layout := layout_of(value.type)) is not None}
    seeds, vectors, masks = _collect(module, sets)

    propagation = _Propagation()
    for value in sets.values():
        propagation.equate(sets.root(value), value)
    for value, layout in explicit.items():
        if isinstance(value.type, VmiVRegType):
            propagation.request(value, layout)
    for value in sets.values():
        root = sets.root(value)
        if isinstance(value.type, VmiMaskType) and root in sets.natural:
            propagation.request(value, sets.natural[root])
    propagation.run()
    for urgency in Urgency:
        _grant(propagation, urgency, seeds, vectors, masks)
    _default(propagation, list(sets.values()))
    return propagation.choices


def _collect(module: ModuleOp, sets: _Sets) -> tuple[list[tuple[SSAValue, Wish]], list[Wish], list[Wish]]:
    """Return what operations ask of values, of vectors that they take and of masks that they take."""
    functions = Functions(module)
    seeds: list[tuple[SSAValue, Wish]] = []
    vectors: list[Wish] = []
    masks: list[Wish] = []
    for op in inner_first(module):
        if op.name in ("pto.vmi.mask_and", "pto.vmi.mask_or", "pto.vmi.mask_xor", "pto.vmi.mask_not"):
            for other in (*op.operands[1:], op.results[0]):
                sets.unite(op.operands[0], other, op)
        if op.name == "pto.vmi.ensure_mask_layout":
            sets.unite(op.operands[0], op.results[0], op)
        wishes = wishes_of(op, sets.chosen)
        for kind, known, asked in (
            ("natural", sets.natural, wishes.natural),
            ("preferred", sets.preferred, wishes.preferred),
        ):
            for wish in asked:
                value = op.results[wish.index]
                sets.ask(known, kind, value, wish)
                seeds.append((value, wish))
        vectors += wishes.vectors
        masks += wishes.masks
        for one, other, at in functions.equivalent(op):
            sets.unite(one, other, at)
        _refuse_unknown_functions(op, functions)
    return seeds, vectors, masks


def _refuse_unknown_functions(op: Operation, functions: Functions) -> None:
    indirect = op.name == "func.call_indirect"
    if not (indirect or isinstance(op, func.CallOp)) or not any(map(is_virtual, (*op.operands, *op.results))):
        return
    if indirect or (isinstance(op, func.CallOp) and functions.called(op) is None):
        fail(
            op,
            CONTRACT,
            "VMI typed call requires a direct internal callee with a body",
            "call a function of this module by name, or pass arrays",
        )


def _grant(
    propagation: _Propagation,
    urgency: Urgency,
    seeds: list[tuple[SSAValue, Wish]],
    vectors: list[Wish],
    masks: list[Wish],
) -> None:
    """Grant the requests of one urgency, first of results and then of operands, and propagate them."""
    own = [(value, wish) for value, wish in seeds if wish.urgency == urgency]
    granted = {value for value, _ in own if propagation.layout(value) is not None}
    for value, wish in own:
        if value not in granted:
            propagation.request(value, wish.layout)
    for wish in (*vectors, *masks):
        if wish.urgency != urgency:
            continue
        value = wish.op.operands[wish.index]
        assigned = propagation.layout(value) or layout_of(value.type)
        if value in propagation.choices and propagation.can_take(wish.op, wish.index, assigned):
            continue
        propagation.request_operand(wish.op, wish.index, wish.layout)
    propagation.run()


def _default(propagation: _Propagation, values: list[SSAValue]) -> None:
    """Have what nobody asked for contiguous, vectors first."""
    for kind in (VmiVRegType, VmiMaskType):
        for value in values:
            if isinstance(value.type, kind) and propagation.layout(value) is None:
                propagation.request(value, contiguous())
    propagation.run()
