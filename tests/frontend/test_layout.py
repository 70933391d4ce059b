"""The layout block: rectangles, code, routes, exported names, params from the command line."""

from __future__ import annotations

import numpy as np
import pytest

from loomir.diagnostics.errors import LoomError
from loomir.dialects import wse

from .harness import Csl, pes

EMPTY = "param x: i16 = 0;"


def layout(*lines: str, width: int = 2, height: int = 1) -> str:
    """Return a layout whose PEs all have code, and what is said besides."""
    body = "\n".join(lines)
    return f"""
    param size: u16 = 4;
    const c = @get_color(3);
    layout {{
      @set_rectangle({width}, {height});
      for (@range(i16, {width})) |x| {{ for (@range(i16, {height})) |y| {{ @set_tile_code(x, y, "pe.csl"); }} }}
      {body}
    }}
    """


REFUSED = [
    ("layout { @set_rectangle(1, 1); «@set_rectangle(1, 1)»; }", "@set_rectangle is called twice"),
    ("layout { «@set_rectangle(0, 1)»; }", "the rectangle has 0 x 1 PEs; both sides must be at least 1"),
    ("layout { @set_rectangle(«1.5», 1); }", "the width must be an integer, not 'comptime_float'"),
    ('layout { «@set_tile_code(0, 0, "pe.csl")»; }', "@set_tile_code comes before @set_rectangle"),
    ('layout { @set_rectangle(1, 1); «@set_tile_code(1, 0, "pe.csl")»; }', "PE (1, 0) is outside the rectangle"),
    ('layout { @set_rectangle(1, 1); «@set_tile_code(0, -1, "pe.csl")»; }', "PE (0, -1) is outside the rectangle"),
    ('layout { @set_rectangle(1, 1); @set_tile_code(0, 0, «"other.csl"»); }', "there is no file 'other.csl'"),
    ('layout { @set_rectangle(1, 1); @set_tile_code(0, 0, «7»); }', "the name of a file must be a string"),
    ('layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", «.{ 1 }»); }', "params must be a struct"),
    ('layout { @set_rectangle(1, 1); @set_tile_code(«0.5», 0, "pe.csl"); }', "a coordinate is an integer"),
    (
        'layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl"); «@set_tile_code(0, 0, "pe.csl")»; }',
        "PE (0, 0) is given code twice",
    ),
    (
        'layout { @set_rectangle(2, 1); for (@range(i16, 5)) |x| { «@set_tile_code(x / 4, 0, "pe.csl")»; } }',
        "PE (0, 0) is given code twice",
    ),
    ('layout { «@set_rectangle(2, 1)»; @set_tile_code(1, 0, "pe.csl"); }', "PE (0, 0) is given no code"),
    ("layout { «@set_rectangle(3, 2)»; }", "6 PEs are, PE (0, 0) the first, given no code"),
    (
        layout("@set_color_config(0, 0, c, «.{ .routes = .{ .rx = .{}, .tx = .{ RAMP } } }»);"),
        "the route is incomplete: '.rx' names no direction",
    ),
    (
        layout("@set_color_config(0, 0, c, «.{ .routes = .{ .rx = WEST } }»);"),
        "the route is incomplete: '.tx' names no direction",
    ),
    (layout("@set_color_config(0, 0, c, «.{}»);"), "the configuration of a color needs '.routes'"),
    (
        layout("@set_color_config(0, 0, c, «.{ .routes = .{ .rx = 1, .tx = RAMP } }»);"),
        "a route consists of directions",
    ),
    (layout("@set_color_config(0, 0, c, «.{ .routes = .{ .rx = RAMP, .to = RAMP } }»);"), "has no field '.to'"),
    (layout("@set_color_config(0, 0, «3», .{ .routes = .{} });"), "this must be a color, not 'comptime_int'"),
    (layout("«@set_color_config(2, 0, c, .{ .routes = .{} })»;"), "PE (2, 0) is outside the rectangle of 2 x 1 PEs"),
    (
        layout("@set_color_config(0, 0, c, .{ .routes = .{} }); «@set_color_config(0, 0, c, .{ .routes = .{} })»;"),
        "PE (0, 0) is given two configurations of color 3",
    ),
    (layout("@set_color_config(0, 0, c, «.{ .routes = .{}, .teardown = .{} }»);"), "field '.teardown' is 'true' or"),
    (layout("«@set_local_color_config(c, .{ .routes = .{} })»;"), "belongs in a PE's program, not in the layout"),
    (layout("«@bind_local_task(c, c)»;"), "@bind_local_task belongs in a PE's program, not in the layout"),
    (layout("«@export_symbol(c)»;"), "@export_symbol belongs in a PE's program, not in the layout"),
    (layout('«@export_name("a", i16)»;'), "@export_name of a 'i16' needs a third argument"),
    (layout('@export_name("a", [*]i16, true); «@export_name("a", [*]i16, true)»;'), "'a' is exported twice"),
    (layout('@export_name("a", «comptime_int», true);'), "export a function, a number or a pointer"),
    (layout('@export_name("a", «[4]i16», true);'), "export a function, a number or a pointer"),
    (layout('@export_name("a", «struct { x: i16 }», true);'), "export a function, a number or a pointer"),
    (layout('@export_name("a", «enum { x }», true);'), "export a function, a number or a pointer"),
    (layout('@export_name("f", «fn([2]i16) void»);'), "the host cannot use a '[2]i16'"),
    (layout(f'@export_name("f", «fn({", ".join(["u16"] * 16)}) void»);'), "has at most 15"),
    (layout('@export_name(«7», i16, true);'), "the name of a symbol must be a string"),
    (layout('@export_name("a", «*anyopaque», true);'), "but a 'anyopaque' exists at compile time only"),
    ("layout { «@get_rectangle()»; }", "the rectangle is not set yet"),
    ("«layout {}»", "the layout does not set a rectangle"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_refuses(csl: Csl, text: str, message: str) -> None:
    csl.refuses(EMPTY, message, layout=text)


def test_two_layouts_and_none(csl: Csl) -> None:
    one = 'layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl"); }'
    csl.refuses(EMPTY, "a program has one layout block", layout=f"{one}\n«l»ayout {{}}")
    with pytest.raises(LoomError, match="this file has no layout block"):
        csl.layout(EMPTY, EMPTY)


def test_missing_layout_file(csl: Csl) -> None:
    from loomir.frontend import compile_layout

    with pytest.raises(LoomError, match="cannot be read") as caught:
        compile_layout(csl.directory / "nothing.csl")
    assert caught.value.location == str(csl.directory / "nothing.csl")
    (csl.directory / "bytes.csl").write_bytes(b"\xff\xfe")
    with pytest.raises(LoomError, match="not UTF-8"):
        compile_layout(csl.directory / "bytes.csl")
    with pytest.raises(LoomError, match="directory"):
        compile_layout(csl.directory)


def test_fabric_dimensions(csl: Csl) -> None:
    one = "layout { «@set_rectangle(3, 2)»; }"
    message = "the rectangle's width 3 at offset 4 does not fit the fabric's width 6; give larger --fabric-dims"
    csl.refuses(EMPTY, message, layout=one, fabric_dims=(6, 9))
    with pytest.raises(LoomError, match="unknown target 'wse9'"):
        csl.layout(one, EMPTY, arch="wse9")
    shown = layout("@comptime_print(@get_rectangle());")
    csl.layout(shown, EMPTY, fabric_dims=(20, 10), fabric_offsets=(5, 2))
    assert csl.printed == [
        "{width = 2, height = 1, fabric = {width = 20, height = 10}, offsets = {width = 5, height = 2}}"
    ]


def test_routes(csl: Csl) -> None:
    compiled = csl.layout(
        layout(
            "@set_color_config(0, 0, c, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST, RAMP } } });",
            "@set_color_config(1, 0, c, .{ .routes = .{ .rx = WEST, .tx = RAMP } });",
            "@set_color_config(1, 0, @get_color(4), .{ .routes = .{} });",
        ),
        EMPTY,
    )
    routes = [op for op in compiled.module.walk() if isinstance(op, wse.RouteOp)]
    shown = [(str(op.placement), op.input_ports, op.output_ports) for op in routes]
    assert [ports for _, *ports in shown] == [[("ramp",), ("east", "ramp")], [("west",), ("ramp",)]]
    assert [tuple(str(op.location).split(":")[1:2]) for op in routes]


def test_local_color_config(csl: Csl) -> None:
    text = """
    param x: i16;
    const c = @get_color(3);
    comptime {
      if (x == 0) { @set_local_color_config(c, .{ .routes = .{ .rx = RAMP, .tx = EAST } }); }
      else { @set_local_color_config(c, .{ .routes = .{ .rx = WEST, .tx = RAMP } }); }
    }
    """
    whole = 'layout { @set_rectangle(2, 1); for (@range(i16, 2)) |x| { @set_tile_code(x, 0, "pe.csl", .{ .x = x }); } }'
    compiled = csl.layout(whole, text)
    assert len([op for op in compiled.module.walk() if isinstance(op, wse.RouteOp)]) == 2
    both = whole.replace(
        " } }", " } @set_color_config(1, 0, @get_color(3), .{ .routes = .{ .rx = EAST, .tx = RAMP } }); }"
    )
    text = text.replace(
        "@set_local_color_config(c, .{ .routes = .{ .rx = WEST, .tx = RAMP } })",
        "«@set_local_color_config(c, .{ .routes = .{ .rx = WEST, .tx = RAMP } })»",
    )
    csl.refuses(text, "PE (1, 0) is given two configurations of color 3", layout=both, notes=["first here"])


def test_a_layout_file_that_is_code_too(csl: Csl) -> None:
    text = """
    param id: u16 = 0;
    var out = @zeros([1]u16);
    var out_ptr: [*]u16 = &out;
    fn main() void { out[0] = id + 1; }
    comptime { @export_symbol(out_ptr, "out"); @export_symbol(main); }
    layout {
      @set_rectangle(2, 1);
      @set_tile_code(0, 0);
      @set_tile_code(1, 0, "layout.csl", .{ .id = 7 });
      @export_name("out", [*]u16, true);
      @export_name("main", fn() void);
    }
    """
    import loomir

    simulator = loomir.Simulator(loomir.compile(csl.layout(text).module))
    simulator.launch("main")
    assert simulator.get("out")[0, :, 0].tolist() == [1, 8]


def test_code_by_absolute_path_and_in_folders(csl: Csl) -> None:
    code = 'const m = @import_module("../side.csl");\ncomptime { @comptime_assert(m.n == 3); }'
    files = {"deep/inner/code.csl": code, "deep/side.csl": "const n = 3;"}
    text = f"""
    layout {{
      @set_rectangle(2, 1);
      @set_tile_code(0, 0, "deep/inner/code.csl");
      @set_tile_code(1, 0, "{csl.directory}/deep/inner/code.csl");
    }}
    """
    assert len(pes(csl.layout(text, files=files))) == 1


def test_import_paths(csl: Csl) -> None:
    (csl.directory / "elsewhere").mkdir()
    (csl.directory / "elsewhere" / "lib.csl").write_text("const n = 5;")
    text = 'const m = @import_module("lib.csl");\ncomptime { @comptime_assert(m.n == 5); }'
    csl.pe(text, import_paths=(csl.directory / "elsewhere",))
    csl.refuses(text.replace('"lib.csl"', '«"lib.csl"»'), "there is no file 'lib.csl'")


# The command line


PARAMS = [
    ("u16", "7", "7"), ("i8", "-5", "-5"), ("f32", "1.5", "1.5"), ("f32", "2", "2.0"), ("bool", "true", "true"),
    ("comptime_string", "hello", "hello"), ("u16", "0x10", "16"), ("comptime_int", "12", "12"), ("color", "3", "3"),
]  # fmt: skip


@pytest.mark.parametrize(("type", "given", "shown"), PARAMS)
def test_params(csl: Csl, type: str, given: str, shown: str) -> None:
    csl.layout(layout("@comptime_print(p);") + f"param p: {type};", EMPTY, params={"p": given})
    assert csl.printed == [shown]


@pytest.mark.parametrize(
    ("type", "given", "message"),
    [
        ("u16", "70000", "70000 does not fit in 'u16'"),
        ("u16", "-1", "-1 does not fit in 'u16'"),
        ("u16", "abc", "expected 'u16', found 'comptime_string'"),
        ("u16", "1.5", "expected 'u16', found 'comptime_float'"),
        ("u16", "true", "expected 'u16', found 'bool'"),
        ("bool", "1", "expected 'bool', found 'comptime_int'"),
        ("color", "99", "color 99 of 'p' does not exist"),
        ("[2]u16", "1", "expected '[2]u16', found 'comptime_int'"),
        ("comptime_string", "5", "expected 'comptime_string', found 'comptime_int'"),
    ],
)
def test_params_of_wrong_types(csl: Csl, type: str, given: str, message: str) -> None:
    text = layout("_ = p;") + f"«param p: {type}»;"
    csl.refuses(EMPTY, message, layout=text, params={"p": given})


def test_unknown_and_missing_params(csl: Csl) -> None:
    with pytest.raises(
        LoomError, match="a value is given for 'sise', which is not a param of this file; its params are: size"
    ):
        csl.layout(layout(), EMPTY, params={"sise": "4"})
    with pytest.raises(LoomError, match="a color is given for 'rx', which is not a param of this file"):
        csl.layout(layout(), EMPTY, colors={"rx": 4})
    csl.refuses(EMPTY, "param 'p' has no value", layout=layout("_ = p;") + "«param p: u16»;")


def test_colors(csl: Csl) -> None:
    compiled = csl.layout(layout("@comptime_print(rx);") + "param rx: color;", EMPTY, colors={"rx": 4})
    assert csl.printed == ["4"] and compiled.colors == {"rx": 4}
    text = layout("_ = rx;") + "«param rx: color»;"
    csl.refuses(EMPTY, "color 77 of 'rx' does not exist", layout=text, colors={"rx": 77})


def test_params_of_tiles(csl: Csl) -> None:
    text = """
    param count: u16;
    param scale: f32 = 0.5;
    param record: comptime_struct;
    param list: [3]i16;
    param id: color;
    param f: fn(i16) i16;
    param nothing = {};
    var out = @zeros([6]f32);
    fn main() void {
      out[0] = @as(f32, count); out[1] = scale; out[2] = @as(f32, record.a); out[3] = @as(f32, list[2]);
      out[4] = @as(f32, @get_int(id)); out[5] = @as(f32, f(20));
    }
    """
    files = {"lib.csl": "fn twice(x: i16) i16 { return x * 2; }"}
    params = ".count = 7, .record = .{ .a = 3 }, .list = [3]i16{ 1, 2, 4 }, .id = @get_color(9), .f = lib.twice"
    # Imports are at the top of the layout file, so the harness's layout is not enough here.
    whole = f"""
    const lib = @import_module("lib.csl");
    layout {{
      @set_rectangle(1, 1);
      @set_tile_code(0, 0, "pe.csl", .{{ {params} }});
      @export_name("out", [*]f32, true);
      @export_name("main", fn() void);
    }}
    """
    exported = '\nvar out_ptr: [*]f32 = &out;\ncomptime { @export_symbol(out_ptr, "out"); @export_symbol(main); }'
    import loomir

    simulator = loomir.Simulator(loomir.compile(csl.layout(whole, text + exported, files=files).module))
    simulator.launch("main")
    np.testing.assert_array_equal(simulator.get("out")[0, 0], [7, 0.5, 3, 4, 9, 40])


TILE_PARAMS = [
    ("param n: u16;", ".n = -1", "-1 does not fit in 'u16'"),
    ("param n: u16;", ".n = true", "expected 'u16', found 'bool'"),
    ("param n: f32;", '.n = "x"', "expected 'f32', found 'comptime_string'"),
    ("param n: u16;", "", "param 'n' has no value; give it one where the file is imported or placed"),
    ("param n: [2]u16;", ".n = [3]u16{ 1, 2, 3 }", "expected '[2]u16', found '[3]u16'"),
]


@pytest.mark.parametrize(("declaration", "given", "message"), TILE_PARAMS)
def test_params_of_tiles_of_wrong_types(csl: Csl, declaration: str, given: str, message: str) -> None:
    whole = f'layout {{ @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{{ {given} }}); }}'
    text = f"«{declaration[:-1]}»;\ncomptime {{ _ = n; }}"
    csl.refuses(text, message, layout=whole)


def test_param_nobody_declares(csl: Csl) -> None:
    whole = 'layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{ .m = 1 }); }'
    (warning,) = csl.layout(whole, EMPTY).warnings
    assert "warning: 'pe.csl' has no param 'm'" in warning


ROUTES = ".routes = .{ .rx = RAMP, .tx = NORTH }"


@pytest.mark.parametrize(
    ("switches", "message"),
    [
        (".pos4 = .{ .rx = WEST }", "'.switches' has no field '.pos4'"),
        (".pos1 = .{ .to = WEST }", "'.pos1' has no field '.to'"),
        (".pos1 = .{}", "'.pos1' changes nothing; give it '.rx' or '.tx', or '.invalid = true'"),
        (".pos2 = .{ .tx = WEST, .invalid = true }", "'.pos2' is '.invalid' and has directions; leave one out"),
        (".pos1 = .{ .rx = .{ WEST, SOUTH } }", "takes the color from 2 ports; name exactly one"),
        (".pos1 = .{ .rx = .{} }", "takes the color from 0 ports; name exactly one"),
        (".pos1 = .{ .rx = NORTH }", "switch position 1: the route sends the color back to north"),
        (".pos1 = .{ .tx = 3 }", "a route consists of directions"),
        (".pos1 = .{ .rx = WEST, .tx = EAST }", "changes where the color comes from and where it goes; on wse2"),
        (".pos1 = .{ .tx = .{ WEST, EAST } }", "sends the color to 2 ports; on wse2 a position names exactly one"),
        (".pos1 = .{ .tx = WEST }, .current_switch_pos = 2", "'.current_switch_pos' is 2, but there is no '.pos2'"),
        (".pos1 = .{ .tx = WEST }, .current_switch_pos = 4", "'.current_switch_pos' is 0 to 3, not 4"),
        (".pos1 = .{ .tx = WEST }, .pop_mode = .{ .pop = true }", "there is no pop mode '.pop'; the modes are no_pop,"),
        (".pos1 = .{ .tx = WEST }, .ring_mode = 1", "field '.ring_mode' is 'true' or 'false'"),
    ],
)
def test_refuses_switches(csl: Csl, switches: str, message: str) -> None:
    text = layout(f"@set_color_config(0, 0, c, «.{{ {ROUTES}, .switches = .{{ {switches} }} }}»);")
    csl.refuses(EMPTY, message, layout=text)


def test_refuses_switches_of_what_has_none(csl: Csl) -> None:
    switches = ".switches = .{ .pos1 = .{ .rx = WEST } }"
    text = layout(f"@set_color_config(0, 0, @get_color(10), «.{{ {ROUTES}, {switches} }}»);")
    csl.refuses(EMPTY, "color @color_10 has id 10, for which wse3 has no switches", layout=text, arch="wse3")
    csl.layout(text.replace("«", "").replace("»", ""), EMPTY, "wse2")
    text = layout(f"@set_color_config(0, 0, c, «.{{ .routes = .{{ .tx = NORTH }}, {switches} }}»);")
    csl.refuses(EMPTY, "switch position 0: the route comes from no port", layout=text)
    text = layout(f"@set_color_config(0, 0, c, «.{{ .routes = .{{ .ring_mode = true }}, {switches} }}»);")
    csl.refuses(EMPTY, "'.ring_mode' is in '.routes', although there are '.switches'", layout=text)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            f"{ROUTES}, .switches = .{{ .pos1 = .{{ .tx = WEST }}, .pos2 = .{{ .rx = SOUTH }}, "
            ".current_switch_pos = 2, .ring_mode = true, .pop_mode = .{ .always_pop = true } }",
            "[to [west], from [south]] at 2 ring always_pop",
        ),
        (
            f"{ROUTES}, .switches = .{{ .pos1 = .{{ .invalid = true }}, .pos3 = .{{ .rx = WEST, .tx = .{{}} }}, "
            ".pop_mode = .{ .no_pop = true } }",
            "[invalid, invalid, from [west] to []]",
        ),
        # Where earlier releases had them.
        (
            ".routes = .{ .rx = RAMP, .tx = NORTH, .pos1 = .{ .tx = WEST }, .pop_mode = .{ .pop_on_advance = true } }",
            "[to [west]] pop_on_advance",
        ),
        (f"{ROUTES}, .switches = .{{}}", "[]"),
    ],
)
def test_switches(csl: Csl, config: str, expected: str) -> None:
    compiled = csl.layout(layout(f"@set_color_config(1, 0, c, .{{ {config} }});"), EMPTY, "wse3")
    (route,) = [op for op in compiled.module.walk() if isinstance(op, wse.RouteOp)]
    assert str(route).endswith(f" on [1, 0] from [ramp] to [north] switch {expected}")


WIRE = """
    const c = @get_color(3);
    const wire = @get_dsd(fabout_dsd, .{ .extent = 2, .fabric_color = c, .output_queue = @get_output_queue(2) });
    const from = @get_dsd(fabin_dsd, .{ .extent = 2, .fabric_color = c, .input_queue = @get_input_queue(2) });
    var out = @zeros([2]i16);
    const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> out[i] });
    comptime {
      @initialize_queue(@get_input_queue(2), .{ .color = c });
      if (@is_arch("wse3")) @initialize_queue(@get_output_queue(2), .{ .color = c });
    }
"""
"""An input and an output queue of a color, DSDs of both, and one over two elements."""


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("switches", ["", ".switches = .{ .pos1 = .{ .tx = RAMP } }"])
def test_a_route_may_go_to_one_of_several_ports_that_it_comes_from(csl: Csl, arch: str, switches: str) -> None:
    """As public programs have it: nothing need come from there."""
    text = """
    param sends: bool;
    fn main() void { if (sends) { @mov16(wire, @as(i16, 7)); } else { @mov16(to, from); } }
    """
    text += WIRE
    routes = f"""
    @set_color_config(0, 0, @get_color(3), .{{ .routes = .{{ .rx = .{{ EAST, RAMP }}, .tx = EAST }}, {switches} }});
    @set_color_config(1, 0, @get_color(3), .{{ .routes = .{{ .rx = WEST, .tx = RAMP }} }});
    """
    options = {"params": ".sends = x == 0", "width": 2, "layout": routes, "arch": arch}
    simulator = csl.start(text, {"out": "i16"}, **options)
    simulator.launch("main")
    assert simulator.get("out").tolist() == [[[0, 0], [7, 7]]]


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_a_color_with_positions_may_have_no_route_yet(csl: Csl, arch: str) -> None:
    """As public programs have it: the program makes position 0 at run time, in the register of the color."""
    text = """
    const tile = @import_module("<tile_config>");
    comptime {
      @set_local_color_config(c, .{ .routes = .{ .rx = .{}, .tx = .{} }, .switches = .{ .pos1 = .{ .rx = WEST } } });
    }
    fn main() void {
      const register = @bitcast(*u16, @as(u16, tile.target.addresses.COLOR_CONFIG) + 3 * tile.word_size);
      register.* = (register.* & 0xfc00) | 0x210;
      @mov16(wire, @as(i16, 7), .{ .async = true });
      @mov16(to, from);
    }
    """
    assert csl.run(text + WIRE, {"out": "i16"}, arch=arch)["out"].tolist() == [7, 7]
