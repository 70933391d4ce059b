"""Truncated and mutated text of the pto dialect gives one error each, never a traceback."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects import get_all_dialects as get_xdsl_dialects

from loomir.diagnostics import LoomError
from loomir.dialects import get_all_dialects
from loomir.frontend.ir_text import parse_ir
from loomir.passes.pto_hazards import find_hazards
from loomir.verification import verify

LIT_TESTS = Path(__file__).parents[3] / "lit_tests" / "dialects" / "pto"
MUTATIONS = 400
"""For each lit test: some thousands together, in seconds."""

_TOKEN = re.compile(r"\s+|//[^\n]*|[%@!#][\w.$]*|\w+|\"[^\"]*\"|.", re.DOTALL)


def pieces() -> dict[str, list[str]]:
    """The texts of each lit test, without comments."""
    found: dict[str, list[str]] = {}
    for path in sorted(LIT_TESTS.glob("*.mlir")):
        text = re.sub(r"^ *//(?! -----).*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        parts = text.split("// -----") if "// -----" in text else functions(text)
        found[path.stem] = [part.strip() + "\n" for part in parts]
    return found


def functions(text: str) -> list[str]:
    """The aliases of a text with each of its top-level operations, so that mutating and parsing take little time."""
    aliases = "".join(re.findall(r"^!.*\n", text, flags=re.MULTILINE))
    bodies = re.split(r"^(?=func\.func|module)", re.sub(r"^!.*\n", "", text, flags=re.MULTILINE), flags=re.MULTILINE)
    return [aliases + body for body in bodies if body.strip()]


def mutated(text: str, chance: random.Random) -> str:
    """`text` with a token or a few deleted, doubled, exchanged, replaced, or everything behind one cut off."""
    tokens = _TOKEN.findall(text)
    for _ in range(chance.randint(1, 3)):
        place, other = chance.randrange(len(tokens)), chance.randrange(len(tokens))
        match chance.randrange(6):
            case 0:
                del tokens[place]
            case 1:
                tokens.insert(place, tokens[place])
            case 2:
                tokens[place], tokens[other] = tokens[other], tokens[place]
            case 3:
                tokens[place] = tokens[other]
            case 4:
                replacements = ["0", "-1", "99999999999999999999", "?", "x", "{", "}", "(", ")", "<", ">", "i32", "%z"]
                tokens[place] = chance.choice(replacements)
            case _:
                tokens = tokens[: max(place, 1)]
        tokens = tokens or ["}"]
    return "".join(tokens)


def check(context: Context, text: str) -> str | None:
    """Parse and check; the error, if there is one."""
    try:
        module = parse_ir(context, text, "mutated.pto")
        verify(module)
    except LoomError as error:
        return str(error)
    find_hazards(module)
    return None


@pytest.fixture(scope="module")
def context() -> Context:
    context = Context()
    for dialects in (get_xdsl_dialects(), get_all_dialects()):
        for name, load in dialects.items():
            context.register_dialect(name, load)
    return context


@pytest.mark.parametrize("name", ["round_trip", "memory", "tiles"])
def test_texts_are_right_before_they_are_mutated(context: Context, name: str) -> None:
    for text in pieces()[name]:
        assert check(context, text) is None


@pytest.mark.parametrize("name", sorted(pieces()))
def test_mutated_text_gives_an_error_or_none(context: Context, name: str) -> None:
    chance = random.Random(name)
    texts = pieces()[name]
    errors = 0
    for _ in range(MUTATIONS):
        text = mutated(chance.choice(texts), chance)
        error = check(context, text)
        if error is not None:
            errors += 1
            assert "\n" not in error, text
    # A mutation that changes nothing tests nothing.
    assert errors > MUTATIONS // 2


@pytest.mark.parametrize("name", ["round_trip", "memory", "tiles"])
def test_every_truncation_gives_an_error_or_none(context: Context, name: str) -> None:
    for text in pieces()[name]:
        tokens = _TOKEN.findall(text)
        step = max(1, len(tokens) // 60)
        for end in range(1, len(tokens), step):
            error = check(context, "".join(tokens[:end]))
            assert error is None or "\n" not in error, error
