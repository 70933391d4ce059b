"""Layouts that host scripts build: regions, params, routes, ports, streams and initial data, compiled and run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from loomir.host.sdk import artifact
from loomir.host.sdk.errors import SdkError
from loomir.host.sdk.geometry import IntRectangle, IntVector
from loomir.host.sdk.layout import FP16TYPE, SdkLayout
from loomir.host.sdk.modules import install
from loomir.host.sdk.platforms import SdkCompileArtifacts, SdkTarget, SimfabConfig, get_platform
from loomir.host.sdk.routing import Color, Edge, Route, RoutingPosition, get_edge_routing
from loomir.host.sdk.runtime import SdkRuntime, take_unstopped
from loomir.tools import python

from ...searches import examples
from .layout_programs import chain, make, of, relay, start, to, write_programs

ARCHITECTURES = pytest.mark.parametrize("arch", ["wse2", "wse3"])


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with the programs."""
    monkeypatch.chdir(tmp_path)
    write_programs(tmp_path)
    yield tmp_path
    take_unstopped()


@ARCHITECTURES
def test_params_of_single_pes_rectangles_and_all(arch: str) -> None:
    layout = make(arch)
    region = layout.create_code_region("store.csl", "store", 4, 3)
    region.set_param_all("number", 5)
    region.set_param_range(IntRectangle(IntVector(1, 0), IntVector(3, 2)), "number", -7)
    region.set_param(IntVector(3, 2), "scale", 10)
    region.place(2, 1)
    runtime = start(layout)
    runtime.stop()
    for y in range(3):
        for x in range(4):
            number = -7 if x in (1, 2) and y < 2 else 5
            scale = 10 if (x, y) == (3, 2) else 1
            assert_array_equal(runtime.read_symbol(2 + x, 1 + y, "kept", "int16"), [number, number * scale, 1])


def test_params_that_are_bools(directory: Path) -> None:
    (directory / "flag.csl").write_text(
        "param flag: bool;\nparam other: bool = true;\n"
        "export var kept = [2]u16{ if (flag) 3 else 4, if (other) 5 else 6 };\n"
    )
    layout = make("wse3")
    region = layout.create_code_region("flag.csl", "flag", 3, 2)
    region.set_param_all("flag", True)
    region.set_param(IntVector(1, 1), "flag", 0)
    region.set_param_range(IntRectangle(IntVector(2, 0), IntVector(3, 2)), "other", np.bool_(False))
    layout.create_code_region("flag.csl", "one", 1, 1).set_param_all("flag", 1)
    region.place(1, 1)
    runtime = start(layout)
    runtime.stop()
    for y in range(2):
        for x in range(3):
            expected = [4 if (x, y) == (1, 1) else 3, 6 if x == 2 else 5]
            assert_array_equal(runtime.read_symbol(1 + x, 1 + y, "kept", "uint16"), expected)


def test_data_is_spread_by_blocks(directory: Path) -> None:
    layout = make("wse3")
    region = layout.create_code_region("store.csl", "store", 3, 2)
    region.set_param_all("number", 0)
    rng = np.random.default_rng(1)
    words = rng.integers(0, 1 << 32, (2, 6), np.uint32)
    hidden = rng.random((4, 3), np.float32) + 3
    region.set_symbol_all("words", words, 6, 2)
    region.set_symbol_all("hidden", hidden, 3, 4)
    region.place(1, 4)
    runtime = start(layout)
    runtime.stop()
    for y in range(2):
        for x in range(3):
            assert_array_equal(runtime.read_symbol(1 + x, 4 + y, "words", "uint32"), words[y, 2 * x : 2 * x + 2])
            assert_array_equal(runtime.read_symbol(1 + x, 4 + y, "hidden", "float32"), hidden[2 * y : 2 * y + 2, x])
            assert runtime.read_symbol(1 + x, 4 + y, "kept", "int16")[2] == int(hidden[2 * y, x])
    (directory / "out" / artifact.SYMBOLS).write_bytes(b"")
    with pytest.raises(SdkError, match="was changed; compile the program again"):
        SdkRuntime("out").load()


@ARCHITECTURES
def test_chain_between_streams(arch: str) -> None:
    layout = make(arch)
    into, out = chain(layout, 3, 4)
    runtime = start(layout)
    rng = np.random.default_rng(2)
    data = rng.integers(0, 1000, 8).astype(np.float32)
    first, second = np.zeros(4, np.uint32), np.zeros((2, 2), np.float32)
    # The second half is sent after the first was received.
    runtime.send(into, data[:4])
    runtime.receive(out, first, 4)
    task = runtime.receive(runtime.get_port_id(out), second, 4, nonblock=True)
    assert not runtime.is_task_done(task)
    runtime.send(runtime.get_port_id(into), data[4:].view(np.int32), nonblock=True)
    runtime.task_wait(task)
    runtime.stop()
    assert_array_equal(np.concatenate([first.view(np.float32), second.ravel()]), data + (0 + 1 + 2))


def test_streams_of_packed_elements_and_to_a_file(directory: Path) -> None:
    layout = make("wse3")
    into, out = chain(layout, 1, 3)
    runtime = start(layout)
    # Halves of floats from 1 to 6, which are passed on as they are.
    packed = np.arange(1, 7, dtype=np.float32).view(np.uint16)
    task = runtime.receive_tofile(out, "result.bin", nonblock=True)
    sent = packed.copy()
    runtime.send(into, sent, 6, nonblock=True)
    assert not task.done
    sent[:] = 0  # what is sent is what the array held then
    runtime.stop()
    assert_array_equal(np.fromfile(directory / "result.bin", np.uint32), packed.view(np.uint32))


def test_long_streams() -> None:
    layout = make("wse2")
    into, out = chain(layout, 1, 1000)
    runtime = start(layout)
    data = np.arange(40_000, dtype=np.float32)
    result = np.zeros_like(data)
    runtime.send(into, data, nonblock=True)
    runtime.receive(out, result, len(data))
    runtime.stop()
    assert_array_equal(result, data)


@ARCHITECTURES
@pytest.mark.parametrize("horizontal", [True, False])
def test_ports_join_pe_by_pe(arch: str, horizontal: bool) -> None:
    layout = make(arch)
    size = (4, 2) if horizontal else (2, 4)
    source = layout.create_code_region("source.csl", "source", *size)
    sink = layout.create_code_region("sink.csl", "sink", *size)
    tx, rx = Color("tx"), Color("rx")
    source.set_param_all(tx)
    sink.set_param_all(rx)
    for y in range(size[1]):
        for x in range(size[0]):
            source.set_param(IntVector(x, y), "x", x)
            source.set_param(IntVector(x, y), "y", y)
    last = Edge.BOTTOM if horizontal else Edge.RIGHT
    first = Edge.TOP if horizontal else Edge.LEFT
    # The rest of the source sends into itself, and is read by nothing: it keeps what it sends.
    layout.connect(
        source.create_output_port(tx, last, [of(Route.RAMP)], 2), sink.create_input_port(rx, first, [to(Route.RAMP)], 2)
    )
    inner = IntRectangle(IntVector(0, 0), IntVector(4, 1) if horizontal else IntVector(1, 4))
    source.paint_range(inner, tx, [RoutingPosition().set_input([Route.RAMP]).set_output([Route.RAMP])])
    source.place(3, 1)
    sink.place(*((1, 7) if horizontal else (9, 2)))
    runtime = start(layout)
    runtime.stop()
    corner = (1, 7) if horizontal else (9, 2)
    for i in range(4):
        place, sender = ((i, 0), (i, 1)) if horizontal else ((0, i), (1, i))
        got = runtime.read_symbol(corner[0] + place[0], corner[1] + place[1], "data", "uint32")
        assert_array_equal(got, sender)


def test_routes_along_edges_and_of_neighbors() -> None:
    """A color painted to leave one region enters the next, which is beside it, with no port."""
    layout = make("wse3")
    source = layout.create_code_region("source.csl", "source", 1, 1)
    sink = layout.create_code_region("sink.csl", "sink", 3, 2)
    c = Color("c", 7)
    source.set_param_all("tx", c)
    source.set_param_all("x", 11)
    source.set_param_all("y", 12)
    sink.set_param_all("rx", c)
    source.paint_all(c, [RoutingPosition().set_input([Route.RAMP]).set_output([Route.EAST])])
    through = RoutingPosition().set_input([Route.WEST]).set_output([Route.RAMP]).add_output(Route.EAST)
    last = RoutingPosition().set_input([Route.WEST]).set_output([Route.RAMP])
    sink.paint_all(c, [through], [get_edge_routing(Edge.RIGHT, [last])])
    assert layout.hstack([source, sink]) == 4
    runtime = start(layout)
    runtime.stop()
    assert json.loads(Path("out/colors.json").read_text()) == {"c": 7}
    for x in range(3):
        assert_array_equal(runtime.read_symbol(1 + x, 0, "data", "uint32"), [11, 12])
        assert_array_equal(runtime.read_symbol(1 + x, 1, "data", "uint32"), [0, 0])


def test_stacks() -> None:
    layout = make("wse3")
    names = "abcdef"
    regions = [layout.create_code_region("store.csl", name, 1 + i, 2) for i, name in enumerate(names)]
    for number, region in enumerate(regions):
        region.set_param_all("number", 100 + number)
    a, b, c, d, e, f = regions
    assert layout.hstack([a, b, c], IntVector(5, 3)) == 6
    assert layout.vstack([b, d]) == 4
    assert layout.vstack([e, f]) == 4
    runtime = start(layout, save_port_map=True)
    runtime.stop()
    found = artifact.read("out").layout_regions
    places = {region.name: (region.x, region.y) for region in found}
    assert {name: places[name] for name in "abcd"} == {"a": (5, 3), "b": (6, 3), "c": (8, 3), "d": (6, 5)}
    assert places["f"] == (places["e"][0], places["e"][1] + 2)
    for region in found:
        assert runtime.read_symbol(region.x, region.y, "kept", "int16")[0] == 100 + names.index(region.name)
    ports = json.loads(Path("out/port_map.json").read_text())
    assert ports["b"] == {"x": 6, "y": 3, "width": 2, "height": 2} and set(ports) == set(names)


@pytest.mark.slow
def test_the_last_place_counts() -> None:
    layout = make("wse3")
    a, b, c, d = (layout.create_code_region("store.csl", name, 2, 1) for name in "abcd")
    for region in (a, b, c, d):
        region.set_param_all("number", 0)
    b.place(20, 20)
    assert layout.hstack([a, b]) == 4
    assert layout.hstack([a, b, c], IntVector(3, 4)) == 6
    layout.vstack([c, d])
    layout.vstack([c, a], origin=IntVector(10, 0))  # with its place c leaves a, and a may be beside it
    layout.hstack([b, d])
    b.place(6, 6)
    layout.compile("out")
    places = {region.name: (region.x, region.y) for region in artifact.read("out").layout_regions}
    assert places == {"c": (10, 0), "a": (10, 1), "b": (6, 6), "d": (8, 6)}


def test_arguments_have_the_names_of_the_reference(directory: Path) -> None:
    """Each signature of the SdkLayout API reference, once with all arguments by name."""
    install()
    assert import_module("cerebras.sdk.runtime.sdkruntimepybind").PortId is int
    (directory / "fabric.json").write_text('{"arch": "wse3", "width": 40, "height": 30}')
    assert SdkLayout(target=SdkTarget.WSE2, msg_level="ERROR").state.arch == "wse2"
    layout = SdkLayout(fabric_file="fabric.json", msg_level="DEBUG")
    assert (layout.state.arch, layout.state.fabric) == ("wse3", (40, 30))
    layout = SdkLayout(platform=get_platform(cmaddr=None, config=SimfabConfig(), target=SdkTarget.WSE3))
    relays = [layout.create_code_region(source="relay.csl", name=name, width=1, height=1) for name in "ab"]
    ports = []
    for region in relays:
        rx, tx = region.color(name="rx"), region.color(name="tx", value=None)
        cell, rect = IntVector(x=0, y=0), IntRectangle(origin=IntVector(x=0, y=0), dims=IntVector(x=1, y=1))
        region.set_param_all(color=rx)
        region.set_param(coord=cell, color=tx)
        region.set_param_range(rect=rect, color=tx)
        region.set_param_all(name="rx", value=rx)
        region.set_param(coord=cell, name="rx", value=rx)
        region.set_param_range(rect=rect, name="tx", value=tx)
        region.set_param_all(name="size", value=3)
        region.set_param(coord=cell, name="size", value=4)
        region.set_param_range(rect=rect, name="step", value=2)
        into, out = RoutingPosition(), RoutingPosition()
        into.set_output(routes=[Route.RAMP])
        out.set_input(routes=[Route.RAMP])
        ports += [
            region.create_input_port(color=rx, edge=Edge.LEFT, routes=[into], data_size=4, prefix="p"),
            region.create_output_port(color=tx, edge=Edge.RIGHT, routes=[out], data_size=4, prefix="p"),
        ]
    stores = [layout.create_code_region(source="store.csl", name=name, width=3, height=2) for name in "cd"]
    for region in stores:
        region.set_param_all(name="number", value=1)
        color = Color(name="c", value=5)
        there = RoutingPosition().add_input(route=Route.RAMP).add_output(route=Route.RAMP)
        region.paint(coord=IntVector(0, 0), color=color, routes=[there])
        region.paint_range(rect=IntRectangle(origin=IntVector(1, 0), dims=IntVector(2, 2)), color=color, routes=[there])
        region.paint_all(color=color, routes=[there], edge_routes=[get_edge_routing(edge=Edge.TOP, routes=[there])])
        region.set_param_range(IntRectangle(origin=IntVector(1, 0), dims=IntVector(2, 1)), "scale", 7)
        region.set_symbol_all(symbol="words", data=np.arange(12, dtype=np.uint32), width=3, height=4)
    relays[0].place(x=4, y=4)
    layout.connect(tx=ports[1], rx=ports[2])
    send_to = layout.create_input_stream(port=ports[0], io_loc=IntVector(0, 0), io_buffer_size=64)
    receive_from = layout.create_output_stream(port=ports[3], io_loc=None, io_buffer_size=64)
    layout.create_input_stream_from_loc(loc=IntVector(10, 10), color=Color("in"), prefix="p")
    layout.create_output_stream_from_loc(loc=IntVector(11, 10), color=Color("out"), prefix="p")
    layout.hstack(children=stores)
    layout.vstack(children=stores)
    layout.hstack(children=stores, origin=IntVector(1, 1))
    layout.vstack(children=stores, origin=IntVector(10, 10))
    runtime = start(layout, libs=[], cslc_prefix="", save_port_map=True, f16_type=FP16TYPE.F16)
    result = np.zeros(4, np.float32)
    runtime.send(port=send_to, src=np.arange(4, dtype=np.float32), n_wavelets=4, nonblock=True)
    runtime.receive(port=receive_from, dest=result, n_wavelets=4, nonblock=False)
    runtime.stop()
    assert_array_equal(result, np.arange(4) + 4)
    kept = [runtime.read_symbol(x=10 + x, y=10, symbol_name="kept", dtype="int16")[1] for x in range(3)]
    assert kept == [1, 7, 7]


@pytest.mark.parametrize("edge", [Edge.LEFT, Edge.TOP, Edge.BOTTOM])
def test_a_port_of_one_pe_keeps_its_edge_where_its_routes_name_directions(edge: Edge) -> None:
    """The source is east of the region, where its second routing position leads."""
    layout = make("wse3")
    source = layout.create_code_region("source.csl", "source", 1, 1)
    sink = layout.create_code_region("sink.csl", "sink", 1, 1)
    tx, rx = source.color("tx"), sink.color("rx")
    source.set_param_all(tx)
    sink.set_param_all(rx)
    source.set_param_all("x", 1)
    source.set_param_all("y", 2)
    source.place(8, 4)
    sink.place(4, 4)
    layout.connect(
        source.create_output_port(tx, Edge.LEFT, [of(Route.RAMP)], 2),
        sink.create_input_port(rx, edge, [to(Route.RAMP), to(Route.EAST)], 2),
    )
    runtime = start(layout)
    runtime.stop()
    assert_array_equal(runtime.read_symbol(4, 4, "data", "uint32"), [1, 2])
    switched = [line for line in Path("out/program.wse.mlir").read_text().splitlines() if " switch " in line]
    assert len(switched) == 1 and f"on [4, 4] from [{edge.value}] to [ramp] switch [to [east]]" in switched[0]


@ARCHITECTURES
def test_streams_to_pes_of_regions(arch: str) -> None:
    layout = make(arch)
    region = layout.create_code_region("relay.csl", "relay", 2, 1)
    rx, tx = Color("rx"), Color("tx")
    region.set_param_all(rx)
    region.set_param_all(tx)
    region.set_param_all("size", 2)
    region.place(0, 2)
    into = [layout.create_input_stream_from_loc(IntVector(x, 2), rx, f"in{x}_") for x in range(2)]
    out = [layout.create_output_stream_from_loc(IntVector(x, 2), tx, f"out{x}_") for x in range(2)]
    runtime = start(layout)
    results = np.zeros((2, 2), np.float32)
    for x in range(2):
        runtime.send(into[x], np.array([10 * x, 20], np.float32), nonblock=True)
        runtime.receive(out[x], results[x], 2, nonblock=True)
    runtime.stop()
    assert_array_equal(results, [[1, 21], [11, 21]])


def test_io_location_port_map_and_ports(capsys: pytest.CaptureFixture[str]) -> None:
    layout = make("wse3")
    region, into, out = relay(layout, "relay", 2)
    region.place(5, 5)
    assert layout.create_input_stream(into, IntVector(0, 6), 16) == "relay_rx"
    assert layout.create_output_stream(out, io_loc=IntVector(8, 0)) == "relay_tx"
    runtime = start(layout, save_port_map=True)
    ports = json.loads(Path("out/port_map.json").read_text())
    assert set(ports) == {"relay", "relay_rx", "relay_tx"} and (ports["relay"]["x"], ports["relay"]["y"]) == (5, 5)
    assert [ports["relay_rx"][key] for key in ("direction", "x", "y")] == ["input", 0, 6]
    assert [ports["relay_tx"][key] for key in ("direction", "x", "y")] == ["output", 8, 0]
    runtime.report_port_infos()
    shown = capsys.readouterr().out
    assert "port 0: relay_rx, input, color" in shown and "PE (0, 6)" in shown and "relay_tx, output" in shown
    result = np.zeros(2, np.float32)
    runtime.send("relay_rx", np.array([3, 4], np.float32))
    runtime.receive("relay_tx", result, 2)
    runtime.stop()
    assert_array_equal(result, [4, 5])


def test_equal_regions_are_one_program() -> None:
    """Forty relays of one file and size need as few programs as there are pairs of colors, and few lines of IR."""
    layout = make("wse3")
    into, out = chain(layout, 40, 2)
    runtime = start(layout)
    result = np.zeros(2, np.float32)
    runtime.send(into, np.array([0, 5000], np.float32))
    runtime.receive(out, result, 2)
    runtime.stop()
    total = sum(range(40))
    assert_array_equal(result, [total, 5000 + total])
    assert len(artifact.read("out").classes) <= 8
    assert len(Path("out/program.wse.mlir").read_text().splitlines()) < 400


ECHO = """
param rx: color;
param tx: color;
const rx_queue = @get_input_queue(2);
const tx_queue = @get_output_queue(3);
const output = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = tx, .output_queue = tx_queue });
const word_id = if (@is_arch("wse3")) @get_data_task_id(rx_queue) else @get_data_task_id(rx);
const other_id = @get_local_task_id(%d);
task word(value: f32) void {
  @fmovs(output, value + 1.0);
}
task other() void {}
comptime {
  @bind_data_task(word, word_id);
  @bind_local_task(other, other_id);
  @initialize_queue(rx_queue, .{ .color = rx });
  if (@is_arch("wse3")) @initialize_queue(tx_queue, .{ .color = tx });
}
"""


def test_colors_of_data_tasks_are_not_those_of_local_tasks(directory: Path) -> None:
    """On WSE-2 they share their numbers; the first colors that the layout would take are local tasks here."""
    layout = make("wse2")
    ports = []
    for number in range(3):
        (directory / f"echo{number}.csl").write_text(ECHO % number)
        region = layout.create_code_region(f"echo{number}.csl", f"echo{number}", 1, 1)
        for name in ("rx", "tx"):
            region.set_param_all(region.color(name))
        ports.append(
            (
                region.create_input_port(region.color("rx"), Edge.LEFT, [to(Route.RAMP)], 1),
                region.create_output_port(region.color("tx"), Edge.RIGHT, [of(Route.RAMP)], 1),
            )
        )
    layout.connect(ports[0][1], ports[1][0])
    layout.connect(ports[1][1], ports[2][0])
    into, out = layout.create_input_stream(ports[0][0]), layout.create_output_stream(ports[2][1])
    runtime = start(layout)
    result = np.zeros(3, np.float32)
    runtime.send(into, np.array([1, 2, 3], np.float32), nonblock=True)
    runtime.receive(out, result, 3)
    runtime.stop()
    assert_array_equal(result, [4, 5, 6])


@pytest.mark.parametrize("kind", FP16TYPE)
def test_type_of_16_bit_floats(kind: FP16TYPE, directory: Path) -> None:
    (directory / "half.csl").write_text(f"export var same = [1]bool{{ @is_same_type(@fp16(), {kind.value}) }};")
    layout = make("wse3")
    layout.create_code_region("half.csl", "half", 1, 1)
    runtime = start(layout, f16_type=kind)
    runtime.stop()
    assert runtime.read_symbol(0, 0, "same")[0] == 1


def test_modules_are_looked_for_in_libs(directory: Path) -> None:
    (directory / "lib").mkdir()
    (directory / "lib" / "seven.csl").write_text("const value: i16 = 7;")
    text = 'const seven = @import_module("seven.csl");\nexport var kept: i16 = seven.value;\n'
    (directory / "user.csl").write_text(text)
    layout = make("wse3")
    layout.create_code_region("user.csl", "user", 1, 1)
    runtime = start(layout, libs=["lib"])
    runtime.stop()
    assert runtime.read_symbol(0, 0, "kept", "int16") == [7]


@pytest.mark.slow
@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=16, unique=True),
    st.randoms(use_true_random=False),
    st.sampled_from(["wse2", "wse3"]),
)
def test_whatever_is_connected_arrives(places: list[tuple[int, int]], random: Random, arch: str) -> None:
    """Sources and sinks anywhere, each source joined with one sink: every sink gets what its source sends."""
    layout = make(arch)
    pairs = len(places) // 2
    sinks = random.sample(places[pairs : 2 * pairs], pairs)
    for number, (start_at, end_at) in enumerate(zip(places[:pairs], sinks, strict=True)):
        source = layout.create_code_region("source.csl", f"source{number}", 1, 1)
        sink = layout.create_code_region("sink.csl", f"sink{number}", 1, 1)
        tx, rx = source.color("tx"), sink.color("rx")
        source.set_param_all(tx)
        sink.set_param_all(rx)
        source.set_param_all("x", start_at[0])
        source.set_param_all("y", start_at[1])
        source.place(*start_at)
        sink.place(*end_at)
        layout.connect(
            source.create_output_port(tx, random.choice([*Edge]), [of(Route.RAMP)], 2),
            sink.create_input_port(rx, random.choice([*Edge]), [to(Route.RAMP)], 2),
        )
    runtime = start(layout)
    runtime.stop()
    for start_at, end_at in zip(places[:pairs], sinks, strict=True):
        assert_array_equal(runtime.read_symbol(*end_at, "data", "uint32"), start_at)


def test_targets(directory: Path) -> None:
    assert SdkLayout(SdkTarget.WSE2).state.arch == "wse2"
    (directory / "fabric.json").write_text('{"arch": "WSE2", "width": 20, "height": 10}')
    layout = SdkLayout("fabric.json", msg_level="INFO")
    assert (layout.state.arch, layout.state.fabric) == ("wse2", (20, 10))
    region = layout.create_code_region("store.csl", "store", 1, 1)
    region.set_param_all("number", 3)
    artifacts = layout.compile("made/out")
    runtime = SdkRuntime(artifacts=SdkCompileArtifacts(artifacts.artifacts_path))
    runtime.load()
    runtime.run()
    runtime.stop()
    assert runtime.read_symbol(0, 0, "kept", "int16")[0] == 3


def test_colors_and_positions() -> None:
    layout = make("wse3")
    region = layout.create_code_region("relay.csl", "here", 1, 1)
    mine = region.color("tx")
    assert (mine.get_global_name(), mine.get_local_param_name(), mine.get_value()) == ("here_tx", "tx", None)
    assert Color("tx", 4).get_global_name() == "tx" and Color("tx", 4).get_value() == 4
    position = RoutingPosition().set_input([Route.WEST]).set_output([Route.RAMP]).add_output(Route.EAST)
    assert position.get_input() == [Route.WEST] and position.get_output() == [Route.RAMP, Route.EAST]
    assert position.add_input(Route.WEST).get_input() == [Route.WEST]


def test_the_example_of_the_documentation(directory: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[3] / "docs" / "sdk.md").read_text()
    for language, name in (("csl", "scale.csl"), ("python", "run.py")):
        (directory / name).write_text(page.split(f"```{language}\n")[1].split("```")[0])
    assert python.main(["run.py"]) == 0, capfd.readouterr().err
