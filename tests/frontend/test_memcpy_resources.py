"""Resources reserved by <memcpy/memcpy> in a program that imports it (SDK documentation, tensor streaming)."""

from __future__ import annotations

from dataclasses import fields

import pytest

from loomir import targets

from .harness import Csl

LAYOUT = """
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 1, .height = 1 STREAM });
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(0) });
  ROUTE
}
"""
IMPORT = 'param memcpy_params: comptime_struct;\nconst sys = @import_module("<memcpy/memcpy>", memcpy_params);\n'


def layout(route: str = "", stream: str = "") -> str:
    return LAYOUT.replace("ROUTE", route).replace("STREAM", stream)


def refuses(csl: Csl, code: str, message: str, arch: str, text: str = "") -> None:
    """The program is wrong with memcpy, and only with it."""
    csl.refuses(IMPORT + code, message, text or layout(), arch, memcpy=True, channels=1)
    plain = layout().replace(".memcpy_params = memcpy.get_params(0)", "")
    csl.layout(plain, code.replace("«", "").replace("»", ""), arch)


def test_the_documented_numbers() -> None:
    for name, input_queues, tasks in (("wse2", (0,), (21, 22, 23, 27, 28, 29, 30)), ("wse3", (0, 1), (27, 28, 29, 30))):
        kept = targets.get(name).memcpy
        assert {field.name: getattr(kept, field.name) for field in fields(kept)} == {
            "colors": (21, 22, 23), "local_task_ids": tasks, "control_task_ids": (33, 34, 35, 36, 37),
            "input_queues": input_queues, "output_queues": (0,), "microthreads": (0,), "dsr_dest": (0,),
            "dsr_src1": (0,),
        }  # fmt: skip


LOCAL = "task t() void {}\ncomptime { «@bind_local_task(t, @get_local_task_id(ID))»; }"
CONTROL = "task t() void {}\ncomptime { «@bind_control_task(t, @get_control_task_id(ID))»; }"


@pytest.mark.parametrize(
    ("arch", "id"), [("wse2", 21), ("wse2", 22), ("wse2", 23), ("wse2", 27), ("wse2", 28), ("wse3", 27), ("wse3", 28)]
)
def test_local_tasks(csl: Csl, arch: str, id: int) -> None:
    kept = "21, 22, 23, 27, 28, 29 and 30" if arch == "wse2" else "27, 28, 29 and 30"
    refuses(
        csl,
        LOCAL.replace("ID", str(id)),
        f"local task id {id} belongs to <memcpy/memcpy>, which this program imports and which reserves the local task "
        f"ids {kept}; choose another id",
        arch,
    )


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_control_tasks(csl: Csl, arch: str) -> None:
    for id in (33, 37):
        refuses(csl, CONTROL.replace("ID", str(id)), f"control task id {id} belongs to <memcpy/memcpy>", arch)
    for free in (32, 38):
        code = CONTROL.replace("ID", str(free)).replace("«", "").replace("»", "")
        csl.layout(layout(), IMPORT + code, arch, memcpy=True, channels=1)


def test_ids_that_are_free(csl: Csl) -> None:
    for arch, ids in (("wse2", (20, 24, 26)), ("wse3", (21, 23, 26))):
        for id in ids:
            code = LOCAL.replace("ID", str(id)).replace("«", "").replace("»", "")
            assert csl.layout(layout(), IMPORT + code, arch, memcpy=True, channels=1).warnings == []


ROUTES = "{ .routes = .{ .rx = .{ WEST }, .tx = .{ EAST } } }"
SEND = """
const out = @get_dsd(fabout_dsd, .{ .fabric_color = @get_color(22), .extent = 1 });
var word: [1]u32 = @zeros([1]u32);
fn main() void { @mov32(«out», @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{1} -> word[i] })); }
comptime { @export_symbol(main); }
"""


def test_colors_in_the_layout(csl: Csl) -> None:
    route = f"«@set_color_config(0, 0, @get_color(21), .{ROUTES})»;"
    message = (
        "color 21 belongs to <memcpy/memcpy>, which this program imports and which reserves the colors 21, 22 and 23"
    )
    csl.refuses("", message, layout(route), files={"pe.csl": IMPORT}, memcpy=True)
    plain = layout(route).replace("«", "").replace("»", "")
    csl.layout(plain.replace(".memcpy_params = memcpy.get_params(0)", ""), "")


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_colors_of_a_pe(csl: Csl, arch: str) -> None:
    local = f"comptime {{ «@set_local_color_config(@get_color(23), .{ROUTES})»; }}"
    refuses(csl, local, "color 23 belongs to <memcpy/memcpy>", arch)


def test_colors_of_descriptors(csl: Csl) -> None:
    export = '@export_name("main", fn() void);'
    csl.refuses(IMPORT + SEND, "color 22 belongs to <memcpy/memcpy>", layout(export), memcpy=True)


def test_colors_of_queues_and_data_tasks(csl: Csl) -> None:
    queue = "comptime { @initialize_queue(@get_input_queue(3), «.{ .color = @get_color(21) }»); }"
    refuses(csl, queue, "color 21 belongs to <memcpy/memcpy>", "wse3")
    task = "task t(x: u32) void {}\ncomptime { «@bind_data_task(t, @get_data_task_id(@get_color(21)))»; }"
    refuses(csl, task, "color 21 belongs to <memcpy/memcpy>", "wse2")


def test_colors_of_streams(csl: Csl) -> None:
    code = IMPORT.replace(
        '@import_module("<memcpy/memcpy>", memcpy_params)', '«@import_module("<memcpy/memcpy>", memcpy_params)»'
    )
    stream = layout(stream=", .MEMCPYH2D_1 = @get_color(21)")
    csl.refuses(code, "color 21 belongs to <memcpy/memcpy>", stream, memcpy=True)


QUEUES = """
const in = @get_input_queue(IN);
const out = @get_output_queue(OUT);
comptime {
  @initialize_queue(in, .{ .color = @get_color(3) });
  @initialize_queue(out, .{ .color = @get_color(4) });
}
"""


@pytest.mark.parametrize(
    ("arch", "queue", "warned"),
    [
        ("wse2", (0, 0), ["input queue 0", "output queue 0"]), ("wse2", (1, 1), []),
        ("wse3", (0, 0), ["input queue 0", "output queue 0"]), ("wse3", (1, 1), ["input queue 1"]),
        ("wse3", (2, 2), []),
    ],
)  # fmt: skip
def test_queues_are_a_warning(csl: Csl, arch: str, queue: tuple[int, int], warned: list[str]) -> None:
    code = QUEUES.replace("IN", str(queue[0])).replace("OUT", str(queue[1]))
    if arch == "wse2":
        code = code.replace("@initialize_queue(out, .{ .color = @get_color(4) })", "@initialize_queue(out)")
    compiled = csl.layout(layout(), IMPORT + code, arch, memcpy=True, channels=1)
    lines = {"input": 7, "output": 8}
    assert compiled.warnings == [
        f"{csl.directory}/pe.csl:{lines[what.split()[0]]}:3: warning: <memcpy/memcpy> uses {what} too, which is free "
        "between the host's commands only; use another"
        for what in warned
    ]
    plain = layout().replace(".memcpy_params = memcpy.get_params(0)", "")
    assert csl.layout(plain, code, arch).warnings == []


def test_registers_and_microthreads_are_a_warning(csl: Csl) -> None:
    code = """
    const dest = @get_dsr(dsr_dest, 0);
    const left = @get_dsr(dsr_src0, 0);
    const right = @get_dsr(dsr_src1, 0);
    const free = @get_dsr(dsr_dest, 1);
    const queue = @get_output_queue(2);
    const out = @get_dsd(fabout_dsd, .{ .fabric_color = @get_color(4), .output_queue = queue, .extent = 1 });
    var word: [1]u32 = @zeros([1]u32);
    fn main() void {
      const words = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{1} -> word[i] });
      @mov32(out, words, .{ .async = true, .ut_id = @get_ut_id(0) });
    }
    comptime {
      @initialize_queue(queue, .{ .color = @get_color(4) });
      _ = dest; _ = left; _ = right; _ = free;
      @export_symbol(main);
    }
    """
    route = '@export_name("main", fn() void);'
    compiled = csl.layout(layout(route), IMPORT + code, "wse3", memcpy=True, channels=1)
    told = [warning.split("<memcpy/memcpy> uses ")[1].split(" too")[0] for warning in compiled.warnings]
    assert sorted(told) == ["dsr_dest 0", "dsr_src1 0", "microthread 0"]
    assert ":4:18: warning" in next(warning for warning in compiled.warnings if "dsr_dest" in warning)


def test_a_module_that_imports_memcpy_is_enough(csl: Csl) -> None:
    files = {"lib.csl": IMPORT}
    code = f'const lib = @import_module("lib.csl", .{{ .memcpy_params = .{{}} }});\n{LOCAL.replace("ID", "27")}'
    plain = layout().replace(".memcpy_params = memcpy.get_params(0)", "")
    csl.refuses(code, "local task id 27 belongs to <memcpy/memcpy>", plain, "wse3", files=files, memcpy=True)


def test_two_streams_of_one_color(csl: Csl) -> None:
    """A PE has one route of a color, and a stream from the host leads elsewhere than one to it."""
    text = """
    const memcpy = «@import_module("<memcpy/get_params>", .{
      .width = 1, .height = 1, .MEMCPYH2D_2 = @get_color(4), .MEMCPYD2H_1 = @get_color(4) })»;
    layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(0) }); }
    """
    message = (
        "MEMCPYH2D_2 and MEMCPYD2H_1 are one color, which has one route on a PE; give each stream a color of its own"
    )
    csl.refuses("param memcpy_params;", message, text)


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("way", ["MEMCPYH2D_1", "MEMCPYD2H_1"])
def test_routes_of_streams(csl: Csl, way: str, arch: str) -> None:
    """A route of a color on which the host streams is warned of at its place, one of another color is not."""
    for color in (4, 5):
        routes = ".{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } }"
        route = f"@set_color_config(0, 0, @get_color({color}), {routes});"
        text = layout(route, f", .{way} = @get_color(4)")
        found = csl.layout(text, IMPORT, arch, memcpy=True, channels=1).warnings
        if color == 5:
            assert found == []
            continue
        (warning,) = found
        what = "sends to PEs" if "H2D" in way else "receives from PEs"
        assert warning.startswith(f"{csl.directory}/layout.csl:6:3: warning: this gives color 4 a route, but the host")
        assert what in warning
