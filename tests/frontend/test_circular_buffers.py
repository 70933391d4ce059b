"""Circular buffers: where their walks go, and what their fields may be."""

from __future__ import annotations

from collections import Counter

import pytest

from .harness import Csl

LOOP_BACK = "@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });"

DECLARATIONS = """
var buffer = @zeros([10]f16);
var out = @zeros([20]f16);
var count: u16 = 5;
var pointer: *f16 = &buffer[2];
const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{20} -> out[i] });
const source = @get_dsr(dsr_src0, 0);
const extended = @get_xdsr(0);
"""

WALKS = {
    # Fields, and the elements of the buffer that the walk comes to.
    "over the whole buffer, twice": (".base_address = &buffer, .extent = 20, .wraparound = 10", [*range(10)] * 2),
    "over its first half": (".base_address = &buffer, .extent = 20, .wraparound = 5", [*range(5)] * 4),
    "from an element on": (".base_address = &buffer[2], .extent = 20, .wraparound = 5", [*range(2, 7)] * 4),
    # DSD-084, DSD-087
    "as long as the buffer, of itself": (".base_address = &buffer, .extent = 20", [*range(10)] * 2),
    "to the middle of a round": (".base_address = &buffer, .extent = 13, .wraparound = 5", [k % 5 for k in range(13)]),
    "over one place": (".base_address = &buffer[3], .extent = 4, .wraparound = 1", [3] * 4),
    "with a ring beyond any buffer": (".base_address = &buffer[8], .extent = 2, .wraparound = 65535", [8, 9]),
    "shorter than the buffer": (".base_address = &buffer, .extent = 4, .wraparound = 10", [*range(4)]),
}


@pytest.mark.parametrize("load", ["fn main() void { LOAD; MOVE; }", "comptime { LOAD; } fn main() void { MOVE; }"])
@pytest.mark.parametrize(("fields", "elements"), WALKS.values(), ids=WALKS)
def test_walks(csl: Csl, fields: str, elements: list[int], load: str) -> None:
    """DSD-076, DSD-077, DSD-081, DSD-082, DSD-083, DSD-088, DSD-090, DSD-092.

    Loaded while the program runs, or before.
    """
    made = f"const ring = @get_dsd(circbuf_dsd, .{{ {fields} }});\n"
    move = "@load_to_dsr_xdsr(source, extended, ring)", "@fmovh(all, source)"
    text = DECLARATIONS + made + load.replace("LOAD", move[0]).replace("MOVE", move[1])
    text = text.replace("@zeros([10]f16)", f"[10]f16{{ {', '.join(f'{n}.0' for n in range(10))} }}")
    assert csl.run(text, {"out": "f16"})["out"].tolist()[: len(elements)] == elements


def test_elements_of_the_operations_type(csl: Csl) -> None:
    """DSD-081: the walk begins at the element that '.base_address' names, whatever the type of the elements."""
    text = """
    var buffer = [6]i16{ 0, 1, 2, 3, 4, 5 };
    var out = @zeros([7]i16);
    const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{7} -> out[i] });
    const ring = @get_dsd(circbuf_dsd, .{ .base_address = &buffer[2], .extent = 7, .wraparound = 3 });
    const source = @get_dsr(dsr_src1, 0);
    fn main() void { @load_to_dsr_xdsr(source, @get_xdsr(0), ring); @mov16(all, source); }
    """
    assert csl.run(text, {"out": "i16"})["out"].tolist() == [2, 3, 4, 2, 3, 4, 2]


def test_each_element_is_written_as_often_as_the_walk_comes_by(csl: Csl) -> None:
    """Access k is of element k mod wraparound."""
    text = """
    var buffer = @zeros([10]i16);
    const ring = @get_dsd(circbuf_dsd, .{ .base_address = &buffer, .extent = 20, .wraparound = 4 });
    const dest = @get_dsr(dsr_dest, 0);
    const source = @get_dsr(dsr_src0, 0);
    fn main() void {
      @load_to_dsr_xdsr(dest, @get_xdsr(0), ring);
      @load_to_dsr_xdsr(source, @get_xdsr(1), ring);
      @add16(dest, source, 1);
    }
    """
    visits = Counter(k % 4 for k in range(20))
    assert csl.run(text, {"buffer": "i16"})["buffer"].tolist() == [visits[n] for n in range(10)]


RINGS = """
var buffer = [10]i16 { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
var out = @zeros([30]i16);
var length: u16 = 8;
const first = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{30} -> out[i] });
var ring = @get_dsd(circbuf_dsd, .{ .base_address = &buffer, .extent = 7, .wraparound = 5 });
const source = @get_dsr(dsr_src0, 0);
const extended = @get_xdsr(0);
"""


def test_operations_go_on_where_the_last_stopped(csl: Csl) -> None:
    """DSR-051, DSR-065, DSR-066: also in the middle of a round."""
    moves = "".join(f"@mov16(@increment_dsd_offset(first, {10 * k}, i16), source);" for k in range(3))
    text = f"""{RINGS}
    fn main() void {{
      @load_to_dsr_xdsr(source, extended, ring, .{{ .save_address = true }});
      {moves}
    }}"""
    out = csl.run(text, {"out": "i16"})["out"]
    assert [out[10 * k : 10 * k + 7].tolist() for k in range(3)] == [
        [place % 5 for place in range(start, start + 7)] for start in (0, 7, 14)
    ]


def test_lengths_of_the_run(csl: Csl) -> None:
    text = f"""{RINGS}
    fn main() void {{
      ring = @set_dsd_length(ring, length);
      @load_to_dsr_xdsr(source, extended, ring);
      @mov16(first, source);
    }}"""
    assert csl.run(text, {"out": "i16"})["out"][:9].tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 0]


def test_what_comes_in_goes_round(csl: Csl) -> None:
    """Elements that come piece by piece, each in its place."""
    text = """
    const c = @get_color(3);
    const in_queue = @get_input_queue(1);
    const out_queue = @get_output_queue(2);
    var buffer = @zeros([5]i16);
    var sent = [13]i16 { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 };
    const ring = @get_dsd(circbuf_dsd, .{ .base_address = &buffer, .extent = 13 });
    const received = @get_dsd(fabin_dsd, .{ .input_queue = in_queue, .extent = 13, .fabric_color = c });
    const out = @get_dsd(fabout_dsd, .{ .output_queue = out_queue, .extent = 13, .fabric_color = c });
    const dest = @get_dsr(dsr_dest, 1);
    fn main() void {
      @load_to_dsr_xdsr(dest, @get_xdsr(0), ring);
      @mov16(dest, received, .{ .async = true });
      @mov16(out, @get_dsd(mem1d_dsd, .{ .base_address = &sent, .extent = 6 }));
      @mov16(out, @get_dsd(mem1d_dsd, .{ .base_address = &sent, .extent = 7, .offset = 6 }));
    }
    comptime {
      @initialize_queue(in_queue, .{ .color = c });
      if (@is_arch("wse3")) @initialize_queue(out_queue, .{ .color = c });
    }
    """
    for arch in ("wse2", "wse3"):
        result = csl.run(text, {"buffer": "i16"}, arch=arch, layout=LOOP_BACK)
        assert result["buffer"].tolist() == [11, 12, 13, 9, 10]


REFUSED = {
    # DSD-078
    "a pointer of the run": (".base_address = pointer, .extent = 20, .wraparound = 5", "known at compile time"),
    # DSD-077
    "a field of others": (
        ".base_address = &buffer, .extent = 20, .stride = 1",
        "has no field '.stride'; its fields are: .base_address, .extent, .wraparound",
    ),
    # DSD-079
    "a negative extent": (".base_address = &buffer, .extent = -1", "an extent of -1 is"),
    "an extent of the run": (
        ".base_address = &buffer, .extent = count",
        "at compile time; set others with @set_dsd_length",
    ),
    # DSD-080
    "a wraparound of the run": (".base_address = &buffer, .extent = 20, .wraparound = count", "at compile time"),
    "half a wraparound": (".base_address = &buffer, .extent = 20, .wraparound = 1.5", "is an integer"),
    # DSD-085, DSD-089
    "past the buffer": (".base_address = &buffer, .extent = 20, .wraparound = 15", "the buffer has 10 elements"),
    # DSD-086, DSD-090
    "an element alone": (".base_address = &buffer[2], .extent = 20", "needs '.wraparound'"),
}


@pytest.mark.parametrize(("fields", "message"), REFUSED.values(), ids=REFUSED)
def test_refuses(csl: Csl, fields: str, message: str) -> None:
    run = f"task t() void {{ _ = @get_dsd(circbuf_dsd, «.{{ {fields} }}»); }}\n"
    csl.refuses(DECLARATIONS + run + "comptime { @bind_local_task(t, @get_local_task_id(9)); }", message)
