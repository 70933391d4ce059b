"""<tile_config>.exceptions: floating point exceptions that a program unmasks stop the PE, with the place."""

from __future__ import annotations

import numpy as np
import pytest

from loomir.diagnostics.errors import LoomError

from .harness import Csl

BEFORE = """
const tile = @import_module("<tile_config>");
const math = @import_module("<math>");
const place = @import_module("<layout>");
const stop = tile.exceptions;
var x = [5]f32{ 1.5, 0.0, 1.0e38, 1.0e-30, 70000.0 };
var out = @zeros([5]f32);
const dx = @get_dsd(mem1d_dsd, .{ .base_address = &x, .extent = 5 });
const dout = @get_dsd(mem1d_dsd, .{ .base_address = &out, .extent = 5 });
"""
STATEMENTS = {
    "out[0] = x[0] / x[1];": "FP_DIV_BY_0",
    "out[0] = x[1] / x[1];": "FP_INVALID",
    "out[0] = x[2] * x[2];": "FP_OVERFLOW",
    "out[0] = x[3] * x[3];": "FP_UNDERFLOW",
    "out[0] = x[0] / 7.0;": "FP_INEXACT",
    "out[0] = math.log(x[1]);": "FP_DIV_BY_0",
    "out[0] = math.sqrt(-x[0]);": "FP_INVALID",
    "out[0] = @as(f32, @as(f16, x[4]));": "FP_OVERFLOW",
    "for (@range(u16, 5)) |i| { out[i] = x[i] * x[2]; }": "FP_OVERFLOW",
    "const a: f32 = 42.0; var b: f32 = 0.0; out[0] = a / b;": "FP_DIV_BY_0",
    "@fmuls(dout, dx, 1.0e38);": "FP_OVERFLOW",
    "@fmacs(dx, dx, dx, 1.0e38);": "FP_OVERFLOW",
    "@fsubs(dx, dx, math.POSITIVE_INF(f32)); @fmuls(dx, dx, 0.0);": "FP_INVALID",
}


@pytest.mark.parametrize(("statement", "name"), STATEMENTS.items())
@pytest.mark.one_in(2)
def test_an_unmasked_exception_stops_the_pe(csl: Csl, statement: str, name: str) -> None:
    for mask, stops in ((name, True), ("SW_EXCEPTION", False)):
        text = f"{BEFORE}fn main() void {{ stop.set_exception_mask(stop.{mask}); {statement} }}"
        simulator = csl.start(text, {"out": "f32"}, arch="wse3")
        if not stops:
            simulator.launch("main")
            continue
        with pytest.raises(LoomError, match=rf"stops PE \(0, 0\), which has unmasked {name}") as caught:
            simulator.launch("main")
        assert (caught.value.location or "").startswith(f"{csl.directory}/pe.csl:10:")


@pytest.mark.slow
def test_all_are_masked_at_first(csl: Csl) -> None:
    out = csl.run(f"{BEFORE}fn main() void {{ {' '.join(list(STATEMENTS)[:4])} }}", {"out": "f32"})["out"]
    assert out[0] == 0


def test_a_mask_replaces_the_one_before(csl: Csl) -> None:
    text = (
        BEFORE
        + """
    fn main() void {
      stop.set_exception_mask(stop.FP_DIV_BY_0 & stop.FP_INVALID);
      out[1] = x[2] * x[2];
      stop.set_exception_mask(stop.FP_OVERFLOW & stop.FP_UNDERFLOW);
      out[0] = x[0] / x[1];
      stop.set_exception_mask(0xffff);
      out[2] = x[3] * x[3];
    }
    """
    )
    assert csl.run(text, {"out": "f32"})["out"][:3].tolist() == [np.inf, np.inf, 0]


def test_the_pe_that_stops_is_named(csl: Csl) -> None:
    text = (
        BEFORE
        + """
    fn main() void {
      if (place.get_x_coord() > 0) { stop.set_exception_mask(stop.FP_DIV_BY_0); }
      out[0] = x[0] / @as(f32, 2 - place.get_x_coord() * place.get_y_coord());
    }
    """
    )
    simulator = csl.start(text, {"out": "f32"}, width=4, height=3)
    with pytest.raises(LoomError, match=r"stops PE \(2, 1\)"):
        simulator.launch("main")


def test_a_mask_is_set_at_run_time_only(csl: Csl) -> None:
    text = f"{BEFORE}comptime {{ «stop.set_exception_mask(stop.FP_OVERFLOW)»; }}"
    csl.refuses(text, "set_exception_mask works at run time only")
