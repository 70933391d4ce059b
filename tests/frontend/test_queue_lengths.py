"""Queues for colors: heavier streams get longer ones."""

from __future__ import annotations

import numpy as np
import pytest

from .harness import Csl

TEXT = """
const slow = @get_color(1);
const fast = @get_color(2);
var given = @zeros([40]i16);
var few = @zeros([4]i16);
var out = @zeros([40]i16);
const wires = @get_dsd(fabout_dsd, .{ .extent = 4, .fabric_color = slow });
const chunk = @get_dsd(fabout_dsd, .{ .extent = 8, .fabric_color = fast });
const from_slow = @get_dsd(fabin_dsd, .{ .extent = 4, .fabric_color = slow });
const from_fast = @get_dsd(fabin_dsd, .{ .extent = 40, .fabric_color = fast });
const source = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{8} -> given[i] });
fn main() void {
  for (@range(i16, 40)) |i| { given[i] = 3 * i; }
  @mov16(@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{4} -> few[i] }), from_slow, .{ .async = true });
  @mov16(@get_dsd(mem1d_dsd, .{ .tensor_access = |i|{40} -> out[i] }), from_fast, .{ .async = true });
  @mov16(wires, 7);
  for (@range(i16, 5)) |round| { @mov16(chunk, @increment_dsd_offset(source, 8 * round, i16)); }
}
"""

LOOPS = "".join(
    f"@set_color_config(0, 0, @get_color({n}), .{{ .routes = .{{ .rx = .{{ RAMP }}, .tx = .{{ RAMP }} }} }});"
    for n in (1, 2)
)


def test_the_heavier_stream_has_the_longer_queue(csl: Csl, capsys: pytest.CaptureFixture[str]) -> None:
    """DSD-216: of WSE-2's output queues, 2 has six words, and 0 two."""
    result = csl.run(TEXT, {"out": "i16", "few": "i16"}, layout=LOOPS)
    assert result["out"].tolist() == (3 * np.arange(40)).tolist() and result["few"].tolist() == [7] * 4
    (line,) = [line for line in capsys.readouterr().err.split("\n") if "remark" in line]
    place, _, remark = line.partition(": remark: ")
    assert place.endswith("pe.csl:15:72")
    assert remark.startswith("heavier streams get longer queues: ")
    rows = remark.partition("queues: ")[2].split("; ")
    assert "output queue @c2_out gets id 2, of 6 words, for 40 wavelets" in rows
    assert "output queue @c1_out gets id 3, of 6 words, for 4 wavelets" in rows


def test_the_remark_names_the_heaviest_of_many_queues(csl: Csl, capsys: pytest.CaptureFixture[str]) -> None:
    sends = "".join(
        f"@mov16(@get_dsd(fabout_dsd, .{{ .extent = {n}, .fabric_color = @get_color({n}) }}), 7);" for n in range(1, 13)
    )
    csl.program(f"var out = @zeros([1]i16);\nfn main() void {{ {sends} }}", {"out": "i16"})
    (line,) = [line for line in capsys.readouterr().err.split("\n") if "remark" in line]
    rows = line.partition("queues: ")[2].split("; ")
    assert [row.split()[2] for row in rows[:-1]] == [f"@c{n}_out" for n in range(12, 4, -1)]
    assert rows[-1] == "4 lighter ones have what is left"


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize("executor", ["reference", "core"])
@pytest.mark.slow
def test_elements_left_for_another_operation(
    csl: Csl, arch: str, executor: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """DSD-221: what the first operation leaves is reported before the next one is launched, and taken by that."""
    monkeypatch.setenv("LOOM_EXECUTOR", executor)
    text = """
    const c = @get_color(1);
    const in_queue = @get_input_queue(1);
    const out_queue = @get_output_queue(2);
    comptime {
      @initialize_queue(in_queue, .{ .color = c });
      if (@is_arch("wse3")) @initialize_queue(out_queue, .{ .color = c });
    }
    var given = [5]i16{ 1, 2, 3, 4, 5 };
    var out = @zeros([2]i16);
    const from = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{5} -> given[i] });
    const to = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{2} -> out[i] });
    const sent = @get_dsd(fabout_dsd, .{ .extent = 5, .fabric_color = c, .output_queue = out_queue });
    const received = @get_dsd(fabin_dsd, .{ .extent = 2, .fabric_color = c, .input_queue = in_queue });
    fn main() void {
      @mov16(to, received, .{ .async = true });
      @mov16(sent, from);
    }
    fn second() void { @add16(to, received, 10); }
    """
    functions = {"main": "fn() void", "second": "fn() void"}
    simulator = csl.start(text, {"out": "i16"}, functions=functions, arch=arch, layout=LOOPS)
    simulator.launch("main")
    assert "unread" not in capsys.readouterr().err
    simulator.launch("second")
    (line,) = [line for line in capsys.readouterr().err.split("\n") if "second" in line]
    assert "when 'second' is launched: 3 wavelets of color" in line and "(id 1) of PE (0, 0)" in line
    assert simulator.get("out")[0, 0].tolist() == [13, 14]
