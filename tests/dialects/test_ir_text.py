"""Reading IR text: strings and what is none, whatever follows them."""

from __future__ import annotations

import pytest

from loomir.diagnostics.errors import LoomError
from loomir.dialects import context
from loomir.dialects.ir_text import decode_text, parse_ir


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('"test.op"() {a = "' + "a " * 5000 + "} : () -> ()\n", "1:18"),
        ('"test.op"() : () -> ()\n  "' + "a" * 10000, "2:3"),
        ('"test.op"() {a = "\\q' + "a" * 5000 + '"} : () -> ()', "1:18"),
        ('"test.op"() {a = "one\ntwo"} : () -> ()', "1:18"),
    ],
    ids=["open", "at the end", "escape", "two lines"],
)
def test_strings_that_do_not_end_are_told_at_once(text: str, place: str) -> None:
    """Reading them by xDSL's pattern for strings takes twice as long for each character more."""
    with pytest.raises(LoomError, match="a string begins here that does not end") as caught:
        parse_ir(context(), text, "text.mlir")
    assert caught.value.location == f"text.mlir:{place}"


def test_quotation_marks_that_begin_no_string() -> None:
    text = """
// it's 5" wide
"test.op"() {a = "//", b = "a \\22 \\" \\\\", c = ""} : () -> () // "
"""
    (op,) = parse_ir(context(), text, "text.mlir").body.block.ops
    assert [str(op.attributes[name]) for name in "ac"] == ['"//"', '""']


def test_byte_order_marks_are_no_part_of_the_text() -> None:
    assert decode_text('\ufeff"test.op"() : () -> ()'.encode(), "text.mlir") == '"test.op"() : () -> ()'


def test_numbers_of_wide_integers() -> None:
    """An attribute of more than 64 bits may have as many, others may not."""
    body = "wse.func @f() {\n%x = arith.constant {number} : i128\n}"
    text = 'wse.program @p target "wse3" rectangle 1 x 1 {\nwse.pe @a on [:, :] {\n' + body + "\n}\n}\n"
    number = str(1 << 100)
    assert f"{number} : i128" in str(parse_ir(context(), text.replace("{number}", number), "p.mlir"))
    with pytest.raises(LoomError, match="is out of range for type i64"):
        parse_ir(context(), text.replace("{number} : i128", f"{number} : i64"), "p.mlir")


@pytest.mark.parametrize("number", ["9223372036854775808", "-9223372036854775809", "0x8000000000000000", "9" * 30])
def test_numbers_that_would_wrap_around(number: str) -> None:
    """What an attribute of 64 bits does not hold is an error where it stands, not another number."""
    text = f'wse.program @p target "wse3" rectangle {number} x 1 {{\n}}\n'
    with pytest.raises(LoomError, match=rf"^p.mlir:1:40: error: the number {int(number, 0)} does not fit in 64 bits"):
        parse_ir(context(), text, "p.mlir")


@pytest.mark.parametrize(
    ("text", "place", "character"), [("# A title\n", "1:1", "#"), ('"test.op"() {a = ! } : () -> ()', "1:18", "!")]
)
def test_signs_without_a_name(text: str, place: str, character: str) -> None:
    """Also at the very start, which is read before all else."""
    with pytest.raises(LoomError, match=f"a name is expected behind '{character}'") as caught:
        parse_ir(context(), text, "text.mlir")
    assert caught.value.location == f"text.mlir:{place}"
