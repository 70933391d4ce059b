"""loom pto run: arrays in and out, what it prints, and what it says about bad flags and programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from .conftest import Run, one_error

EXAMPLES = Path(__file__).parents[2] / "examples" / "pto"


@pytest.fixture
def arrays(tmp_path: Path) -> dict[str, Path]:
    """The arguments of rows_split.pto, in files."""
    chance = np.random.default_rng(1)
    values = {
        "a": chance.integers(-4, 5, (64, 32)).astype(np.float16),
        "b": chance.integers(-4, 5, (32, 32)).astype(np.float16),
        "bias": chance.integers(-4, 5, (64, 32)).astype(np.float32),
    }
    paths = {name: tmp_path / f"{name}.npy" for name in values}
    for name, value in values.items():
        np.save(paths[name], value)
    return paths


def given(arrays: dict[str, Path]) -> list[str]:
    return [part for name, path in arrays.items() for part in ("--set", f"{name}={path}")]


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["ideal", "a2a3"])
def test_a_product(run_loom: Run, arrays: dict[str, Path], tmp_path: Path, arch: str) -> None:
    out, stats = tmp_path / "out.npy", tmp_path / "stats.json"
    program = EXAMPLES / "rows_split.pto"
    flags = ["--arch", arch, "--get", f"out={out}", "--stats", stats, "--order", "prompt", "--repeat", "2"]
    outcome = run_loom("pto", "run", program, *given(arrays), *flags)
    assert (outcome.status, outcome.err) == (0, "")
    a, b, bias = (np.load(path).astype(np.float32) for path in arrays.values())
    assert_allclose(np.load(out).reshape(bias.shape), a @ b + bias)
    assert json.loads(stats.read_text())["arch"] == arch


@pytest.mark.slow
def test_tiles_are_printed(run_loom: Run) -> None:
    outcome = run_loom("pto", "run", EXAMPLES / "matmul_print.pto")
    assert outcome.status == 0
    assert "block 0 AIV0: " in outcome.out


@pytest.mark.parametrize(("type", "bits"), [("bf16", np.uint16), ("f8E5M2", np.uint8)])
def test_types_that_numpy_has_not_are_written_as_bits(run_loom: Run, tmp_path: Path, type: str, bits: type) -> None:
    program, before, after = tmp_path / "one.pto", tmp_path / "before.npy", tmp_path / "after.npy"
    tile = f"!pto.tile_buf<vec, 1x32x{type}>"
    program.write_text(
        f"""func.func @one(%a: !pto.ptr<{type}>) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c32 = arith.constant 32 : index
          %one = arith.constant 1.0 : f32
          %view = pto.make_tensor_view %a, shape = [%c1, %c32], strides = [%c32, %c1] : !pto.tensor_view<1x32x{type}>
          %part = pto.partition_view %view, offsets = [%c0, %c0], sizes = [%c1, %c32] : !pto.tensor_view<1x32x{type}>
          %tile = pto.alloc_tile : {tile}
          pto.tload ins(%part : !pto.partition_tensor_view<1x32x{type}>) outs(%tile : {tile})
          %wide = pto.alloc_tile : !pto.tile_buf<vec, 1x32xf32>
          pto.tcvt ins(%tile : {tile}) outs(%wide : !pto.tile_buf<vec, 1x32xf32>)
          pto.tadds ins(%wide, %one : !pto.tile_buf<vec, 1x32xf32>, f32) outs(%wide : !pto.tile_buf<vec, 1x32xf32>)
          pto.tcvt ins(%wide : !pto.tile_buf<vec, 1x32xf32>) outs(%tile : {tile})
          pto.tstore ins(%tile : {tile}) outs(%part : !pto.partition_tensor_view<1x32x{type}>)
          return
        }}"""
    )
    for flags in ([], ["--set", f"a={before}"]):
        outcome = run_loom("pto", "run", program, "--get", f"a={after}", *flags)
        assert (outcome.status, outcome.err) == (0, "")
        after.rename(before)
    written = np.load(before)
    assert written.dtype == bits
    two = {"bf16": 0x4000, "f8E5M2": 0x40}[type]
    assert (written == two).all()


@pytest.mark.slow
def test_all_behaviors_are_compared(run_loom: Run) -> None:
    outcome = run_loom("pto", "run", EXAMPLES / "hazards" / "h1_odd_slot_number.pto", "--compare")
    assert outcome.status == 1
    assert "argument out differs" in outcome.out and "between ideal and a2a3" in outcome.out


@pytest.mark.slow
def test_what_hangs_is_compared_with_what_does_not(run_loom: Run) -> None:
    """H3: three frees behind three pops hang on a2a3; both ways round that is told, and the status is 1."""
    program = EXAMPLES / "hazards" / "h3_frees_lost.pto"
    outcome = run_loom("pto", "run", program, "--compare", "--arch", "ideal")
    assert outcome.status == 1
    assert "the program fails on a2a3: " in outcome.out and "deadlock" in outcome.out
    outcome = run_loom("pto", "run", program, "--compare", "--arch", "a2a3")
    assert outcome.status == 1
    assert "no result differs between ideal and a5" in outcome.out or "differs in" in outcome.out
    assert "deadlock" in outcome.err and "does not run" not in outcome.out


@pytest.mark.slow
def test_a_hang_on_another_chip_is_status_1(run_loom: Run, tmp_path: Path) -> None:
    """With eight slots no push waits, but the one credit of four frees is lost, for which a2a3 waits at the end."""
    program = tmp_path / "lost.pto"
    program.write_text((EXAMPLES / "hazards" / "h3_frees_lost.pto").read_text().replace("slot_num = 4", "slot_num = 8"))
    status = [run_loom("pto", "run", program, "--arch", arch).status for arch in ("ideal", "a2a3", "a5")]
    assert status == [0, 1, 0]
    outcome = run_loom("pto", "run", program, "--compare")
    assert outcome.status == 1
    assert outcome.out.startswith("the program fails on a2a3: ")
    assert outcome.out.endswith("no result differs between ideal and a5\n")


def test_an_error_in_the_run_is_status_1(run_loom: Run) -> None:
    outcome = run_loom("pto", "run", EXAMPLES / "hazards" / "h1_odd_slot_number.pto", "--arch", "a2a3")
    assert outcome.status == 1
    assert "error: " in outcome.out


def test_a_deadlock_is_told_and_leaves_no_output(run_loom: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.npy"
    outcome = run_loom("pto", "run", EXAMPLES / "hazards" / "deadlock.pto", "--get", f"out={out}")
    assert outcome.status == 1
    assert "Traceback" not in outcome.err and "internal error" not in outcome.err and "error: " in outcome.err
    assert not out.exists()


@pytest.mark.slow
def test_a_hang_leaves_the_statistics_and_the_findings_met_before(run_loom: Run, tmp_path: Path) -> None:
    text = (EXAMPLES / "hazards" / "h3_frees_lost.pto").read_text(encoding="utf-8")
    program, stats = tmp_path / "hang.pto", tmp_path / "stats.json"
    free = "      pto.tfree_from_aic(%third : !slot) {id = 0, split = 0}\n"
    program.write_text(text.replace(free, free * 2).replace("%c6 = arith.constant 6", "%c6 = arith.constant 40"))
    slots = tmp_path / "slots.npy"
    np.save(slots, np.zeros(16 * 256, np.float32))
    flags = ["--set", f"slots={slots}", "--stats", stats]
    outcome = run_loom("pto", "run", program, "--arch", "a2a3", *flags)
    assert outcome.status == 1 and "error: deadlock: nothing can proceed" in outcome.err
    assert "[freed-twice]" in outcome.out
    assert json.loads(stats.read_text())["arch"] == "a2a3"


@pytest.mark.slow
def test_wrong_flags(run_loom: Run, arrays: dict[str, Path], tmp_path: Path) -> None:
    program = EXAMPLES / "rows_split.pto"
    one_error(run_loom("pto", "run", program, "--blocks", "0"), "'0' is not a number above 0")
    one_error(run_loom("pto", "run", program, "--set", "a"), "'a' is not of the form NAME=VALUE")
    one_error(
        run_loom("pto", "run", program, "--set", "a=x"),
        "argument 'a' is 'x', which is neither a number nor a .npy file",
    )
    one_error(run_loom("pto", "run", program, "--set", f"a={tmp_path}/none.npy"), "none.npy: error: cannot be read")
    one_error(
        run_loom("pto", "run", program, "--set", "other=1", *given(arrays)), "the kernels take no argument 'other'"
    )
    out = f"other={tmp_path}/other.npy"
    one_error(run_loom("pto", "run", program, "--get", out, *given(arrays)), "the kernels take no array 'other'")
    assert not (tmp_path / "other.npy").exists()
    one_error(run_loom("pto", "run", program, "--order", "random"), "invalid choice: 'random'")
    one_error(run_loom("pto", "run", tmp_path / "none.pto"), "cannot be read")


@pytest.mark.slow
def test_other_numbers_of_slots(run_loom: Run) -> None:
    outcome = run_loom("pto", "check", EXAMPLES / "rows_split.pto", "--slots", "--arch", "ideal")
    assert outcome.status == 0
    lines = outcome.out.splitlines()
    assert lines[1].endswith("the pipe of 'fifo':")
    (own,) = (line for line in lines if line.endswith("(as it is)"))
    assert own.startswith("  slot_num = 2: 4096 bytes, sync period 1, 2 of 4 pushes wait, safe, ")
    assert re.search(r", \d+ cycles, cores wait \d+ in all \(estimate\) \(as it is\)$", own)
    one_error(run_loom("pto", "check", EXAMPLES / "rows_split.pto", "--slots", "--json"), "leave out --json")


def test_several_devices(run_loom: Run, tmp_path: Path) -> None:
    """A value for each device, with commas or its number; arrays of other devices; a file for each, or one for all."""
    x = np.arange(128, dtype=np.float32).reshape(2, 64)
    for device, part in enumerate(x):
        np.save(tmp_path / f"x{device}.npy", part)
    flags = ["--devices", "2", "--set", f"x={tmp_path}/x{{device}}.npy", "--set", "next=out@1,out@0"]
    flags += ["--get", f"twice={tmp_path}/twice{{device}}.npy", "--get", f"out={tmp_path}/out.npy"]
    outcome = run_loom("pto", "run", EXAMPLES / "ring.pto", *flags, "--set", "told=signal@1,signal@0")
    assert (outcome.status, outcome.err, outcome.out) == (0, "", "")
    for device in range(2):
        assert (np.load(tmp_path / f"twice{device}.npy") == 2 * x[1 - device]).all()
    assert (np.load(tmp_path / "out.npy") == x[::-1]).all()
    outcome = run_loom("pto", "run", EXAMPLES / "ring.pto", *flags, "--set", "told=signal@0,signal@0")
    assert outcome.status == 1
    assert "device 1 block 0 AIV0: @ring waits for a signal" in outcome.err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--devices", "65"], "argument --devices: '65' is too many; a run has 1 to 64 devices"),
        (["--devices", "1000000000000"], "is too many; a run has 1 to 64 devices"),
        (["--devices", "two"], "argument --devices: 'two' is not a number above 0"),
        (
            ["--devices", "2", "--set", "next=out@\u00b2,out@0"],
            "argument 'next' is 'out@\u00b2', which is neither a number nor a .npy file",
        ),
        (["--set", "x=nothing{device}.npy"], "nothing0.npy: error: cannot be read"),
    ],
)
def test_wrong_devices(run_loom: Run, flags: list[str], said: str) -> None:
    outcome = run_loom("pto", "run", EXAMPLES / "ring.pto", *flags)
    assert outcome.status == 1
    assert said in outcome.err and len(outcome.err.splitlines()) == 1


def test_json(run_loom: Run) -> None:
    """Findings and printed tiles are one object on stdout; NaN, which JSON lacks, is a string."""
    program = EXAMPLES / "matmul_print.pto"
    plain = run_loom("pto", "run", program, "--arch", "a2a3")
    outcome = run_loom("pto", "run", program, "--arch", "a2a3", "--json")
    assert (outcome.status, outcome.err) == (plain.status, "")
    found = json.loads(outcome.out)
    assert found.keys() == {"error", "findings", "prints"} and found["error"] is None
    assert sum(line.startswith("block ") for line in plain.out.splitlines()) == len(found["prints"]) > 0
    first = found["prints"][0]
    assert (first["device"], first["block"], first["core"], first["dtype"]) == (None, 0, "AIV0", "float32")
    assert np.array(first["values"]).shape == (16, 16)


def test_json_of_numbers_that_json_lacks(run_loom: Run, tmp_path: Path) -> None:
    x = np.ones((16, 16), np.float32)
    x[0, :3] = np.nan, np.inf, -np.inf
    np.save(tmp_path / "x.npy", x)
    program, tile = tmp_path / "show.pto", "!pto.tile_buf<vec, 16x16xf32>"
    program.write_text(copying("f32", f"pto.tprint ins(%tile : {tile})"))
    outcome = run_loom("pto", "run", program, "--set", f"x={tmp_path}/x.npy", "--json")
    found = json.loads(outcome.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert found["prints"][0]["values"][0][:4] == ["nan", "inf", "-inf", 1.0]


@pytest.mark.slow
def test_json_of_a_hang_and_of_differences(run_loom: Run) -> None:
    program = EXAMPLES / "hazards" / "h3_frees_lost.pto"
    outcome = run_loom("pto", "run", program, "--arch", "a2a3", "--json", "--compare")
    found = json.loads(outcome.out)
    assert outcome.status == 1 and found["error"]["message"].startswith("deadlock")
    assert found["others"].keys() == {"ideal", "a5"} and found["others"]["ideal"]["error"] is None
    assert isinstance(found["differences"], list)
    (told,) = map(json.loads, outcome.err.splitlines())
    assert told["severity"] == "error" and told["message"] == found["error"]["message"]
    outcome = run_loom("pto", "run", program, "--json", "--set", "nothing=1")
    assert outcome.out == "" and "take no argument 'nothing'" in json.loads(outcome.err)["message"]


def test_one_argument_twice(run_loom: Run) -> None:
    flags = ["--set", "a=1", "--set", "b=2", "--set", "a=3"]
    one_error(
        run_loom("pto", "run", EXAMPLES / "rows_split.pto", *flags), "--set gives 'a' twice, 1 and 3; leave one out"
    )


@pytest.mark.parametrize(("type", "dtype"), [("f32", ">f4"), ("i16", ">i2"), ("bf16", ">u2")])
def test_other_byte_orders(run_loom: Run, tmp_path: Path, type: str, dtype: str) -> None:
    """Files whose numbers have their high bytes first are taken; files that are written have those of the machine."""
    x = np.arange(256).astype(dtype).reshape(16, 16)
    np.save(tmp_path / "x.npy", x)
    program = tmp_path / "copy.pto"
    program.write_text(copying(type))
    flags = ["--set", f"x={tmp_path}/x.npy", "--get", f"out={tmp_path}/out.npy"]
    outcome = run_loom("pto", "run", program, *flags)
    assert (outcome.status, outcome.err) == (0, "")
    out = np.load(tmp_path / "out.npy").reshape(16, 16)
    assert out.dtype.isnative and (out.view(x.dtype.newbyteorder("=")) == x).all()


def copying(type: str, then: str = "") -> str:
    """Return a kernel that copies a tile of 16 x 16 from `x` to `out`."""
    tensor, tile = f"tensor_view<16x16x{type}>", f"!pto.tile_buf<vec, 16x16x{type}>"
    view = f"shape = [%c16, %c16], strides = [%c16, %c1] : !pto.{tensor}"
    part = f"offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.{tensor} -> !pto.partition_{tensor}"
    return f"""
      func.func @copy(%x: !pto.ptr<{type}>, %out: !pto.ptr<{type}>)
          attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c16 = arith.constant 16 : index
        %from = pto.make_tensor_view %x, {view}
        %to = pto.make_tensor_view %out, {view}
        %source = pto.partition_view %from, {part}
        %target = pto.partition_view %to, {part}
        %tile = pto.alloc_tile : {tile}
        pto.tload ins(%source : !pto.partition_{tensor}) outs(%tile : {tile})
        pto.tstore ins(%tile : {tile}) outs(%target : !pto.partition_{tensor})
        {then}
        return
      }}
    """
