"""Faults planted in programs that are right: each is named with both source lines and the join that is missing.

A row says what replaces what in the program, and ends of the two lines that a finding names, the later one first: in
the rows, `//` marks lines that the fault adds.
"""

# ruff: noqa: E501 (a program is a few lines of a table)

from __future__ import annotations

import re

import numpy as np
import pytest

import loomir
from loomir.diagnostics.errors import LoomError

from . import racing_programs as programs
from .harness import Csl

RIGHT = {name: each for name, each in vars(programs).items() if isinstance(each, programs.Program)}
STREAM_WORD = (
    "var blocks:",
    'var steps: u16 = 0;\ncomptime { @export_symbol(steps, "loom.cmd_stream"); }\nvar blocks:',
)
UNJOINED = ("task multiply() void {\n  @block(multiply_id);", "task multiply() void {")
NEVER_JOINED = "give that operation a task to activate or unblock when it has ended, and do it there"
OTHER_REASON = "@{} has started for another reason: let nothing else start it before that has ended"
NO_VALUE = "write it before, or give the variable a value, such as @zeros"
QUEUE = "issue the second from a task that the completion of the first activates"
AGAIN = "issue it again from a task that its completion activates"
ORDER = "nothing decides which comes first, and the result depends on it: @block one of the two"

Edits = tuple[tuple[str, str], ...]
FAULTS: dict[str, tuple[str, Edits, str, str, str]] = {
    "stencil: computes at once": ("STENCIL", (("// goes on", "compute();"),), "//sum", "//recv_w", "do it in @got_w"),
    "stencil: an edge changes while it is sent": ("STENCIL", (("// goes on", "u[1] = 0; //1"),), "//1", "//send_w", "do it in @sent_w"),
    "stencil: all changes while the edges are sent": ("STENCIL", (("// goes on", "@mov16(inner, 0); //1"),), "//1", "//send_e", "do it in @sent_e"),
    "stencil: both halos are received in one place": ("STENCIL", (("@mov16(right_halo, in_e", "@mov16(left_halo, in_e"),), "//recv_e", "//recv_w", "do it in @got_w"),
    "stencil: a halo is received where the edge is sent": ("STENCIL", (("@mov16(left_halo, in_w", "@mov16(left_edge, in_w"),), "//send_w", "//recv_w", "do it in @got_w"),
    "stencil: exchanges twice": ("STENCIL", (("// goes on", "exchange();"),), "//recv_w", "//recv_w", AGAIN),
    "stencil: a halo is read before it comes": ("STENCIL", (("// goes on", "out[0] = u[0] + u[5]; //1"),), "//1", "//recv_e", "do it in @got_e"),
    "stencil: the next exchange is issued before the update": ("STENCIL", (("  if (step < 2) { exchange(); }\n", ""), ("  @add16(next, above", "  if (step < 1) { exchange(); }\n  @add16(next, above")), "//sum", "//recv_e", "do it before that is issued"),
    "reduction: adds before it has come": ("REDUCTION", (("// waits", "@fadds(sums, sums, part); //1"),), "//1", "//recv", "do it in @arrived"),
    "reduction: clears what is sent": ("REDUCTION", (("// first", "out[0] = 0.0; //1"),), "//1", "//send", "do it in @done"),
    "reduction: clears in the function that sends": ("REDUCTION", ((" } //send", " //send\n  @fmovs(sums, 0.0); } //1"),), "//1", "//send", "do it in @done"),
    "reduction: the task of the end is activated too": ("REDUCTION", (("// waits", "@activate(arrived_id);"), ("part);\n", "part); //sum\n")), "//sum", "//recv", OTHER_REASON.format("arrived")),
    "reduction: sums go on before what comes is added": ("REDUCTION", (("@fmovs(part, in_w, .{ .async = true, .activate = arrived }); //recv", "@fadds(sums, sums, in_w, .{ .async = true }); //recv\n    send();"),), "//send", "//recv", NEVER_JOINED),
    "reduction: receives twice": ("REDUCTION", (("// waits", "@fmovs(sums, in_w, .{ .async = true }); //1"),), "//1", "//recv", QUEUE),
    "reduction: received as f16": ("REDUCTION", (("var buf = @zeros([4]f32);", "var buf = @zeros([4]f16);"), ("@fmovs(part, in_w", "@fmovh(part, in_w"), ("  @fadds(sums, sums, part);\n", "")), "//recv", "//send", "send and receive the same type"),
    "reduction: adds what nothing has written": ("REDUCTION", (("var buf = @zeros([4]f32);", "var buf: [4]f32;"), ("    send();\n    // first", "    @fadds(sums, sums, part); //1\n    send();")), "//1", "//buf", NO_VALUE),
    "reduction: the next task follows without the end": ("REDUCTION", (("{ .async = true, .activate = arrived }); //recv", "{ .async = true }); //recv\n    @activate(arrived_id);"), ("part);\n", "part); //sum\n")), "//sum", "//recv", NEVER_JOINED),
    "broadcast: forwards before it has come": ("BROADCAST", (("// waits", "forward();"),), "//send", "//recv", "do it in @arrived"),
    "broadcast: uses before it has come": ("BROADCAST", (("// waits", "use();"),), "//use", "//recv", "do it in @arrived"),
    "broadcast: cleared while it is sent": ("BROADCAST", (("// sent", "@fmovs(cells, 0.0); //1"),), "//1", "//send", "do it in @done"),
    "broadcast: never filled": ("BROADCAST", (("var data = @zeros([4]f32);", "var data: [4]f32;"), ("for (@range(u16, 4)) |i| { data[i] = @as(f32, i) + 0.5; } //fill", "")), "//send", "//data", NO_VALUE),
    "broadcast: filled but for the last": ("BROADCAST", (("var data = @zeros([4]f32);", "var data: [4]f32;"), ("for (@range(u16, 4)) |i| { data[i] = @as(f32, i)", "for (@range(u16, 3)) |i| { data[i] = @as(f32, i)")), "//send", "//data", NO_VALUE),
    "broadcast: sent as f16": ("BROADCAST", (("@fmovs(out_e, cells,", "@fmovh(out_e, @as(f16, 1.0),"),), "//recv", "//send", "send and receive the same type"),
    "gemm: not blocked again": ("GEMM", (UNJOINED, ("task multiply() void {", "task multiply() void { //multiply")), "//multiply", ".unblock = multiply }); }", "@block it in a comptime block, and again each time that it has started"),
    "gemm: both tiles in one place": ("GEMM", (("@fmovs(tile_b,", "@fmovs(tile_a,"),), "//recv_b", "//recv_a", "do it in @multiply"),
    "gemm: multiplies at once": ("GEMM", (("// started", "product();"),), "//left", "//recv_a", "do it in @multiply"),
    "gemm: clears a tile when its receive is issued": ("GEMM", (("// started", "@fmovs(tile_a, 0.0); //1"),), "//1", "//recv_a", "do it in @multiply"),
    "gemm: the next step is issued before the product": ("GEMM", (("  product();\n  k += 1;\n  if (k < 2) { start(); }", "  k += 1;\n  if (k < 2) { start(); }\n  product();"),), "//left", ".activate = multiply }); }", "do it before that is issued"),
    "gemm: goes on with the first of two": ("GEMM", ((".unblock = multiply", ".activate = multiply"), ("comptime { @block(multiply_id); }", ""), UNJOINED), "//right", ".activate = multiply }); }", "let nothing else start @multiply before that has ended"),
    "gemm: its own tile changes while it is sent": ("GEMM", (("// started", "if (x == k) { a[0] += 1.0; } //1"),), "//1", "//send_a", "do it in @multiply"),
    "fft: in place": ("FFT", (("@fmovs(theirs, in_e", "@fmovs(mine, in_e"), ("@fmovs(theirs, in_w", "@fmovs(mine, in_w")), "//send", "//recv", "do it in @butterfly"),
    "fft: the butterfly at once": ("FFT", (("// swapped", "@fadds(mine, mine, theirs); //1"),), "//1", "//recv", "do it in @butterfly"),
    "fft: not blocked again": ("FFT", (("task butterfly() void {\n  @block(butterfly_id);", "task butterfly() void { //butterfly"),), "//butterfly", "//recv", "@block it in a comptime block, and again each time that it has started"),
    "fft: scaled while it is sent": ("FFT", (("// swapped", "for (@range(u16, 4)) |i| { out[i] = 0.5 * out[i]; } //1"),), "//1", "//send", "do it in @butterfly"),
    "fft: swaps again before the butterfly": ("FFT", (("  round += 1;\n  if (round < 2) { swap(); }\n", ""), ("  if (x == 0) { @fadds(", "  round += 1;\n  if (round < 2) { swap(); }\n  if (x == 0) { //\n  @fadds("), ("theirs); } else", "theirs); //sum\n  } else")), "//sum", "//recv", "do it before that is issued"),
    "histogram: keys change while they are sent": ("HISTOGRAM", (("// goes on", "for (@range(u16, 4)) |i| { key[i] = 0; } //1"),), "//1", "//send_e", NEVER_JOINED),
    "histogram: the last key of both": ("HISTOGRAM", (("out[value] += 1;\n  // from the west", "out[0] = value; //2"), ("out[value] += 1;\n  // from the east", "out[0] = value; //1")), "//1", "//2", ORDER),
    "histogram: one sets what the other adds": ("HISTOGRAM", (("// from the west", "last = 2 * value; //2"), ("// from the east", "out[0] += last; //1")), "//1", "//2", ORDER),
    "histogram: keys that nothing has written": ("HISTOGRAM", (("var key = @zeros([4]i16);", "var key: [4]i16;"), ("  for (@range(i16, 4)) |i| { key[i] = (i + x) & 3; } //fill\n", "")), "//send_e", "//key", NO_VALUE),
    "histogram: an operation receives too": ("HISTOGRAM", (("// goes on", "if (x == 1) { @mov16(keys, in_w, .{ .async = true }); } //1"), ("task count_w(value: i16) void {", "task count_w(value: i16) void { //count")), "//1", "//count", "@block it until the operation has ended"),
    "pipeline: the memory of the FIFO is written": ("PIPELINE", (("// both", "room[0] = 1; //1"),), "//1", "//push", NEVER_JOINED),
    "pipeline: the memory of the FIFO is read": ("PIPELINE", (("// both", "ended = room[3]; //1"),), "//1", "//push", NEVER_JOINED),
    "pipeline: two operations push": ("PIPELINE", (("// both", "@mov16(line, in_w, .{ .async = true }); //1"),), "//1", "//push", QUEUE),
    "pipeline: what is received is read": ("PIPELINE", ((" } //recv", " //recv\n  ended = out[3]; } //1"),), "//1", "//recv", "do it in @done"),
    "pipeline: received where it is sent from": ("PIPELINE", (("@mov16(line, in_w", "@mov16(given, in_w"), ("@mov16(out_e, line,", "@mov16(out_e, given,")), "//pop", "//push", NEVER_JOINED),
    "stream: adds the block that comes": ("STREAM", (("@fadds(total, total, first);", "@fadds(total, total, second);"),), "//add_first", "//recv_second", "do it in @took_second"),
    "stream: one buffer for both": ("STREAM", (("@fmovs(second, in_w", "@fmovs(first, in_w"),), "//add_first", "//recv_second", "do it in @took_second"),
    "stream: the sender goes on at once": ("STREAM", (("// goes on", "key[0] = 7.0; //1"),), "//1", "//send", "do it in @sent"),
    "stream: the next block is made while this is sent": ("STREAM", (("// again", "for (@range(u16, 4)) |i| { key[i] += 1.0; } //1"),), "//1", "//send", "do it before that is issued"),
    "stream: sends again at once": ("STREAM", (("// goes on", "if (x == 0) { send(); }"),), "//send", "//send", AGAIN),
    "stream: the host goes on too early": ("STREAM", (("// goes on", "steps += 1; //1"), STREAM_WORD), "//recv", "//1", "call it in a task that this operation activates or unblocks when it has ended"),
    "stream: the host goes on twice": ("STREAM", (("// goes on", "steps += 1; //2\n  steps += 1; //1"), STREAM_WORD), "//1", "//2", "call it once for each launch"),
    "stream: a register is loaded again": ("STREAM", (("fn send() void { @fmovs(out_e, given,", "const reg = @get_dsr(dsr_src1, 2);\nfn send() void { @load_to_dsr(reg, given); @fmovs(out_e, reg,"), ("// goes on", "if (x == 0) { @load_to_dsr(reg, first); } //1")), "//1", "//send", "do it in @sent"),
}  # fmt: skip


def found(csl: Csl, capsys: pytest.CaptureFixture[str], program: programs.Program, text: str, arch: str) -> list[str]:
    """Return what the compiler and a run say; of a right program also check what it computes."""
    is_right = text == program.text
    capsys.readouterr()
    told: list[str] = []
    try:
        made = csl.unverified(program.layout, program.of(text), arch, lint=True)
        told += [each for each in made.warnings if re.search(r"\[(race|mixed-floats)\]$", each)]
        simulator = loomir.Simulator(loomir.compile(made.module, verify_each=False), check=True, step_limit=100_000)
        simulator.launch("main")
        if is_right:
            assert np.array_equal(simulator.get("out"), program.expected())
    except LoomError as error:
        assert not is_right
        told.append(str(error))
    return [each.replace(f"{csl.directory}/", "") for each in [*told, *capsys.readouterr().err.splitlines()]]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("arch", ["wse3", "wse2"])
@pytest.mark.parametrize("name", RIGHT)
def test_right_programs_are_silent(csl: Csl, capsys: pytest.CaptureFixture[str], name: str, arch: str) -> None:
    assert found(csl, capsys, RIGHT[name], RIGHT[name].text, arch) == []


@pytest.mark.one_in(4)
@pytest.mark.parametrize("arch", ["wse3", "wse2"])
@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults_are_named(csl: Csl, capsys: pytest.CaptureFixture[str], name: str, arch: str) -> None:
    program, edits, later, earlier, join = FAULTS[name]
    text = RIGHT[program].text
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    told = found(csl, capsys, RIGHT[program], text, arch)
    lines = enumerate(RIGHT[program].of(text).splitlines(), 1)
    first, second = [], []
    for number, line in lines:
        first += [number] if line.endswith(later) else []
        second += [number] if line.endswith(earlier) else []
    assert first and second
    places = [
        rf"^pe\.csl:{one}:\d+: (warning|error): .*\bpe\.csl:{other}:\d+.*{join}" for one in first for other in second
    ]
    assert any(re.search(place, each) for place in places for each in told), told
