"""Lint: warnings about tasks, queues and variables that cannot do what they are declared for, and no false alarms."""

from __future__ import annotations

import pytest

from .harness import Csl

LAYOUT = """
layout {
  @set_rectangle(2, 1);
  for (@range(i16, 2)) |x| { @set_tile_code(x, 0, "pe.csl", .{ .x = x }); }
  @set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
  @set_color_config(1, 0, @get_color(3), .{ .routes = .{ .rx = .{ WEST }, .tx = .{ TX } } });
  @export_name("main", fn() void);
}
"""

BEFORE = """param x: i16;
const id = @get_local_task_id(8);
const other = @get_local_task_id(9);
const done = @get_local_task_id(10);
const red = @get_color(3);
const in = @get_input_queue(2);
const out = @get_output_queue(3);
var a: [4]f32;
comptime { @export_symbol(main); }
"""

NEVER = "nothing activates it; use @activate, or '.activate' of an asynchronous operation"


def warnings(csl: Csl, text: str, arch: str = "wse3", route: str = "RAMP", **options: object) -> list[str]:
    """Return the warnings about a program, each with its line behind `BEFORE`."""
    options = {"lint": True, **options}
    compiled = csl.layout(LAYOUT.replace("TX", route), BEFORE + text, arch, **options)  # pyright: ignore[reportArgumentType]
    first = BEFORE.count("\n")
    found: list[str] = []
    for warning in compiled.warnings:
        file, line, _, rest = warning.split(":", 3)
        assert file.endswith("pe.csl"), warning
        found.append(f"{int(line) - first}:{rest.removeprefix(' warning:')}")
    return found


RUN = "fn main() void { f(); }\n"


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (
            "task t() void {}\nfn f() void {}",
            "1: task 't' is never bound; bind it to an id, as with @bind_local_task in a comptime block, or remove it "
            "[unbound-task]",
        ),
        (
            "task t() void {}\nfn f() void {}\ncomptime { @bind_local_task(t, id); }",
            f"1: task 't' never runs: {NEVER} [idle-task]",
        ),
        (
            "task t() void {}\nfn f() void { @activate(id); }\ncomptime { @bind_local_task(t, id); @block(id); }",
            "1: task 't' never runs: it is blocked at the start, and nothing unblocks it [idle-task]",
        ),
        (
            "var b: f32;\nfn f() void { a[0] = b; }",
            "1: variable 'b' is read, but never written; initialize it, with @zeros for example, or write it "
            "[unwritten-variable]",
        ),
        (
            "fn f() void {}\ncomptime { @initialize_queue(in, .{ .color = red }); }",
            "2: input queue 2 is initialized, but nothing receives by it; give it a DSD or a data task, or remove it "
            "[unused-queue]",
        ),
        (
            "fn f() void {}\ncomptime { @initialize_queue(out, .{ .color = red }); }",
            "2: output queue 3 is initialized, but nothing is sent by it; remove it, or use it in a DSD [unused-queue]",
        ),
    ],
)  # fmt: skip
def test_what_is_warned_of(csl: Csl, text: str, warning: str) -> None:
    assert warnings(csl, text + "\n" + RUN) == [warning]
    assert warnings(csl, text + "\n" + RUN, lint=False) == []


DATA = """task t(value: f32) void { a[0] = value; }
fn f() void {}
comptime { @initialize_queue(in, .{ .color = red }); @bind_data_task(t, @get_data_task_id(in)); }
"""


def test_data_tasks_without_a_route(csl: Csl) -> None:
    never = "no route leads its color to the PE; give the color a route with '.tx' RAMP there"
    assert warnings(csl, DATA + RUN, route="EAST") == [f"1: task 't' never runs: {never} [idle-task]"]
    assert warnings(csl, DATA + RUN) == []
    moving = "EAST }, .rx = .{ WEST } }, .switches = .{ .pos1 = .{ .tx = RAMP"
    layout = LAYOUT.replace(".rx = .{ WEST }, .tx = .{ TX", f".tx = .{{ {moving}")
    assert csl.layout(layout, BEFORE + DATA + RUN, "wse3", lint=True).warnings == []


RECEIVE = "const d = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = red, .input_queue = in });\n"
MEMORY = "const m = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[i] });\n"
QUEUE = "comptime { @initialize_queue(in, .{ .color = red }); }\n"


@pytest.mark.parametrize(
    "text",
    [
        # Tasks that a function, another task, the end of an operation, an id known at run time, or the start activates.
        "task t() void {}\nfn f() void { @activate(id); }\ncomptime { @bind_local_task(t, id); }",
        "task t() void {}\nfn f() void {}\ncomptime { @bind_local_task(t, id); @activate(id); }",
        "task t() void { @activate(other); }\ntask u() void { @activate(id); }\nfn f() void { @activate(id); }\n"
        "comptime { @bind_local_task(t, id); @bind_local_task(u, other); }",
        RECEIVE + MEMORY + QUEUE + "task t() void {}\n"
        "fn f() void { @fmovs(m, d, .{ .async = true, .activate = id }); }\n"
        "comptime { @bind_local_task(t, id); }",
        "var which = id;\ntask t() void {}\nfn f() void { @activate(which); }\ncomptime { @bind_local_task(t, id); }",
        # Tasks that the code of some PEs activates; a task that is bound with some params only.
        "task t() void {}\nfn f() void { if (x == 1) { @activate(id); } }\ncomptime { @bind_local_task(t, id); }",
        "task t() void {}\nfn f() void {}\ncomptime { if (x == 7) { @bind_local_task(t, id); } }",
        # Tasks that may be started by control wavelets.
        "task t() void {}\ntask u() void { @activate(id); }\nfn f() void {}\n"
        "comptime { @bind_local_task(t, id); @bind_control_task(u, @get_control_task_id(11)); }",
        # Tasks that the end of an operation unblocks.
        RECEIVE + MEMORY + QUEUE + "task t() void {}\n"
        "fn f() void { @activate(id); @fmovs(m, d, .{ .async = true, .unblock = id }); }\n"
        "comptime { @bind_local_task(t, id); @block(id); }",
        # Variables that are written by code, by an operation, through a pointer, or by code that is not called.
        "var b: f32;\nfn f() void { a[0] = b; b = 1.0; }",
        "var b: [4]f32;\nconst e = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> b[i] });\n"
        "fn f() void { @fmovs(e, 1.0); a[0] = b[1]; }",
        "var b: f32;\nvar p: *f32 = &b;\nfn f() void { p.* = 2.0; a[0] = b; }",
        "var b: f32;\nfn g() void { b = 1.0; }\nfn f() void { a[0] = b; }",
        "var b = @zeros([4]f32);\nfn f() void { a[0] = b[1]; }",
        # Queues that some PEs use, or code that is not called.
        RECEIVE + MEMORY + QUEUE + "fn f() void { if (x == 1) { @fmovs(m, d); } }",
        RECEIVE + MEMORY + QUEUE + "fn g() void { @fmovs(m, d); }\nfn f() void {}",
    ],
)  # fmt: skip
def test_no_false_alarms(csl: Csl, text: str) -> None:
    assert warnings(csl, text + "\n" + RUN) == []


def test_mistakes_of_globals_that_nothing_uses(csl: Csl) -> None:
    """A mistake that a use would have is a warning; what another PE program uses, or params rule out, is none."""
    text = """
const wrong = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[i * i] });
var large: u16 = 70000;
const fine: u16 = 7;
const even = if (x == 0) fine else nothing;
const never = false and nothing;
fn f() void { if (x == 0) { a[0] = @as(f32, even); } }
"""
    why = "; it would be an error if anything used"
    holds = "which holds 0 to 65535; use a wider type, or @as to keep the low bits"
    assert warnings(csl, text + RUN) == [
        f"2: the index is not affine: it must be a sum of the variables times constants (DSD-025){why} 'wrong' "
        "[unused-mistake]",
        f"3: 70000 does not fit in 'u16', {holds}{why} 'large' [unused-mistake]",
    ]
    used = "fn f() void { a[0] = @as(f32, large); }\n"
    csl.refuses(BEFORE + "var large: u16 = «70000»;\n" + used + RUN, "70000 does not fit", LAYOUT.replace("TX", "RAMP"))


def test_mistakes_of_functions_that_nothing_names(csl: Csl) -> None:
    """The first that a call would have whatever it passes; code that something names is judged where it is used."""
    text = """
fn one() void { a[0] = nothing; }
fn called(k: f32) void { a[0] = k; }
fn two(k: f32) void { called(k, k); }
fn three(n: u16) void { var k: u16 = n; k = 70000; }
fn four() i16 { @fmovs(@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[i] }), 1.0, 2.0, 3.0); return 3.5; }
fn five() i16 { return 3.5; }
task t() void { @activate(absent); }
fn f() void { }
"""
    why = "; it would be an error if anything used"
    assert warnings(csl, text + RUN) == [
        f"2: 'nothing' is not declared; declare it, or import the module that does{why} 'one' [unused-mistake]",
        f"4: 'called' takes 1 argument, not 2{why} 'two' [unused-mistake]",
        "5: 70000 does not fit in 'u16', which holds 0 to 65535; use a wider type, or @as to keep the low bits"
        f"{why} 'three' [unused-mistake]",
        f"6: @fmovs takes 2 or 3 arguments, not 4{why} 'four' [unused-mistake]",
        f"7: expected 'i16', found 'comptime_float'; convert it with @as(i16, ...){why} 'five' [unused-mistake]",
        "8: task 't' is never bound; bind it to an id, as with @bind_local_task in a comptime block, or remove it "
        "[unbound-task]",
        f"8: 'absent' is not declared; declare it, or import the module that does{why} 't' [unused-mistake]",
    ]


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "text",
    [
        # What params rule out names it; generic; an extent that a call gives; a loop without an end; a branch by param.
        "fn g() void { a[0] = nothing; }\nfn f() void { if (x == 7) { g(); } }",
        "fn g(comptime T: type, z: T) T { return nothing; }\nfn f() void {}",
        "fn g(n: i16) void { const d = @get_dsd(mem1d_dsd, .{ .base_address = &a, .extent = 4, .offset = n }); "
        "@fmovs(d, 1.0); }\nfn f() void {}",
        "fn g() u16 { comptime { var n: u32 = 0; while (true) : (n += 0) {} } return 1; }\nfn f() void {}",
        "fn g() void { if (x == 7) { a[0] = nothing; } }\nfn f() void {}",
        "fn g() void { a[0] = b[1]; }\nvar b: [4]f32;\nfn f() void {}",
        # What is right if the arguments are known at compile time.
        "fn g(n: u16) i16 { if (n < 3) { return n; } @comptime_assert(false); }\nfn f() void {}",
    ],
)  # fmt: skip
def test_functions_that_nothing_names_may_be_right(csl: Csl, text: str) -> None:
    assert warnings(csl, text + "\n" + RUN) == []


def test_a_trial_leaves_no_trace(csl: Csl) -> None:
    """What is evaluated for its mistakes alone prints nothing, and uses no queue."""
    text = """
fn shown() u16 { @comptime_print("no"); return 1; }
const unused = shown();
fn unnamed(k: f32) void { @comptime_print("no"); @fmovs(&a, k); @fmovs(d, 1.0); work(); work(); }
fn work() void { for (@range(u16, 4)) |i| { a[i] = 2.0; @fmovs(&a[0], a[i]); } }
const d = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = red, .input_queue = in });
fn f() void {}
comptime { @initialize_queue(in, .{ .color = red }); }
"""
    assert warnings(csl, text + RUN) == []
    assert csl.printed == []


def test_libraries_are_left_out(csl: Csl) -> None:
    """What a library initializes and declares is none of the program's."""
    text = 'const random = @import_module("<random>");\nfn f() void { a[0] = random.random_f32(0.0, 1.0); }\n'
    assert warnings(csl, text + RUN) == []
