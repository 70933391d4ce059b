"""Circular buffers: where their walks go, and what their fields may be."""

from __future__ import annotations

from collections import Counter

import pytest

from .harness import Csl

DECLARATIONS = """
var buffer = @zeros([10]f16);
var out = @zeros([20]f16);
var count: u16 = 5;
const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{20} -> out[i] });
const source = @get_dsr(dsr_src0, 0);
const extended = @get_xdsr(0);
"""

WALKS = {
    # Fields, and the elements of the buffer that the walk comes to.
    "over the whole buffer, twice": (".base_address = &buffer, .extent = 20, .wraparound = 10", [*range(10)] * 2),
    "over its first half": (".base_address = &buffer, .extent = 20, .wraparound = 5", [*range(5)] * 4),
    "from an element on": (".base_address = &buffer[2], .extent = 20, .wraparound = 5", [*range(2, 7)] * 4),
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


REFUSED = {
    # DSD-077
    "a field of others": (".base_address = &buffer, .extent = 20, .stride = 1", "has no field '.stride'"),
    # DSD-079
    "a negative extent": (".base_address = &buffer, .extent = -1", "an extent of -1"),
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
