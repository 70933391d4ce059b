"""<tile_config>: its constants and functions on both machines."""

from __future__ import annotations

import pytest

from loomir.dialects import wse

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
