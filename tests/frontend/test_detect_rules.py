"""What the documents leave to the programmer (`detect` rules, and memory in use): a program that does it, which is
reported at its place with what it clashes with and what to wait for, and its right twin, which is not.

Lines of the wrong programs end with //1, where the finding is, and //2, which it names too.
"""

# ruff: noqa: E501 (a program is a few lines of a table)

from __future__ import annotations

import re

import pytest

import loomir
from loomir.diagnostics.errors import LoomError

from .harness import Csl

PROGRAM = """
const c = @get_color(3);
const e = @get_color(4);
const iq = @get_input_queue(1);
const iq2 = @get_input_queue(5);
const oq = @get_output_queue(2);
const oq2 = @get_output_queue(3);
var a = @zeros([8]i16);
var b = @zeros([8]i16);
var m = @zeros([2, 4]i16);
var out = @zeros([8]i16);
var n: i16 = 6;
var count: i16 = 0;
const low = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[i] });
const high = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> a[i + 4] });
const given = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> b[i] });
const matrix = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j|{2, 2} -> m[i, j] });
const from_index = @get_dsd(mem1d_dsd, .{ .base_address = &a, .extent = 2, .wavelet_index_offset = true });
const ring = @get_dsd(circbuf_dsd, .{ .base_address = &a, .extent = 4, .wraparound = 4 });
const from = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = c, .input_queue = iq });
const from2 = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = e, .input_queue = iq2 });
const wire = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = c, .output_queue = oq });
const wire2 = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = e, .output_queue = oq2 });
const dest = @get_dsr(dsr_dest, 2);
const dest2 = @get_dsr(dsr_dest, 3);
const src = @get_dsr(dsr_src1, 2);
const ended_id = @get_local_task_id(12);
const other_id = @get_local_task_id(13);
comptime {
  @initialize_queue(iq, .{ .color = c });
  @initialize_queue(iq2, .{ .color = e });
  if (@is_arch("wse3")) { @initialize_queue(oq, .{ .color = c }); @initialize_queue(oq2, .{ .color = e }); }
}
fn square(x: i16) i16 { return x * x; }
comptime { @export_symbol(main); }
"""
TASKS = "comptime { @bind_local_task(ended, ended_id); @bind_local_task(other, other_id); }"
ROUTES = "".join(
    f"@set_color_config(0, 0, @get_color({color}), .{{ .routes = .{{ .rx = .{{ RAMP }}, .tx = .{{ RAMP }} }} }});"
    for color in (3, 4)
)
LAYOUT = f"""
layout {{
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{{}});
  {ROUTES}
  @export_name("main", fn() void);
}}
"""

BOTH = ("wse2", "wse3")
CONTROL = """
const sentinel = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = oq, .control = true });
const endless = @get_dsd(fabin_dsd, .{ .extent = 8, .fabric_color = c, .input_queue = iq });
const whole = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> a[i] });
"""
FIFO = """
var room = @zeros([8]i16);
const fifo = @allocate_fifo(room, .{ .dest = @get_dsr(dsr_dest, 4), .src = @get_dsr(dsr_src1, 4), .xdsr = @get_xdsr(2) });
const pop = @get_dsr(dsr_fifo_src1, @get_dsr(dsr_src1, 4));
"""
IN_FLIGHT = r"while mov16 in @main at pe\.csl:LINE2:\d+, which is asynchronous, {}; {}"
RECEIVES, SENDS = "writes it", "reads it"
DO_IT = "do it in @ended, which starts when that has ended"
GIVE_A_TASK = "give that operation a task to activate or unblock when it has ended, and do it there"

ROWS: dict[str, tuple[tuple[str, ...], str, str, str, str]] = {
    # Architectures, declarations, the wrong and the right body of `main`, what is said. What is before " ## " in a body
    # stands for AGAIN in the declarations.
    "DSD-044": (
        BOTH,
        "",
        "@mov16(from_index, 1); //1",
        "@mov16(from_index, 1, .{ .index = 3 });",
        r"has wavelet_index_offset, but the operation has no index",
    ),
    "DSD-109": (
        BOTH,
        "const marked = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = c, .output_queue = oq, .wavelet_index_offset = true });",
        "@mov16(marked, 1); //1\n @mov16(low, @set_dsd_length(from, 1));",
        "@mov16(marked, 1, .{ .index = 3 });\n @mov16(low, @set_dsd_length(from, 1));",
        r"has wavelet_index_offset, but the operation has no index",
    ),
    "DSD-171": (
        BOTH,
        "",
        "@mov16(@increment_dsd_offset(low, n, i16), 1); //1",
        "@mov16(@increment_dsd_offset(low, n - 2, i16), 1);",
        r"element 8 of @a|@a",
    ),
    "DSD-184": (
        BOTH,
        "",
        "@load_to_dsr(dest, wire); @mov16(dest, given, .{ .async = true }); //1\n @mov16(low, from);",
        "@load_to_dsr(dest, wire, .{ .async = true }); @mov16(dest, given, .{ .async = true });\n @mov16(low, from);",
        "async",
    ),
    "DSD-208": (
        BOTH,
        f"{TASKS} task ended() void {{}} task other() void {{ @mov16(wire, high, .{{ .async = true }}); @mov16(low, from); }}",
        "@mov16(wire, given, .{ .async = true }); //2\n if (n == 6) {\n @mov16(wire, high, .{ .async = true }); //1\n }\n @mov16(low, from); @mov16(high, from);",
        "@mov16(wire, given, .{ .async = true, .activate = other }); @mov16(low, from);",
        r"pe\.csl:LINE2:\d+\) and .* run at the same time on the same queue 'oq'",
    ),
    "DSD-208, in tasks": (
        BOTH,
        f"{TASKS} task ended() void {{}}\ntask other() void {{ @mov16(wire, high, .{{ .async = true }}); }} //1",
        "@mov16(wire, given, .{ .async = true }); //2\n @activate(other_id);",
        "@mov16(wire, given, .{ .async = true, .activate = other });\n @mov16(low, from); @mov16(low, from, .{ .async = true });",
        r"and mov16 in @main at pe\.csl:LINE2:\d+ use output queue 'oq' at the same time.*\(DSD-208\)",
    ),
    "DSD-209": (
        ("wse3",),
        f"{TASKS} task ended() void {{}}\ntask other() void {{ @mov16(wire2, high, .{{ .async = true, .ut_id = @get_ut_id(4) }}); }} //1",
        "@mov16(wire, given, .{ .async = true, .ut_id = @get_ut_id(4) }); //2\n @activate(other_id);",
        "@mov16(wire, given, .{ .async = true, .ut_id = @get_ut_id(4), .activate = other });\n @mov16(low, from); @mov16(low, from2, .{ .async = true, .ut_id = @get_ut_id(6) });",
        r"and mov16 in @main at pe\.csl:LINE2:\d+ use microthread 4 at the same time.*\(DSD-209\)",
    ),
    "DSD-209, the microthread of a queue": (
        ("wse2",),
        f"{TASKS} const iq3 = @get_input_queue(2); comptime {{ @initialize_queue(iq3, .{{ .color = e }}); }} const from3 = @get_dsd(fabin_dsd, .{{ .extent = 4, .fabric_color = e, .input_queue = iq3 }});\n task ended() void {{}}\ntask other() void {{ @mov16(low, from3, .{{ .async = true }}); }} //1",
        "@mov16(wire, given, .{ .async = true }); //2\n @activate(other_id);",
        "@mov16(wire, given, .{ .async = true, .activate = other });\n @mov16(wire2, given);\n @mov16(high, from);",
        r"and mov16 in @main at pe\.csl:LINE2:\d+ use microthread 2 at the same time.*\(DSD-209\)",
    ),
    "DSR-003": (
        BOTH,
        "fn load() void { @load_to_dsr(dest, low); }",
        "if (n == 5) { load(); }\n @mov16(dest, 3); //1",
        "if (n == 6) { load(); }\n @mov16(dest, 3);",
        r"dest register 2 of PE \(0, 0\)",
    ),
    "DSR-015": (
        BOTH,
        f"{FIFO} const popped = @get_dsr(dsr_fifo_src1, 5);",
        "@load_to_dsr(@get_dsr(dsr_src1, 5), low);\n @mov16(high, popped); //1",
        "@mov16(fifo, 1);\n @mov16(high, pop);",
        r"src1 register 5 of PE \(0, 0\) does not hold a FIFO.*\(DSR-015\)",
    ),
    "DSR-016": (
        BOTH,
        FIFO,
        "@mov16(fifo, low); if (n == 6) { @mov16(fifo, low); }\n @mov16(@get_dsr(dsr_dest, 4), low); //1",
        "@mov16(fifo, low); if (n == 5) { @mov16(fifo, low); }\n @mov16(@get_dsr(dsr_dest, 4), low);",
        r"which dest register 4 holds, full on PE \(0, 0\).*\(DSR-016\)",
    ),
    "DSR-043": (
        BOTH,
        "",
        "@load_to_dsr(dest, matrix); //1\n @mov16(dest, 2);",
        "@load_to_dsr_xdsr_sr(dest, @get_xdsr(0), .{}, matrix);\n @mov16(dest, 2);",
        r"DSR-043",
    ),
    "DSR-068": (
        BOTH,
        "",
        "@load_to_dsr(src, low);\n @map(square, src, high); //1",
        "@load_to_dsr(src, low, .{ .single_step = true });\n @map(square, src, high);",
        r"'\.single_step = true'",
    ),
    "DSR-069": (
        BOTH,
        "",
        "@load_to_dsr(src, low, .{ .single_step = true });\n @mov16(high, src); //1",
        "@load_to_dsr(src, low);\n @mov16(high, src);",
        r"DSR-069",
    ),
    "a circular buffer that is received": (
        BOTH,
        f"{TASKS} task ended() void {{ out[0] = a[1]; }} task other() void {{}}",
        "@load_to_dsr_xdsr(dest, @get_xdsr(0), ring);\n @mov16(dest, from, .{ .async = true, .activate = ended }); //2\n @mov16(wire, given);\n out[0] = a[1]; //1",
        "@load_to_dsr_xdsr(dest, @get_xdsr(0), ring);\n @mov16(dest, from, .{ .async = true, .activate = ended });\n @mov16(wire, given);",
        "element 1 of @a .*" + IN_FLIGHT.format(RECEIVES, DO_IT),
    ),
    "a circular buffer that begins further on": (
        BOTH,
        f"{TASKS} task ended() void {{}} task other() void {{}}",
        "@load_to_dsr_xdsr(dest, @get_xdsr(0), ring, .{ .save_address = true });\n @mov16(dest, @set_dsd_length(given, 3));\n @mov16(dest, from, .{ .async = true }); //2\n @mov16(wire, given);\n a[3] = 1; //1",
        "@load_to_dsr_xdsr(dest, @get_xdsr(0), ring, .{ .save_address = true });\n @mov16(dest, @set_dsd_length(given, 3));\n @mov16(dest, from, .{ .async = true });\n @mov16(wire, given);\n b[3] = 1;",
        "element 3 of @a .*" + IN_FLIGHT.format(RECEIVES, GIVE_A_TASK),
    ),
    "a register that moves on": (
        BOTH,
        f"{TASKS} task ended() void {{}} task other() void {{}}",
        "@load_to_dsr(dest, @set_dsd_length(low, 2), .{ .save_address = true });\n @mov16(dest, 1);\n @mov16(dest, @set_dsd_length(from, 2), .{ .async = true }); //2\n @mov16(wire, @set_dsd_length(given, 2));\n out[0] = a[3]; //1",
        "@load_to_dsr(dest, @set_dsd_length(low, 2), .{ .save_address = true });\n @mov16(dest, 1);\n @mov16(dest, @set_dsd_length(from, 2), .{ .async = true });\n @mov16(wire, @set_dsd_length(given, 2));\n out[0] = a[1];",
        "element 3 of @a .*" + IN_FLIGHT.format(RECEIVES, GIVE_A_TASK),
    ),
    "what a register sends": (
        BOTH,
        f"{TASKS} task ended() void {{}} task other() void {{}}",
        "@load_to_dsr(src, given);\n @mov16(wire, src, .{ .async = true }); //2\n b[3] = 1; //1\n @mov16(low, from);",
        "@load_to_dsr(src, given);\n @mov16(wire, src, .{ .async = true });\n b[4] = 1;\n @mov16(low, from);",
        "element 3 of @b .*" + IN_FLIGHT.format(SENDS, GIVE_A_TASK),
    ),
    "a receive that a control wavelet ends": (
        BOTH,
        f"{CONTROL}{TASKS} task ended() void {{ out[0] = a[7]; }} task other() void {{}}",
        "@mov16(whole, endless, .{ .async = true, .on_control = .{ .activate = ended } }); //2\n @mov16(wire, given); out[0] = a[7]; //1\n @mov32(sentinel, 0);",
        "@mov16(whole, endless, .{ .async = true, .on_control = .{ .activate = ended } });\n @mov16(wire, given); @mov32(sentinel, 0);",
        "element 7 of @a .*" + IN_FLIGHT.format(RECEIVES, DO_IT),
    ),
    "two operations at the same words": (
        BOTH,
        f"{TASKS} task ended() void {{ @mov16(wire2, low, .{{ .async = true }}); }} task other() void {{}}",
        "@mov16(low, from, .{ .async = true, .activate = ended }); //2\n @mov16(wire, given);\n @mov16(wire2, low, .{ .async = true }); //1\n @mov16(high, from2);",
        "@mov16(low, from, .{ .async = true, .activate = ended });\n @mov16(wire, given);\n @mov16(high, from2, .{ .async = true });",
        "element 0 of @a .*" + IN_FLIGHT.format(RECEIVES, DO_IT),
    ),
    "the memory of a FIFO that is pushed": (
        BOTH,
        f"{FIFO}{TASKS} task ended() void {{ room[1] = 5; @mov16(high, fifo); }} task other() void {{}}",
        "@mov16(fifo, from, .{ .async = true, .activate = ended }); //2\n @mov16(wire, given);\n out[0] = room[1]; //1",
        "room[1] = 5;\n @mov16(fifo, from, .{ .async = true, .activate = ended });\n @mov16(wire, given);",
        "element 1 of @room .*" + IN_FLIGHT.format(RECEIVES, DO_IT),
    ),
    "the memory of a FIFO that is popped": (
        BOTH,
        f"{FIFO}{TASKS} const places = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> room[2 * i + 1] }}); task ended() void {{ @mov16(places, 1); }} task other() void {{}}",
        "@mov16(fifo, low);\n @mov16(wire, fifo, .{ .async = true, .activate = ended }); //2\n @mov16(places, 1); //1\n @mov16(high, from);",
        "@mov16(fifo, low);\n @mov16(wire, fifo, .{ .async = true, .activate = ended });\n @mov16(high, places);\n @mov16(fifo, high);\n @mov16(high, from);",
        "element 1 of @room .*" + IN_FLIGHT.format(SENDS, DO_IT),
    ),
    "the memory of a FIFO that is received into": (
        BOTH,
        f"{FIFO}{TASKS} const places = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> room[i + 4] }}); task ended() void {{ @mov16(fifo, low); }} task other() void {{}}",
        "@mov16(places, from, .{ .async = true, .activate = ended }); //2\n @mov16(wire, given);\n @mov16(fifo, low); //1",
        "@mov16(fifo, low);\n @mov16(places, from, .{ .async = true, .activate = ended });\n @mov16(wire, given);",
        "element 4 of @room .*" + IN_FLIGHT.format(RECEIVES, DO_IT),
    ),
    "a register that is loaded again": (
        BOTH,
        f"{TASKS} task ended() void {{ @load_to_dsr(src, high); @mov16(low, src); }}\ntask other() void {{\n @mov16(wire, src, .{{ .async = true, .activate = ended }}); //2\n @load_to_dsr(AGAIN, high); //1\n @mov16(low, from); }}",
        "src ## @load_to_dsr(src, given); @activate(other_id);",
        "@get_dsr(dsr_src1, 3) ## @load_to_dsr(src, given); @activate(other_id);",
        r"src1 register 2 is loaded again on PE \(0, 0\) while mov16 in @other at pe\.csl:LINE2:\d+, which is asynchronous, uses it; do it in @ended",
    ),
    "a register that is loaded again before the end": (
        BOTH,
        f"{TASKS} task ended() void {{}}\ntask other() void {{\n @mov16(dest, from, .{{ .async = true }}); //2\n @mov16(wire2, given); @mov16(high, from2);\n @load_to_dsr(AGAIN, high); //1\n @mov16(wire, given); }}",
        "dest ## @load_to_dsr(dest, low); @activate(other_id);",
        "dest2 ## @load_to_dsr(dest, low); @activate(other_id);",
        r"dest register 2 is loaded again on PE \(0, 0\) while mov16 in @other at pe\.csl:LINE2:\d+, which is asynchronous, uses it; give that operation a task",
    ),
    "a task that is not blocked again": (
        BOTH,
        f"{TASKS} comptime {{ @block(ended_id); }}\ntask other() void {{}}\ntask ended() void {{ //1\n AGAIN\n count += 1;\n if (count == 1) {{ round(); }} }}\nfn round() void {{\n @mov16(low, from, .{{ .async = true, .unblock = ended }}); //2\n @activate(ended_id);\n @mov16(wire, given, .{{ .async = true }});\n}}",
        "round();",
        "@block(ended_id); ## round();",
        r"@ended starts on PE \(0, 0\) before mov16 in @ended at pe\.csl:LINE2:\d+ has ended, which is asynchronous and unblocks it.*@block it in a comptime block, and again",
    ),
}


def program_of(declarations: str, body: str) -> str:
    """Return a program, of declarations and the body of `main`."""
    again, _, body = body.rpartition(" ## ")
    return f"{PROGRAM}{declarations.replace('AGAIN', again)}\nfn main() void {{\n{body}\n}}\n"


def line_of(text: str, mark: str) -> int | None:
    return text[: text.index(mark)].count("\n") + 1 if mark in text else None


def found_in(csl: Csl, capsys: pytest.CaptureFixture[str], text: str, arch: str) -> list[str]:
    """Return the warnings and the error of a program."""
    capsys.readouterr()
    told = list[str]()
    try:
        compiled = csl.unverified(LAYOUT, text, arch)
        told += compiled.warnings
        program = loomir.compile(compiled.module, verify_each=False)
        simulator = loomir.Simulator(program, check=True, step_limit=100_000)
        simulator.launch("main")
    except LoomError as error:
        told.append(str(error))
    lines = "\n".join([capsys.readouterr().err, *told]).replace(f"{csl.directory}/", "").splitlines()
    return [line for line in lines if re.search("(warning|error): ", line)]


@pytest.mark.parametrize(("name", "arch"), [(name, arch) for name, row in ROWS.items() for arch in row[0]])
@pytest.mark.parametrize("executor", ["core", "reference"])
@pytest.mark.one_in(2)
def test_is_found(
    csl: Csl, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, arch: str, executor: str
) -> None:
    """Once, at its place; and nothing in the right twin."""
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    _, declarations, wrong, right, message = ROWS[name]
    text = program_of(declarations, wrong)
    lines = found_in(csl, capsys, text, arch)
    assert len(lines) == 1, lines
    assert lines[0].startswith(f"pe.csl:{line_of(text, '//1')}:")
    assert re.search(message.replace("LINE2", str(line_of(text, "//2"))), lines[0]), lines[0]
    assert found_in(csl, capsys, program_of(declarations, right), arch) == []
