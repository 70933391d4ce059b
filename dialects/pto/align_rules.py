"""Chains of unaligned accesses: each `!pto.align` is made once, and handed on by one instruction after the other.

Stores begin with `pto.init_align` and end with `pto.vstar` or `pto.vstas`; loads begin with `pto.vldas`. A loop hands
such a value on as one that it carries.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import scf
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue

from ...diagnostics.records import record
from .instruction_operation import InstructionOp
from .kernels import ancestors, fail
from .registers import AlignType
from .rules import Rule


@record
class _Chain:
    """Instructions of one kind of chain: what begins it, what hands it on and by which operand, what ends it."""

    begins: str
    continues: Mapping[str, tuple[str, str]]
    """The operand that takes the value, and the result that it becomes, by instruction."""
    ends: tuple[str, ...]
    state: str


_STORES = _Chain(
    "pto.init_align",
    {f"pto.{name}": ("align_in", "align_out") for name in ("pstu", "vstus", "vstur")},
    ("pto.vstas", "pto.vstar"),
    "store",
)
_LOADS = _Chain("pto.vldas", {"pto.vldus": ("align", "updated_align")}, (), "load")


def stores_on(name: str) -> Rule:
    """Return the rule that an operand is of a chain of unaligned stores."""
    return _on(_STORES, name, {"align_in": "align_in type", "value": "value type"}[name])


def loads_on(name: str) -> Rule:
    """Return the rule that an operand is of a chain of unaligned loads."""
    return _on(_LOADS, name, "align type")


def _on(chain: _Chain, name: str, role: str) -> Rule:
    def rule(op: InstructionOp) -> None:
        value = op.operand(name)
        if value is None:
            return
        loop = next((parent for parent in ancestors(op) if isinstance(parent, scf.ForOp)), None)
        if loop is not None and _region_of(value) is not loop.body:
            fail(op, f"{role} must be threaded through scf.for iter_args when used inside a loop")
        root = _root(chain, value, frozenset())
        if root is None:
            maker = value.owner
            got = f", got {maker.name}" if isinstance(maker, Operation) and not isinstance(maker, scf.ForOp) else ""
            fail(op, f"{role} must be produced by {chain.begins} or a prior {chain.state}-state op{got}")
        _check_uses(chain, root, op)

    return rule


def _region_of(value: SSAValue) -> Region | None:
    owner = value.owner
    return owner.parent if isinstance(owner, Block) else owner.parent_region()


def _yielded(region: Region, place: int) -> SSAValue | None:
    """Return what a region yields as its result of a number."""
    block = region.blocks.last
    end = None if block is None else block.last_op
    return end.operands[place] if isinstance(end, scf.YieldOp) and place < len(end.operands) else None


def _root(chain: _Chain, value: SSAValue | None, seen: frozenset[SSAValue]) -> SSAValue | None:
    """Return the value that begins the chain of `value`; None if nothing of its kind does."""
    while value is not None and value not in seen:
        seen |= {value}
        if isinstance(value, BlockArgument):
            loop = value.owner.parent_op()
            place = value.index - 1
            value = loop.iter_args[place] if isinstance(loop, scf.ForOp) and 0 <= place < len(loop.iter_args) else None
            continue
        if not isinstance(value, OpResult):
            return None
        maker = value.op
        if maker.name == chain.begins:
            return value
        if isinstance(maker, InstructionOp) and maker.name in chain.continues:
            value = maker.operand(chain.continues[maker.name][0])
        elif isinstance(maker, scf.ForOp):
            value = _yielded(maker.body, value.index)
        elif isinstance(maker, scf.IfOp):
            roots = [
                _root(chain, _yielded(region, value.index), seen) for region in (maker.true_region, maker.false_region)
            ]
            return roots[0] if roots[0] is roots[1] else None
        else:
            return None
    return None


def _check_uses(chain: _Chain, value: SSAValue, op: InstructionOp) -> None:
    """Raise VerifyException unless each value of a chain is used once, or once in each branch of an `scf.if`."""
    seen: set[SSAValue] = set()
    while value not in seen:
        seen.add(value)
        following: list[SSAValue] = []
        users: list[Operation] = []
        ends = 0
        for use in value.uses:
            user = use.operation
            if user.name in chain.ends:
                ends += 1
                users.append(user)
            elif isinstance(user, InstructionOp) and user.name in chain.continues:
                following.extend(user.result_groups.get(chain.continues[user.name][1], ()))
                users.append(user)
            else:
                following.append(_handed_on(op, user, use.index))
        if len(following) + ends > 1:
            merged = _merged(users)
            if merged is None:
                fail(op, f"!pto.align value must form a single linear {chain.state}-state chain")
            value = merged
        elif following:
            value = following[0]
        else:
            return


def _handed_on(op: InstructionOp, user: Operation, place: int) -> SSAValue:
    """Return the value that a loop makes of one that it takes or yields."""
    if not isinstance(user, scf.ForOp | scf.YieldOp):
        fail(op, f"found unsupported !pto.align consumer {user.name}")
    if isinstance(user, scf.ForOp):
        place -= 3
        if place < 0:
            fail(op, "found unexpected scf.for control operand use for !pto.align")
        arguments = user.body.block.args
        if place + 1 >= len(arguments):
            fail(op, "found invalid scf.for iter_args use for !pto.align")
        return arguments[place + 1]
    loop = user.parent_op()
    if not isinstance(loop, scf.ForOp):
        fail(op, "found !pto.align yielded from non-scf.for loop")
    if place >= len(loop.results):
        fail(op, "found invalid scf.yield result mapping for !pto.align")
    return loop.results[place]


def _merged(users: list[Operation]) -> SSAValue | None:
    """Return the one such value that an `scf.if` returns in whose branches all users are; None if they are not."""
    branches = {id(branch): branch for branch in map(_branch, users)}
    if len(branches) != 1 or (branch := next(iter(branches.values()))) is None:
        return None
    found = [result for result in branch.results if isinstance(result.type, AlignType)]
    return found[0] if len(found) == 1 else None


def _branch(op: Operation) -> scf.IfOp | None:
    parent = op.parent_op()
    return parent if isinstance(parent, scf.IfOp) else None
