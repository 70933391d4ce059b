"""FIFOs and registers: what their builtins do, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import StringAttr

from loomir import targets
from loomir.diagnostics.errors import LoomError
from loomir.dialects import dsr, flow, wse

from .harness import Csl

ARCHES = ("wse2", "wse3")

ROOM = """
var room = @zeros([32]i16);
const queue = @allocate_fifo(room);
var given = @zeros([50]i16);
var out = @zeros([50]i16);
var facts = @zeros([8]u16);
const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{50} -> given[i] });
const three = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> given[i] });
const into = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{50} -> out[i] });
"""


@pytest.mark.parametrize("arch", ARCHES)
def test_lengths_and_results(csl: Csl, arch: str) -> None:
    """DSD-131, DSD-150, DSD-151, DSD-158."""
    text = f"""{ROOM}
    fn main() void {{
      for (@range(u16, 50)) |i| {{ given[i] = @as(i16, i) + 100; }}
      @set_fifo_write_length(queue, 42);
      facts[0] = @as(u16, @mov16(queue, all));
      const length: u16 = 42;
      @set_fifo_read_length(queue, length);
      const ok: bool = @mov16(into, queue);
      facts[1] = @as(u16, ok);
      if (@mov16(queue, three)) {{ facts[2] = 1; }}
      // Ten were outstanding.
      facts[3] = @as(u16, @mov16(@increment_dsd_offset(into, 32, i16), queue));
      // Where no FIFO is, an operation always comes to its end (AMB-18).
      facts[4] = @as(u16, @mov16(three, three));
      @set_fifo_read_length(queue, 0);
      facts[5] = @as(u16, @mov16(&facts[6], queue));
    }}
    """
    result = csl.run(text, {"facts": "u16", "out": "i16"}, arch=arch)
    assert result["facts"].tolist() == [0, 0, 1, 0, 1, 0, 0, 0]
    assert result["out"].tolist() == [*range(100, 132), 100, 101, 102, *[0] * 15]


@pytest.mark.parametrize("arch", ARCHES)
def test_a_buffer_without_an_alignment_has_that_of_a_fifo(csl: Csl, arch: str) -> None:
    """DSD-117: one of a word too, which could be at any word if it were not a FIFO's."""
    rooms = "".join(
        f"var word{n} = @zeros([1]i16); var room{n} = @zeros([1]i16); const queue{n} = @allocate_fifo(room{n});"
        for n in range(3)
    )
    uses = "".join(f"word{n}[0] += 1; @mov16(queue{n}, word{n}[0]);" for n in range(3))
    simulator = csl.start(f"{rooms} fn main() void {{ {uses} }}", {}, arch=arch)
    places = {
        op.sym_name.data: op.address.value.data
        for op in simulator.program.module.walk()
        if isinstance(op, flow.BufferOp)
    }
    assert [2 * places[f"room{n}"] % targets.get(arch).fifo_alignment for n in range(3)] == [0, 0, 0]


@pytest.mark.parametrize("alignment", ["", " align(16)"])
@pytest.mark.parametrize("buffer", ["room", "&room"])
def test_a_buffer_of_another_module(csl: Csl, buffer: str, alignment: str) -> None:
    """DSD-119, DSD-120: who says how it is aligned is not warned."""
    text = f"""
    const m = @import_module("lib.csl");
    extern var room: [8]i16{alignment};
    const queue = @allocate_fifo({buffer});
    task t() void {{ @mov16(queue, 1); }}
    comptime {{ @bind_local_task(t, @get_local_task_id(9)); }}
    """
    warnings = csl.pe(text, files={"lib.csl": "export var room: [8]i16 align(16);"}).warnings
    assert [line.partition("warning: ")[2].partition(" for")[0] for line in warnings] == (
        [] if alignment else ["the definition of 'room' needs an alignment of 4 bytes"]
    )


@pytest.mark.parametrize("arch", ARCHES)
def test_a_loop_that_pushes_until_it_is_full(csl: Csl, arch: str) -> None:
    text = f"""{ROOM}
    var item = @zeros([1]i16);
    const one = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{1}} -> item[i] }});
    fn push() bool {{
      item[0] += 1;
      return @mov16(queue, one);
    }}
    fn main() void {{
      while (push()) {{ facts[0] += 1; }}
      while (true) {{
        if (!@mov16(one, queue)) break;
        facts[1] += @as(u16, item[0]);
      }}
    }}
    """
    assert csl.run(text, {"facts": "u16"}, arch=arch)["facts"].tolist()[:2] == [32, 32 * 33 // 2]


def test_actions(csl: Csl) -> None:
    """DSD-130, DSD-133, DSD-140."""
    text = ROOM.replace(
        "@allocate_fifo(room)",
        "@allocate_fifo(room, .{ .empty_action = .{ .terminate = true }, .full_action = .{ .fault = true } })",
    )
    run = "fn main() void { facts[0] = @as(u16, @mov16(queue, three)); facts[1] = @as(u16, @mov16(into, queue)); }"
    assert csl.run(text + run, {"facts": "u16"}, arch="wse3")["facts"].tolist()[:2] == [1, 1]
    with pytest.raises(LoomError, match=r"finds FIFO @queue full on PE \(0, 0\), which its full_action"):
        csl.run(text + "fn main() void { @mov16(queue, all); }", {"facts": "u16"}, arch="wse3")


@pytest.mark.parametrize(
    ("arch", "configuration", "message"),
    [
        ("wse2", ".{ .empty_action = .{ .suspend = true } }", "no empty_action suspend on wse2"),
        ("wse2", ".{ .empty_action = .{ .fault = true } }", "no empty_action fault on wse2"),
        ("wse2", ".{ .full_action = .{ .terminate = true } }", "no full_action on wse2"),
        ("wse3", ".{ .full_action = .{ .stop = true } }", "use one of test_or_suspend, terminate, suspend, fault"),
        ("wse3", ".{ .empty_action = .{ .suspend = true, .fault = true } }", "exactly one choice of '.empty_action'"),
        ("wse2", ".{ .priority = .{ .low = true } }", "'.priority' of a FIFO does not exist on wse2"),
        ("wse3", ".{ .priority = .{ .some = true } }", "'some' is not a '.priority'; it is one of low, medium, high"),
        ("wse3", ".{ .simd_mode = .{ .simd_64 = true } }", "'.simd_mode' of a FIFO does not exist on wse3"),
        ("wse3", ".{ .dest = @get_dsr(dsr_dest, 1) }", "'.dest', '.src' and '.xdsr' together, or none"),
        ("wse3", ".{ .dest = @get_dsr(dsr_src1, 1) }", "field '.dest' is a 'dsr_dest', not a 'dsr_src1' (DSR-072)"),
        (
            "wse3",
            ".{ .dest = @get_dsr(dsr_dest, 1), .src = @get_dsr(dsr_src1, 2), .xdsr = @get_xdsr(0) }",
            "both must have the same number (DSR-074)",
        ),
        ("wse3", ".{ .size = 3 }", "a FIFO's configuration has no field '.size'"),
    ],
)
def test_configurations_that_are_refused(csl: Csl, arch: str, configuration: str, message: str) -> None:
    """DSD-137, DSD-138, DSD-139, DSD-229, DSD-231, DSD-244, DSR-072, DSR-073, DSR-074."""
    text = f"var room = @zeros([8]i16);\nconst queue = @allocate_fifo(room, «{configuration}»);\n"
    use = "task t() void { @mov16(queue, 1); }\ncomptime { @bind_local_task(t, @get_local_task_id(9)); }"
    csl.refuses(text + use, message, arch=arch)


@pytest.mark.parametrize(
    ("arch", "field", "kept"),
    [
        ("wse3", ".priority = .{ .low = true }", {"priority": "low"}),
        ("wse3", ".priority = .{ .high = true }", {"priority": "high"}),
        ("wse2", ".simd_mode = .{ .simd_64 = true }", {"simd": "simd_64"}),
        ("wse2", ".simd_mode = .{ .simd_32 = true }", {"simd": "simd_32"}),
    ],
)
def test_priority_and_simd_mode(csl: Csl, arch: str, field: str, kept: dict[str, str]) -> None:
    """DSD-227, DSD-243: the FIFO has it in IR, and computes what it does without."""
    text = ROOM.replace("@allocate_fifo(room)", f"@allocate_fifo(room, .{{ {field} }})")
    body = "fn main() void { for (@range(i16, 12)) |i| { given[i] = i + 1; } @mov16(queue, three); }"
    result = csl.run(text + body, {"room": "i16"}, arch=arch)
    assert result["room"].tolist() == [1, 2, 3] + [0] * 29
    layout = """
    layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl"); @export_name("main", fn() void); }
    """
    module = csl.layout(layout, f"{text}{body}comptime {{ @export_symbol(main); }}", arch).module
    (fifo,) = (op for op in module.walk() if isinstance(op, wse.FifoOp))
    assert {name: value.data for name, value in fifo.options.items() if isinstance(value, StringAttr)} == kept


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_registers_of_a_fifo(csl: Csl, arch: str) -> None:
    """DSR-012, DSR-013, DSR-018, DSR-071: who has not the FIFO takes it from its registers."""
    text = ROOM.replace(
        "@allocate_fifo(room)",
        "@allocate_fifo(room, .{ .dest = @get_dsr(dsr_dest, 4), .src = @get_dsr(dsr_src1, 4), .xdsr = @get_xdsr(2) })",
    )
    run = """
    const in = @get_dsr(dsr_fifo_dest, 4);
    const from = @get_dsr(dsr_fifo_src1, @get_dsr(dsr_src1, 4));
    fn fill() void { @mov16(queue, three); }
    fn main() void {
      given[1] = 7;
      fill();
      facts[0] = @as(u16, @mov16(in, all));
      facts[1] = @as(u16, @mov16(into, from));
    }
    """
    result = csl.run(text + run, {"facts": "u16", "out": "i16"}, arch=arch)
    assert result["facts"].tolist()[:2] == [0, 0]
    assert result["out"].tolist()[:6] == [0, 7, 0, 0, 7, 0]
    plain = run.replace("@get_dsr(dsr_fifo_dest, 4)", "@get_dsr(dsr_dest, 4)")
    with pytest.raises(LoomError, match=r"which dest register 4 holds, full on PE \(0, 0\); take .* \(DSR-016\)"):
        csl.run(text + plain, {"facts": "u16"}, arch=arch)
    # DSR-015: the register is no FIFO's.
    other = run.replace("@get_dsr(dsr_fifo_dest, 4)", "@get_dsr(dsr_fifo_dest, 5)")
    load = "fn init() void { @load_to_dsr(@get_dsr(dsr_dest, 5), three); }"
    functions = {"init": "fn() void", "main": "fn() void"}
    with pytest.raises(LoomError, match=r"dest register 5 of PE \(0, 0\) does not hold a FIFO"):
        csl.run(
            text + other + load, {"facts": "u16"}, launches=[("init", ()), ("main", ())], functions=functions, arch=arch
        )


ALLOCATED = """
var room = @zeros([4]i16);
var wide = @zeros([4]f32);
var bytes = @zeros([4]u8);
var odd align(2) = @zeros([4]i16);
const fixed = @zeros([4]i16);
var number: i16 = 3;
var given = [3]i16{ 4, 5, 6 };
var out = @zeros([3]i16);
const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> given[i] });
const into = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> out[i] });
fn same(x: i16) i16 { return x; }
"""

NOT_ALLOCATED = [
    # The call, and an operation on what it makes.
    ("«@allocate_fifo(number)»", "@mov16(fifo, 1)", "DSD-114"),
    ("«@allocate_fifo(&number)»", "@mov16(fifo, 1)", "DSD-114"),
    ("«@allocate_fifo(fixed)»", "@mov16(fifo, 1)", "DSD-115"),
    ("«@allocate_fifo(bytes)»", "@mov16(fifo, 1)", "DSD-116"),
    ("«@allocate_fifo(odd)»", "@mov16(fifo, 1)", "DSD-118"),
    ("@allocate_fifo(room)", "@map(same, «fifo», into)", "DSD-123"),
    ("@allocate_fifo(room)", "@map(same, all, «fifo»)", "DSD-123"),
    ("@allocate_fifo(room, «.{ .activate_push = fed }»)", "@mov16(fifo, 1)", "DSD-143"),
]


@pytest.mark.parametrize(("call", "operation", "rule"), NOT_ALLOCATED)
@pytest.mark.slow
def test_fifos_that_are_refused(csl: Csl, call: str, operation: str, rule: str) -> None:
    """The rules of the table: what holds a FIFO, and what it is not for."""
    text = f"{ALLOCATED}const fifo = {call};\ntask fed(word: u16) void {{}}\nfn main() void {{ {operation}; }}\n"
    bind = "comptime { @bind_data_task(fed, @get_data_task_id(@get_color(5))); }"
    with pytest.raises(LoomError):
        csl.run(text.replace("«", "").replace("»", "") + bind, {"out": "i16"})
    # All else being right, it is that part which is refused.
    right = text.replace(text[text.index("«") : text.index("»") + 1], RIGHT[rule])
    csl.run(right + bind, {"out": "i16"})


RIGHT = {
    **dict.fromkeys(("DSD-114", "DSD-115", "DSD-116", "DSD-118"), "@allocate_fifo(room)"),
    "DSD-123": "into",
    "DSD-143": ".{}",
}
"""What replaces what a rule refuses."""


@pytest.mark.parametrize("buffer", ["room", "&room"])
@pytest.mark.parametrize("configuration", ["", ", .{}"])
def test_fifos_keep_the_order(csl: Csl, buffer: str, configuration: str) -> None:
    """DSD-111, DSD-112, DSD-126: what goes in first comes out first, over the end of the array as well."""
    text = f"{ALLOCATED}const fifo = @allocate_fifo({buffer}{configuration});\n"
    run = "@mov16(fifo, all); @mov16(into, fifo); out[0] = 0;"
    assert csl.run(text + f"fn main() void {{ {run} {run} {run} }}", {"out": "i16"})["out"].tolist() == [0, 5, 6]


def test_more_fifos_than_there_are(csl: Csl) -> None:
    """DSD-121."""
    fifos = "".join(f"var r{n} = @zeros([2]i16); const f{n} = @allocate_fifo(r{n});\n" for n in range(9))
    text = f"{ALLOCATED}{fifos}fn main() void {{ {''.join(f'@mov16(f{n}, 1);' for n in range(9))} }}"
    with pytest.raises(LoomError, match="FIFO"):
        csl.run(text, {"out": "i16"}, arch="wse3")
    csl.run(text.replace("@mov16(f8, 1);", ""), {"out": "i16"}, arch="wse3")


NAMED = ".dest = @get_dsr(dsr_dest, 4), .src = @get_dsr(dsr_src1, 4), .xdsr = @get_xdsr(2)"
"""Explicit registers of a FIFO."""

BOUND = "comptime { @bind_local_task(t, @get_local_task_id(9)); }"


@pytest.mark.parametrize(
    ("fifo", "plain", "operation", "message"),
    [
        (
            "dsr_fifo_dest",
            "dsr_dest",
            "@mov16(into, HERE)",
            "which holds destinations only; use a dsr_src0 or dsr_src1 (DSR-008)",
        ),
        (
            "dsr_fifo_src1",
            "dsr_src1",
            "@mov16(HERE, three)",
            "which holds sources only; use a dsr_dest or dsr_src0 (DSR-010)",
        ),
    ],
)
def test_registers_of_a_fifo_are_used_as_others(csl: Csl, fifo: str, plain: str, operation: str, message: str) -> None:
    """DSR-014: in the positions of the plain type, and through constants, functions and their parameters."""
    text = ROOM.replace("(room)", f"(room, .{{ {NAMED} }})")
    for type in (fifo, plain):
        used = operation.replace("HERE", f"«@get_dsr({type}, 4)»")
        csl.refuses(f"{text}task t() void {{ {used}; }}\n{BOUND}", f"is a '{type}', {message}")
    handed = """
    const in = @get_dsr(dsr_fifo_dest, 4);
    fn out_of() dsr_fifo_src1 { return @get_dsr(dsr_fifo_src1, 4); }
    fn push(register: dsr_fifo_dest) void { @mov16(register, three); }
    fn main() void { @mov16(queue, three); given[1] = 5; push(in); @mov16(into, out_of()); }
    """
    assert csl.run(text + handed, {"out": "i16"})["out"].tolist()[:7] == [0, 0, 0, 0, 5, 0, 0]


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (NAMED.replace("dest, 4", "dest, «64»"), "no dest register 64"),
        (NAMED.replace("src1, 4", "src1, «64»"), "no src1 register 64"),
        (NAMED.replace("xdsr(2)", "xdsr(«64»)"), "no xdsr register 64"),
    ],
)
def test_registers_of_a_fifo_that_do_not_exist(csl: Csl, named: str, message: str) -> None:
    """DSR-076."""
    text = ROOM.replace("(room)", f"(room, .{{ {named} }})")
    csl.refuses(f"{text}task t() void {{ @mov16(queue, 1); }}\n{BOUND}", message)


@pytest.mark.parametrize("registers", ["", f"{NAMED},"])
def test_settings_of_a_fifo_with_and_without_registers(csl: Csl, registers: str) -> None:
    """DSR-077, DSD-133, DSD-142."""
    settings = ".empty_action = .{ .terminate = true }, .activate_push = t"
    text = ROOM.replace("(room)", f"(room, .{{ {registers} {settings} }})")
    run = "fn main() void { facts[0] = @as(u16, @mov16(into, queue)); @mov16(queue, three); }"
    facts = csl.run(f"{text}task t() void {{ facts[1] += 1; }}\n{BOUND}{run}", {"facts": "u16"})["facts"]
    assert facts.tolist()[:2] == [1, 1]


@pytest.mark.parametrize(
    ("made", "type"),
    [
        *((f"@get_dsr({name}, 1)", name) for name in ("dsr_dest", "dsr_src0", "dsr_src1", "dsr_fifo_dest")),
        ("@get_dsr(dsr_fifo_src1, @get_dsr(dsr_src1, 2))", "dsr_fifo_src1"),
        ("@get_xdsr(1)", "xdsr"),
        ("@get_sr(1)", "sr"),
    ],
)
def test_types_of_registers(csl: Csl, made: str, type: str) -> None:
    """DSR-007, DSR-017: a value of the type asked for."""
    assert csl.value(f"@type_of({made})") == type


ARRAYS = """
var given = @zeros([12]i16);
var table = @zeros([3, 4]i16);
var out = @zeros([12]i16);
const chunk = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> given[i] });
const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i] });
const columns = @get_dsd(mem4d_dsd, .{ .tensor_access = |i,j|{4,3} -> table[j, i] });
const whole = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{12} -> out[i] });
"""


@pytest.mark.parametrize("arch", ARCHES)
def test_loads_before_the_program_starts(csl: Csl, arch: str) -> None:
    """DSR-038, DSR-039, DSR-065, DSR-066, DSR-067: the loop of the manual, over three chunks."""
    text = f"""{ARRAYS}
    const dest = @get_dsr(dsr_dest, 2);
    const src = @get_dsr(dsr_src1, 0);
    comptime {{
      @load_to_dsr(dest, to, .{{ .save_address = true }});
      @load_to_dsr(src, chunk, .{{ .save_address = true }});
    }}
    fn main() void {{
      for (@range(i16, 12)) |i| {{ given[i] = i * i; }}
      for (@range(i16, 3)) |i| {{ @mov16(dest, src); }}
    }}
    """
    assert csl.run(text, {"out": "i16"}, arch=arch)["out"].tolist() == [n * n for n in range(12)]


@pytest.mark.parametrize("arch", ARCHES)
def test_extended_registers(csl: Csl, arch: str) -> None:
    """DSR-026, DSR-029, DSR-032, DSR-048, DSR-053, DSR-061: at compile time and at run time."""
    text = f"""{ARRAYS}
    const ring = @get_dsd(circbuf_dsd, .{{ .base_address = &given, .extent = 12, .wraparound = 4 }});
    const dest = @get_dsr(dsr_dest, 2);
    const src = @get_dsr(dsr_src1, 0);
    const first = @get_dsr(dsr_src0, 0);
    comptime {{
      @load_to_dsr(dest, whole);
      @load_to_dsr_xdsr_sr(src, @get_xdsr(1), .{{ @get_sr(3) }}, columns);
    }}
    fn main() void {{
      for (@range(i16, 3)) |i| {{ for (@range(i16, 4)) |j| {{ table[i, j] = 10 * i + j; given[j] = j; }} }}
      @load_to_dsr_xdsr(first, @get_xdsr(0), ring);
      @add16(dest, first, src);
    }}
    """
    table = np.add.outer(10 * np.arange(3), np.arange(4)).T.ravel()
    expected = table + np.tile(np.arange(4), 3)
    assert csl.run(text, {"out": "i16"}, arch=arch)["out"].tolist() == expected.tolist()


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("at_comptime", [True, False])
def test_a_mem4d_without_extended_registers(csl: Csl, arch: str, at_comptime: bool) -> None:
    """DSR-043: as SDK 1.4 has it, with a warning; several registers hold mem4d DSDs at the same time."""
    load = """
      @load_to_dsr(dest, whole);
      @load_to_dsr(src, columns);
      @load_to_dsr(first, turned);
    """
    text = f"""{ARRAYS}
    const turned = @get_dsd(mem4d_dsd, .{{ .tensor_access = |i,j|{{4,3}} -> table[2 - j, i] }});
    const dest = @get_dsr(dsr_dest, 2);
    const src = @get_dsr(dsr_src1, 0);
    const first = @get_dsr(dsr_src0, 0);
    {f"comptime {{ {load} }}" if at_comptime else ""}
    fn main() void {{
      for (@range(i16, 3)) |i| {{ for (@range(i16, 4)) |j| {{ table[i, j] = 100 * i + j; }} }}
      {"" if at_comptime else load}
      @sub16(dest, first, src);
    }}
    """
    table = np.add.outer(100 * np.arange(3), np.arange(4))
    expected = (table[::-1] - table).T.ravel()
    assert csl.run(text, {"out": "i16"}, arch=arch)["out"].tolist() == expected.tolist()
    warnings = [warning for warning in csl.pe(text, arch).warnings if "DSR-043" in warning]
    if at_comptime:
        assert len(warnings) == 2
        assert "name them in @load_to_dsr_xdsr_sr" in warnings[0]


def test_the_numbers_of_extended_registers(csl: Csl) -> None:
    """DSR-026, DSR-029, DSR-053: each names one physical register; the tuple keeps its order."""
    text = """
    var cube = @zeros([2, 3, 4]i16);
    const turned = @get_dsd(mem4d_dsd, .{ .tensor_access = |i,j,k|{4,3,2} -> cube[k, j, i] });
    comptime {
      @load_to_dsr_xdsr_sr(@get_dsr(dsr_src1, 5), @get_xdsr(2), .{ @get_sr(3), @get_sr(1) }, turned);
      @export_symbol(main);
    }
    fn main() void {}
    """
    layout = """
    layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl"); @export_name("main", fn() void); }
    """
    module = csl.layout(layout, text, "wse3").module
    (load,) = (op for op in module.walk() if isinstance(op, dsr.LoadOp))
    assert load.xdsr is not None
    assert str(load.xdsr.type) == "!dsr.xdsr<2>"
    assert [str(register.type) for register in load.srs] == ["!dsr.sr<3>", "!dsr.sr<1>"]
    assert str(load.results[0].type) == "!dsr.src1<i16, 5>"


def test_an_operation_in_the_background(csl: Csl) -> None:
    """DSD-182, DSD-195: what is loaded before the start says how operations run; tasks may be bound after it."""
    text = """
    const c = @get_color(3);
    const wire = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = @get_output_queue(2) });
    const from = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c, .input_queue = @get_input_queue(1) });
    var given = [4]i16{ 1, 2, 3, 4 };
    var out = @zeros([5]i16);
    const all = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> given[i] });
    const into = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> out[i] });
    const src = @get_dsr(dsr_src0, 3);
    task done() void { out[4] += out[3]; }
    comptime {
      @load_to_dsr(src, from, .{ .async = true, .activate = done });
      @bind_local_task(done, @get_local_task_id(12));
      @initialize_queue(@get_input_queue(1), .{ .color = c });
      if (@is_arch("wse3")) @initialize_queue(@get_output_queue(2), .{ .color = c });
    }
    fn main() void {
      @mov16(into, src);
      @mov16(wire, all);
    }
    """
    route = "@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });"
    for arch in ARCHES:
        assert csl.run(text, {"out": "i16"}, arch=arch, layout=route)["out"].tolist() == [1, 2, 3, 4, 4]


DECLARATIONS = f"""{ARRAYS}
var room = @zeros([8]i16);
var n: u16 = 3;
var step: i16 = 3;
const queue = @allocate_fifo(room);
const c = @get_color(3);
const wire = @get_dsd(fabout_dsd, .{{ .extent = 4, .fabric_color = c, .output_queue = @get_output_queue(2) }});
const from = @get_dsd(fabin_dsd, .{{ .extent = 4, .fabric_color = c, .input_queue = @get_input_queue(1) }});
const ring = @get_dsd(circbuf_dsd, .{{ .base_address = &given, .extent = 12 }});
const dest = @get_dsr(dsr_dest, 0);
const src = @get_dsr(dsr_src1, 0);
"""

REFUSED = [
    # DSR-020, DSR-021, DSR-023, DSR-024, DSR-027, DSR-030: what register it is, is known at compile time.
    ("_ = @get_dsr(«i16», 0);", "@get_dsr takes one of the types dsr_dest"),
    ("_ = @get_dsr(«xdsr», 0);", "not 'xdsr' (DSR-019)"),
    ("_ = @get_dsr(dsr_dest, «n»);", "the number of a register must be known at compile time"),
    ("_ = @get_dsr(dsr_dest, «-1»);", "no dest register -1; they are 0 to 15 (DSR-022)"),
    ("_ = «@get_dsr(dsr_dest, src)»;", "only a FIFO register takes another DSR (DSR-023)"),
    ("_ = @get_dsr(dsr_fifo_dest, «@get_dsr(dsr_fifo_dest, 0)»);", "is a 'dsr_dest', not a 'dsr_fifo_dest' (DSR-025)"),
    ("_ = @get_dsr(dsr_fifo_src1, «@get_xdsr(0)»);", "a 'dsr_fifo_src1' is a 'dsr_src1', not a 'xdsr' (DSR-025)"),
    ("_ = @get_dsr(dsr_fifo_dest, «src»);", "a 'dsr_fifo_dest' is a 'dsr_dest', not a 'dsr_src1' (DSR-025)"),
    ("_ = @get_xdsr(«n»);", "the number of a register must be known at compile time"),
    ("_ = @get_sr(«n»);", "the number of a register must be known at compile time"),
    ("_ = @get_xdsr(«16»);", "no xdsr register 16; they are 0 to 15 (DSR-028)"),
    ("_ = @get_sr(«99»);", "no sr register 99; they are 0 to 15 (DSR-031)"),
    ("_ = @get_sr(«1.5»);", "the number of a register is an integer, not a 'comptime_float'"),
    # DSR-033, DSR-049, DSR-054: a DSR, XDSR or SR is a number known at compile time, which each of its types is
    ("@load_to_dsr_xdsr(«@get_xdsr(0)», @get_xdsr(0), ring);", "@load_to_dsr_xdsr loads a DSR, not a value of"),
    ("@load_to_dsr_xdsr(dest, «0», ring);", "this must be an XDSR, made by @get_xdsr, not a value of"),
    ("@load_to_dsr_xdsr_sr(«chunk», @get_xdsr(0), .{ @get_sr(0) }, columns);", "loads a DSR, not a value of"),
    ("@load_to_dsr_xdsr_sr(dest, «@get_sr(0)», .{ @get_sr(0) }, columns);", "this must be an XDSR, made by @get_xdsr"),
    ("@load_to_dsr_xdsr_sr(dest, @get_xdsr(0), «.{ 0 }», columns);", "must be a tuple of @get_sr values"),
    # DSR-051, DSR-056, AMB-33
    ("@load_to_dsr_xdsr(dest, @get_xdsr(0), ring, «.{ .save_address = true, .single_step = true }»);", "one of"),
    ("@load_to_dsr_xdsr(dest, @get_xdsr(0), ring, «.{ .async = true }»);", "only a fabric DSD"),
    (
        "@load_to_dsr_xdsr_sr(dest, @get_xdsr(0), .{ @get_sr(0) }, columns, «.{ .async = true }»);",
        "only a fabric DSD is loaded with '.async'",
    ),
    # DSR-035, DSR-036, DSR-037
    ("@load_to_dsr(src, from, «.{ .async = true, .single_step = true }»);", "has one of asynchronous settings"),
    ("@load_to_dsr(src, chunk, «.{ .async = true }»);", "(DSR-036)"),
    ("@load_to_dsr(src, from, «.{ .save_address = true }»);", "(DSR-037)"),
    ("@load_to_dsr(«3», chunk);", "@load_to_dsr loads a DSR, not a value of type 'comptime_int'"),
    ("@load_to_dsr(«@get_dsr(dsr_fifo_dest, 0)», chunk);", "not a value of type 'dsr_fifo_dest' (DSR-045)"),
    ("@load_to_dsr(dest, «n»);", "does not take a value of type 'u16'; load a DSD (DSR-034)"),
    ("@load_to_dsr(dest, «ring»);", "load it with @load_to_dsr_xdsr (DSR-044)"),
    ("@load_to_dsr(dest, «queue»);", "name its registers in @allocate_fifo (DSR-071)"),
    ("@load_to_dsr_xdsr(dest, @get_xdsr(0), «chunk»);", "load it with @load_to_dsr"),
    ("@load_to_dsr_xdsr(dest, «src», ring);", "this must be an XDSR, made by @get_xdsr, not a value of"),
    ("@load_to_dsr_xdsr_sr(dest, @get_xdsr(0), .{}, «ring»);", "load it with @load_to_dsr_xdsr (DSR-044)"),
    ("@load_to_dsr_xdsr_sr(dest, @get_xdsr(0), «src», columns);", "must be a tuple of @get_sr values"),
    ("«@load_to_dsr_xdsr_sr(dest, @get_xdsr(0), .{}, columns)»;", "needs 1 stride registers, not 0; give that many"),
    ("@load_to_dsr(dest, chunk, «.{ .activate = 3 }»);", "need '.async = true'"),
    ("@set_fifo_read_length(«chunk», 3);", "of a FIFO known at compile time, not of a 'mem1d_dsd' (DSD-152)"),
    # DSD-153
    ("@set_fifo_read_length(queue, «step»);", "expected 'u16', found 'i16'"),
    ("@set_fifo_write_length(queue, «step»);", "expected 'u16', found 'i16'"),
    ("@set_fifo_write_length(queue, «1.5»);", "expected 'u16', found 'comptime_float'"),
    ("const f = «@allocate_fifo(room)»;", "make it a global: const fifo = @allocate_fifo(...) (DSD-113)"),
    ("const f = comptime «@allocate_fifo(room)»;", "(DSD-113)"),
    ("@mov16(«@get_xdsr(0)», chunk);", "an operation takes a DSR, not a value of type 'xdsr'"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "message"), REFUSED)
def test_refuses(csl: Csl, statement: str, message: str) -> None:
    run = "task run() void { " + statement + " }\ncomptime { @bind_local_task(run, @get_local_task_id(9)); }"
    csl.refuses(DECLARATIONS + run, message)


@pytest.mark.parametrize(
    ("load", "rule"),
    [
        # DSR-052
        ("@load_to_dsr_xdsr(dest, @get_xdsr(0), ring)", "DSR-052"),
        # DSR-057
        ("@load_to_dsr_xdsr_sr(dest, @get_xdsr(0), .{ @get_sr(0) }, columns)", "DSR-057"),
    ],
)
def test_loads_at_compile_time_are_in_comptime_blocks(csl: Csl, load: str, rule: str) -> None:
    function = f"fn load() i16 {{ «{load}»; return 1; }}\nconst one = load();\n"
    run = "task run() void { given[0] = one; }\ncomptime { @bind_local_task(run, @get_local_task_id(9)); }"
    csl.refuses(DECLARATIONS + function + run, rule)


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize(
    ("name", "register", "used", "message"),
    [
        ("from", "src", "@mov16(to, src)", "receives from input queue 1, which has no color on PE"),
        ("wire", "dest", "@mov16(dest, chunk)", "sends on output queue 2, which has no color on PE"),
    ],
)
def test_queues_through_registers_are_initialized(
    csl: Csl, arch: str, name: str, register: str, used: str, message: str
) -> None:
    """DSR-046, DSR-047, AMB-34: a warning, and an error where something is sent or awaited; WSE-2 asks for inputs."""
    load = f"\ncomptime {{ @load_to_dsr({register}, {name}); }}"
    way, number, rule = ("input", 1, "DSR-046") if name == "from" else ("output", 2, "DSR-047")
    warnings = csl.pe(DECLARATIONS + load, arch).warnings
    if arch == "wse2" and name == "wire":
        assert not any("DSR-047" in warning for warning in warnings)
        return
    told = f"{way} queue {number} is used through a DSR, and so must be given its color by @initialize_queue ({rule})"
    (warning,) = warnings
    assert told in warning
    idle = csl.run(DECLARATIONS + load + "fn main() void {}", {"out": "i16"}, arch=arch, layout=LOOP_BACK)
    assert idle["out"].tolist() == [0] * 12
    with pytest.raises(LoomError, match=message):
        csl.run(DECLARATIONS + load + f"fn main() void {{ {used}; }}", {"out": "i16"}, arch=arch, layout=LOOP_BACK)


def test_lengths_are_set_at_run_time(csl: Csl) -> None:
    """DSD-156."""
    csl.refuses(DECLARATIONS + "comptime { «@set_fifo_read_length(queue, 3)»; }", "changes the FIFO at run time")


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("operation", ["", ", .{ .async = true }", ", .{ .async = true, .unblock = t }"])
def test_operations_on_registers_of_a_comptime_block_beside_others(csl: Csl, arch: str, operation: str) -> None:
    """DSD-182, DSD-195: the load says that both run at once, and that the end of the second unblocks the task."""
    text = f"""
    const c = @get_color(3);
    const wire = @get_dsd(fabout_dsd, .{{ .extent = 4, .fabric_color = c, .output_queue = @get_output_queue(2) }});
    const from = @get_dsd(fabin_dsd, .{{ .extent = 4, .fabric_color = c, .input_queue = @get_input_queue(1) }});
    var given = [4]i16{{ 1, 2, 3, 4 }};
    var out = @zeros([5]i16);
    const all = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> given[i] }});
    const into = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> out[i] }});
    const dest = @get_dsr(dsr_dest, 3);
    task t() void {{ out[4] += 1; }}
    comptime {{
      @load_to_dsr(dest, wire, .{{ .async = true, .unblock = t }});
      @bind_local_task(t, @get_local_task_id(12));
      @block(t);
      @activate(t);
      @initialize_queue(@get_input_queue(1), .{{ .color = c }});
      if (@is_arch("wse3")) @initialize_queue(@get_output_queue(2), .{{ .color = c }});
    }}
    fn main() void {{
      @mov16(into, from, .{{ .async = true }});
      @mov16(dest, all{operation});
    }}
    """
    assert csl.run(text, {"out": "i16"}, arch=arch, layout=LOOP_BACK)["out"].tolist() == [1, 2, 3, 4, 1]


LOOP_BACK = "@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });"


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize(
    ("load", "operation", "message"),
    [
        ("", ".{ .async = true }", "is async, but no fabric operand was loaded with async"),
        (", .{ .async = true }", ".{ .async = true, .activate = t }", "'activate' of mov16 in function @main"),
        (", .{ .async = true }", ".{ .async = true, .unblock = t }", "'unblock' of mov16 in function @main"),
        (", .{ .async = true, .unblock = t }", ".{ .async = true, .activate = t }", "'activate' of mov16 in function"),
    ],
)
def test_settings_that_the_load_lacks(csl: Csl, arch: str, load: str, operation: str, message: str) -> None:
    """DSD-182, DSD-195, AMB-35: an operation cannot ask for what the load of its register does not say."""
    text = f"""
    const c = @get_color(3);
    const from = @get_dsd(fabin_dsd, .{{ .extent = 4, .fabric_color = c, .input_queue = @get_input_queue(1) }});
    var out = @zeros([4]i16);
    const into = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> out[i] }});
    const src = @get_dsr(dsr_src0, 3);
    task t() void {{}}
    comptime {{
      @load_to_dsr(src, from{load});
      @bind_local_task(t, @get_local_task_id(12));
      @initialize_queue(@get_input_queue(1), .{{ .color = c }});
    }}
    fn main() void {{ @mov16(into, src, {operation}); }}
    """
    with pytest.raises(LoomError, match=message):
        csl.run(text, {"out": "i16"}, arch=arch, layout=LOOP_BACK)


@pytest.mark.parametrize(("given", "clash"), [(5, True), (6, False), (2, False)])
def test_the_microthread_of_registers_and_descriptors(csl: Csl, given: int, clash: bool) -> None:
    """DSD-209, DSD-224: the first operand with a microthread decides, also if it is a register of another body."""
    text = f"""
    const c = @get_color(3);
    const d = @get_color(4);
    const on = @get_dsd(fabout_dsd, .{{ .extent = 4, .fabric_color = d, .output_queue = @get_output_queue(2) }});
    const off = @get_dsd(fabin_dsd, .{{ .extent = 4, .fabric_color = d, .input_queue = @get_input_queue(2) }});
    const wire = @get_dsd(fabout_dsd, .{{ .extent = 4, .fabric_color = c, .output_queue = @get_output_queue(3) }});
    const from = @get_dsd(fabin_dsd, .{{ .extent = 4, .fabric_color = c, .input_queue = @get_input_queue(1) }});
    var given = [4]i16{{ 1, 2, 3, 4 }};
    var out = @zeros([4]i16);
    const all = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> given[i] }});
    const into = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> out[i] }});
    const dest = @get_dsr(dsr_dest, 3);
    comptime {{
      @load_to_dsr(dest, on, .{{ .async = true, .ut_id = @get_ut_id(5) }});
      @initialize_queue(@get_input_queue(1), .{{ .color = c }});
      @initialize_queue(@get_input_queue(2), .{{ .color = d }});
      @initialize_queue(@get_output_queue(2), .{{ .color = d }});
      @initialize_queue(@get_output_queue(3), .{{ .color = c }});
    }}
    fn main() void {{
      @mov16(dest, from, .{{ .async = true, .ut_id = @get_ut_id(6) }});
      @mov16(wire, all, .{{ .async = true, .ut_id = @get_ut_id({given}) }});
      @mov16(into, off);
    }}
    """
    routes = LOOP_BACK + LOOP_BACK.replace("@get_color(3)", "@get_color(4)")
    if clash:
        with pytest.raises(LoomError, match="use microthread 5 at the same time"):
            csl.run(text, {"out": "i16"}, arch="wse3", layout=routes)
    else:
        assert csl.run(text, {"out": "i16"}, arch="wse3", layout=routes)["out"].tolist() == [1, 2, 3, 4]
