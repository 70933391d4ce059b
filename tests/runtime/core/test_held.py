"""Operations on what registers hold, for which the core has short ways: memory, clocks, registers that operations move
on, and findings are those of the reference."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ...searches import examples
from ..agreement import Way, differences, outcome
from ..random_programs import RandomProgram

WALK = {kind: f"!flow.stream<{kind}>" for kind in ("f32", "i16")}

WALKS = {
    "side": "flow.stream @a at %n strides [1] extents [8]",
    "near": "flow.stream @a at %next strides [1] extents [8]",
    "far": "flow.stream @a at 30 strides [1] extents [9]",
    "pairs": "flow.stream @a at %n strides [2] extents [7]",
    "odd_pairs": "flow.stream @a at 31 strides [2] extents [8]",
    "third": "flow.stream @a at 3 strides [3] extents [9]",
    "back": "flow.stream @a at 45 strides [-2] extents [8]",
    "one": "flow.stream @a at %n strides [0] extents [6]",
    "box": "flow.stream @a at 2 strides [1, 5] extents [3, 4]",
    "end": "flow.stream @a at 44 strides [1] extents [8]",
    "empty": "flow.stream @a at 4 strides [1] extents [0]",
    "scalar": "flow.stream @a at 5 strides [1] extents [65535]",
    "own": "flow.stream @b at 0 strides [1] extents [8]",
    "memory": "flow.stream %address at 0 strides [1] extents [8]",
    "odd": "flow.stream %word at 0 strides [1] extents [4]",
    "ring": "flow.circular_stream @b extent 11 wraparound 7",
}
FILES = ("dest", "src0", "src1")
OPERATIONS = {
    "f32": {"fmovs": 1, "fnegs": 1, "fadds": 2, "fmuls": 2, "fmacs": 3}, "i16": {"mov16": 1, "add16": 2, "sll16": 2},
}  # fmt: skip

LOAD = st.tuples(
    st.just("load"), st.sampled_from(FILES), st.integers(0, 1),
    st.sampled_from([*WALKS, "side", "pairs", "third", "own"]), st.booleans(),
)  # fmt: skip
OPERAND = st.sampled_from(
    ["register 0"] * 6 + ["register 1"] * 3 + ["again", "memory side", "memory own", "memory pairs"]
)
APPLY = st.tuples(
    st.just("apply"), st.integers(0, 4), st.tuples(OPERAND, OPERAND, OPERAND), st.sampled_from(["%number", "vector"]),
)  # fmt: skip
STEPS = st.lists(LOAD | APPLY | APPLY, min_size=1, max_size=8)


def program(kind: str, steps: Sequence[tuple[object, ...]], rounds: int, launches: Sequence[int]) -> RandomProgram:
    """Return a program that loads registers, all of them at first, and works on them, a number of times."""
    size, type, lines, last = 4 if kind == "f32" else 2, WALK[kind], list[str](), dict[str, str]()
    for count, step in enumerate(
        [*(("load", file, number, "side" if number else "own", False) for file in FILES for number in (0, 1)), *steps]
    ):
        if step[0] == "load":
            _, file, number, walk, moves = step
            moving = " save_address" if moves and walk != "scalar" else ""
            lines.append(f"flow.load_register {file} {number}, %{walk}{moving} : {type}")
            continue
        name, sources = list(OPERATIONS[kind].items())[int(str(step[1])) % len(OPERATIONS[kind])]
        values: list[str] = []
        for file, operand in zip(FILES, step[2], strict=True):  # pyright: ignore
            if operand.startswith("memory"):
                values.append(f"%{operand.split()[1]}")
                continue
            if operand != "again" or file not in last:
                last[file] = f"%r{count}_{file}"
                lines.append(f"{last[file]} = flow.register {file} {operand[-1] if operand != 'again' else 0} : {type}")
            values.append(last[file])
        types = [type] * (1 + min(sources, 2))
        values = values[: len(types)]
        if sources == 3 or (sources == 2 and step[3] == "%number"):
            values[sources:], types[sources:] = ["%number"], [kind]
        lines.append(f"flow.apply {name} {', '.join(values)} : {', '.join(types)}")
    body = "\n".join(f"        {line}" for line in lines)
    walks = "\n".join(f"      %{name} = {text} : {type}" for name, text in WALKS.items())
    elements = ", ".join(f"{3 * k % 17}{'.5' if kind == 'f32' else ''}" for k in range(48))
    return RandomProgram(
        f"""
flow.fabric @held target "wse3" grid 1 by 1 {{
  flow.units @pe on [:, :] words 256 {{
    flow.buffer @a at 0 : memref<48x{kind}> = dense<[{elements}]>
    flow.buffer @b at 100 : memref<8x{kind}> = dense<{"2.25" if kind == "f32" else "5"}>
    flow.export @main as "main"
    flow.func @main(%n: i16) {{
      %zero = arith.constant 0 : i16
      %step = arith.constant 1 : i16
      %rounds = arith.constant {rounds} : i16
      %next = arith.addi %n, %step : i16
      %address = arith.constant {10 * size} : i16
      %word = arith.constant {12 * size + 2} : i16
      %number = arith.constant {"1.5 : f32" if kind == "f32" else "3 : i16"}
{walks}
      scf.for %i = %zero to %rounds step %step : i16 {{
{body}
      }}
      flow.return
    }}
  }}
}}""",
        tuple(launches), (), (),
    )  # fmt: skip


def disagreements(made: RandomProgram) -> list[str]:
    """Return how the core and the reference differ, without looking for races and with."""
    return [
        f"check={check}: {line}"
        for check in (False, True)
        for line in differences(*(outcome(made, Way(one, (("check", check),))) for one in ("core", "reference")))
    ]


def adding(*operands: str, of: int = 2, last: str = "vector") -> tuple[object, ...]:
    return "apply", of, operands, last


REGISTERS = ("register 0",) * 3


@pytest.mark.parametrize("kind", OPERATIONS)
@pytest.mark.parametrize("walk", WALKS)
def test_each_walk_in_a_register(walk: str, kind: str):
    """As a destination and as a source, moved on by operations and not."""
    steps: list[tuple[object, ...]] = []
    for file in FILES:
        for moves in (False, True):
            beside = tuple("register 0" if file == other else "register 1" for other in FILES)
            steps += [("load", file, 0, walk, moves), adding(*beside, of=1), adding(*beside, of=2)]
            steps += [adding(*REGISTERS, of=each) for each in range(3)]
            steps += [adding("memory own", *beside[1:]), adding(beside[0], "memory side", beside[2])]
        steps.append(("load", file, 0, "own", False))
    assert disagreements(program(kind, steps, 2, (0, 7))) == []


def test_a_read_that_two_operations_take():
    """What has been read of a register stays in the frame, while the register is loaded again, or moved on."""
    for walk, moves in (("pairs", False), ("third", True)):
        steps = [
            adding(*REGISTERS), ("load", "src0", 0, walk, moves), adding("register 0", "again", "register 1"),
            adding(*REGISTERS), adding("again", "again", "again"),
        ]  # fmt: skip
        assert disagreements(program("f32", steps, 3, (0,))) == []


@pytest.mark.slow
@settings(max_examples=examples(300, seldom=True), deadline=None)
@given(st.sampled_from(list(OPERATIONS)), STEPS, st.integers(1, 3), st.sampled_from([0, 5, 33, 40]))
def test_random_operations_on_registers(kind: str, steps: list[tuple[object, ...]], rounds: int, place: int):
    assert disagreements(program(kind, steps, rounds, (place, place))) == []
