"""Channels on the engine: waits, entries and findings, against a model that executes one event at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.parser import Parser

from loomir.diagnostics.errors import LoomError
from loomir.dialects import context
from loomir.host import machines
from loomir.runtime import Deadlock, Machine
from loomir.runtime.executors import OF_CHIPS

from ...searches import examples

EXECUTORS = list(OF_CHIPS)

OUT = 4096
"""Where the consumer's results begin in its memory."""


@dataclass(frozen=True)
class Case:
    """A channel, and what its ends do: the producer `pushes`, the consumer pops `ahead` entries, then frees them, so
    often that it pops `pops` in all. `to_lanes` says that the lanes consume, else they produce."""

    depth: int
    period: int
    lanes: int
    seed: int
    to_lanes: bool
    pushes: int
    pops: int
    ahead: int
    drain: bool = False
    blocks: int = 2


def text(case: Case) -> str:
    """The program: entry number i holds 100 * block + 10 * i (+ lane, where lanes produce) in each lane's half."""
    one, many = "@one on [0, :]", f"@many on [1:{1 + case.lanes}, :]"
    lane = "%x1 = flow.coordinate x : i64\n %lane = arith.subi %x1, %c1 : i64"
    none = "%lane = arith.constant 0 : i64"
    head = """%c0 = arith.constant 0 : i64
        %c1 = arith.constant 1 : i64
        %c4 = arith.constant 4 : i64
        %c8 = arith.constant 8 : i64
        %c10 = arith.constant 10 : i64
        %c100 = arith.constant 100 : i64
        %y = flow.coordinate y : i64"""
    ring = 8 * case.depth
    base = f"""%ring = arith.constant {ring} : i64
        %yring = arith.muli %y, %ring : i64
        %half = arith.muli %lane, %c4 : i64
        %base0 = arith.addi %b, %yring : i64
        %base = arith.addi %base0, %half : i64"""
    drain = "flow.drain @c" if case.drain else ""
    tile = "extents [1] strides [1] : !flow.tile<i32>"
    halves = "\n".join(
        f"""%h{k} = arith.constant {4 * k} : i64
          %b{k} = arith.addi %base, %h{k} : i64
          %t{k} = flow.tile @gm[%b{k}] slot @c[%i] of {case.depth} by 8 as written {tile}
          %k{k} = arith.constant {k} : i64
          %w{k} = arith.addi %v, %k{k} : i64
          %v{k} = arith.trunci %w{k} : i64 to i32
          flow.tile_apply "fill" %t{k}(%v{k}) : !flow.tile<i32>(i32)"""
        for k in range(case.lanes if case.to_lanes else 1)
    )
    producer = f"""flow.func @main(%n: i64, %b: i64) {{
        {head}
        {none if case.to_lanes else lane}
        {base}
        scf.for %k = %c0 to %n step %c1 : i64 {{
          %i = flow.acquire @c : i64
          %i10 = arith.muli %k, %c10 : i64
          %y100 = arith.muli %y, %c100 : i64
          %row = arith.addi %i10, %y100 : i64
          %v = arith.addi %row, %lane : i64
          {halves}
          flow.commit @c
        }}
        {drain}
        flow.return
      }}"""
    reads = "\n".join(
        f"""%h{k} = arith.constant {4 * k} : i64
          %b{k} = arith.addi %base, %h{k} : i64
          %t{k} = flow.tile @gm[%b{k}] slot @c[%i] of {case.depth} by 8 as read {tile}
          %o{k} = arith.constant {OUT + 4 * k} : i64
          %place{k} = arith.addi %entry, %o{k} : i64
          %d{k} = flow.tile @m[%place{k}] {tile}
          flow.tile_apply "copy" %d{k}(%t{k}) : !flow.tile<i32>(!flow.tile<i32>)"""
        for k in range(1 if case.to_lanes else case.lanes)
    )
    consumer = f"""flow.func @main(%n: i64, %b: i64, %ahead: i64) {{
        {head}
        {lane if case.to_lanes else none}
        {base}
        scf.for %k = %c0 to %n step %ahead : i64 {{
          scf.for %j = %c0 to %ahead step %c1 : i64 {{
            %i = flow.wait @c : i64
            %entry = arith.muli %i, %c8 : i64
            {reads}
          }}
          scf.for %j = %c0 to %ahead step %c1 : i64 {{
            flow.release @c
          }}
        }}
        flow.return
      }}"""
    on_one, on_many = (producer, consumer) if case.to_lanes else (consumer, producer)
    names = ("@one", "@many") if case.to_lanes else ("@many", "@one")
    roles = ("producer", "consumer") if case.to_lanes else ("consumer", "producer")
    return f"""flow.fabric @k target "a5" grid {1 + case.lanes} by {case.blocks} {{
      flow.space @gm 0
      flow.channel @c from {names[0]} to {names[1]} depth {case.depth} period {case.period} lanes {case.lanes}
        seed {case.seed}
      flow.units {one} words 16 {{
        flow.space @m 8192
        {on_one}
        flow.export @main as "{roles[0]}"
      }}
      flow.units {many} words 16 {{
        flow.space @m 8192
        {on_many}
        flow.export @main as "{roles[1]}"
      }}
    }}"""


def load(case: Case, *, executor: str | None = None, prompt: bool = False) -> tuple[Machine, int]:
    module = Parser(context(), text(case), "channel.mlir").parse_module()
    module.verify()
    machine = machines.load(module, executor=executor, prompt=prompt)
    return machine, machine.chip.allocate("gm", 8 * case.depth * case.blocks)


def launch(machine: Machine, case: Case, buffer: int) -> None:
    machine.launch("producer", [case.pushes, buffer])
    machine.launch("consumer", [case.pops, buffer, case.ahead])
    machine.run()


def received(machine: Machine, case: Case) -> np.ndarray:
    """What consumers have read: [block, lane of the half, entry]."""
    name = "many" if case.to_lanes else "one"
    memory = vars(machine.executor)["spaces"].of_class(name, "m")
    words = memory.view(np.int32).reshape(case.blocks, -1, 2048)[:, :, OUT // 4 :]
    halves = words[:, :, : 2 * case.pops].reshape(*words.shape[:2], case.pops, 2)
    if case.to_lanes:
        return np.stack([halves[:, lane, :, 0] for lane in range(case.lanes)], axis=1)
    return halves[:, 0, :, : case.lanes].transpose(0, 2, 1)


@dataclass
class Model:
    """One block, one event at a time; lanes do the same, so one lane stands for all."""

    case: Case
    pushed: int = 0
    popped: int = 0
    freed: int = 0
    ready: int = 0
    credits: int = 0
    guarantees: list[int] = field(default_factory=list[int])
    safe: int = 0
    unsafe: bool = False
    """Whether a push may have overwritten an entry that had not been freed, in some order of execution."""
    doubled: bool = False

    def run(self) -> bool:
        """Execute until nothing can happen; whether both ends came to theirs."""
        case = self.case
        self.credits, self.guarantees = case.seed, [0] * case.seed
        consumer = [
            event for _ in range(-(-case.pops // case.ahead)) for event in ["pop"] * case.ahead + ["free"] * case.ahead
        ]
        at = 0
        while True:
            moved = False
            if self.pushed < case.pushes and self._push():
                moved = True
            elif at < len(consumer) and (consumer[at] == "free" or self.ready > 0):
                self._consume(consumer[at])
                at += 1
                moved = True
            if not moved:
                return self.pushed == case.pushes and at == len(consumer)

    def _push(self) -> bool:
        case, i = self.case, self.pushed
        if i >= case.depth:
            if i % case.period == 0:
                if not self.credits:
                    return False
                self.credits -= 1
                self.safe = max(self.safe, self.guarantees.pop(0))
            self.unsafe |= self.safe <= i - case.depth
        self.pushed += 1
        self.ready += 1
        return True

    def _consume(self, event: str) -> None:
        if event == "pop":
            self.ready -= 1
            self.popped += 1
            return
        self.freed += 1
        if self.popped % self.case.period == 0:
            self.credits += 1
            self.guarantees.append(self.freed)
            self.doubled |= len(self.guarantees) > 0 and self.freed < self.popped


cases = st.builds(
    Case,
    depth=st.integers(1, 8),
    period=st.integers(1, 4),
    lanes=st.integers(1, 2),
    seed=st.sampled_from([0, 0, 2]),
    to_lanes=st.booleans(),
    pushes=st.integers(0, 24),
    pops=st.integers(0, 24),
    ahead=st.integers(1, 3),
).map(lambda case: Case(**{**case.__dict__, "pops": case.pops // case.ahead * case.ahead}))


@pytest.mark.slow
@settings(max_examples=examples(120))
@given(cases, st.sampled_from(EXECUTORS), st.booleans())
def test_against_model(case: Case, executor: str, prompt: bool) -> None:
    """Deadlocks are those of the model, safe programs deliver every entry in order, unsafe ones are reported (PTO-006,
    PTO-009, PTO-028, PTO-029)."""
    model = Model(case)
    completes = model.run()
    machine, buffer = load(case, executor=executor, prompt=prompt)
    if not completes:
        with pytest.raises(
            Deadlock, match=r"waits (to pop entry \d+ of|for a free slot to push entry \d+ to) channel @c"
        ):
            launch(machine, case, buffer)
    else:
        launch(machine, case, buffer)
    codes = {found.code for found in machine.chip.findings}
    guarantees = {f.code for f in machine.chip.findings if f.severity == "warning" or f.code == "early-overwrite"}
    assert model.unsafe == bool(guarantees & {"early-overwrite", "unsafe-depth", "seeded-credits", "early-credit"})
    if completes:
        assert ("unbalanced-pipe" in codes) == (case.pushes > case.pops)
    if completes and not model.unsafe:
        got = received(machine, case)
        for block in range(case.blocks):
            for lane in range(case.lanes):
                wanted = [100 * block + 10 * i + lane for i in range(case.pops)]
                assert got[block, lane].tolist() == wanted


def test_deadlock_says_who_waits_for_whom() -> None:
    """More pops than pushes: the report names the operation, the channel and its state, in every block."""
    case = Case(depth=4, period=2, lanes=2, seed=0, to_lanes=True, pushes=3, pops=4, ahead=1)
    machine, buffer = load(case)
    with pytest.raises(Deadlock) as caught:
        launch(machine, case, buffer)
    message = str(caught.value)
    assert "waits to pop entry 3 of channel @c, which nobody has pushed" in message
    assert "3 pushed, 3 popped, 3 freed" in message
    assert "4 cores from block 0 AIV0 to block 1 AIV1" in message


@pytest.mark.slow
def test_slots_too_few_for_what_is_popped_ahead() -> None:
    """Three entries popped before any is freed: with a credit to each three, three slots do, two do not."""
    fits = Case(depth=3, period=1, lanes=1, seed=0, to_lanes=True, pushes=6, pops=6, ahead=3)
    machine, buffer = load(fits)
    launch(machine, fits, buffer)
    tight = Case(**{**fits.__dict__, "depth": 2})
    machine, buffer = load(tight)
    with pytest.raises(Deadlock, match="waits for a free slot to push entry 2 to channel @c of 2") as caught:
        launch(machine, tight, buffer)
    assert "circular wait: block 0 AIC -> block 0 AIV0 -> block 0 AIC" in str(caught.value)


def test_odd_depth_overwrites() -> None:
    """H1: with 5 slots and a period of 2 push 5 waits for nobody and overwrites slot 0, which is read wrong."""
    case = Case(depth=5, period=2, lanes=1, seed=0, to_lanes=True, pushes=20, pops=20, ahead=1)
    machine, buffer = load(case)
    launch(machine, case, buffer)
    found = next(f for f in machine.chip.findings if f.code == "early-overwrite")
    assert found.severity == "error"
    assert (
        "entry 5 of channel @c overwrites slot 0, which holds entry 0, before its consumer has read it" in found.message
    )
    assert "5 slots are not a multiple of the 2 entries between two waits" in found.message
    assert received(machine, case)[0, 0, 0] == 50


def test_seeded_credits_are_a_hazard_in_any_order() -> None:
    """H2: with credits from the start nothing bounds the first pushes; if the consumer keeps up, that is a warning."""
    case = Case(depth=4, period=2, lanes=1, seed=2, to_lanes=True, pushes=20, pops=20, ahead=1, drain=True)
    machine, buffer = load(case, prompt=True)
    launch(machine, case, buffer)
    assert {(f.severity, f.code) for f in machine.chip.findings} >= {("warning", "seeded-credits")}
    assert received(machine, case)[1, 0].tolist() == [100 + 10 * i for i in range(20)]


def test_frees_that_come_together() -> None:
    """H3: a free is counted by the pops before it, so two pops and then two frees give two credits instead of one."""
    case = Case(depth=4, period=2, lanes=1, seed=0, to_lanes=True, pushes=16, pops=16, ahead=2)
    machine, buffer = load(case)
    launch(machine, case, buffer)
    assert "early-credit" in {f.code for f in machine.chip.findings}


@pytest.mark.parametrize("prompt", [False, True])
def test_a_credit_guarantees_what_was_freed_before_it(prompt: bool) -> None:
    """H3: two frees behind two pops give a credit each, and the first with entry 0 alone free: so push 5, which takes
    none, may come before entry 1 is, in whatever order this run is."""
    case = Case(depth=4, period=2, lanes=1, seed=0, to_lanes=True, pushes=6, pops=6, ahead=2)
    machine, buffer = load(case, prompt=prompt)
    launch(machine, case, buffer)
    texts = [f.message for f in machine.chip.findings if f.code in ("early-credit", "early-overwrite")]
    assert any("keeps entry 5 of" in text or "entry 5 of channel @c overwrites slot 1" in text for text in texts), texts


def test_frees_that_lose_credits() -> None:
    """H3: three pops and then three frees, the period 2: the number of pops is odd when they come."""
    case = Case(depth=4, period=2, lanes=1, seed=0, to_lanes=True, pushes=3, pops=3, ahead=3)
    machine, buffer = load(case)
    launch(machine, case, buffer)
    assert "lost-credit" in {f.code for f in machine.chip.findings}


def test_who_waits_for_credits_that_are_lost() -> None:
    """H3: one push more waits for the credit of entries 0 and 1, which frees behind later pops have not given."""
    case = Case(depth=4, period=2, lanes=1, seed=0, to_lanes=True, pushes=5, pops=4, ahead=3)
    machine, buffer = load(case)
    with pytest.raises(Deadlock, match=r"a credit for every 2 freed, of which 1 was never returned: .* \(H3\)"):
        launch(machine, case, buffer)


def test_drained_channel_starts_clean() -> None:
    """With drains a launch leaves no credits, so any number of launches behave as the first does."""
    case = Case(depth=8, period=4, lanes=2, seed=0, to_lanes=False, pushes=40, pops=40, ahead=1, drain=True)
    machine, buffer = load(case)
    for _ in range(3):
        launch(machine, case, buffer)
        assert received(machine, case)[1, 1].tolist() == [100 + 10 * i + 1 for i in range(40)]
    assert len(machine.chip.findings) == 0


def test_lanes_beyond_the_channel() -> None:
    """Only as many units as a channel has lanes may take part."""
    case = Case(depth=2, period=1, lanes=2, seed=0, to_lanes=True, pushes=1, pops=1, ahead=1)
    wrong = text(case).replace("lanes 2", "lanes 1")
    machine = machines.load(Parser(context(), wrong, "channel.mlir").parse_module())
    machine.launch("producer", [1, 0])
    machine.launch("consumer", [1, 0, 1])
    machine.chip.allocate("gm", 64)
    with pytest.raises(LoomError, match="beyond lane 0 takes part in channel @c, which has 1"):
        machine.run()


def test_push_of_a_slot_hands_over_its_contents() -> None:
    """A commit moves no data: the consumer gets what is in the slot (PTO-032), and a finding says that nobody wrote it
    as the producer's entry (PTO-031)."""
    case = Case(depth=1, period=1, lanes=1, seed=0, to_lanes=True, pushes=3, pops=3, ahead=1)
    aside = text(case).replace("slot @c[%i] of 1 by 8 as written ", "")
    assert aside != text(case)
    machine = machines.load(Parser(context(), aside, "channel.mlir").parse_module())
    launch(machine, case, machine.chip.allocate("gm", 8 * case.blocks))
    assert received(machine, case)[1, 0].tolist() == [100, 110, 120]
    assert {found.code for found in machine.chip.findings} == {"unwritten-slot"}
