"""Results that depend on the order in which two streams arrive, which is warned of when a program is loaded.

PE (0, 0) and PE (2, 0) send to PE (1, 0): by two colors, or by one.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

import loomir

from .harness import Csl

LAYOUT = """
const left = @get_color(3);
const right = @get_color(4);
layout {
  @set_rectangle(3, 1);
  @set_tile_code(0, 0, "sender.csl", .{ .out = left, .launched = "main" });
  @set_tile_code(1, 0, "reader.csl", .{ .left = left, .right = right });
  @set_tile_code(2, 0, "sender.csl", .{ .out = SECOND, .launched = "OTHER" });
  @set_color_config(0, 0, left, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
  @set_color_config(1, 0, left, .{ .routes = .{ .rx = .{ WEST, EAST }, .tx = .{ RAMP } } });
  @set_color_config(2, 0, left, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ WEST } } });
  @set_color_config(1, 0, right, .{ .routes = .{ .rx = .{ EAST }, .tx = .{ RAMP } } });
  @set_color_config(2, 0, right, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ WEST } } });
  MORE
  @export_name("main", fn() void);
  NAMES
}
"""

SENDER = """
param out: color;
param launched: comptime_string;
const queue = @get_output_queue(2);
const values = @constants([4]i16, 7);
const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> values[i] });
const wire = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = out, .output_queue = queue });
fn main() void { @mov16(wire, all, .{ .async = true }); }
fn nothing() void {}
comptime {
  if (@is_arch("wse3")) @initialize_queue(queue, .{ .color = out });
  @export_symbol(main, launched);
  OTHERS
}
"""

READER = """
param left: color;
param right: color;
const left_queue = @get_input_queue(2);
const right_queue = @get_input_queue(3);
var result = @zeros([8]i16);
var buf = @zeros([8]i16);
var factor: i16 = 1;
var count: i16 = 0;
var have_left = false;
var have_right = false;
var total: i16 = 0;
const low = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> buf[i] });
const even = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> buf[2 * i] });
const odd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> buf[2 * i + 1] });
const all_of_it = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> buf[i] });
const shown = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> result[i] });
const rest = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> result[i + 4] });
const sum = @get_dsd(mem1d_dsd, .{ .base_address = &total, .extent = 8, .stride = 0 });
const left4 = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = left, .input_queue = left_queue });
const right4 = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = right, .input_queue = right_queue });
const left8 = @get_dsd(fabin_dsd, .{ .extent = 8, .fabric_color = left, .input_queue = left_queue });
const left_task = if (@is_arch("wse3")) @get_data_task_id(left_queue) else @get_data_task_id(left);
const right_task = if (@is_arch("wse3")) @get_data_task_id(right_queue) else @get_data_task_id(right);
const left_ended = @get_local_task_id(12);
const right_ended = @get_local_task_id(13);
const finish = @get_local_task_id(14);
comptime {
  @initialize_queue(left_queue, .{ .color = left });
  @initialize_queue(right_queue, .{ .color = right });
  const pointer = &result;
  @export_symbol(main);
}
var pointer: [*]i16 = &result;
comptime { @export_symbol(pointer, "result"); }
"""

COLORS = {("left_queue", "left"), ("right_queue", "right")}
TAKE_LEFT, TAKE_RIGHT = "@bind_data_task(take_left, left_task);", "@bind_data_task(take_right, right_task);"
BOTH = f"comptime {{ {TAKE_LEFT} {TAKE_RIGHT} }}\nfn main() void {{}}\n"
ENDS = (
    "comptime { @bind_local_task(on_left, left_ended); @bind_local_task(on_right, right_ended); }\n"
    "fn main() void {\n"
    "  @mov16(LEFT, left4, .{ .async = true, .activate = on_left });\n"
    "  @mov16(RIGHT, right4, .{ .async = true, .activate = on_right });\n}\n"
)  # fmt: skip

FAULTS = {
    "both write the result": f"""{BOTH}
task take_left(x: i16) void {{ result[0] = x; }} //1
task take_right(x: i16) void {{ result[0] = x; }} //2
""",
    "the same, and they count": f"""{BOTH}
task take_left(x: i16) void {{ result[0] = x; //1
  count += 1; if (count == 2) {{ result[1] = 1; }} }}
task take_right(x: i16) void {{ result[0] = 2 * x; //2
  count += 1; if (count == 2) {{ result[1] = 1; }} }}
""",
    "one sets what the other uses": f"""{BOTH}
task take_left(x: i16) void {{ factor = x; }} //1
task take_right(x: i16) void {{ total += factor * x; }} //2
""",
    "one uses what the other sets": f"""{BOTH}
task take_right(x: i16) void {{ total += factor * x; }} //1
task take_left(x: i16) void {{ factor = x; }} //2
""",
    "a receive and a data task": f"""comptime {{ {TAKE_RIGHT} }}
fn main() void {{ @mov16(low, left4, .{{ .async = true }}); }} //1
task take_right(x: i16) void {{ total += x * buf[2]; }} //2
""",
    "after each receive": ENDS.replace("LEFT, ", "even, ").replace("RIGHT, ", "odd, ") + """
task on_left() void { result[3] = buf[0]; } //1
task on_right() void { result[3] = buf[1]; } //2
""",
    "an operation after the other receive": ENDS.replace("LEFT, ", "low, ").replace("RIGHT, ", "rest, ").replace(
        "on_left });", "on_left }); //1") + """
task on_left() void {}
task on_right() void { @add16(shown, low, 1); } //2
""",
}  # fmt: skip

CORRECT = {
    "different words": f"""{BOTH}
task take_left(x: i16) void {{ result[0] = x; }}
task take_right(x: i16) void {{ result[1] = x; }}
""",
    "sums": f"""{BOTH}
task take_left(x: i16) void {{ result[0] += x; }}
task take_right(x: i16) void {{ result[0] += 2 * x; }}
""",
    "a join by flags": f"""{BOTH}
fn both() void {{ result[0] = buf[0] - buf[1]; }}
task take_left(x: i16) void {{ buf[0] = x; have_left = true; if (have_right) {{ both(); }} }}
task take_right(x: i16) void {{ buf[1] = x; have_right = true; if (have_left) {{ both(); }} }}
""",
    "a join by a count": ENDS.replace("LEFT, ", "even, ").replace("RIGHT, ", "odd, ") + """
fn both() void { count += 1; if (count == 2) { result[0] = buf[0] - buf[1]; } }
task on_left() void { both(); }
task on_right() void { both(); }
""",
    "one blocks the other": f"""comptime {{ @block(right_task); }}\n{BOTH}
task take_left(x: i16) void {{ factor = x; @unblock(right_task); }}
task take_right(x: i16) void {{ total += factor * x; }}
""",
    "one after the other": """
comptime { @bind_local_task(on_left, left_ended); @bind_local_task(on_right, right_ended); }
fn main() void { @mov16(low, left4, .{ .async = true, .activate = on_left }); }
task on_left() void { @mov16(shown, right4, .{ .async = true, .activate = on_right }); }
task on_right() void { @add16(shown, shown, low); result[0] = buf[1]; }
""",
    "a task that both end": """comptime { @bind_local_task(on_both, finish); @block(finish); }
fn main() void {
  @mov16(even, left4, .{ .async = true, .activate = finish });
  @mov16(odd, right4, .{ .async = true, .unblock = finish });
}
task on_both() void { result[0] = buf[0]; result[1] = buf[1]; }
""",
    "the same constant": f"""{BOTH}
task take_left(x: i16) void {{ result[0] = 5; total += x; }}
task take_right(x: i16) void {{ result[0] = 5; total += x; }}
""",
    "scratch memory": f"""{BOTH}
task take_left(x: i16) void {{ buf[0] = x; result[0] += buf[0]; }}
task take_right(x: i16) void {{ buf[0] = 2 * x; result[1] += buf[0]; }}
""",
    "the largest": f"""{BOTH}
task take_left(x: i16) void {{ if (x > result[0]) {{ result[0] = x; }} }}
task take_right(x: i16) void {{ if (x > result[0]) {{ result[0] = x; }} }}
""",
    "a receive that wavelets of a third queue start": f"""comptime {{ {TAKE_RIGHT}
  @initialize_queue(@get_input_queue(4), .{{ .color = @get_color(5) }});
  @bind_data_task(take_third, if (@is_arch("wse3")) @get_data_task_id(@get_input_queue(4)) else
    @get_data_task_id(@get_color(5)));
}}
fn main() void {{}}
task take_third(x: i16) void {{ @mov16(low, left4, .{{ .async = true }}); }}
task take_right(x: i16) void {{ total += x * buf[2]; }}
""",
    "a receive that another launch starts": f"""comptime {{ {TAKE_RIGHT} @export_symbol(later); }}
fn main() void {{}}
fn later() void {{ @mov16(low, left4, .{{ .async = true }}); }}
task take_right(x: i16) void {{ total += x * buf[2]; }}
""",
    "a receive of fewer elements than its array": f"""comptime {{ {TAKE_RIGHT} }}
fn main() void {{ @mov16(shown, @set_dsd_length(left4, 2), .{{ .async = true }}); }}
task take_right(x: i16) void {{ total += x * result[2]; }}
""",
    "a receive that may not be started": f"""comptime {{ {TAKE_RIGHT} }}
fn start() void {{ @mov16(low, left4, .{{ .async = true }}); }}
fn main() void {{ if (count > 0) {{ start(); }} }}
task take_right(x: i16) void {{ total += x * buf[2]; }}
""",
    "synchronous receives": """fn main() void { @mov16(low, left4); @mov16(low, right4); @mov16(shown, low); }
""",
}  # fmt: skip

ONE_QUEUE_FAULTS = {
    "a receive of all": "fn main() void { @mov16(@set_dsd_length(shown, 8), left8, .{ .async = true }); }\n",
    "in the order of arrival": f"""comptime {{ {TAKE_LEFT} }}\nfn main() void {{}}
task take_left(x: i16) void {{ result[@as(u16, count)] = x; count += 1; }}
""",
    "the last one": f"""comptime {{ {TAKE_LEFT} }}\nfn main() void {{}}
task take_left(x: i16) void {{ result[0] = x; }}
""",
}

ONE_QUEUE_CORRECT = {
    "memory that the host does not see": "fn main() void { @mov16(all_of_it, left8, .{ .async = true }); }\n",
    "a sum": f"comptime {{ {TAKE_LEFT} }}\nfn main() void {{}}\ntask take_left(x: i16) void {{ result[0] += x; }}\n",
    "the place comes with the value": f"""comptime {{ {TAKE_LEFT} }}\nfn main() void {{}}
task take_left(x: i16) void {{ result[@as(u16, x & 7)] = x; }}
""",
    "a reduction": "fn main() void { @add16(sum, sum, left8, .{ .async = true }); }\n",
    "a histogram": f"""comptime {{ {TAKE_LEFT} }}\nfn main() void {{}}
task take_left(x: i16) void {{ result[@as(u16, x & 7)] += 1; }}
""",
}


def told(
    csl: Csl, capsys: pytest.CaptureFixture[str], reader: str, arch: str, one_queue: bool = False, other: str = "main",
    sender: str = "", more: str = "",
) -> list[str]:  # fmt: skip
    """Return the warnings about orders when a program is loaded."""
    launched = {other, "later"} if "later()" in reader else {other}
    names = "".join(f'@export_name("{name}", fn() void);' for name in sorted(launched - {"main"}))
    names += ' @export_name("result", [*]i16, true);'
    layout = LAYOUT.replace("SECOND", "left" if one_queue else "right").replace("OTHER", other).replace("NAMES", names)
    csl.write({"sender.csl": SENDER.replace("OTHERS", "") + sender, "reader.csl": READER + reader})
    compiled = csl.unverified(layout.replace("MORE", more), None, arch)
    program = loomir.compile(compiled.module, verify_each=False)
    capsys.readouterr()
    loomir.Simulator(program, check=True)
    return [line for line in capsys.readouterr().err.splitlines() if "nothing decides" in line]


def line_of(text: str, mark: str) -> int:
    return (READER + text)[: (READER + text).index(mark)].count("\n") + 1


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("reader", FAULTS.values(), ids=FAULTS)
def test_the_order_of_two_streams_decides(csl: Csl, capsys: pytest.CaptureFixture[str], reader: str, arch: str) -> None:
    """Both places, both queues and both senders are named, once."""
    lines = told(csl, capsys, reader, arch)
    assert len(lines) == 1
    places = re.findall(r"reader\.csl:(\d+):", lines[0])
    assert {*map(int, places)} == {line_of(reader, "//1"), line_of(reader, "//2")}
    assert {*re.findall(r"input queue '(\w+)', color '?(\w+)'?,", lines[0])} == COLORS
    assert {*re.findall(r"from PE (\(\d, \d\))", lines[0])} == {"(0, 0)", "(2, 0)"}
    assert "on PE (1, 0)" in lines[0]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("reader", CORRECT.values(), ids=CORRECT)
def test_the_order_of_two_streams_does_not_decide(
    csl: Csl, capsys: pytest.CaptureFixture[str], reader: str, arch: str
) -> None:
    """The program waits, commutes, or touches other words."""
    assert told(csl, capsys, reader, arch) == []


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("reader", ONE_QUEUE_FAULTS.values(), ids=ONE_QUEUE_FAULTS)
def test_the_order_of_two_senders_to_one_queue_decides(
    csl: Csl, capsys: pytest.CaptureFixture[str], reader: str, arch: str
) -> None:
    """The queue, both senders and the place that keeps what comes are named."""
    (line,) = told(csl, capsys, reader, arch, one_queue=True)
    assert "PE (0, 0) and PE (2, 0) both send to the queue" in line
    assert re.search(r"reader\.csl:\d+:\d+: warning: what comes by input queue 'left_queue', .*on PE \(1, 0\)", line)


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("reader", ONE_QUEUE_CORRECT.values(), ids=ONE_QUEUE_CORRECT)
def test_the_order_of_two_senders_to_one_queue_does_not_decide(
    csl: Csl, capsys: pytest.CaptureFixture[str], reader: str, arch: str
) -> None:
    assert told(csl, capsys, reader, arch, one_queue=True) == []


LINK = """
const link_in = @get_input_queue(5);
const link_out = @get_output_queue(5);
var told: i16 = 0;
const from = @get_dsd(fabin_dsd, .{ .extent = 1, .fabric_color = @get_color(5), .input_queue = link_in });
const to = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = @get_color(5), .output_queue = link_out });
fn before() void { if (told == 0) { @mov16(&told, from); } else { @mov16(to, 1); } }
comptime {
  @initialize_queue(link_in, .{ .color = @get_color(5) });
  if (@is_arch("wse3")) @initialize_queue(link_out, .{ .color = @get_color(5) });
  @export_symbol(before);
}
"""
EASTWARD = """
@set_color_config(0, 0, @get_color(5), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
@set_color_config(1, 0, @get_color(5), .{ .routes = .{ .rx = .{ WEST }, .tx = .{ EAST } } });
@set_color_config(2, 0, @get_color(5), .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } } });
@export_name("before", fn() void);
"""


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize(
    ("settings", "decides"),
    [({}, True), ({"other": "other"}, False), ({"sender": LINK, "more": EASTWARD}, False)],
    ids=["neither", "other launch", "path between senders"],
)
def test_what_decides_outside(
    csl: Csl, capsys: pytest.CaptureFixture[str], settings: dict[str, Any], decides: bool, arch: str
) -> None:
    """The host starts one sender after the other, or a wavelet can go from one to the other."""
    assert len(told(csl, capsys, FAULTS["both write the result"], arch, **settings)) == decides
