"""Filters and color swaps in the configuration of a color, and the ids of filters."""

from __future__ import annotations

import pytest

from loomir.dialects import wse
from loomir.dialects.machine.filters import filter_text

from .harness import Csl
from .test_layout import EMPTY, layout

ROUTES = ".routes = .{ .rx = WEST, .tx = RAMP }"
COUNTER = ".kind = .{ .counter = true }"
SPARSE = ".kind = .{ .sparse_counter = true }"
RANGE = ".kind = .{ .range = true }"


def routes_of(csl: Csl, text: str, pe: str = EMPTY, arch: str = "wse2") -> list[wse.RouteOp]:
    return [op for op in csl.layout(text, pe, arch).module.walk() if isinstance(op, wse.RouteOp)]


def filtered(filter: str, place: str = "0, 0", color: str = "c") -> str:
    return f"@set_color_config({place}, {color}, .{{ {ROUTES}, .filter = .{{ {filter} }} }});"


@pytest.mark.parametrize(
    ("filter", "message"),
    [
        (".count_data = true", "'.filter' needs a field '.kind'"),
        (
            ".kind = .{ .counting = true }",
            "unknown filter kind '.counting'; use one of counter, ",
        ),
        (".kind = .{ .counter = true, .range = true }", "exactly one choice of '.kind' must be true, not 2"),
        (".kind = true", "field '.kind' is a struct"),
        (f"{RANGE}, .min_idx = 3", "a range filter needs a field '.max_idx'"),
        (
            f"{RANGE}, .limit1 = 2",
            "a range filter has no field '.limit1'; it has",
        ),
        (f"{COUNTER}, .limit2 = 3", "a counter filter has no field '.limit2'"),
        (f"{SPARSE}, .filter_control = true", "a sparse_counter filter has no field '.filter_control'"),
        (f"{COUNTER}, .limits = 3", "a counter filter has no field '.limits'"),
        (f"{COUNTER}, .limit1 = 65536", "'limit1' of a filter is 0 to 65535, not 65536"),
        (f"{COUNTER}, .max_counter = -1", "'max_counter' of a filter is 0 to 65535, not -1"),
        (f"{RANGE}, .min_idx = 0, .max_idx = 70000", "'max_idx' of a filter is 0 to 65535, not 70000"),
        (f"{COUNTER}, .limit1 = 1.5", "field '.limit1' is an integer, not of type 'comptime_float'"),
        (f"{COUNTER}, .count_data = 1", "field '.count_data' is 'true' or 'false'"),
        (f"{COUNTER}, .init_counter = 6, .limit1 = 5", "'init_counter' 6 of a filter is greater than 'limit1' 5"),
    ],
)
def test_refuses(csl: Csl, filter: str, message: str) -> None:
    text = layout(f"@set_color_config(0, 0, c, «.{{ {ROUTES}, .filter = .{{ {filter} }} }}»);")
    csl.refuses(EMPTY, message, layout=text)


def test_refuses_what_has_no_route(csl: Csl) -> None:
    for config in (".{ .routes = .{}, .filter = .{ FILTER } }", ".{ .routes = .{ .color_swap_x = true } }"):
        config = config.replace("FILTER", COUNTER)
        text = layout(f"@set_color_config(0, 0, c, «{config}»);")
        csl.refuses(EMPTY, "a color that is not routed needs no filter and no swap", layout=text)


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
def test_a_pe_has_six_filters(csl: Csl, arch: str) -> None:
    lines = [filtered(COUNTER, color=f"@get_color({number})") for number in range(6)]
    csl.layout(layout(*lines), EMPTY, arch)
    one_more = filtered(COUNTER, color="@get_color(6)").removesuffix(";")
    message = "PE (0, 0) is given more than its 6 filters; remove one"
    csl.refuses(EMPTY, message, layout=layout(*lines, f"«{one_more}»;"), arch=arch)


@pytest.mark.parametrize(
    ("filter", "warning"),
    [
        (f"{COUNTER}, .limit1 = 5, .max_counter = 4", "this filter counts no wavelets"),
        (f"{SPARSE}, .count_data = true", "every wavelet passes this filter"),
        (f"{RANGE}, .min_idx = 4, .max_idx = 3", "no data wavelet passes this filter"),
        (f"{COUNTER}, .limit1 = 5, .max_counter = 4, .count_control = true", None),
        (f"{COUNTER}, .limit1 = 5, .max_counter = 4, .count_data = true, .fast_mode = true", None),
    ],
)
def test_warns_of_what_does_nothing(csl: Csl, filter: str, warning: str | None) -> None:
    warnings = csl.layout(layout(filtered(filter)), EMPTY).warnings
    assert [warning in each for each in warnings] == [True] if warning else not warnings


def test_numbers_that_differ_from_pe_to_pe_are_data(csl: Csl) -> None:
    """A thousand PEs with filters of their own have one route."""
    loop = "for (@range(u16, 40)) |y| { for (@range(u16, 25)) |x| { HERE } }"
    text = layout(
        loop.replace("HERE", filtered(f"{RANGE}, .min_idx = x * 3 + y, .max_idx = 2000", "x, y")), width=25, height=40
    )
    (route,) = routes_of(csl, text)
    assert route.filter is not None
    values = route.filter.values()
    assert values["min_idx"] == tuple(3 * x + y for y in range(40) for x in range(25))
    assert values["max_idx"] == (2000,)


def test_ids_are_by_color_and_then_as_code_sets_filters(csl: Csl) -> None:
    text = layout(filtered(COUNTER, "0, 0", "@get_color(7)"), filtered(COUNTER, "0, 0"), width=1)
    pe = f"""
    const late = @get_color(2);
    comptime {{
      @comptime_assert(@get_filter_id(@get_color(3)) == 0);
      @set_local_color_config(@get_color(9), .{{ {ROUTES}, .filter = .{{ {COUNTER} }} }});
      @set_local_color_config(late, .{{ {ROUTES}, .filter = .{{ {COUNTER} }} }});
      @comptime_assert(@get_filter_id(late) == 3 and @get_filter_id(@get_color(9)) == 2);
      @comptime_assert(@is_same_type(@type_of(@get_filter_id(@get_color(7))), u16));
    }}
    task t() void {{ var x: u16 = @get_filter_id(@get_color(7)); @assert(x == 1); }}
    comptime {{ @bind_local_task(t, @get_local_task_id(9)); @activate(@get_local_task_id(9)); }}
    """
    routes = routes_of(csl, text, pe)
    ids = {op.color.string_value(): op.filter.values()["id"] for op in routes if op.filter is not None}
    assert ids == {"c3": (0,), "c7": (1,), "c9": (2,), "c2": (3,)}


def test_ids_that_differ(csl: Csl) -> None:
    text = layout(filtered(COUNTER, "0, 0", "@get_color(1)"), filtered(COUNTER, "0, 0"), filtered(COUNTER, "1, 0"))
    pe = "comptime { _ = «@get_filter_id(@get_color(3))»; }"
    csl.refuses(
        pe, "the filter of this color has several ids on the PEs that run this code, such as 0 and 1", layout=text
    )
    pe = "comptime { _ = «@get_filter_id(@get_color(1))»; }"
    csl.refuses(pe, "this color has no filter on some PEs that run this code", layout=text)


def test_swaps(csl: Csl) -> None:
    routes = ".{ .routes = .{ .rx = WEST, .tx = RAMP, .color_swap_x = true, .color_swap_y = false } }"
    (route,) = routes_of(csl, layout(f"@set_color_config(0, 0, c, {routes});"), arch="wse3")
    assert route.swap is not None and [axis.data for axis in route.swap] == ["x"]
    text = layout(f"@set_color_config(0, 0, c, «{routes.replace('= false', '= 1')}»);")
    csl.refuses(EMPTY, "field '.color_swap_y' is 'true' or 'false'", layout=text)


def test_swaps_with_a_color_of_memcpy(csl: Csl) -> None:
    """Color 20 would take what comes on color 21, which memcpy reserves."""
    routes = ".{ .routes = .{ .rx = WEST, .tx = RAMP, .color_swap_x = true } }"
    text = layout(f"«@set_color_config(0, 0, @get_color(20), {routes})»;")
    memcpy = 'const memcpy = @import_module("<memcpy/get_params>", .{ .width = 2, .height = 1 });\n'
    text = memcpy + text.replace('"pe.csl"', '"pe.csl", .{ .memcpy_params = memcpy.get_params(x) }')
    pe = 'param memcpy_params: comptime_struct;\nconst sys_mod = @import_module("<memcpy/memcpy>", memcpy_params);'
    csl.refuses(pe, "color 20 swaps with color 21", layout=text)


def test_filters_are_printed(csl: Csl) -> None:
    (route,) = routes_of(csl, layout(filtered(f"{COUNTER}, .limit1 = 5, .max_counter = 4, .count_data = true")))
    assert route.filter is not None
    assert filter_text(route.filter) == "counter id 0 limit1 5 max_counter 4 count_data"
