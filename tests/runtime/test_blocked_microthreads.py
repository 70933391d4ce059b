"""Operations of blocked microthreads stand still (Microthread IDs, AMB-60): against a simulation cycle by cycle."""

from __future__ import annotations

import io
import json
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir import targets
from loomir.diagnostics.errors import LoomError
from loomir.targets.model import LEVELS

from ..searches import examples
from .flow_modules import parse, spin
from .machines import load
from .test_priorities import PRICES, SENDS, SIDES, SLOW, Part, Simulated, main, program, simulate, times

pytestmark = pytest.mark.executors("reference", "core")

WSE3 = targets.get("wse3")


class Change(NamedTuple):
    """The PE in the middle blocks or unblocks the microthread of a part."""

    part: int
    blocks: bool
    before: int
    """Of the operations, the one before whose issue it does so."""
    turns: int
    """How long it spins before."""


class Case(NamedTuple):
    """What the PE in the middle does, what the others send, and how late the receiver is."""

    parts: list[Part]
    first: list[int]
    """Parts whose microthreads are blocked at the start."""
    changes: list[Change]
    sends: dict[str, list[tuple[int, int]]]
    total: int
    late: int


@st.composite
def cases(draw: st.DrawFn) -> Case:
    queues = draw(st.permutations([*SIDES, "out"]))
    sends = {side: draw(SENDS) for side in SIDES}
    priority = st.sampled_from([None, None, "low", "medium"])
    parts = [Part(queue, draw(priority), draw(st.booleans()), draw(st.integers(0, 12))) for queue in queues]
    total = draw(st.integers(1, 60))
    if draw(st.booleans()):
        parts = [part for part in parts if part.queue != "out"]
        parts[0].passes = True
        total = sum(count for _, count in sends[parts[0].queue])
    numbers = st.integers(0, len(parts) - 1)
    turns = st.integers(0, 6) | st.integers(10, 60)
    change = st.builds(Change, numbers, st.booleans(), st.integers(0, len(parts)), turns)
    first = draw(st.lists(numbers, max_size=2, unique=True))
    return Case(parts, first, draw(st.lists(change, max_size=6)), sends, total, draw(st.integers(0, 60)))


def changed(case: Case) -> list[Change]:
    """Return the changes in the order of the program, and that all is unblocked in the end."""
    order = sorted(case.changes, key=lambda change: change.before)
    return order + [Change(number, False, len(case.parts), 20) for number in range(len(case.parts))]


def with_changes(case: Case) -> str:
    """Return the program in which the PE in the middle notes when it changes what."""
    text = program("wse3", case.parts, case.sends, case.total, case.late, None)
    at = text.index("flow.units @middle")
    before, middle = text[:at], text[at:]
    middle, behind = middle.split("flow.units @south")
    head = "".join(f"flow.blocked_microthread {number}\n" for number in case.first)
    middle = middle.replace("flow.buffer @x", f"{head}flow.buffer @t at 1110 : memref<32xi16>\nflow.buffer @x", 1)
    middle = middle.replace("flow.buffer @t", 'flow.export @t as "t"\nflow.buffer @t')
    for number, change in enumerate(changed(case)):
        what = "block" if change.blocks else "unblock"
        code = f"""{spin(change.turns, label=f"c{number}")}
          %m{number} = arith.constant {change.part} : i16
          flow.{what}_microthread %m{number} : i16
          %low{number}, %mid{number}, %high{number} = flow.timestamp
          %k{number} = arith.constant {number} : index
          flow.store %low{number}, @t[%k{number}] : i16
        """
        # Behind it the code that issues the next operation, or the end of the task.
        mark = (
            spin(case.parts[change.before].turns, label=f"w{change.before}") if change.before < len(case.parts) else ""
        )
        place = middle.index(mark) if mark else middle.index("flow.return")
        middle = middle[:place] + code + middle[place:]
    return f"{before}{middle}flow.units @south{behind}"


def spans(case: Case, noted: list[int]) -> list[list[tuple[int, int]]]:
    """Return of each part the cycles in which its microthread is blocked, the first and the last."""
    since: dict[int, int] = dict.fromkeys(case.first, 0)
    found: list[list[tuple[int, int]]] = [[] for _ in case.parts]
    for change, time in zip(changed(case), noted, strict=False):
        cycle = time - WSE3.timing.timestamp
        if change.blocks:
            since.setdefault(change.part, cycle + 1)
        elif change.part in since:
            found[change.part].append((since.pop(change.part), cycle))
    return found


@settings(max_examples=examples(60), deadline=None)
@given(cases())
@pytest.mark.slow
def test_no_element_moves_while_its_microthread_is_blocked(case: Case) -> None:
    """All others do so as early as wavelets, room, and priorities let them (AMB-60)."""
    timing, trace = WSE3.timing, io.BytesIO()
    machine = load(parse(with_changes(case)), trace=trace, prices=PRICES)
    machine.run(100_000)
    noted = machine.read_symbol("t")[1, 1].tolist()
    events = [json.loads(line) for line in trace.getvalue().decode().splitlines()]
    issues = sorted(event["cycle"] for event in events if event["pes"] == "PE (1, 1)" and event["event"] == "operation")
    latency = timing.hop + timing.ramp
    south = times(events, "taken", (1, 2), "in")
    capacity = WSE3.output_queue_words[3] + WSE3.input_queue_words[3] + timing.link_words
    levels = [LEVELS.index(part.priority or "high") for part in case.parts]
    held = {*case.first, *(change.part for change in case.changes if change.blocks)}
    blocked = spans(case, noted)
    operations: list[Simulated] = []
    for number, (part, level, issue) in enumerate(zip(case.parts, levels, issues, strict=True)):
        cost = SLOW if part.is_slow else 1
        if part.queue == "out":
            in_turns = number in held or any(other > level for other in levels)
            made = Simulated(level, issue, issue, cost, case.total, None, in_turns)
        else:
            there = [time + latency for time in times(events, "sent", SIDES[part.queue], "out")]
            made = Simulated(level, issue, issue + timing.receive_setup, cost, len(there), there, part.passes)
        made.blocked = blocked[number]
        operations.append(made)
    ahead = timing.inject + (timing.forward if any(part.passes for part in case.parts) else 0)
    returned = [time + timing.hop - ahead for time in south]
    simulate(operations, returned, capacity, 3000)
    for part, its in zip(case.parts, operations, strict=True):
        assert len(its.takes) == its.count
        if part.queue != "out":
            assert times(events, "taken", (1, 1), part.queue) == its.takes
        if part.queue == "out" or part.passes:
            assert times(events, "sent", (1, 1), "out") == [time + ahead for time in its.takes]


@pytest.mark.parametrize("name", ["block", "unblock"])
@pytest.mark.parametrize("number", [-1, 8, 32767])
def test_a_number_that_no_microthread_has(name: str, number: int) -> None:
    machine = load(
        parse(f"""flow.fabric @one target "wse3" grid 1 by 1 {{
          flow.units @u on [:, :] words 8 {{
            flow.export @main as "main"
            flow.func @main(%n: i16) {{
              flow.{name}_microthread %n : i16
              flow.return
            }}
          }}
        }}""")
    )
    machine.launch("main", [number])
    with pytest.raises(LoomError, match=f"microthread {number} of PE \\(0, 0\\) is {name}ed, which has micro"):
        machine.run()


def test_a_message_on_a_blocked_microthread() -> None:
    """It would have to wait, which is not simulated: an error says so."""
    machine = load(
        parse(f"""flow.fabric @messages target "wse3" grid 2 by 1 {{
          flow.color @m = 3
          flow.message_network @m
          flow.units @u on [:, :] words 64 {{
            flow.buffer @a at 0 : memref<8xf32>
            flow.queue output @out id 2 colors [@m on [:, :]]
            flow.blocked_microthread 1
            {
            main('''%a = flow.stream @a at 0 strides [1] extents [2] : !flow.stream<f32>
              %o = flow.queue_stream @out extent 2 message : !flow.stream<f32>
              flow.apply fmovs %o, %a async(microthread = 1) : !flow.stream<f32>, !flow.stream<f32>''')
        }
          }}
        }}""")
    )
    with pytest.raises(LoomError, match="sends a message on microthread 1, which is blocked: messages that wait for"):
        machine.run()
