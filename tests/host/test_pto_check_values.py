"""What a check reports on kernels for all numbers, against runs with some: where it is silent, runs are right."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir import pto
from loomir.dialects import context
from loomir.dialects.ir_text import parse_ir
from loomir.host.pto_check import check
from loomir.operations.pipe_protocol import Behavior
from loomir.runtime import Deadlock

from ..searches import examples

ACC = "!pto.tile_buf<acc, 16x16xf32>"
VEC = "!pto.tile_buf<vec, 16x16xf32>"
MAT = "!pto.tile_buf<mat, 16x16xf32>"

COUNTS = {
    "%n": "", "%w": "", "%c2": "",
    "%less": "%less = arith.subi %n, %c1 : index", "%more": "%more = arith.addi %n, %c1 : index",
    "%twice": "%twice = arith.muli %n, %c2 : index", "%half": "%half = arith.divsi %n, %c2 : index",
}  # fmt: skip

CONDITIONS = {
    "one": "{go} = arith.cmpi eq, %w, %c1 : index",
    "few": "{go} = arith.cmpi slt, %n, %c2 : index",
    "first": "{go} = arith.cmpi eq, {round}, %c0 : index",
    "not last": "{go}_n = arith.addi {round}, %c1 : index\n{go} = arith.cmpi slt, {go}_n, %n : index",
    "mask": "{go}_x = pto.load_scalar %mask[{round}] : !pto.ptr<i32> -> i32\n{go} = arith.cmpi eq, {go}_x, %yes : i32",
}


@dataclass(frozen=True)
class Exchange:
    to_vector: bool
    times: int


@dataclass(frozen=True)
class Loop:
    count: str
    body: tuple[object, ...]


@dataclass(frozen=True)
class Branch:
    condition: str
    body: tuple[object, ...]


def _parts(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    body = st.lists(inner, min_size=1, max_size=2).map(tuple)
    return st.one_of(
        st.builds(Loop, st.sampled_from(sorted(COUNTS)), body),
        st.builds(Branch, st.sampled_from(sorted(CONDITIONS)), body),
    )


plans = st.lists(st.recursive(st.builds(Exchange, st.booleans(), st.integers(1, 2)), _parts, max_leaves=3), max_size=2)


@dataclass
class Writer:
    """Writes one kernel of a plan that both have; now and then it deviates."""

    cube: bool
    deviations: list[int]
    lines: list[str] = field(default_factory=list[str])
    names: int = 0

    def name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def deviates(self) -> bool:
        return bool(self.deviations) and self.deviations.pop() == 0

    def exchange(self, part: Exchange) -> None:
        number, tile = (0, VEC) if part.to_vector else (1, MAT)
        for _ in range(part.times + self.deviates()):
            if self.cube == part.to_vector:
                other, own = ("aiv", ACC) if self.cube else ("aic", VEC)
                self.lines.append(f"pto.tpush_to_{other}(%tile : {own}) {{id = {number}, split = 0}}")
            else:
                other = "aiv" if self.cube else "aic"
                self.lines.append(f"{self.name()} = pto.tpop_from_{other} {{id = {number}, split = 0}} -> {tile}")
                self.lines.append(f"pto.tfree_from_{other} {{id = {number}, split = 0}}")

    def write(self, plan: list[object] | tuple[object, ...], turn: str = "%w") -> None:
        for part in plan:
            match part:
                case Exchange():
                    self.exchange(part)
                case Loop(count, body):
                    name = self.name()
                    count = "%more" if self.deviates() else count
                    self.lines.append(f"scf.for {name} = %c0 to {count} step %c1 {{")
                    self.write(body, name)
                    self.lines.append("}")
                case Branch(condition, body):
                    go = self.name()
                    self.lines += [CONDITIONS[condition].format(go=go, round=turn), f"scf.if {go} {{"]
                    if self.deviates():
                        self.lines.append("} else {")
                    self.write(body, turn)
                    self.lines.append("}")
                case _:
                    raise AssertionError(part)

    def text(self, slots: int, *, in_global_memory: bool) -> str:
        kind, end = ("cube", "aic") if self.cube else ("vector", "aiv")
        lines = [f"%c{value} = arith.constant {value} : index" for value in range(3)]
        lines += ["%yes = arith.constant 1 : i32", *filter(None, COUNTS.values())]
        for number, (name, taker, space) in enumerate((("down", "vector", "vec"), ("up", "cube", "mat"))):
            if kind == taker:
                where = f"size = {slots * 1024}, location = #pto.address_space<{space}>, auto = true"
                lines.append(f'%{name} = pto.reserve_buffer {{name = "{name}", {where}}} -> i32')
            else:
                lines.append(f'%{name} = pto.import_reserved_buffer {{name = "{name}", peer_func = @{taker}}} -> i32')
            buffer = f"{'v2c' if number else 'c2v'}_consumer_buf = %{name} : i32"
            at = f"gm_slot_buffer = %slots_{name} : !pto.ptr<f32>, " if in_global_memory else ""
            numbers = f"id = {number}, dir_mask = {number + 1}, slot_size = 1024, slot_num = {slots}"
            lines.append(f"pto.{end}_initialize_pipe {{{numbers}}}({at}{buffer})")
        lines.append(f"%tile = pto.alloc_tile : {ACC if self.cube else VEC}")
        arguments = "%n: index, %w: index, %mask: !pto.ptr<i32>, %slots_down: !pto.ptr<f32>, %slots_up: !pto.ptr<f32>"
        body = "\n".join([*lines, *self.lines])
        attributes = f"attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}}"
        return f"func.func @{kind}({arguments}) {attributes} {{\n{body}\nreturn\n}}\n"


@pytest.mark.thorough
@pytest.mark.parametrize("arch", ["ideal", "a2a3", "a5"])
@settings(max_examples=examples(10), deadline=None)
@given(data=st.data())
def test_what_is_told_is_what_happens(arch: Behavior, data: st.DataObject) -> None:
    plan = data.draw(plans)
    slots = data.draw(st.sampled_from([1, 2, 3, 4, 5]))
    writers = Writer(True, []), Writer(False, data.draw(st.lists(st.integers(0, 5), max_size=5)))
    for writer in writers:
        # Both ends of both pipes are there.
        writer.write([*plan, Exchange(True, 1), Exchange(False, 1)])
    text = "".join(writer.text(slots, in_global_memory=arch == "a2a3") for writer in writers)
    module = parse_ir(context(), text, "program.pto")
    found = check(module, arch)
    wrong: dict[tuple[int, int], set[str]] = {}
    told: dict[tuple[int, int], set[str]] = {}
    for n in (0, 1, 2, 5):
        for w in (0, 1):
            arguments = {
                "n": n, "w": w, "mask": np.array([1, 0, 0, 1, 1, 0, 1, 0] * 4, np.int32),
                "slots_down": np.zeros(slots * 256, np.float32), "slots_up": np.zeros(slots * 256, np.float32),
            }  # fmt: skip
            try:
                result = pto.run(module, arch=arch, arguments=arguments, step_limit=200_000)
            except Deadlock:
                wrong[n, w] = told[n, w] = {"deadlock"}
            else:
                wrong[n, w] = {finding.code for finding in result.findings if finding.severity == "error"}
                told[n, w] = {finding.code for finding in result.findings}
    if {finding.code for finding in found} <= {"seeded-credits"}:
        # Whether a push does overwrite for the credits that a5 begins with, depends on who is faster.
        excused = {"early-overwrite"} if found else set[str]()
        assert not any(codes - excused for codes in wrong.values()), wrong
    for finding in found:
        # A run that was lucky in its order warns of what a check calls an error.
        shown = {numbers: codes or finding.code in told[numbers] for numbers, codes in wrong.items()}
        least = re.search(r"whenever %n is at least (\d+)", finding.message)
        if least is not None and finding.severity == "error":
            assert all(is_shown for (n, _), is_shown in shown.items() if n >= int(least[1])), (finding, wrong, told)
        if finding.message.endswith("this happens in every run"):
            assert all(shown.values()), (finding, wrong, told)
        if finding.severity == "error" and "entries are popped in" in finding.message:
            # As far as loops go round, and but for the numbers that the message names.
            assert shown[5, 1], (finding, wrong, told)
