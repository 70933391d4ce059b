"""@map of registers that are loaded with `single_step`."""

from __future__ import annotations

import numpy as np
import pytest

from loomir.diagnostics.errors import LoomError

from .harness import Csl

ARCHES = ("wse2", "wse3")

DECLARATIONS = """
var numbers = [6]i32{ 1, 2, 3, 4, 5, 6 };
var out = @zeros([12]i32);
const odd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> numbers[2 * i] });
const pairs = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j|{3, 2} -> numbers[2 * i + 1 - j] });
const ring = @get_dsd(circbuf_dsd, .{ .base_address = &numbers, .extent = 6, .wraparound = 4 });
const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{6} -> out[i] });
const first = @get_dsr(dsr_src0, 2);
const second = @get_dsr(dsr_src1, 2);
const target = @get_dsr(dsr_dest, 2);
fn join(x: i32, y: i32) i32 { return x * 100 + y; }
fn same(x: i32) i32 { return x; }
"""


@pytest.mark.parametrize("arch", ARCHES)
def test_the_example_of_the_manual(csl: Csl, arch: str) -> None:
    """DSR-068: square roots of a diagonal, sent."""
    text = """
    const math = @import_module("<math>");
    const c = @get_color(3);
    const in_queue = @get_input_queue(1);
    const out_queue = @get_output_queue(2);
    comptime {
      @initialize_queue(in_queue, .{ .color = c });
      if (@is_arch("wse3")) @initialize_queue(out_queue, .{ .color = c });
    }
    var A = @zeros([5, 5]f16);
    var out = @zeros([5]f16);
    const diagonal = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{5} -> A[i, i] });
    const wire = @get_dsd(fabout_dsd, .{ .extent = 5, .fabric_color = c, .output_queue = out_queue });
    const back = @get_dsd(fabin_dsd, .{ .extent = 5, .fabric_color = c, .input_queue = in_queue });
    const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{5} -> out[i] });
    const source = @get_dsr(dsr_src1, 2);
    const target = @get_dsr(dsr_dest, 2);
    fn main() void {
      for (@range(i16, 5)) |i| { A[i, i] = @as(f16, i * i); }
      @fmovh(to, back, .{ .async = true });
      @load_to_dsr(source, diagonal, .{ .single_step = true });
      @load_to_dsr(target, wire, .{ .single_step = true });
      @map(math.sqrt_f16, source, target);
    }
    """
    loop = "@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });"
    assert csl.run(text, {"out": "f16"}, arch=arch, layout=loop)["out"].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("arch", ARCHES)
def test_loads_before_the_start_and_in_other_functions(csl: Csl, arch: str) -> None:
    """DSR-051, DSR-056, DSR-068: each @map goes over what the last load put there, from the start on."""
    text = f"""{DECLARATIONS}
    comptime {{
      @load_to_dsr(first, odd, .{{ .single_step = true }});
      @load_to_dsr_xdsr_sr(second, @get_xdsr(0), .{{ @get_sr(0) }}, pairs, .{{ .single_step = true }});
      @load_to_dsr_xdsr(@get_dsr(dsr_src0, 5), @get_xdsr(1), ring, .{{ .single_step = true }});
    }}
    fn use() void {{ @map(join, first, second, target); }}
    fn main() void {{
      load();
      use();
      load_again();
      use();
      use();
      @map(same, @get_dsr(dsr_src0, 5), &out[11]);
    }}
    fn load() void {{ @load_to_dsr(target, to, .{{ .single_step = true }}); }}
    fn load_again() void {{
      const end = @set_dsd_length(@increment_dsd_offset(to, 6, i32), 2);
      @load_to_dsr(target, end, .{{ .single_step = true }});
      @load_to_dsr(first, @set_dsd_stride(odd, 1), .{{ .single_step = true }});
    }}
    """
    numbers = np.arange(1, 7)
    twisted = numbers.reshape(3, 2)[:, ::-1].ravel()
    expected = np.zeros(12, int)
    expected[:3] = numbers[::2] * 100 + twisted[:3]
    expected[6:8] = numbers[:2] * 100 + twisted[:2]
    expected[11] = numbers[(6 - 1) % 4]
    assert csl.run(text, {"out": "i32"}, arch=arch)["out"].tolist() == expected.tolist()


REFUSED = [
    # DSR-068
    ("@load_to_dsr(first, odd); @map(same, «first», to);", "'dsr_src0' 2 to be loaded with '.single_step = true'"),
    ("@map(same, odd, «target»);", "'dsr_dest' 2 to be loaded with '.single_step = true', which no load of it is"),
    ("@map(same, «@get_dsr(dsr_dest, 1)», to);", "load the source into a dsr_src0 or dsr_src1 (DSR-008)"),
    ("@map(same, odd, «second»);", "load the destination into a dsr_dest or dsr_src0 (DSR-010)"),
    ("@map(same, «@get_dsr(dsr_fifo_src1, second)», to);", "holds a FIFO, which @map does not take (DSD-123)"),
    ("@map(same, «@get_xdsr(1)», to);", "@map takes DSDs and DSRs, not a value of type 'xdsr'"),
    (
        "@load_to_dsr(first, odd, .{ .single_step = true });\n"
        "«@load_to_dsr_xdsr(first, @get_xdsr(0), ring, .{ .single_step = true })»;\n@map(same, first, to);",
        "with a 'mem1d_dsd' elsewhere, and here with a 'circbuf_dsd'; take another register",
    ),
]


@pytest.mark.parametrize(("statements", "message"), REFUSED)
def test_refuses(csl: Csl, statements: str, message: str) -> None:
    run = "task run() void { " + statements + " }\ncomptime { @bind_local_task(run, @get_local_task_id(9)); }"
    csl.refuses(DECLARATIONS + run, message)


@pytest.mark.parametrize("arch", ARCHES)
def test_operations_take_no_register_of_map(csl: Csl, arch: str) -> None:
    """DSR-069: loaded here, or in another function; a register that is loaded without as well is left alone."""
    load = "fn load() void { @load_to_dsr(first, odd, .{ .single_step = true }); }"
    apart = f"{DECLARATIONS}{load} fn main() void {{ load(); @mov32(to, first); }}"
    with pytest.raises(LoomError, match=r"mov32 in function @main .* loaded with single_step alone.*\(DSR-069\)"):
        csl.run(apart, {"out": "i32"}, arch=arch)
    here = f"{DECLARATIONS} fn main() void {{ {load[load.index('@') : -1]} @mov32(to, first); }}"
    with pytest.raises(LoomError, match=r"loaded with single_step alone.*\(DSR-069\)"):
        csl.run(here, {"out": "i32"}, arch=arch)
    both = f"{DECLARATIONS}{load} fn main() void {{ load(); @map(same, first, to); plain(); @mov32(to, first); }}"
    out = csl.run(f"{both} fn plain() void {{ @load_to_dsr(first, ending); }} const ending = {ENDING};", {"out": "i32"})
    assert out["out"].tolist()[:4] == [4, 5, 6, 0]


ENDING = "@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> numbers[3 + i] })"
