"""Filters and color swaps in whole programs, on both executors; `reference/test_switches.py` has random routers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loomir.diagnostics.errors import LoomError
from loomir.runtime import Deadlock, Machine

from ..searches import examples
from .flow_modules import parse
from .machines import load
from .reference.test_switches import filters, route_text
from .router_model import Route, Wavelet, encode, run

ROOM = 40
"""For the words that come to a PE on a color."""

Sent = Mapping[tuple[int, ...], list[Wavelet]]
"""What PEs send on their colors."""


def program(size: tuple[int, int], routes: str, sent: Sent, colors: str = "c") -> str:
    """Return a program whose PEs send wavelets, and keep in `got_COLOR` what comes."""
    units = "".join(_units(x, y, sent, colors) for y in range(size[1]) for x in range(size[0]))
    declared = " ".join(f"flow.color @{name} = {4 + number}" for number, name in enumerate(colors))
    return f'flow.fabric @grid target "wse3" grid {size[0]} by {size[1]} {{ {declared} {routes} {units} }}'


def _units(x: int, y: int, sent: Sent, colors: str) -> str:
    parts = [f"flow.units @u{x}_{y} on [{x}, {y}] words 512 {{"]
    for number, name in enumerate(colors):
        keep = f"""%n = flow.load @next_{name}[] : i16
          %at = arith.index_cast %n : i16 to index
          flow.store %word, @got_{name}[%at] : i32
          %one = arith.constant 1 : i16
          %m = arith.addi %n, %one : i16
          flow.store %m, @next_{name}[] : i16"""
        parts.append(f"""flow.buffer @got_{name} at {200 + 2 * ROOM * number} : memref<{ROOM}xi32>
        flow.buffer @next_{name} at {2 * number} : memref<i16>
        flow.export @got_{name} as "got_{name}"
        flow.queue output @out_{name} id {2 + number} colors [@{name} on [:, :]]
        flow.queue input @in_{name} id {2 + number} colors [@{name} on [:, :]] control_offset {10 * number}
        flow.task data @take_{name} id {2 + number} on @in_{name} (%word: i32) {{ {keep} }}
        flow.task control @hit_{name} id {7 + 10 * number} (%word: i32) {{ {keep} }}""")
        sends: list[str] = []
        for k, wavelet in enumerate(sent.get((x, y, number), [])):
            sends.append(f"""%w{k} = arith.constant {np.int32(np.uint32(wavelet.word))} : i32
            %o{k} = flow.queue_stream @out_{name} extent 1{" control" if wavelet.control else ""} : !flow.stream<i32>
            flow.apply mov32 %o{k}, %w{k} : !flow.stream<i32>, i32""")
        if sends:
            parts.append(f"flow.task local @send_{name} id {9 + number} active {{ {' '.join(sends)} }}")
    return " ".join([*parts, "}"])


def machine(size: tuple[int, int], routes: str, sent: Sent, colors: str = "c", **options: object) -> Machine:
    return load(parse(program(size, routes, sent, colors)), **options)  # pyright: ignore[reportArgumentType]


def data(*words: int) -> list[Wavelet]:
    return [Wavelet(word, control=False) for word in words]


def got(engine: Machine, x: int, y: int = 0, color: str = "c") -> list[int]:
    """Return the words that have come to a PE, but for zeros."""
    return [word for word in engine.read_symbol(f"got_{color}")[y, x].view(np.uint32).tolist() if word]


def by_index(*indices: int) -> list[Wavelet]:
    return data(*(index << 16 | 1 + place for place, index in enumerate(indices)))


CONTROL = Wavelet(encode([], 7), control=True)
ONE_TO_ONE = """flow.route @c on [0, :] from [ramp] to [east]
      flow.route @c on [1, :] from [west] to [ramp]"""


def test_a_range_lets_indices_pass_and_all_control_wavelets() -> None:
    """CSL language reference, @set_color_config: of a route with a number for each PE, too."""
    routes = """flow.route @c on [0, :] from [ramp] to [east]
      flow.route @c on [1:3, :] from [west] to [ramp, east] filter range id 0 min_idx [0, 2] max_idx [1, 3]"""
    sent = [*by_index(0, 1, 2, 3, 4, 65535), CONTROL]
    engine = machine((3, 1), routes, {(0, 0, 0): sent})
    engine.run()
    words = [wavelet.word for wavelet in sent]
    assert got(engine, 1) == [*words[:2], CONTROL.word]
    assert got(engine, 2) == [*words[2:4], CONTROL.word]


@pytest.mark.parametrize(
    ("filter", "passing"),
    [
        # The counter goes 0, 1, 2, 3, 4, 5, 0, ...; it is compared first and counted then.
        ("counter id 0 limit1 5 max_counter 4 count_data", [1, 2, 3, 4, 5, 7, 8, 9, 10, 11]),
        ("counter id 0 init_counter 4 limit1 5 max_counter 0 count_data", [3, 9]),
        ("counter id 0 limit1 5 max_counter 4", [*range(1, 13)]),
        ("counter id 0 limit1 5 max_counter 4 count_data filter_control", []),
        # 0, 1, 2 up to limit1, 0 to 4 up to limit2, and then everything passes.
        ("sparse_counter id 0 limit1 2 limit2 4 max_counter 1 count_data", [1, 2, 4, 5, 9, 10, 11, 12]),
        ("sparse_counter id 0 limit1 2 max_counter 1 count_data", [1, 2, *range(4, 13)]),
        ("sparse_counter id 0 max_counter 0 count_data", [*range(1, 13)]),
    ],
)
def test_counters(filter: str, passing: list[int]) -> None:
    engine = machine((2, 1), f"{ONE_TO_ONE} filter {filter}", {(0, 0, 0): data(*range(1, 13))})
    engine.run()
    assert got(engine, 1) == passing


@pytest.mark.slow
def test_control_wavelets_are_counted_if_a_filter_says_so() -> None:
    sent = [*data(1, 2), CONTROL, *data(3), CONTROL, *data(4, 5), CONTROL, *data(6)]
    routes = f"{ONE_TO_ONE} filter counter id 0 limit1 1 max_counter 0 count_control"
    engine = machine((2, 1), routes, {(0, 0, 0): sent})
    engine.run()
    assert got(engine, 1) == [1, 2, CONTROL.word, 4, 5, CONTROL.word]
    # They come when the counter is 2, 3 and 1.
    for most, count in ((0, 0), (1, 1), (2, 1), (3, 1)):
        routes = f"{ONE_TO_ONE} filter counter id 0 limit1 3 max_counter {most} count_data filter_control"
        engine = machine((2, 1), routes, {(0, 0, 0): sent})
        engine.run()
        assert got(engine, 1) == [CONTROL.word] * count


def test_what_a_filter_drops_takes_no_room() -> None:
    """A receiver that never reads holds its sender back only by what passes."""
    unread = "flow.queue input @in id 2 colors [@c on [:, :]]"
    sender = """flow.buffer @data at 0 : memref<100xi32> flow.queue output @out id 2 colors [@c on [:, :]]
      flow.task local @send id 9 active {
        %s = flow.stream @data at 0 strides [1] extents [100] : !flow.stream<i32>
        %o = flow.queue_stream @out extent 100 : !flow.stream<i32>
        flow.apply mov32 %o, %s : !flow.stream<i32>, !flow.stream<i32>
      }"""
    engine = load(
        parse(f"""flow.fabric @grid target "wse3" grid 2 by 1 {{ flow.color @c = 4
      {ONE_TO_ONE} filter range id 0 min_idx 1 max_idx 1
      flow.units @a on [0, 0] words 512 {{ {sender} }} flow.units @b on [1, 0] words 8 {{ {unread} }} }}""")
    )
    engine.run()
    assert engine.unread() == []


SWAP_EAST = """flow.route @c on [0, :] from [ramp] to [ramp, east] swap [x]
      flow.route @d on [0, :] from [ramp] to [ramp, east] swap [x]
      flow.route @c on [1:3, :] from [west] to [ramp, east] swap [x]
      flow.route @d on [1:3, :] from [west] to [ramp, east] swap [x]"""


INSIDE = "on [1:3, :] from [west] to [ramp, east]"


def test_a_color_changes_from_hop_to_hop() -> None:
    """CSL language reference, Advanced Hardware Features: both colors swap."""
    engine = machine((3, 1), SWAP_EAST, {(0, 0, 0): data(1, 2)}, "cd")
    engine.run()
    assert [[got(engine, x, 0, color) for x in range(3)] for color in "cd"] == [[[1, 2], [], [1, 2]], [[], [1, 2], []]]


def test_what_comes_on_a_color_goes_to_both_if_the_other_swaps() -> None:
    """The same page: of colors 2 and 3 only 3 swaps, and wavelets on 2 are received on 2 and on 3."""
    routes = SWAP_EAST.replace(
        "@c on [1:3, :] from [west] to [ramp, east] swap [x]", "@c on [1, :] from [west] to [ramp]"
    )
    engine = machine((2, 1), routes, {(0, 0, 0): data(1, 2)}, "cd")
    engine.run()
    assert [got(engine, 1, 0, color) for color in "cd"] == [[1, 2], [1, 2]]


def test_a_swap_on_both_axes_is_one_from_the_ramp_too() -> None:
    routes = SWAP_EAST.replace("swap [x]", "swap [x, y]", 2)
    engine = machine((2, 1), routes, {(0, 0, 0): data(1, 2)}, "cd")
    engine.run()
    assert [got(engine, 0, 0, color) for color in "cd"] == [[], [1, 2]]
    assert [got(engine, 1, 0, color) for color in "cd"] == [[1, 2], []]


def test_what_comes_on_the_other_color_may_go_back() -> None:
    """As public programs need it: the router of (1, 0) sends back west on @d what comes from there on @c."""
    routes = """flow.route @c on [0, :] from [ramp] to [east]
      flow.route @d on [0, :] from [east] to [ramp]
      flow.route @c on [1, :] from [ramp, west] to [ramp, west] swap [x]
      flow.route @d on [1, :] from [ramp, west] to [ramp, west] swap [x]"""
    engine = machine((2, 1), routes, {(0, 0, 0): data(1, 2)}, "cd")
    engine.run()
    assert [[got(engine, x, 0, color) for x in range(2)] for color in "cd"] == [[[], []], [[1, 2], [1, 2]]]


def test_wavelets_that_no_color_takes_are_an_error() -> None:
    routes = SWAP_EAST.replace(
        "@c on [1:3, :] from [west] to [ramp, east] swap [x]", "@c on [1, :] from [west] to [ramp]"
    )
    engine = machine((2, 1), routes, {(0, 0, 1): data(1, 2)}, "cd")
    with pytest.raises(LoomError) as caught:
        engine.run()
    where = "wavelets of color @d come to PE (1, 0) from west, where the color swaps and takes those of @c instead"
    assert where in str(caught.value)


# Random programs


@st.composite
def programs(draw):
    width, height = draw(st.integers(2, 3)), draw(st.integers(1, 2))
    places = [(x, y, color) for y in range(height) for x in range(width) for color in range(2)]
    routes: dict[tuple[int, ...], Route] = {}
    ports = st.lists(st.sampled_from(["ramp", "east", "south"]), min_size=1, max_size=3, unique=True)
    for place in places:
        receive = draw(st.sampled_from(["ramp", "west", "north"]))
        swap = draw(st.sampled_from(["", "x", "y", "xy"])) if place[2] == 0 else routes[*place[:2], 0].swap
        routes[place] = Route([([receive], draw(ports))], swap=swap, filter=draw(filters()))
    sent: dict[tuple[int, ...], list[Wavelet]] = {}
    for place in places:
        words = [draw(st.integers(0, 5)) << 16 | draw(st.integers(1, 99)) for _ in range(draw(st.integers(0, 6)))]
        # Control wavelets that start a task of their color, or of the other one.
        sent[place] = [CONTROL if word % 7 == 0 and place[2] == 0 else Wavelet(word, control=False) for word in words]
    return (width, height), routes, sent


@pytest.mark.slow
@settings(max_examples=examples(80, seldom=True))
@given(programs())
def test_random_programs(found) -> None:
    """Both executors do what the routers do, at the same times; a router has one port, so that no order is open."""
    size, routes, sent = found
    expected, _, _ = run(routes, {place: list(enumerate(words)) for place, words in sent.items()})
    text = " ".join(route_text("cd"[place[2]], place, route) for place, route in routes.items())
    outcomes: list[object] = []
    for executor in ("core", "reference"):
        engine = machine(size, text, sent, "cd", executor=executor, statistics=True)
        try:
            engine.run()
            ended = ""
        except Deadlock as error:
            ended = error.message
        words_of = {(x, y, color): got(engine, x, y, "cd"[color]) for x, y, color in expected}
        assert words_of == {place: [wavelet.word for _, wavelet in words] for place, words in expected.items()}, (
            executor
        )
        outcomes.append((ended, engine.clocks.tolist(), engine.statistics(), list(map(str, engine.unread()))))
    assert outcomes[0] == outcomes[1]
