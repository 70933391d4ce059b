"""Mistakes that newcomers to CSL make: each has one error, at its place, that says what to write."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import loomir
from loomir.csl import CslError
from loomir.diagnostics.errors import LoomErrors

from .harness import END, START, Csl

BEFORE = """
var a = @zeros([8]f32); var b = @zeros([8]f32); var k = @zeros([8]i16); var s: f32 = 0.0;
const c = @get_color(4); const iq = @get_input_queue(2); const oq = @get_output_queue(3);
const ad = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> a[i] });
const bd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> b[i] });
const out = @get_dsd(fabout_dsd, .{ .extent = 8, .fabric_color = c, .output_queue = oq });
const in = @get_dsd(fabin_dsd, .{ .extent = 8, .input_queue = iq });
const id = @get_local_task_id(9);
task t() void {}
comptime {
  @bind_local_task(t, id); @initialize_queue(iq, .{ .color = c });
  if (@is_arch("wse3")) @initialize_queue(oq, .{ .color = c });
}
"""
LAYOUT = """
layout { @set_rectangle(1, 1); @set_tile_code(0, 0, "pe.csl", .{}); @export_name("main", fn() void); }
"""
AFTER = "\ncomptime { @export_symbol(main); }\n"

MISTAKES = {
    # of C
    "for (var": ("for («var» i = 0; i < 8; i += 1) { a[i] = 1.0; }", "write 'for (@range(i16, 8)) |i| { ... }'"),
    "++": ("var i: i16 = 0; i«++»;", "write 'i += 1'"),
    "&&": ("if (a[0] > 1.0 «&&» a[1] > 1.0) { k[0] = 1; }", "use 'and'"),
    "if without parentheses": ("if «a»[0] > 1.0 { k[0] = 1; }", "expected '(' after 'if'"),
    "missing semicolon": ("@fadds(ad, ad, bd)«» k[0] = 1;", "a ';' is missing"),
    "string in single quotes": ("k[0] = «'abc'»;", "strings are in double quotes"),
    # of types
    "float times integer": ("var i: i16 = 3; s = «s * i»;", "'f32' and 'i16'; convert one of them with @as"),
    "float as index": ("a[«s»] = 2.0;", "an index is an integer, not 'f32'; convert it with @as"),
    "signed shift": ("var i: i16 = 3; k[0] = «i << i»;", "must be unsigned, not 'i16'; convert it with @as"),
    "assigned constant": ("const x: i16 = 1; «x» = 2;", "declare it with 'var'"),
    "index behind the end": ("a[«8»] = 2.0;", "has 8 here (indices 0 to 7)"),
    # of DSDs
    "array as source": ("@fadds(ad, «a», bd);", "takes no '[8]f32' as a source; make a DSD of the array with @get_dsd"),
    "pointer to array": ("@fadds(ad, «&a», bd);", "takes no '*[8]f32' as a source; make a DSD of the array"),
    "pointer as source": ("@fadds(&s, «&s», ad);", "takes no '*f32' as a source; write '.*' behind it for its number"),
    "variable as destination": ("@fadds(«s», s, ad);", "not 'f32'; write '&' before the variable"),
    "misspelled field": (
        "const bad = @get_dsd(mem1d_dsd, «.{ .base_addr = &a, .extent = 8 }»); @fmovs(bad, ad);",
        "needs a field '.base_address'; '.base_addr' is none of its fields",
    ),
    "long stride": (
        "@fmovs(@get_dsd(mem1d_dsd, «.{ .base_address = &a, .extent = 2, .stride = 200 }»), ad);",
        "a stride of 200 is out of range; use -128 to 127; the strides of a mem4d_dsd have 16 bits",
    ),
    "length of boxes": (
        "const m = @get_dsd(mem4d_dsd, .{ .tensor_access = |i,j|{2,4} -> a[4*i+j] });"
        "@fmovs(@set_dsd_length(«m», 3), ad);",
        "not a mem4d_dsd; make another with @get_dsd",
    ),
    "no index": (
        "const m = @get_dsd(mem1d_dsd, .{ .base_address = &a, .extent = 4, .wavelet_index_offset = true });"
        "«@fmovs(m, ad)»;",
        "the operation has no index; give it one, in CSL with '.index'",
    ),
    "no such operation": ("«@fadd(ad, ad, bd)»;", "did you mean '@fadds'?"),
    "FIFO in a function": (
        "var r = @zeros([8]f32); const f = «@allocate_fifo(r)»; @fmovs(f, ad);",
        "make it a global: const fifo = @allocate_fifo(...) (DSD-113)",
    ),
    # of tasks, queues and microthreads
    "async in memory": ("«@fmovs(bd, ad, .{ .async = true })»;", "only operations with a fabric operand can be"),
    "two sends at once": (
        "@fmovs(out, ad, .{ .async = true }); «@fmovs(out, bd, .{ .async = true })»;",
        "run at the same time on the same queue 'oq'; issue the second from a task",
    ),
    "receive as destination": ("@fmovs(«in», ad, .{ .async = true });", "wavelets are sent to a fabout_dsd (DSD-102)"),
    "called task": ("«t()»;", "cannot be called; activate the id it is bound to"),
    "number as task": ("@unblock(«9»);", "not 'comptime_int'; make an id of it, as with @get_local_task_id"),
    "color as queue": (
        "@fmovs(@get_dsd(fabout_dsd, «.{ .extent = 8, .output_queue = c }»), ad);",
        "'.output_queue' is of type 'output_queue', not 'color'",
    ),
    # of names
    "unknown name": ("«printf»();", "'printf' is not declared; declare it, or import the module that does"),
    "too many arguments": ("k[0] = «double(1, 2)»;", "'double' takes 1 argument, not 2"),
    "no such function": ("a[0] = «math.squareroot»(a[0]);", "does not declare 'squareroot'; look for its name there"),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_in_functions(csl: Csl, name: str) -> None:
    statements, message = MISTAKES[name]
    more = 'fn double(x: i16) i16 { return 2 * x; }\nconst math = @import_module("<math>");\n'
    csl.refuses(f"{BEFORE}{more}fn main() void {{ {statements} }}{AFTER}", message, LAYOUT, arch="wse3", lower=True)


OF_SYNTAX = (
    "for (var", "++", "&&", "if without parentheses", "missing semicolon", "string in single quotes",
)  # fmt: skip
OF_PASSES = ("two sends at once",)
"""Found behind the front end, in programs that it accepts."""
OF_MEANING = [name for name in MISTAKES if name not in (*OF_SYNTAX, *OF_PASSES)]


@pytest.mark.parametrize("one_function", [False, True])
@pytest.mark.parametrize("names", [OF_SYNTAX, OF_MEANING[:8], OF_MEANING[8:16], OF_MEANING[16:]])
def test_all_mistakes_of_a_file_at_once(csl: Csl, names: Sequence[str], one_function: bool) -> None:
    """Each with its place and remedy, and nothing else, whether in one function or in several."""
    texts = [MISTAKES[name][0] for name in names]
    more = 'fn double(x: i16) i16 { return 2 * x; }\nconst math = @import_module("<math>");\n'
    functions = "" if one_function else "".join(f"fn f{n}() void {{ {text} }}\n" for n, text in enumerate(texts))
    main = "\n".join(f"{{ {text} }}" if one_function else f"f{n}();" for n, text in enumerate(texts))
    text = f"{BEFORE}{more}{functions}fn main() void {{\n{main}\n}}{AFTER}"
    expected: list[tuple[int, str]] = []
    plain = ""
    for part in text.split(START):
        plain += part.replace(END, "")
        expected.append((len(plain), ""))
    with pytest.raises(CslError) as caught:
        csl.unverified(LAYOUT, plain, "wse3")
    found = [(each.start, each.message) for each in caught.value.diagnostics]
    assert [start for start, _ in found] == [start for start, _ in expected[:-1]]
    assert all(MISTAKES[name][1] in message for name, (_, message) in zip(names, found, strict=True))


def test_all_operations_that_share_a_queue_at_once(csl: Csl) -> None:
    """Of all functions and PE programs; the passes go on behind an error."""
    sends = "@fmovs(out, ad, .{ .async = true }); @fmovs(out, bd, .{ .async = true });"
    receives = "@fmovs(ad, in, .{ .async = true });\n for (@range(i16, 2)) |i| { @fmovs(bd, in, .{ .async = true }); }"
    text = f"{BEFORE}param n: i16;\nfn main() void {{\n{sends}\n if (n == 1) {{\n{receives}\n}}\n}}{AFTER}"
    layout = LAYOUT.replace("(1, 1)", "(2, 1)").replace(
        '@set_tile_code(0, 0, "pe.csl", .{});',
        '@set_tile_code(0, 0, "pe.csl", .{ .n = 0 }); @set_tile_code(1, 0, "pe.csl", .{ .n = 1 });',
    )
    made = csl.unverified(layout, text, "wse3")
    with pytest.raises(LoomErrors) as caught:
        loomir.compile(made.module, verify_each=False)
    lines = text.splitlines()
    told = [str(each).replace(f"{csl.directory}/", "") for each in caught.value.diagnostics]
    first, second = (lines.index(line) + 1 for line in (sends, receives.splitlines()[1]))
    assert [each.split(": error: ")[0] for each in told] == [f"pe.csl:{first}:38", f"pe.csl:{second}:29"]
    assert "run at the same time on the same queue 'oq'" in told[0]
    assert "run at the same time on the same queue 'iq'" in told[1]
    assert str(caught.value) == "\n".join(map(str, caught.value.diagnostics))


def test_wide_parameters_of_a_data_task(csl: Csl) -> None:
    task = (
        "«task d(x: f32, y: f32) void {}»\ncomptime { @bind_data_task(d, @get_data_task_id(iq)); }\nfn main() void {}"
    )
    csl.refuses(
        BEFORE + task + AFTER,
        "have 64 bits; the payload of a wavelet has 32: take fewer or narrower",
        LAYOUT,
        arch="wse3",
    )
