"""Control flow: loops and branches, and the numbers of tile and tensor handles that they carry.

A loop is lowered as if its iterations left the meaning of handles unchanged; if they do not, it is lowered again with
the differing numbers as iteration arguments, until a fixed point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import i64
from xdsl.ir import Block, Operation, Region, SSAValue

from ...analysis.pto.pipe_ends import refusal
from .emission import Emitter
from .handles import Handles, is_handle, lowered
from .joining import Form, Lost, Meaning, common_form, meaning_of, numbers_in
from .views import Number


def single_block(op: Operation, region: Region) -> Block:
    """Return the block of a region that has one."""
    if len(region.blocks) != 1:
        raise refusal(op, "has branches between blocks; use scf.if, scf.for and scf.while")
    return region.block


@dataclass
class _Carried:
    """What a loop does with a handle.

    It stands for `first` before the loop. Trips begin with `inside` and end with `end`; `behind` is what it is behind.
    """

    inside: SSAValue
    end: SSAValue
    behind: SSAValue
    first: Meaning
    form: Form | None = None
    """None while every trip leaves it as it is."""
    before: list[Number] = field(default_factory=list[Number])
    """The numbers before the loop."""
    varying: list[int] = field(default_factory=list[int])
    """Which of them trips change."""
    now: list[Number] = field(default_factory=list[Number])
    """The numbers at the start of a trip."""
    met: list[Meaning] = field(default_factory=list[Meaning])
    """What trips ended with."""
    lost: Lost | None = None


class ControlFlow:
    """Lowers loops and branches of one kernel. `body` lowers the operations of a block; its terminator's operands."""

    def __init__(self, emitter: Emitter, handles: Handles, body: Callable[[Block], Sequence[SSAValue]]) -> None:
        self.emitter = emitter
        self.handles = handles
        self.body = body

    def lower(self, op: scf.IfOp | scf.ForOp | scf.WhileOp) -> None:
        """Lower a branch or loop."""
        match op:
            case scf.IfOp():
                self._if(op)
            case scf.ForOp():
                self._for(op)
            case _:
                self._while(op)

    def select(self, op: arith.SelectOp) -> None:
        """Lower a select of two tiles or tensors."""
        condition = self.handles.value(op.cond)
        ways = [self.handles.meaning(op.lhs), self.handles.meaning(op.rhs)]
        form = common_form(ways)
        if isinstance(form, str):
            self.handles.bind(op.result, Lost(op, form))
            return
        emitter = self.emitter
        numbers = [
            one if one == other else emitter.make(arith.SelectOp(condition, emitter.value(one), emitter.value(other)))
            for one, other in zip(*(numbers_in(way, form, emitter) for way in ways), strict=True)
        ]
        self.handles.bind(op.result, meaning_of(form, numbers, emitter))

    # Branches ----------------------------------------------------------------------------------

    def _if(self, op: scf.IfOp) -> None:
        condition, before = self.handles.value(op.cond), self.handles.state()
        blocks: list[Block] = []
        scalars: list[list[SSAValue]] = []
        states: list[dict[SSAValue, Meaning]] = []
        for region in op.regions:
            blocks.append(Block())
            self.handles.restore(before)
            ended: Sequence[SSAValue] = ()
            with self.emitter.inside(blocks[-1]):
                if region.blocks:
                    ended = self.body(single_block(op, region))
                scalars.append([self.handles.value(value) for value in ended if not is_handle(value)])
            state = self.handles.state()
            # What it yields is what its results stand for.
            yielded = {
                result: self.handles.meaning(value)
                for result, value in zip(op.results, ended, strict=False)
                if is_handle(value)
            }
            states.append(state | yielded)
        self.handles.restore(before)
        meetings: list[tuple[SSAValue, Form, list[Number], list[int]]] = []
        for key in (*before, *(result for result in op.results if is_handle(result))):
            ways = [state[key] for state in states]
            form = common_form(ways)
            if ways.count(ways[0]) == len(ways):
                self.handles.bind(key, ways[0])
            elif isinstance(form, str):
                self.handles.bind(key, _lost(op, ways, form))
            else:
                numbers = [self._at_end(block, way, form) for block, way in zip(blocks, ways, strict=True)]
                varying = [place for place, each in enumerate(zip(*numbers, strict=True)) if each[0] != each[1]]
                for own, each in zip(scalars, numbers, strict=True):
                    own += [self.emitter.value(each[place]) for place in varying]
                meetings.append((key, form, numbers[0], varying))
        types = [lowered(result.type) for result in op.results if not is_handle(result)]
        count = len(types)
        types += [i64] * sum(len(varying) for *_, varying in meetings)
        regions: list[Region] = []
        for region, block, own in zip(op.regions, blocks, scalars, strict=True):
            if not region.blocks and not types:
                regions.append(Region())
                continue
            with self.emitter.inside(block):
                self.emitter.append(scf.YieldOp(*own))
            regions.append(Region(block))
        new = scf.IfOp.create(
            operands=[condition],
            result_types=types,
            properties=op.properties,
            attributes=op.attributes,
            regions=regions,
        )
        self.emitter.append(new)
        self._scalar_results(op, new)
        results = iter(new.results[count:])
        for key, form, numbers, varying in meetings:
            for place in varying:
                numbers[place] = next(results)
            self.handles.bind(key, meaning_of(form, numbers, self.emitter))

    def _at_end(self, block: Block, meaning: Meaning, form: Form) -> list[Number]:
        """Return the numbers of a meaning at the end of a block."""
        with self.emitter.inside(block):
            return numbers_in(meaning, form, self.emitter)

    # Loops -------------------------------------------------------------------------------------

    def _for(self, op: scf.ForOp) -> None:
        old, before = single_block(op, op.body), self.handles.state()
        bounds = [self.handles.value(operand) for operand in (op.lb, op.ub, op.step)]
        firsts = [self.handles.value(operand) for operand in op.iter_args if not is_handle(operand)]
        last = old.last_op
        assert last is not None
        own = zip(old.args[1:], last.operands, op.results, op.iter_args, strict=True)
        carried = self._carried(before, own)
        with self.handles.trials.of_loop() as settled:
            while True:
                self.handles.restore(before)
                numbers = self._before(carried)
                types = [lowered(arg.type) for arg in old.args if not is_handle(arg)]
                block = Block(arg_types=[*types, *[i64] * sum(len(each.varying) for each in carried)])
                self._arguments(old.args, block)
                self._enter(carried, block.args[len(types) :])
                with self.emitter.inside(block):
                    ended = self.body(old)
                    self.emitter.at = last
                    yielded = [self.handles.value(value) for value in ended if not is_handle(value)]
                    behind = self._end(op, carried)
                    if behind is not None and settled():
                        self.emitter.append(scf.YieldOp(*yielded, *behind))
                        break
                _discard(block)
        self.handles.restore(before)
        new = scf.ForOp.create(
            operands=[*bounds, *firsts, *numbers],
            result_types=[*(value.type for value in firsts), *[i64] * sum(len(each.varying) for each in carried)],
            properties=op.properties,
            attributes=op.attributes,
            regions=[Region(block)],
        )
        self.emitter.at = op
        self.emitter.append(new)
        self._scalar_results(op, new)
        self._leave(op, carried, new.results[len(firsts) :])

    def _while(self, op: scf.WhileOp) -> None:
        test, body = single_block(op, op.before_region), single_block(op, op.after_region)
        before = self.handles.state()
        firsts = [self.handles.value(operand) for operand in op.arguments if not is_handle(operand)]
        last, condition = body.last_op, test.last_op
        assert last is not None and isinstance(condition, scf.ConditionOp)
        # The results are those of the test, not what a trip ends with.
        carried = self._carried(before, zip(test.args, last.operands, test.args, op.arguments, strict=True))
        passed_on: dict[SSAValue, SSAValue] = {
            arg: value for arg, value in zip(body.args, condition.args, strict=True) if is_handle(arg)
        }
        with self.handles.trials.of_loop() as settled:
            while True:
                self.handles.restore(before)
                numbers = self._before(carried)
                types = [lowered(arg.type) for arg in test.args if not is_handle(arg)]
                tested = Block(arg_types=[*types, *[i64] * sum(len(each.varying) for each in carried)])
                self._arguments(test.args, tested)
                self._enter(carried, tested.args[len(types) :])
                with self.emitter.inside(tested):
                    self.body(test)
                    self.emitter.at = condition
                    passed = [self.handles.value(value) for value in condition.args if not is_handle(value)]
                    count = len(passed)
                    decided = self.handles.value(condition.condition)
                    state = self.handles.state() | {
                        arg: self.handles.meaning(value) for arg, value in passed_on.items()
                    }
                    forwarded = self._made_in(tested, state, {*before, *passed_on})
                    passed += forwarded
                    self.emitter.append(scf.ConditionOp(decided, *passed))
                block = Block(arg_types=[value.type for value in passed])
                self._arguments(body.args, block)
                self._pass_on(
                    [*before, *passed_on], before, state, dict(zip(forwarded, block.args[count:], strict=True))
                )
                with self.emitter.inside(block):
                    ended = self.body(body)
                    self.emitter.at = last
                    yielded = [self.handles.value(value) for value in ended if not is_handle(value)]
                    behind = self._end(op, carried)
                    if behind is not None and settled():
                        self.emitter.append(scf.YieldOp(*yielded, *behind))
                        break
                _discard(block)
                _discard(tested)
        new = scf.WhileOp.create(
            operands=[*firsts, *numbers],
            result_types=[value.type for value in passed],
            properties=op.properties,
            attributes=op.attributes,
            regions=[Region(tested), Region(block)],
        )
        self.emitter.at = op
        self.emitter.append(new)
        self._scalar_results(op, new)
        results: dict[SSAValue, Meaning] = {
            result: state[arg] for arg, result in zip(body.args, op.results, strict=True) if is_handle(arg)
        }
        values = dict(zip(forwarded, new.results[count:], strict=True))
        self._pass_on([*before, *results], before, state | results, values)

    def _carried(
        self, before: Mapping[SSAValue, Meaning], own: Iterable[tuple[SSAValue, SSAValue, SSAValue, SSAValue]]
    ) -> list[_Carried]:
        """Return the handles that iterations may change: those from outside, and iteration arguments."""
        return [
            *(_Carried(handle, handle, handle, meaning) for handle, meaning in before.items()),
            *(
                _Carried(inside, end, behind, self.handles.meaning(first))
                for inside, end, behind, first in own
                if is_handle(inside)
            ),
        ]

    def _before(self, carried: Sequence[_Carried]) -> list[SSAValue]:
        """Return the meanings of handles before the loop."""
        found: list[SSAValue] = []
        for each in carried:
            if each.form is not None:
                each.before = numbers_in(each.first, each.form, self.emitter)
                found += [self.emitter.value(each.before[place]) for place in each.varying]
        return found

    def _arguments(self, old: Sequence[SSAValue], block: Block) -> None:
        """Bind the scalar arguments of a block."""
        for argument, value in zip((argument for argument in old if not is_handle(argument)), block.args, strict=False):
            value.name_hint = argument.name_hint
            self.handles.values[argument] = value

    def _enter(self, carried: Sequence[_Carried], arguments: Sequence[SSAValue]) -> None:
        """Bind handles to the arguments at the start of an iteration."""
        given = iter(arguments)
        for each in carried:
            if each.lost is not None:
                self.handles.bind(each.inside, each.lost)
            elif each.form is None:
                self.handles.bind(each.inside, each.first)
            else:
                each.now = list(each.before)
                for place in each.varying:
                    each.now[place] = next(given)
                self.handles.bind(each.inside, meaning_of(each.form, each.now, self.emitter))

    def _end(self, op: Operation, carried: Sequence[_Carried]) -> list[SSAValue] | None:
        """Return what an iteration yields; None if it changes what it was lowered to keep."""
        keeps = True
        found: list[SSAValue] = []
        for each in carried:
            if each.lost is not None:
                continue
            end = self.handles.meaning(each.end)
            if each.form is None and end == each.first:
                continue
            form = common_form([each.first, *each.met, end])
            if isinstance(form, str):
                each.lost, each.form, each.varying = _lost(op, [end], form), None, []
                keeps = False
                continue
            numbers = numbers_in(end, form, self.emitter)
            if form != each.form:
                each.met.append(end)
                each.form = form
                each.now = numbers_in(each.first, form, self.emitter)
                each.varying = []
                keeps = False
            changed = [
                place
                for place, (now, number) in enumerate(zip(each.now, numbers, strict=True))
                if place not in each.varying and now != number
            ]
            if changed:
                each.varying += changed
                keeps = False
            found += [self.emitter.value(numbers[place]) for place in each.varying]
        return found if keeps else None

    def _leave(self, op: Operation, carried: Sequence[_Carried], results: Sequence[SSAValue]) -> None:
        """Bind handles to the results of a loop."""
        given = iter(results)
        for each in carried:
            if each.lost is not None:
                self.handles.bind(each.behind, each.lost)
            elif each.form is None:
                self.handles.bind(each.behind, each.first)
            else:
                numbers = list(each.before)
                for place in each.varying:
                    numbers[place] = next(given)
                self.handles.bind(each.behind, meaning_of(each.form, numbers, self.emitter))

    def _made_in(self, block: Block, state: Mapping[SSAValue, Meaning], keys: set[SSAValue]) -> list[SSAValue]:
        """Return the numbers of handles that are defined in a block."""
        found: dict[SSAValue, None] = {}
        for key in state:
            form = common_form([state[key]]) if key in keys else ""
            if isinstance(form, Form):
                for number in numbers_in(state[key], form, self.emitter):
                    if isinstance(number, SSAValue) and _block_of(number) is block:
                        found[number] = None
        return list(found)

    def _pass_on(
        self,
        keys: Iterable[SSAValue],
        before: Mapping[SSAValue, Meaning],
        state: Mapping[SSAValue, Meaning],
        values: Mapping[SSAValue, SSAValue],
    ) -> None:
        """Rebind handles to their meanings elsewhere, by other values."""
        self.handles.restore(before)
        for key in keys:
            meaning = state[key]
            form = common_form([meaning])
            if isinstance(form, Form):
                numbers = [
                    values.get(number, number) if isinstance(number, SSAValue) else number
                    for number in numbers_in(meaning, form, self.emitter)
                ]
                meaning = meaning_of(form, numbers, self.emitter)
            self.handles.bind(key, meaning)

    def _scalar_results(self, op: Operation, new: Operation) -> None:
        for old, result in zip((old for old in op.results if not is_handle(old)), new.results, strict=False):
            result.name_hint = old.name_hint
            self.handles.values[old] = result


def _discard(block: Block) -> None:
    """Erase operations of a discarded attempt."""
    for op in list(block.ops):
        op.detach()
        op.erase(safe_erase=False)


def _block_of(value: SSAValue) -> Block | None:
    """Return the block that defines a value."""
    return value.owner if isinstance(value.owner, Block) else value.owner.parent


def _lost(op: Operation, ways: Sequence[Meaning], reason: str) -> Lost:
    """Return the meaning of an unusable handle; one lost before keeps its reason."""
    return next((way for way in ways if isinstance(way, Lost)), Lost(op, reason))
