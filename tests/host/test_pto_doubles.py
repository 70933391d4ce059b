"""Scalar code of 64-bit floats on cores: loads, arithmetic, functions, comparisons, conversions, loops and stores."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from loomir import LoomError
from loomir.host import pto
from loomir.runtime.executors import EXECUTOR
from loomir.tools.pto import main

KERNEL = """
module {
  func.func @work(%x: !pto.ptr<f64>, %out: !pto.ptr<f64>, %single: !pto.ptr<f32>, %half: !pto.ptr<f16>,
                  %whole: !pto.ptr<i64>, %n: index, %by: f64) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f64
    %tenth = arith.constant 0.1 : f64
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%before = %zero) -> (f64) {
      %v = pto.load_scalar %x[%i] : !pto.ptr<f64> -> f64
      %scaled = arith.mulf %v, %by : f64
      %next = arith.addf %before, %scaled : f64
      %less = arith.cmpf olt, %scaled, %tenth : f64
      %kept = arith.select %less, %tenth, %scaled : f64
      %root = math.sqrt %kept : f64
      pto.store_scalar %root, %out[%i] : !pto.ptr<f64>, f64
      %s = arith.truncf %root : f64 to f32
      pto.store_scalar %s, %single[%i] : !pto.ptr<f32>, f32
      %h = arith.truncf %scaled : f64 to f16
      pto.store_scalar %h, %half[%i] : !pto.ptr<f16>, f16
      %k = arith.fptosi %scaled : f64 to i64
      pto.store_scalar %k, %whole[%i] : !pto.ptr<i64>, i64
      scf.yield %next : f64
    }
    %bits = arith.bitcast %sum : f64 to i64
    %same = arith.bitcast %bits : i64 to f64
    pto.store_scalar %same, %out[%n] : !pto.ptr<f64>, f64
    return
  }
}
"""


@pytest.mark.parametrize("executor", ["reference", "core"])
def test_a_loop_computes_as_numpy_does(monkeypatch: pytest.MonkeyPatch, executor: str) -> None:
    monkeypatch.setenv(EXECUTOR, executor)
    # The middle of two f32, and of two f16, and what is above one by less than an f32 shows.
    odd = [1 + 2.0**-24, 1 + 2.0**-24 + 2.0**-50, 1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-50, -1e300, 5e-324, 70000.0, -0.0]
    x = np.array([*odd, *(np.random.default_rng(3).standard_normal(8) * 1e5)])
    n, by = len(x), 0.3
    for factor in (by, 1.0):
        found = pto.run(
            KERNEL,
            arguments={
                "x": x, "out": np.zeros(n + 1), "single": np.zeros(n, np.float32), "half": np.zeros(n, np.float16),
                "whole": np.zeros(n, np.int64), "n": n, "by": factor,
            },
        )  # fmt: skip
        scaled = x * factor
        total = 0.0
        for each in scaled.tolist():
            total += each
        roots = np.sqrt(np.where(scaled < 0.1, 0.1, scaled))
        assert found.arrays["out"].tobytes() == np.append(roots, total).tobytes()
        assert found.arrays["single"].tobytes() == roots.astype(np.float32).tobytes()
        with np.errstate(over="ignore"):
            assert found.arrays["half"].tobytes() == scaled.astype(np.float16).tobytes()
        limit = 1 << 63
        assert found.arrays["whole"].tolist() == [max(-limit, min(limit - 1, math.trunc(each))) for each in scaled]


def test_the_command_passes_a_number_of_64_bits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.pto").write_text(KERNEL)
    np.save(tmp_path / "x.npy", np.array([1.0, 2.0]))
    arrays = {"out": np.zeros(3), "single": np.zeros(2, "f4"), "half": np.zeros(2, "f2"), "whole": np.zeros(2, "i8")}
    flags = ["--set", f"x={tmp_path}/x.npy", "--set", "n=2", "--set", "by=0.1", "--get", f"out={tmp_path}/out.npy"]
    for name, array in arrays.items():
        np.save(f"{tmp_path}/{name}.npy", array)
        flags += ["--set", f"{name}={tmp_path}/{name}.npy"]
    assert main(["run", f"{tmp_path}/k.pto", *flags]) == 0, capsys.readouterr().err
    assert np.load(f"{tmp_path}/out.npy")[2] == 1.0 * 0.1 + 2.0 * 0.1


def test_tiles_have_no_f64() -> None:
    text = """
module {
  func.func @work(%x: !pto.ptr<f64>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %view = pto.make_tensor_view %x, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<8x8xf64>
    %part = pto.partition_view %view, offsets = [%c0, %c0], sizes = [%c8, %c8]
      : !pto.tensor_view<8x8xf64> -> !pto.partition_tensor_view<8x8xf64>
    %tile = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf64>
    pto.tload ins(%part : !pto.partition_tensor_view<8x8xf64>) outs(%tile : !pto.tile_buf<vec, 8x8xf64>)
    return
  }
}
"""
    with pytest.raises(LoomError, match="expects A2/A3 tload dst element type to be"):
        pto.run(text, arguments={"x": np.zeros((8, 8))})
