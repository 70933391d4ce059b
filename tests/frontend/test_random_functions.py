"""Functions evaluated at compile time and on the engine give the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

from loomir.frontend import calls

from .harness import Csl
from .random_functions import Writer

INPUTS = ((0, 0), (1, 5), (7, 2), (100, 31), (12345, 6), (2, 32767))


def check(csl: Csl, seed: int, arch: str = "wse2") -> None:
    """One program of a seed, both ways."""
    writer = Writer(seed)
    functions, name = writer.program()
    kind = writer.type
    calls = ", ".join(f"{name}({a}, {b})" for a, b in INPUTS)
    firsts, seconds = (", ".join(str(pair[n]) for pair in INPUTS) for n in (0, 1))
    text = f"""
const pair = struct {{ first: {kind}, second: {kind} }};
{functions}
var first = [{len(INPUTS)}]{kind} {{ {firsts} }};
var second = [{len(INPUTS)}]{kind} {{ {seconds} }};
var out: [{len(INPUTS)}]{kind};
fn main() void {{
  for (@range(i16, {len(INPUTS)})) |k| {{
    out[k] = {name}(first[k], second[k]);
  }}
}}
comptime {{ @comptime_print({calls}); }}
"""
    out = csl.run(text, {"out": kind}, arch=arch)["out"]
    expected = np.array([int(number) for number in csl.printed[-1].split(", ")], out.dtype)
    np.testing.assert_array_equal(out, expected, err_msg=f"seed {seed}\n{text}")


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", [*range(8), 5024, 5087])
def test_compile_time_and_run_time_agree(csl: Csl, seed: int) -> None:
    check(csl, seed)


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(8, 14))
def test_outlined_functions(csl: Csl, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "MAX_INLINED_NODES", 0)
    check(csl, seed)
