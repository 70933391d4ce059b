"""Sentences of the manual: what it allows compiles, what it forbids is refused, or warned of where it computes the same."""

# ruff: noqa: E501 (a program is one line of a table)

from __future__ import annotations

import pytest

from .harness import Csl

DECLARATIONS = """
const E = enum(u16) { a, b = 4, c };
const Point = struct { x: i32, y: i32 };
const math = @import_module("<math>");
inline fn inlined() void {}
fn square(x: f16) f16 { return x * x; }
var flag = true;
var small: i16 = 1;
var large: i32 = 2;
var half: f16 = 1.0;
var single: f32 = 1.0;
var count: u16 = 3;
var numbers: [5]f16;
var point = Point{ .x = 1, .y = 2 };
var parray = &numbers;
var ppoint = &point;
const dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{5} -> numbers[i] });
"""

TASK = "\ntask t() void {{ {} }}\ncomptime {{ @bind_local_task(t, @get_local_task_id(9)); }}\n"

ALLOWED = [
    # Statements of a task. Syntax, Blocks: the values of all breaks have a common type.
    "const M: i32 = 42; const N: comptime_int = 100; const x = b: { if (flag) { break :b N; } break :b M; }; @comptime_assert(@is_same_type(@type_of(x), i32));",
    "const x = b: { if (flag) { break :b small; } break :b large; }; @comptime_assert(@is_same_type(@type_of(x), i32)); large = x;",
    "const x = b: { if (flag) { break :b single; } break :b half; }; @comptime_assert(@is_same_type(@type_of(x), f32)); single = x;",
    "b: { if (flag) { break :b {}; } }",
    "const x = b: { small += 1; break :b 1; } + 42; @comptime_assert(@is_same_type(@type_of(x), comptime_int) and x == 43);",
    # Builtins, @range_start.
    "var r = @range(u16, count); for (r) |i| { count = i; } count = @range_stop(r);",
    # Release notes of SDK 0.7: at compile time a switch may be over a comptime_int.
    "comptime { switch (5) { 1 => {}, else => {} } }",
]


@pytest.mark.parametrize("statements", ALLOWED)
def test_what_the_manual_allows(csl: Csl, statements: str) -> None:
    warnings = csl.pe(DECLARATIONS + TASK.format(statements)).warnings
    # Warnings of widened integers are tested elsewhere.
    assert [warning for warning in warnings if "is widened" not in warning] == []


def test_values_of_several_breaks_at_run_time(csl: Csl) -> None:
    statements = """
      for (@range(i16, 3)) |i| {
        out[i] = b: { if (i == 0) { break :b 100; } if (i == 1) { break :b i - 8; } break :b wide; };
        const value = c: { if (i == 2) { break :c i; } if (i == 1) { break :c wide; } break :c 5; };
        out[3 + i] = value;
      }
    """
    assert csl.compute(statements, "i32", count=6, before="var wide: i32 = 70000;").tolist() == [
        100, -7, 70000, 5, 70000, 2,
    ]  # fmt: skip


WARNED = [
    # (statements, warning, the same without the warning)
    ("flag = «flag & flag»;", "takes '&' of integers only (Syntax, Operators); write 'and'", "flag = flag and flag;"),
    ("flag = «flag ^ flag»;", "write '!='", "flag = flag != flag;"),
    ("flag = «&small == &small»;", "does not compare values of type '*i16'", "flag = small == small;"),
    ("comptime { _ = «.{ 1 } == .{ 1 }»; }", "does not compare values of type", "comptime { _ = E.a == E.b; }"),
    (
        "const p = «@as([*]f16, &numbers)»; p[0] = 1.0;",
        "takes @as of numbers, bools and enums, not of '[*]f16'",
        "const p: [*]f16 = &numbers; p[0] = 1.0;",
    ),
    (
        "var a = «@zeros([3]bool)»; a[0] = flag;",
        "makes @zeros of numbers only, not of 'bool'; write @constants(..., false)",
        "var a = @constants([3]bool, false); a[0] = flag;",
    ),
    ("const m = «@zeros([3]E)»; _ = m[0];", "makes @zeros of numbers only", "const m = @zeros([3]i16); _ = m[0];"),
    (
        "comptime { _ = «@ptrcast(*i16, &large)»; }",
        "does not evaluate @ptrcast at compile time",
        "_ = @ptrcast(*i16, &large);",
    ),
    (
        "const n: i16 = 9; @activate(@get_local_task_id(«n»));",
        "takes unsigned integers for @get_local_task_id, not 'i16'; use 'u16'",
        "const n: u16 = 9; @activate(@get_local_task_id(n));",
    ),
    (
        "comptime { _ = @concat_structs«(Point{ .x = 1, .y = 2 }, .{ .z = 3 })»; }",
        "joins anonymous structs",
        "comptime { _ = @concat_structs(.{ .x = 1 }, .{ .z = 3 }); }",
    ),
    ('flag = @has_field(«5», "x");', "takes @has_field of structs only", 'flag = @has_field(point, "x");'),
    (
        'flag = @is_arch(«"wse7"»);',
        "there is no architecture 'wse7'; there are: wse2, wse3",
        'flag = @is_arch("wse3");',
    ),
    ("«@faddh(dsd, half, half)»;", "requires a DSD or DSR among the sources of @faddh", "@faddh(dsd, half, dsd);"),
    ("«parray[1]» = 2.0;", "only dereferences a '*[5]f16'; write '.*[i]'", "parray.*[1] = 2.0;"),
    ("«ppoint.x» = 2;", "only dereferences a '*struct { x: i32, y: i32 }'; write '.*.x'", "ppoint.*.x = 2;"),
    (
        "const n: i16 = 3; const m: comptime_int = «n»; small = m;",
        "does not convert 'i16' to 'comptime_int' implicitly",
        "const n: i16 = 3; const m: comptime_int = @as(comptime_int, n); small = m;",
    ),
    (
        "const n: u32 = 3; large = «large + n»;",
        "finds no common type of 'i32' and 'u32'",
        "const n: i32 = 3; large = large + n;",
    ),
    ("count = «@bitcast(u16, ppoint)»;", "takes @bitcast of numbers, not of pointers", "count = @bitcast(u16, small);"),
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("marked", "message", "better"), WARNED)
@pytest.mark.slow
def test_what_only_we_accept_is_warned_of(csl: Csl, marked: str, message: str, better: str) -> None:
    compiled = csl.pe(DECLARATIONS + TASK.format(marked.replace("«", "").replace("»", "")))
    (warning,) = compiled.warnings
    assert message in warning
    assert csl.pe(DECLARATIONS + TASK.format(better)).warnings == []


REFUSED = [
    (
        "_ = @get_dsd(circbuf_dsd, «.{ .base_address = &numbers, .extent = 20, .wraparound = 15 }»);",
        "'.wraparound' is 15, but the buffer has 5 elements",
    ),
    (
        "_ = @get_dsd(circbuf_dsd, «.{ .base_address = &numbers[1], .extent = 20 }»);",
        "a circbuf_dsd over a '*f16' needs '.wraparound'",
    ),
    # (statements, message)
    ("const p = «&inlined»;", "'inlined' is 'inline', so it has no address"),
    ("const p: *const fn() void = «inlined»; p();", "'inlined' is 'inline', so it has no address"),
    ("var x: *«comptime_int»;", "there are no pointers to such values"),
    ("var x: [*]«comptime_string»;", "there are no pointers to such values"),
    ("«var x = {}»;", "variable 'x' is a 'void'"),
    ("var x: f16 = «1.0e10»;", "10000000000.0 does not fit in 'f16'"),
    ("comptime { @comptime_assert(true, «5»); }", "the message of an assertion must be a string"),
    ("_ = «@get_ut_id(1)»;", "@get_ut_id exists on WSE-3 only"),
    ("_ = @get_int(«EAST»);", "a 'direction' has no underlying integer"),
    ("@map(square, dsd, «&single»);", "the function of @map returns a 'f16', but this points to a 'f32'"),
    (
        "const x = b: { «if (flag) { break :b @as(i32, 1); }» break :b 0.5; };",
        "operands are of types 'i32' and 'comptime_float'",
    ),
    ("«var r = @range(u16, count)»; r = @range(u16, 2);", "variable 'r' is a 'range of u16'"),
]


@pytest.mark.parametrize(("marked", "message"), REFUSED)
def test_what_the_manual_forbids(csl: Csl, marked: str, message: str) -> None:
    csl.refuses(DECLARATIONS + TASK.format(marked), message)


ROUTES = [
    # (members of the configuration, warning; None if it is right)
    (".routes = .{ .rx = .{WEST}, .tx = .{RAMP} }, .teardown = false", None),
    (
        ".routes = .{ .rx = .{WEST}, .tx = .{RAMP}, .pop_mode = .{ .always_pop = true } }, .switches = .{ .pos1 = .{ .rx = EAST } }",
        "'.pop_mode' in '.routes' is deprecated; move it into '.switches'",
    ),
    (
        ".routes = .{ .rx = .{WEST}, .tx = .{RAMP} }, .switches = .{ .pos1 = .{ .rx = EAST }, .pop_mode = .{ .always_pop = true } }",
        None,
    ),
    (".routes = .{ .rx = .{WEST}, .tx = .{ RAMP, EAST, RAMP } }", "accepts each direction of a route only once"),
]


@pytest.mark.parametrize(("config", "message"), ROUTES)
def test_configurations_of_colors(csl: Csl, config: str, message: str | None) -> None:
    """Builtins, @set_color_config."""
    compiled = csl.pe(f"comptime {{ @set_local_color_config(@get_color(1), .{{ {config} }}); }}")
    assert len(compiled.warnings) == (message is not None)
    assert message is None or message in compiled.warnings[0]
    pop_modes = str(compiled.module).count("always_pop")
    assert pop_modes == ("always_pop" in config)


EXPORTED = [
    ("«export fn f(x: mem1d_dsd) void {}»", "'f' takes a 'mem1d_dsd', which cannot be shared by 'export'"),
    ("«export fn f(x: i16, n: comptime_int) void {}»", "'f' takes a 'comptime_int', which cannot be shared"),
    ("«export fn f() direction { return EAST; }»", "'f' returns a 'direction', which cannot be shared"),
    (
        'task t() void { «var x: i16 linkname("a") = 1»; }\ncomptime { @bind_local_task(t, @get_local_task_id(9)); }',
        "'linkname' is for global variables; declare 'x' outside of functions",
    ),
    (
        'task t() void { «var x: i16 linksection(".a") = 1»; }\ncomptime { @bind_local_task(t, @get_local_task_id(9)); }',
        "'linksection' is for global variables",
    ),
]


@pytest.mark.parametrize(("text", "message"), EXPORTED)
def test_what_cannot_be_linked(csl: Csl, text: str, message: str) -> None:
    """Storage Classes, Type restrictions; Syntax, Variables."""
    csl.refuses(text, message)


def test_a_task_returns_nothing(csl: Csl) -> None:
    """Syntax, Functions."""
    text = "task t() i16 { return 1; }\ncomptime { @bind_local_task(«t», @get_local_task_id(9)); }"
    csl.refuses(text, "task 't' returns a 'i16'; a task returns 'void'")


@pytest.mark.parametrize(("parameters", "bits"), [("a: u32, b: u32", 64), ("a: u16, b: u16, c: u16", 48)])
def test_a_task_is_given_one_wavelet(csl: Csl, parameters: str, bits: int) -> None:
    """Task Identifiers, Data Tasks: the payload is split among the parameters."""
    message = f"the parameters of task 't' have {bits} bits; the payload of a wavelet has 32"
    bound = """
    const c = @get_color(1);
    comptime {
      @bind_data_task(t, @get_data_task_id(c));
      @set_local_color_config(c, .{ .routes = .{ .rx = .{EAST}, .tx = .{RAMP} } });
    }
    """
    csl.refuses(f"«task t({parameters}) void {{}}»{bound}", message)
    assert csl.pe(f"task t(a: u16, b: u16) void {{}}{bound}").warnings == []
