"""Emission once per body: programs of PEs share what they would emit alike, and emit what differs.

The oracle is emission of every body of every program: the IR must be the same.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.dialects import wse
from loomir.dialects.ir_text import print_ir
from loomir.frontend import asking
from loomir.frontend.compilation import CompiledLayout

from ..searches import examples
from .harness import Csl

LAYOUT = """
layout {{
  @set_rectangle({width}, 1);
  for (@range(u16, {width})) |x| {{ @set_tile_code(x, 0, "pe.csl", .{{ .id = x }}); }}
  {exports}
}}
"""

PE = """
param id: u16;
var memory: [id + 1]u16;
comptime { const n = @element_count(@type_of(memory)); @comptime_assert(n > 0); }
var result: u16;
"""
"""Every PE has a program of its own, since the size of an array differs."""


@contextmanager
def every_body_emitted() -> Generator[None]:
    """Let no program share what an earlier one has emitted or evaluated."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asking._Trees, "find", lambda *_: None)
        yield


def both(csl: Csl, text: str, width: int, arch: str = "wse2", exports: str = "") -> CompiledLayout:
    """Compile programs with shared bodies, having compared them with those compiled without."""
    layout = LAYOUT.format(width=width, exports=exports)
    with every_body_emitted():
        alone = csl.layout(layout, PE + text, arch)
        printed = list(csl.printed)
    shared = csl.layout(layout, PE + text, arch)
    assert print_ir(shared.module) == print_ir(alone.module)
    assert shared.warnings == alone.warnings
    assert csl.printed == printed
    return shared


TASKS = """
const again = @get_local_task_id(8);
task go() void { for (@range(u16, 3)) |i| { result += i * 5; } @activate(again); }
task stop() void { result = 0; }
comptime { @bind_local_task(go, @get_local_task_id(8)); @bind_local_task(stop, @get_local_task_id(9)); }
comptime { @activate(@get_local_task_id(8)); }
"""


@pytest.mark.parametrize("width", [1, 2, 7])
def test_equal_bodies_are_emitted_once_however_many_programs_there_are(csl: Csl, width: int) -> None:
    compiled = both(csl, TASKS, width)
    assert compiled.programs == width
    assert compiled.emitted_bodies == 2


@pytest.mark.parametrize("width", [4, 8])
def test_bodies_are_emitted_once_for_each_number_in_them(csl: Csl, width: int) -> None:
    text = TASKS.replace("i * 5", "i * odd") + "const odd = id % 2;"
    assert both(csl, text, width).emitted_bodies == 3


@pytest.mark.slow
def test_outlined_functions_are_emitted_once(csl: Csl) -> None:
    lines = " ".join(f"result += result * {n} + a;" for n in range(300))
    calls = " ".join(f"long({n});" for n in range(4))
    text = f"""
    fn long(a: u16) void {{ {lines} }}
    task go() void {{ {calls} }}
    comptime {{ @bind_local_task(go, @get_local_task_id(8)); }}
    """
    assert both(csl, text, 5).emitted_bodies == 2


COLORS = """
var kept = [1]u16 { 7 };
const out = @get_output_queue(2);
const in = @get_input_queue(3);
const colors = [3]color { @get_color(4), @get_color(9), @get_color(6) };
const sent = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = colors[id % 3], .output_queue = out });
const got = @get_dsd(fabin_dsd, .{ .extent = 1, .fabric_color = colors[(id + 1) % 3], .input_queue = in });
const ends = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{1} -> kept[i] });
fn shorter(d: fabout_dsd) fabout_dsd { return @set_dsd_length(d, 1); }
task go() void { @mov16(sent, ends); @mov16(ends, got); @mov16(shorter(sent), ends); }
comptime {
  @initialize_queue(in, .{ .color = colors[(id + 1) % 3] });
  if (@is_arch("wse3")) { @initialize_queue(out, .{ .color = colors[id % 3] }); }
  @bind_local_task(go, @get_local_task_id(20)); @activate(@get_local_task_id(20));
}
"""


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_programs_that_differ_in_colors_share_bodies(csl: Csl, arch: str) -> None:
    """The queues have the same names in all programs, and a color each."""
    found = both(csl, COLORS, 7, arch)
    assert (found.programs, found.emitted_bodies) == (7, 1)
    queues = [op for op in found.module.walk() if isinstance(op, wse.OutputQueueOp)]
    assert [[entry.color_name for entry in op.colors] for op in queues] == [[f"c{(4, 9, 6)[x % 3]}"] for x in range(7)]


def test_programs_whose_dsds_have_one_color_here_and_two_there_do_not(csl: Csl) -> None:
    text = (
        COLORS.replace("@mov16(ends, got);", "@mov16(other, ends);")
        + """
    const other = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = colors[id / 4], .output_queue = out });
    """
    )
    found = both(csl, text, 7)
    assert (found.programs, found.emitted_bodies) == (7, 2)


def test_loops_of_tail_calls_are_emitted_once(csl: Csl) -> None:
    """What is asked while a loop is emitted that is emitted again is asked of each program."""
    text = """
    fn there(x: u16) void { if (x == 0) { return; } result += x; back(x - 1); }
    fn back(x: u16) void { if (x % 3 == 0) { there(x / 2); return; } if (x == 0) { return; } back(x - 1); }
    task go() void { there(result); }
    comptime { @bind_local_task(go, @get_local_task_id(8)); @activate(@get_local_task_id(8)); }
    """
    assert both(csl, text, 6).emitted_bodies == 1


@pytest.mark.slow
def test_results_of_calls_at_compile_time_keep_the_bits_of_floats(csl: Csl) -> None:
    """Zeros of both signs are equal, and are not the same argument."""
    text = """
    fn inverse(x: f32) u32 {
      var word: u32 = @bitcast(u32, x);
      for (@range(u16, 4)) |i| { word = word ^ (@as(u32, i) << 3); }
      return word;
    }
    const zeros = [2]f32 { 0.0, -0.0 };
    const word: u32 = inverse(zeros[id % 2]);
    var words = [1]u32 { word };
    task go() void { result = @as(u16, words[0] >> 16); }
    comptime { @bind_local_task(go, @get_local_task_id(8)); @comptime_print(word); }
    """
    both(csl, text, 2)
    assert len(set(csl.printed)) == 2


def test_what_is_printed_at_compile_time_is_printed_for_each_program(csl: Csl) -> None:
    text = """
    fn sum(n: u16) u16 {
      var total: u16 = 0;
      for (@range(u16, n)) |i| { total += i; }
      @comptime_print("sum", total);
      return total;
    }
    const ten = sum(5);
    task go() void { result = ten + comptime sum(4); }
    comptime { @bind_local_task(go, @get_local_task_id(8)); }
    """
    both(csl, text, 3)
    assert len(csl.printed) == 6


FRAGMENTS = {
    "a number": "result = id % 2 + 7;",
    "an array": "result = numbers[result & 3];",
    "a table of the program": "result = table[result & 1];",
    "a long table of the program": "result = long[result];",
    "a local array": "var local = [3]u16 { 1, 2, id % 3 }; result = local[result & 1];",
    "a pointer": "const p = &memory[0]; p.* = result;",
    "a function": "result = twice(result);",
    "a pointer to a function": "if (result > 3) { chosen = thrice; } result = chosen(result);",
    "recursion": "result = down(result);",
    "a loop of tail calls": "result = around(result, 0);",
    "functions that go on with each other": "result = there(result, 0);",
    "a DSD": "@mov16(@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{id % 2 + 1} -> numbers[i] }), result);",
    "a variable DSD": "held = @set_dsd_length(held, result); @mov16(held, 3);",
    "a queue": "@mov16(@get_dsd(fabout_dsd, .{ .extent = 2, .fabric_color = @get_color(id % 3 + 4), "
    ".output_queue = @get_output_queue(2) }), numbers_dsd, .{ .async = true, .activate = done });",
    "a queue of a global DSD": "@mov16(sent, numbers_dsd, .{ .async = true, .activate = done });",
    "DSDs on one queue": "if (result > 2) { @mov16(sent, numbers_dsd); } else { @mov16(sent_too, numbers_dsd); }",
    "a variable DSD on a queue": "sending = @set_dsd_length(sent, result & 3); @mov16(sending, numbers_dsd);",
    "a color of a global DSD": "@mov16(sent_anyhow, numbers_dsd);",
    "a register": "@load_to_dsr(register, numbers_dsd); @mov16(register, 4);",
    "a module": "result = other.scaled(result) + other.factor;",
    "a branch at compile time": "if (id == 2) { result = 1; } else { @activate(done_id); }",
    "a block": "@block(done_id); @unblock(done_id);",
    "a struct": "const s = pair(id % 2); result = s.a + s.b;",
}

DECLARATIONS = """
var numbers = [4]u16 { 1, 2, 3, 4 };
const table = [2]u16 { id % 2, 5 };
const long = @constants([4100]u16, 3);
var held = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> numbers[i] });
const numbers_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> numbers[i] });
const register = @get_dsr(dsr_dest, 3);
const first_color = @get_color(id % 3 + 4);
const second_color = @get_color(id % 2 + 4);
const sent = @get_dsd(fabout_dsd, .{ .extent = 2, .fabric_color = first_color, .output_queue = @get_output_queue(2) });
const sent_too = @get_dsd(fabout_dsd, .{
  .extent = 2, .fabric_color = second_color, .output_queue = @get_output_queue(2)
});
var sending = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = first_color, .output_queue = @get_output_queue(2) });
const sent_anyhow = @get_dsd(fabout_dsd, .{ .extent = 2, .fabric_color = second_color });
const other = @import_module("other.csl", .{ .factor = id % 2 });
const Pair = struct { a: u16, b: u16 };
fn pair(x: u16) Pair { return .{ .a = 1, .b = x }; }
const done_id = @get_local_task_id(12);
fn twice(x: u16) u16 { return 2 * x; }
fn thrice(x: u16) u16 { return 3 * x + id % 2; }
var chosen: *const fn(u16) u16 = twice;
fn down(x: u16) u16 { if (x == 0) { return 0; } return down(x - 1) + x; }
fn around(x: u16, sum: u16) u16 { if (x == 0) { return sum; } return around(x - 1, sum + x); }
fn there(x: u16, sum: u16) u16 { if (x == 0) { return sum; } return back(x - 1, sum + id % 2); }
fn back(x: u16, sum: u16) u16 {
  if (x > 5) { return back(x - 2, sum); }
  return if (x == 0) 3 else there(x - 1, sum);
}
task done() void { result += 1; }
comptime { @bind_local_task(done, done_id); }
"""

OTHER = """
param factor: u16;
var last: u16;
fn scaled(x: u16) u16 { last = x; return x * factor; }
"""


def task(number: int, body: str) -> str:
    """Return a task bound to an id."""
    bound = f"@bind_local_task(go{number}, @get_local_task_id({number}));"
    return f"task go{number}() void {{ {body} }} comptime {{ {bound} }}"


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", FRAGMENTS)
def test_each_construct(csl: Csl, name: str) -> None:
    csl.write({"other.csl": OTHER})
    both(csl, DECLARATIONS + task(8, FRAGMENTS[name]), 4)


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(st.lists(st.lists(st.sampled_from(sorted(FRAGMENTS)), min_size=1, max_size=4), min_size=1, max_size=3))
def test_random_tasks(tmp_path_factory: pytest.TempPathFactory, tasks: list[list[str]]) -> None:
    csl = Csl(Path(tmp_path_factory.mktemp("asking")))
    csl.write({"other.csl": OTHER})
    bodies = [" ".join(f"{{ {FRAGMENTS[name]} }}" for name in names) for names in tasks]
    both(csl, "\n".join([DECLARATIONS, *(task(8 + number, body) for number, body in enumerate(bodies))]), 4)
