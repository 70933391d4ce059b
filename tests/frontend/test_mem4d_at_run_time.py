"""mem4d DSDs that are not known at compile time: variables, parameters, results, run-time strides and extents."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from .harness import Csl

SIZE = 40
DECLARATIONS = f"""
var a = @zeros([{SIZE}]f32);
var b = @zeros([{SIZE}]f32);
var n: u16 = 3;
const square = @get_dsd(mem4d_dsd, .{{ .tensor_access = |i, j|{{2, 2}} -> a[6 * i + j] }});
const other = @get_dsd(mem4d_dsd, .{{ .tensor_access = |i, j|{{2, 3}} -> a[10 * i + 2 * j + 1] }});
const cube = @get_dsd(mem4d_dsd, .{{ .tensor_access = |i, j, k|{{2, 3, 2}} -> a[20 * i + 5 * j + k] }});
fn add(x: f32) f32 {{ return x + 1.0; }}
"""
SQUARE = [6 * i + j for i in range(2) for j in range(2)]
OTHER = [10 * i + 2 * j + 1 for i in range(2) for j in range(3)]
CUBE = [20 * i + 5 * j + k for i in range(2) for j in range(3) for k in range(2)]
ARCHES = pytest.mark.parametrize("arch", ["wse2", "wse3"])


def touched(*walks: Iterable[int]) -> list[float]:
    """Return an array of zeros to which 1 is added at each element of each walk."""
    values = [0.0] * SIZE
    for walk in walks:
        for element in walk:
            values[element] += 1
    return values


def moved(walk: Iterable[int], by: int) -> list[int]:
    return [element + by for element in walk]


CASES = {
    "a loop steps it": (
        """var d = square;
        for (@range(u16, n)) |i| { @fadds(d, d, 1.0); d = @increment_dsd_offset(d, 2, f32); }""",
        touched(SQUARE, moved(SQUARE, 2), moved(SQUARE, 4)),
    ),
    "a loop steps it by what is known at run time": (
        """var d = square;
        while (n > 0) { @fadds(d, d, 1.0); d = @increment_dsd_offset(d, @as(i16, n), f32); n -= 1; }""",
        touched(SQUARE, moved(SQUARE, 3), moved(SQUARE, 5)),
    ),
    "an if chooses": ("var d = square; if (n == 3) { d = other; } @fadds(d, d, 1.0);", touched(OTHER)),
    "an if does not choose": ("var d = square; if (n == 4) { d = other; } @fadds(d, d, 1.0);", touched(SQUARE)),
    "an if expression": ("const d = if (n == 3) other else square; @fadds(d, d, 1.0);", touched(OTHER)),
    "of more dimensions": ("var d = square; if (n == 3) { d = cube; } @fadds(d, d, 1.0);", touched(CUBE)),
    "of fewer dimensions": ("var d = cube; if (n == 3) { d = square; } @fadds(d, d, 1.0);", touched(SQUARE)),
    "dimensions change in a loop": (
        "var d = square; for (@range(u16, n)) |i| { @fadds(d, d, 1.0); d = cube; }", touched(SQUARE, CUBE, CUBE),
    ),
    "an array": (
        """const all = [2]mem4d_dsd{ square, other };
        for (@range(u16, n - 1)) |i| { const d = all[i]; @fadds(d, d, 1.0); }""",
        touched(SQUARE, OTHER),
    ),
    "strides and extents": (
        """const d = @get_dsd(mem4d_dsd, .{
          .base_address = &a, .extent = .{ n, 2 }, .stride = .{ @as(i16, n), @as(i16, n) + 1 }, .offset = @as(i16, n)
        }); @fadds(d, d, 1.0);""",
        # Innermost first, each the step when its walk advances: 3 within a row, then 4 from its end.
        touched([3 + 7 * i + 3 * j for i in range(3) for j in range(2)]),
    ),
    "a map": ("const d = if (n == 3) other else square; @map(add, d, d);", touched(OTHER)),
    "a map over run-time fields": (
        """const d = @get_dsd(mem4d_dsd, .{ .base_address = &a, .extent = .{ n, 2 }, .stride = .{ 1, @as(i16, n) } });
        @map(add, d, d);""",
        touched([4 * i + j for i in range(3) for j in range(2)]),
    ),
}  # fmt: skip


@pytest.mark.one_in(2)
@ARCHES
@pytest.mark.parametrize("case", CASES)
def test_in_a_function(csl: Csl, arch: str, case: str) -> None:
    statements, expected = CASES[case]
    text = f"{DECLARATIONS}\nfn main() void {{\n{statements}\n}}\n"
    assert csl.run(text, {"a": "f32"}, arch=arch)["a"].tolist() == expected


FUNCTIONS = {
    "parameters": (
        "fn f(d: mem4d_dsd) void { @fadds(d, d, 1.0); }\n"
        "fn main() void { f(square); f(if (n == 3) other else square); f(cube); }",
        touched(SQUARE, OTHER, CUBE),
    ),
    "results": (
        "fn f() mem4d_dsd { if (n == 3) { return other; } return cube; }\n"
        "fn main() void { const d = f(); @fadds(d, d, 1.0); }",
        touched(OTHER),
    ),
    "a global variable": (
        "var g = square;\nfn more() void { @fadds(g, g, 1.0); }\n"
        "fn main() void { more(); g = other; more(); g = cube; more(); }",
        touched(SQUARE, OTHER, CUBE),
    ),
    "a global variable without a value": (
        "var g: mem4d_dsd;\nfn main() void { g = other; @fadds(g, g, 1.0); }", touched(OTHER),
    ),
    "a field": (
        "const S = struct { d: mem4d_dsd, k: i16 };\nvar s: S = .{ .d = square, .k = 2 };\n"
        "fn main() void { s.d = @increment_dsd_offset(s.d, s.k, f32); @fadds(s.d, s.d, 1.0); }",
        touched(moved(SQUARE, 2)),
    ),
    "a task that steps it": (
        "var g = square;\nconst id = @get_local_task_id(9);\n"
        "task t() void { @fadds(g, g, 1.0); g = @increment_dsd_offset(g, 2, f32); n -= 1; if (n > 0) @activate(id); }\n"
        "comptime { @bind_local_task(t, id); }\nfn main() void { @activate(id); }",
        touched(SQUARE, moved(SQUARE, 2), moved(SQUARE, 4)),
    ),
}  # fmt: skip


@ARCHES
@pytest.mark.parametrize("case", FUNCTIONS)
def test_across_functions(csl: Csl, arch: str, case: str) -> None:
    text, expected = FUNCTIONS[case]
    assert csl.run(DECLARATIONS + text, {"a": "f32"}, arch=arch)["a"].tolist() == expected


@pytest.mark.slow
def test_another_base(csl: Csl) -> None:
    text = """fn main() void {
      var d = if (n == 3) other else square;
      d = @set_dsd_base_addr(d, b);
      @fadds(d, d, 1.0);
    }"""
    found = csl.run(DECLARATIONS + text, {"a": "f32", "b": "f32"})
    # The base takes the place of base and offset.
    assert not found["a"].any() and found["b"].tolist() == touched(moved(OTHER, -1))


REGISTERS = "const r = @get_dsr(dsr_dest, 0);\nconst x = @get_xdsr(1);\nvar g = square;\n"
THREE = ".{ @get_sr(0), @get_sr(1), @get_sr(2) }"
LOADED = {
    "a global variable": (f"if (n == 3) g = other; @load_to_dsr_xdsr_sr(r, x, {THREE}, g);", OTHER),
    "a local variable": (f"var d = square; @load_to_dsr_xdsr_sr(r, x, {THREE}, d);", SQUARE),
    "a parameter": (f"f(other);\n}}\nfn f(d: mem4d_dsd) void {{ @load_to_dsr_xdsr_sr(r, x, {THREE}, d);", OTHER),
    "a constant": ("@load_to_dsr_xdsr_sr(r, x, .{ @get_sr(0) }, other);", OTHER),
}


@pytest.mark.parametrize("case", LOADED)
def test_stride_registers(csl: Csl, case: str) -> None:
    """DSR-058, DSR-061, DSR-064, AMB-06: what a variable or parameter holds takes three stride registers."""
    statement, expected = LOADED[case]
    text = f"{DECLARATIONS}{REGISTERS}fn main() void {{ {statement}\n@fmovs(r, 1.0); }}"
    assert csl.run(text, {"a": "f32"}, arch="wse3")["a"].tolist() == touched(expected)
    assert not csl.printed


def test_too_few_stride_registers(csl: Csl) -> None:
    """DSR-062 to DSR-064: the number needed is named."""
    for statement, needed, given in (
        ("if (n == 3) g = other; «@load_to_dsr_xdsr_sr(r, x, .{ @get_sr(0) }, g)»;", 3, 1),
        ("var d = square; «@load_to_dsr_xdsr_sr(r, x, .{ @get_sr(0) }, d)»;", 3, 1),
        (f"«@load_to_dsr_xdsr_sr(r, x, {THREE}, other)»;", 1, 3),
    ):
        text = f"""{DECLARATIONS}{REGISTERS}task t() void {{ {statement} @fmovs(r, 1.0); }}
        comptime {{ @bind_local_task(t, @get_local_task_id(9)); }}"""
        csl.refuses(text, f"this DSD needs {needed} stride registers, not {given}", arch="wse3")


def test_stride_registers_of_a_variable_that_is_known_here(csl: Csl) -> None:
    """DSR-064: taken with a warning, since the SDK's compiler does not know it."""
    compiled = csl.pe(
        f"""{DECLARATIONS}{REGISTERS}
        task t() void {{ var d = other; @load_to_dsr_xdsr_sr(r, x, .{{ @get_sr(0) }}, d); @fmovs(r, 1.0); }}
        comptime {{ @bind_local_task(t, @get_local_task_id(9)); }}""",
        "wse3",
    )
    (warning,) = compiled.warnings
    assert (
        "warning: the SDK's compiler does not know this DSD at compile time and wants 3 stride registers (DSR-064): "
        "'d' is a 'var'"
    ) in warning


def test_save_address_of_one_with_fewer_dimensions(csl: Csl) -> None:
    """DSR-067: the next operation goes on a stride of the outermost dimension behind the last element."""
    text = f"""{DECLARATIONS}{REGISTERS}
    fn main() void {{
      g = cube;
      if (n == 3) g = square;
      @load_to_dsr_xdsr_sr(r, x, {THREE}, g, .{{ .save_address = true }});
      @fmovs(r, 1.0);
      @fmovs(r, 1.0);
    }}"""
    # From element 7, the last, by 5, the step from the end of one row to the next.
    assert csl.run(text, {"a": "f32"}, arch="wse3")["a"].tolist() == touched(SQUARE, moved(SQUARE, 12))
