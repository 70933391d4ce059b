"""Settings of a PE in configuration registers: priorities of tasks, that of the main thread, the mask of control
wavelets; and @set_config and @get_config in comptime blocks (Builtins; Libraries, <tile_config>)."""

from __future__ import annotations

import random
from typing import Any

import pytest

import loomir

from .harness import Csl, on_both
from .test_control_transform import AT_ONCE, BY_FIFO, BY_MEMORY, LAYOUT, PROGRAM

ARCHITECTURES = pytest.mark.parametrize("arch", ["wse2", "wse3"])
IMPORT = 'const tile = @import_module("<tile_config>");\n'


# Tasks

IDS: tuple[int, ...] = (9, 10, 11, 17, 18, 19)


def tasks_program(calls: dict[int, list[int]], first: list[int], high: set[int], at_run_time: bool) -> str:
    """Return a program whose tasks write their ids and activate others."""
    priorities = "".join(f"priority.set_task_priority(@get_local_task_id({id}));" for id in sorted(high))
    tasks = "".join(
        f"task t{id}() void {{ out[at] = {id}; at += 1; "
        + " ".join(f"@activate(@get_local_task_id({other}));" for other in calls.get(id, []))
        + " }\n"
        for id in IDS
    )
    binds = "".join(f"@bind_local_task(t{id}, @get_local_task_id({id}));" for id in IDS)
    return f"""{IMPORT}
    const priority = tile.task_priority;
    var out = @zeros([40]u16);
    var at: u16 = 0;
    {tasks}
    fn main() void {{
      {priorities if at_run_time else ""}
      {" ".join(f"@activate(@get_local_task_id({id}));" for id in first)}
    }}
    comptime {{ {binds} {"" if at_run_time else priorities} }}
    """


def picked(calls: dict[int, list[int]], first: list[int], high: set[int]) -> list[int]:
    """Return the order in which tasks run: of the active ones those of high priority first, the first activated."""
    active, order = list(dict.fromkeys(first)), []
    while active:
        task = next((task for task in active if task in high), active[0])
        active.remove(task)
        order.append(task)
        active += [other for other in calls.get(task, []) if other not in active]
    return order


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(24))
@pytest.mark.slow
def test_tasks_of_high_priority_run_first(csl: Csl, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    calls = {id: rng.sample(IDS[place + 1 :], rng.randint(0, len(IDS) - place - 1)) for place, id in enumerate(IDS)}
    first = rng.sample(IDS, rng.randint(1, len(IDS)))
    high = set(rng.sample(IDS, rng.randint(0, len(IDS))))
    text = tasks_program(calls, first, high, at_run_time=bool(seed % 2))
    program = csl.program(text, {"out": "u16"}, arch=rng.choice(["wse2", "wse3"]))
    out, _ = on_both(program, monkeypatch, "out")
    wanted = picked(calls, first, high)
    assert out[0][0][: len(wanted) + 1] == [*wanted, 0]


@ARCHITECTURES
def test_clear_lets_tasks_run_in_the_order_of_activation_again(
    csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tasks_program({}, [9, 10, 17], {17}, at_run_time=False)
    clear = "priority.update_task_priority(@get_local_task_id(17), priority.level.LOW);"
    program = csl.program(text.replace("fn main() void {", "fn main() void {" + clear), {"out": "u16"}, arch=arch)
    assert on_both(program, monkeypatch, "out")[0][0][0][:3] == [9, 10, 17]


DATA = """
const c = @get_color(2);
const iq = @get_input_queue(2);
const oq = @get_output_queue(3);
const priority = tile.task_priority;
const to = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = oq });
var words = [4]u32{ 1, 2, 3, CONTROL };
const from = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> words[i] });
var out = @zeros([20]u16);
var at: u16 = 0;
task got(word: u32) void { out[at] = @as(u16, word); at += 1; }
const got_id = if (@is_arch("wse3")) @get_data_task_id(iq) else @get_data_task_id(c);
const again_id = @get_local_task_id(9);
task again() void {
  out[at] = 100;
  at += 1;
  for (@range(u16, 50)) |_| { words[0] += 1; }
  if (at < 12) { @activate(again_id); }
}
// Ready before the wavelets come, while the other task runs.
const other_id = @get_local_task_id(11);
task other() void { out[at] = 200; at += 1; }
fn main() void { if (x == 0) { @mov32(to, from); } else { @activate(again_id); @activate(other_id); } }
comptime {
  @bind_local_task(again, again_id);
  @bind_local_task(other, other_id);
  if (x == 1) { @bind_data_task(got, got_id); }
  if (x == 1) { @initialize_queue(iq, .{ .color = c }); }
  if (x == 0 and @is_arch("wse3")) { @initialize_queue(oq, .{ .color = c }); }
  SET
}
"""

TWO = """
@set_color_config(0, 0, @get_color(2), .{ .routes = .{ .rx = RAMP, .tx = EAST } });
@set_color_config(1, 0, @get_color(2), .{ .routes = .{ .rx = WEST, .tx = RAMP } });
"""


@pytest.mark.one_in(2)
@ARCHITECTURES
@pytest.mark.parametrize(
    ("set", "order"),
    [
        ("", [100, 200, 1, 2, 3, 4]),
        ("priority.set_task_priority(got_id);", [100, 1, 2, 3, 4, 200]),
        ('priority.set_task_priority(if (@is_arch("wse3")) iq else c);', [100, 1, 2, 3, 4, 200]),
        ("priority.set_task_priority(again_id);", [*[100] * 12, 200, 1, 2, 3, 4]),
    ],
)
def test_data_tasks_have_priorities(
    csl: Csl, arch: str, set: str, order: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"param x: u16;\n{IMPORT}{DATA.replace('SET', set).replace('CONTROL', '4')}"
    program = csl.program(text, {"out": "u16"}, width=2, layout=TWO, arch=arch, params=".x = x")
    assert on_both(program, monkeypatch, "out")[0][0][1][: len(order)] == order


@ARCHITECTURES
@pytest.mark.parametrize("high", [True, False])
def test_control_tasks_have_the_priority_of_their_queue(
    csl: Csl, arch: str, high: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a queue without data task, whose color is unblocked."""
    text = DATA.replace("task got(word: u32) void {", "task got(word: u16) void {")
    text = text.replace(
        "if (x == 1) { @bind_data_task(got, got_id); }",
        """
      if (x == 1) {
        @bind_control_task(got, @get_control_task_id(40));
        @unblock(if (@is_arch("wse3")) iq else c);
      }
    """,
    ).replace(".output_queue = oq }", ".output_queue = oq, .control = true }")
    set = 'priority.set_task_priority(if (@is_arch("wse3")) iq else c);' if high else ""
    words = ", ".join(hex(40 << 16 | number) for number in range(1, 5))
    text = text.replace("1, 2, 3, CONTROL", words).replace("words[0] += 1", "spent += 1").replace("SET", set)
    text = f"param x: u16;\n{IMPORT}var spent: u16 = 0;{text}"
    program = csl.program(text, {"out": "u16"}, width=2, layout=TWO, arch=arch, params=".x = x")
    out = on_both(program, monkeypatch, "out")[0][0][1]
    assert out[:6] == ([100, 1, 2, 3, 4, 200] if high else [100, 200, 1, 2, 3, 4])


# The main thread

LEVELS = ("MEDIUM_LOW", "MEDIUM", "MEDIUM_HIGH", "HIGH")

MEETING = """
const a = @get_color(2);
const b = @get_color(3);
const first = @get_input_queue(2);
const second = @get_input_queue(3);
const oq = @get_output_queue(4);
const level = tile.main_thread_priority.level;
var words = @zeros([40]f32);
var more = @zeros([40]f32);
var out = @zeros([1]u16);
const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{40} -> words[i] });
const others = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{40} -> more[i] });
fn main() void {
  if (x == 0) {
    @fmovs(@get_dsd(fabout_dsd, .{ .extent = 40, .fabric_color = a, .output_queue = oq }), all);
  } else if (x == 2) {
    @fmovs(@get_dsd(fabout_dsd, .{ .extent = 40, .fabric_color = b, .output_queue = oq }), all);
  } else {
    @set_config(@as(u16, tile.addresses.WRITTEN), VALUE);
    // In the background at a medium priority, while the task waits for the second.
    @fmacs(all, all, @get_dsd(fabin_dsd, .{ .extent = 40, .fabric_color = a, .input_queue = first ON_DSD }), 2.0,
           .{ .async = true ON_OPERATION });
    @fmacs(others, others, @get_dsd(fabin_dsd, .{ .extent = 40, .fabric_color = b, .input_queue = second }), 2.0);
  }
}
comptime {
  if (x == 1) { @initialize_queue(first, .{ .color = a }); @initialize_queue(second, .{ .color = b }); }
  if (x == 0 and @is_arch("wse3")) { @initialize_queue(oq, .{ .color = a }); }
  if (x == 2 and @is_arch("wse3")) { @initialize_queue(oq, .{ .color = b }); }
  SET
}
"""

THREE = """
@set_color_config(0, 0, @get_color(2), .{ .routes = .{ .rx = RAMP, .tx = EAST } });
@set_color_config(1, 0, @get_color(2), .{ .routes = .{ .rx = WEST, .tx = RAMP } });
@set_color_config(2, 0, @get_color(3), .{ .routes = .{ .rx = RAMP, .tx = WEST } });
@set_color_config(1, 0, @get_color(3), .{ .routes = .{ .rx = EAST, .tx = RAMP } });
"""


def meeting(csl: Csl, arch: str, set: str, written: str, value: int, monkeypatch: pytest.MonkeyPatch) -> Any:
    priority = ", .priority = .{ .medium = true }"
    text = MEETING.replace("ON_DSD", priority if arch == "wse3" else "")
    text = text.replace("ON_OPERATION", priority if arch == "wse2" else "")
    text = text.replace("SET", set).replace("WRITTEN", written).replace("VALUE", str(value))
    program = csl.program(
        f"param x: u16;\n{IMPORT}{text}", {"out": "u16"}, width=3, layout=THREE, arch=arch, params=".x = x"
    )
    return on_both(program, monkeypatch, "out")[1]


@ARCHITECTURES
@pytest.mark.parametrize("number", range(4))
@pytest.mark.slow
@pytest.mark.one_in(4)
def test_the_main_thread_has_a_priority_at_run_time(
    csl: Csl, arch: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DSD-234: what is written at run time has the effect of what a comptime block sets."""
    set = f"tile.main_thread_priority.update_main_thread_priority(level.{LEVELS[number]});"
    # The other program writes a register as well, so that both take the same time but for the priority.
    before = meeting(csl, arch, set, "MAIN_THREAD_PRIORITY", number, monkeypatch)
    after = meeting(csl, arch, "", "MAIN_THREAD_PRIORITY", number, monkeypatch)
    assert before == after
    low = meeting(csl, arch, "", "MAIN_THREAD_PRIORITY", 0, monkeypatch)
    assert (after == low) == (number == 0)


# The mask of control wavelets


@ARCHITECTURES
@pytest.mark.parametrize("relay", [BY_FIFO, BY_MEMORY, AT_ONCE], ids=["fifo", "memory", "at once"])
@pytest.mark.parametrize("at_run_time", [False, True])
@pytest.mark.parametrize("mask", [2, 0x42])
@pytest.mark.one_in(4)
def test_the_mask_changes_the_control_wavelets_that_are_sent(
    csl: Csl, arch: str, relay: str, at_run_time: bool, mask: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six bits of it count. They start task 7, and data wavelets stay as they are; so do those that are kept."""
    set = f"tile.control_transform.set_mask({mask});"
    text = PROGRAM.replace("RELAY", (set if at_run_time else "") + relay)
    text = text.replace("DATA", "0x12345678, 0x50001, 0x50002, 7").replace(
        "get_control_task_id(5)", "get_control_task_id(7)"
    )
    text = text.replace("RECEIVES", "true").replace("SENDS", "true")
    text = f"{IMPORT}{text}" + ("" if at_run_time else f"comptime {{ {set} }}")
    program = csl.program(
        text, {"log": "u32", "kept": "u32"}, arch=arch, width=3, layout=LAYOUT, params=".column = @as(u16, x)"
    )
    log = on_both(program, monkeypatch, "log")[0][0][2]
    assert log[:4] == [0x12345678, 0xAAAA0001, 0xAAAA0002, 7]
    if relay == BY_MEMORY:
        kept = on_both(program, monkeypatch, "kept")[0][0][1]
        assert kept == [0x12345678, 0xC0050001, 0xC0050002, 7]


# Registers before the start


@ARCHITECTURES
def test_comptime_blocks_read_what_they_have_written(csl: Csl, arch: str) -> None:
    """The example of the manual (Builtins, @get_config), with a warning for a register that nothing simulates."""
    compiled = csl.pe(
        """
        comptime {
          @set_config(0x7e00, 42);
          const old_value = @get_config(0x7e00);
          const new_value = old_value + 3;
          @set_config(0x7e00, new_value);
          @comptime_assert(@get_config(0x7e00) == 45);
        }
        """,
        arch,
    )
    assert sum("register 0x7e00 is not simulated" in warning for warning in compiled.warnings) == 2


@ARCHITECTURES
def test_run_time_sees_what_is_set_before_the_start(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"""{IMPORT}
    const a = tile.addresses;
    var out = @zeros([5]u16);
    fn main() void {{
      out[0] = @get_config(@as(u16, a.CONTROL_TRANSFORM_MASK));
      out[1] = @get_config(@as(u16, a.MAIN_THREAD_PRIORITY));
      out[2] = @get_config(@as(u16, a.TASK_PRIORITY));
      out[3] = @get_config(@as(u16, a.TASK_PRIORITY) + 1);
      tile.task_priority.clear_task_priority(@get_local_task_id(12));
      out[4] = @get_config(@as(u16, a.TASK_PRIORITY));
    }}
    comptime {{
      @set_config(@as(u16, a.CONTROL_TRANSFORM_MASK), 9);
      @comptime_assert(@get_config(@as(u16, a.TASK_PRIORITY)) == 0);
      @set_config(@as(u16, a.TASK_PRIORITY), 0x3000);
      @set_config_unchecked(@as(u16, a.TASK_PRIORITY) + 1, 2);
      @comptime_assert(@get_config(@as(u16, a.MAIN_THREAD_PRIORITY)) == 0);
      @set_config(@as(u16, a.MAIN_THREAD_PRIORITY), 3);
      @comptime_assert(@get_config_unchecked(@as(u16, a.MAIN_THREAD_PRIORITY)) == 3);
    }}
    """
    program = csl.program(text, {"out": "u16"}, width=2, arch=arch)
    assert on_both(program, monkeypatch, "out")[0] == [[[9, 3, 0x3000, 2, 0x2000]] * 2]


def test_a_global_is_not_initialized_by_a_register(csl: Csl) -> None:
    text = "const x = «@get_config(0x7fc8)»; comptime { @comptime_print(x); }"
    csl.refuses(text, "@get_config belongs in a comptime block or in code for run time")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("@set_config(«0x7c02», 1);", "register 0x7c02 is one of color 2; use @set_color_config or"),
        ("@set_config(«0x7f45», 1);", "register 0x7f45 is one of color 5"),
        ("@set_config(«0x7f6a», 1);", "register 0x7f6a is one of color 10"),
        ("@set_config(«0x7f00», 1);", "register 0x7f00 is one of a filter; give the color a '.filter'"),
        ("@set_config(«0x7fc2», 1);", "register 0x7fc2 says what happens at run time"),
        ("_ = @get_config(«0x7fc0»);", "register 0x7fc0 says what happens at run time"),
        ("_ = «@get_config(0x7e01)»;", "register 0x7e01 has no value yet; write one with @set_config before"),
        (
            "@set_config(«0x1234», 1);",
            "0x1234 is not the address of a configuration register; use an address from 0x7c00",
        ),
        ("@set_config_unchecked(«0x8000», 1);", "0x8000 is not the address of a configuration register"),
    ],
)
def test_registers_that_comptime_blocks_may_not_use(csl: Csl, statement: str, message: str) -> None:
    csl.refuses(f"comptime {{ {statement} }}", message, arch="wse3")


def test_a_register_of_no_meaning_is_an_error_at_run_time(csl: Csl) -> None:
    simulator = csl.start("var out = @zeros([1]u16); fn main() void { out[0] = @get_config(0x7e00); }", {"out": "u16"})
    with pytest.raises(loomir.LoomError, match="0x7e00 is not the address of a configuration register of PE"):
        simulator.launch("main")


@ARCHITECTURES
def test_addresses_are_where_the_functions_find_registers(csl: Csl, arch: str) -> None:
    csl.comptime(
        """
        @comptime_assert(@as(u16, a.COLOR_CONFIG) + 3 == tile.color_config.get_color_config_addr(@get_color(3)));
        const s = tile.switch_config;
        @comptime_assert(@as(u16, a.SWITCH_CONFIG) + 3 == s.get_switch_config_addr(@get_color(3), s.ring_mode));
        """,
        f"{IMPORT}const a = tile.addresses;",
        arch,
    )
