"""--fp16-format: one type of 16-bit floats exists at run time, the others at compile time only."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from loomir.diagnostics.errors import LoomError

from .harness import Csl

KERNEL = """
const h = @fp16();
const math = @import_module("<math>");
var a = [3]h { 1.0, 2.5, -0.1 };
var b = @zeros([3]h);
var bits = @zeros([3]u16);
fn main() void {
  for (@range(u16, 3)) |i| {
    b[i] = math.abs(a[i] * a[i] - @as(h, 0.1));
    bits[i] = @bitcast(u16, b[i]);
  }
}
"""


@pytest.mark.parametrize(("format", "dtype"), [("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_arithmetic(csl: Csl, format: str, dtype: type) -> None:
    out = csl.run(KERNEL, {"b": "@fp16()", "bits": "u16"}, fp16_format=format)
    a = np.array([1.0, 2.5, -0.1], np.float32).astype(dtype)
    squares = (a.astype(np.float32) * a.astype(np.float32)).astype(dtype)
    tenth = np.float32(np.float32(0.1).astype(dtype))
    expected = np.abs((squares.astype(np.float32) - tenth).astype(dtype))
    np.testing.assert_array_equal(out["b"].astype(np.float32), expected.astype(np.float32))
    np.testing.assert_array_equal(out["bits"], expected.view(np.uint16))


def test_type(csl: Csl) -> None:
    for format in ("f16", "bf16", "cb16"):
        assert csl.value("@fp16()", fp16_format=format) == format
    with pytest.raises(LoomError, match="there is no fp16_format 'ieee'; use f16, bf16, cb16"):
        csl.value("1", fp16_format="ieee")


def test_the_others_at_compile_time(csl: Csl) -> None:
    text = """
    const table = [2]cb16 { 6.0, 1.5 };
    var out = @zeros([2]f32);
    fn main() void { out[0] = table[0]; out[1] = @as(f32, @as(bf16, 0.1)); }
    """
    assert csl.run(text, {"out": "f32"})["out"].tolist() == [6.0, float(ml_dtypes.bfloat16(0.1))]


REFUSED = [
    ("f16", "«var x: bf16 = 1.0»;\ncomptime { _ = x; }", "'bf16' must be known at compile time, as --fp16"),
    ("bf16", "«var x = @zeros([3]f16)»;\ncomptime { _ = &x; }", "'f16' must be known at compile time"),
    ("f16", "«var x = [1]struct { a: cb16 } { .{ .a = 1.0 } }»;\ncomptime { _ = &x; }", "'cb16' must be known"),
    ("cb16", "«var x: cb16 = 1.0»;\ncomptime { _ = &x; }", "arithmetic in 'cb16' is not supported at run time yet"),
    ("f16", "var n: f32 = 1.0;\nRUN { const y = «@as(bf16, n)»; }", "'bf16' must be known at compile time"),
    ("bf16", "var n: u16 = 1;\nRUN { const y = «@bitcast(f16, n)»; }", "'f16' must be known at compile time"),
    ("f16", "task t(«x: bf16») void {}\ncomptime { @bind_data_task(t, @get_data_task_id(@get_color(3))); }", "'bf16'"),
    ("bf16", "var x = @zeros([3]bf16);\nconst d = @get_dsd(mem1d_dsd, .{ .tensor_access = |i|{3} -> x[i] });\n"
     "RUN { «@faddh(d, d, d)»; }", "@faddh of 'bf16' is not supported yet"),
]  # fmt: skip


@pytest.mark.parametrize(("format", "text", "message"), REFUSED)
def test_refused(csl: Csl, format: str, text: str, message: str) -> None:
    task = "task run() void"
    bound = "\ncomptime { @bind_local_task(run, @get_local_task_id(9)); }" if "RUN" in text else ""
    csl.refuses(text.replace("RUN", task) + bound, message, fp16_format=format)
