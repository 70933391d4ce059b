"""Races that are found at compile time: each is one that a run reports too, and their right twins are silent."""

# ruff: noqa: E501 (a program is a few lines of a table)

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import loomir
from loomir.diagnostics.errors import LoomError

from ..searches import examples
from .harness import Csl
from .test_detect_rules import GIVE_A_TASK, LAYOUT, RECEIVES, SENDS, TASKS, line_of, program_of

IN_FLIGHT = r"while mov16 in @{} at .*pe\.csl:LINE2:\d+, which is asynchronous, {}; {}"
DO_IT = "do it in @ended, which starts when that has ended"
ENDED = f"{TASKS} task ended() void {{}} task other() void {{}}"
STREAM = 'var steps: u16 = 0; comptime { @export_symbol(steps, "loom.cmd_stream"); } fn go_on() void { steps += 1; }'

ROWS: dict[str, tuple[str, str, str, str]] = {
    # Declarations, the wrong and the right body of `main`, what is said. Lines as in `test_detect_rules`.
    "a load": (
        ENDED,
        "@mov16(low, from, .{ .async = true, .activate = ended }); //2\n @mov16(wire, given);\n out[0] = a[2]; //1",
        "@mov16(low, from, .{ .async = true, .activate = ended });\n @mov16(wire, given);\n out[0] = a[4];",
        "this load reads element 2 of @a " + IN_FLIGHT.format("main", RECEIVES, DO_IT),
    ),
    "a store": (
        ENDED,
        "@mov16(wire, given, .{ .async = true }); //2\n b[3] = 1; //1\n @mov16(low, from);",
        "@mov16(wire, given, .{ .async = true });\n @mov16(low, from);\n b[3] = 1;",
        "this store writes element 3 of @b " + IN_FLIGHT.format("main", SENDS, GIVE_A_TASK),
    ),
    "any element of an array that is received as a whole": (
        f"{ENDED} var four = @zeros([4]i16); const all = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> four[i] }});",
        "@mov16(all, from, .{ .async = true, .activate = ended }); //2\n @mov16(wire, given);\n out[0] = four[@as(u16, n - 3)]; //1",
        "@mov16(low, from, .{ .async = true, .activate = ended });\n @mov16(wire, given);\n out[0] = a[@as(u16, n)];",
        "this load reads an element of @four " + IN_FLIGHT.format("main", RECEIVES, DO_IT),
    ),
    "in functions": (
        f"{ENDED}\nfn begin() void {{ @mov16(low, from, .{{ .async = true, .activate = ended }}); }} //2\nfn use(k: i16) void {{\n if (n > k) {{ out[0] = a[2]; }} //1\n}}",
        "begin(); @mov16(wire, given); use(1); use(2);",
        "begin(); @mov16(wire, given); @mov16(high, from2, .{ .async = true }); @mov16(wire2, given);",
        "this load reads element 2 of @a " + IN_FLIGHT.format("main", RECEIVES, DO_IT),
    ),
    "a DSD operation": (
        ENDED,
        "@mov16(low, from, .{ .async = true, .activate = ended }); //2\n @mov16(wire, given);\n @add16(high, low, 1); //1",
        "@mov16(low, from, .{ .async = true, .activate = ended });\n @mov16(wire, given);\n @add16(high, given, 1);",
        "add16 in @main reads element 0 of @a " + IN_FLIGHT.format("main", RECEIVES, DO_IT),
    ),
    "two asynchronous operations": (
        ENDED,
        "@mov16(low, from, .{ .async = true, .activate = ended }); //2\n @mov16(wire2, low, .{ .async = true }); //1\n @mov16(wire, given); @mov16(high, from2);",
        "@mov16(low, from, .{ .async = true, .activate = ended });\n @mov16(wire2, high, .{ .async = true });\n @mov16(wire, given); @mov16(given, from2);",
        "mov16 in @main reads element 0 of @a " + IN_FLIGHT.format("main", RECEIVES, DO_IT),
    ),
    "walks that interleave": (
        f"{ENDED} const even = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> a[2 * i] }}); const odd = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{4}} -> a[2 * i + 1] }});",
        "@mov16(even, from, .{ .async = true, .activate = ended }); //2\n @mov16(wire, given);\n @mov16(@set_dsd_length(@increment_dsd_offset(odd, 1, i16), 3), 1); //1",
        "@mov16(even, from, .{ .async = true, .activate = ended });\n @mov16(wire, given);\n @mov16(odd, 1);",
        "mov16 in @main writes element 2 of @a " + IN_FLIGHT.format("main", RECEIVES, DO_IT),
    ),
    "walks of two dimensions": (
        f"{ENDED} const last = @get_dsd(mem4d_dsd, .{{ .tensor_access = |i, j|{{2, 2}} -> m[1 - i, 2 * j] }});",
        "@mov16(last, from, .{ .async = true, .activate = ended }); //2\n @mov16(wire, given);\n out[0] = m[0, 2]; //1",
        "@mov16(last, from, .{ .async = true, .activate = ended });\n @mov16(wire, given);\n out[0] = m[0, 1] + m[1, 3];",
        "this load reads element 2 of @m " + IN_FLIGHT.format("main", RECEIVES, DO_IT),
    ),
    "a circular buffer in a register": (
        ENDED,
        "@load_to_dsr_xdsr(dest, @get_xdsr(0), ring);\n @mov16(dest, from, .{ .async = true, .activate = ended }); //2\n @mov16(wire, given);\n out[0] = a[1]; //1",
        "@load_to_dsr_xdsr(dest, @get_xdsr(0), ring);\n @mov16(dest, from, .{ .async = true, .activate = ended });\n @mov16(wire, given);\n out[0] = a[4];",
        "this load reads element 1 of @a " + IN_FLIGHT.format("main", RECEIVES, DO_IT),
    ),
    "a register that was loaded with async": (
        f"{ENDED} const wired = @get_dsr(dsr_dest, 5);",
        "@load_to_dsr(wired, wire, .{ .async = true });\n @load_to_dsr(src, given);\n @mov16(wired, src, .{ .async = true }); //2\n b[3] = 1; //1\n @mov16(low, from);",
        "@load_to_dsr(wired, wire);\n @load_to_dsr(src, given);\n @mov16(wired, src);\n b[3] = 1;\n @mov16(low, from);",
        "this store writes element 3 of @b " + IN_FLIGHT.format("main", SENDS, GIVE_A_TASK),
    ),
    "a register that is loaded again": (
        f"{ENDED} fn fill() void {{ @load_to_dsr(src, given); }}",
        "fill();\n @mov16(wire, src, .{ .async = true, .activate = ended }); //2\n @load_to_dsr(src, high); //1\n @mov16(low, from);",
        "fill();\n @mov16(wire, src, .{ .async = true, .activate = ended });\n @mov16(low, from);\n @load_to_dsr(src, high);",
        "src1 register 2 is loaded again " + IN_FLIGHT.format("main", "uses it", DO_IT),
    ),
    "a task that starts too early": (
        f"{TASKS} task ended() void {{}}\ntask other() void {{\n out[1] = a[2]; //1\n}}",
        "@activate(other_id);\n @mov16(low, from, .{ .async = true, .activate = ended }); //2\n @mov16(wire, given, .{ .async = true });",
        "@mov16(low, from, .{ .async = true, .activate = other });\n @mov16(wire, given, .{ .async = true });",
        "this load reads element 2 of @a " + IN_FLIGHT.format("main", RECEIVES, DO_IT),
    ),
    "a task behind another that starts too early": (
        f"{TASKS} task ended() void {{ @activate(other_id); }}\ntask other() void {{\n a[2] = 1; //1\n}}",
        "@activate(ended_id);\n @mov16(low, from, .{ .async = true }); //2\n @mov16(wire, given, .{ .async = true });",
        "@mov16(low, from, .{ .async = true, .activate = ended });\n @mov16(wire, given, .{ .async = true });",
        "this store writes element 2 of @a " + IN_FLIGHT.format("main", RECEIVES, GIVE_A_TASK),
    ),
    "the task of the end that something else starts": (
        f"{TASKS} task other() void {{}}\ntask ended() void {{\n out[1] = a[2]; //1\n}}",
        "@activate(ended_id);\n @mov16(low, from, .{ .async = true, .activate = ended }); //2\n @mov16(wire, given, .{ .async = true });",
        "@activate(other_id);\n @mov16(low, from, .{ .async = true, .activate = ended });\n @mov16(wire, given, .{ .async = true });",
        "this load reads element 2 of @a "
        + IN_FLIGHT.format("main", RECEIVES, "@ended has started for another reason: let nothing else start it before that has ended"),
    ),
    "a task that is not blocked again": (
        f"{TASKS} comptime {{ @block(ended_id); }}\ntask other() void {{}}\ntask ended() void {{\n AGAIN\n count += 1;\n if (count == 1) {{ round(); }} }}\nfn round() void {{\n @mov16(low, from, .{{ .async = true, .unblock = ended }}); //1\n @activate(ended_id);\n @mov16(wire, given, .{{ .async = true }});\n}}",
        "round();",
        "@block(ended_id); ## round();",
        r"@ended starts before mov16 in @ended at .*, which is asynchronous and unblocks it at its end: nothing has blocked it",
    ),
    "the command stream goes on twice": (
        f"{ENDED} {STREAM}",
        "if (n == 6) { out[1] = 1; }\n steps += 1; //2\n if (n == 6) {\n steps += 1; //1\n }",
        "if (n == 6) { go_on(); } else { go_on(); }",
        r"@main calls unblock_cmd_stream\(\) again, which it has called at .*pe\.csl:LINE2:\d+ since the launch",
    ),
}  # fmt: skip


def compiled(csl: Csl, declarations: str, body: str, arch: str) -> tuple[str, loomir.Program, list[str]]:
    """Return the text of a program, the program, and what is said of races when it is compiled."""
    text = program_of(declarations, body)
    made = csl.unverified(LAYOUT, text, arch, lint=True)
    told = [line for line in made.warnings if line.endswith("[race]")]
    return text, loomir.compile(made.module, verify_each=False), told


def found_in_run(program: loomir.Program, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return what a run says of races."""
    capsys.readouterr()
    loomir.Simulator(program, check=True, step_limit=100_000).launch("main")
    told = capsys.readouterr().err.splitlines()
    return [line for line in told if re.search("is asynchronous|unblock_cmd_stream", line)]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("name", ROWS)
def test_is_found(csl: Csl, capsys: pytest.CaptureFixture[str], name: str, arch: str) -> None:
    """Once, at its place, with the other one; a run of the program finds it too, and both are silent of its twin."""
    declarations, wrong, right, message = ROWS[name]
    text, program, told = compiled(csl, declarations, wrong, arch)
    assert len(told) == 1, told
    assert f"pe.csl:{line_of(text, '//1')}:" in told[0]
    assert re.search(message.replace("LINE2", str(line_of(text, "//2"))), told[0]), told[0]
    in_run = found_in_run(program, capsys)
    assert in_run
    if "starts before" not in told[0]:
        assert in_run[0].split(": warning: ")[0] == told[0].split(": warning: ")[0], in_run
    _, program, told = compiled(csl, declarations, right, arch)
    assert not told
    assert not found_in_run(program, capsys)


RIGHT = {
    "an arm that waits": (ENDED, "if (n == 6) { @mov16(low, from, .{ .async = true, .activate = ended }); } else { @mov16(low, from); out[0] = a[0]; }\n @mov16(wire, given, .{ .async = true });"),
    "an operation that is asynchronous in one arm": (ENDED, "if (n == 6) { @mov16(wire, given); } else { @mov16(wire, given, .{ .async = true }); }\n b[0] = 1;\n @mov16(low, from);"),
    "a task that is blocked meanwhile": (f"{TASKS} comptime {{ @block(other_id); }} task ended() void {{ @unblock(other_id); }} task other() void {{ out[0] = a[0]; }}", "@mov16(low, from, .{ .async = true, .activate = ended }); @activate(other_id);\n @mov16(wire, given, .{ .async = true });"),
    "a task that looks first": (f"{TASKS} var has_come = false; task ended() void {{ has_come = true; @activate(other_id); }} task other() void {{ if (has_come) {{ out[0] = a[0]; }} }}", "@mov16(low, from, .{ .async = true, .activate = ended }); @activate(other_id);\n @mov16(wire, given, .{ .async = true });"),
    "a function that waits": (f"{ENDED} fn wait() void {{ @mov16(high, from2); }}", "@mov16(low, from, .{ .async = true, .activate = ended });\n @mov16(wire, given); @mov16(wire2, given);\n wait();\n out[0] = a[0];"),
    "a register that moves on": (ENDED, "@load_to_dsr(dest, @set_dsd_length(low, 2), .{ .save_address = true });\n @mov16(dest, 1);\n @mov16(dest, @set_dsd_length(from, 2), .{ .async = true });\n @mov16(wire, @set_dsd_length(given, 2));\n out[0] = a[1];"),
    "a receive of a length that is not known": (ENDED, "@mov16(low, @set_dsd_length(from, @as(u16, n - 5)), .{ .async = true, .activate = ended });\n @mov16(wire, @set_dsd_length(given, 1));\n out[0] = a[3];"),
    "a loop that waits each trip": (f"{ENDED} fn wait() void {{ @mov16(high, from); }}", "for (@range(u16, 3)) |i| { @mov16(wire, given, .{ .async = true }); @mov16(low, from); b[i] = 7; @mov16(wire, given, .{ .async = true }); wait(); }"),
    "a register that holds the queue of another": (ENDED, "@load_to_dsr(dest, low); @load_to_dsr(dest, given);\n @mov16(dest, from, .{ .async = true, .activate = ended });\n @mov16(wire, high);\n out[0] = a[1];"),
}  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("name", RIGHT)
def test_right_programs_are_silent(csl: Csl, capsys: pytest.CaptureFixture[str], name: str, arch: str) -> None:
    """What waits on some way, or may not be the same words."""
    _, program, told = compiled(csl, *RIGHT[name], arch)
    assert not told
    assert not found_in_run(program, capsys)


RING_IN_A_REGISTER = f"""{ENDED}
const extended = @get_xdsr(0);
const other_ring = @get_dsd(circbuf_dsd, .{{ .base_address = &b, .extent = 6, .wraparound = 4 }});
const six = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{6}} -> out[i] }});
"""


@pytest.mark.parametrize("executor", ["reference", "core"])
@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize(("ring", "is_wrong"), [("ring", True), ("other_ring", False)])
def test_circular_registers_while_something_is_received(
    csl: Csl, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    ring: str, is_wrong: bool, arch: str, executor: str,
) -> None:  # fmt: skip
    """A run looks at the elements that the register names, however short its way is otherwise."""
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    elements = "@set_dsd_length(six, 4)" if is_wrong else "six"
    body = f"""@mov16(low, from, .{{ .async = true, .activate = ended }}); //2
     @load_to_dsr_xdsr(src, extended, {ring}); @mov16({elements}, 5);
     @mov16(wire, given); @mov16({elements}, src); //1"""
    text, program, _ = compiled(csl, RING_IN_A_REGISTER, body, arch)
    found = found_in_run(program, capsys)
    assert len(found) == is_wrong, found
    if is_wrong:
        assert f"pe.csl:{line_of(text, '//1')}:" in found[0] and f"pe.csl:{line_of(text, '//2')}:" in found[0]


FLOATS = """
const red = @get_color(3);
const iq = @get_input_queue(2);
const oq = @get_output_queue(3);
var f = @zeros([4]f32);
var h = @zeros([4]f16);
var k = @zeros([4]u32);
var i = @zeros([4]i16);
const ints = @get_dsd(mem1d_dsd, .{ .tensor_access = |j|{4} -> i[j] });
const command = @get_dsd(fabout_dsd, .{ .extent = 1, .fabric_color = red, .output_queue = oq, .control = true });
const singles = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> f[i] });
const halves = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> h[i] });
const words = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> k[i] });
const three = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> f[i] });
var times: u16 = 2;
const from = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = red, .input_queue = iq });
const wire = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = red, .output_queue = oq });
comptime {
  @initialize_queue(iq, .{ .color = red });
  if (@is_arch("wse3")) { @initialize_queue(oq, .{ .color = red }); }
  @export_symbol(main);
}
fn main() void {
"""


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize(
    ("send", "receive", "is_wrong"),
    [
        ("@fmovs(wire, singles);", "@fmovh(halves, from);", True),
        ("@fmovh(wire, halves);", "@fmovs(singles, from);", True),
        ("@fmovs(wire, singles);", "@fadds(singles, singles, from);", False),
        ("@fmovs(wire, singles);", "@mov32(words, from);", False),
        ("@mov32(wire, words);", "@fmovs(singles, from);", False),
        ("@fmovs(wire, singles); @fmovh(wire, halves);", "@fmovh(halves, from);", False),
        ("@fmovs(wire, singles);", "@mov16(ints, from);", True),
        ("@mov16(wire, ints);", "@fmovs(singles, from);", True),
        ("@fmovs(wire, singles); @mov32(command, 9);", "@fmovh(halves, from);", True),
        ("@fmovh(wire, halves); @mov32(command, 9);", "@fmovh(halves, from);", False),
        ("@fmovh(wire, halves);", "@mov16(ints, from);", False),
    ],
)
def test_floats_of_two_types(
    csl: Csl, send: str, receive: str, is_wrong: bool, arch: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """All that a color carries is one type, and all that receives it takes another: told by the compiler and at load."""
    text = f"{FLOATS}  {send}\n  {receive} //1\n}}\n"
    told = [line for line in csl.unverified(LAYOUT, text, arch, lint=True).warnings if line.endswith("[mixed-floats]")]
    assert len(told) == is_wrong
    line = line_of(text, "//1")
    types = {"fmovs": "f32", "fmovh": "f16", "mov16": "i16", "mov32": "i32", "fadds": "f32"}
    sent, received = types[send[1:6]], types[receive[1:6]]
    if is_wrong:
        assert f"pe.csl:{line}:" in told[0]
        assert f"{received} elements are received here on color 'red', but all that is sent on it are {sent}" in told[0]
    loomir.Simulator(loomir.compile(csl.unverified(LAYOUT, text, arch).module), check=False)
    found = [line for line in capsys.readouterr().err.splitlines() if "elements are received here" in line]
    assert len(found) == is_wrong
    if is_wrong:
        assert f"pe.csl:{line}:" in found[0] and f"but sent as {sent} at" in found[0]


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize(
    ("statement", "told"),
    [
        (
            "@fadds(singles, singles, three);",
            "fadds takes 3 elements, as its shortest operand has, but its destination",
        ),
        ("@fmovs(three, singles);", "fmovs takes 3 elements, as its shortest operand has, but source 1 has 4"),
        ("@fmovs(three, from);", "fmovs takes 3 elements, as its shortest operand has, but source 1 has 4"),
        ("@fmovs(@set_dsd_length(singles, 3), three);", None),
        ("@fmovs(singles, from);", None),
        ("@fmovs(wire, three);", None),
        ("@fadds(&f[0], f[1], three);", None),
        ("@fmovs(singles, 1.0);", None),
        ("@fmovs(@set_dsd_length(singles, times), three);", None),
    ],
)
def test_lengths(csl: Csl, statement: str, told: str | None, arch: str) -> None:
    """AMB-01: operands in memory, or one in memory and one that receives, of lengths that are known to differ."""
    text = f"{FLOATS}  {statement} //1\n}}\n"
    found = [line for line in csl.unverified(LAYOUT, text, arch, lint=True).warnings if line.endswith("[lengths]")]
    assert len(found) == (told is not None)
    if told is not None:
        assert f"pe.csl:{line_of(text, '//1')}:" in found[0] and told in found[0]


# Random programs

STATEMENTS = (
    "@mov16({d}, from, .{{ .async = true }}); @mov16(wire, given);",
    "@mov16(wire2, {d}, .{{ .async = true }});",
    "@mov16(high, from2);",
    "out[{k}] = {a}[{k}];",
    "{a}[{k}] = {k};",
    "@add16({d}, {e}, 1);",
    "@mov16({d}, 5);",
    "{a}[@as(u16, n)] = 3;",
    "@activate(other_id);",
    "touch();",
)


@st.composite
def _bodies(draw: st.DrawFn, depth: int = 0, is_dead: bool = False) -> list[str]:
    """Lines of a function; those that end with // are behind a condition that does not hold."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        if depth < 2 and draw(st.integers(0, 5)) == 0:
            holds = draw(st.booleans())
            lines += [f"if (n {'==' if holds else '!='} 6) {{", *draw(_bodies(depth + 1, is_dead or not holds))]
            lines += ["} else {", *draw(_bodies(depth + 1, is_dead or holds)), "}"]
            continue
        names = {
            "d": draw(st.sampled_from(["low", "high", "given", "first"])),
            "e": draw(st.sampled_from(["low", "high", "given"])),
            "a": draw(st.sampled_from(["a", "b"])),
            "k": draw(st.integers(0, 7)),
        }
        lines.append(draw(st.sampled_from(STATEMENTS)).format(**names) + (" //" if is_dead else ""))
    return lines


@pytest.mark.slow
@given(main=_bodies(), other=_bodies(2), touch=_bodies(2))
@settings(
    max_examples=examples(300, seldom=True),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_a_run_finds_them_too(
    csl: Csl, capsys: pytest.CaptureFixture[str], main: list[str], other: list[str], touch: list[str]
) -> None:
    """What is said at compile time of a line that runs is said of it by a run."""
    inner = {
        name: [line for line in lines if "activate" not in line and "touch" not in line]
        for name, lines in (("touch", touch), ("other", other))
    }
    live = {
        "touch": any(line == "touch();" for line in main),
        "other": any(line == "@activate(other_id);" for line in main),
    }
    dead = {name: [f"{line} //" for line in lines] for name, lines in inner.items() if not live[name]}
    body = {name: "\n".join(lines) for name, lines in (inner | dead).items()}
    declarations = (
        f"const first = @get_dsd(mem1d_dsd, .{{ .tensor_access = |i|{{2}} -> a[i] }});\n{TASKS} task ended() void {{}}\n"
        f"task other() void {{\n{body['other']}\n}}\nfn touch() void {{\n{body['touch']}\n}}"
    )
    try:
        text, program, told = compiled(csl, declarations, "\n".join(main), "wse3")
        in_run = found_in_run(program, capsys) if told else []
    except LoomError:
        return  # two operations use one queue, or one waits for ever
    places = {line.split(": warning: ")[0] for line in in_run}
    lines = text.splitlines()
    for warning in told:
        both = [lines[int(line) - 1] for line in re.findall(r"pe\.csl:(\d+):", warning)]
        assert warning.split(": warning: ")[0] in places or any(line.endswith("//") for line in both), warning
