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
