"""`unblock_cmd_stream` before a receive has ended that the same launch is sure to end: found at compile time."""

from __future__ import annotations

import pytest

from .harness import Csl
from .racing_programs import STREAM

WORD = """
var steps: u16 = 0;
comptime { @export_symbol(steps, "loom.cmd_stream"); }
fn go_on() void { steps += 1; }
"""
SEND = "if (x == 0) { send(); }"
AGAIN = "fn again() void { BODY }\ncomptime { @export_symbol(again); }\nfn main()"


def told(csl: Csl, edits: tuple[tuple[str, str], ...]) -> tuple[str, list[str]]:
    text = WORD + STREAM.text
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    pe = STREAM.of(text)
    layout = STREAM.layout
    if "again" in text and AGAIN.split("BODY")[0] in text:
        main = '@export_name("main", fn() void);'
        layout = layout.replace(main, main + main.replace("main", "again"))
    warnings = csl.unverified(layout, pe, "wse3", lint=True).warnings
    return pe, [each for each in warnings if "unblock_cmd_stream" in each]


@pytest.mark.parametrize(
    "edits",
    [
        (("// goes on", "go_on(); //1"),),
        (("// goes on", "if (x == 1) { go_on(); } //1"),),
        # In a function that is called; more is sent than is asked for; the sends of a task come on top.
        (("// goes on", "finish();"), ("fn main()", "fn finish() void {\n  go_on(); //1\n}\nfn main()")),
        (("// goes on", "go_on(); //1"), ("@fmovs(first, in_w", "@fmovs(first, @set_dsd_length(in_w, 3)")),
    ],
)
def test_is_found(csl: Csl, edits: tuple[tuple[str, str], ...]) -> None:
    pe, (warning,) = told(csl, edits)
    receive = next(n for n, line in enumerate(pe.splitlines(), 1) if line.endswith("//recv"))
    unblock = next(n for n, line in enumerate(pe.splitlines(), 1) if line.startswith("fn go_on"))
    assert f"pe.csl:{receive}:" in warning.split(" warning: ")[0]
    assert f"still receives when @main calls unblock_cmd_stream() at {csl.directory}/pe.csl:{unblock}:" in warning


@pytest.mark.parametrize(
    "edits",
    [
        # At the end of the receive; after a synchronous receive; in a launch in which nobody calls it.
        (("// again", "go_on();"), ("blocks += 1;\n  if", "blocks += 1; go_on();\n  if")),
        (("// goes on", "if (x == 1) { @fmovs(total, in_e); } go_on();"),),
        (),
        # What is sent may need the host: behind a wait, in a branch, fewer than are asked for, in another launch.
        (("// goes on", "go_on();"), (SEND, "if (x == 0) { @fmovs(total, in_e); send(); }")),
        (("// goes on", "go_on();"), (SEND, "if (x == 0) { if (key[0] == 0.0) { send(); } }")),
        (("// goes on", "go_on();"), ("@fmovs(out_e, given,", "@fmovs(out_e, @set_dsd_length(given, 2),")),
        (("// goes on", "go_on();"), (SEND, "if (x == 0) {}"), ("fn main()", AGAIN.replace("BODY", SEND))),
        # Another launch may take what this one sends.
        (
            ("// goes on", "go_on();"),
            ("fn main()", AGAIN.replace("BODY", "if (x == 1) { @fmovs(second, in_w, .{ .async = true }); }")),
        ),
    ],
)
def test_is_not_decided(csl: Csl, edits: tuple[tuple[str, str], ...]) -> None:
    assert told(csl, edits)[1] == []
