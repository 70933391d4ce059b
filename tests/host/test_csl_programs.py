"""CSL programs through the Python API: compiled from the layout file, launched until all PEs listen again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loomir

from .csl_layouts import LAYOUT, write_layout


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    return write_layout(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["wse2", "wse3", None])
def test_run(layout: Path, target: str | None) -> None:
    program = loomir.compile(layout, target=target, params={"width": 3})
    assert program.target.name == (target or "wse2")
    assert program.rectangle == (3, 2) and program.warnings == ()
    assert str(program.symbols["values"]) == "values: float32 [4]"
    assert str(program.symbols["add"]) == "add(float32, uint16)"
    simulator = loomir.Simulator(program)
    simulator.set("values", np.arange(4, dtype=np.float32))
    simulator.launch("add", 0.5, 3)
    simulator.launch("add", 1.0, 1)
    np.testing.assert_array_equal(simulator.get("values"), np.broadcast_to(np.arange(4) + 2.5, (2, 3, 4)))
    ids = simulator.get("ids")
    assert ids.dtype == np.uint16
    np.testing.assert_array_equal(ids[1], [[0, 0xFFFF], [1, 0xFFFF], [2, 0xFFFF]])


def test_params(layout: Path) -> None:
    """Numbers of Python and numpy, and truth values."""
    params: dict[str, Any] = {"width": np.uint16(1), "length": 2, "negate": True, "scale": 0.25}
    simulator = loomir.Simulator(loomir.compile(str(layout), params=params))
    simulator.launch("add", 2.0, 1)
    np.testing.assert_array_equal(simulator.get("values"), np.full((2, 1, 2), -0.5, np.float32))


@pytest.mark.slow
def test_a_launch_that_never_completes(layout: Path) -> None:
    simulator = loomir.Simulator(loomir.compile(layout, params={"width": 3}))
    message = r"launch of 'forget' never completes: 4 PEs, \(1, 0\), \(2, 0\), \(1, 1\), \(2, 1\), never called unblock"
    with pytest.raises(loomir.Deadlock, match=message) as caught:
        simulator.launch("forget")
    assert caught.value.silent == ((1, 0), (2, 0), (1, 1), (2, 1))


def test_read_only(layout: Path) -> None:
    simulator = loomir.Simulator(loomir.compile(layout, params={"width": 3}))
    with pytest.raises(loomir.LoomError, match="'ids' is exported read_only"):
        simulator.set("ids", 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"layout.csl:2:1: error: param 'width' has no value"),
        (
            {"params": {"widht": 3}},
            r"for 'widht', which is not a param of this file; its params are: width, length",
        ),
        ({"params": {"width": "3"}}, r"param 'width' is '3'; give a number, true or false"),
        ({"params": [3]}, r"\[3\] is not a mapping; give params as a mapping"),
        ({"params": {"width": 3}, "defines": {"width": 3}}, r"are given as params, not as defines"),
        ({"params": {"width": 3}, "rectangle": (3, 2)}, r"a CSL layout sets its rectangle itself"),
        ({"params": {"width": 3}, "target": "wse9"}, r"unknown target 'wse9'"),
    ],
)
def test_wrong_options(layout: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(loomir.LoomError, match=message):
        loomir.compile(layout, **options)


def test_mistake_in_the_source(layout: Path) -> None:
    """The line is shown, with a caret."""
    layout.write_text(LAYOUT.replace("@set_rectangle(width, 2);", "@set_rectangle(width, none);"))
    with pytest.raises(loomir.LoomError) as caught:
        loomir.compile(layout, params={"width": 3})
    first, line, caret = str(caught.value).splitlines()[:3]
    assert first.startswith(f"{layout}:8:25: error: ")
    assert line == "  @set_rectangle(width, none);" and caret.strip().startswith("^")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(loomir.LoomError, match=r"missing\.csl: error: cannot be read"):
        loomir.compile(tmp_path / "missing.csl")


def test_params_of_a_program_in_ir() -> None:
    with pytest.raises(loomir.LoomError, match="params are for CSL layouts"):
        loomir.compile("builtin.module {}", params={"width": 3})


@pytest.mark.slow
def test_log_and_watch(layout: Path) -> None:
    told: list[str] = []
    from loomir.runtime.watch import Watch

    watch = Watch(told.append, first=1e-9)
    program = loomir.compile(layout, params={"width": 1, "length": 4})
    simulator = loomir.Simulator(program, watch=watch)
    simulator.launch("add", 1.0, 30_000)
    assert "launch of 'add' is still running: " in told[0] and "not called yet on 2 of 2 PEs" in told[0]
    assert simulator.log == []


@pytest.mark.slow
def test_wavelets_that_loop(tmp_path: Path) -> None:
    """The error is at the route of the router that has them a second time."""
    corners = [
        ("0, 0", "RAMP", "EAST"),
        ("1, 0", "WEST", "SOUTH"),
        ("1, 1", "NORTH", "WEST"),
        ("0, 1", "EAST", "NORTH"),
    ]
    configs = [
        f"@set_color_config({place}, c, .{{ .routes = .{{ .rx = .{{{taken}}}, .tx = .{{{sent}}} }}"
        + (", .switches = .{ .pos1 = .{ .rx = SOUTH } } });" if taken == "RAMP" else " });")
        for place, taken, sent in corners
    ]
    lines = ["const c: color = @get_color(4);", "layout {", "@set_rectangle(2, 2);"]
    lines += [
        f'@set_tile_code({place}, "pe.csl", .{{ .sends = {str(place == "0, 0").lower()} }});' for place, _, _ in corners
    ]
    (tmp_path / "layout.csl").write_text("\n".join([*lines, *configs, '@export_name("go", fn()void);', "}"]))
    (tmp_path / "pe.csl").write_text("""param sends: bool;
        const control = @import_module("<control>");
        const queue = @get_output_queue(3);
        fn go() void {
          if (sends) {
            const d = @get_dsd(fabout_dsd, .{ .extent = 1, .output_queue = queue, .control = true });
            @mov32(d, control.encode_single_payload(control.opcode.SWITCH_ADV, true, {}, 0));
            @mov32(@get_dsd(fabout_dsd, .{ .extent = 1, .output_queue = queue }), @as(u32, 3));
          }
        }
        comptime { @initialize_queue(queue, .{ .color = @get_color(4) }); @export_symbol(go); }""")
    simulator = loomir.Simulator(loomir.compile(tmp_path / "layout.csl", target="wse3"))
    with pytest.raises(loomir.LoomError, match="loop through PE") as caught:
        simulator.launch("go")
    x, y = str(caught.value).partition("PE (")[2].partition(")")[0].split(", ")
    line = 1 + len(lines) + [place for place, _, _ in corners].index(f"{x}, {y}")
    assert str(caught.value).startswith(f"{tmp_path / 'layout.csl'}:{line}:1: error: wavelets of color 'c' loop")
