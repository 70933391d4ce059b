"""The option `zero` of fabout DSDs: sources that are set to zero when they are sent."""

from __future__ import annotations

import numpy as np
import pytest

from .harness import Csl

LOOP_BACK = "@set_color_config(0, 0, @get_color(3), .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } } });"

PROGRAM = """
const c = @get_color(3);
const in_queue = @get_input_queue(1);
const out_queue = @get_output_queue(2);
var a = [10]f16 { 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0 };
var b = [10]f16 { 2.0, 2.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0, 3.0 };
var out = @zeros([12]f16);
const left = @get_dsd(mem1d_dsd, .{ .base_address = &a, .extent = 10 });
const right = @get_dsd(mem1d_dsd, .{ .base_address = &b, .extent = 10 });
const gathered = @get_dsd(mem4d_dsd, .{ .tensor_access = |i,j|{2,2} -> a[5 * i + 2 * j] });
const received = @get_dsd(fabin_dsd, .{ .input_queue = in_queue, .extent = COUNT, .fabric_color = c });
const sent = @get_dsd(fabout_dsd, .{ .output_queue = out_queue, .extent = COUNT, .fabric_color = c, .zero = CHOICE });
const done = @get_local_task_id(9);
task finish() void {}
fn main() void {
  @fmovh(@get_dsd(mem1d_dsd, .{ .base_address = &out, .extent = COUNT }), received, .{ .async = true });
  OPERATION;
}
comptime {
  @bind_local_task(finish, done);
  @initialize_queue(in_queue, .{ .color = c });
  if (@is_arch("wse3")) @initialize_queue(out_queue, .{ .color = c });
}
"""

A = np.arange(1, 11, dtype=np.float16)
B = np.array([2] * 5 + [3] * 5, np.float16)
CORNERS = [0, 2, 5, 7]
CASES = {
    # DSD-246, DSD-250
    "the first of two": ("first_source", "@fmulh(sent, left, right)", A * B, A * 0, B),
    "the second of two": ("second_source", "@fmulh(sent, left, right)", A * B, A, B * 0),
    # DSD-247
    "the only one": ("second_source", "@fmovh(sent, left)", A, A * 0, B),
    "while the task goes on": (
        "second_source", "@fmovh(sent, left, .{ .async = true, .activate = done })", A, A * 0, B,
    ),
    "through a register": (
        "first_source",
        "@load_to_dsr(@get_dsr(dsr_src0, 1), left); @fmulh(sent, @get_dsr(dsr_src0, 1), right)", A * B, A * 0, B,
    ),
    "a walk of two dimensions": (
        "second_source", "@fmovh(sent, gathered)", A[CORNERS], np.where(np.isin(np.arange(10), CORNERS), 0, A), B,
    ),
}  # fmt: skip


@pytest.mark.parametrize("arch", ["wse2", "wse3"])
@pytest.mark.parametrize(("choice", "operation", "out", "a", "b"), CASES.values(), ids=CASES)
def test_sources(
    csl: Csl, choice: str, operation: str, out: np.ndarray, a: np.ndarray, b: np.ndarray, arch: str
) -> None:
    """DSD-245."""
    text = PROGRAM.replace("CHOICE", f".{{ .{choice} = true }}").replace("OPERATION", operation)
    text = text.replace("COUNT", str(len(out)))
    found = csl.run(text, {"out": "f16", "a": "f16", "b": "f16"}, arch=arch, layout=LOOP_BACK)
    assert found["out"][: len(out)].tolist() == out.tolist()
    assert found["a"].tolist() == a.tolist()
    assert found["b"].tolist() == b.tolist()


def test_what_is_passed_on_is_added_and_cleared(csl: Csl) -> None:
    """Elements of memory are set to zero as those that come are added to them and sent."""
    text = PROGRAM.replace("CHOICE", ".{ .second_source = true }").replace("COUNT", "10")
    for old, new in (
        ("@get_color(3);", "@get_color(3);\nconst d = @get_color(4);\nconst other = @get_input_queue(3);"),
        (
            "OPERATION",
            """
            @faddh(sent, @get_dsd(fabin_dsd, .{ .input_queue = other, .extent = 10, .fabric_color = d }), left,
              .{ .async = true });
            @fmovh(@get_dsd(fabout_dsd, .{
              .output_queue = @get_output_queue(4), .extent = 10, .fabric_color = d
            }), right)
            """,
        ),
        (
            "@initialize_queue(in_queue",
            "@initialize_queue(other, .{ .color = d });\n@initialize_queue(@get_output_queue(4), .{ .color = d });\n"
            "@initialize_queue(in_queue",
        ),
    ):
        text = text.replace(old, new, 1)
    layout = LOOP_BACK + LOOP_BACK.replace("@get_color(3)", "@get_color(4)")
    found = csl.run(text, {"out": "f16", "a": "f16", "b": "f16"}, arch="wse3", layout=layout)
    assert found["out"][:10].tolist() == (A + B).tolist()
    assert not found["a"].any()
    assert found["b"].tolist() == B.tolist()


REFUSED = {
    # DSD-248
    "both": (".{ .first_source = true, .second_source = true }", "@fmulh(sent, left, right)", "zero"),
    # DSD-249
    "a first source that is not there": (".{ .first_source = true }", "@fmovh(sent, left)", "second_source"),
    # AMB-31
    "a number": (".{ .second_source = true }", "@fmulh(sent, left, @as(f16, 2.0))", "not in memory"),
}


@pytest.mark.parametrize(("choice", "operation", "message"), REFUSED.values(), ids=REFUSED)
def test_refuses(csl: Csl, choice: str, operation: str, message: str) -> None:
    text = PROGRAM.replace("CHOICE", choice).replace("OPERATION", operation).replace("COUNT", "10")
    with pytest.raises(Exception, match=message):
        csl.run(text, {"out": "f16"}, arch="wse3", layout=LOOP_BACK)
