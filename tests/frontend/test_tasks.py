"""Tasks, queues and FIFOs: what the builtins about them do, and what they refuse."""

from __future__ import annotations

import pytest

from loomir.diagnostics.errors import LoomError

from .harness import Csl

ROUTE_TO_SELF = "@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });"

LOCAL = """
var out = @zeros([4]i16);
const first = @get_local_task_id(9);
const second = @get_local_task_id(10);
task one() void { out[0] += 1; @activate(second); }
task two() void { out[1] += 1; }
comptime {
  @bind_local_task(one, first);
  @bind_local_task(two, second);
}
"""


def test_activate(csl: Csl) -> None:
    assert csl.run(LOCAL + "fn main() void { @activate(first); }", {"out": "i16"})["out"].tolist() == [1, 1, 0, 0]


def test_activate_an_id_known_at_run_time(csl: Csl) -> None:
    text = LOCAL + "fn main(which: u16) void { @activate(@get_local_task_id(which)); }"
    simulator = csl.start(text, {"out": "i16"}, {"main": "fn(u16) void"})
    for which, out in ((10, [0, 1, 0, 0]), (9, [1, 2, 0, 0])):
        simulator.launch("main", which)
        assert simulator.get("out")[0, 0].tolist() == out


@pytest.mark.parametrize("change", ["activate", "block", "unblock"])
@pytest.mark.parametrize("loop", ["", "for (@range(u16, 3)) |i| { count += i; } "])
def test_an_id_without_a_task_known_at_run_time(csl: Csl, change: str, loop: str) -> None:
    call = f"@{change}(@get_local_task_id(which));"
    text = LOCAL + f"var count: u16 = 0;\nfn main(which: u16) void {{ {loop}count += 1;\n{call} }}"
    simulator = csl.start(text, {"out": "i16"}, {"main": "fn(u16) void"}, width=2)
    with pytest.raises(LoomError) as caught:
        simulator.launch("main", 11)
    message = "on PE (0, 0): no task is bound to local task id 11; bind one with @bind_local_task"
    assert message in caught.value.message
    assert caught.value.location == f"{csl.directory}/pe.csl:{text[: text.index(call)].count(chr(10)) + 1}:1"


def test_active_from_the_start(csl: Csl) -> None:
    text = LOCAL + "comptime { @activate(first); }\nfn main() void {}"
    assert csl.run(text, {"out": "i16"})["out"].tolist() == [1, 1, 0, 0]


def test_block_and_unblock(csl: Csl) -> None:
    text = """
    var out = @zeros([4]i16);
    var count: i16 = 0;
    const held = @get_local_task_id(9);
    const other = @get_local_task_id(10);
    fn note() void { out[count] = 1; count += 1; }
    task waits() void { out[count] = 2; count += 1; @block(held); }
    task goes_on() void { note(); @unblock(held); }
    comptime { @bind_local_task(waits, held); @bind_local_task(goes_on, other); @block(held); }
    fn main() void { @activate(held); note(); @activate(other); }
    """
    simulator = csl.start(text, {"out": "i16"})
    simulator.launch("main")
    assert simulator.get("out")[0, 0].tolist() == [1, 1, 2, 0]


def test_tasks_of_modules(csl: Csl) -> None:
    files = {
        "counter.csl": """
        param id: local_task_id;
        var count: i16 = 0;
        task step() void { count += 1; }
        comptime { @bind_local_task(step, id); }
        fn start() void { @activate(id); }
        """
    }
    text = """
    const a = @import_module("counter.csl", .{ .id = @get_local_task_id(9) });
    const b = @import_module("counter.csl", .{ .id = @get_local_task_id(10) });
    var out = @zeros([2]i16);
    fn main() void { a.start(); }
    fn again() void { b.start(); out[0] = a.count; out[1] = b.count; }
    """
    functions = {"main": "fn() void", "again": "fn() void"}
    launches = [("main", ()), ("main", ()), ("again", ()), ("again", ())]
    result = csl.run(text, {"out": "i16"}, launches=launches, functions=functions, files=files)
    assert result["out"].tolist() == [2, 1]


DATA_ENDS = {
    "wse2": "const id = @get_data_task_id(@get_color(3));",
    "wse3": """
    const id = @get_data_task_id(@get_input_queue(4));
    comptime {
      @initialize_queue(@get_input_queue(4), .{ .color = @get_color(3) });
      @initialize_queue(@get_output_queue(2), .{ .color = @get_color(3) });
    }
    """,
}
SEND = """
const wire = @get_dsd(fabout_dsd, .{
  .extent = 1, .fabric_color = @get_color(3), .output_queue = @get_output_queue(2) });
"""


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_data_task(csl: Csl, arch: str) -> None:
    text = f"""
    {DATA_ENDS[arch]}
    {SEND}
    var out = @zeros([2]u32);
    task receive(value: u32) void {{ out[0] += value; out[1] += 1; }}
    comptime {{ @bind_data_task(receive, id); }}
    fn main() void {{ @mov32(wire, 70000); @mov32(wire, 5); }}
    """
    assert csl.run(text, {"out": "u32"}, arch=arch, layout=ROUTE_TO_SELF)["out"].tolist() == [70005, 2]


def test_data_task_of_two_halves(csl: Csl) -> None:
    text = f"""
    {DATA_ENDS["wse2"]}
    {SEND}
    var out = @zeros([2]u16);
    task receive(low: u16, high: u16) void {{ out[0] = low; out[1] = high; }}
    comptime {{ @bind_data_task(receive, id); }}
    fn main() void {{ @mov32(wire, 0x00020007); }}
    """
    assert csl.run(text, {"out": "u16"}, layout=ROUTE_TO_SELF)["out"].tolist() == [7, 2]


def test_blocked_data_task(csl: Csl) -> None:
    text = f"""
    {DATA_ENDS["wse2"]}
    {SEND}
    var out = @zeros([2]u32);
    task receive(value: u32) void {{ out[0] = out[0] * 10 + value; @block(id); @activate(later); }}
    task again() void {{ out[1] += 1; @unblock(id); }}
    const later = @get_local_task_id(12);
    comptime {{ @bind_data_task(receive, id); @block(id); @bind_local_task(again, later); }}
    fn main() void {{ @mov32(wire, 4); @mov32(wire, 5); @unblock(@get_color(3)); }}
    """
    assert csl.run(text, {"out": "u32"}, layout=ROUTE_TO_SELF)["out"].tolist() == [45, 2]


def test_control_task(csl: Csl) -> None:
    text = """
    const control = @import_module("<control>");
    const wire = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = @get_color(3), .control = true });
    const entry = @get_control_task_id(35);
    var out = @zeros([2]u16);
    task arrived(data: u16) void { out[0] += 1; out[1] = data; }
    comptime { @bind_control_task(arrived, entry); @unblock(@get_color(3)); }
    const payload = control.encode_single_payload(control.opcode.NOP, false, entry, 77);
    fn main() void { @mov32(wire, payload); }
    """
    assert csl.run(text, {"out": "u16"}, layout=ROUTE_TO_SELF)["out"].tolist() == [1, 77]


def test_a_color_without_data_task_is_blocked_and_unblocked_at_run_time(csl: Csl) -> None:
    """Control tasks wait for it (WSE-2, task IDs, "Execution Semantics"); a DSD that reads the color does not."""
    text = """
    const control = @import_module("<control>");
    const wire = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = @get_color(3), .control = true });
    const data = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = @get_color(3) });
    const from_wire = @get_dsd(fabin_dsd, .{ .extent = 1, .fabric_color = @get_color(3) });
    const entry = @get_control_task_id(35);
    const later = @get_local_task_id(12);
    const times = @get_local_task_id(13);
    var out = @zeros([4]u32);
    var n: u32 = 0;
    task arrived(data: u16) void { n += 1; out[0] = n; }
    task open() void { n += 1; out[1] = n; @unblock(@get_color(3)); }
    task receive() void { out[3] = 8; @mov32(out_dsd, from_wire); @activate(later); @mov32(wire, payload); }
    const out_dsd = @get_dsd(mem1d_dsd, .{ .base_address = &out, .offset = 2, .extent = 1 });
    comptime { @bind_control_task(arrived, entry); @bind_local_task(open, later); @bind_local_task(receive, times);
               @unblock(@get_color(3)); }
    const payload = control.encode_single_payload(control.opcode.NOP, false, entry, 77);
    fn main() void { @block(@get_color(3)); @mov32(data, 5); @activate(times); }
    """
    assert csl.run(text, {"out": "u32"}, layout=ROUTE_TO_SELF)["out"].tolist() == [2, 1, 5, 8]


TABLES = """
const control = @import_module("<control>");
const near = @get_color(3);
const far = @get_color(4);
const near_out = @get_dsd(fabout_dsd, .{ .extent = 1, .control = true, .output_queue = @get_output_queue(2) });
const far_out = @get_dsd(fabout_dsd, .{ .extent = 1, .control = true, .output_queue = @get_output_queue(3) });
var out = @zeros([6]u16);
task first(data: u16) void { out[0] += 1; out[1] = data; }
task other(data: u16) void { out[2] += 1; out[3] = data; }
task local() void { out[4] += 1; }
comptime {
  @bind_control_task(first, @get_control_task_id(9));
  @bind_control_task(other, @get_control_task_id(BOUND));
  @bind_local_task(local, @get_local_task_id(9));
  @set_control_task_table(CONFIG);
  @initialize_queue(@get_input_queue(4), .{ .color = near, .ctrl_table_id = 0 });
  @initialize_queue(@get_input_queue(5), .{ .color = far, .ctrl_table_id = TABLE });
  @initialize_queue(@get_output_queue(2), .{ .color = near });
  @initialize_queue(@get_output_queue(3), .{ .color = far });
  @unblock(@get_input_queue(4));
  @unblock(@get_input_queue(5));
}
fn main() void {
  @mov32(near_out, control.encode_single_payload(control.opcode.NOP, false, @get_control_task_id(9), 70));
  @mov32(far_out, control.encode_single_payload(control.opcode.NOP, false, @get_control_task_id(9), 80));
  @mov32(far_out, control.encode_single_payload(control.opcode.NOP, false, @get_control_task_id(9), 81));
  @activate(@get_local_task_id(9));
}
"""
TWO_ROUTES_TO_SELF = """
for (@range(u16, 3, 5, 1)) |color| {
  @set_color_config(0, 0, @get_color(color), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });
}
"""


@pytest.mark.parametrize(
    ("config", "table", "bound"),
    [("", 2, 11), (".{}", 1, 10), (".{ .stride = 4 }", 3, 21), (".{ .instructions = 8, .stride = 7 }", 7, 58)],
)
def test_control_task_tables(csl: Csl, config: str, table: int, bound: int) -> None:
    """Control wavelets of a queue with a table of its own start tasks `stride` times its number further on."""
    text = TABLES.replace("CONFIG", config).replace("TABLE", str(table)).replace("BOUND", str(bound))
    out = csl.run(text, {"out": "u16"}, layout=TWO_ROUTES_TO_SELF, arch="wse3")["out"]
    assert out.tolist() == [1, 70, 2, 81, 1, 0]


def test_no_task_in_the_table_of_a_queue(csl: Csl) -> None:
    text = TABLES.replace("CONFIG", ".{ .stride = 4 }").replace("TABLE", "3").replace("BOUND", "22")
    message = "control wavelet with id 9, which is 21 in the control task table of the queue, arrives on color 'far'"
    with pytest.raises(LoomError, match=message):
        csl.run(text, {"out": "u16"}, layout=TWO_ROUTES_TO_SELF, arch="wse3")


def test_operation_activates_when_it_ends(csl: Csl) -> None:
    text = """
    const c = @get_color(3);
    const wire = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = @get_output_queue(2) });
    const from = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c, .input_queue = @get_input_queue(1) });
    var given = [4]i16{ 1, 2, 3, 4 };
    var out = @zeros([5]i16);
    const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> given[i] });
    const into = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i] });
    task done() void { out[4] += out[3]; }
    const done_id = @get_local_task_id(12);
    comptime {
      @bind_local_task(done, done_id);
      @initialize_queue(@get_input_queue(1), .{ .color = @get_color(3) });
    }
    fn main() void {
      @mov16(wire, all, .{ .async = true });
      @add16(into, from, 10, .{ .async = true, .activate = HOW });
    }
    """
    for number, how in enumerate(("done", "done_id")):
        (csl.directory / str(number)).mkdir()
        here = Csl(csl.directory / str(number))
        out = here.run(text.replace("HOW", how), {"out": "i16"}, layout=ROUTE_TO_SELF)["out"]
        assert out.tolist() == [11, 12, 13, 14, 14]


def test_fifo(csl: Csl) -> None:
    text = """
    var room = @zeros([8]i16);
    const queue = @allocate_fifo(room, .{ .activate_push = pushed });
    var given = [4]i16{ 5, 6, 7, 8 };
    var out = @zeros([5]i16);
    const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> given[i] });
    const into = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i] });
    task pushed() void { out[4] = 1; }
    comptime { @bind_local_task(pushed, @get_local_task_id(9)); }
    fn main() void { @mov16(queue, all); @mov16(into, queue); }
    """
    assert csl.run(text, {"out": "i16"})["out"].tolist() == [5, 6, 7, 8, 0]


BOUND = "task t() void {}\ntask d(x: u16) void {}\nfn f() void {}\nvar id: u16 = 9;\n"

REFUSED = [
    ("@bind_local_task(«f», @get_local_task_id(9));", "@bind_local_task binds a task, not a value of type 'fn() void'"),
    ("@bind_local_task(t, «@get_color(3)»);", "@bind_local_task takes a 'local_task_id', not 'color'"),
    ("@bind_local_task(t, «9»);", "@bind_local_task takes a 'local_task_id', not 'comptime_int'"),
    ("@bind_local_task(«d», @get_local_task_id(9));", "local task 'd' has parameters"),
    ("@bind_data_task(«t», @get_data_task_id(@get_color(3)));", "data task 't' has no parameter"),
    ("@bind_control_task(t, «@get_local_task_id(9)»);", "@bind_control_task takes a 'control_task_id'"),
    (
        "@bind_local_task(t, @get_local_task_id(9)); «@bind_local_task(t, @get_local_task_id(9))»;",
        "local task id 9 is bound twice, to 't' and 't'",
    ),
    ("«@bind_local_task(t)»;", "@bind_local_task takes 2 arguments, not 1"),
    ("@activate(«@get_color(3)»);", "@activate takes a 'local_task_id', not 'color'"),
    ("@activate(«t»);", "task 't' is not bound to an id"),
    ("@block(«9»);", "this must be a task id, a color or an input queue, not 'comptime_int'"),
    ("@initialize_queue(«@get_color(3)»);", "@initialize_queue takes an 'input_queue' or 'output_queue', not 'color'"),
    (
        "@initialize_queue(@get_input_queue(1), .{ .color = @get_color(3) });"
        " «@initialize_queue(@get_input_queue(1), .{ .color = @get_color(3) })»;",
        "input queue 1 is initialized twice; leave one out",
    ),
    ("@initialize_queue(@get_input_queue(1), «.{ .priority = .{ .high = true } }»);", "needs a field '.color'"),
    ("«@initialize_queue(@get_output_queue(1), .{ .color = @get_color(3) })»;", "takes no configuration on WSE-2"),
    (
        "@initialize_queue(@get_input_queue(1), «.{ .color = @get_color(3), .priority = .{ .best = true } }»);",
        "'.priority' is one of high, medium and low, not 'best'",
    ),
    (
        "@initialize_queue(@get_input_queue(1), «.{ .color = @get_color(3), .ctrl_table_id = 1 }»);",
        "'.ctrl_table_id' exists on WSE-3 only",
    ),
    ("@initialize_queue(@get_input_queue(1), «.{ .colour = @get_color(3) }»);", "has no field '.colour'"),
    ("@initialize_queue(@get_input_queue(1), «.{ .color = 3 }»);", "field '.color' is of type 'color'"),
    ("«@set_control_task_table()»;", "@set_control_task_table exists on WSE-3 only"),
    ("«@queue_flush(@get_input_queue(1))»;", "@queue_flush is for run time only"),
    ("_ = «@get_filter_id(@get_color(3))»;", "this color has no filter on some PEs that run this code"),
    ("_ = @get_filter_id(«3»);", "this must be a color, not 'comptime_int'"),
    ("«@rpc(1, 2)»;", "@rpc takes 1 argument, not 2"),
    ("@rpc(«@get_color(3)»);", "@rpc takes a 'data_task_id', not 'color'"),
    (
        "@rpc(@get_data_task_id(@get_color(3))); «@rpc(@get_data_task_id(@get_color(4)))»;",
        "@rpc is called twice; a PE has one server",
    ),
    ("@rpc(@get_data_task_id(«{}»));", "this has no color; leave @rpc out"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "message"), REFUSED)
def test_refuses_in_comptime_blocks(csl: Csl, statement: str, message: str) -> None:
    csl.refuses(f"{BOUND}comptime {{ {statement} }}", message)


def test_server_of_a_color_on_wse3(csl: Csl) -> None:
    """HOST-028: the SdkRuntime page writes so for both machines."""
    server = "const launch: color = @get_color(8); comptime { @rpc(@get_data_task_id(launch)); }"
    (warning,) = csl.pe(server, arch="wse3").warnings
    assert "@get_data_task_id takes an 'input_queue'; leave @rpc out" in str(warning)


AT_RUN_TIME = [
    ("«@bind_local_task(t, @get_local_task_id(10))»;", "belongs in a comptime block, not in code for run time"),
    ("«@initialize_queue(@get_input_queue(1))»;", "belongs in a comptime block, not in code for run time"),
    ("«@set_local_color_config(@get_color(3), .{ .routes = .{} })»;", "belongs in a comptime block"),
    ("@activate(«@get_local_task_id(10)»);", "no task is bound to local task id 10; bind one with @bind_local_task"),
    ("@unblock(«@get_local_task_id(10)»);", "no task is bound to local task id 10"),
    ("_ = @get_input_queue(«id»);", "the number of a queue must be known at compile time"),
    ("«@rpc(@get_data_task_id(@get_color(3)))»;", "belongs in a comptime block"),
    ("«@set_rectangle(1, 1)»;", "@set_rectangle belongs in the layout block"),
    ("«@set_tile_code(0, 0)»;", "@set_tile_code belongs in the layout block"),
    ('«@export_name("x", u16, true)»;', "@export_name belongs in the layout"),
    ("@activate(«t»);", "task 't' is not bound to an id"),
    ("@activate(«id»);", "@activate takes a 'local_task_id', not 'u16'"),
    ("«t()»;", "task 't' cannot be called; activate the id it is bound to"),
]


@pytest.mark.parametrize(("statement", "message"), AT_RUN_TIME)
def test_refuses_in_code_for_run_time(csl: Csl, statement: str, message: str) -> None:
    run = "task run() void { " + statement + " }\ncomptime { @bind_local_task(run, @get_local_task_id(9)); }"
    csl.refuses(BOUND + run, message)


def test_parameters_of_tasks(csl: Csl) -> None:
    bind = "comptime { @bind_data_task(receive, @get_data_task_id(@get_color(3))); }"
    csl.refuses(
        f"task receive(«x: u8») void {{}}\n{bind}",
        "a task is given numbers or packed structs of 16 or 32 bits, not 'u8'",
    )
    csl.refuses(
        f"task receive(«x: bool») void {{}}\n{bind}",
        "a task is given numbers or packed structs of 16 or 32 bits, not 'bool'",
    )


@pytest.mark.parametrize("configuration", ["", ", .{}"])
@pytest.mark.parametrize("queue", ["@get_output_queue(1)", "@get_input_queue(1)"])
def test_a_queue_of_wse2_is_initialized_without_a_color(csl: Csl, queue: str, configuration: str) -> None:
    """The DSD that uses it may name the color."""
    assert csl.pe(f"comptime {{ @initialize_queue({queue}{configuration}); }}").warnings == []
    if configuration:
        csl.refuses(
            f"comptime {{ @initialize_queue({queue}, «.{{}}»); }}", "of a queue needs a field '.color'", arch="wse3"
        )


def test_an_output_queue_of_wse2_takes_no_color(csl: Csl) -> None:
    given = "comptime { «@initialize_queue(@get_output_queue(1), .{ .color = @get_color(3) })»; }"
    csl.refuses(given, "@initialize_queue of an output queue takes no configuration on WSE-2; leave it out or empty")


def test_wse3(csl: Csl) -> None:
    task = "task receive(x: u16) void {}\n"
    task += "comptime { @bind_data_task(receive, @get_data_task_id(@get_input_queue(2))); }"
    (warning,) = csl.pe(task, arch="wse3").warnings
    assert "pe.csl:2:12: warning: input queue 2 has no color here; give it one with @initialize_queue" in warning
    for statement, message in [
        ("«@initialize_queue(@get_output_queue(1))»;", "needs a configuration with '.color'"),
        (
            "@initialize_queue(@get_input_queue(1), «.{ .color = @get_color(3), .priority = .{ .low = true } }»);",
            "'.priority' of a queue exists on WSE-2 only",
        ),
        (
            "@initialize_queue(@get_output_queue(1), «.{ .color = @get_color(3), .ctrl_table_id = 1 }»);",
            "'.ctrl_table_id' is for input queues only",
        ),
        (
            "@initialize_queue(@get_input_queue(1), «.{ .color = @get_color(3), .ctrl_table_id = 8 }»);",
            "'.ctrl_table_id' is 8; use 0 to 7, one for each input queue",
        ),
        (
            "@initialize_queue(@get_input_queue(1), «.{ .color = @get_color(3), .ctrl_table_id = -1 }»);",
            "'.ctrl_table_id' is -1; use 0 to 7",
        ),
        ("@set_control_task_table(); «@set_control_task_table()»;", "@set_control_task_table is called twice"),
        ("@set_control_task_table(«.{ .instructions = 3 }»);", "'.instructions' is 2, 4 or 8, not 3"),
        ("@set_control_task_table(«.{ .stride = 8 }»);", "'.stride' is 1 to 7, not 8"),
        ("@set_control_task_table(«.{ .size = 8 }»);", "has no field '.size'"),
        ("«@queue_flush(@get_input_queue(1))»;", "@queue_flush is for run time only"),
        ("@block(«@get_color(3)»);", "on WSE-3"),
        ("@unblock(«@get_color(3)»);", "on WSE-3"),
    ]:
        csl.refuses(f"{BOUND}comptime {{ {statement} }}", message, arch="wse3")
    csl.comptime("@set_control_task_table(.{ .instructions = 8, .stride = 4 });", arch="wse3")


def test_control_and_other_tasks_share_a_table(csl: Csl) -> None:
    text = """
    task control_one() void {}
    task local_one() void {}
    comptime {
      @bind_control_task(control_one, @get_control_task_id(10));
      «@bind_local_task(local_one, @get_local_task_id(10))»;
      TABLE
    }
    """
    message = "local task 'local_one' and control task 'control_one' have the same id 10"
    csl.refuses(text.replace("TABLE", ""), message)
    csl.refuses(text.replace("TABLE", ""), message, arch="wse3")
    apart = text.replace("TABLE", "@set_control_task_table();").replace("«", "").replace("»", "")
    csl.pe(apart, arch="wse3")


def test_reserved_ids(csl: Csl) -> None:
    text = "task t() void {}\ncomptime { «@bind_local_task(t, @get_local_task_id(30))»; }"
    csl.refuses(text, "id 30, which wse2 reserves for the system")
    csl.refuses(text, "id 30, which wse3 reserves for the system", arch="wse3")
