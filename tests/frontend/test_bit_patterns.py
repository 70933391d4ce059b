"""Numbers of PEs that are told apart by their bits alone: zeros of both signs, NaNs, neighbors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from io import StringIO
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, TensorType, bf16, f16, f32
from xdsl.parser import Parser
from xdsl.printer import Printer

from loomir.backend.csl.pe_program import numbers_of
from loomir.dialects import flow
from loomir.dialects.machine.elements import parse_dense, print_dense
from loomir.frontend.pe import dense
from loomir.operations.bit_patterns import are_all_same, identity, patterns

from .harness import Csl

PATTERNS = [
    0x00000000, 0x80000000, 0x00000000, 0x7FC00000, 0x7FC00001, 0xFFC00000, 0xFFC00001, 0x7FC00001, 0x3F800000,
    0x3F800001, 0x7F800000, 0x80000001,
]  # fmt: skip
"""Those of an f32, by PE."""

LISTED = ", ".join(map(str, PATTERNS))
NUMBER = f"@bitcast(f32, ([{len(PATTERNS)}]u32{{ {LISTED} }})[x])"


def _shown(csl: Csl, text: str, layout_only: str = "") -> list[list[int]]:
    """Return the bits of what `main` puts in `out` of each PE."""
    simulator = csl.start(text, {"out": "f32"}, width=len(PATTERNS), params=layout_only)
    simulator.launch("main")
    return simulator.get("out")[0].view(np.uint32).tolist()


def test_params(csl: Csl) -> None:
    found = _shown(csl, "param f: f32; var out = @zeros([1]f32); fn main() void { out[0] = f; }", f".f = {NUMBER}")
    assert found == [[each] for each in PATTERNS]


@pytest.mark.parametrize("together", [False, True])
def test_zeros_chosen_at_compile_time(csl: Csl, *, together: bool) -> None:
    """A branch in the layout, or in the code of the PE, chooses the sign."""
    chosen = "if (x % 2 == 0) @as(f32, 0.0) else @as(f32, -0.0)"
    text = "const f: f32 = " + chosen + "; param x: i16;" if together else "param f: f32;"
    text += """
    var one: f32 = 1.0;
    const pair = [2]f32{ f, -f };
    var i: u16 = 0;
    var out = @zeros([3]f32);
    fn main() void { out[0] = one / f; out[1] = one / pair[i]; out[2] = one / pair[i + 1]; }
    """
    found = _shown(csl, text, ".x = x" if together else f".f = {chosen}")
    infinities = np.array([np.inf, -np.inf], np.float32).view(np.uint32).tolist()
    assert found == [[infinities[n % 2] for n in (x, x, x + 1)] for x in range(len(PATTERNS))]


def test_arrays(csl: Csl) -> None:
    """PEs with other arrays are other classes, whatever of an array differs."""
    text = "param a: [2]f32; var out = @zeros([2]f32); fn main() void { out[0] = a[0]; out[1] = a[1]; }"
    assert _shown(csl, text, f".a = [2]f32{{ 1.0, {NUMBER} }}") == [[0x3F800000, each] for each in PATTERNS]


def test_constants_of_a_module(csl: Csl) -> None:
    """Constants in memory share it only if they are the same on all PEs."""
    text = """
    param f: f32; param g: f32; param h: f32;
    const first = [2]f32{ f, 1.0 }; const second = [2]f32{ g, 1.0 }; const third = [2]f32{ h, 1.0 };
    const scalar = f;
    var out = @zeros([4]f32);
    var i: u16 = 0;
    fn main() void { out[0] = first[i]; out[1] = second[i]; out[2] = third[i]; out[3] = scalar; }
    """
    turned = f"@bitcast(f32, ([{len(PATTERNS)}]u32{{ {LISTED} }})[(x + 1) % {len(PATTERNS)}])"
    found = _shown(csl, text, f".f = {NUMBER}, .g = {turned}, .h = {NUMBER}")
    assert found == [[each, PATTERNS[(x + 1) % len(PATTERNS)], each, each] for x, each in enumerate(PATTERNS)]


def test_constants_that_differ_in_the_last_bit(csl: Csl) -> None:
    """Two columns that eight digits do not tell apart are two constants."""
    text = """
    param f: f32; param g: f32;
    const first = [2]f32{ f, 1.0 }; const second = [2]f32{ g, 1.0 };
    var out = @zeros([2]f32);
    var i: u16 = 0;
    fn main() void { out[0] = first[i]; out[1] = second[i]; }
    """
    base = "@bitcast(f32, @as(u32, 0x3a800000 + 16 * @as(u32, x)))"
    near = "@bitcast(f32, @as(u32, 0x3a800001 + 16 * @as(u32, x)))"
    found = _shown(csl, text, f".f = {base}, .g = {near}")
    assert found == [[0x3A800000 + 16 * x, 0x3A800001 + 16 * x] for x in range(len(PATTERNS))]


def test_constants_of_one_program(csl: Csl) -> None:
    """Constants known at compile time: those with one NaN share memory, those with another do not."""
    names = [f"c{n}" for n in range(len(PATTERNS))]
    text = "\n".join(
        f"const {name} = [2]f32{{ @bitcast(f32, @as(u32, {each})), 2.0 }};"
        for name, each in zip(names, PATTERNS, strict=True)
    )
    stores = " ".join(f"out[{n}] = {name}[i];" for n, name in enumerate(names))
    text += f"var i: u16 = 0; var out = @zeros([{len(names)}]f32); fn main() void {{ {stores} }}"
    assert _shown(csl, text)[0] == PATTERNS


def test_branches_join_equal_bits_only(csl: Csl) -> None:
    """A value after a branch is known only if both sides have all its bits."""
    text = """
    var flags = [2]bool{ true, false };
    var out = @zeros([4]f32);
    fn main() void {
      for (@range(u16, 2)) |i| {
        out[2 * i] = if (flags[i]) @bitcast(f32, @as(u32, 0x7fc00001)) else @bitcast(f32, @as(u32, 0x7fc00002));
        out[2 * i + 1] = if (flags[i]) @as(f32, -0.0) else @as(f32, 0.0);
      }
    }
    """
    assert _shown(csl, text)[0] == [0x7FC00001, 0x80000000, 0x7FC00002, 0]


@given(st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=6))
def test_arrays_are_compared_by_bits(numbers: list[int]) -> None:
    words = np.array(numbers, np.uint32)
    floats = words.view(np.float32)
    assert are_all_same(floats) == (len(set(numbers)) == 1)
    assert patterns(floats).tolist() == numbers
    assert (identity(floats) == identity(floats[::-1].copy())) == (numbers == numbers[::-1])
    doubles = [0.0, -0.0]
    assert identity(doubles[0]) != identity(doubles[1])
    assert identity(np.array([1 << 70], object)) == identity(np.array([1 << 70], object))


@pytest.mark.parametrize("numbers", [[0.0, -0.0], [-0.0, 0.0, 0.0], [-0.0, -0.0], [0.0, 0.0], [-0.0, 1.0], [1.5, 1.5]])
@pytest.mark.parametrize("element", [f16, bf16, f32])
def test_zeros_in_text(numbers: list[float], element: AnyFloat) -> None:
    """Printed and read again, in IR and as what becomes a list in CSL, zeros keep their signs."""
    value = dense(TensorType(element, [len(numbers)]), numbers)
    text = StringIO()
    print_dense(Printer(text), value)
    again = parse_dense(Parser(Context(), text.getvalue()), element, [len(numbers)])
    expected = [(number, math.copysign(1.0, number)) for number in numbers]
    read = cast("Sequence[float]", again.get_values())
    assert [(number, math.copysign(1.0, number)) for number in read] == expected
    listed = numbers_of(again)
    assert len(listed) == (1 if len(set(map(repr, numbers))) == 1 else len(numbers))


def test_zeros_of_flow_parameters_in_text() -> None:
    values = dense(TensorType(f32, [1, 3]), [0.0, -0.0, 0.0])
    text = StringIO()
    Printer(text).print_op(flow.ParamOp("f", values))
    context = Context()
    context.load_dialect(flow.Flow)
    again = Parser(context, text.getvalue()).parse_op()
    assert isinstance(again, flow.ParamOp)
    assert again.values == values
