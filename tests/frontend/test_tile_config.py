"""<tile_config>: its constants and functions on both machines, and what it does not provide yet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from loomir.dialects import wse
from loomir.frontend import modules

from .harness import Csl

ARCHITECTURES = pytest.mark.parametrize("arch", ["wse2", "wse3"])
IMPORT = 'const tile = @import_module("<tile_config>");\n'
BOUND = "comptime { @bind_local_task(t, @get_local_task_id(8)); @activate(@get_local_task_id(8)); }\n"


@pytest.mark.slow
@ARCHITECTURES
def test_constants(csl: Csl, arch: str) -> None:
    printed = csl.value("tile.target_name, tile.word_size, tile.reg_type, tile.double_reg_type", IMPORT, arch)
    assert printed == f"{arch}, 2, u16, u32"
    text = """
    var buffer align(tile.FIFO_MIN_ALIGNMENT) = @zeros([8]i16);
    const fifo = @allocate_fifo(buffer);
    """
    csl.pe(IMPORT + text, arch)


@ARCHITECTURES
def test_coordinates(csl: Csl, arch: str) -> None:
    text = (
        IMPORT
        + """
    const axis = tile.fabric_coord;
    var out = @zeros([4]u16);
    fn main() void {
      out[0] = tile.get_fabric_coord(axis.X);
      out[1] = tile.get_fabric_coord(axis.Y);
      for (@range(u16, 2)) |i| {
        out[2 + i] = tile.get_fabric_coord(@as(axis, i));
      }
    }
    """
    )
    simulator = csl.start(text, {"out": "u16"}, width=3, height=2, arch=arch)
    simulator.launch("main")
    out = simulator.get("out")
    assert all(out[y, x].tolist() == [x, y, x, y] for x in range(3) for y in range(2))


@ARCHITECTURES
def test_priorities_are_accepted_with_one_warning_each_place(csl: Csl, arch: str) -> None:
    text = (
        IMPORT
        + """
    const priority = tile.task_priority;
    const main_thread = tile.main_thread_priority;
    param queue = @get_input_queue(2);
    task t() void {
      priority.clear_task_priority(@get_local_task_id(8));
      for (@range(u16, 3)) |_| { main_thread.update_main_thread_priority(main_thread.level.MEDIUM_HIGH); }
    }
    comptime {
      priority.set_task_priority(@get_local_task_id(8));
      priority.update_task_priority(@get_data_task_id(@get_color(3)), priority.level.HIGH);
      priority.set_task_priority(FROM);
      main_thread.update_main_thread_priority(main_thread.level.MEDIUM);
    }
    """
        + BOUND
    )
    if arch == "wse3":
        text = text.replace("@get_color(3)", "queue").replace("FROM", "queue")
    warnings = csl.pe(text.replace("FROM", "@get_color(3)"), arch).warnings
    said = [warning for warning in warnings if "<tile_config>" in warning]
    lines = [int(re.findall(r"pe.csl:(\d+):", warning)[0]) for warning in said]
    assert sorted(lines) == [7, 8, 11, 12, 13]
    assert any("has no effect at run time; set it in a comptime block" in warning for warning in said)


def test_the_priority_of_the_main_thread(csl: Csl) -> None:
    """The last one that is set at compile time counts (DSD-234)."""
    text = f"""{IMPORT}
    const main_thread = tile.main_thread_priority;
    comptime {{
      main_thread.update_main_thread_priority(main_thread.level.HIGH);
      main_thread.update_main_thread_priority(main_thread.level.MEDIUM_HIGH);
    }}
    """
    compiled = csl.pe(text, "wse3")
    assert compiled.warnings == []
    (pe,) = (op for op in compiled.module.walk() if isinstance(op, wse.PeOp))
    assert pe.main_thread is not None and pe.main_thread.data == "medium_high"


def test_queue_status_is_decoded(csl: Csl) -> None:
    holds = [
        "s.is_full(some, @get_input_queue(2))", "!s.is_full(some, @get_input_queue(1))",
        "s.is_empty(some, @get_input_queue(0))", "!s.is_empty(some, @get_input_queue(2))", "!s.all_full(some)",
        "!s.all_empty(some)", "!s.none_full(some)", "!s.none_empty(some)", "s.all_empty(none)", "s.none_full(none)",
        "s.all_full(every)", "s.none_empty(every)",
    ]  # fmt: skip
    before = f"""{IMPORT}
    const s = tile.input_queue_status;
    const some = s.status{{ .empty = 0b11111011, .full = 0b100 }};
    const none = s.status{{ .empty = 0xff, .full = 0 }};
    const every = s.status{{ .empty = 0, .full = 0xff }};
    """
    csl.comptime("\n".join(f"@comptime_assert({condition});" for condition in holds), before, "wse3")


def functions_not_provided() -> list[str]:
    """Return the functions of <tile_config> that say they are not provided, from the text of the library."""
    found: list[str] = []
    for path in sorted(Path(modules.LIBRARIES, "tile_config").glob("*.csl")):
        text = path.read_text()
        if path.stem != "later":
            found += [f"{path.stem}.{name}" for name in re.findall(r'\blater\("(?:\w+\.)?(\w+)"', text)]
    return found


ARGUMENTS = {
    "c: anytype": "@get_color(3)", "c: color": "@get_color(3)", "dir: fabric_io": "tile.color_config.fabric_io.TX_RAMP",
    "new_routes: anytype": ".{ .rx = EAST, .tx = RAMP }", "comptime setting_ty: type": "tile.switch_config.pop_mode",
    "comptime mode: ring_mode": "tile.switch_config.ring_mode.RING_MODE", "posn: u16": "1",
    "mode: pop_mode": "tile.switch_config.pop_mode.ALWAYS_POP", "pos: switch_pos": "tile.switch_config.switch_pos.POS1",
    "switch_kind: switch_select": "tile.switch_config.switch_select.INPUT", "comptime dir: direction": "EAST",
    "comptime dir_rx: direction": "EAST", "comptime dir_tx: direction": "WEST", "mask: u16": "2", "filter_id: u16": "1",
    "limit: u16": "7", "max_counter: u16": "7", "counter: u16": "7", "counter: u32": "7", "count: u32": "7",
    "state: counter_filter_state": "tile.filters.counter_filter_state.DROP", "value: u32": "7", "value: u16": "7",
    "comptime qid: anytype": "@get_input_queue(2)", "exception_mask: u16": "tile.exceptions.FP_OVERFLOW",
}  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", functions_not_provided())
def test_what_is_not_provided_yet_says_so_at_the_call(csl: Csl, name: str) -> None:
    part, _, function = name.partition(".")
    text = Path(modules.LIBRARIES, "tile_config", f"{part}.csl").read_text()
    signature = re.search(rf"fn {function}\((.*?)\)", text)
    if signature is None:
        use = f"tile.{name}"
    else:
        use = f"tile.{name}({', '.join(ARGUMENTS[each] for each in signature[1].split(', ') if each)})"
    written = f"{IMPORT}task t() void {{ {'_ = ' if signature is None else ''}«{use}»; }}\n{BOUND}"
    error = csl.refuses(written, f"<tile_config>: {name} ", arch="wse3")
    assert "which is not provided yet" in str(error)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        ("«tile.task_priority.set_task_priority(@get_output_queue(2))»", "not to a 'output_queue'"),
        ("«tile.task_priority.set_task_priority(8)»", "a data_task_id or a color, not to a 'comptime_int'"),
        ("tile.main_thread_priority.update_main_thread_priority(«3»)", "expected 'enum(u16)"),
        ("_ = tile.get_fabric_coord(«0»)", "expected 'enum(u16) { X, Y }'"),
        ("_ = «tile.addresses»", "@get_config and @set_config"),
        ("_ = «tile.fabric_size»", "does not declare 'fabric_size'"),
    ],
)
def test_misuse(csl: Csl, use: str, message: str) -> None:
    csl.refuses(f"{IMPORT}task t() void {{ {use}; }}\n{BOUND}", message)


def test_parts_are_not_libraries(csl: Csl) -> None:
    csl.refuses(
        'const part = @import_module(«"<tile_config/filters>"»);\ncomptime { _ = part; }', "there is no library"
    )
    assert "tile_config" in modules.library_names()
    assert not [name for name in modules.library_names() if name.startswith("tile_config/")]
