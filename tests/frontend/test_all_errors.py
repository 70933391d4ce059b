"""All errors of a program at once that passes find, in the order of the text, whichever pass finds each."""

from __future__ import annotations

import json

import pytest

from loomir import compile
from loomir.diagnostics.errors import LoomErrors
from loomir.tools.cslc import main

from .harness import LAYOUT_FILE, PE_FILE, Csl

LAYOUT = """
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{});
  @export_name("main", fn() void);
}
"""


def marked(text: str) -> list[tuple[int, str]]:
    """Return the number of each line with an error, and what the message of that says."""
    lines = enumerate(text.split("\n"), 1)
    return [(number, line.partition("// error: ")[2]) for number, line in lines if "// error: " in line]


def check(
    csl: Csl, capsys: pytest.CaptureFixture[str], files: dict[str, str], arch: str = "wse2", layout: str = LAYOUT
) -> None:
    """Check that cslc reports the errors that comments name, as text and as JSON, and no others."""
    files = {LAYOUT_FILE: layout, **files}
    for name, text in files.items():
        csl.directory.joinpath(name).write_text(text)
    arguments = [str(csl.directory / LAYOUT_FILE), "-o", str(csl.directory / "out"), "--arch", arch, "--no-lint"]
    assert main(arguments) == 1
    lines = [line for line in capsys.readouterr().err.splitlines() if ": error: " in line]
    assert main([*arguments, "--json"]) == 1
    records = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    found = [each for each in records if each["severity"] == "error"]
    assert [line.partition(": error: ")[2] for line in lines] == [each["message"] for each in found]
    wanted = [(name, line, words) for name, text in files.items() for line, words in marked(text)]
    places = [(str(csl.directory / name), line) for name, line, _ in wanted]
    assert [(each["file"], each["line"]) for each in found] == places, "\n".join(lines)
    for each, (_, _, words) in zip(found, wanted, strict=True):
        assert words in each["message"]


def sends(count: int, tail: str = "") -> str:
    """Return sends from arrays of four dimensions at the same time, by queues of their own; the last but one that there
    are stride registers for has an error."""
    queues = range(2, 2 + count)
    declared = "".join(f"const q{n} = @get_output_queue({n}); const c{n} = @get_color({n});\n" for n in queues)
    made = "".join(
        f"const o{n} = @get_dsd(fabout_dsd, .{{ .extent = 16, .fabric_color = c{n}, .output_queue = q{n} }});\n"
        for n in queues
    )
    issued = "".join(f"  @mov16(o{n}, walk, .{{ .async = true }});{tail if n == queues[-1] else ''}\n" for n in queues)
    bound = "".join(f'  if (@is_arch("wse3")) @initialize_queue(q{n}, .{{ .color = c{n} }});\n' for n in queues)
    return f"""
var small = @zeros([2, 2, 2, 2]i16);
const walk = @get_dsd(mem4d_dsd, .{{ .tensor_access = |a, b, c, d|{{2, 2, 2, 2}} -> small[d, c, b, a] }});
{declared}{made}
fn main() void {{
{issued}}}
comptime {{
{bound}  @export_symbol(main);
}}
"""


def test_of_queues_registers_and_memory(csl: Csl, capsys: pytest.CaptureFixture[str]) -> None:
    text = sends(6, "  // error: sr registers, too few")
    text = text.replace("fn main() void {\n", "fn main() void {\n  large[0] = 1;\n")
    again = "  @mov16(o2, line, .{ .async = true });  // error: on the same queue 'q2'\n}\ncomptime"
    text = text.replace("}\ncomptime", again)
    memory = (
        "const line = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> small[i, 0, 0, 0] });\n"
        "var large: [40000]i16;  // error: bytes, but a PE of\n"
    )
    check(csl, capsys, {PE_FILE: memory + text}, "wse3")


def test_of_the_front_end_and_passes(csl: Csl, capsys: pytest.CaptureFixture[str]) -> None:
    """Passes look at code without errors, and of other code at its memory."""
    layout = """
layout {
  @set_rectangle(3, 1);
  @set_tile_code(0, 0, "a.csl", .{});
  @set_tile_code(1, 0, "b.csl", .{});
  @set_tile_code(1, 0, "b.csl", .{});  // error: PE (1, 0) is given code twice
  @set_tile_code(2, 0, "c.csl", .{});
  @set_color_config(0, 0, @get_color(1), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
  @set_color_config(0, 0, @get_color(1), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ WEST } } });  // error: two config
}
"""
    twice = """
const c = @get_color(1);
const oq = @get_output_queue(2);
const out = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = oq });
var data = @zeros([4]i16);
const line = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> data[i] });
task first() void {
  @mov16(out, line, .{ .async = true });
  @mov16(out, line, .{ .async = true });  // error: on the same queue 'oq'
}
comptime {
  @bind_local_task(first, @get_local_task_id(9));
  @activate(@get_local_task_id(9));
}
"""
    fitting = twice.replace("  @mov16(out, line, .{ .async = true });  // error: on the same queue 'oq'\n", "")
    wrong = fitting.replace(
        "task first() void {",
        "var many: [60000]u8;  // error: bytes, but a PE of\ntask first() void {\n"
        "  many[0] = 1;\n  many[1] = true;  // error: expected 'u8', found 'bool'",
    )
    check(csl, capsys, {"a.csl": twice, "b.csl": fitting, "c.csl": wrong}, layout=layout)


def test_of_linkage_and_ids(csl: Csl, capsys: pytest.CaptureFixture[str]) -> None:
    text = """
export var a: i16 = 1;
export var b: i16 = 2;
const m = @import_module("m.csl");
task one() void {}
comptime {
  @activate(@get_local_task_id(10));  // error: no task is bound to local task id 10
  @activate(@get_local_task_id(11));  // error: no task is bound to local task id 11
  @bind_local_task(one, @get_local_task_id(12));
  @activate(@get_local_task_id(12));
}
"""
    module = """
extern var a: u32;  // error: 'a' is declared as
extern const b: i16;  // error: 'b' is declared as
"""
    check(csl, capsys, {PE_FILE: text, "m.csl": module})


def test_operations_that_do_not_verify() -> None:
    with pytest.raises(LoomErrors) as caught:
        compile("""
wse.program @p target "wse2" rectangle 2 x 1 {
  wse.color @c = 40
  wse.color @d = 41
  wse.pe @a on [0, 0] {
    wse.func @main() {
      wse.activate @none
      wse.activate @main
      wse.return
    }
    wse.export @main
  }
}
""")
    assert [line.partition(": error: ")[::2] for line in str(caught.value).split("\n")] == [
        ("<text>:3:3", "color @c has id 40, which wse2 does not offer; choose one from 0 to 23"),
        ("<text>:4:3", "color @d has id 41, which wse2 does not offer; choose one from 0 to 23"),
        ("<text>:7:7", "@none is not defined in wse.pe @a or its program; define it or correct the name"),
        ("<text>:8:7", "function @main cannot be activated; name a local task (wse.task ... local)"),
    ]


def test_of_lowering() -> None:
    """Places, routes, addresses and ids, each of which a pass used to stop at; what overlaps with them is not said."""
    with pytest.raises(LoomErrors) as caught:
        compile("""
wse.program @p target "wse2" rectangle 2 x 2 {
  wse.color @c = 1
  wse.route @c on [0, 0] from [ramp] to [east]
  wse.route @c on [:, 0] from [west] to [ramp]
  wse.pe @a on [0, :] {
    wse.buffer @low : memref<8xf32> at 0
    wse.buffer @other : memref<8xf32> at 8
    wse.buffer @odd : memref<8xf32> at 1002
    wse.input_queue @q color @c id 2
    wse.task @data data @q (%v: i16) {
      wse.return
    }
    wse.task @local local id 1 {
      wse.return
    }
  }
  wse.pe @b on [0:2, 1] {
    wse.buffer @large : memref<20000xf32>
  }
}
""")
    found = [line.partition(": error: ")[::2] for line in str(caught.value).split("\n")]
    assert [(place.split(":")[1], message.partition(";")[0].partition(",")[0]) for place, message in found] == [
        ("5", "color @c has two routes at PE (0"),
        ("8", "buffer @other is at address 8"),
        ("9", "buffer @odd is at address 1002"),
        ("14", "local task @local has id 1"),
        ("18", "wse.pe @b is placed on PE (0"),
        ("19", "the buffers of @b take 80"),
    ]
