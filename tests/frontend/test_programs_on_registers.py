"""Whole programs on registers, FIFOs and microthreads, written from the manual alone, with what numpy says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from xdsl.dialects import scf

import loomir
from loomir.dialects import context, dsd, dsr, wse
from loomir.dialects.ir_text import parse_ir

from .harness import NUMPY, ONE_TILE, Csl

ARCHES = ("wse2", "wse3")

LINK = """
const c = @get_color(3);
const iq = @get_input_queue(1);
const oq = @get_output_queue(2);
comptime {
  @initialize_queue(iq, .{ .color = c });
  if (@is_arch("wse3")) @initialize_queue(oq, .{ .color = c });
}
"""

TWO_LINKS = f"""{LINK}
const c2 = @get_color(4);
const iq2 = @get_input_queue(3);
const oq2 = @get_output_queue(4);
comptime {{
  @initialize_queue(iq2, .{{ .color = c2 }});
  if (@is_arch("wse3")) @initialize_queue(oq2, .{{ .color = c2 }});
}}
"""

LOOP_BACK = "".join(
    f"@set_color_config(0, 0, @get_color({color}), .{{ .routes = .{{ .rx = .{{ RAMP }}, .tx = .{{ RAMP }} }} }});"
    for color in range(1, 6)
)


@dataclass
class Case:
    """A program of one PE that sends to itself, the types of its arrays, and what `main` leaves in them."""

    text: str
    types: Mapping[str, str]
    expected: Mapping[str, Any]
    files: Mapping[str, str] = field(default_factory=dict[str, str])


LONG = " ".join(f"t = t * {k + 3} + {k};" for k in range(150))
"""Statements that make a function long enough to be called."""

CASES: dict[str, Case] = {
    "registers across calls in a loop": Case(
        f"""
        var a = [5]i16{{1,2,3,4,5}};
        var b = [5]i16{{10,20,30,40,50}};
        var out = @zeros([5]i16);
        var other = @zeros([5]i16);
        var t: i16 = 1;
        const d = @get_dsr(dsr_dest, 4);
        const s = @get_dsr(dsr_src0, 2);
        const changed = @get_dsr(dsr_src1, 3);
        const da = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{5}} -> a[i] }});
        const db = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{5}} -> b[i] }});
        const o = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{5}} -> out[i] }});
        const p = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{5}} -> other[i] }});
        fn inner() void {{ @load_to_dsr(changed, db); {LONG} @add16(p, p, 1); }}
        fn outer() void {{ inner(); {LONG} @add16(p, p, da); }}
        fn main() void {{
          @load_to_dsr(d, o); @load_to_dsr(s, o); @load_to_dsr(changed, da);
          for (@range(i16, 4)) |i| {{
            @add16(d, s, changed);
            outer();
            @add16(p, p, 2);
          }}
          inner();
        }}
        """,
        {"out": "i16", "other": "i16"},
        {
            "out": [k + 3 * 10 * k for k in range(1, 6)],
            "other": [4 * (1 + k + 2) + 1 for k in range(1, 6)],
        },
    ),
    "a mem4d that goes on": Case(
        """
        var a = @zeros([4,6]i16);
        var out = @zeros([24]i16);
        const src = @get_dsr(dsr_src0, 3);
        const dst = @get_dsr(dsr_dest, 5);
        const x = @get_xdsr(1);
        const s1 = @get_sr(0);
        const half = @get_dsd(mem4d_dsd, .{ .tensor_access = |i,j|{2,3} -> a[i, 2*j] });
        const o = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{6} -> out[i] });
        comptime { @load_to_dsr_xdsr_sr(src, x, .{s1}, half, .{ .save_address = true }); @load_to_dsr(dst, o,
          .{ .save_address = true }); }
        fn main() void {
          for (@range(i16, 4)) |i| { for (@range(i16, 6)) |j| { a[i,j] = i*10 + j; } }
          @mov16(dst, src);
          @mov16(dst, src);
        }
        """,
        {"out": "i16"},
        {"out": [*(10 * row + 2 * k for row in range(4) for k in range(3)), *[0] * 12]},
    ),
    "a src0 as destination and source": Case(
        """
        var a = [4]f32{1.0,2.0,3.0,4.0};
        var b = [4]f32{10.0,20.0,30.0,40.0};
        const r = @get_dsr(dsr_src0, 2);
        const s = @get_dsr(dsr_src1, 2);
        const da = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[i] });
        const db = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> b[i] });
        fn main() void {
          @load_to_dsr(r, da); @load_to_dsr(s, db);
          @fadds(r, r, s);
          @fmuls(r, r, 2.0);
          @fadds(r, s, 1.0);
          @fsubs(da, r, db);
        }
        """,
        {"a": "f32"},
        {"a": [1, 1, 1, 1]},
    ),
    "chosen registers beside allocated ones": Case(
        """
        var a = [5]i16{1,2,3,4,5};
        var b = [5]i16{10,20,30,40,50};
        var out = @zeros([15]i16);
        const s0 = @get_dsr(dsr_src0, 0);
        const s1 = @get_dsr(dsr_src1, 0);
        const d0 = @get_dsr(dsr_dest, 0);
        const da = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{5} -> a[i] });
        const db = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{5} -> b[i] });
        const o = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{5} -> out[i] });
        const o2 = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{5} -> out[i+5] });
        const o3 = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{5} -> out[i+10] });
        comptime { @load_to_dsr(s0, da); @load_to_dsr(s1, db); }
        fn main() void {
          @add16(o, s0, db);
          @load_to_dsr(d0, o2);
          @add16(d0, da, s1);
          @sub16(o3, s1, s0);
        }
        """,
        {"out": "i16"},
        {"out": [11, 22, 33, 44, 55, 11, 22, 33, 44, 55, 9, 18, 27, 36, 45]},
    ),
    "an index on memory": Case(
        LINK
        + """
        var array = @zeros([32]i16);
        var out = @zeros([32]i16);
        const m = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> array[i], .wavelet_index_offset = true });
        const o = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i], .wavelet_index_offset = true });
        const plain = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i+28] });
        fn main() void {
          for (@range(i16, 32)) |i| { array[i] = i; }
          for (@range(u16, 4)) |k| { @add16(o, m, 100, .{ .index = k * 7 }); }
          @add16(plain, m, 0, .{ .index = 3 });
        }
        """,
        {"out": "i16"},
        {
            "out": [
                *(n for start in (100, 107, 114, 121) for n in (*range(start, start + 4), 0, 0, 0)), 3, 4, 5, 6
            ]
        },
    ),
    "an index on wavelets": Case(
        LINK
        + """
        var data = [3]i16{5,6,7};
        var got = @zeros([16]i16);
        const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> data[i] });
        const o = @get_dsd(fabout_dsd, .{ .extent = 3, .fabric_color = c, .output_queue = oq,
          .wavelet_index_offset = true });
        task recv(v: i16, index: u16) void { got[index] += v; }
        fn main() void {
          var k: u16 = 2;
          @add16(o, d, 42, .{ .index = k });
          k = 9;
          @mov16(o, d, .{ .index = k });
        }
        comptime {
          if (@is_arch("wse3")) { @bind_data_task(recv, @get_data_task_id(iq));
            } else { @bind_data_task(recv, @get_data_task_id(c)); }
        }
        """,
        {"got": "i16"},
        {"got": [0, 0, 144, 0, 0, 0, 0, 0, 0, 18, 0, 0, 0, 0, 0, 0]},
    ),
    "receives until a control wavelet": Case(
        LINK
        + """
        var out = @zeros([12]i16);
        var data = [4]i16{5,6,7,8};
        var rounds = @zeros([2]i16);
        const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> data[i] });
        const o = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = oq });
        const ctl = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = oq, .control = true });
        const in = @get_dsd(fabin_dsd, .{ .extent = 3, .fabric_color = c, .input_queue = iq });
        const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> out[i] });
        var off: i16 = 0;
        task more() void {
          rounds[0] += 1;
          off += 3;
          receive();
        }
        task stop() void { rounds[1] += 1; }
        fn receive() void {
          @mov16(@increment_dsd_offset(to, off, i16), in, .{ .async = true, .activate = more,
            .on_control = .{ .activate = stop } });
        }
        fn main() void {
          receive();
          @mov16(o, d);
          @mov16(o, d);
          @mov32(ctl, 0);
        }
        comptime { @bind_local_task(more, @get_local_task_id(12)); @bind_local_task(stop, @get_local_task_id(13)); }
        """,
        {"out": "i16", "rounds": "i16"},
        {"out": [5, 6, 7, 8, 5, 6, 7, 8, 0, 0, 0, 0], "rounds": [2, 1]},
    ),
    "a register behind an early end": Case(
        LINK
        + """
        var out = @zeros([10]i16);
        var data = [3]i16{5,6,7};
        const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> data[i] });
        const o = @get_dsd(fabout_dsd, .{ .extent = 3, .fabric_color = c, .output_queue = oq });
        const ctl = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = oq, .control = true });
        const in = @get_dsd(fabin_dsd, .{ .extent = 10, .fabric_color = c, .input_queue = iq });
        const src = @get_dsr(dsr_src1, 0);
        const dst = @get_dsr(dsr_dest, 0);
        const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{10} -> out[i] });
        task done() void { @mov16(dst, @set_dsd_length(in, 3)); }
        fn main() void {
          @load_to_dsr(src, in, .{ .async = true, .on_control = .{ .activate = done } });
          @load_to_dsr(dst, to, .{ .save_address = true });
          @mov16(dst, src);
          @mov16(o, d); @mov32(ctl, 0); @mov16(o, d);
        }
        comptime { @bind_local_task(done, @get_local_task_id(12)); }
        """,
        {"out": "i16"},
        {"out": [5, 6, 7, 5, 6, 7, 0, 0, 0, 0]},
    ),
    "lengths that remain of a FIFO": Case(
        """
        var buf = @zeros([4]i16);
        const fifo = @allocate_fifo(buf, .{ .empty_action = .{ .terminate = true } });
        var inp = [10]i16{1,2,3,4,5,6,7,8,9,10};
        var out = @zeros([12]i16);
        var facts = @zeros([6]i16);
        const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{10} -> inp[i] });
        const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{12} -> out[i] });
        fn main() void {
          @set_fifo_write_length(fifo, 3);
          facts[0] = @as(i16, @mov16(fifo, all));
          @set_fifo_read_length(fifo, 5);
          facts[1] = @as(i16, @mov16(to, fifo));   // 3 then empty: terminate -> true; 2 remain
          @set_fifo_write_length(fifo, 4);
          @mov16(fifo, @increment_dsd_offset(all, 3, i16));  // 4 5 6 7
          facts[2] = @as(i16, @mov16(@increment_dsd_offset(to, 3, i16), fifo)); // the 2 that remain
          // two are left: 6 7
          var scalar: i16 = -5;
          @set_fifo_read_length(fifo, 5);
          @mov16(&scalar, fifo);
          facts[3] = scalar;
          facts[4] = @as(i16, @mov16(fifo, 77));
          @set_fifo_read_length(fifo, 1);
          @mov16(&scalar, fifo);
          facts[5] = scalar;
        }
        """,
        {"out": "i16", "facts": "i16"},
        {"out": [1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0], "facts": [1, 1, 1, -5, 1, 77]},
    ),
    "a FIFO in arithmetic": Case(
        """
        var buf = @zeros([20]f32);
        const fifo = @allocate_fifo(buf);
        var inp = @zeros([20]f32);
        var out = @zeros([20]f32);
        const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{20} -> inp[i] });
        const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{20} -> out[i] });
        fn main() void {
          for (@range(i16, 20)) |i| { inp[i] = @as(f32, i); }
          for (@range(i16, 3)) |k| {
            @fmuls(fifo, all, @as(f32, k + 1));
            @fadds(to, to, fifo);
          }
          @fmovs(fifo, all);
          @fmacs(to, to, fifo, 10.0);
        }
        """,
        {"out": "f32"},
        {"out": 16 * np.arange(20)},
    ),
    "pushes and pops that take turns": Case(
        """
        var buf = @zeros([4]i16);
        var n_push = @zeros([1]i16);
        var out = @zeros([16]i16);
        var inp = [10]i16{1,2,3,4,5,6,7,8,9,10};
        const fifo = @allocate_fifo(buf, .{ .activate_push = on_push, .activate_pop = on_pop });
        const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{10} -> inp[i] });
        const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{16} -> out[i] });
        var pos: i16 = 0;
        var got: i16 = 0;
        var log = @zeros([4]i16);
        task on_pop() void {
          // room again: push what remains
          log[0] += 1;
          const rest = @set_dsd_length(@increment_dsd_offset(all, pos, i16), @as(u16, 10 - pos));
          push_some();
        }
        task on_push() void { log[1] += 1; }
        fn push_some() void {
          while (pos < 10) {
            if (!@mov16(fifo, inp[@as(u16, pos)])) { break; }
            pos += 1;
          }
        }
        fn pop_some() void {
          while (true) {
            var v: i16 = -1;
            if (!@mov16(&v, fifo)) break;
            out[@as(u16, got)] = v;
            got += 1;
          }
        }
        task again() void { pop_some(); if (got < 10) @activate(@get_local_task_id(12)); }
        comptime { @bind_local_task(on_push, @get_local_task_id(10));
          @bind_local_task(on_pop, @get_local_task_id(11)); @bind_local_task(again, @get_local_task_id(12)); }
        fn main() void {
          push_some();
          log[2] = pos;
          @activate(@get_local_task_id(12));
        }
        """,
        {"out": "i16"},
        {"out": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0, 0, 0, 0, 0]},
    ),
    "loads of values of the run": Case(
        """
        var a = @zeros([24]f32);
        var out = @zeros([24]f32);
        const src = @get_dsr(dsr_src1, 7);
        const dst = @get_dsr(dsr_dest, 7);
        fn set(o: mem1d_dsd, i: mem1d_dsd) void { @load_to_dsr(dst, o); @load_to_dsr(src, i); }
        fn go() void { @fnegs(dst, src); }
        fn main() void {
          for (@range(i16, 24)) |i| { a[i] = @as(f32, i); }
          for (@range(i16, 3)) |k| {
            const len: u16 = @as(u16, k + 2);
            const i = @get_dsd(mem1d_dsd, .{ .base_address = &a, .extent = len, .offset = k,
              .stride = @as(i8, k + 1) });
            const o = @get_dsd(mem1d_dsd, .{ .base_address = &out, .extent = len, .offset = 8 * k });
            set(o, i);
            go();
          }
        }
        """,
        {"out": "f32"},
        {"out": [0, -1, *[0] * 6, -1, -3, -5, *[0] * 5, -2, -5, -8, -11, *[0] * 4]},
    ),
    "chunks sent and received in the background": Case(
        LINK
        + """
        var out = @zeros([12]i16);
        var data = [12]i16{1,2,3,4,5,6,7,8,9,10,11,12};
        const src = @get_dsr(dsr_src1, 1);
        const dst = @get_dsr(dsr_dest, 1);
        const fd = @get_dsr(dsr_dest, 2);
        const ms = @get_dsr(dsr_src1, 2);
        const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> data[i] });
        const o = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = oq });
        const in = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c, .input_queue = iq });
        const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i] });
        var k: i16 = 0;
        comptime {
          @load_to_dsr(src, in, .{ .async = true, .activate = again });
          @load_to_dsr(dst, to, .{ .save_address = true });
          @load_to_dsr(fd, o, .{ .async = true, .activate = sent });
          @load_to_dsr(ms, d, .{ .save_address = true });
          @bind_local_task(again, @get_local_task_id(12));
          @bind_local_task(sent, @get_local_task_id(13));
        }
        var s: i16 = 0;
        task again() void { k += 1; if (k < 3) { @mov16(dst, src); } }
        task sent() void { s += 1; if (s < 3) { @mov16(fd, ms); } }
        fn main() void { @mov16(dst, src); @mov16(fd, ms); }
        """,
        {"out": "i16"},
        {"out": range(1, 13)},
    ),
    "two values a wavelet": Case(
        LINK
        + """
        var out = @zeros([8]f16);
        var data = [8]f16{1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0};
        const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> data[i] });
        const o = @get_dsd(fabout_dsd, .{ .extent = 8, .fabric_color = c, .output_queue = oq,
          .simd_mode = .{ .simd_64 = true } });
        const in = @get_dsd(fabin_dsd, .{ .extent = 8, .fabric_color = c, .input_queue = iq,
          .simd_mode = .{ .simd_32_or_64 = true } });
        const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> out[i] });
        fn main() void {
          @faddh(to, d, in, .{ .async = true, .activate = done });
          @fmulh(o, d, d);
        }
        task done() void { @fmulh(to, to, 2.0); }
        comptime { @bind_local_task(done, @get_local_task_id(12)); }
        """,
        {"out": "f16"},
        {"out": 2 * (np.arange(1, 9) + np.arange(1, 9) ** 2)},
    ),
    "sources cleared": Case(
        LINK
        + """
        var out = @zeros([6]i16);
        var data = [6]i16{1,2,3,4,5,6};
        var other = [6]i16{1,1,1,2,2,2};
        const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> data[2*i] });
        const e = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> other[i] });
        const o = @get_dsd(fabout_dsd, .{ .extent = 3, .fabric_color = c, .output_queue = oq,
          .zero = .{ .second_source = true } });
        const o1 = @get_dsd(fabout_dsd, .{ .extent = 3, .fabric_color = c, .output_queue = oq,
          .zero = .{ .first_source = true } });
        const in = @get_dsd(fabin_dsd, .{ .extent = 6, .fabric_color = c, .input_queue = iq });
        const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{6} -> out[i] });
        fn main() void {
          @mov16(to, in, .{ .async = true });
          @mov16(o, d);
          @sub16(o1, e, 5);
        }
        """,
        {"out": "i16", "data": "i16", "other": "i16"},
        {"out": [1, 3, 5, -4, -4, -4], "data": [0, 2, 0, 4, 0, 6], "other": [0, 0, 0, 2, 2, 2]},
    ),
    "a data task behind an operation": Case(
        LINK
        + """
        var got = @zeros([8]i16);
        var log = @zeros([2]i16);
        const o = @get_dsd(fabout_dsd, .{ .extent = 6, .fabric_color = c, .output_queue = oq });
        const in = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c, .input_queue = iq });
        const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> got[i] });
        var data = [6]i16{1,2,3,4,5,6};
        const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{6} -> data[i] });
        task recv(v: i16) void { log[0] += v; log[1] += got[3]; }
        fn main() void {
          if (@is_arch("wse3")) { @mov16(to, in, .{ .async = true, .unblock = iq });
            } else { @mov16(to, in, .{ .async = true, .unblock = c }); }
          @mov16(o, d);
        }
        comptime {
          const id = if (@is_arch("wse3")) @get_data_task_id(iq) else @get_data_task_id(c);
          @bind_data_task(recv, id);
          @block(id);
        }
        """,
        {"got": "i16", "log": "i16"},
        {"got": [1, 2, 3, 4, 0, 0, 0, 0], "log": [11, 8]},
    ),
    "a circular buffer that is received into": Case(
        LINK
        + """
        var ring = @zeros([5]i16);
        var out = @zeros([5]i16);
        var data = @zeros([13]i16);
        const r = @get_dsr(dsr_dest, 3);
        const x = @get_xdsr(0);
        const cb = @get_dsd(circbuf_dsd, .{ .base_address = &ring, .extent = 13 });
        const o = @get_dsd(fabout_dsd, .{ .extent = 13, .fabric_color = c, .output_queue = oq });
        const in = @get_dsd(fabin_dsd, .{ .extent = 13, .fabric_color = c, .input_queue = iq });
        const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{13} -> data[i] });
        fn main() void {
          for (@range(i16, 13)) |i| { data[i] = i; }
          @load_to_dsr_xdsr(r, x, cb);
          @mov16(r, in, .{ .async = true, .activate = done });
          @mov16(o, d);
        }
        task done() void { for (@range(i16, 5)) |i| { out[i] = ring[i]; } }
        comptime { @bind_local_task(done, @get_local_task_id(12)); }
        """,
        {"out": "i16"},
        {"out": [10, 11, 12, 8, 9]},
    ),
    "a relay through a FIFO": Case(
        TWO_LINKS
        + """
        var buf = @zeros([3]i32);
        const fifo = @allocate_fifo(buf);
        var data = @zeros([40]i32);
        var out = @zeros([40]i32);
        const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{40} -> data[i] });
        const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{40} -> out[i] });
        const o = @get_dsd(fabout_dsd, .{ .extent = 40, .fabric_color = c, .output_queue = oq });
        const in = @get_dsd(fabin_dsd, .{ .extent = 40, .fabric_color = c, .input_queue = iq });
        const o2 = @get_dsd(fabout_dsd, .{ .extent = 40, .fabric_color = c2, .output_queue = oq2 });
        const in2 = @get_dsd(fabin_dsd, .{ .extent = 40, .fabric_color = c2, .input_queue = iq2 });
        fn main() void {
          for (@range(i16, 40)) |i| { data[i] = @as(i32, i) * 100000; }
          @mov32(fifo, in, .{ .async = true });
          @mov32(o2, fifo, .{ .async = true });
          @mov32(o, d, .{ .async = true });
          @mov32(to, in2);
        }
        """,
        {"out": "i32"},
        {"out": 100000 * np.arange(40)},
    ),
    "microthreads and priorities": Case(
        TWO_LINKS
        + """
        var data = [4]i16{1,2,3,4};
        var out = @zeros([8]i16);
        const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> data[i] });
        const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i] });
        const to2 = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i+4] });
        const o = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = oq });
        const in = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c, .input_queue = iq });
        const o2 = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c2, .output_queue = oq2 });
        const in2 = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c2, .input_queue = iq2 });
        fn main() void {
          if (@is_arch("wse3")) {
            @mov16(to, in, .{ .async = true, .ut_id = @get_ut_id(7) });
            @mov16(to2, in2, .{ .async = true, .ut_id = @get_ut_id(6) });
            @mov16(o, d, .{ .async = true, .ut_id = @get_ut_id(0) });
            @add16(o2, d, 10, .{ .async = true, .ut_id = @get_ut_id(5) });
          } else {
            @mov16(to, in, .{ .async = true, .priority = .{ .high = true } });
            @mov16(to2, in2, .{ .async = true, .priority = .{ .medium = true } });
            @mov16(o, d, .{ .async = true, .priority = .{ .low = true }});
            @add16(o2, d, 10, .{ .async = true});
          }
        }
        """,
        {"out": "i16"},
        {"out": [1, 2, 3, 4, 11, 12, 13, 14]},
    ),
    "stride registers": Case(
        """
        var a = @zeros([3,4,5]f32);
        var out = @zeros([3,4,5]f32);
        const x = @get_xdsr(2); const xo = @get_xdsr(3);
        const srs = .{ @get_sr(3), @get_sr(4), @get_sr(5) };
        const s = @get_dsr(dsr_src0, 4); const t = @get_dsr(dsr_dest, 4);
        fn main() void {
          for (@range(u16, 3)) |i| { for (@range(u16, 4)) |j| { for (@range(u16, 5)) |k| {
            a[i,j,k] = @as(f32, i*100+j*10+k);
          } } }
          const rev = @get_dsd(mem4d_dsd, .{ .tensor_access = |i,j,k|{3,4,5} -> a[2-i, 3-j, 4-k] });
          const fwd = @get_dsd(mem4d_dsd, .{ .tensor_access = |i,j,k|{3,4,5} -> out[i, j, k] });
          @load_to_dsr_xdsr_sr(s, x, .{@get_sr(3), @get_sr(4)}, rev);
          @load_to_dsr_xdsr_sr(t, xo, .{@get_sr(0)}, fwd);
          @fmovs(t, s);
        }
        """,
        {"out": "f32"},
        {"out": (100 * np.arange(3)[:, None, None] + 10 * np.arange(4)[:, None] + np.arange(5))[::-1, ::-1, ::-1]},
    ),
    "registers passed to a module": Case(
        """
        var a = [4]i16{1,2,3,4}; var out = @zeros([8]i16);
        const regs = .{ .d = @get_dsr(dsr_dest, 6), .s = @get_dsr(dsr_src0, 6) };
        const lib = @import_module("lib.csl", .{ .d = regs.d, .s = regs.s });
        const da = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[i] });
        const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[2*i] });
        comptime { @load_to_dsr(regs.d, to); }
        fn main() void { @load_to_dsr(regs.s, da); lib.run(5);
          @load_to_dsr(regs.d, @increment_dsd_offset(to, 1, i16)); lib.run(7); }
        """,
        {"out": "i16"},
        {"out": [6, 8, 7, 9, 8, 10, 9, 11]},
        {"lib.csl": "param d: dsr_dest; param s: dsr_src0; fn run(x: i16) void { @add16(d, s, x); }"},
    ),
    "a control wavelet unblocks a task": Case(
        TWO_LINKS
        + """
        var out = @zeros([8]i16); var log = @zeros([3]i16);
        var data = [5]i16{1,2,3,4,5};
        const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{5} -> data[i] });
        const o = @get_dsd(fabout_dsd, .{ .extent = 5, .fabric_color = c, .output_queue = oq });
        const ctl = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = oq, .control = true });
        const in = @get_dsd(fabin_dsd, .{ .extent = 8, .fabric_color = c, .input_queue = iq });
        const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> out[i] });
        const src = @get_dsr(dsr_src0, 1);
        comptime { @load_to_dsr(src, in, .{ .async = true, .activate = full, .on_control = .{ .unblock = early } }); }
        task full() void { log[0] += 1; }
        task early() void { log[1] += 1; log[2] = out[4]; }
        fn main() void { @activate(early); @add16(to, src, 1); @mov16(o, d); @mov32(ctl, 0); }
        comptime { @bind_local_task(full, @get_local_task_id(12)); @bind_local_task(early, @get_local_task_id(13));
          @block(early); }
        """,
        {"out": "i16", "log": "i16"},
        {"out": [2, 3, 4, 5, 6, 0, 0, 0], "log": [0, 1, 6]},
    ),
    "a FIFO that holds back its sender": Case(
        TWO_LINKS
        + """
        var buf = @zeros([4]i16);
        const fifo = @allocate_fifo(buf, if (@is_arch("wse3")) .{ .empty_action = .{ .suspend = true },
          .full_action = .{ .suspend = true } } else .{});
        var data = @zeros([20]i16); var out = @zeros([20]i16); var log = @zeros([2]i16);
        const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{20} -> data[i] });
        const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{20} -> out[i] });
        const o = @get_dsd(fabout_dsd, .{ .extent = 20, .fabric_color = c, .output_queue = oq });
        const in = @get_dsd(fabin_dsd, .{ .extent = 20, .fabric_color = c, .input_queue = iq });
        fn main() void {
          for (@range(i16, 20)) |i| { data[i] = 3*i; }
          @mov16(fifo, in, .{ .async = true });
          @mov16(o, d, .{ .async = true });
          if (@is_arch("wse3")) { log[0] = @as(i16, @mov16(to, fifo)); }
          else { log[0] = 1; @activate(pop); }
        }
        var k: i16 = 0;
        task pop() void { var v: i16 = 0; while (@mov16(&v, fifo)) { out[@as(u16,k)] = v; k += 1;
          } if (k < 20) @activate(@get_local_task_id(12)); }
        comptime { @bind_local_task(pop, @get_local_task_id(12)); }
        """,
        {"out": "i16", "log": "i16"},
        {"out": 3 * np.arange(20), "log": [1, 0]},
    ),
    "control wavelets through a FIFO": Case(
        TWO_LINKS
        + """
        var buf = @zeros([8]u32);
        const fifo = @allocate_fifo(buf);
        var out = @zeros([6]u32); var ctl_log = @zeros([4]u16);
        const in = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c, .input_queue = iq,
          .control_transform = true });
        const out2 = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c2, .output_queue = oq2,
          .control_transform = true });
        const o = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = oq });
        const ctl = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = oq, .control = true });
        const fin = @get_dsd(fabin_dsd, .{ .extent = 6, .fabric_color = c2, .input_queue = iq2 });
        const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{6} -> out[i] });
        fn main() void {
          @mov32(fifo, in, .{ .async = true });
          @mov32(out2, fifo, .{ .async = true });
          @mov32(to, fin, .{ .async = true, .on_control = .{ .activate = stopped } });
          @mov32(o, 0x3fff0001);
          @mov32(o, 0x12340002);
          @mov32(ctl, 0x00050003);
          @mov32(o, 0x00070004);
        }
        task stopped() void { ctl_log[0] = 1; @mov32(to2, fin1, .{ .async = true }); }
        const to2 = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{1} -> out[i+4] });
        const fin1 = @get_dsd(fabin_dsd, .{ .extent = 1, .fabric_color = c2, .input_queue = iq2 });
        comptime { @bind_local_task(stopped, @get_local_task_id(12)); }
        """,
        {"out": "u32", "ctl_log": "u16"},
        {"out": [0x3FFF0001, 0x12340002, 0, 0, 0x00070004, 0], "ctl_log": [1, 0, 0, 0]},
    ),
    "all registers of three files": Case(
        """
        var a = @zeros([64]i16); var out = @zeros([64]i16);
        fn main() void {
          for (@range(i16, 64)) |i| { a[i] = i; }
          inline for (@range(i16, 8)) |r| {
            const s = @get_dsr(dsr_src0, r); const t = @get_dsr(dsr_src1, r); const d = @get_dsr(dsr_dest, r);
            @load_to_dsr(s, @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> a[8*r+i] }));
            @load_to_dsr(t, @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> a[i] }));
            @load_to_dsr(d, @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> out[8*r+i] }));
          }
          inline for (@range(i16, 8)) |r| {
            const s = @get_dsr(dsr_src0, r); const t = @get_dsr(dsr_src1, 7-r); const d = @get_dsr(dsr_dest, r);
            @add16(d, s, t);
          }
        }
        """,
        {"out": "i16"},
        {"out": np.arange(64) + np.arange(64) % 8},
    ),
    "a register in a loop beside a DSD that moves": Case(
        """
        var a = @zeros([6,8]i16); var acc = @zeros([8]i16);
        const s = @get_dsr(dsr_src0, 1); const d = @get_dsr(dsr_dest, 1);
        const row = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> a[0,i] });
        const ac = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> acc[i] });
        fn main() void {
          for (@range(i16,6)) |r| { for (@range(i16,8)) |k| { a[r,k] = r*8+k; } }
          @load_to_dsr(s, ac); @load_to_dsr(d, ac);
          var cur = row;
          var n: i16 = 0;
          while (n < 6) : (n += 1) {
            if (n % 2 == 0) { @add16(d, s, cur); } else { @sub16(d, s, cur); }
            cur = @increment_dsd_offset(cur, 8, i16);
          }
        }
        """,
        {"acc": "i16"},
        {"acc": [-24] * 8},
    ),
    "loads that follow each other": Case(
        """
        var a = [4]i16{1,2,3,4}; var b = [4]i16{9,8,7,6}; var out = @zeros([12]i16);
        const s = @get_dsr(dsr_src0, 1); const d = @get_dsr(dsr_dest, 1);
        const da = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[i] });
        const db = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> b[i] });
        const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i] });
        comptime { @load_to_dsr(s, da); @load_to_dsr(s, db); @load_to_dsr(d, to, .{ .save_address = true }); }
        fn swap(x: bool) void { if (x) { @load_to_dsr(s, da); } }
        fn main() void { @mov16(d, s); swap(false); @mov16(d, s); swap(true); @mov16(d, s); }
        """,
        {"out": "i16"},
        {"out": [9, 8, 7, 6, 9, 8, 7, 6, 1, 2, 3, 4]},
    ),
}  # fmt: skip


def check(csl: Csl, case: Case, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"files": case.files} if case.files else {}
    program = csl.program(case.text, case.types, arch=arch, layout=LOOP_BACK, **options)
    for executor in ("reference", "core"):
        monkeypatch.setenv("LOOM_EXECUTOR", executor)
        simulator = loomir.Simulator(program, step_limit=100_000)
        simulator.launch("main")
        for name, expected in case.expected.items():
            found = simulator.get(name)[0, 0]
            assert found.tolist() == np.array([*np.ravel(expected)], NUMPY[case.types[name]]).tolist(), (executor, name)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_programs(csl: Csl, case: Case, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(csl, case, arch, monkeypatch)


MATRICES = """
var n: i16 = 0;
var s = @zeros([4, 12]i16);
var m = @zeros([4, 3, 4]i16);
var t = @zeros([4, 12]i16);
const first = [4]color{ @get_color(1), @get_color(2), @get_color(3), @get_color(4) };
const ins = [4]input_queue{ @get_input_queue(2), @get_input_queue(3), @get_input_queue(4), @get_input_queue(5) };
const outs = [4]output_queue{ @get_output_queue(0), @get_output_queue(1), @get_output_queue(2), @get_output_queue(3) };
comptime {
  inline for (@range(i16, 4)) |k| {
    @initialize_queue(ins[k], .{ .color = first[k] });
    if (@is_arch("wse3")) @initialize_queue(outs[k], .{ .color = first[k] });
  }
  @bind_local_task(got, @get_local_task_id(12));
}
task got() void {
  n += 1;
  if (n > 1) return;
  inline for (@range(i16, 4)) |k| {
    const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{12} -> t[k, i] });
    @add16(to, @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{12} -> s[k, 11 - i] }), 1);
  }
}
fn main() void {
  for (@range(i16, 4)) |k| { for (@range(i16, 12)) |i| { s[k, i] = k * 100 + i; } }
  inline for (@range(i16, 4)) |k| {
    const from = @get_dsd(fabin_dsd, .{ .extent = 12, .fabric_color = first[k], .input_queue = ins[k] });
    const to = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j|{3, 4} -> m[k, 2 - i, 3 - j] });
    @mov16(to, from, .{ .async = true, .activate = got });
  }
  inline for (@range(i16, 4)) |k| {
    const wire = @get_dsd(fabout_dsd, .{ .extent = 12, .fabric_color = first[k], .output_queue = outs[k] });
    @mov16(wire, @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{12} -> s[k, i] }));
  }
}
"""

ROWS = """
var a = @zeros([36, 5]f32);
fn row(comptime r: i16, comptime first: i16, comptime step: i16) mem1d_dsd {
  return @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{5} -> a[r, first + step * i] });
}
fn main() void {
  for (@range(i16, 36)) |r| { for (@range(i16, 5)) |k| { a[r, k] = @as(f32, r * 5 + k); } }
  for (@range(i16, 3)) |round| {
    inline for (@range(i16, 12)) |r| {
      @fadds(row(r, 0, 1), row(r + 12, 0, 1), row(r + 24, 0, 1));
      @fmuls(row(r + 24, 0, 1), row(r, 4, -1), 0.5);
    }
  }
}
"""

CUBES = """
var a = @zeros([3, 4, 5]f32);
var b = @zeros([5, 4, 3]f32);
var o = @zeros([4, 3, 5]f32);
const d = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j, k|{3, 4, 5} -> o[j, i, k] });
const x = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j, k|{3, 4, 5} -> a[i, 3 - j, 4 - k] });
const y = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j, k|{3, 4, 5} -> b[k, j, i] });
fn main() void {
  for (@range(i16, 3)) |i| { for (@range(i16, 4)) |j| { for (@range(i16, 5)) |k| {
    a[i, j, k] = @as(f32, i * 100 + j * 10 + k);
    b[k, j, i] = @as(f32, i + j * 10 + k * 100);
  } } }
  for (@range(i16, 2)) |round| {
    @fadds(d, x, y);
    @fmacs(d, d, y, 2.0);
    @fsubs(x, d, @increment_dsd_offset(x, round - round, f32));
  }
}
"""


def rows() -> Any:
    a = np.arange(180, dtype=np.float32).reshape(36, 5)
    for _ in range(3):
        for r in range(12):
            a[r] = a[r + 12] + a[r + 24]
            a[r + 24] = a[r, ::-1] * 0.5
    return a


def cubes() -> dict[str, Any]:
    i, j, k = np.meshgrid(np.arange(3), np.arange(4), np.arange(5), indexing="ij")
    a = (100 * i + 10 * j + k).astype(np.float32)
    b = (i + 10 * j + 100 * k).astype(np.float32).transpose(2, 1, 0)
    o = np.zeros((4, 3, 5), np.float32)
    d, x, y = o.transpose(1, 0, 2), a[:, ::-1, ::-1], b.transpose(2, 1, 0)
    for _ in range(2):
        d[:] = x + y
        d[:] = d + y * 2
        x[:] = d - x
    return {"o": o, "a": a}


SENT = np.add.outer(100 * np.arange(4), np.arange(12))
LARGE = {
    "four receives of matrices at once, and rows beside them": Case(
        MATRICES, {"m": "i16", "t": "i16"}, {"m": SENT[:, ::-1], "t": SENT[:, ::-1] + 1}
    ),
    "more DSDs than registers": Case(ROWS, {"a": "f32"}, {"a": rows()}),
    "three matrices in an operation": Case(CUBES, {"o": "f32", "a": "f32"}, cubes()),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("case", LARGE.values(), ids=LARGE)
@pytest.mark.slow
def test_programs_that_need_many_registers(csl: Csl, case: Case, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(csl, case, arch, monkeypatch)


IN_A_LOOP = """
wse.program @p target "ARCH" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @u : memref<8xf32> = dense<0.0>
    wse.export @u
    wse.export @main
    wse.func @main(%n: i16) {
      %u = wse.get_buffer @u : memref<8xf32>
      %a = dsd.mem1d %u extent 4 : memref<8xf32>
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      %x = arith.constant 1.0 : f32
      scf.for %i = %zero to %n step %one : i16 {
        dsd.fadds %a, %a, %x : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
        wse.call @outer() : () -> ()
        dsd.fadds %a, %a, %x : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      }
      wse.return
    }
    wse.func @outer() {
      wse.call @inner() : () -> ()
      wse.return
    }
    wse.func @inner() {
      %u = wse.get_buffer @u : memref<8xf32>
      %b = dsd.mem1d %u at 4 extent 4 : memref<8xf32>
      %x = arith.constant 3.0 : f32
      dsd.fadds %b, %b, %x : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      wse.return
    }
  }
}
"""


@pytest.mark.parametrize("arch", ARCHES)
def test_loads_before_a_loop_with_calls(arch: str) -> None:
    """What a loop takes, and the functions that it calls do not load, is loaded before the loop, in other registers."""
    module = parse_ir(context(), IN_A_LOOP.replace("ARCH", arch), "loop.mlir")
    loads: dict[bool, list[object]] = {True: [], False: []}

    def look(name: str) -> None:
        for func in (op for op in module.walk() if isinstance(op, wse.FuncOp) and name == "lower-to-flow"):
            found = [op for op in func.walk() if isinstance(op, dsr.LoadOp)]
            assert not any(isinstance(load.parent_op(), scf.ForOp) for load in found)
            loads[func.sym_name.data == "main"] += [load.result.type for load in found]

    program = loomir.compile(module, progress=look)
    assert len(loads[True]) == len(loads[False]) == 2
    assert not set(loads[True]) & set(loads[False])
    simulator = loomir.Simulator(program)
    simulator.launch("main", 5)
    assert simulator.get("u")[0, 0].tolist() == [10] * 4 + [15] * 4


SENDS_IN_A_LOOP = """
var a = @zeros([4, 4]i16);
var out = @zeros([16]i16);
var t: i16 = 1;
const c = @get_color(3);
const iq = @get_input_queue(2);
const oq = @get_output_queue(2);
comptime {
  @initialize_queue(iq, .{ .color = c });
  if (@is_arch("wse3")) @initialize_queue(oq, .{ .color = c });
}
const row = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[0, i] });
const all = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j|{4, 4} -> a[j, i] });
const wire = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = oq });
const from = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c, .input_queue = iq });
fn inner() void { LONG @add16(all, all, 1); }
fn main() void {
  for (@range(u16, 4)) |k| {
    inner();
    if (k == 2) @mov16(wire, row, .{ .async = true }) else @mov16(wire, row);
    @mov16(@get_dsd(mem1d_dsd, .{ .base_address = &out, .offset = @as(i16, 4 * k), .extent = 4 }), from);
  }
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_loads_before_a_loop_of_a_program_in_csl(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """DSR-004: all but the row that changes is loaded once, what the asynchronous operation takes included."""
    text = SENDS_IN_A_LOOP.replace("LONG", LONG)
    layout = ONE_TILE.replace("(1, 1);", f'(1, 1); {LOOP_BACK} @export_name("main", fn() void);')
    module = csl.layout(layout, text + "comptime { @export_symbol(main); }", arch).module
    inside: list[object] = []
    before: list[object] = []

    def look(name: str) -> None:
        loads = [op for op in module.walk() if isinstance(op, dsr.LoadOp) and name == "lower-to-flow"]
        inside.extend(op.descriptor.owner for op in loads if not isinstance(op.parent_op(), wse.FuncOp))
        before.extend(op.result.type for op in loads if isinstance(op.parent_op(), wse.FuncOp))

    loomir.compile(module, progress=look)
    (made,) = inside
    assert isinstance(made, dsd.Mem1dOp) and dsd.constant_value(made.offset) is None
    assert len(before) == len(set(before)) == 7
    case = Case(text, {"out": "i16"}, {"out": np.repeat(np.arange(1, 5), 4)})
    check(csl, case, arch, monkeypatch)


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("call", ["", "fill();"], ids=["loaded before", "loaded by a function"])
def test_the_price_of_an_operation_on_registers(
    csl: Csl, arch: str, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`register_setup` where all descriptors are in registers of the program, whoever has loaded those, and a load each
    time: what it costs does not depend on what is known at compile time."""
    loads = "@load_to_dsr(d, da); @load_to_dsr(s, da);"
    text = f"""
    var a = [4]i16{{ 1, 2, 3, 4 }};
    var t: i16 = 1;
    const d = @get_dsr(dsr_dest, 4);
    const s = @get_dsr(dsr_src0, 2);
    const da = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> a[i] }});
    fn fill() void {{ {loads} {LONG} }}
    fn main() void {{
      {call or loads}
      for (@range(u16, 3)) |k| {{ @add16(d, s, 1); }}
      @mov16(da, s);
    }}
    """
    program = csl.program(text, {"a": "i16"}, arch=arch)
    for executor in ("reference", "core"):
        monkeypatch.setenv("LOOM_EXECUTOR", executor)
        simulator = loomir.Simulator(program, counts=True)
        simulator.launch("main")
        costs = simulator.stats()["costs"]
        assert [costs[name] for name in ("register_load", "register_setup", "memory_setup")] == [2, 3, 1], executor
        assert simulator.get("a")[0, 0].tolist() == [4, 5, 6, 7]
