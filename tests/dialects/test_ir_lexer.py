"""The lexer finds the tokens of xDSL's, and types whose text is equal are read once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from loomir.diagnostics.errors import LoomError
from loomir.dialects import context
from loomir.dialects.ir_lexer import IRLexer
from loomir.dialects.ir_text import parse_ir
from tests.searches import examples

ROOT = Path(__file__).parents[2]
PIECES = [
    "%0", "%a.b-c$", "%0a", "%", "_x", "x9$.y", "é", "Z", "0x1F", "0xg", "12.5e-3", "7", ".", "...", "-", "->", "<",
    ">",
    "{", "{-#", "#-}", "}", "[", "]", "(", ")", ":", "::", ",", "=", "+", "*", "?", "|", "/", "//", "// c\n", "\n", " ",
    "\t", "\r", "\x0b", "#a", "#", "!pto.x", "!", "^bb0", "^", "@f", '@"f g"', "@", '"s"', '"\\22"', '"', "\u00a0", "²",
    ";",
]  # fmt: skip


def _tokens(lexer: MLIRLexer) -> Iterator[tuple[object, ...]]:
    """Yield kinds and places up to the end or the first error."""
    while True:
        try:
            token = lexer.lex()
        except ParseError as error:
            yield "error", error.msg, error.span.start, error.span.end
            return
        yield token.kind, token.span.start, token.span.end, token.text
        if token.kind is MLIRTokenKind.EOF:
            return


def _same(text: str) -> bool:
    return list(_tokens(IRLexer(Input(text, "t")))) == list(_tokens(MLIRLexer(Input(text, "t"))))


@pytest.mark.slow
@settings(max_examples=examples(4000))
@given(st.lists(st.sampled_from(PIECES), max_size=8))
def test_any_text_has_the_tokens_of_xdsl(pieces: list[str]) -> None:
    assert _same("".join(pieces))


@pytest.mark.parametrize("path", sorted((ROOT / "examples/pto").glob("*.pto")), ids=lambda path: path.stem)
def test_examples_have_the_tokens_of_xdsl(path: Path) -> None:
    assert _same(path.read_text())


@pytest.mark.parametrize("text", [" " * 20_000 + "@", "//\n" * 20_000 + "@", "% " * 20_000 + "é", " // " * 20_000])
def test_blanks_and_comments_take_linear_time(text: str) -> None:
    start = process_time()
    list(_tokens(IRLexer(Input(text, "t"))))
    assert process_time() - start < 2


TILE = "!pto.tile_buf<vec, 16x16xf32>"


def test_equal_texts_of_types_are_one_type() -> None:
    """Also with a comment behind, or where another type with the same parameters is read between."""
    text = f"""
"test.op"() {{a = {TILE}, b = !pto.ptr<f32>, c = {TILE} // comment
, d = !pto.tile_buf<vec, 16x16xf16>, e = !pto.async_session, f = !pto.ptr<!pto.async_session>}} : () -> ({TILE})
"""
    (op,) = parse_ir(context(), text, "t.mlir").body.block.ops
    assert op.attributes["a"] is op.attributes["c"] is op.results[0].type
    assert op.attributes["d"] != op.attributes["a"]
    assert [op.attributes[name].name for name in "bef"] == ["pto.ptr", "pto.async_session", "pto.ptr"]


def test_an_error_in_a_type_is_reported_at_each_place() -> None:
    wrong = TILE.replace("vec", "vex")
    for first, line in ((TILE, 2), (wrong, 1)):
        text = f'"test.op"() {{a = {first}}} : () -> ()\n"test.op"() {{a = {wrong}}} : () -> ()\n'
        with pytest.raises(LoomError, match="unknown loc") as caught:
            parse_ir(context(), text, "t.mlir")
        assert (caught.value.location or "").startswith(f"t.mlir:{line}:")
