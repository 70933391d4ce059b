"""Imports, and programs that would never end: every one is one error, never a traceback."""

from __future__ import annotations

import time

import pytest

from loomir.csl import CslError
from loomir.diagnostics.errors import LoomError

from .harness import ONE_TILE, Csl

LIBRARY = """
param factor: i16 = 2;
param name: comptime_string = "none";
var total: i16 = 0;
const constant = 5;
fn multiply(x: i16) i16 { return x * factor; }
fn add(x: i16) void { total += x; }
"""


def test_instances(csl: Csl) -> None:
    text = """
    const twice = @import_module("lib.csl");
    const thrice = @import_module("lib.csl", .{ .factor = 3 });
    const same = twice;
    var out = @zeros([5]i16);
    fn main() void {
      twice.add(1);
      thrice.add(10);
      same.add(100);
      out[0] = twice.total;
      out[1] = thrice.total;
      out[2] = twice.multiply(7);
      out[3] = thrice.multiply(7);
      thrice.total = 4;
      out[4] = thrice.total + twice.constant;
    }
    """
    assert csl.run(text, {"out": "i16"}, files={"lib.csl": LIBRARY})["out"].tolist() == [101, 10, 14, 21, 9]


def test_symbols(csl: Csl) -> None:
    from loomir.dialects import wse

    text = """
    const m = @import_module("lib.csl");
    export var shown: i16 = 3;
    export var alias: i16 linkname("other_name") = 4;
    task t() void { m.add(1); }
    comptime { @bind_local_task(t, @get_local_task_id(9)); }
    """
    compiled = csl.pe(text, files={"lib.csl": LIBRARY})
    names = {op.sym_name.data for op in compiled.module.walk() if isinstance(op, wse.BufferOp)}
    assert {"m.total", "shown", "other_name"} <= names


def test_layout_of_an_imported_file_is_ignored(csl: Csl) -> None:
    files = {"lib.csl": "const n = 3;\nlayout { @set_rectangle(9, 9); }"}
    csl.comptime("@comptime_assert(m.n == 3);", 'const m = @import_module("lib.csl");', files=files)


def test_comptime_blocks_of_imported_files(csl: Csl) -> None:
    files = {"lib.csl": 'comptime { @comptime_print("imported"); }'}
    assert csl.comptime('@comptime_print("importing");', 'const m = @import_module("lib.csl");', files=files) == [
        "importing",
        "imported",
    ]


REFUSED = [
    ('const m = @import_module(«"nothing.csl"»);', "there is no file 'nothing.csl' in"),
    ('const m = @import_module(«"<nothing>"»);', "there is no library <nothing>; there are:"),
    ('const m = @import_module(«"<memcpy_multi/memcpy>"»);', "of SDK 0.9 and earlier, and <memcpy/memcpy> since 1.0"),
    ('const m = @import_module(«"<sdklayout/input_stream>"»);', "there is no library <sdklayout/input_stream>"),
    ('const m = @import_module(«"<../sema/core>"»);', "there is no library <../sema/core>"),
    ('const m = @import_module(«"<pseudorandom>"»);', "there is no library <pseudorandom>"),
    ("const m = @import_module(«3»);", "the name of a file must be a string"),
    ('const m = @import_module("lib.csl", «.{ 3 }»);', "params must be a struct"),
    ("const m = «@import_module()»;", "@import_module takes 1 or 2 arguments, not 0"),
    ('const m = @import_module("lib.csl");\ncomptime { _ = «m.constnt»; }', "did you mean 'constant'?"),
    ('const m = @import_module("lib.csl");\ncomptime { «m.constant» = 3; }', "'constant' is constant"),
    ('const m = @import_module("lib.csl");\ncomptime { «m» = m; }', "'m' is constant"),
    ('const m = @import_module("lib.csl");\ncomptime { _ = «m + 1»; }', "have no common type"),
    ('const m = @import_module("lib.csl");\ncomptime { _ = «m()»; }', "cannot be called"),
    ('fn f() u16 { return «@import_module("lib.csl")».n; }\nconst n = f();\ncomptime { _ = n; }', "make it a global"),
    ('comptime { const m = «@import_module("lib.csl")»; }', "make it a global: const name = @import_module(...)"),
    ('var m = «@import_module("lib.csl")»;\ncomptime { _ = m; }', "make it a global"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_refuses(csl: Csl, text: str, message: str) -> None:
    csl.refuses(text, message, files={"lib.csl": LIBRARY})


def test_mistakes_in_an_imported_file(csl: Csl) -> None:
    text = 'const m = @import_module("lib.csl", .{ .n = 70000 });\ncomptime { _ = m.n; }'
    csl.refuses(
        text, "70000 does not fit in 'u16'", files={"lib.csl": "«param n: u16»;"}, notes=["'lib.csl' is imported here"]
    )
    csl.refuses(text, "a ';' is missing after the declaration of 'n'", files={"lib.csl": "const n = 1«»"})
    deep = 'const m = @import_module("lib.csl");\nfn f() void { m.g(); }\ncomptime { f(); }'
    csl.refuses(deep, "comptime_assert failed", files={"lib.csl": "fn g() void { «@comptime_assert(false)»; }"},
                notes=["in this call of 'g'", "in this call of 'f'"])  # fmt: skip


def test_binary_files(csl: Csl) -> None:
    (csl.directory / "lib.csl").write_bytes(b"const a = \xff;")
    with pytest.raises(LoomError, match="byte 10 is not UTF-8"):
        csl.pe('const m = @import_module("lib.csl");')


# Circles


CIRCLES = {
    "itself": {"pe.csl": 'const m = «@import_module("pe.csl")»;\ncomptime { _ = m; }'},
    "each other": {
        "pe.csl": 'const m = @import_module("a.csl");\ncomptime { _ = m; }',
        "a.csl": 'const m = @import_module("b.csl");',
        "b.csl": 'const m = «@import_module("a.csl")»;',
    },
    "not a number": {
        "pe.csl": 'const m = @import_module("a.csl", .{ .x = @bitcast(f32, @as(u32, 0x7fc00000)) });\n'
        "comptime { _ = m; }",
        "a.csl": 'param x: f32;\nconst m = «@import_module("a.csl", .{ .x = x })»;',
    },
}


@pytest.mark.parametrize("files", CIRCLES.values(), ids=CIRCLES)
def test_import_circles(csl: Csl, files: dict[str, str]) -> None:
    start = time.monotonic()
    files = dict(files)
    csl.refuses(files.pop("pe.csl"), "imports itself", files=files)
    assert time.monotonic() - start < 5


def test_a_layout_that_imports_itself(csl: Csl) -> None:
    csl.refuses(
        "",
        "imports itself",
        layout=f'const m = «@import_module("layout.csl")»;\n{ONE_TILE}\ncomptime {{ _ = m; }}',
    )


def test_conditional_recursion_of_imports_ends(csl: Csl) -> None:
    files = {
        "lib.csl": """
        param depth: i16;
        const below = if (depth > 0) @import_module("lib.csl", .{ .depth = depth - 1 }) else {};
        const sum = if (depth > 0) depth + below.sum else @as(i16, 0);
        """
    }
    text = 'const m = @import_module("lib.csl", .{ .depth = 5 });'
    assert csl.comptime("@comptime_print(m.sum);", text, files=files) == ["15"]


def test_zeros_of_both_signs_are_two_params(csl: Csl) -> None:
    files = {
        "lib.csl": """
        param x: f32;
        const is_zero = @bitcast(u32, x) == 0;
        const below = if (is_zero) @import_module("lib.csl", .{ .x = -x }) else {};
        const imports = if (is_zero) 1 + below.imports else @as(i16, 0);
        """
    }
    text = 'const m = @import_module("lib.csl", .{ .x = @as(f32, 0.0) });'
    assert csl.comptime("@comptime_print(m.imports);", text, files=files) == ["1"]


# What never ends


ENDLESS = {
    "while": "comptime { while (true) {} }",
    "while with work": "comptime { var i: u32 = 0; while (i >= 0) : (i += 1) {} }",
    "for": "comptime { for (@range(comptime_int, 1 << 60)) |i| { _ = i; } }",
    "while in a function": "fn f() i16 { while (true) {} return 1; }\nconst x = f();\ncomptime { _ = x; }",
    "recursion": "fn f(n: u16) u16 { return f(n); }\ncomptime { _ = f(1); }",
    "growing recursion": "fn f(n: comptime_int) comptime_int { return f(n * n + 2); }\ncomptime { _ = f(2); }",
    "mutual recursion": "fn f(n: u16) u16 { return g(n); }\nfn g(n: u16) u16 { return f(n); }\ncomptime { _ = f(1); }",
    "two calls": "fn f(n: u16) u16 { return f(n + 1) + f(n + 2); }\ncomptime { _ = f(1); }",
    "tree of calls": "fn f(n: u16) u16 { return if (n == 0) 1 else f(n - 1) + f(n - 1); }\ncomptime { _ = f(60); }",
    "huge numbers": "comptime { var x = 3; while (true) { x = x * x; } }",
    "huge shift": "comptime { var x = 1; while (true) { x = x << 4000; } }",
    "huge string": 'comptime { var s = "ab"; while (true) { s = @strcat(s, s); } }',
    "huge struct": "comptime { var s: comptime_struct = .{ 1 }; while (true) { s = @concat_structs(s, s); } }",
    "recursive type": "fn t(n: u16) type { return struct { x: t(n + 1) }; }\nvar v: t(0);\ncomptime { _ = &v; }",
    "recursion over a comptime argument": "fn f(comptime n: u16) void { f(n + 1); }\ntask t() void { f(0); }\n"
    "comptime { @bind_local_task(t, @get_local_task_id(9)); }",
}  # fmt: skip


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are taken to run for ever soon."""
    monkeypatch.setenv("LOOM_STEP_LIMIT", "5000")


@pytest.mark.one_in(3)
@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS)
def test_endless(csl: Csl, text: str) -> None:
    start = time.monotonic()
    with pytest.raises(CslError) as caught:
        csl.pe(text)
    assert time.monotonic() - start < 20
    assert len(caught.value.diagnostics) == 1
    assert "pe.csl:" in str(caught.value.location)
    assert len(str(caught.value)) < 5000


@pytest.mark.usefixtures("impatient")
def test_an_endless_layout(csl: Csl) -> None:
    start = time.monotonic()
    with pytest.raises(CslError, match="has not ended after"):
        csl.layout("layout { @set_rectangle(1, 1); while (true) {} }", "")
    assert time.monotonic() - start < 20


def deep(kind: str, depth: int) -> str:
    match kind:
        case "parentheses":
            return f"const x = {'(' * depth}1{')' * depth};\ncomptime {{ _ = x; }}"
        case "additions":
            return f"const x = {' + '.join(['1'] * depth)};\ncomptime {{ @comptime_assert(x == {depth}); }}"
        case "else":
            branches = "".join(f"if (x == {n}) {n} else " for n in range(depth))
            return f"const x: i32 = -1;\nconst y = {branches}7;\ncomptime {{ @comptime_assert(y == 7); }}"
        case "globals":
            chain = "\n".join(f"const a{n} = a{n + 1};" for n in range(depth))
            return f"{chain}\nconst a{depth} = 7;\ncomptime {{ @comptime_assert(a0 == 7); }}"
        case "calls":
            functions = "\n".join(f"fn f{n}() i16 {{ return f{n + 1}(); }}" for n in range(depth))
            return f"{functions}\nfn f{depth}() i16 {{ return 7; }}\ncomptime {{ @comptime_assert(f0() == 7); }}"
        case "blocks":
            return f"comptime {{ {'{' * depth} {'}' * depth} }}"
        case _:
            return f"const x = {'.{ .a = ' * depth}1{' }' * depth};\ncomptime {{ _ = x; }}"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parentheses", "additions", "else", "globals", "calls", "blocks", "structs"])
@pytest.mark.parametrize("depth", [30, 3000])
def test_deep_nesting(csl: Csl, kind: str, depth: int) -> None:
    """Either it works or it is one error."""
    start = time.monotonic()
    try:
        csl.pe(deep(kind, depth))
    except CslError as error:
        assert depth > 100 and len(error.diagnostics) == 1, str(error)
    assert time.monotonic() - start < 10
