"""Larger programs on registers, written from the manual: chosen beside allocated ones, in loops and across tasks."""

from __future__ import annotations

import numpy as np
import pytest

import loomir

from .harness import Csl
from .test_programs_on_registers import ARCHES, LINK, LONG, LOOP_BACK, TWO_LINKS, Case

A = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
X = np.array([2, -1, 3, 5], np.float32)


def product() -> np.ndarray:
    y = np.zeros(3, np.float32)
    for _ in range(2):
        for j in range(4):
            y += A[:, j] * X[j]
            y += 1
        y *= 2
    return y


def boxes() -> list[int]:
    a = np.add.outer(np.add.outer(100 * np.arange(2), 10 * np.arange(3)), np.arange(4)).ravel()
    out = np.zeros((3, 24), np.int64)
    for n in range(3):
        at = [n + step * (n + 5) + place for step in range(n + 1) for place in (0, 1, 3, 4)]
        out[n, : len(at)] = 2 * a[at] + (n == 2)
    return out.ravel().tolist()


CASES: dict[str, Case] = {
    "a product with a chosen destination": Case(
        f"""
        var m = [12]f32{{ 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0 }};
        var x = [4]f32{{ 2.0, -1.0, 3.0, 5.0 }};
        var y = @zeros([3]f32);
        var t: i16 = 1;
        const acc = @get_dsr(dsr_dest, 0);
        const same = @get_dsr(dsr_src0, 0);
        const yd = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{3}} -> y[i] }});
        const column = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{3}} -> m[4 * i] }});
        fn more() void {{ {LONG} @fadds(yd, yd, 1.0); }}
        fn main() void {{
          @load_to_dsr(acc, yd); @load_to_dsr(same, yd);
          for (@range(u16, 2)) |round| {{
            for (@range(i16, 4)) |j| {{
              @fmacs(acc, same, @increment_dsd_offset(column, j, f32), x[@as(u16, j)]);
              more();
            }}
            @fmuls(yd, same, 2.0);
          }}
        }}
        """,
        {"y": "f32"},
        {"y": product()},
    ),
    "FIFO registers across tasks": Case(
        """
        var places = @zeros([6]i16);
        var in = [6]i16{ 3, 1, 4, 1, 5, 9 };
        var out = @zeros([12]i16);
        var said = @zeros([4]u16);
        var n: i16 = 0;
        const d = @get_dsr(dsr_dest, 3);
        const s = @get_dsr(dsr_src1, 3);
        const fifo = @allocate_fifo(places, .{ .dest = d, .src = s, .xdsr = @get_xdsr(2) });
        const push = @get_dsr(dsr_fifo_dest, d);
        const pop = @get_dsr(dsr_fifo_src1, s);
        const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{6} -> in[i] });
        const half = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> out[i] });
        const target = @get_dsr(dsr_dest, 4);
        comptime {
          @load_to_dsr(target, half, .{ .save_address = true });
          @bind_local_task(next, @get_local_task_id(11));
        }
        task next() void {
          if (@mov16(target, pop)) said[0] += 1;
          n += 1;
          if (n < 4) {
            if (n == 2) { if (@add16(push, all, 10)) said[1] += 1; }
            @activate(@get_local_task_id(11));
          } else {
            if (!@mov16(half, fifo)) said[2] += 1;
          }
        }
        fn main() void { if (@mov16(push, all)) said[3] += 1; @activate(@get_local_task_id(11)); }
        """,
        {"out": "i16", "said": "u16"},
        {"out": [3, 1, 4, 1, 5, 9, 13, 11, 14, 11, 15, 19], "said": [4, 1, 1, 1]},
    ),
    "boxes loaded in a loop": Case(
        """
        var a = @zeros([2, 3, 4]i16);
        var out = @zeros([3, 24]i16);
        const src = @get_dsr(dsr_src1, 1);
        const x = @get_xdsr(0);
        const s0 = @get_sr(0);
        const s1 = @get_sr(1);
        const s2 = @get_sr(2);
        const whole = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j, k|{4, 2, 3} -> a[j, k, i] });
        fn main() void {
          for (@range(i16, 2)) |i| { for (@range(i16, 3)) |j| { for (@range(i16, 4)) |k| {
            a[i, j, k] = 100 * i + 10 * j + k; } } }
          for (@range(i16, 3)) |n| {
            const box = @get_dsd(mem4d_dsd, .{ .base_address = &a, .extent = .{ @as(u16, n + 1), 2, 2 },
              .stride = .{ 1, 2, @as(i8, n + 1) }, .offset = n });
            const o = @get_dsd(mem1d_dsd, .{ .base_address = &out, .extent = @as(u16, 4 * (n + 1)), .offset = 24 * n });
            @load_to_dsr_xdsr_sr(src, x, .{ s0, s1, s2 }, box);
            @mov16(o, src);
            if (n == 2) @add16(whole, whole, 1);
            @add16(o, o, src);
          }
        }
        """,
        {"a": "i16", "out": "i16"},
        {"out": boxes(), "a": 1 + np.add.outer(np.add.outer(100 * np.arange(2), 10 * np.arange(3)), np.arange(4))},
    ),
    "rows sent by a register that its task loads anew": Case(
        LINK
        + f"""
        var a = @zeros([4, 3]i16);
        var b = @zeros([4, 3]i16);
        var sent: i16 = 0;
        var come: i16 = 0;
        var t: i16 = 1;
        const wire = @get_dsr(dsr_dest, 6);
        const row = @get_dsr(dsr_src1, 6);
        const first = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{3}} -> a[0, i] }});
        const into = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{3}} -> b[3, i] }});
        const out = @get_dsd(fabout_dsd, .{{ .extent = 3, .fabric_color = c, .output_queue = oq }});
        const in = @get_dsd(fabin_dsd, .{{ .extent = 3, .fabric_color = c, .input_queue = iq }});
        fn send() void {{
          @load_to_dsr(row, @increment_dsd_offset(first, 3 * sent, i16));
          {LONG}
          @mov16(wire, row);
        }}
        task more() void {{ sent += 1; if (sent < 4) send(); }}
        task got() void {{ come += 1; if (come < 4) take(); }}
        fn take() void {{
          @add16(@increment_dsd_offset(into, -3 * come, i16), in, come, .{{ .async = true, .activate = got }});
        }}
        fn main() void {{
          for (@range(i16, 4)) |i| {{ for (@range(i16, 3)) |j| {{ a[i, j] = 10 * i + j; }} }}
          take();
          send();
        }}
        comptime {{
          @load_to_dsr(wire, out, .{{ .async = true, .activate = more }});
          @bind_local_task(more, @get_local_task_id(10));
          @bind_local_task(got, @get_local_task_id(11));
        }}
        """,
        {"b": "i16"},
        {"b": (np.add.outer(10 * np.arange(4), np.arange(3)) + np.arange(4)[:, None])[::-1]},
    ),
    "two streams and work beside them": Case(
        TWO_LINKS
        + """
        var a = [4]i16{ 1, 2, 3, 4 };
        var b = [4]i16{ 5, 6, 7, 8 };
        var p = @zeros([4]i16);
        var q = @zeros([4]i16);
        var w = [4]i16{ 1, 1, 1, 1 };
        var ends: i16 = 0;
        const da = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[i] });
        const db = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> b[i] });
        const dp = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> p[i] });
        const dq = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> q[i] });
        const dw = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> w[i] });
        const work = @get_dsr(dsr_src0, 7);
        const in1 = @get_dsr(dsr_src1, 7);
        const to1 = @get_dsr(dsr_dest, 7);
        const wire = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = oq });
        const wire2 = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c2, .output_queue = oq2 });
        const from = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c, .input_queue = iq });
        const from2 = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c2, .input_queue = iq2 });
        fn end() void {
          ends += 1;
          if (ends == 2) {
            for (@range(u16, 3)) |k| { @add16(work, work, dp); @sub16(dw, work, dq); }
          }
        }
        task first() void { end(); }
        task second() void { end(); }
        comptime {
          @bind_local_task(first, @get_local_task_id(10));
          @bind_local_task(second, @get_local_task_id(11));
          @load_to_dsr(in1, from, .{ .async = true, .activate = first });
          @load_to_dsr(to1, dp);
          @load_to_dsr(work, dw);
        }
        fn main() void {
          @mov16(to1, in1);
          @mov16(dq, from2, .{ .async = true, .activate = second });
          @mov16(wire, da, .{ .async = true });
          @mov16(wire2, db, .{ .async = true });
          for (@range(u16, 5)) |k| { @add16(work, work, 1); @add16(dw, dw, dw); }
        }
        """,
        {"w": "i16", "p": "i16"},
        {"w": [94 + 3 * (k + 1) - 3 * (k + 5) for k in range(4)], "p": [1, 2, 3, 4]},
    ),
    "a register that one of two arms loads": Case(
        f"""
        var a = [4]i16{{ 1, 2, 3, 4 }};
        var b = [4]i16{{ 10, 20, 30, 40 }};
        var out = @zeros([4]i16);
        var t: i16 = 1;
        var n: u16 = 0;
        const s = @get_dsr(dsr_src1, 0);
        const da = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> a[i] }});
        const db = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> b[3 - i] }});
        const o = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> out[i] }});
        fn choose() void {{ {LONG} if (n & 1 == 0) @load_to_dsr(s, da) else @load_to_dsr(s, db); n += 1; }}
        fn main() void {{
          @load_to_dsr(s, db);
          for (@range(u16, 5)) |k| {{
            @add16(o, o, s);
            choose();
            while (n < 4 and k == 1) {{ @sub16(o, o, da); choose(); @add16(o, o, s); }}
          }}
        }}
        """,
        {"out": "i16"},
        {"out": []},
    ),
    "more descriptors than registers around a call": Case(
        f"""
        var m = @zeros([20, 3]i16);
        var t: i16 = 1;
        const keep = @get_dsr(dsr_dest, 15);
        const kept = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{3}} -> m[19, i] }});
        fn row(comptime k: i16) mem1d_dsd {{
          return @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{3}} -> m[k, i] }});
        }}
        fn other() void {{ {LONG} inline for (@range(i16, 6)) |k| {{ @add16(row(k), row(k), row(k + 1)); }} }}
        fn main() void {{
          for (@range(i16, 20)) |i| {{ for (@range(i16, 3)) |j| {{ m[i, j] = i + j; }} }}
          @load_to_dsr(keep, kept);
          for (@range(u16, 3)) |round| {{
            inline for (@range(i16, 18)) |k| {{ @add16(row(k), row(k), row(18 - k)); }}
            other();
            @add16(keep, row(0), row(1));
          }}
        }}
        """,
        {"m": "i16"},
        {"m": []},
    ),
    "a FIFO between two streams": Case(
        LINK
        + """
        var places = @zeros([3]i16);
        var a = [8]i16{ 1, 2, 3, 4, 5, 6, 7, 8 };
        var out = @zeros([8]i16);
        var done: i16 = 0;
        const d = @get_dsr(dsr_dest, 1);
        const s = @get_dsr(dsr_src1, 1);
        const fifo = @allocate_fifo(places, .{ .dest = d, .src = s, .xdsr = @get_xdsr(1) });
        const da = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> a[i] });
        const o = @get_dsr(dsr_dest, 2);
        const wire = @get_dsd(fabout_dsd, .{ .extent = 8, .fabric_color = c, .output_queue = oq });
        const from = @get_dsd(fabin_dsd, .{ .extent = 8, .fabric_color = c, .input_queue = iq });
        const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> out[i] });
        task pop() void {
          @mov16(o, fifo);
          done += 1;
          if (done < 4) @activate(@get_local_task_id(11));
        }
        comptime {
          @load_to_dsr(o, to, .{ .save_address = true });
          @bind_local_task(pop, @get_local_task_id(11));
        }
        fn main() void {
          @add16(fifo, from, 100, .{ .async = true });
          @mov16(wire, da, .{ .async = true, .activate = pop });
        }
        """,
        {"out": "i16"},
        {"out": range(101, 109)},
    ),
}


def arms() -> list[int]:
    a, b, out, n = np.array([1, 2, 3, 4]), np.array([40, 30, 20, 10]), np.zeros(4, int), 0
    s = b

    def choose() -> None:
        nonlocal s, n
        s = a if n % 2 == 0 else b
        n += 1

    for k in range(5):
        out = out + s
        choose()
        while n < 4 and k == 1:
            out = out - a
            choose()
            out = out + s
    return out.tolist()


def sums() -> np.ndarray:
    m = np.add.outer(np.arange(20), np.arange(3))
    for _ in range(3):
        for k in range(18):
            m[k] += m[18 - k]
        for k in range(6):
            m[k] += m[k + 1]
        m[19] = m[0] + m[1]
    return m.astype(np.int16)


CASES["a register that one of two arms loads"].expected = {"out": arms()}
CASES["more descriptors than registers around a call"].expected = {"m": sums()}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.slow
def test_programs(
    csl: Csl, case: Case, arch: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """DSR-001 to DSR-006: numpy's results on both executors, and no warning of races or places."""
    program = csl.program(case.text, case.types, arch=arch, layout=LOOP_BACK)
    for executor in ("reference", "core"):
        monkeypatch.setenv("LOOM_EXECUTOR", executor)
        simulator = loomir.Simulator(program, step_limit=100_000, check=True)
        simulator.launch("main")
        for name, expected in case.expected.items():
            found = simulator.get(name)[0, 0]
            assert found.ravel().tolist() == np.ravel(np.array([*expected])).tolist(), (executor, name)
        assert not capsys.readouterr().err
