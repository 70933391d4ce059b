"""How many elements of a FIFO, and places in it, an operation needs to go on: by size of elements and SIMD width."""

from __future__ import annotations

import random
from typing import Any

import pytest

import loomir

from .harness import Csl

MODES = {"none": 0, "simd_off": 0, "simd_32": 32, "simd_32_or_64": 32, "simd_64": 64}
"""SIMD modes of FIFOs with the bits that an operation moves at once."""


class Model:
    """A FIFO whose operations move `step` elements at once, or all that are left of them."""

    def __init__(self, capacity: int, step: int) -> None:
        self.capacity, self.step = capacity, step
        self.held: list[int] = []
        self.waiting: dict[str, int | None] = {"push": None, "pop": None}
        self.started = {"push": 0, "pop": 0}

    def there(self, side: str) -> int:
        return len(self.held) if side == "pop" else self.capacity - len(self.held)

    def run(self, side: str, values: list[int], count: int) -> tuple[bool, list[int]]:
        """Push values, or pop `count`; return True if all was done, and what was popped."""
        popped: list[int] = []
        done, other = 0, "push" if side == "pop" else "pop"
        while done < count:
            need = min(self.step, count - done)
            if self.there(side) < need:
                self.waiting[side] = need
                break
            if side == "pop":
                popped += self.held[:need]
                del self.held[:need]
            else:
                self.held += values[done : done + need]
            done += need
            wanted = self.waiting[other]
            if wanted is not None and self.there(other) >= wanted:
                self.waiting[other] = None
                self.started[other] += 1
        return done == count, popped


def program(csl: Csl, element: str, capacity: int, mode: str) -> loomir.Program:
    """Return a program that pushes and pops a number of elements at each launch."""
    move = "mov16" if element == "i16" else "mov32"
    simd = "" if mode == "none" else f", .simd_mode = .{{ .{mode} = true }}"
    text = f"""
    var room = @zeros([{capacity}]{element});
    const fifo = @allocate_fifo(room, .{{ .activate_push = pushed, .activate_pop = popped {simd} }});
    var given = @zeros([16]{element});
    var out = @zeros([16]{element});
    var facts = @zeros([3]i16);
    const from = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{16}} -> given[i] }});
    const to = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{16}} -> out[i] }});
    task pushed() void {{ facts[1] += 1; }}
    task popped() void {{ facts[2] += 1; }}
    comptime {{
      @bind_local_task(pushed, @get_local_task_id(10));
      @bind_local_task(popped, @get_local_task_id(11));
    }}
    fn push(count: u16) void {{
      @set_fifo_write_length(fifo, count);
      facts[0] = @as(i16, @{move}(fifo, from));
    }}
    fn pop(count: u16) void {{
      @{move}(to, -1);
      @set_fifo_read_length(fifo, count);
      facts[0] = @as(i16, @{move}(to, fifo));
    }}
    """
    functions = {"push": "fn(u16) void", "pop": "fn(u16) void"}
    return csl.program(text, {"given": element, "out": element, "facts": "i16"}, functions)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("element", ["i16", "i32"])
@pytest.mark.parametrize("mode", MODES)
def test_against_a_model(csl: Csl, mode: str, element: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """DSD-145, DSD-146, DSD-148: of 16 bits four elements are 64 bits, of 32 bits two.

    DSD-150, DSD-151: the lengths of either side say how many are moved.
    """
    capacity = 7
    chance = random.Random(f"{mode} {element}")
    compiled = program(csl, element, capacity, mode)
    step = max(1, MODES[mode] // (16 if element == "i16" else 32))
    actions = [(chance.choice(["push", "pop"]), chance.randint(1, 10)) for _ in range(40)]
    for executor in ("reference", "core"):
        monkeypatch.setenv("LOOM_EXECUTOR", executor)
        model, simulator = Model(capacity, step), loomir.Simulator(compiled)
        number = 0
        for side, count in actions:
            values = [number + k for k in range(16)]
            simulator.set("given", [[values]])
            done, popped = model.run(side, values, count)
            number += 16
            simulator.launch(side, count)
            facts: list[Any] = simulator.get("facts")[0, 0].tolist()
            assert facts == [done, model.started["pop"], model.started["push"]], (executor, side, count)
            if side == "pop":
                assert simulator.get("out")[0, 0].tolist()[:count] == popped + [-1] * (count - len(popped))


RECEIVES = """
const c = @get_color(3);
const in_queue = @get_input_queue(1);
const out_queue = @get_output_queue(2);
comptime {
  @initialize_queue(in_queue, .{ .color = c });
  if (@is_arch("wse3")) @initialize_queue(out_queue, .{ .color = c });
  @bind_local_task(popped, @get_local_task_id(10));
}
var room = @zeros([5]i16);
const fifo = @allocate_fifo(room, .{ .activate_pop = popped });
var given = [12]i16{ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
var facts = @zeros([2]i16);
const from = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{12} -> given[i] });
const sent = @get_dsd(fabout_dsd, .{
  .extent = 12, .fabric_color = c, .output_queue = out_queue, .simd_mode = .{ .simd_32 = true }
});
const received = @get_dsd(fabin_dsd, .{
  .extent = 12, .fabric_color = c, .input_queue = in_queue, .simd_mode = .{ .simd_32 = true }
});
task popped() void { facts[1] += 1; }
fn main() void {
  @mov16(fifo, received, .{ .async = true });
  @mov16(sent, from, .{ .async = true });
}
fn pop() void {
  @mov16(&facts[0], fifo);
}
"""


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_wavelets_of_two_values(csl: Csl, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """DSD-145, DSD-146: both values of a wavelet are pushed at once, where there is room for them.

    Of five places four are full; when one more is free the next wavelet goes in, and then after two pops each.
    """
    route = "@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });"
    functions = {"main": "fn() void", "pop": "fn() void"}
    compiled = csl.program(RECEIVES, {"facts": "i16", "room": "i16"}, functions, arch, layout=route)
    for executor in ("reference", "core"):
        monkeypatch.setenv("LOOM_EXECUTOR", executor)
        simulator = loomir.Simulator(compiled)
        simulator.launch("main")
        assert simulator.get("room")[0, 0].tolist() == [1, 2, 3, 4, 0], executor
        seen: list[list[int]] = []
        for _ in range(12):
            simulator.launch("pop")
            seen.append(simulator.get("facts")[0, 0].tolist())
        assert [value for value, _ in seen] == [*range(1, 13)], executor
        assert [count for _, count in seen] == [1, 1, 2, 2, 3, 3, 4, 4, 4, 4, 4, 4], executor
