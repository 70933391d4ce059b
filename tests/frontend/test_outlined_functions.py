"""Functions that are emitted once and called, where inlining them would only repeat code."""

from __future__ import annotations

import numpy as np
import pytest

from loomir.dialects import wse
from loomir.frontend.compilation import CompiledLayout

from .harness import Csl

LONG, SHORT = 45, 3
"""Statements of a function that is long, or short."""


def text(statements: int, parameter: str = "", argument: str = "") -> str:
    """`main` calls `step` three times, twice through another function."""
    lines = "\n".join(f"  out[{k % 4}] = out[{k % 4}] * {k + 3} + count;" for k in range(statements))
    return f"""
var out = [4]i16 {{ 1, 2, 3, 4 }};
var count: i16 = 5;
fn add() void {{ count += 1; }}
fn step({parameter}) void {{
{lines}
  add();
  if (count == 7) {{ return; }}
  out[0] += 100;
}}
fn twice() void {{ step({argument}); step({argument}); }}
fn main() void {{ twice(); step({argument}); }}
"""


def expected(statements: int) -> list[int]:
    """Return what `out` holds after one launch."""
    out, count = np.array([1, 2, 3, 4], np.int16), np.int16(5)
    with np.errstate(over="ignore"):
        for _ in range(3):
            for k in range(statements):
                out[k % 4] = out[k % 4] * np.int16(k + 3) + count
            count += np.int16(1)
            if count != 7:
                out[0] += np.int16(100)
    return out.tolist()


def calls_in(compiled: CompiledLayout) -> dict[str, list[str]]:
    """Return the functions that each function calls."""
    return {
        op.sym_name.data: [inner.callee.string_value() for inner in op.walk() if isinstance(inner, wse.CallOp)]
        for op in compiled.module.walk()
        if isinstance(op, wse.FuncOp)
    }


def compiled(csl: Csl, pe: str) -> CompiledLayout:
    layout = """
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{});
  @export_name("main", fn() void);
}
"""
    return csl.layout(layout, f"{pe}\ncomptime {{ @export_symbol(main); }}\n")


def test_long_code_called_from_several_places_stands_once(csl: Csl) -> None:
    assert calls_in(compiled(csl, text(LONG))) == {"step": [], "main": ["step", "step", "step"]}


def test_short_code_is_repeated(csl: Csl) -> None:
    assert calls_in(compiled(csl, text(SHORT))) == {"main": []}


def test_code_that_an_argument_may_shorten_is_repeated(csl: Csl) -> None:
    assert calls_in(compiled(csl, text(LONG, "unused: i16", "3"))) == {"main": []}


def test_long_code_of_one_call_is_not_moved(csl: Csl) -> None:
    once = text(LONG).replace("step(); step();", "step();").replace("twice(); step();", "twice();")
    assert calls_in(compiled(csl, once)) == {"main": []}


@pytest.mark.slow
@pytest.mark.parametrize("statements", [SHORT, LONG])
def test_it_does_the_same(csl: Csl, statements: int) -> None:
    out = csl.run(text(statements), {"out": "i16"})["out"]
    assert out.tolist() == expected(statements)


LIVE = {
    "a function that is called": "noinline fn again() void { _ = slot(0); }",
    "a pointer": "fn leaf() void { _ = slot(0); }\n"
    "var pointer: *const fn() void = leaf;\nfn again() void { pointer(); }",
}


@pytest.mark.parametrize("again", LIVE.values(), ids=LIVE)
@pytest.mark.parametrize("first", ["again();", ""], ids=["called before", "called inside only"])
def test_calls_that_are_live_together_have_arrays_of_their_own(csl: Csl, again: str, first: str) -> None:
    pe = f"""
var at: i16 = 1;
var out = @zeros([2]i16);
fn slot(comptime inside: i16) i16 {{
  var kept = @zeros([2]i16);
  kept[at] = inside + 10;
  if (inside > 0) {{ again(); }}
  return kept[at];
}}
{again}
fn main() void {{ {first} out[0] = slot(1); out[1] = slot(0); }}
"""
    assert csl.run(pe, {"out": "i16"})["out"].tolist() == [11, 10]


@pytest.mark.slow
def test_long_functions_that_call_each_other_stand_once_for_each_entry(csl: Csl) -> None:
    """Phases that go back to what chose them are iterations in the function that is outlined, not in copies of it."""
    lines = "\n".join(f"  out[{k % 4}] = out[{k % 4}] * {k + 3} + phase;" for k in range(LONG))
    phases = "\n".join(f"fn phase_{k}() void {{\n{lines}\n  out[{k % 4}] += {k}; choose();\n}}" for k in range(5))
    chosen = "\n".join(f"  else if (phase == {k + 1}) {{ phase_{k}(); }}" for k in range(5))
    again = "\n".join(f"  else if (phase == {k + 6}) {{ phase_{k}(); }}" for k in range(5))
    pe = f"""
var out = [4]i16 {{ 1, 2, 3, 4 }};
var phase: i16 = 0;
fn choose() void {{ phase += 1; if (phase > 10) {{ return; }}\n{chosen}\n{again} }}
{phases}
fn main() void {{ if (out[0] == 1) {{ choose(); }} else {{ choose(); }} }}
"""
    found = calls_in(compiled(csl, pe))
    assert found == {"choose": [], "main": ["choose", "choose"]}
    out = np.array([1, 2, 3, 4], np.int16)
    with np.errstate(over="ignore"):
        for phase in range(1, 11):
            for k in range(LONG):
                out[k % 4] = out[k % 4] * np.int16(k + 3) + np.int16(phase)
            out[(phase - 1) % 5 % 4] += np.int16((phase - 1) % 5)
    assert csl.run(pe, {"out": "i16"})["out"].tolist() == out.tolist()
