"""Mistakes in layouts that host scripts build: each is one error that names the region, port or link, and the line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loomir.host.sdk.code_regions import CodeRegion
from loomir.host.sdk.deadlock import SdkDeadlock
from loomir.host.sdk.errors import SdkError
from loomir.host.sdk.geometry import IntRectangle, IntVector
from loomir.host.sdk.layout import SdkLayout
from loomir.host.sdk.platforms import SdkTarget
from loomir.host.sdk.routing import Color, Edge, Route, RoutingPosition, get_edge_routing
from loomir.host.sdk.runtime import SdkRuntime, take_unstopped
from loomir.tools import python

from .layout_programs import chain, make, of, relay, start, to, write_programs

THROUGH = RoutingPosition().set_input([Route.WEST]).set_output([Route.EAST])


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with the programs."""
    monkeypatch.chdir(tmp_path)
    write_programs(tmp_path)
    yield tmp_path
    take_unstopped()


Mistake = Callable[[Any], object]


def store(layout: SdkLayout, name: str = "store", width: int = 2, height: int = 2) -> Any:
    return layout.create_code_region("store.csl", name, width, height)


def two(layout: SdkLayout) -> tuple[Any, Any]:
    return relay(layout, "a", 4), relay(layout, "b", 4)


def anything(value: Any) -> Any:
    """Return a value whose type is not checked."""
    return value


CALLS: list[tuple[Mistake, str]] = [
    (lambda layout: layout.create_code_region("none.csl", "a", 1, 1), "none.csl, does not exist"),
    (lambda layout: layout.create_code_region(".", "a", 1, 1), "is not a file"),
    (lambda layout: layout.create_code_region("store.csl", "a", 0, 1), "0 x 1 PEs; it needs at least one"),
    (lambda layout: layout.create_code_region("store.csl", "a", 800, 1), "800 x 1 PEs, and the fabric 762 x 1172"),
    (lambda layout: layout.create_code_region("store.csl", "a", 1.5, 1), "width is 1.5; give an int"),
    (lambda layout: (store(layout), store(layout)), "there is a region 'store' already, made in line"),
    (lambda layout: store(layout).place(761, 0), "at (761, 0) is not inside the fabric of 762 x 1172 PEs"),
    (lambda layout: store(layout).place(-1, 0), "at (-1, 0) is not inside the fabric"),
    (lambda layout: store(layout).place("1", 0), "x is '1'; give an int"),
    (
        lambda layout: store(layout).set_param(IntVector(2, 0), "number", 1),
        "PE (2, 0) is not in region 'store' of 2",
    ),
    (lambda layout: store(layout).set_param((0, 0, 0), "number", 1), "coord is (0, 0, 0); give an IntVector"),
    (lambda layout: store(layout).set_param_all("number"), "give the name of a param and its value, or a Color"),
    (lambda layout: store(layout).set_param_all("number", name="scale"), "name= and value=, or color="),
    (lambda layout: store(layout).set_param_all("number", 1, 2), "name= and value=, or color="),
    (lambda layout: store(layout).set_param_all(color="c"), "'c' is not a color; give a Color"),
    (lambda layout: store(layout).set_param_all("number", 1.5), "param 'number' is given 1.5; give an int or a Color"),
    (
        lambda layout: store(layout).set_param_range(IntRectangle(IntVector(0, 0), IntVector(3, 1)), "number", 1),
        "(0, 0) up to (3, 1) is not inside region 'store' of 2 x 2 PEs; if width and height were meant, give origin=",
    ),
    (
        lambda layout: store(layout).paint_range(IntRectangle(IntVector(1, 1), IntVector(1, 2)), Color("c"), [THROUGH]),
        "is empty; its second corner is just outside, right of and below the last PE: if width and height were meant",
    ),
    (
        lambda layout: store(layout).set_param_range(anything(IntRectangle)(0, 4), "number", 1),
        "the upper left corner of rect is 0; give an IntVector",
    ),
    (
        lambda layout: store(layout).set_param_range(anything(IntRectangle)(IntVector(0, 0), 4), "number", 1),
        "the lower right corner of rect is 4; give an IntVector",
    ),
    (
        lambda layout: IntRectangle(origin=IntVector(0, 0)),
        "give two corners, IntRectangle(ul, lr), or origin=",
    ),
    (lambda layout: IntRectangle(IntVector(0, 0), IntVector(1, 1), dims=IntVector(1, 1)), "give two corners"),
    (lambda layout: IntRectangle(origin=IntVector(0, 0), dims=IntVector(0, 1)), "dims is 0 x 1 PEs; give at least 1"),
    (lambda layout: anything(IntRectangle)(origin=IntVector(0, 0), dims=3), "dims is 3; give an IntVector"),
    (lambda layout: store(layout).paint(IntVector(0, 2), Color("c"), [THROUGH]), "PE (0, 2) is not in region 'store'"),
    (lambda layout: store(layout).paint_all("c", [THROUGH]), "'c' is not a color; give a Color"),
    (lambda layout: store(layout).paint_all(Color("c"), THROUGH), "routes is one RoutingPosition; give a list"),
    (lambda layout: store(layout).paint_all(Color("c"), []), "there are 0 routing positions; a router has 1 to 4"),
    (lambda layout: store(layout).paint_all(Color("c"), [THROUGH] * 5), "there are 5 routing positions"),
    (lambda layout: store(layout).paint_all(Color("c"), [to(Route.RAMP)]), "has no input; add one with set_input"),
    (lambda layout: store(layout).paint_all(Color("c"), [THROUGH], [THROUGH]), "give a list of what get_edge_routing"),
    (
        lambda layout: anything(RoutingPosition()).set_input(Route.RAMP),
        "Route.RAMP is one route; give a list",
    ),
    (lambda layout: anything(RoutingPosition()).set_output(["RAMP"]), "is not a list of routes"),
    (lambda layout: anything(get_edge_routing)("TOP", [THROUGH]), "edge is 'TOP'; give a value of Edge"),
    (lambda layout: Color("c", 24), "the value is 24; there are the values 0 to 23"),
    (lambda layout: Color("c", -1), "the value is -1; there are the values 0 to 23"),
    (lambda layout: Color("not a name"), "give one that a CSL param can have"),
    (
        lambda layout: store(layout).create_input_port(Color("c"), Edge.TOP, [of(Route.RAMP)], 1),
        "has an input, which the layout chooses when it routes the port; give outputs only",
    ),
    (
        lambda layout: store(layout).create_output_port(Color("c"), Edge.TOP, [to(Route.RAMP)], 1),
        "has an output, which the layout chooses when it routes the port; give inputs only",
    ),
    (
        lambda layout: store(layout).create_output_port(Color("c"), Edge.TOP, [RoutingPosition()], 1),
        "has no input; add one with set_input",
    ),
    (
        lambda layout: store(layout).create_output_port(Color("c"), Edge.TOP, [of(Route.RAMP)], -1),
        "data_size is -1; give the number of wavelets",
    ),
    (
        lambda layout: (region := relay(layout, "a", 4)[0]).create_input_port(
            region.color("rx"), Edge.TOP, [to(Route.RAMP)], 4
        ),
        "region 'a' has a port 'rx' already, made in line",
    ),
    (
        lambda layout: (region := relay(layout, "a", 4)[0]).create_input_port(
            region.color("rx"), Edge.TOP, [to(Route.RAMP)], 4, "second_"
        ),
        "port 'second_rx' and input port 'rx' of region 'a' are both on PE (0, 0) with color 'a_rx'",
    ),
    (
        lambda layout: (ports := two(layout), layout.connect(ports[0][1], ports[1][1])),
        "input port 'rx' of region 'a' is given as tx, which takes an output port",
    ),
    (
        lambda layout: (ports := two(layout), layout.connect(ports[0][2], ports[1][2])),
        "output port 'tx' of region 'b' is given as rx, which takes an input port",
    ),
    (
        lambda layout: (
            ports := two(layout),
            layout.connect(ports[0][2], ports[1][1]),
            layout.connect(ports[1][2], ports[1][1]),
        ),
        "input port 'rx' of region 'b' is connected already, in line",
    ),
    (
        lambda layout: layout.connect(relay(layout, "a", 4)[2], relay(layout, "b", 5)[1]),
        "output port 'tx' of region 'a' has data_size 4, but input port 'rx' of region 'b' has 5",
    ),
    (
        lambda layout: layout.connect(
            relay(layout, "a", 1)[2], store(layout).create_input_port(Color("c"), Edge.TOP, [to(Route.RAMP)], 1)
        ),
        "output port 'tx' of region 'a' has 1 PEs, but input port 'c' of region 'store' has 2",
    ),
    (lambda layout: layout.connect(1, 2), "1 is not a port"),
    (
        lambda layout: layout.connect(relay(layout, "a", 4)[2], relay(make("wse3"), "b", 4)[1]),
        "input port 'rx' of region 'b' belongs to another layout",
    ),
    (
        lambda layout: layout.create_input_stream(relay(layout, "a", 4)[2]),
        "output port 'tx' of region 'a' is not an input port",
    ),
    (
        lambda layout: layout.create_input_stream(
            store(layout).create_input_port(Color("c"), Edge.TOP, [to(Route.RAMP)], 1)
        ),
        "input port 'c' of region 'store' has 2 PEs; the host reaches ports of one PE only",
    ),
    (
        lambda layout: layout.create_input_stream(relay(layout, "a", 4)[1], io_buffer_size=0),
        "io_buffer_size is 0; give at least 1",
    ),
    (
        lambda layout: layout.create_output_stream(relay(layout, "a", 4)[2], io_buffer_size=12288),
        "io_buffer_size is 12288 wavelets of 4 bytes, but a PE of wse3 has 49152 bytes of memory; give fewer",
    ),
    (
        lambda layout: (
            port := relay(layout, "a", 4)[1],
            layout.create_input_stream(port),
            layout.create_input_stream(port),
        ),
        "there is a stream or region 'a_rx' already",
    ),
    (
        lambda layout: (
            layout.create_input_stream_from_loc(IntVector(0, 0), Color("c")),
            layout.create_output_stream_from_loc(IntVector(0, 0), Color("c")),
        ),
        "there is a stream or region 'c' already; give another prefix",
    ),
    (
        lambda layout: (
            layout.create_input_stream_from_loc(IntVector(0, 0), Color("c")),
            layout.create_input_stream_from_loc(IntVector(0, 0), Color("c"), "second_"),
        ),
        "'c' is an input stream of color 'c' at PE (0, 0) already, made in line",
    ),
    (
        lambda layout: (
            layout.create_output_stream_from_loc(IntVector(1, 0), Color("c", 3)),
            layout.create_input_stream_from_loc(IntVector(0, 0), Color("c", 3), "other_pe_"),
            layout.create_input_stream_from_loc(IntVector(1, 0), Color("d", 3)),
        ),
        "'c' is an output stream of color 'c' at PE (1, 0) already, made in line",
    ),
    (
        lambda layout: (layout.create_input_stream_from_loc(IntVector(0, 0), Color("c")), store(layout, "c")),
        "there is a stream 'c' already; choose another name",
    ),
    (
        lambda layout: layout.create_input_stream(relay(layout, "a", 4)[1], IntVector(762, 0)),
        "create_input_stream: io_loc is PE (762, 0), outside of the fabric of 762 x 1172 PEs",
    ),
    (
        lambda layout: store(layout).set_symbol_all("words", np.zeros((2, 4), np.int32), 2, 4),
        "data has 2 rows of 4 elements, but width x height = 2 x 4; give its number of columns as width",
    ),
    (
        lambda layout: store(layout).set_symbol_all("words", np.zeros((3, 4), np.int32), 4, 3),
        "4 x 3 elements are not a multiple of the region's 2 x 2 PEs",
    ),
    (
        lambda layout: store(layout).set_symbol_all("words", np.zeros(7, np.int32), 4, 2),
        "data has 7 elements, but width x height = 4 x 2",
    ),
    (
        lambda layout: store(layout).set_symbol_all("words", np.zeros((2, 4)), 4, 2),
        "data is of type float64; convert it to one of int32, uint32, float32, int16, uint16",
    ),
    (lambda layout: layout.hstack([]), "give a list of at least one code region"),
    (lambda layout: layout.hstack([region := store(layout), region]), "region 'store' is listed twice"),
    (
        lambda layout: (a := store(layout, "a"), b := store(layout, "b"), layout.hstack([a, b]), layout.vstack([b, a])),
        "vstack: region 'b' is stacked beside 'a', in line",
    ),
    (
        lambda layout: (
            a := store(layout, "a"),
            b := store(layout, "b"),
            c := store(layout, "c"),
            layout.hstack([a, b]),
            layout.vstack([b, c]),
            layout.hstack([c, a]),
        ),
        "so 'a' cannot be stacked beside 'c'; give an origin, or leave 'a' out",
    ),
    (lambda layout: layout.compile("out"), "the layout has no code region"),
    (lambda layout: (store(layout), layout.compile("")), "out_prefix is ''"),
    (lambda layout: (store(layout), layout.compile("out", libs="lib")), "libs is 'lib'; give a list of directories"),
    (
        lambda layout: (store(layout), layout.compile("out", f16_type="f16")),
        "f16_type is 'f16'; give a value",
    ),
    (lambda layout: anything(SdkLayout)(3), "platform is 3; give what get_platform returns, or an SdkTarget"),
    (lambda layout: SdkLayout("none.json"), "the fabric file cannot be read: No such file or directory"),
    (lambda layout: SdkLayout("store.csl"), "the fabric file is not JSON"),
    (lambda layout: SdkLayout(SdkTarget.WSE3, msg_level="LOUD"), "msg_level is 'LOUD'; give one of DEBUG"),
    (lambda layout: SdkLayout(SdkTarget.WSE3, level="INFO"), "SdkLayout takes no argument 'level'"),
    (lambda layout: SdkLayout(), "is given 0 platforms; give one of platform, target, fabric_file"),
    (lambda layout: SdkLayout(SdkTarget.WSE3, fabric_file="fabric.json"), "is given 2 platforms"),
    (lambda layout: SdkLayout(target="wse3"), "target is 'wse3'; give SdkTarget.WSE2 or SdkTarget.WSE3"),
]


@pytest.mark.parametrize(("mistake", "message"), CALLS, ids=[message[:40] for _, message in CALLS])
def test_calls(mistake: Mistake, message: str) -> None:
    with pytest.raises(SdkError, match=re.escape(message)):
        mistake(make("wse3"))


def line_of(text: str) -> int:
    """Return the only line of this file that contains a text twice quoted here as a mark."""
    lines = [number for number, line in enumerate(Path(__file__).read_text().splitlines(), 1) if f"# {text}" in line]
    (line,) = lines
    return line


def numbered(layout: SdkLayout, name: str = "store", width: int = 1) -> CodeRegion:
    region = layout.create_code_region("store.csl", name, width, 1)
    region.set_param_all("number", 1)
    return region


def overlap(layout: SdkLayout) -> None:
    numbered(layout, "a", 3).place(4, 4)
    numbered(layout, "b").place(6, 4)  # overlap


def no_such_param(layout: SdkLayout) -> None:
    numbered(layout).set_param_all("nunber", 1)  # no such param


def number_for_a_color(layout: SdkLayout) -> None:
    relay(layout, "a", 4)[0].set_param_all("rx", 3)  # number for a color


def color_for_a_number(layout: SdkLayout) -> None:
    numbered(layout).set_param_all("scale", Color("c"))  # color for a number


def number_too_large(layout: SdkLayout) -> None:
    numbered(layout).set_param_all("number", 70000)  # number too large


def number_for_a_bool(layout: SdkLayout) -> None:
    Path("flag.csl").write_text("param flag: bool;")
    layout.create_code_region("flag.csl", "flag", 1, 1).set_param_all("flag", 2)  # number for a bool


def no_value(layout: SdkLayout) -> None:
    layout.create_code_region("store.csl", "store", 1, 1)  # no value


def symbol_unknown(layout: SdkLayout) -> None:
    numbered(layout).set_symbol_all("worts", np.zeros(2, np.int32), 2, 1)  # symbol unknown


def symbol_constant(layout: SdkLayout) -> None:
    numbered(layout).set_symbol_all("fixed", np.zeros(2, np.int16), 2, 1)  # symbol constant


def symbol_type(layout: SdkLayout) -> None:
    numbered(layout).set_symbol_all("words", np.zeros(2, np.float32), 2, 1)  # symbol type


def symbol_size(layout: SdkLayout) -> None:
    numbered(layout).set_symbol_all("words", np.zeros(3, np.int32), 3, 1)  # symbol size


def two_values(layout: SdkLayout) -> None:
    numbered(layout).paint_all(Color("c", 3), [THROUGH])
    numbered(layout, "b").paint_all(Color("c", 4), [THROUGH])  # two values


def joined_values(layout: SdkLayout) -> None:
    source = layout.create_code_region("source.csl", "source", 1, 1)
    sink = layout.create_code_region("sink.csl", "sink", 1, 1)
    tx = source.create_output_port(Color("tx", 3), Edge.TOP, [of(Route.RAMP)], 2)  # joined values
    layout.connect(tx, sink.create_input_port(Color("rx", 4), Edge.TOP, [to(Route.RAMP)], 2))


def switch_of_color(layout: SdkLayout) -> None:
    numbered(layout).paint_all(Color("c", 11), [THROUGH, to(Route.RAMP)])  # switch of color


def stream_over_region(layout: SdkLayout) -> None:
    region, into, _ = relay(layout, "a", 4)
    region.place(2, 2)
    layout.create_input_stream(into, IntVector(2, 2))  # stream over region


def stream_nowhere(layout: SdkLayout) -> None:
    numbered(layout).place(0, 0)
    layout.create_input_stream_from_loc(IntVector(5, 5), Color("c"))  # stream nowhere


def stream_forwarded(layout: SdkLayout) -> None:
    region = numbered(layout)
    region.place(0, 0)
    region.paint_all(c := Color("c"), [THROUGH])  # stream forwarded
    layout.create_input_stream_from_loc(IntVector(0, 0), c)


COMPILED: list[tuple[Callable[[SdkLayout], None], str]] = [
    (overlap, "'b' of 1 x 1 PEs is placed at (6, 4) and overlaps code region 'a'"),
    (no_such_param, "'store.csl' has no param 'nunber'; did you mean 'number'?"),
    (number_for_a_color, "param 'rx' of 'relay.csl' is of type 'color' and is given a number; give a Color"),
    (color_for_a_number, "param 'scale' of 'store.csl' is of type 'u16' and is given a color; give a number"),
    (number_too_large, "70000 does not fit in 'i16'"),
    (no_value, "param 'number' has no value; give it one with set_param_all or set_param"),
    (number_for_a_bool, "param 'flag' of 'flag.csl' is of type 'bool' and is given 2; give 0 or 1"),
    (symbol_unknown, "region 'store' has no variable 'worts' in memory; its variables are: hidden, kept, words"),
    (symbol_constant, "region 'store' has no variable 'fixed' in memory"),
    (symbol_type, "'words' of region 'store' holds i32, but the data is float32"),
    (symbol_size, "'words' of region 'store' has 2 elements on each PE, but the data has 3 for each"),
    (two_values, "color 'c' is given the value 4, but has 3 since line"),
    (joined_values, "color 'tx' has the value 3 and color 'rx' the value 4"),
    (switch_of_color, "color 'c' has the value 11"),
    (stream_over_region, "'a_rx' of 1 x 1 PEs is placed at (2, 2) and overlaps code region 'a'"),
    (stream_nowhere, "stream 'c' is at PE (5, 5), where no region has been placed"),
    (stream_forwarded, "to PE (0, 0), where it is painted to go on to east; forward it with another color"),
]


@pytest.mark.parametrize(("mistake", "message"), COMPILED, ids=lambda value: getattr(value, "__name__", ""))
def test_layouts(mistake: Callable[[SdkLayout], None], message: str, directory: Path) -> None:
    layout = make("wse3")
    mistake(layout)
    with pytest.raises(SdkError, match=re.escape(message)) as raised:
        layout.compile("out")
    assert f"{__file__}:{line_of(mistake.__name__.replace('_', ' '))}" in str(raised.value)
    assert not (directory / "out").exists()


def test_positions_that_a_machine_does_not_have() -> None:
    layout = make("wse2")
    back = RoutingPosition().set_input([Route.EAST]).set_output([Route.WEST])
    numbered(layout).paint_all(Color("c"), [THROUGH, back])
    with pytest.raises(SdkError, match=r"these routing positions are not possible: .* on wse2 a position changes one"):
        layout.compile("out")


def test_an_error_of_csl_is_shown_with_its_place(directory: Path) -> None:
    (directory / "bad.csl").write_text("export var kept: i16;\ntask main() void { kept = 1.5; }\ncomptime {\n  "
                                       "@bind_local_task(main, @get_local_task_id(8));\n}\n")  # fmt: skip
    layout = make("wse3")
    layout.create_code_region("bad.csl", "bad", 1, 1)
    with pytest.raises(SdkError) as raised:
        layout.compile("out")
    assert str(raised.value).startswith("bad.csl:2:27: error:")


def test_nothing_follows_a_compilation() -> None:
    layout = make("wse3")
    region = numbered(layout)
    layout.compile("out")
    for call in (
        lambda: layout.compile("out"),
        lambda: region.place(1, 1),
        lambda: region.set_param_all("number", 2),
        lambda: layout.create_code_region("store.csl", "b", 1, 1),
        lambda: region.paint_all(Color("c"), [THROUGH]),
    ):
        with pytest.raises(SdkError, match="the layout was compiled in line"):
            call()


def test_a_port_that_is_not_connected(capsys: pytest.CaptureFixture[str]) -> None:
    layout = make("wse3")
    _, into, _ = relay(layout, "a", 4)
    layout.create_input_stream(into)
    layout.compile("out")
    assert "warning: output port 'tx' of region 'a' is connected with nothing" in capsys.readouterr().err


def test_a_color_without_a_route_there(capsys: pytest.CaptureFixture[str]) -> None:
    layout = make("wse3")
    region, _, _ = relay(layout, "a", 4)
    region.set_param_all(Color("rx"))
    start(layout)
    text = capsys.readouterr().err
    assert "which no route brings to the ramp" in text and "or with paint or connect in an SdkLayout" in text


# Streams


def start_again() -> SdkRuntime:
    """Return another run of the program that is compiled already."""
    runtime = SdkRuntime("out", suppress_simfab_trace=True)
    runtime.load()
    runtime.run()
    return runtime


def test_mistakes_of_send_and_receive() -> None:
    layout = make("wse3")
    into, out = chain(layout, 1, 4)
    runtime: Any = start(layout)
    words, room = np.zeros(4, np.uint32), np.zeros(4, np.uint32)
    read_only = np.zeros(4, np.uint32)
    read_only.flags.writeable = False
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: runtime.send("nowhere", words), "no input stream 'nowhere'; the input streams are: 'relay0_rx'"),
        (lambda: runtime.send(9, words), "there is no input stream 9"),
        (lambda: runtime.send(1.5, words), "1.5 is not a port"),
        (lambda: runtime.send(out, words), "'relay0_tx' is an output stream; the input streams are: 'relay0_rx'"),
        (lambda: runtime.receive(into, room, 4), "'relay0_rx' is an input stream; the output streams are: 'relay0_tx'"),
        (lambda: runtime.send(into, [1, 2]), "src is list, not a numpy array"),
        (lambda: runtime.send(into, words.astype(np.uint16)), "src holds uint16; without n_wavelets it is an array of"),
        (lambda: runtime.send(into, words, 5), "src has 16 bytes, which are 4 wavelets of 4, and n_wavelets is 5"),
        (lambda: runtime.send(into, np.zeros(4), 4), "src holds float64, elements of 64 bits, and a wavelet has 32"),
        (lambda: runtime.receive(out, np.zeros(4, np.int64), 4), "dest holds int64, elements of 64 bits"),
        (lambda: runtime.send(into, words, 0), "n_wavelets is 0; give at least 1"),
        (lambda: runtime.send(into, words, block=True), "unknown argument 'block'; the only keyword is nonblock"),
        (lambda: runtime.receive(out, room, 5), "dest has 16 bytes, which is room for 4 wavelets of 4"),
        (lambda: runtime.receive(out, read_only, 4), "dest is read-only"),
        (lambda: runtime.receive(out, np.zeros((4, 4), np.uint32)[:, 0], 4), "dest is not contiguous"),
        (lambda: runtime.receive_tofile(out, 3), "outfile is 3; give the path of a file"),
        (lambda: runtime.receive_tofile(out, "none/file"), "the file cannot be written: No such file or directory"),
        (lambda: runtime.get_port_id("nowhere"), "there is no stream 'nowhere'; the streams are: relay0_rx, relay0_tx"),
    ]  # fmt: skip
    for call, message in calls:
        with pytest.raises(SdkError, match=re.escape(message)):
            call()
    runtime._failed = None  # the file that cannot be written ends a run
    runtime.stop()


def test_receive_of_what_never_comes() -> None:
    layout = make("wse3")
    _, out = chain(layout, 1, 4)
    runtime = start(layout)
    with pytest.raises(SdkDeadlock, match=r"and 0 have come; let the program send 4\b"):
        runtime.receive(out, np.zeros(4, np.uint32), 4)


def test_streams_of_a_program_without() -> None:
    layout = make("wse3")
    numbered(layout).place(0, 0)
    runtime = start(layout)
    with pytest.raises(SdkError, match="dtype is 'uint33', which is not a type of numpy"):
        runtime.read_symbol(0, 0, "kept", "uint33")
    with pytest.raises(SdkError, match="the program has no streams; make one with"):
        runtime.send("in", np.zeros(1, np.uint32))
    runtime.stop()


def test_receive_of_more_than_comes_says_which_regions_wait() -> None:
    layout = make("wse3")
    into, out = chain(layout, 2, 8)
    runtime = start(layout)
    runtime.send(into, np.zeros(5, np.float32), nonblock=True)
    with pytest.raises(SdkDeadlock) as raised:
        runtime.receive(out, np.zeros(8, np.float32), 8)
    text = str(raised.value)
    for part in (
        "receive from 'relay1_tx' never completes: it asks for 8 wavelets of output port 'tx' of region 'relay1', and "
        "5 have come",
        "waits on input queue 'rx_queue' (id 2, color ",
        "for 3 of 8 wavelets",
        "the host has sent 5 wavelets to 'relay0_rx', input port 'rx' of region 'relay0'",
        "is PE (0, 0) of region 'relay0'; input port 'rx' is connected with the host's stream 'relay0_rx'",
        "input port 'rx' is connected with output port 'tx' of region 'relay0'",
    ):
        assert part in text
    assert text.count("is PE (0, 0) of region 'relay1'") == 1
    assert "too short" not in text  # the PE of a stream waits without end, and lacks nothing
    assert raised.value.hang.lacking == 3
    runtime.stop()


def test_a_stream_to_a_pe_that_is_too_short() -> None:
    layout = make("wse3")
    region, into, out = relay(layout, "a", 4)
    region = layout.create_code_region("relay.csl", "b", 1, 1)
    rx, tx = Color("rx"), region.color("tx")
    for color in (rx, tx):
        region.set_param_all(color)
    region.set_param_all("size", 4)
    region.place(3, 3)
    layout.connect(region.create_output_port(tx, Edge.RIGHT, [of(Route.RAMP)], 4), into)
    stream = layout.create_input_stream_from_loc(IntVector(3, 3), rx)
    result = layout.create_output_stream(out)
    runtime = start(layout)
    runtime.send(stream, np.zeros(3, np.float32), nonblock=True)
    with pytest.raises(
        SdkDeadlock, match=r"^.*send to 'rx' is too short: PE \(3, 3\) waits for 1 more, and has been sent 3"
    ):
        runtime.receive(result, np.zeros(4, np.float32), 4)
    runtime.stop()


def test_operations_that_have_received_a_part_at_stop(capsys: pytest.CaptureFixture[str]) -> None:
    layout = make("wse3")
    into, out = chain(layout, 1, 4)
    runtime = start(layout)
    room = np.zeros(4, np.float32)
    runtime.send(into, room)
    runtime.receive(out, room, 4)
    runtime.stop()
    assert capsys.readouterr().err == ""
    runtime = start_again()
    runtime.send("relay0_rx", np.zeros(3, np.float32))
    runtime.stop()
    warning = capsys.readouterr().err
    for part in (
        "warning: stop() finds operations that have received a part of their wavelets: deadlock",
        "for 1 of 4 wavelets",
        "of region 'relay0'; input port 'rx' is connected with the host's stream 'relay0_rx'",
    ):
        assert part in warning


def test_a_blocking_send_that_nobody_takes(capsys: pytest.CaptureFixture[str]) -> None:
    layout = make("wse3")
    region = layout.create_code_region("sink.csl", "sink", 1, 1)
    rx = Color("rx")
    region.set_param_all(rx)
    region.place(0, 0)
    stream = layout.create_input_stream_from_loc(IntVector(0, 0), rx)
    runtime = start(layout)
    # The program reads two; its queue holds four, and so does the link to it.
    runtime.send(stream, np.zeros(10, np.uint32))
    assert "send to" not in capsys.readouterr().err
    message = (
        r"send to 'rx' never completes: PE \(0, 0\) does not go on, and 1 of the wavelets for it finds no room on the "
        "way there; pass nonblock=True, or start what takes them before, or give the stream a larger io_buffer_size"
    )
    with pytest.raises(SdkError, match=message):
        runtime.send(stream, np.zeros(1, np.uint32))


def test_a_script_that_fails_shows_its_line(directory: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (directory / "run.py").write_text(
        "from cerebras.sdk.runtime.sdkruntimepybind import SdkLayout, SdkTarget\n"
        "layout = SdkLayout(SdkTarget.WSE3)\n"
        "first = layout.create_code_region('store.csl', 'first', 2, 2)\n"
        "first.place(3, 3)\n"
        "second = layout.create_code_region('store.csl', 'second', 2, 2)\n"
        "second.place(4, 4)\n"
        "layout.compile('out')\n"
    )
    assert python.main(["run.py"]) == 1
    lines = capfd.readouterr().err.splitlines()
    assert lines[0].startswith("run.py:6: error: code region 'second' of 2 x 2 PEs is placed at (4, 4) and overlaps")
    assert lines[1] == "run.py:7: note: called from here: layout.compile('out')"


def test_an_artifact_for_another_machine() -> None:
    layout = make("wse2")
    numbered(layout)
    artifacts = layout.compile("out")
    from loomir.host.sdk.platforms import get_platform

    with pytest.raises(SdkError, match=r"was compiled for wse2; pass target=SdkTarget\.WSE2"):
        SdkRuntime(artifacts, get_platform(), memcpy_required=False)


def test_all_errors_of_csl_files_and_params_are_shown(directory: Path) -> None:
    """Each at its place: those of two files, and those of params of two regions."""
    text = """param n: i16; var z: i16 = 0;
    var x: i16 = 1.5;
    task t() void { x += 1; z = nothing; }
    comptime { @bind_local_task(t, @get_local_task_id(8)); _ = @get_input_queue(99); }
    """
    (directory / "first.csl").write_text(text)
    (directory / "second.csl").write_text("param n: i16;\nvar y: u32 = -1;\ncomptime { _ = &y; }\n")
    layout = make("wse3")
    layout.create_code_region("first.csl", "first", 1, 1).set_param_all("n", 1)
    layout.create_code_region("second.csl", "second", 1, 1).set_param_all("n", 1)
    third = layout.create_code_region("second.csl", "third", 1, 1)
    third.set_param_all("n", Color("c"))  # color for n
    third.set_param_all("m", 1)  # no param m
    with pytest.raises(SdkError) as raised:
        layout.compile("out")
    shown = str(raised.value)
    places = re.findall(r"^(\S+?):(\d+)(?::\d+)?: error: ", shown, re.MULTILINE)
    assert [(Path(path).name, int(line)) for path, line in places] == [
        ("first.csl", 2), ("first.csl", 3), ("first.csl", 4), ("second.csl", 2),
        (Path(__file__).name, line_of("color for n")), (Path(__file__).name, line_of("no param m")),
    ], shown  # fmt: skip
