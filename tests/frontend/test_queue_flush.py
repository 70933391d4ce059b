"""Queues that are flushed (LIB-033 to LIB-040), and the status of queues, on both executors with the same clocks."""

from __future__ import annotations

from typing import Any

import pytest

from loomir import targets
from loomir.diagnostics.errors import LoomError

from .harness import Csl

BEGIN = """
param x: i16;
const tile = @import_module("<tile_config>");
const flushes = tile.queue_flush;
const c = @get_color(2);
const iq = @get_input_queue(2);
const oq = @get_output_queue(3);
const other = @get_input_queue(4);
var out = @zeros([8]u16);
var words = @zeros([12]u32);
const words_dsd = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{12} -> words[i] });
const out_dsd = @get_dsd(fabout_dsd, .{ .extent = 12, .fabric_color = c, .output_queue = oq });
const in_dsd = @get_dsd(fabin_dsd, .{ .extent = 12, .fabric_color = c, .input_queue = iq });
const late_id = @get_local_task_id(9);
const done_id = @get_local_task_id(10);
var left: i16 = 0;
comptime {
  @initialize_queue(iq, .{ .color = c });
  @initialize_queue(oq, .{ .color = c });
  if (x == 0) {
    @set_local_color_config(c, .{ .routes = .{ .rx = .{RAMP}, .tx = .{EAST} } });
  } else {
    @set_local_color_config(c, .{ .routes = .{ .rx = .{WEST}, .tx = .{RAMP} } });
  }
}
"""

SENDS = """
// PE 0 sends and flushes its queue; PE 1 receives late, and flushes the queue that the wavelets come to.
fn main() void {
  if (x == 0) {
    @mov32(out_dsd, words_dsd, .{ .async = true, .activate = done_id });
    @queue_flush(oq);
    out[0] = flushes.oq_status();
  } else {
    @activate(late_id);
  }
}
task done() void { out[5] = 1; }
task late() void {
  left += 1;
  if (left == 40) {
    const s = tile.input_queue_status.get();
    out[6] = @as(u16, tile.input_queue_status.is_full(s, iq));
    out[6] += 2 * @as(u16, tile.input_queue_status.is_empty(s, other));
    @queue_flush(iq);
    @mov32(words_dsd, in_dsd, .{ .async = true, .activate = done_id });
  } else {
    @activate(late_id);
  }
}
fn empty() void {
  out[1] += 1;
  if (x == 0) {
    const status = flushes.oq_status();
    out[2] = status;
    out[3] = @as(u16, flushes.is_flushed(status, oq)) + 2 * @as(u16, flushes.is_flushed(status, @get_output_queue(2)));
    flushes.exit(iq);
    out[4] = flushes.oq_status();
    flushes.exit(oq);
    out[7] = flushes.oq_status();
  } else {
    out[2] = flushes.iq_status();
    out[4] = flushes.oq_status();
    out[3] = words[0];
    flushes.exit(iq);
    out[7] = flushes.iq_status();
  }
}
comptime {
  @bind_local_task(late, late_id);
  @bind_local_task(done, done_id);
  if (x == 0) { @set_empty_queue_handler(empty, oq); } else { @set_empty_queue_handler(empty, iq); }
}
""".replace("words[0];", "@as(u16, words[0]);")


@pytest.mark.slow
def test_flushes_and_their_status(csl: Csl, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bit of a queue is set once it is empty (LIB-033, LIB-037, LIB-038, LIB-040); `exit` resets that of the queue
    it is given alone (LIB-034, LIB-035), and `is_flushed` looks at one bit (LIB-039, LIB-040)."""
    cycles: list[Any] = []
    for executor in ("reference", "core"):
        monkeypatch.setenv("LOOM_EXECUTOR", executor)
        simulator = csl.start(BEGIN + SENDS, {"out": "u16"}, width=2, arch="wse3", params=".x = x")
        simulator.launch("main")
        sender, receiver = simulator.get("out")[0].tolist()
        # It was not empty when it was flushed; then the handler ran once.
        assert sender == [0, 1, 1 << 3, 1, 1 << 3, 1, 0, 0]
        assert receiver[1:5] == [1, 1 << 2, 0, 0] and receiver[6:] == [3, 0]
        cycles.append(simulator.cycles)
    assert cycles[0] == cycles[1]


FILLS = """
fn main() void { if (x == 0) { @mov32(some_dsd, @set_dsd_length(words_dsd, COUNT)); } else { @activate(late_id); } }
task late() void {
  left += 1;
  if (left < 40) { @activate(late_id); return; }
  const status = tile.input_queue_status.get();
  out[0] = @as(u16, tile.input_queue_status.is_full(status, iq));
  out[1] = @as(u16, tile.input_queue_status.is_empty(status, iq));
}
comptime { @bind_local_task(late, late_id); }
"""


@pytest.mark.parametrize("executor", ["reference", "core"])
@pytest.mark.parametrize("missing", [0, 1])
def test_a_queue_is_full_with_as_many_wavelets_as_it_has_words(
    csl: Csl, missing: int, executor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    count = targets.get("wse3").input_queue_words[2] - missing
    some = f"const some_dsd = @get_dsd(fabout_dsd, .{{ .extent = {count}, .fabric_color = c, .output_queue = oq }});"
    simulator = csl.start(
        BEGIN + some + FILLS.replace("COUNT", str(count)), {"out": "u16"}, width=2, arch="wse3", params=".x = x"
    )
    simulator.launch("main")
    assert simulator.get("out")[0, 1].tolist()[:2] == [1 - missing, 0]


@pytest.mark.parametrize("executor", ["reference", "core"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "fn main() void { @queue_flush(oq); @queue_flush(oq); }",
            "output queue 3 of PE (0, 0) is flushed again before",
        ),
        ("fn main() void { @queue_flush(iq); }", "input queue 2 of PE (0, 0) is flushed, and the program has no task"),
    ],
)
def test_errors_at_run_time(csl: Csl, text: str, message: str, executor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    handler = "comptime { @set_empty_queue_handler(empty, oq); }\nfn empty() void { }\n" if "oq" in text else ""
    simulator = csl.start(BEGIN + handler + text, {"out": "u16"}, width=2, arch="wse3", params=".x = x")
    with pytest.raises(LoomError) as caught:
        simulator.launch("main")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # LIB-036
        ("fn main() void { «flushes.exit(c)»; }", "queue_flush takes an input_queue or output_queue, not a 'color'"),
        ("var q = iq;\nfn main() void { flushes.exit(«q»); }", "must be known at compile time"),
        ("fn main() void { _ = «flushes.is_flushed(3, @as(u16, 2))»; }", "queue_flush takes an input_queue or"),
        ("fn main() void { @queue_flush(«c»); }", "@queue_flush takes an 'input_queue' or 'output_queue', not 'color'"),
        ("comptime { @set_empty_queue_handler(empty, «c»); }", "belongs to an input or output queue, not to a 'color'"),
        (
            "comptime { @set_empty_queue_handler(empty, iq); «@set_empty_queue_handler(empty, iq)»; }",
            "input queue 2 has two empty queue handlers",
        ),
    ],
)
def test_refuses(csl: Csl, text: str, message: str) -> None:
    uses = "" if "main" in text else "fn main() void { }\n"
    begin = BEGIN.replace("param x: i16;", "const x: i16 = 0;") + "fn empty() void { }\n"
    csl.refuses(begin + uses + text + "\ncomptime { @export_symbol(main); }", message, layout=LAYOUT, arch="wse3")


LAYOUT = """
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{});
  @export_name("main", fn() void);
}
"""
