"""Trees printed as CSL text, and read again."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loomir.csl import parse, syntax
from loomir.csl.printer import print_expression, print_file, print_statement, quoted

from ..searches import examples
from .csl_trees import declarations, expression, file_of


@pytest.mark.slow
@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(declarations, max_size=2))
def test_what_is_printed_reads_as_the_same_tree(nodes: list[syntax.Declaration]) -> None:
    file = file_of(nodes)
    text = print_file(file)
    again = parse(text, "printed.csl")
    assert syntax.equal(again, file), text
    assert print_file(again) == text


LAYOUTS = [
    ("const  x:i16=( 1+2 )*3 ;", "const x: i16 = (1 + 2) * 3;\n"),
    ("const x = - -a; const y = & &b; const z = !!c;", "const x = - -a;\nconst y = & &b;\nconst z = !!c;\n"),
    ("const x = a - (b - c) - d;", "const x = a - (b - c) - d;\n"),
    ("const x = (a < b) == (c < d);", "const x = (a < b) == (c < d);\n"),
    ("const x = (if (a) b else c) + 1;", "const x = (if (a) b else c) + 1;\n"),
    ("const x = [2]i16 {1,2,};", "const x = [2]i16{1, 2};\n"),
    ("const x = T{.a=1};", "const x = T { .a = 1 };\n"),
    ("const x = (T{1}).a;", "const x = (T { 1 }).a;\n"),
    ("fn f()if(a)T else U{}", "fn f() (if (a) T else U) {}\n"),
    ("const x = .{1,2};", "const x = .{ 1, 2 };\n"),
    ('const x = "a\\x00\\u{e9}\\"\\xff";', 'const x = "a\\x00é\\"\\xff";\n'),
    ("var p: *  const[ 3 ]T;", "var p: *const [3]T;\n"),
    ("const x = 1; var y: T; var z: T;", "const x = 1;\nvar y: T;\nvar z: T;\n"),
    ("fn f(a:i16,)void{g();}", "fn f(a: i16) void {\n  g();\n}\n"),
    ("fn f() void { } comptime { }", "fn f() void {}\n\ncomptime {}\n"),
    ("extern fn f(f16) void;", "extern fn f(f16) void;\n"),
    (
        "fn f() void { if (a) { } else if (b) x = 1; else { y = 2; } }",
        "fn f() void {\n  if (a) {} else if (b) x = 1 else {\n    y = 2;\n  }\n}\n",
    ),
    (
        "fn f() void { l: while (a) : (i += 1) { for (b) |c, d| g(); } }",
        "fn f() void {\n  l: while (a) : (i += 1) {\n    for (b) |c, d| g();\n  }\n}\n",
    ),
    (
        "fn f() void { switch (a) { 1,2 => g(), else => { } } }",
        "fn f() void {\n  switch (a) {\n    1, 2 => g(),\n    else => {},\n  }\n}\n",
    ),
    (
        'fn f() void { asm volatile ("nop" : [r] "=r" (x) : : "r6"); }',
        'fn f() void {\n  asm volatile (\n    "nop"\n    : [r] "=r" (x)\n    :\n    : "r6"\n  );\n}\n',
    ),
    (
        "const x = f(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,"
        ".{ .b = bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, .c = ccccccccccccccccccccccc });",
        "const x = f(\n  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,\n"
        "  .{ .b = bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, .c = ccccccccccccccccccccccc },\n);\n",
    ),
    (
        f"const x = f(a, .{{ .b = {'b' * 60}, .c = {'c' * 40} }});",
        f"const x = f(a, .{{\n  .b = {'b' * 60},\n  .c = {'c' * 40},\n}});\n",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "printed"), LAYOUTS)
def test_layout(text: str, printed: str) -> None:
    assert print_file(parse(text, "a.csl")) == printed


def test_numbers_built_by_hand() -> None:
    def negated(value: int) -> syntax.Expression:
        return syntax.Unary(0, 0, "-", syntax.Integer(0, 0, value))

    assert print_expression(syntax.Integer(0, 0, 255)) == "255"
    assert print_expression(syntax.Float(0, 0, 0.1)) == "0.1"
    assert print_expression(negated(-3)) == "- -3"
    assert print_expression(syntax.Field(0, 0, syntax.Integer(0, 0, -3), "a", 0)) == "(-3).a"


def test_a_body_does_not_take_the_else_of_another() -> None:
    inner = syntax.If(
        0, 0, [syntax.IfBranch(0, 0, syntax.Name(0, 0, "b"), syntax.Call(0, 0, syntax.Name(0, 0, "g"), []))], None
    )
    outer = syntax.If(0, 0, [syntax.IfBranch(0, 0, syntax.Name(0, 0, "a"), inner)], syntax.Block(0, 0, None, []))
    assert print_statement(outer) == "if (a) {\n  if (b) g();\n} else {}"


@settings(max_examples=examples(200))
@given(st.binary(max_size=20) | st.text(max_size=10).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_strings_keep_their_bytes(value: bytes) -> None:
    read = expression(quoted(value))
    assert isinstance(read, syntax.String)
    assert read.value == value


def test_deep_lists_take_no_exponential_time() -> None:
    text = "const x = " + "f(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, " * 100 + "1" + ")" * 100 + ";"
    file = parse(text, "a.csl")
    assert syntax.equal(parse(print_file(file), "b.csl"), file)
