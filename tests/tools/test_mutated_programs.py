"""Damaged programs run, or end in an error of the user's: never in an exception of ours."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

import loomir

EXAMPLES = Path(__file__).parents[2] / "examples"
SOURCES = [EXAMPLES / "gemv" / "gemv_f32.mlir", EXAMPLES / "gemv_grid" / "gemv_grid.mlir"]
NUMBERS = (-32769, -1, 0, 1, 2, 3, 7, 17, 64, 255, 1000, 40000, 65535, 70000, 99999999999)


def damaged(text: str, chance: random.Random) -> str:
    """`text` with a token lost, repeated, moved or replaced, or a line lost or repeated."""
    lines = text.split("\n")
    if chance.random() < 0.2:
        position = chance.randrange(len(lines))
        lines[position : position + 1] = [] if chance.random() < 0.5 else [lines[position]] * 2
        return "\n".join(lines)
    tokens = re.findall(r"\s+|[A-Za-z_.]+|\d+|.", text)
    position = chance.randrange(len(tokens))
    numbers = [index for index, token in enumerate(tokens) if token.isdigit()]
    match chance.randrange(5):
        case 0:
            del tokens[position]
        case 1:
            tokens.insert(position, chance.choice(tokens))
        case 2:
            tokens[position] = chance.choice(tokens)
        case 3:
            other = chance.randrange(len(tokens))
            tokens[position], tokens[other] = tokens[other], tokens[position]
        case _:
            tokens[chance.choice(numbers)] = str(chance.choice(NUMBERS))
    return "".join(tokens)


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
@pytest.mark.parametrize("seed", range(4))
def test_every_damage_is_an_error_or_none(source: Path, seed: int) -> None:
    chance = random.Random(seed)
    text = source.read_text()
    for _ in range(8):
        try:
            program = loomir.compile(damaged(text, chance))
            simulator = loomir.Simulator(program, step_limit=10_000)
            for symbol in program.symbols.values():
                if symbol.kind == "function":
                    simulator.launch(symbol.name, *[3] * len(symbol.arguments))
        except loomir.Deadlock as error:
            assert "deadlock" in str(error)
        except loomir.LoomError as error:
            for each in getattr(error, "diagnostics", [error]):
                assert each.location is not None, each
                assert "\n" not in str(each)
