"""Programs of several PEs as people write them, free of races: each joins what it issues, in another way.

What a program computes is its array `out`, which `golden` gives for each PE. Comments behind lines name them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_DIRECTIONS = {"e": ("EAST", 1, 0), "w": ("WEST", -1, 0), "s": ("SOUTH", 0, 1), "n": ("NORTH", 0, -1)}
_OPPOSITE = {"e": "w", "w": "e", "s": "n", "n": "s"}


def layout(width: int, height: int, more: str = "") -> str:
    """Return the layout of a grid on which each PE sends to its neighbors by a color for each direction.

    Neighbors use different colors of a direction, so that none both sends and receives on one.
    """
    lines: list[str] = []
    for y in range(height):
        for x in range(width):
            params = f".x = {x}, .y = {y}, .width = {width}, .height = {height}"
            for place, (name, (port, dx, dy)) in enumerate(_DIRECTIONS.items()):
                parity = (x if dx else y) % 2
                out, into = 2 * place + parity, 2 * place + 1 - parity
                back = _OPPOSITE[name]
                params += f", .to_{name} = @get_color({out}), .from_{back} = @get_color({into})"
                if 0 <= x + dx < width and 0 <= y + dy < height:
                    lines.append(f"@set_color_config({x}, {y}, @get_color({out}), {_route('RAMP', port)});")
                if 0 <= x - dx < width and 0 <= y - dy < height:
                    came = _DIRECTIONS[back][0]
                    lines.append(f"@set_color_config({x}, {y}, @get_color({into}), {_route(came, 'RAMP')});")
            lines.append(f'@set_tile_code({x}, {y}, "pe.csl", .{{ {params}{more} }});')
    body = "\n  ".join(lines)
    return f"""layout {{
  @set_rectangle({width}, {height});
  {body}
  @export_name("main", fn() void);
  @export_name("out", [*]TYPE, true);
}}
"""


def _route(rx: str, tx: str) -> str:
    return f".{{ .routes = .{{ .rx = .{{ {rx} }}, .tx = .{{ {tx} }} }} }}"


def _header(directions: str) -> str:
    """Return params, and queues for directions; `in_e` and `out_e` are DSDs of COUNT elements."""
    lines = ["param x: i16;\nparam y: i16;\nparam width: i16;\nparam height: i16;"]
    lines += [f"param to_{each}: color;\nparam from_{each}: color;" for each in _DIRECTIONS]
    for number, each in enumerate(_DIRECTIONS):
        if each in directions:
            # Operations run on the microthread of their queue.
            lines.append(f"""const iq_{each} = @get_input_queue({number + 4});
const oq_{each} = @get_output_queue({number});
const in_{each} = @get_dsd(fabin_dsd, .{{ .extent = COUNT, .fabric_color = from_{each}, .input_queue = iq_{each} }});
const out_{each} = @get_dsd(fabout_dsd, .{{ .extent = COUNT, .fabric_color = to_{each}, .output_queue = oq_{each} }});
comptime {{
  @initialize_queue(iq_{each}, .{{ .color = from_{each} }});
  if (@is_arch("wse3")) {{ @initialize_queue(oq_{each}, .{{ .color = to_{each} }}); }}
}}""")
    return "\n".join(lines) + "\n"


_FOOTER = """
var out_pointer: [*]TYPE = &out;
comptime { @export_symbol(out_pointer, "out"); @export_symbol(main); }
"""


def _memory(name: str, access: str, count: int) -> str:
    return f"const {name} = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{{count}}} -> {access} }});\n"


def _tasks(*names: str) -> str:
    ids = "".join(f"const {name}_id = @get_local_task_id({number});\n" for number, name in enumerate(names, 10))
    return ids + "comptime { " + " ".join(f"@bind_local_task({name}, {name}_id);" for name in names) + " }\n"


@dataclass(frozen=True)
class Program:
    """A program without races."""

    width: int
    height: int
    text: str
    golden: Callable[[int, int], list[float]]
    type: str = "f32"
    count: int = 4
    """Wavelets of a DSD."""
    directions: str = "ew"

    @property
    def layout(self) -> str:
        return layout(self.width, self.height).replace("TYPE", self.type)

    @property
    def pe(self) -> str:
        return self.of(self.text)

    def of(self, text: str) -> str:
        """Return the whole file of a PE."""
        whole = _header(self.directions) + text + _FOOTER
        return whole.replace("TYPE", self.type).replace("COUNT", str(self.count))

    def expected(self) -> np.ndarray:
        rows = [[self.golden(x, y) for x in range(self.width)] for y in range(self.height)]
        return np.array(rows)


def _stencil(x: int, _: int) -> list[float]:
    u = np.arange(1, 13)
    for _step in range(2):
        u = np.concatenate([u[1:], [0]]) + np.concatenate([[0], u[:-1]])
    return u[4 * x : 4 * x + 4].tolist()


STENCIL = Program(3, 1, (
    _memory("left_halo", "u[i]", 1) + _memory("right_halo", "u[i + 5]", 1) + _memory("left_edge", "u[i + 1]", 1)
    + _memory("right_edge", "u[i + 4]", 1) + _memory("inner", "u[i + 1]", 4) + _memory("above", "u[i + 2]", 4)
    + _memory("below", "u[i]", 4) + _memory("next", "v[i + 1]", 4) + _memory("shown", "out[i]", 4)
    + _tasks("got_w", "got_e", "sent_w", "sent_e") + """
var u = @zeros([6]i16);
var v = @zeros([6]i16);
var out = @zeros([4]i16);
var pending: u16 = 0;
var step: u16 = 0;
task got_w() void { arrived(); }
task got_e() void { arrived(); }
task sent_w() void { arrived(); }
task sent_e() void { arrived(); }
fn arrived() void {
  pending -= 1;
  if (pending == 0) { compute(); }
}
fn exchange() void {
  if (x > 0) {
    pending += 2;
    @mov16(left_halo, in_w, .{ .async = true, .activate = got_w }); //recv_w
    @mov16(out_w, left_edge, .{ .async = true, .activate = sent_w }); //send_w
  }
  if (x < width - 1) {
    pending += 2;
    @mov16(right_halo, in_e, .{ .async = true, .activate = got_e }); //recv_e
    @mov16(out_e, right_edge, .{ .async = true, .activate = sent_e }); //send_e
  }
}
fn compute() void {
  @add16(next, above, below); //sum
  @mov16(inner, next);
  @mov16(shown, next);
  step += 1;
  if (step < 2) { exchange(); }
}
fn main() void {
  for (@range(i16, 4)) |i| { u[i + 1] = 4 * x + i + 1; }
  exchange();
  // goes on
}
"""), _stencil, "i16", 1)  # fmt: skip

REDUCTION = Program(3, 1, (
    _memory("sums", "out[i]", 4) + _memory("part", "buf[i]", 4) + _tasks("arrived", "done") + """
var out = @zeros([4]f32);
var buf = @zeros([4]f32); //buf
var finished: i16 = 0;
task arrived() void {
  @fadds(sums, sums, part);
  send();
}
task done() void { finished = 1; }
fn send() void {
  if (x < width - 1) { @fmovs(out_e, sums, .{ .async = true, .activate = done }); } //send
}
fn main() void {
  for (@range(i16, 4)) |i| { out[i] = @as(f32, x + i); }
  if (x == 0) {
    send();
    // first
  } else {
    @fmovs(part, in_w, .{ .async = true, .activate = arrived }); //recv
    // waits
  }
}
"""), lambda x, y: [float(sum(k + i for k in range(x + 1))) for i in range(4)])  # fmt: skip

BROADCAST = Program(3, 1, (
    _memory("cells", "data[i]", 4) + _tasks("arrived", "done") + """
var data = @zeros([4]f32); //data
var out = @zeros([4]f32);
task arrived() void { forward(); }
task done() void { use(); }
fn forward() void {
  if (x < width - 1) {
    @fmovs(out_e, cells, .{ .async = true, .activate = done }); //send
    // sent
  } else { use(); }
}
fn use() void { for (@range(u16, 4)) |i| { out[i] = 2.0 * data[i] + @as(f32, x); } } //use
fn main() void {
  if (x == 0) {
    for (@range(u16, 4)) |i| { data[i] = @as(f32, i) + 0.5; } //fill
    forward();
  } else {
    @fmovs(cells, in_w, .{ .async = true, .activate = arrived }); //recv
    // waits
  }
}
"""), lambda x, y: [2 * (i + 0.5) + x for i in range(4)])  # fmt: skip


def _gemm(x: int, y: int) -> list[float]:
    a = np.arange(16.0).reshape(4, 4)
    b = np.arange(16.0)[::-1].reshape(4, 4)
    return (a @ b)[2 * y : 2 * y + 2, 2 * x : 2 * x + 2].ravel().tolist()


GEMM = Program(2, 2, (
    _memory("mine_a", "a[i]", 4) + _memory("mine_b", "b[i]", 4) + _memory("tile_a", "ap[i]", 4)
    + _memory("tile_b", "bp[i]", 4) + _tasks("multiply") + """
var a = @zeros([4]f32);
var b = @zeros([4]f32);
var ap = @zeros([4]f32);
var bp = @zeros([4]f32);
var out = @zeros([4]f32);
var k: i16 = 0;
comptime { @block(multiply_id); }
fn start() void {
  if (x == k) {
    if (x == 0) { @fmovs(out_e, mine_a, .{ .async = true, .activate = multiply }); } //send_a
    else { @fmovs(out_w, mine_a, .{ .async = true, .activate = multiply }); }
  } else {
    if (x == 0) { @fmovs(tile_a, in_e, .{ .async = true, .activate = multiply }); }
    else { @fmovs(tile_a, in_w, .{ .async = true, .activate = multiply }); } //recv_a
  }
  if (y == k) {
    if (y == 0) { @fmovs(out_s, mine_b, .{ .async = true, .unblock = multiply }); } //send_b
    else { @fmovs(out_n, mine_b, .{ .async = true, .unblock = multiply }); }
  } else {
    if (y == 0) { @fmovs(tile_b, in_s, .{ .async = true, .unblock = multiply }); }
    else { @fmovs(tile_b, in_n, .{ .async = true, .unblock = multiply }); } //recv_b
  }
  // started
}
fn product() void {
  for (@range(u16, 2)) |i| { for (@range(u16, 2)) |j| { for (@range(u16, 2)) |l| {
    const left = if (x == k) a[2 * i + l] else ap[2 * i + l]; //left
    const right = if (y == k) b[2 * l + j] else bp[2 * l + j]; //right
    out[2 * i + j] += left * right;
  } } }
}
task multiply() void {
  @block(multiply_id);
  product();
  k += 1;
  if (k < 2) { start(); }
}
fn main() void {
  for (@range(i16, 2)) |i| { for (@range(i16, 2)) |j| {
    a[2 * i + j] = @as(f32, 4 * (2 * y + i) + 2 * x + j);
    b[2 * i + j] = @as(f32, 15 - (4 * (2 * y + i) + 2 * x + j));
  } }
  start();
  // goes on
}
"""), _gemm, directions="ewsn")  # fmt: skip


def _fft(x: int, _: int) -> list[float]:
    one = [float(i) + 1 for i in range(4)]
    other = [float(i) + 4 for i in range(4)]
    for _round in range(2):
        one, other = [a + b for a, b in zip(one, other, strict=True)], [a - b for a, b in zip(one, other, strict=True)]
    return other if x else one


FFT = Program(2, 1, (
    _memory("mine", "out[i]", 4) + _memory("theirs", "buf[i]", 4) + _tasks("butterfly") + """
var out = @zeros([4]f32);
var buf = @zeros([4]f32);
var round: u16 = 0;
comptime { @block(butterfly_id); }
fn swap() void {
  if (x == 0) {
    @fmovs(theirs, in_e, .{ .async = true, .unblock = butterfly }); //recv
    @fmovs(out_e, mine, .{ .async = true, .activate = butterfly }); //send
  } else {
    @fmovs(theirs, in_w, .{ .async = true, .unblock = butterfly });
    @fmovs(out_w, mine, .{ .async = true, .activate = butterfly });
  }
  // swapped
}
task butterfly() void {
  @block(butterfly_id);
  if (x == 0) { @fadds(mine, mine, theirs); } else { @fsubs(mine, theirs, mine); }
  round += 1;
  if (round < 2) { swap(); }
}
fn main() void {
  for (@range(i16, 4)) |i| { out[i] = @as(f32, i + 1 + 3 * x); }
  swap();
}
"""), _fft)  # fmt: skip

HISTOGRAM = Program(3, 1, (
    _memory("keys", "key[i]", 4) + """
var key = @zeros([4]i16); //key
var out = @zeros([4]i16);
var last: i16 = 0;
const w_task = if (@is_arch("wse3")) @get_data_task_id(iq_w) else @get_data_task_id(from_w);
const e_task = if (@is_arch("wse3")) @get_data_task_id(iq_e) else @get_data_task_id(from_e);
comptime { if (x == 1) { @bind_data_task(count_w, w_task); @bind_data_task(count_e, e_task); } }
task count_w(value: i16) void {
  out[value] += 1;
  // from the west
}
task count_e(value: i16) void {
  out[value] += 1;
  // from the east
}
fn main() void {
  for (@range(i16, 4)) |i| { key[i] = (i + x) & 3; } //fill
  if (x == 0) { @mov16(out_e, keys, .{ .async = true }); } //send_e
  if (x == 2) { @mov16(out_w, keys, .{ .async = true }); } //send_w
  // goes on
}
"""), lambda x, y: [2.0] * 4 if x == 1 else [0.0] * 4, "i16")  # fmt: skip

PIPELINE = Program(3, 1, (
    _memory("given", "key[i]", 4) + _memory("taken", "out[i]", 4) + _tasks("done") + """
var key = @zeros([4]i16);
var room = @zeros([8]i16);
var out = @zeros([4]i16);
var ended: i16 = 0;
const line = @allocate_fifo(room);
task done() void { ended += 1; }
fn main() void {
  for (@range(i16, 4)) |i| { key[i] = 3 * i; }
  if (x == 0) { @mov16(out_e, given, .{ .async = true, .activate = done }); } //send
  if (x == 1) {
    @mov16(line, in_w, .{ .async = true }); //push
    @mov16(out_e, line, .{ .async = true, .activate = done }); //pop
    // both
  }
  if (x == 2) { @mov16(taken, in_w, .{ .async = true, .activate = done }); } //recv
}
"""), lambda x, y: [3.0 * i for i in range(4)] if x == 2 else [0.0] * 4, "i16")  # fmt: skip

STREAM = Program(2, 1, (
    _memory("first", "ping[i]", 4) + _memory("second", "pong[i]", 4) + _memory("total", "out[i]", 4)
    + _memory("given", "key[i]", 4) + _tasks("took_first", "took_second", "sent") + """
var key = @zeros([4]f32);
var ping = @zeros([4]f32);
var pong = @zeros([4]f32);
var out = @zeros([4]f32);
var blocks: u16 = 0;
task took_first() void {
  blocks += 1;
  if (blocks < 4) { @fmovs(second, in_w, .{ .async = true, .activate = took_second }); } //recv_second
  @fadds(total, total, first); //add_first
}
task took_second() void {
  blocks += 1;
  if (blocks < 4) { @fmovs(first, in_w, .{ .async = true, .activate = took_first }); } //recv_first
  @fadds(total, total, second); //add_second
}
task sent() void {
  blocks += 1;
  for (@range(u16, 4)) |i| { key[i] += 1.0; }
  if (blocks < 4) { send(); }
  // again
}
fn send() void { @fmovs(out_e, given, .{ .async = true, .activate = sent }); } //send
fn main() void {
  for (@range(u16, 4)) |i| { key[i] = @as(f32, i); }
  if (x == 0) { send(); } else { @fmovs(first, in_w, .{ .async = true, .activate = took_first }); } //recv
  // goes on
}
"""), lambda x, y: [4.0 * i + 6 if x else 0.0 for i in range(4)])  # fmt: skip
