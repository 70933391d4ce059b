"""What PE programs of several classes export under one name."""

from __future__ import annotations

import numpy as np
import pytest

import loomir

from ..runtime.machines import load
from .harness import Csl

LAYOUT = """
layout {
  @set_rectangle(3, 1);
  for (@range(u16, 3)) |x| {
    @set_tile_code(x, 0, "pe.csl", .{ .n = 4 * (x + 1) });
  }
  @export_name("a", [*]f32, MUTABLE);
  @export_name("double", fn() void);
}
"""

PE = """
param n: u16;
var a = @zeros([n]f32);
KIND pointer: [*]f32 = &a;
const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{n} -> a[i] });
fn double() void {
  @fadds(all, all, all);
}
comptime {
  @export_symbol(pointer, "a");
  @export_symbol(double);
}
"""


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_arrays_of_different_lengths_are_one_symbol(csl: Csl, arch: str) -> None:
    compiled = csl.layout(LAYOUT.replace("MUTABLE", "true"), PE.replace("KIND", "var"), arch)
    machine = load(loomir.compile(compiled.module).module)
    words = np.arange(12, dtype=np.float32).reshape(1, 3, 4)
    machine.write_region("a", 0, 0, 3, 1, 4, words)
    machine.launch("double")
    machine.run()
    np.testing.assert_array_equal(machine.read_region("a", 0, 0, 3, 1, 4).view(np.float32), 2 * words)
    last = machine.read_region("a", 2, 0, 1, 1, 12).view(np.float32)[0, 0]
    np.testing.assert_array_equal(last, [16, 18, 20, 22, 0, 0, 0, 0, 0, 0, 0, 0])


def test_constant_pointers_of_different_lengths(csl: Csl) -> None:
    compiled = csl.layout(LAYOUT.replace("MUTABLE", "false"), PE.replace("KIND", "const"))
    program = loomir.compile(compiled.module)
    assert program.symbols["a"].shape == (-1,)
    assert program.symbols["a"].read_only
