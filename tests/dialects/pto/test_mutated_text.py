"""Truncated and mutated kernels give one error each, or none, never a traceback: parser, verifier, check and passes.

LOOMIR_MUTATIONS is how many texts are made, 3000 in a thorough run if it is not set; LOOMIR_MUTATION_SEED begins
another sequence.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from loomir.diagnostics.errors import LoomError, report
from loomir.diagnostics.nesting import deep_nesting
from loomir.dialects import context as loom_context
from loomir.dialects.ir_text import parse_ir
from loomir.dialects.pto.instructions import OPERATIONS
from loomir.dialects.verification import verify
from loomir.host.pto_check import REJECTED, check, chips_of, prepare
from loomir.passes.pto_infer_slots import PtoInferSlotsPass

from ...searches import examples
from .test_instructions import made, printed

ROOT = Path(__file__).parents[3]
MUTATIONS = int(os.environ.get("LOOMIR_MUTATIONS", examples(3000, seldom=True)))
SEED = os.environ.get("LOOMIR_MUTATION_SEED", "")
PARTS = 10
"""Tests that the mutations are spread over, so that they can be run side by side."""

_TOKEN = re.compile(r"\s+|//[^\n]*|[%@!#][\w.$]*|-?\w+|\"[^\"]*\"|.", re.DOTALL)
_NUMBER = re.compile(r"-?[0-9]+")

NUMBERS = (
    "0", "-1", "1", "3", "255", "4096", "2147483647", "2147483648", "-9223372036854775809", "99999999999999999999999",
    "1e400", "0x10",
)  # fmt: skip

REPLACEMENTS = (
    *NUMBERS, "?", "x", "{", "}", "(", ")", "<", ">", "[", "]", ",", "=", ":", "->", "i32", "i64", "index", "f32",
    "f16", "%z", "%0", "@nobody", "true", "false", '""', '"é\\u0000"', "ß", "\u202e", "🙂", "\x00", "vec", "mat", "acc",
    "!pto.pipe", "!pto.ptr<f32>", "!pto.tile_buf<vec, 16x16xf32>", "!pto.tensor_view<16x16xf32>",
    "#pto.address_space<gm>", "return", "scf.yield", "^bb0:", "loc(unknown)", "module {", "}", "func.func @f() {",
    "pto.section.vector {",
)  # fmt: skip


def sources() -> list[str]:
    """Kernels as short as they come: the pieces of lit tests, the functions of examples, and each instruction."""
    found: list[str] = []
    lit = ROOT / "lit_tests"
    paths = [*lit.glob("dialects/pto/*.mlir"), *lit.glob("passes/pto-*/*.mlir"), *ROOT.glob("examples/pto/**/*.pto")]
    for path in sorted(paths):
        text = re.sub(r"^ *//(?! -----).*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for part in text.split("// -----"):
            whole = "attributes {pto.target_arch" in part or len(part) < 4000
            found += [part.strip() + "\n"] if whole else functions(part)
    return found + [printed(made(name, whole=True)) for name in OPERATIONS]


def functions(text: str) -> list[str]:
    """The aliases of a text with each of its top-level operations, so that mutating and parsing take little time."""
    aliases = "".join(re.findall(r"^!.*\n", text, flags=re.MULTILINE))
    bodies = re.split(r"^(?=func\.func|module)", re.sub(r"^!.*\n", "", text, flags=re.MULTILINE), flags=re.MULTILINE)
    return [aliases + body for body in bodies if body.strip()]


def mutated(text: str, chance: random.Random) -> str:
    """`text` with tokens deleted, doubled, exchanged, replaced or nested, or everything behind one cut off."""
    tokens = _TOKEN.findall(text)
    for _ in range(chance.randint(1, 3)):
        place, other = chance.randrange(len(tokens)), chance.randrange(len(tokens))
        numbers = [index for index, token in enumerate(tokens) if _NUMBER.fullmatch(token)]
        match chance.randrange(10):
            case 0:
                del tokens[place]
            case 1:
                tokens.insert(place, tokens[place])
            case 2:
                tokens[place], tokens[other] = tokens[other], tokens[place]
            case 3:
                tokens[place] = tokens[other]
            case 4 | 5:
                tokens[place] = chance.choice(REPLACEMENTS)
            case 6 if numbers:
                one, two = chance.choice(numbers), chance.choice(numbers)
                tokens[one], tokens[two] = tokens[two], tokens[one]
            case 7 if numbers:
                tokens[chance.choice(numbers)] = chance.choice(NUMBERS)
            case 8:
                lines = "".join(tokens).splitlines(keepends=True)
                lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
                tokens = _TOKEN.findall("".join(lines))
            case _:
                tokens = tokens[: max(place, 1)]
        tokens = tokens or ["}"]
    return "".join(tokens)


OF_THE_WHOLE = ("there is no kernel", "the text contains no operation", "Redefinition of symbol")
"""What is said of a whole program, which has no place in its text."""


def told(context: Context, text: str) -> str | None:
    """What is said of a text that is wrong: parsed, verified, checked on all chips and taken through the passes."""
    try:
        module = parse_ir(context, text, "mutated.pto")
    except LoomError as error:
        return one_line(error, text)
    for arch in ("ideal", "a2a3", "a5"):
        for finding in check(module, arch):
            assert "\n" not in str(finding), text
            if finding.code == REJECTED and finding.location is None:
                assert any(part in finding.message for part in OF_THE_WHOLE), (finding, text)
    try:
        verify(module)
    except LoomError as error:
        return one_line(error, text)
    for passes in (infer_slots, lower):
        try:
            with deep_nesting():  # as all tools do
                passes(context, module.clone())
        except LoomError as error:
            assert not any("\n" in str(each) for each in getattr(error, "diagnostics", [error])), text
    return None


def infer_slots(context: Context, module: ModuleOp) -> None:
    PtoInferSlotsPass(slot_num="infer", slot_size="infer").apply(context, module)
    verify(module)


def lower(context: Context, module: ModuleOp) -> None:
    prepare(module, chips_of(module)[0], lower={"protocol": "ideal", "blocks": 2})


def one_line(error: LoomError, text: str) -> str:
    """The error, or each of several, as the tool shows it: a line."""
    for each in getattr(error, "diagnostics", [error]):
        message = report(each)
        assert "\n" not in message and "internal error" not in message, text
        assert each.location is not None or any(part in message for part in OF_THE_WHOLE), (message, text)
    return report(error)


@pytest.fixture(scope="module")
def context() -> Context:
    return loom_context()


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.one_in(5)
def test_mutated_text_gives_an_error_or_none(context: Context, part: int) -> None:
    chance = random.Random(f"{SEED}{part}")
    texts = sources()
    count = MUTATIONS // PARTS
    errors = 0
    for _ in range(count):
        text = mutated(chance.choice(texts), chance)
        try:
            errors += told(context, text) is not None
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}\n{text}") from error
    # Mutations that change nothing test nothing.
    assert errors > count // 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["round_trip", "memory", "tiles"])
def test_every_truncation_gives_an_error_or_none(context: Context, name: str) -> None:
    text = (ROOT / "lit_tests" / "dialects" / "pto" / f"{name}.mlir").read_text(encoding="utf-8")
    for part in functions(re.sub(r"^ *//.*\n", "", text, flags=re.MULTILINE)):
        tokens = _TOKEN.findall(part)
        for end in range(1, len(tokens), max(1, len(tokens) // 40)):
            told(context, "".join(tokens[:end]))


NESTED = {
    "regions": ("scf.if %c {\n", "}\n"),
    "loops": ("scf.for %i = %n to %n step %n {\n", "}\n"),
    "sections": ("pto.section.vector {\n", "}\n"),
    "modules": ("module {\n", "}\n"),
}


@pytest.mark.one_in(3)
@pytest.mark.slow
@pytest.mark.parametrize("depth", [30, 300, 3000])
@pytest.mark.parametrize("kind", NESTED)
def test_deep_nesting(context: Context, kind: str, depth: int) -> None:
    before, after = NESTED[kind]
    begun = "".join(before.replace("%i", f"%i{place}") for place in range(depth))
    free = "pto.tfree_from_aic {split = 0}\n"
    opened = "pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)\n"
    head = "func.func @f(%a: i32, %c: i1, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n"
    if kind == "modules":
        text = begun + head + opened + free + "return\n}\n" + after * depth
    else:
        text = head + opened + begun + free + after * depth + "return\n}\n"
    error = told(context, text)
    assert error is None or "nested too deeply" in error


@pytest.mark.slow
def test_long_chains_of_values(context: Context) -> None:
    """A bound that follows from more additions than Python nests calls."""
    lines = ["%n0 = arith.constant 1 : index"]
    lines += [f"%n{place} = arith.addi %n{place - 1}, %n{place - 1} : index" for place in range(1, 1500)]
    opened = "pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)\n"
    loop = "scf.for %i = %n0 to %n1499 step %n0 {\npto.tfree_from_aic {split = 0}\n}\n"
    head = "func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n"
    assert told(context, head + opened + "\n".join(lines) + "\n" + loop + "return\n}\n") is None
