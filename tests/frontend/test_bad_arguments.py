"""Whatever a builtin is given, there is one error with its place, or none; never an internal one."""

# ruff: noqa: E501 (a program is one line of a table)

from __future__ import annotations

import random
from typing import Any

import pytest

import loomir
from loomir.diagnostics.errors import LoomError
from loomir.frontend.registry import BUILTINS
from loomir.operations.dsd_table import OPERATIONS

from .harness import LAYOUT_FILE, ONE_TILE, PE_FILE, Csl

VALUES = [
    "10000000000000000000000000000", "-10000000000000000000000000000", "-1", "@as(i16, -3)", "70000", "9223372036854775808",
    "@as(u64, 18446744073709551615)", "1.5", "@as(f32, 2.5)", "@as(f32, 1.0e300)", "true", '"text"', "nothing()", "u16",
    ".{ .a = 1 }", ".{}", ".{ 1, 2 }", "[2]u16{ 1, 2 }", "nothing", "math", "EAST", "&some", "some", "@get_color(3)",
    "mode.busy", "@range(u16, 3)", "d1", "0", "@get_input_queue(2)", "t2", "unknown_name", "@get_local_task_id(12)",
    "[10000000000]u16", "@zeros([0]u16)", "from", "math.NaN(f32)",
]  # fmt: skip

PE = """
const math = @import_module("<math>");
const mode = enum { idle = 1, busy = 2 };
var some: u16 = 3;
var a = @zeros([8]u16);
var s = @zeros([8]f32);
fn nothing() void {}
fn one(x: u16) u16 { return x; }
const d1 = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> a[i] });
const from = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = @get_color(4), .input_queue = @get_input_queue(3) });
var room = @zeros([16]u16);
const fifo = @allocate_fifo(room);
task t2() void {}
task dt(w: u16) void {}
const S = struct { x: u16, y: u16 };
"""
BOUND = "comptime { @bind_local_task(t, @get_local_task_id(9)); @bind_local_task(t2, @get_local_task_id(12)); }\n"
PLACES = {
    # Where an expression stands.
    "run": "task t() void { _ = HERE; }\n" + BOUND,
    "comptime": "comptime { _ = HERE; }\n",
    "global": "const made = HERE;\nvar copy = made;\ntask t() void { _ = &copy; @mov16(made, 3); }\n" + BOUND,
}
LAYOUT = """
const math = @import_module("<math>");
const mode = enum { idle = 1, busy = 2 };
const some: u16 = 3;
fn nothing() void {}
const d1 = 5;
const from = 6;
const t2 = 7;
layout { HERE }
"""

CALLS = {
    "run": [
        "@as(u16, 3)", "@bitcast(u16, @as(i16, 3))", "@ptrcast(*u16, &some)", "@assert(some == 3, m)",
        "@set_active_prng(1)", "@increment_dsd_offset(d1, 2, u16)", "@set_dsd_base_addr(d1, a)", "@set_dsd_length(d1, 3)",
        "@set_dsd_stride(d1, 2)", "@set_fifo_read_length(fifo, 3)", "@set_fifo_write_length(fifo, 3)",
        "@activate(@get_local_task_id(12))", "@block(@get_local_task_id(12))", "@unblock(@get_local_task_id(12))",
        "@load_to_dsr(@get_dsr(dsr_dest, 3), d1, .{})", "@map(one, d1, d1)", "@get_symbol_id(a)",
        "@get_symbol_value(u16, some)", "@get_tensor_ptr(some)", "@range(u16, 0, 3, 1)", "@mov16(d1, d1, .{ .async = 7 })",
        "@mov16(d1, d1, .{ .async = true, .activate = 7 })", "@mov16(d1, from, .{ .async = true, .ut_id = 7 })",
        "@mov16(d1, from, .{ .async = true, .on_control = 7 })", "@mov16(d1, d1, .{ .index = 7 })",
        "@mov16(d1, d1, .{ .async = true, .priority = .{ .low = 7 } })", "a[7]", "some << 7", "some / 7", "some % 7", "-7",
        "@get_config(0x7f22)", "@set_config(0x7f22, 3)", "@get_config_unchecked(0x7f22)", "@set_config_unchecked(0x7f22, 3)",
        "@queue_flush(@get_input_queue(2))", "@dfilt(7, .{ .async = true })", "~7", "!7", "some + 7", "some < 7", "some == 7", "(7) and true", "one(7)", "7.*", "(7).x", "&(7)",
        "S{ .x = 7, .y = 1 }", "@bitcast(*u16, 7)", "math.sqrt(7)", "if (7) 1 else 2",
    ],
    "comptime": [
        "@type_of(some)", "@is_same_type(u16, i16)", "@dimensions([3]u16)", "@element_count([3]u16)",
        "@element_type([3]u16)", "@rank([3]u16)", "@get_color(3)", "@get_local_task_id(9)", "@get_control_task_id(34)",
        "@get_input_queue(2)", "@get_output_queue(2)", "@get_ut_id(2)", "@get_data_task_id(@get_color(5))",
        "@get_int(mode.busy)", '@is_arch("wse2")', '@comptime_assert(true, "m")', "@comptime_print(3)",
        "@get_filter_id(@get_color(3))", "@set_teardown_handler(one, @get_color(3))",
        "@set_empty_queue_handler(one, @get_output_queue(2))",
        "@concat_structs(.{ .a = 1 }, .{ .b = 1 })", '@field(.{ .a = 1 }, "a")', '@has_field(.{ .a = 1 }, "a")',
        '@strlen("abc")', '@strcat("abc", "d")', '@get_array("abc")', "@get_string_from_byte(65)",
        "@bind_local_task(t2, @get_local_task_id(13))", "@bind_data_task(dt, @get_data_task_id(@get_color(6)))",
        "@bind_control_task(dt, @get_control_task_id(40))", "@set_control_task_table(.{})",
        "@initialize_queue(@get_input_queue(4), .{ .color = 7 })", '@export_symbol(a, "x")',
        "@rpc(@get_data_task_id(@get_color(8)))", "@range_start(@range(u16, 3))",
        "@set_local_color_config(@get_color(3), .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } })", "3 << 7", "7 / 7",
        "7 % 7", "7 == 7", "7 * 7", "@as(i64, 7)", "@as(f16, 7)", "@as(bool, 7)", "@as(mode, 7)", "@as(color, 7)",
        "@as(comptime_int, 7)", "@as(i5, 7)", "@bitcast(u32, 7)", "math.abs(7)", "if (true) 7 else 2",
    ],
    "global": [
        "@zeros([7]u16)", "@zeros([2, 7]u16)", "@zeros([2](7))", "@constants([3]u16, 7)", '@import_module("lib.csl", .{})',
        "@get_dsd(mem1d_dsd, .{ .base_address = &a, .extent = 7 })", "@get_dsd(7, .{ .base_address = &a, .extent = 3 })",
        "@get_dsd(mem1d_dsd, .{ .base_address = &a, .extent = 3, .stride = 7 })",
        "@get_dsd(mem1d_dsd, .{ .base_address = &a, .extent = 3, .offset = 7 })",
        "@get_dsd(mem1d_dsd, .{ .base_address = &a, .extent = 3, .wavelet_index_offset = 7 })",
        "@get_dsd(mem1d_dsd, .{ .base_address = 7, .extent = 3 })",
        "@get_dsd(mem4d_dsd, .{ .base_address = &a, .extent = .{ 2, 7 }, .stride = .{ 1, 1 } })",
        "@get_dsd(mem4d_dsd, .{ .base_address = &a, .extent = .{ 2, 2 }, .stride = .{ 1, 7 } })",
        "@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{7} -> a[i] })",
        "@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> a[i + 7] })",
        "@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> a[i * 7] })", "@get_dsd(mem1d_dsd, .{ .tensor_access = 7 })",
        "@get_dsd(fabin_dsd, .{ .extent = 7, .fabric_color = @get_color(9), .input_queue = @get_input_queue(5) })",
        "@get_dsd(fabin_dsd, .{ .extent = 3, .fabric_color = 7, .input_queue = @get_input_queue(5) })",
        "@get_dsd(fabin_dsd, .{ .extent = 3, .fabric_color = @get_color(9), .input_queue = 7 })",
        "@get_dsd(fabout_dsd, .{ .extent = 3, .fabric_color = @get_color(9), .output_queue = @get_output_queue(5), .simd_mode = .{ .x = 7 } })",
        "@get_dsd(fabout_dsd, .{ .extent = 3, .fabric_color = @get_color(9), .output_queue = @get_output_queue(5), .priority = .{ .x = 7 } })",
        "@get_dsd(circbuf_dsd, .{ .base_address = &a, .extent = 3, .wraparound = 7 })", "@allocate_fifo(room, .{})",
        "@allocate_fifo(room, .{ .activate_push = 7 })", "@get_dsr(dsr_dest, 3)", "@get_xdsr(2)", "@get_sr(2)",
    ],
    "layout": [
        "@set_rectangle(2, 1);", '@set_rectangle(2, 1); @set_tile_code(0, 0, "pe.csl", .{});',
        "@set_rectangle(2, 1); @set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } });",
        "@set_rectangle(2, 1); @set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } }, .switches = .{ .pos1 = .{ .tx = 7 }, .current_switch_pos = 7 } });",
        '@set_rectangle(2, 1); @export_name("n", u16, true);', "@set_rectangle(2, 1); for (7) |i| {}",
        "@set_rectangle(2, 1); for (@range(i16, 7)) |i| { @comptime_assert(i < 100); }",
        '@set_rectangle(2, 1); @set_tile_code(1, 0, "pe.csl", .{ .p = 7 });', "while (7) { break; }",
    ],
}  # fmt: skip
CALLS["run"] += [
    f"@{name}({', '.join(['d1' if row.destination in ('i16', 'f16') else 's', *('d1' for _ in row.sources)])}, .{{}})"
    for name, row in [*OPERATIONS.items()][::6]
]


def arguments(call: str) -> list[tuple[int, int]]:
    """Return where the arguments of the last call in a text begin and end, and where a 7 is that stands for any value."""
    found = [(n, n + 1) for n, letter in enumerate(call) if letter == "7"]
    name = call.rfind("@set_tile") if "@set_tile" in call else call.find("@", call.find(";") + 1)
    if found or name < 0:
        return found
    depth, start = 0, 0
    for n in range(call.index("(", name), len(call)):
        depth += (call[n] in "([{") - (call[n] in ")]}")
        if (depth == 1 and call[n] in "(,") or depth == 0:
            if start:
                found.append((start, n))
            start = n + 1
        if depth == 0:
            break
    return found


def check(csl: Csl, place: str, expression: str, arch: str) -> None:
    files = {PE_FILE: "param p: u16 = 3;", "lib.csl": "param a: u16 = 1;"}
    layout = LAYOUT.replace("HERE", expression) if place == "layout" else ONE_TILE
    if place != "layout":
        files[PE_FILE] = PE + PLACES[place].replace("HERE", expression)
    try:
        loomir.compile(csl.layout(layout, files=files, arch=arch).module)
    except LoomError as error:
        assert "internal" not in error.message, expression
        assert error.location is not None and error.location.count(":") == 2, f"{expression}: {error}"
        assert len(getattr(error, "diagnostics", [error])) == 1, expression
        written = (csl.directory / LAYOUT_FILE, csl.directory / PE_FILE)
        assert any(str(path) in str(error) for path in written), f"{expression}: {error}"


@pytest.mark.slow
@pytest.mark.parametrize("place", CALLS)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.thorough)])
def test_bad_arguments(csl: Csl, place: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each argument of each builtin, with some of the values in turn."""
    monkeypatch.setenv("LOOM_STEP_LIMIT", "100000")
    choose = random.Random(seed)
    values: list[str] = []
    for call in CALLS[place]:
        for start, end in arguments(call):
            if not values:
                values = choose.sample(VALUES, len(VALUES))
            check(csl, place, call[:start] + values.pop() + call[end:], choose.choice(["wse2", "wse3"]))


def test_every_builtin_is_tried() -> None:
    text = " ".join(call for calls in CALLS.values() for call in calls)
    operations = {f"@{name}" for name in OPERATIONS}
    tried = {name for name in BUILTINS if f"{name}(" in text or name.startswith("@loom_")}
    without = BUILTINS.keys() - tried - operations
    assert without <= {"@fp16", "@is_comptime", "@random16", "@get_rectangle", "@has_exported_tensors", "@range_stop",
                       "@range_step", "@import_comptime_value", *LATER}  # fmt: skip


LATER = {
    "@bind_rotating_tasks",
    "@load_to_dsr_xdsr", "@load_to_dsr_xdsr_sr",
}  # fmt: skip
"""Builtins that take no values of their own."""

REFUSED = [
    ("global", "@get_dsd(mem1d_dsd, «.{ .base_address = &a, .extent = 100000000000000000000000000 }»)", "an extent of 100000000000000000000000000 is out of range; use 0 to 65535"),
    ("global", "@get_dsd(mem1d_dsd, «.{ .base_address = &a, .extent = -1 }»)", "an extent of -1 is out of range; use 0 to 65535"),
    ("global", "@get_dsd(mem1d_dsd, «.{ .base_address = &a, .extent = 2, .stride = 40000 }»)", "a stride of 40000 is out of range; use -128 to 127"),
    ("global", "@get_dsd(mem1d_dsd, «.{ .base_address = &a, .extent = 2, .offset = -40000 }»)", "an offset of -40000 is out of range; use -32768 to 32767"),
    ("global", "@get_dsd(mem4d_dsd, «.{ .base_address = &a, .extent = .{ 2, 70000 } }»)", "an extent of 70000 is out of range; use 0 to 65535"),
    ("global", "@get_dsd(fabin_dsd, «.{ .extent = 65536, .fabric_color = @get_color(9), .input_queue = @get_input_queue(5) }»)", "an extent of 65536 is out of range; use 0 to 65535"),
    ("global", "@get_dsd(fabout_dsd, «.{ .extent = 3, .fabric_color = @get_color(9), .priority = .{ .x = true } }»)", "'.priority' of a DSD does not exist on WSE-2 (DSD-101); give it to the operation"),
    ("run", "@set_dsd_length(d1, «-1»)", "a length of -1 is out of range; use 0 to 65535"),
    ("run", "@set_dsd_stride(d1, «32768»)", "a stride of 32768 is out of range; use -128 to 127"),
    ("run", "@increment_dsd_offset(d1, «100000», u16)", "an offset of 100000 is out of range; use 0 to 65535"),
    ("run", "@mov16(d1, d1, «.{ .async = true, .priority = .{ .x = true } }»)", "'x' is not a '.priority'; it is one of"),
    ("global", "@zeros(«[2]mem1d_dsd»)", "@zeros makes arrays of numbers, and there is no zero of type 'mem1d_dsd'"),
    ("global", "@zeros(«[2]comptime_string»)", "there is no zero of type 'comptime_string'"),
    ("global", "@zeros(«[2]mode»)", "there is no zero of type 'enum(u16) { idle, busy }'"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "expression", "message"), REFUSED)
def test_refuses(csl: Csl, place: str, expression: str, message: str) -> None:
    csl.refuses(PE + PLACES[place].replace("HERE", expression), message)


LAYOUTS = [
    ('@set_rectangle(1, 1); «@set_tile_code(100000000000000000000000000, 0, "pe.csl")»;', "PE (100000000000000000000000000, 0) is outside the rectangle of 1 x 1 PEs"),
    ('@set_rectangle(1, 1); «@set_tile_code(0, -9223372036854775809, "pe.csl")»;', "PE (0, -9223372036854775809) is outside the rectangle"),
    ('@set_rectangle(5, 1); for (@range(u64, 5)) |x| { «@set_tile_code(x * 4611686018427387904, 0, "pe.csl")»; }', "PE (4611686018427387904, 0) is outside the rectangle"),
    ("«@set_rectangle(100000000000000000000000000, 1)»;", "the rectangle has 100000000000000000000000000 x 1 PEs; the wafer has 757 x 996"),
    ("«@set_rectangle(1, 100000)»;", "the rectangle has 1 x 100000 PEs; the wafer has 757 x 996"),
]  # fmt: skip


@pytest.mark.parametrize(("statements", "message"), LAYOUTS)
def test_layouts(csl: Csl, statements: str, message: str) -> None:
    csl.refuses("", message, layout=f"layout {{ {statements} }}")


def warnings(csl: Csl, text: str, **options: Any) -> list[str]:
    return [warning.replace(f"{csl.directory}/", "") for warning in csl.pe(text, **options).warnings]


def test_zeros_of_what_is_no_number(csl: Csl) -> None:
    for type in ("bool", "color", "*u16", "struct { a: u16 }"):
        (warning,) = warnings(csl, f"const given = @zeros([2]{type}); comptime {{ _ = given; }}")
        instead = "@constants(..., false)" if type == "bool" else "@constants"
        assert warning.startswith("pe.csl:1:15: warning: ")
        assert warning.endswith(f"makes @zeros of numbers only, not of '{type}'; write {instead}")
    for type in ("u8", "i64", "f16", "comptime_int", "u5"):
        assert warnings(csl, f"const given = @zeros([2]{type}); comptime {{ _ = given; }}") == []


def test_params_that_a_module_does_not_have(csl: Csl) -> None:
    files = {"lib.csl": "param width: u16 = 1;\nparam height: u16 = 1;\nconst other: u16 = 2;"}
    text = 'const m = @import_module("lib.csl", .{ .width = 1, .heigth = 2, .other = 3 });\ncomptime { _ = m; }'
    assert warnings(csl, text, files=files) == [
        "pe.csl:1:11: warning: 'lib.csl' has no param 'heigth'; did you mean 'height'?",
        "pe.csl:1:11: warning: 'lib.csl' has no param 'other'; remove it",
    ]
    text = 'const r = @import_module("<random>", .{ .prng = 1 });\ncomptime { _ = r; }'
    assert warnings(csl, text) == ["pe.csl:1:11: warning: <random> has no param 'prng'; did you mean 'prng_id'?"]
    layout = 'layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{ .widht = 1 }); }'
    (warning,) = csl.layout(layout, "param width: u16 = 2;").warnings
    assert warning == f"{csl.directory}/layout.csl:1:32: warning: 'pe.csl' has no param 'widht'; did you mean 'width'?"
