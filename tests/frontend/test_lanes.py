"""Unit classes, and layouts whose iterations are evaluated together: the same as one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import loomir
from loomir.dialects import wse
from loomir.dialects.machine.region import RegionAttr
from loomir.frontend import loops
from loomir.frontend.compilation import CompiledLayout
from loomir.frontend.regions import regions

from ..searches import examples
from .harness import Csl, pes

PE = """
param id: i16;
param x: i16;
param y: u16;
param scale: f32 = 1.0;
var table = [3]i16{ id, x, 7 };
var out = @zeros([6]i16);
var out_ptr: [*]i16 = &out;
fn main() void {
  out[0] = id;
  out[1] = x * 10 + @as(i16, y);
  out[2] = table[0] + table[1];
  out[3] = id * (1 - 2 * (id & 1));
  out[4] = @as(i16, scale * 4.0);
  var i: i16 = 0;
  while (i < x) : (i += 1) { out[5] += id; }
}
comptime { @export_symbol(out_ptr, "out"); @export_symbol(main); }
"""
EXPORTS = '@export_name("out", [*]i16, true); @export_name("main", fn() void);'


def covered(found: Iterable[RegionAttr]) -> list[tuple[int, int]]:
    """Return the PEs of regions, as often as they are in one."""
    resolved = [region.resolve(100, 100) for region in found]
    return [(x, y) for columns, rows in resolved for x in columns for y in rows]


def grid(width: int, height: int, body: str) -> str:
    return f"""
    layout {{
      @set_rectangle({width}, {height});
      for (@range(i16, {width})) |x| {{ for (@range(i16, {height})) |y| {{ {body} }} }}
      {EXPORTS}
    }}
    """


def expected(width: int, height: int, id: Callable[[int, int], int], scale: float = 1.0) -> np.ndarray:
    out = np.zeros((height, width, 6), np.int64)
    for y in range(height):
        for x in range(width):
            n = id(x, y)
            out[y, x] = [n, x * 10 + y, n + x, n if n % 2 == 0 else -n, int(scale * 4), n * x]
    return out.astype(np.int16)


def run(compiled: CompiledLayout) -> np.ndarray:
    simulator = loomir.Simulator(loomir.compile(compiled.module, verify_each=False))
    simulator.launch("main")
    return simulator.get("out")


@pytest.mark.slow
def test_a_thousand_pes_are_one_class(csl: Csl) -> None:
    body = '@set_tile_code(x, y, "pe.csl", .{ .id = x * 25 + y, .x = x, .y = @as(u16, y) });'
    compiled = csl.layout(grid(40, 25, body), PE)
    assert len(pes(compiled)) == 1
    np.testing.assert_array_equal(run(compiled), expected(40, 25, lambda x, y: x * 25 + y))


USES = {
    # A compile-time use of a param, and how many classes 12 PEs with the ids 0 to 11 need for it.
    "none": ("", 1),
    "a comparison": ("comptime { if (id == 3) {} }", 2),
    "a switch": ("comptime { switch (id) { 0, 1 => {}, 2 => {}, else => {} } }", 12),
    "a remainder": ("const kind = id % 3; comptime { if (kind == 0) {} else if (kind == 1) {} }", 3),
    "the extent of an array": ("var extra = @zeros([id + 1]i16); comptime { _ = &extra; }", 12),
    "an index at compile time": ("const n = (@zeros([12]i16))[id]; comptime { _ = n; }", 12),
    "a color": (
        "const d = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = @get_color(id / 6) }); comptime { _ = d; }", 2
    ),
    "an assertion that holds": ("comptime { @comptime_assert(id < 12); }", 1),
    "a print": ("comptime { @comptime_print(id); }", 1),
    "a loop": ("comptime { for (@range(i16, id)) |i| { _ = i; } }", 12),
    "a branch": ("fn extra() i16 { if (id > 5) { return 1; } else { return 2; } } comptime { _ = extra(); }", 2),
    "the extent of a DSD": (
        "const d = @get_dsd(mem1d_dsd, .{ .base_address = &out, .extent = id }); comptime { _ = d; }", 12
    ),
}  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("code", "classes"), USES.values(), ids=USES)
def test_compile_time_uses_split_as_far_as_they_must(csl: Csl, code: str, classes: int) -> None:
    body = '@set_tile_code(x, y, "pe.csl", .{ .id = x * 3 + y, .x = x, .y = @as(u16, y) });'
    compiled = csl.layout(grid(4, 3, body), PE + code)
    assert len(pes(compiled)) <= classes
    np.testing.assert_array_equal(run(compiled), expected(4, 3, lambda x, y: x * 3 + y))


def test_fails_for_one_pe(csl: Csl) -> None:
    layout = (
        'layout { @set_rectangle(9, 1); for (@range(i16, 9)) |x| { @set_tile_code(x, 0, "pe.csl", .{ .id = x }); } }'
    )
    csl.refuses("param id: i16;\ncomptime { «@comptime_assert(id != 5)»; }", "comptime_assert failed", layout=layout)
    csl.refuses(
        "«param id: i8»;\ncomptime { _ = id; }",
        "does not fit in 'i8'",
        layout=layout.replace("= x }", "= x + 125 }"),
    )
    csl.refuses("param id: i16;\nconst a = [4]i16{ 1, 2, 3, 4 };\nconst b = a[«id»];\ncomptime { _ = b; }",
                "index 4 is outside the array", layout=layout)  # fmt: skip


def test_params_that_are_the_same_everywhere_are_constants(csl: Csl) -> None:
    body = '@set_tile_code(x, y, "pe.csl", .{ .id = 7 + x - x, .x = x, .y = @as(u16, y) });'
    compiled = csl.layout(
        grid(4, 3, body), PE.replace("var table = [3]", "const n = @zeros([id]i16);\nvar table = [3]")
    )
    assert len(pes(compiled)) == 1
    np.testing.assert_array_equal(run(compiled), expected(4, 3, lambda x, y: 7))


ROUTES_OF_EACH = """
param config: comptime_struct;
const tile = @import_module("<tile_config>");
const c2 = @get_color(2);
var out = @zeros([1]u16);
var out_ptr: [*]u16 = &out;
fn main() void {
  tile.color_config.reset_routes(c2, config.routes);
  out[0] = @get_config(tile.color_config.get_color_config_addr(c2));
}
comptime {
  @set_local_color_config(c2, .{ .routes = .{ .rx = RAMP, .tx = RAMP } });
  @export_symbol(out_ptr, "out"); @export_symbol(main);
}
"""


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_directions_in_arrays_differ_in_one_class(csl: Csl, arch: str) -> None:
    """Routes that the layout chooses PE by PE are data of one program as long as nothing branches on them."""
    sides = ("WEST", "EAST", "SOUTH", "NORTH", "RAMP")
    chosen = [(rx, tx, also) for rx in sides for tx in sides for also in sides if len({rx, tx, also}) == 3][::7]
    tiles = [
        f'@set_tile_code({x}, 0, "pe.csl", .{{ .config = .{{ .routes = .{{ .rx = [1]direction{{ {rx} }}, '
        f".tx = [2]direction{{ {tx}, {also} }} }} }} }});"
        for x, (rx, tx, also) in enumerate(chosen)
    ]
    exports = '@export_name("out", [*]u16, true); @export_name("main", fn() void);'
    layout = f"layout {{ @set_rectangle({len(chosen)}, 1); {' '.join(tiles)} {exports} }}"
    compiled = csl.layout(layout, ROUTES_OF_EACH, arch)
    assert len(pes(compiled)) == 1
    bits = {side: 1 << position for position, side in enumerate(sides)}
    expected = [bits[tx] | bits[also] | bits[rx] << 5 for rx, tx, also in chosen]
    assert run(compiled)[0, :, 0].tolist() == expected
    apart = csl.layout(
        layout, ROUTES_OF_EACH.replace("c2, .{ .routes = .{ .rx = RAMP, .tx = RAMP } }", "c2, config"), arch
    )
    assert run(apart)[0, :, 0].tolist() == expected and apart.programs == len(chosen)


def test_columns_in_structs_and_arrays(csl: Csl) -> None:
    text = """
    param record: comptime_struct;
    param list: [2]i16;
    param way: bool;
    param f: f32;
    param big: i32;
    param tiny: i8;
    param records: comptime_struct;
    var out = @zeros([8]i16);
    var wide = [2]i32{ big, 1 };
    var floats = [2]f32{ f, 1.0 };
    var out_ptr: [*]i16 = &out;
    fn main() void {
      out[0] = record.inner.n; out[1] = list[0]; out[2] = list[1]; out[3] = if (way) 1 else 2;
      out[4] = @as(i16, floats[0] * 2.0); out[5] = @as(i16, wide[0] / 1000); out[6] = tiny;
      out[7] = records.list[1].n * 10 + records.list[0].n;
    }
    comptime { @export_symbol(out_ptr, "out"); @export_symbol(main); }
    """
    body = """@set_tile_code(x, y, "pe.csl", .{
      .record = .{ .inner = .{ .n = x + y } }, .list = [2]i16{ x, y * 2 }, .way = x < y,
      .f = @as(f32, x) * 0.5, .big = @as(i32, x) * 100000, .tiny = @as(i8, y - x),
      .records = .{ .list = [2]record{ record{ .n = x }, record{ .n = y } } } });"""
    compiled = csl.layout("const record = struct { n: i16 };" + grid(4, 3, body), text)
    assert len(pes(compiled)) == 2
    out = run(compiled)
    for y in range(3):
        for x in range(4):
            way = 1 if x < y else 2
            assert out[y, x].tolist() == [x + y, x, y * 2, way, x, x * 100, y - x, y * 10 + x], (x, y)


BODIES = {
    "plain": '@set_tile_code(x, y, "pe.csl", .{ .id = x * 3 + y, .x = x, .y = @as(u16, y) });',
    "one branch": """
      if (x == 0) { @set_tile_code(x, y, "pe.csl", .{ .id = 5, .x = x, .y = @as(u16, y) }); }
      else { @set_tile_code(x, y, "pe.csl", .{ .id = y, .x = x, .y = @as(u16, y) }); }""",
    "a chain": """
      const id: i16 = if (x == 0) 1 else if (y == 0) 2 else if (x == 3 and y == 2) 3 else if (x < y) 4 else x + y;
      @set_tile_code(x, y, "pe.csl", .{ .id = id, .x = x, .y = @as(u16, y) });""",
    "a switch": """
      const id: i16 = switch (x) { 0 => 9, 1, 2 => y, else => x * y };
      @set_tile_code(x, y, "pe.csl", .{ .id = id, .x = x, .y = @as(u16, y) });""",
    "a function": """
      @set_tile_code(x, y, "pe.csl", .{ .id = helper(x, y), .x = x, .y = @as(u16, y) });""",
    "inner variables": """
      var id: i16 = 0;
      for (@range(i16, x)) |i| { id += i * y; }
      while (id > 5) { id -= 2; }
      @set_tile_code(x, y, "pe.csl", .{ .id = id, .x = x, .y = @as(u16, y) });""",
    "a counter": """
      count += 1;
      @set_tile_code(x, y, "pe.csl", .{ .id = count, .x = x, .y = @as(u16, y) });""",
    "continue": """
      if (x == 2 and y == 1) { @set_tile_code(x, y, "pe.csl", .{ .id = 1, .x = x, .y = 1 }); continue; }
      @set_tile_code(x, y, "pe.csl", .{ .id = y, .x = x, .y = @as(u16, y) });""",
    "structs": """
      const common = .{ .x = x, .y = @as(u16, y) };
      const more = if (x % 2 == 0) .{ .id = x, .scale = 2.0 } else .{ .id = y, .scale = 3.0 };
      @set_tile_code(x, y, "pe.csl", @concat_structs(common, more));""",
    "arrays": """
      const list = [4]i16{ 10, 20, 30, 40 };
      @set_tile_code(x, y, "pe.csl", .{ .id = list[x] + y, .x = x, .y = @as(u16, y) });""",
    "colors": """
      if (x + 1 < 4) { @set_color_config(x, y, @get_color(x % 2), .{ .routes = .{ .rx = RAMP, .tx = EAST } }); }
      if (x > 0) { @set_color_config(x, y, @get_color((x + 1) % 2), .{ .routes = .{ .rx = WEST, .tx = RAMP } }); }
      @set_tile_code(x, y, "pe.csl", .{ .id = x, .x = x, .y = @as(u16, y) });""",
    "logic": """
      const edge = x == 0 or y == 0 or x == 3 or y == 2;
      const id = @as(i16, edge) + @as(i16, !edge and x > y) * 2;
      @set_tile_code(x, y, "pe.csl", .{ .id = id, .x = x, .y = @as(u16, y) });""",
    "numbers": """
      const f = @as(f32, x) / 3.0 + @as(f32, y) * 0.25;
      const n = (x << 3) ^ (y | 5) & ~x;
      const id = @as(i16, f * 100.0) + n % 7 - x / 2;
      @set_tile_code(x, y, "pe.csl", .{ .id = id, .x = x, .y = @as(u16, y), .scale = f });""",
}  # fmt: skip

LOOPS = {
    "rows inside": "for (@range(i16, 4)) |x| { for (@range(i16, 3)) |y| { BODY } }",
    "columns inside": "for (@range(i16, 3)) |y| { for (@range(i16, 4)) |x| { BODY } }",
    "downwards": "for (@range(i16, 3, -1, -1)) |x| { for (@range(i16, 3)) |y| { BODY } }",
    "one loop": "for (@range(i16, 12)) |i| { const x = i / 3; const y = i % 3; BODY }",
    "indices": "for (@range(i16, 100, 104, 1)) |_, c| { const x = @as(i16, c); for (@range(i16, 3)) |y| { BODY } }",
    "while": "var x: i16 = 0; while (x < 4) : (x += 1) { var y: i16 = 0; while (y < 3) : (y += 1) { BODY } }",
    "triangles": """
      for (@range(i16, 4)) |x| { for (@range(i16, x)) |y| { if (y < 3) { BODY } } }
      for (@range(i16, 4)) |x| { for (@range(i16, x, 3, 1)) |y| { BODY } }""",
    "two steps": """
      for (@range(i16, 0, 4, 2)) |a| { for (@range(i16, 3)) |y| { { const x = a; BODY } { const x = a + 1; BODY } } }
    """,
    "an array of columns": "for ([4]i16{ 2, 0, 3, 1 }) |x| { for (@range(i16, 3)) |y| { BODY } }",
}  # fmt: skip


def whole(loop: str, body: str) -> str:
    return f"""
    fn helper(x: i16, y: i16) i16 {{ if (x > y) {{ return x; }} var n = y; n *= 2; return n; }}
    layout {{
      @set_rectangle(4, 3);
      var count: i16 = 0;
      {loop.replace("BODY", body)}
      {EXPORTS}
    }}
    """


def outcome(csl: Csl, text: str) -> tuple[np.ndarray, set[tuple[str, tuple[int, int], str, str]], int]:
    """Return what the PEs compute, the route of each color at each PE, and the number of classes."""
    compiled = csl.layout(text, PE)
    routes = {
        (op.color.string_value(), point, str(op.input_ports), str(op.output_ports))
        for op in compiled.module.walk()
        if isinstance(op, wse.RouteOp)
        for point in covered(op.placement)
    }
    return run(compiled), routes, len(pes(compiled))


@pytest.mark.slow
@pytest.mark.one_in(8)
@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_together_is_the_same_as_one_after_the_other(
    csl: Csl, loop: str, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "continue" in body and "a + 1" in loop:
        pytest.skip("`continue` leaves out the second half")
    together = outcome(csl, whole(loop, body))
    monkeypatch.setattr(loops, "_together", lambda *arguments: False)
    monkeypatch.setattr(loops, "_while_together", lambda *arguments: False)
    alone = outcome(csl, whole(loop, body))
    np.testing.assert_array_equal(together[0], alone[0])
    assert together[1:] == alone[1:]


def test_break_out_of_a_loop_over_pes(csl: Csl) -> None:
    text = """
    layout {
      @set_rectangle(3, 1);
      for (@range(i16, 100)) |x| {
        if (x == 3) { break; }
        @set_tile_code(x, 0, "pe.csl", .{ .id = x, .x = x, .y = 0 });
      }
      EXPORTS
    }
    """.replace("EXPORTS", EXPORTS)
    np.testing.assert_array_equal(run(csl.layout(text, PE)), expected(3, 1, lambda x, y: x))


def test_prints_in_order(csl: Csl) -> None:
    text = whole(LOOPS["rows inside"], "@comptime_print(x, y);" + BODIES["plain"])
    csl.layout(text, PE)
    assert csl.printed == [f"{x}, {y}" for x in range(4) for y in range(3)]


# Regions


@given(st.sets(st.tuples(st.integers(0, 14), st.integers(0, 9)), min_size=1))
@settings(max_examples=examples(150))
def test_regions_cover_each_pe_once(points: set[tuple[int, int]]) -> None:
    columns = np.array([x for x, _ in points], np.int64)
    rows = np.array([y for _, y in points], np.int64)
    found = covered(regions(columns, rows))
    assert len(found) == len(set(found))
    assert set(found) == points


@given(
    st.integers(0, 5), st.integers(1, 4), st.integers(1, 12), st.integers(0, 5), st.integers(1, 4), st.integers(1, 12)
)
@settings(max_examples=examples(60))
def test_a_strided_grid_is_one_region(x: int, dx: int, nx: int, y: int, dy: int, ny: int) -> None:
    places = [(x + i * dx, y + j * dy) for i in range(nx) for j in range(ny)]
    found = regions(np.array([a for a, _ in places]), np.array([b for _, b in places]))
    assert len(found) == 1
    assert sorted(covered(found)) == sorted(places)


@given(ids=st.lists(st.integers(-30000, 30000), min_size=4, max_size=9))
@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_ids(ids: list[int], tmp_path: Path) -> None:
    csl = Csl(tmp_path)
    width = len(ids)
    text = f"""
    const ids = [{width}]i16{{ {", ".join(map(str, ids))} }};
    layout {{
      @set_rectangle({width}, 1);
      for (@range(u16, {width})) |x| {{
        @set_tile_code(x, 0, "pe.csl", .{{ .id = ids[x], .x = @as(i16, x), .y = 0 }});
      }}
      {EXPORTS}
    }}
    """
    out = run(csl.layout(text, PE))
    assert out[0, :, 0].tolist() == ids


COMPARED = """
param id: i16;
const S = struct { a: i16, b: f32 };
const one = S{ .a = id, .b = 1.0 };
const other = S{ .a = id * id, .b = 1.0 };
const pair = [2]i16{ 7, id + 1 };
const nan = @bitcast(f32, @as(u32, 0x7fc00000));
var n: i16 = 2;
var out = @zeros([8]i16);
var out_ptr: [*]i16 = &out;
fn said(place: u16, holds: bool) void { if (holds) { out[place] = 1; } else { out[place] = 2; } }
fn main() void {
  said(0, one == other);
  said(1, one != other);
  said(2, pair == [2]i16{ 7, id * 2 });
  said(3, S{ .a = id, .b = nan } == S{ .a = id, .b = nan });
  said(4, S{ .a = n, .b = 1.0 } == S{ .a = id, .b = 1.0 });
  said(5, S{ .a = n, .b = 1.0 } != S{ .a = n + 1, .b = 1.0 });
  said(6, one == S{ .a = id + 0, .b = 1.0 });
  said(7, @constants([2]i16, id) == [2]i16{ 1, 1 });
}
comptime { @export_symbol(out_ptr, "out"); @export_symbol(main); }
"""


def test_structs_and_arrays_are_compared_on_each_pe(csl: Csl) -> None:
    """By what their parts are on the PE, whatever expression they come from; a NaN is not equal to itself."""
    compiled = csl.layout(grid(4, 1, '@set_tile_code(x, y, "pe.csl", .{ .id = x });'), COMPARED)
    assert run(compiled)[0].tolist() == [
        [1 if holds else 2 for holds in (
            id == id * id, id != id * id, id + 1 == id * 2, False, id == 2, True, True, id == 1)]
        for id in range(4)
    ]  # fmt: skip
