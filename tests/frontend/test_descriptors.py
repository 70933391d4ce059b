"""DSDs in CSL: how they are made and changed, the operations on them, @map; and what is refused."""

# ruff: noqa: E501 (a program is one line of a table)

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from loomir.operations.dsd_table import OPERATIONS, DsdOperation

from .harness import NUMPY, Csl

COMPUTE: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "add_with_carry": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "maximum": max,
    "move": lambda a: a,
    "absolute": abs,
    "negate": lambda a: -a,
    "convert": lambda a: a,
    "multiply_add": lambda a, b, c: a + b * c,
    "scale": lambda a, b: math.ldexp(a, int(b)),
    "normalize": lambda a: 2 * math.frexp(a)[0],
    "count_leading_zeros": lambda a: 16 - (int(a) & 0xFFFF).bit_length(),
    "count_trailing_zeros": lambda a: ((int(a) & 0xFFFF) & -(int(a) & 0xFFFF)).bit_length() - 1 if a else 16,
    "population_count": lambda a: (int(a) & 0xFFFF).bit_count(),
    "shift_left": lambda a, b: int(a) << int(b),
    "shift_right_arithmetic": lambda a, b: int(a) >> int(b),
    "shift_right_logical": lambda a, b: (int(a) & 0xFFFF) >> int(b),
}
"""What each function of the table is, on single numbers."""

GIVEN = {
    "i16": [3, -4, 100, 7], "i32": [3, -70000, 100, 7], "f16": [1.5, -2.0, 0.25, 8.0], "f32": [1.5, -2.0, 0.25, 8.0],
}  # fmt: skip
SECOND = {"i16": [1, 2, 3, 4], "i32": [1, 2, 3, 4], "f16": [2.0, 0.5, 4.0, -1.0], "f32": [2.0, 0.5, 4.0, -1.0]}
SCALAR = {"i16": 2, "i32": 2, "f16": 0.5, "f32": 0.5}


def program(row: DsdOperation, scalars: frozenset[int], pointer: bool) -> tuple[str, dict[str, str]]:
    exports = {"out": row.destination}
    lines = [f"var out = @zeros([4]{row.destination});"]
    lines.append("const out_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i] });")
    arguments = ["&out[2]" if pointer else "out_dsd"]
    for n, element in enumerate(row.sources):
        if n in scalars:
            lines.append(f"var s{n}: {element} = {SCALAR[element]};")
            arguments.append(f"s{n}")
            continue
        numbers = ", ".join(map(repr, (GIVEN if n == 0 else SECOND)[element]))
        lines.append(f"var v{n} = [4]{element}{{ {numbers} }};")
        lines.append(f"const d{n} = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> v{n}[i] }});")
        arguments.append(f"d{n}")
    lines.append(f"fn main() void {{ @{row.name}({', '.join(arguments)}); }}")
    return "\n".join(lines), exports


def expected(row: DsdOperation, scalars: frozenset[int], pointer: bool) -> list[Any]:
    kind = NUMPY[row.destination]
    out: list[Any] = [0] * 4
    for i in range(4):
        operands = [
            SCALAR[element] if n in scalars else (GIVEN if n == 0 else SECOND)[element][i]
            for n, element in enumerate(row.sources)
        ]
        result = COMPUTE[row.function](*operands)
        out[2 if pointer else i] = result
        if not any(n not in scalars for n in range(len(row.sources))) and pointer:
            break
    if kind == np.int16:
        return np.array([int(np.rint(value)) for value in out]).astype(np.int16).tolist()
    return np.array(out).astype(kind).tolist()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("row", OPERATIONS.values(), ids=lambda row: row.name)
def test_operations(csl: Csl, row: DsdOperation) -> None:
    text, exports = program(row, row.scalar_only, pointer=bool(row.scalar_only) and row.scalar_destination)
    out = csl.run(text, exports)["out"]
    assert out.tolist() == expected(row, row.scalar_only, bool(row.scalar_only) and row.scalar_destination)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "row", [row for row in OPERATIONS.values() if row.scalar_sources - row.scalar_only], ids=lambda row: row.name
)
def test_operations_with_scalars(csl: Csl, row: DsdOperation) -> None:
    for position in sorted(row.scalar_sources - row.scalar_only):
        if len(row.sources) == 1:
            continue
        scalars = frozenset({position})
        text, exports = program(row, scalars, pointer=False)
        out = csl.run(text, exports)["out"]
        assert out.tolist() == expected(row, scalars, False), position


MEMORY = """
var a = [12]i16{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
var m = [3, 4]i16{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
var out = @zeros([12]i16);
const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{12} -> out[i] });
var pointer: [*]i16 = &a;
var length: u16 = 3;
var step: i16 = 2;
"""

WALKS = {
    # A source, and the numbers that come from it.
    "all": ("@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{12} -> a[i] })", list(range(12))),
    "odd": ("@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{5} -> a[2 * i + 1] })", [1, 3, 5, 7, 9]),
    "one again and again": ("@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> a[7] })", [7, 7, 7]),
    "backwards": ("@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[11 - i] })", [11, 10, 9, 8]),
    "a diagonal": ("@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> m[i, i] })", [0, 5, 10]),
    "a column": ("@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> m[i, 2] })", [2, 6, 10]),
    "a transpose": ("@get_dsd(mem4d_dsd, .{ .tensor_access = |i,j|{4,3} -> m[j, i] })", [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]),
    "a corner": ("@get_dsd(mem4d_dsd, .{ .tensor_access = |i,j|{2,2} -> m[i + 1, j + 2] })", [6, 7, 10, 11]),
    "overlapping": ("@get_dsd(mem4d_dsd, .{ .tensor_access = |i,j|{3,3} -> a[2*i + j] })", [0, 1, 2, 2, 3, 4, 4, 5, 6]),
    "four dimensions": ("@get_dsd(mem4d_dsd, .{ .tensor_access = |i,j,k,l|{1,2,1,3} -> a[i + 4*j + k + l] })", [0, 1, 2, 4, 5, 6]),
    "one, made longer": ("@set_dsd_length(@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{1} -> a[i] }), length)", [0, 1, 2]),
    "one of a column, made longer": ("@set_dsd_length(@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{1} -> m[i, 2] }), 3)", [2, 6, 10]),
    "one backwards, made longer": ("@set_dsd_length(@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{1} -> a[11 - 3 * i] }), length)", [11, 8, 5]),
    "none, made longer": ("@set_dsd_length(@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{0} -> a[2 * i + 1] }), length)", [1, 3, 5]),
    "one, its stride read": ("@get_dsd(mem1d_dsd, .{ .base_address = &a, .stride = one.stride[0], .extent = 3 })", [0, 2, 4]),
    "a row of one, its stride read": ("@get_dsd(mem4d_dsd, .{ .base_address = &a, .stride = row.stride, .extent = .{ 2, 2 } })", [0, 4, 7, 11]),
    "by hand": ("@get_dsd(mem1d_dsd, .{ .base_address = &a, .extent = 4, .stride = 3, .offset = 1 })", [1, 4, 7, 10]),
    "by hand, stride 1": ("@get_dsd(mem1d_dsd, .{ .base_address = &a, .extent = 3 })", [0, 1, 2]),
    # DSD-049
    "strides in four dimensions": ("@get_dsd(mem4d_dsd, .{ .base_address = &a, .extent = .{ 3, 3 }, .stride = .{ 1, 0 } })", [0, 1, 2, 2, 3, 4, 4, 5, 6]),
    "through a pointer": ("@get_dsd(mem1d_dsd, .{ .base_address = pointer, .extent = length, .stride = @as(i8, step) })", [0, 2, 4]),
    # DSD-047, with a warning
    "a matrix through a pointer": ("@get_dsd(mem4d_dsd, .{ .base_address = pointer, .extent = .{ 2, 2 }, .stride = .{ 1, 3 } })", [0, 1, 4, 5]),
    "a matrix at an element of an array": ("@get_dsd(mem4d_dsd, .{ .base_address = &a[2], .extent = .{ 2, 2 }, .stride = .{ 1, 3 } })", [2, 3, 6, 7]),
    "a matrix at an element through a pointer": ("@get_dsd(mem4d_dsd, .{ .base_address = &pointer[2], .extent = .{ 2, 2 }, .stride = .{ 1, 3 } })", [2, 3, 6, 7]),
    "a longer one": ("@set_dsd_length(@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> a[i] }), length)", [0, 1, 2]),
    "another stride": ("@set_dsd_stride(@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> a[i] }), 4)", [0, 4, 8]),
    "moved": ("@increment_dsd_offset(@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> a[i] }), 5, i16)", [5, 6, 7]),
    "moved back": ("@increment_dsd_offset(@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> a[i + 6] }), -step, i16)", [4, 5, 6]),
    "elsewhere": ("@set_dsd_base_addr(@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> out[i + 4] }), a)", [0, 1, 2]),
    "behind a pointer": ("@set_dsd_base_addr(@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> out[i + 4] }), &m)", [0, 1, 2]),
    "by a named access": ("@get_dsd(mem1d_dsd, .{ .tensor_access = named })", [1, 3, 5]),
    "of the fields of an access": ("@get_dsd(mem1d_dsd, .{ .base_address = named.base_address, .offset = named.offset, .stride = named.stride, .extent = named.extent })", [1, 3, 5]),
    "by a struct": ("@get_dsd(mem1d_dsd, .{ .tensor_access = .{ .base_address = &a, .stride = 2, .extent = 3 } })", [0, 2, 4]),
}  # fmt: skip


def test_a_base_known_at_run_time(csl: Csl) -> None:
    """DSD-047, AMB-58: of a mem4d_dsd it is accepted with a warning, since published programs use it."""
    text = """var a = @zeros([9]i16); var pointer: [*]i16 = &a;
      task run() void { @mov16(@get_dsd(mem4d_dsd, .{ .base_address = pointer, .extent = .{ 2, 2 } }), 1); }
      comptime { @bind_local_task(run, @get_local_task_id(9)); }"""
    warning = csl.pe(text).warnings[0]
    assert "pe.csl:2:52: warning: by the manual '.base_address' of a mem4d_dsd is known at compile time" in warning


def test_a_base_that_is_an_element_of_an_array(csl: Csl) -> None:
    """DSD-047, AMB-58: of a mem4d_dsd it is accepted with a warning, since published programs use it."""
    text = """var a = @zeros([9]i16);
      task run() void { @mov16(@get_dsd(mem4d_dsd, .{ .base_address = &a[3], .extent = .{ 2, 2 } }), 1); }
      comptime { @bind_local_task(run, @get_local_task_id(9)); }"""
    warning = csl.pe(text).warnings[0]
    assert "pe.csl:2:52: warning: by the manual '.base_address' of a mem4d_dsd points to an array (DSD-047)" in warning


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("descriptor", "numbers"), WALKS.values(), ids=WALKS)
def test_walks(csl: Csl, descriptor: str, numbers: list[int]) -> None:
    """DSD-019, DSD-030, DSD-033, DSD-034, DSD-035, DSD-046, DSD-160, DSD-164, DSD-172, DSD-176."""
    named = """
    const named: comptime_struct = |i|{3} -> a[2 * i + 1];
    const one = |i|{1} -> a[2 * i + 1];
    const row = |i, j|{2, 1} -> m[j, 3 * i];
    """
    text = f"{MEMORY}{named}fn main() void {{ @mov16(to, {descriptor}); }}"
    out = csl.run(text, {"out": "i16"})["out"].tolist()
    assert out[: len(numbers)] == numbers


def test_a_square_moved_up_a_row(csl: Csl) -> None:
    """DSD-170: the example of the manual."""
    text = """
    var A = @zeros([10, 10]f32);
    var out = @zeros([8]f32);
    const square = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j|{2, 2} -> A[i + 1, j + 1] });
    const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i] });
    fn main() void {
      for (@range(i16, 10)) |i| { for (@range(i16, 10)) |j| { A[i, j] = @as(f32, 10 * i + j); } }
      @fmovs(to, square);
      @fmovs(@increment_dsd_offset(to, 4, f32), @increment_dsd_offset(square, -10, f32));
    }
    """
    assert csl.run(text, {"out": "f32"})["out"].tolist() == [11, 12, 21, 22, 1, 2, 11, 12]


@pytest.mark.parametrize(("counted_in", "words"), [("f16", 1), ("i16", 1), ("u32", 2), ("f32", 2)])
@pytest.mark.parametrize("elements", [2, -1])
def test_offsets_count_elements_of_the_type_named(csl: Csl, counted_in: str, words: int, elements: int) -> None:
    """DSD-168, DSD-169: the type converts a count into words; the DSD's own elements and its walk stay as they are."""
    text = f"""
    var b = @zeros([16]i16);
    var out = @zeros([3]i16);
    const to = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{3}} -> out[i] }});
    const from = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{3}} -> b[2 * i + 4] }});
    fn main() void {{
      for (@range(i16, 16)) |i| {{ b[i] = i; }}
      var step: i16 = {elements};
      @mov16(to, @increment_dsd_offset(from, step, {counted_in}));
    }}
    """
    start = 4 + elements * words
    assert csl.run(text, {"out": "i16"})["out"].tolist() == [start, start + 2, start + 4]
    # Elements of two words.
    wide = text.replace("i16);\n    var out = @zeros([3]i16)", "u32);\n    var out = @zeros([3]u32)")
    wide = wide.replace("b[i] = i", "b[i] = @as(u32, i)").replace("@mov16", "@mov32")
    if words == 2:
        start = 4 + elements
        assert csl.run(wide, {"out": "u32"})["out"].tolist() == [start, start + 2, start + 4]


ONES = [
    # An access, its offset and its strides: the manual's vectors with extents of 1, and what has extents of 0 and 1 only.
    ("|i, j, k, l|{1, 2, 1, 4} -> t[i, j, 1 + k, l]", "4, {1, 1, 9, 9}"),
    ("|i, j, k, l|{1, 1, 1, 1} -> u[i + j + k + l]", "0, {1, 1, 1, 1}"),
    ("|i, j|{1, 5} -> u[2 * i + j]", "0, {1, -2}"),
    ("|i, j|{5, 1} -> u[2 * i + j]", "0, {1, 2}"),
    ("|i|{1} -> u[19 - 3 * i]", "19, {-3}"),
    ("|i|{0} -> u[2 * i + 7]", "7, {2}"),
    ("|i|{1} -> u[4]", "4, {0}"),
]


@pytest.mark.parametrize(("access", "shown"), ONES)
def test_strides_where_a_variable_takes_one_value(csl: Csl, access: str, shown: str) -> None:
    """DSD-063, DSD-067, DSD-068."""
    declarations = f"var t = @zeros([1, 2, 3, 4]u16); var u = @zeros([20]u16); const access = {access};"
    assert csl.value("access.offset, access.stride", declarations) == shown


def test_an_access_is_a_struct(csl: Csl) -> None:
    """DSD-029, DSD-031, DSD-060."""
    declarations = "var a = @zeros([10]i16); var m = @zeros([4, 5]i16);"
    fields = "base_address: *[10]i16, offset: i16, stride: .{i8}, extent: .{u16}"
    assert csl.value("@type_of(|i|{10} -> a[2 * i + 42])", declarations) == f"struct {{ {fields} }}"
    fields = "base_address: *[4, 5]i16, offset: i16, stride: .{i16, i16}, extent: .{u16, u16}"
    assert csl.value("@type_of(|i, j|{2, 3} -> m[i, j])", declarations) == f"struct {{ {fields} }}"


def test_a_table_is_not_affine(csl: Csl) -> None:
    marked = """
    var a = @zeros([4]i16);
    const table = [1]i16{ 2 };
    const access = «|i|{1} -> a[table[i]]»;
    comptime { @comptime_print(access.stride); }
    """
    csl.refuses(marked, "the index is not affine: it must be a sum of the variables times constants (DSD-025)")


def test_descriptors_are_values(csl: Csl) -> None:
    """DSD-159: what makes a DSD of another leaves that one as it is."""
    text = f"""{MEMORY}
    const three = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{3}} -> a[i] }});
    var kept = three;
    fn next(d: mem1d_dsd) mem1d_dsd {{ return @increment_dsd_offset(d, 3, i16); }}
    fn main() void {{
      @mov16(@set_dsd_length(to, 3), three);
      kept = next(kept);
      @mov16(@increment_dsd_offset(to, 3, i16), kept);
      if (length == 3) {{ kept = next(kept); }} else {{ kept = three; }}
      @mov16(@increment_dsd_offset(to, 6, i16), kept);
    }}
    """
    assert csl.run(text, {"out": "i16"})["out"].tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0]


def test_reductions(csl: Csl) -> None:
    text = """
    var v = [5]f32{ 1.0, 2.0, 3.0, 4.0, 5.5 };
    const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{5} -> v[i] });
    var total: f32 = 100.0;
    var most: f32 = -1.0;
    var last: f32 = 0.0;
    var out = @zeros([3]f32);
    fn main() void {
      @fadds(&total, total, d);
      @fmaxs(&most, most, d);
      @fmovs(&last, d);
      out[0] = total; out[1] = most; out[2] = last;
    }
    """
    assert csl.run(text, {"out": "f32"})["out"].tolist() == [115.5, 5.5, 5.5]


MAPS = {
    "one input": ("@map(twice, d, to);", [2, 4, 6, 8]),
    "two inputs": ("@map(add, d, e, to);", [11, 22, 33, 44]),
    "a number besides": ("@map(add, d, @as(i16, 5), to);", [6, 7, 8, 9]),
    "a pointer": ("@map(sum_up, d, &sum, &sum); out[0] = sum;", [10, 0, 0, 0]),
    "a number read once": ("sum = 5; @map(add, d, sum, &sum); out[0] = sum;", [9, 0, 0, 0]),
    "no output": ("@map(note, d); out[0] = sum;", [1234, 0, 0, 0]),
    "the shortest ends": ("@map(add, @set_dsd_length(d, 2), e, to);", [11, 22, 0, 0]),
}


@pytest.mark.parametrize(("code", "numbers"), MAPS.values(), ids=MAPS)
def test_map(csl: Csl, code: str, numbers: list[int]) -> None:
    text = f"""
    var v = [4]i16{{ 1, 2, 3, 4 }};
    var w = [4]i16{{ 10, 20, 30, 40 }};
    var out = @zeros([4]i16);
    var sum: i16 = 0;
    const d = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> v[i] }});
    const e = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> w[i] }});
    const to = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> out[i] }});
    fn twice(x: i16) i16 {{ return 2 * x; }}
    fn add(x: i16, y: i16) i16 {{ return x + y; }}
    fn sum_up(x: i16, so_far: *i16) i16 {{ return so_far.* + x; }}
    fn note(x: i16) void {{ sum = sum * 10 + x; }}
    fn main() void {{ {code} }}
    """
    assert csl.run(text, {"out": "i16"})["out"].tolist() == numbers


DECLARATIONS = """
var a = @zeros([12]i16);
var m = @zeros([3, 4]i16);
var f = @zeros([12]f32);
var n: u16 = 3;
var pointer: *[12]i16 = &a;
const d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{12} -> a[i] });
const d4 = @get_dsd(mem4d_dsd, .{ .tensor_access = |i,j|{3,4} -> m[i, j] });
const s = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{12} -> f[i] });
const c = @get_color(3);
const out = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = @get_output_queue(2) });
const in = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c, .input_queue = @get_input_queue(1) });
fn one(x: i16) i16 { return x; }
fn none(x: i16) void {}
fn small(x: i8) i16 { return 1; }
var room = @zeros([8]i16);
const fifo = @allocate_fifo(room);
const source = @get_dsr(dsr_src1, 7);
const target = @get_dsr(dsr_dest, 7);
const read: *const i16 = &a[1];
fn two(x: i16, y: i16) i16 { return x + y; }
task t() void {}
"""

REFUSED = [
    ("_ = @get_dsd(«i16», .{});", "@get_dsd makes mem1d_dsd, mem4d_dsd, circbuf_dsd, fabin_dsd or fabout_dsd, not 'i16'"),
    ("_ = «@get_dsd(mem1d_dsd)»;", "@get_dsd takes 2 arguments, not 1"),
    ("_ = @get_dsd(mem1d_dsd, «.{}»);", "a 'mem1d_dsd' needs a field '.base_address'"),
    ("_ = @get_dsd(mem1d_dsd, «.{ .base_address = &a }»);", "a 'mem1d_dsd' needs a field '.extent'"),
    ("_ = @get_dsd(mem1d_dsd, «.{ .base_address = a, .extent = 3 }»);", "write & in front of the variable"),
    ("_ = @get_dsd(mem1d_dsd, «.{ .base_address = &a, .extent = 1.5 }»);", "is an integer, not 'comptime_float'"),
    ("_ = @get_dsd(mem1d_dsd, «.{ .base_address = &a, .extent = 3, .step = 3 }»);", "a 'mem1d_dsd' has no field '.step'"),
    ("_ = @get_dsd(mem1d_dsd, «.{ .tensor_access = 3 }»);", "'.tensor_access' is written |i|{n} -> array[i]"),
    ("_ = @get_dsd(mem1d_dsd, «.{ .tensor_access = |i,j|{3,4} -> m[i, j] }»);", "a mem1d_dsd has one variable, not 2 (DSD-020)"),
    ("_ = @get_dsd(mem1d_dsd, .{ .tensor_access = «|i|{3} -> m[i]» });", "has 2 dimensions, but there are 1 indices (DSD-024)"),
    ("_ = @get_dsd(mem4d_dsd, .{ .tensor_access = «|i,j|{3} -> a[i]» });", "2 variables but 1 extents"),
    ("_ = @get_dsd(mem1d_dsd, .{ .tensor_access = «|i|{3} -> a[i * i]» });", "the index is not affine"),
    ("_ = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> a[i + «n»] });", "cannot be read at compile time"),
    ("_ = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{«-3»} -> a[i] });", "an extent of -3 is out of range; use 0 to 65535 (DSD-021)"),
    ("_ = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{«n»} -> a[i] });", "cannot be read at compile time"),
    ("_ = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> «n»[i] });", "a tensor access needs an array, not a value of type 'u16'"),
    # DSD-023
    ("_ = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> «read.*»[i] });", "or of a pointer to one; name it"),
    ("_ = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> «p»[i] }); } var p: [*]i16 = &a; fn unused() void {", "the pointer 'p' must be known at compile time"),
    ("_ = @get_dsd(fabin_dsd, «.{ .fabric_color = c }»);", "a 'fabin_dsd' needs a field '.extent'"),
    ("_ = @get_dsd(fabin_dsd, «.{ .extent = 1, .fabric_color = 3 }»);", "'.fabric_color' is a color, not of type 'comptime_int'"),
    ("_ = @get_dsd(fabin_dsd, «.{ .extent = 1, .fabric_color = c, .input_queue = 3 }»);", "field '.input_queue' is of type 'input_queue'"),
    ("_ = @get_dsd(fabin_dsd, «.{ .extent = 1, .fabric_color = c, .output_queue = @get_output_queue(1) }»);", "has no field '.output_queue'"),
    ("«@mov16(d4)»;", "@mov16 takes 2 or 3 arguments, not 1"),
    ("@mov16(«n», d);", "the destination of @mov16 is a DSD, a DSR or a pointer to a variable, not 'u16'"),
    ("@add16(«&n», d, d);", "the destination of @add16 must be a DSD, not a pointer (DSD-072)"),
    ("@fadds(s, s, «n»);", "@fadds takes a 'f32', not 'u16'; convert it with @as"),
    ("@fadds(s, s, «1»);", "@fadds takes a 'f32', not 'comptime_int'"),
    ("@add16(d, d, «1.5»);", "@add16 takes a 16-bit integer, not 'comptime_float'"),
    ("@fmacs(s, «1.0», s, 2.0);", "source 1 of @fmacs must be a DSD or DSR, not 'comptime_float'"),
    ("@mov16(d, d, «.{ .activate = t }»);", "'.activate', '.unblock' and '.on_control' need '.async = true' (DSD-196)"),
    ("@mov16(d, d, «.{ .unblock = t }»);", "need '.async = true' (DSD-196)"),
    ("@mov16(d, d, «.{ .on_control = .{ .terminate = true } }»);", "need '.async = true' (DSD-196)"),
    ("@mov16(out, d, «.{ .async = true, .activate = t, .unblock = t }»);", "takes '.activate' or '.unblock', not both"),
    ("@mov16(out, d, «.{ .async = true, .on_control = .{ .terminate = true, .unblock = t } }»);", "'.on_control' takes one of '.terminate', '.activate' and '.unblock', not several"),
    ("@mov16(out, d, «.{ .async = true, .whatever = 1 }»);", "has no field '.whatever'"),
    ("@mov16(out, d, «.{ .async = 1 }»);", "field '.async' is 'true' or 'false', not of type 'comptime_int'"),
    ("@mov16(out, d, «.{ .async = true, .activate = t }»);", "task 't' is not bound to an id"),
    ("_ = @set_dsd_length(«d4», 3);", "@set_dsd_length takes a mem1d_dsd or a fabric DSD, not a mem4d_dsd"),
    ("_ = @set_dsd_length(«n», 3);", "@set_dsd_length takes a DSD, not 'u16'"),
    ("_ = @set_dsd_stride(«d4», 3);", "@set_dsd_stride takes a mem1d_dsd"),
    ("_ = @set_dsd_stride(«out», 3);", "this must be a memory DSD, not 'fabout_dsd'"),
    ("_ = @increment_dsd_offset(«in», 1, i16);", "this must be a memory DSD, not 'fabin_dsd'"),
    ("_ = @increment_dsd_offset(d, 1, «3»);", "a type is needed here"),
    # DSD-167
    ("_ = @increment_dsd_offset(d, 1, «i8»);", "counts elements of i16, u16, i32, u32, f16 or f32, not 'i8'"),
    ("_ = @increment_dsd_offset(d, 1, «u12»);", "counts elements of i16, u16, i32, u32, f16 or f32, not 'u12'"),
    ("_ = @increment_dsd_offset(d, 1, «color»);", "counts elements of i16, u16, i32, u32, f16 or f32, not 'color'"),
    # DSD-235
    ("@mov16(d, d, «.{ .index = 65536 }»);", "65536 does not fit in 'u16'"),
    ("@mov16(d, d, «.{ .index = -1 }»);", "-1 does not fit in 'u16'"),
    ("@mov16(d, d, «.{ .index = 1.5 }»);", "expected 'u16', found 'comptime_float'"),
    ("@mov16(d, d, «.{ .index = @as(i16, n) }»);", "expected 'u16', found 'i16'"),
    ("_ = @set_dsd_base_addr(d, «n»);", "a base address is a pointer"),
    ("@map(«3», d, d);", "@map calls a function, not a value of type 'comptime_int'"),
    ("@map(«t», d, d);", "@map calls a function"),
    ("«@map(two, d)»;", "'two' takes 2 arguments, but @map is given 1 operands"),
    ("«@map(one, n)»;", "@map needs at least one DSD"),
    ("«@map(one, d)»;", "'one' returns a 'i16', but @map has no destination for it"),
    ("@map(one, d, «n»);", "@map writes its results to a DSD or through a pointer, not to a 'u16'"),
    ("@map(one, «fifo», d);", "a 'fifo_dsd' cannot be read by @map"),
    ("@map(one, «out», d);", "a 'fabout_dsd' cannot be read by @map"),
    ("@map(one, d, «in»);", "a 'fabin_dsd' cannot be written by @map"),
    ("@map(one, d, «read»);", "cannot write its results through a pointer to constant memory"),
    ("@map(small, «d», d);", "are numbers of 16 or 32 bits, but the function takes a 'i8'"),
    ("@map(none, d, «d»);", "'none' returns nothing for @map to store here"),
    ("«@map(one)»;", "@map takes a function, its arguments, and a destination"),
    ("_ = own; } const own = @allocate_fifo(«n»); fn unused() void {", "a FIFO needs an array as its buffer, not a 'u16'"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "message"), REFUSED)
def test_refuses(csl: Csl, statement: str, message: str) -> None:
    run = "task run() void { " + statement + " }\ncomptime { @bind_local_task(run, @get_local_task_id(9)); }"
    csl.refuses(DECLARATIONS + run, message)


def test_refuses_at_compile_time(csl: Csl) -> None:
    csl.refuses(DECLARATIONS + "comptime { «@mov16(d, d)»; }", "which do not exist at compile time")
    csl.refuses(DECLARATIONS + "comptime { «@map(one, d, d)»; }", "which do not exist at compile time")
