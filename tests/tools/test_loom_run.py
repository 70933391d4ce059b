"""loom run: what it does with good programs, and what it says about bad ones."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ..host.csl_layouts import write_layout
from .conftest import Run, one_error

Write = Callable[[str], Path]

SCALE = """\
wse.program @scale target "wse3" rectangle 3 x 2 {
  wse.pe @cell on [:, :] {
    wse.buffer @x : memref<4xf32> = dense<0.0>
    wse.buffer @y : memref<4xf32> = dense<0.0>
    wse.buffer @total : memref<i16> = dense<0>
    wse.param @factor : f32 = dense<2.0>
    wse.export @x
    wse.export @y
    wse.export @total as "sum" unsigned read_only
    wse.export @main
    wse.export @add
    wse.func @main() {
      %x = wse.get_buffer @x : memref<4xf32>
      %y = wse.get_buffer @y : memref<4xf32>
      %factor = wse.get_param @factor : f32
      %source = dsd.mem1d %x extent 4 : memref<4xf32>
      %destination = dsd.mem1d %y extent 4 : memref<4xf32>
      dsd.fmuls %destination, %source, %factor : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      wse.return
    }
    wse.func @add(%n: i16, %scale: f32) {
      %total = wse.get_buffer @total : memref<i16>
      %old = memref.load %total[] : memref<i16>
      %new = arith.addi %old, %n : i16
      memref.store %new, %total[] : memref<i16>
      wse.return
    }
  }
}
"""

HANG = """\
wse.program @hang target "wse3" rectangle 2 x 1 {
  wse.color @red
  wse.route @red on [0, :] from [ramp] to [east]
  wse.route @red on [1, :] from [west] to [ramp]
  wse.pe @cell on [:, :] {
    wse.buffer @x : memref<4xf32> = dense<0.0>
    wse.export @x
    wse.export @main
    wse.input_queue @in color @red
    wse.func @main() {
      %x = wse.get_buffer @x : memref<4xf32>
      %destination = dsd.mem1d %x extent 4 : memref<4xf32>
      %source = dsd.fabin @in extent 4 : !dsd.fabin<f32>
      dsd.fmovs %destination, %source : !dsd.mem1d<f32>, !dsd.fabin<f32>
      wse.return
    }
  }
}
"""

FOR_EVER = """\
wse.program @spin target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.export @main
    wse.func @main() {
      wse.activate @again
      wse.return
    }
    wse.task @again local {
      wse.activate @again
      wse.return
    }
  }
}
"""

BUSY_FOR_EVER = FOR_EVER.replace(
    "      wse.activate @again\n      wse.return\n    }\n  }",
    """\
      %first = arith.constant 0 : index
      %last = arith.constant 30000 : index
      %step = arith.constant 1 : index
      scf.for %i = %first to %last step %step {
        %n = arith.index_cast %i : index to i16
        %x = wse.get_buffer @x : memref<i16>
        memref.store %n, %x[] : memref<i16>
      }
      wse.activate @again
      wse.return
    }
  }""",
).replace("    wse.export @main\n", "    wse.export @main\n    wse.buffer @x : memref<i16>\n")
"""FOR_EVER with steps that a trace does not have."""

TOO_LARGE = """\
wse.program @large target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @small : memref<100xf32> = dense<0.0>
    wse.buffer @large : memref<12000xf32>
    wse.buffer @medium : memref<4000xf16>
    wse.func @main() {
      wse.return
    }
  }
}
"""

OUT_OF_RANGE = """\
wse.program @range target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @x : memref<4xf32> = dense<0.0>
    wse.buffer @y : memref<64xf32> = dense<0.0>
    wse.export @y
    wse.export @main
    wse.export @walk
    wse.func @main(%i: i16) {
      %x = wse.get_buffer @x : memref<4xf32>
      %index = arith.index_cast %i : i16 to index
      %value = memref.load %x[%index] : memref<4xf32>
      %y = wse.get_buffer @y : memref<64xf32>
      memref.store %value, %y[%index] : memref<64xf32>
      wse.return
    }
    wse.func @walk(%n: i16) {
      %x = wse.get_buffer @x : memref<4xf32>
      %y = wse.get_buffer @y : memref<64xf32>
      %source = dsd.mem1d %x extent %n : memref<4xf32>
      %destination = dsd.mem1d %y extent %n : memref<64xf32>
      dsd.fmovs %destination, %source : !dsd.mem1d<f32>, !dsd.mem1d<f32>
      wse.return
    }
  }
}
"""


@pytest.fixture
def arrays(tmp_path: Path) -> Path:
    """A folder with the arrays the tests set."""
    np.save(tmp_path / "x.npy", np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    np.save(tmp_path / "column.npy", np.arange(4, dtype=np.float32))
    np.save(tmp_path / "wide.npy", np.arange(5, dtype=np.float32))
    np.save(tmp_path / "complex.npy", np.zeros(4, np.complex64))
    np.save(tmp_path / "objects.npy", np.array([{}, []], object), allow_pickle=True)
    (tmp_path / "text.npy").write_text("1 2 3 4")
    (tmp_path / "short.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:-7])
    return tmp_path


def test_set_launch_get(run_loom: Run, write: Write, arrays: Path) -> None:
    outcome = run_loom(
        *("run", write(SCALE), "--set", f"x={arrays}/x.npy", "--launch", "main"),
        *("--launch", "add", "3", "0.5", "--launch", "add", "0xfffe", "0"),
        *("--get", f"y={arrays}/y.npy", "--get", f"sum={arrays}/sum.npy", "--stats", arrays / "stats.json"),
    )
    assert outcome.status == 0 and outcome.err == "", outcome.err
    assert "3 x 2 PEs" in outcome.out and "(estimated)" in outcome.out
    assert_array_equal(np.load(arrays / "y.npy"), 2 * np.arange(24, dtype=np.float32).reshape(2, 3, 4), strict=True)
    assert_array_equal(np.load(arrays / "sum.npy"), np.full((2, 3), 1, np.uint16), strict=True)
    stats = json.loads((arrays / "stats.json").read_text())
    assert (stats["target"], stats["grid"]) == ("wse3", [3, 2])
    assert stats["cycles_estimated"] > 0 and stats["wall_seconds"] > 0


@pytest.mark.slow
def test_one_array_for_every_pe_and_overrides(run_loom: Run, write: Write, arrays: Path) -> None:
    factors = np.arange(20, dtype=np.float32).reshape(4, 5)
    np.save(arrays / "factors.npy", factors)
    outcome = run_loom(
        *("run", write(SCALE), "--arch", "wse2", "--rectangle", "5x4", "--param", f"factor={arrays}/factors.npy"),
        *("--set", f"x={arrays}/column.npy", "--launch", "main", "--get", f"y={arrays}/y.npy"),
    )
    assert outcome.status == 0, outcome.err
    assert_array_equal(np.load(arrays / "y.npy"), factors[:, :, None] * np.arange(4, dtype=np.float32), strict=True)


@pytest.mark.slow
def test_every_level_runs_alike(run_loom: Run, run_opt: Run, write: Write, arrays: Path) -> None:
    from loomir.host.compilation import PIPELINE

    expected = None
    for count in range(len(PIPELINE) + 1):
        lowered = arrays / f"lowered{count}.mlir"
        assert run_opt(write(SCALE), "-p", ",".join(PIPELINE[:count]), "-o", lowered).status == 0
        outcome = run_loom(
            *("run", lowered, "--set", f"x={arrays}/x.npy", "--launch", "main", "--get", f"y={arrays}/y.npy"),
        )
        assert outcome.status == 0, outcome.err
        result = (arrays / "y.npy").read_bytes()
        assert expected in (None, result)
        expected = result


def test_trace(run_loom: Run, write: Write, arrays: Path) -> None:
    path = write(SCALE)
    trace = arrays / "trace"
    outcome = run_loom("run", path, "--launch", "main", "--launch", "add", "1", "1", "--trace", trace)
    assert outcome.status == 0, outcome.err
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    for pe in {line["pes"] for line in lines}:
        mine = [line for line in lines if line["pes"] == pe]
        events = [(line["event"], line["name"].split()[0]) for line in mine]
        begun = [("task", "main"), ("operation", "fmuls")]
        assert events == [*begun, ("completed", "fmuls"), ("ended", "main"), ("task", "add"), ("ended", "add")]
        assert mine[1]["where"] == f"{path}:18:7"
        cycles = [line["cycle"] for line in mine]
        assert cycles == sorted(cycles) and all(line["last_cycle"] == line["cycle"] for line in mine)
    assert len(lines) == 6 * 6


@pytest.mark.slow
def test_tracing_changes_nothing(run_loom: Run, tmp_path: Path) -> None:
    program = Path(__file__).parents[2] / "examples" / "stencil" / "stencil.mlir"
    np.save(tmp_path / "u.npy", np.random.default_rng(0).random((4, 4, 2, 66), np.float32))
    results: list[bytes] = []
    for extra in ([], ["--trace", tmp_path / "trace"]):
        outcome = run_loom(
            *("run", program, "--set", f"u={tmp_path}/u.npy", "--launch", "main", "3"),
            *("--get", f"u={tmp_path}/result.npy", "--stats", tmp_path / "stats.json", *extra),
        )
        assert outcome.status == 0, outcome.err
        cycles = json.loads((tmp_path / "stats.json").read_text())["cycles_estimated"]
        results.append((tmp_path / "result.npy").read_bytes() + str(cycles).encode())
    assert results[0] == results[1]
    events = {json.loads(line)["event"] for line in (tmp_path / "trace").read_text().splitlines()}
    assert events == {"task", "ended", "operation", "completed", "waited", "sent", "taken"}


@pytest.mark.slow
def test_unreadable_programs(run_loom: Run, write: Write, tmp_path: Path) -> None:
    one_error(run_loom("run", tmp_path / "none.mlir"), "none.mlir: error: cannot be read: No such file")
    one_error(run_loom("run", tmp_path), "is a directory without a compiled program")
    (tmp_path / "binary.mlir").write_bytes(b"\x7fELF\0\0")
    one_error(run_loom("run", tmp_path / "binary.mlir"), "binary.mlir: error: is not a text file")
    path = write("wse.program @x target\n")
    one_error(run_loom("run", path), f"{path}:2:1: error: ")
    for nothing in ("", "\n// a comment\n"):
        one_error(run_loom("run", write(nothing)), "error: the text contains no operation; write a wse.program")
    path = write(SCALE[: SCALE.index("wse.func @add")])
    one_error(run_loom("run", path), f"{path}:21:5: error: the text ends inside a region; a '}}' is missing")
    path = write("builtin.module {\n}\n")
    one_error(run_loom("run", path), str(path), "contains no program")
    path = write("func.func @k() {\n  pto.section.vector {\n  }\n  return\n}\n")
    one_error(run_loom("run", path), f"{path}:2:3: error: ", "run it with `loom pto run`")
    path = write(SCALE + SCALE.replace("@scale", "@other"))
    one_error(run_loom("run", path), f"{path}:30:1: error: ", "several programs")


def test_broken_rule(run_loom: Run, write: Write) -> None:
    path = write(SCALE.replace("wse.get_param @factor", "wse.get_param @x"))
    one_error(run_loom("run", path), f"{path}:15:7: error: ")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--nonsense"], "--nonsense; see loom run --help"),
        (["--lauch", "main"], "did you mean --launch?"),
        (["--arch", "wse9"], "unknown target 'wse9'; choose one of wse2, wse3"),
        (["--rectangle", "3"], "'3' is not a rectangle"),
        (["--rectangle", "0x1"], "'0x1' is not a rectangle"),
        (["--rectangle", "763x1"], "the rectangle is 763 x 1 PEs, but wse3 has 762 x 1172"),
        (["--rectangle", "99999x99999"], "the rectangle is 99999 x 99999 PEs"),
        (["--step-limit", "0"], "'0' is not a number above 0"),
        (["--step-limit", "many"], "'many' is not a number above 0"),
        (["--set", "x"], "'x' is not of the form NAME=VALUE"),
        (["--launch"], "--launch"),
        (["--launch", "nonsense"], "no function 'nonsense'; it exports the functions add, main"),
        (["--launch", "x"], "no function 'x'"),
        (["--launch", "main", "1"], "main() takes 0 arguments, not 1"),
        (["--launch", "add", "1"], "add(int16, float32) takes 2 arguments, not 1"),
        (["--launch", "add", "one", "1"], "argument 1 of add(int16, float32) is 'one', which is not a number"),
        (["--launch", "add", "1.5", "1"], "argument 1 of add(int16, float32) is 1.5; give a whole number"),
        (["--launch", "add", "9" * 30, "1"], "argument 1 of add(int16, float32) holds an integer of more than 64 bits"),
        (["--launch", "add", "1", "1e99"], "argument 2 of add(int16, float32) holds 1e+99, which is too large"),
        (["--launch", "add", "65536", "1"], "65536, which does not fit in 16 bits"),
        (["--param", "nonsense=1"], "no parameter 'nonsense'; it has factor"),
        (["--param", "factor=two"], "parameter 'factor' is 'two', which is not a number"),
        (["--set", "x=1.npy", "--set", "x=2.npy"], "--set gives 'x' twice, 1.npy and 2.npy; leave one out"),
        (["--param", "n=1", "--param", "n=2"], "--param gives 'n' twice, 1 and 2; leave one out"),
        (["--set", "nonsense={arrays}/x.npy"], "no buffer 'nonsense'; it exports the buffers sum, x, y"),
        (["--set", "total={arrays}/x.npy"], "no buffer 'total'"),
        (["--set", "sum={arrays}/column.npy"], "'sum' is exported read_only"),
        (["--get", "nonsense={arrays}/y.npy"], "no buffer 'nonsense'"),
        (["--set", "x={arrays}/none.npy"], "none.npy: error: cannot be read: No such file"),
        (["--set", "x={arrays}"], "cannot be read: Is a directory"),
        (["--set", "x={arrays}/text.npy"], "text.npy: error: is not a .npy file"),
        (["--set", "x={arrays}/short.npy"], "short.npy: error: has a header of 96 bytes of elements, but 89 follow"),
        (["--set", "x={arrays}/objects.npy"], "objects.npy: error: holds elements of type object; write an array"),
        (["--set", "x={arrays}/wide.npy"], "wide.npy: error: the array for 'x' has shape [5], needs [2, 3, 4]"),
        (["--set", "x={arrays}/complex.npy"], "complex.npy: error: the array for 'x' holds complex"),
        (["--param", "factor={arrays}/wide.npy"], "parameter 'factor' has shape [5]; give one value or [2, 3]"),
        (["--get", "y={arrays}/none/y.npy"], "No such file or directory; make the folder '"),
        (["--get", "y={arrays}"], "cannot be written: it is a directory"),
        (["--get", "y={arrays}/out.npy", "--stats", "{arrays}/out.npy"], "out.npy: error: is named for two outputs"),
        (["--stats", ""], "an output has no name"),
        (["--stats", "{arrays}/none/stats.json"], "stats.json: error: cannot be written: No such file"),
    ],
)
def test_wrong_flags(run_loom: Run, write: Write, arrays: Path, flags: list[str], message: str) -> None:
    path = write(SCALE)
    before = sorted(arrays.iterdir())
    one_error(run_loom("run", path, *(flag.replace("{arrays}", str(arrays)) for flag in flags)), message)
    assert sorted(arrays.iterdir()) == before


def test_no_command_and_unknown_command(run_loom: Run) -> None:
    one_error(run_loom(), "COMMAND")
    one_error(run_loom("nonsense"), "nonsense")
    one_error(run_loom("run"), "FILE")


def test_deadlock(run_loom: Run, write: Write, tmp_path: Path) -> None:
    path = write(HANG)
    outcome = run_loom("run", path, "--launch", "main", "--get", f"x={tmp_path}/x.npy", "--stats", tmp_path / "s.json")
    assert outcome.status == 1
    warning, first, *report = outcome.err.splitlines()
    assert warning.startswith(f"{path}:14:7: warning: fmovs in @main receives color @red, which no route brings")
    assert first.startswith(f"{path}:14:7: error: deadlock")
    assert any(f"{path}:14:7" in line and "@red" in line and "4 of 4 wavelets" in line for line in report)
    assert "Traceback" not in outcome.err
    # What the program did until then is of use; what it was to compute is not there.
    assert {path, tmp_path / "s.json"} == set(tmp_path.iterdir())
    stats = json.loads((tmp_path / "s.json").read_text())
    assert stats["grid"] == [2, 1] and f"deadlock at cycle {stats['cycles_estimated']} (" in first


def test_a_hang_leaves_the_trace(run_loom: Run, write: Write, tmp_path: Path) -> None:
    path, trace = write(HANG), tmp_path / "trace.jsonl"
    outcome = run_loom("run", path, "--launch", "main", "--trace", trace)
    assert outcome.status == 1 and "deadlock" in outcome.err
    events = [json.loads(line) for line in trace.read_text().splitlines()]
    assert ("task", "main") in {(event["event"], event["name"]) for event in events}
    assert {path, trace} == set(tmp_path.iterdir())


def test_step_limit(run_loom: Run, write: Write, tmp_path: Path) -> None:
    path = write(FOR_EVER)
    outcome = run_loom("run", path, "--launch", "main", "--step-limit", "1000", "--stats", tmp_path / "stats.json")
    one_error(outcome, "step limit", "@again")
    assert {path, tmp_path / "stats.json"} == set(tmp_path.iterdir())
    assert json.loads((tmp_path / "stats.json").read_text())["steps"] == 1000


@pytest.mark.slow
def test_notice(run_loom: Run, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_NOTICE_AFTER", "0.000001")
    outcome = run_loom("run", write(FOR_EVER), "--launch", "main", "--step-limit", "100000")
    notice = outcome.err.splitlines()[0]
    assert notice.startswith("note: launch of 'main' is still running: ") and "@again" in notice
    assert notice.endswith("; Ctrl-C ends it, and so does --step-limit N after N steps")


def test_too_much_memory(run_loom: Run, write: Write) -> None:
    outcome = run_loom("run", write(TOO_LARGE))
    assert outcome.status == 1 and "Traceback" not in outcome.err
    first = outcome.err.splitlines()[0]
    assert f"{write(TOO_LARGE)}:4:5: error: " in first and "49152" in outcome.err.replace(",", "")
    assert outcome.err.index("large") < outcome.err.index("medium") < outcome.err.index("small")


@pytest.mark.slow
def test_address_out_of_range(run_loom: Run, write: Write, tmp_path: Path) -> None:
    path = write(OUT_OF_RANGE)
    assert run_loom("run", path, "--launch", "main", "3", "--launch", "walk", "4").status == 0
    # An access and a walk go on in the memory beside their array, with a warning (DSD-171), and end where it ends.
    for function, inside, line in [("main", "4", 11), ("walk", "5", 21)]:
        beside = run_loom("run", path, "--launch", function, inside)
        assert beside.status == 0 and beside.err.startswith(f"{path}:{line}:7: warning: ")
        beyond = run_loom("run", path, "--launch", function, "30000", "--get", f"y={tmp_path}/y.npy")
        one_error(beyond, f"{path}:{line}:7: error: ")
    assert [path] == list(tmp_path.iterdir())


def test_earlier_results_survive_an_error(run_loom: Run, write: Write, tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_text("before")
    path = write(HANG)
    assert run_loom("run", path, "--launch", "main", "--get", f"x={tmp_path}/x.npy").status == 1
    assert (tmp_path / "x.npy").read_text() == "before"


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("number", "kept"),
    [(signal.SIGINT, []), (signal.SIGTERM, ["--trace-last", "50"]), (signal.SIGHUP, ["--trace-last", "50"])],
)
def test_a_signal_leaves_nothing_behind(write: Write, tmp_path: Path, number: signal.Signals, kept: list[str]) -> None:
    path = write(BUSY_FOR_EVER)
    script = Path(sys.executable).with_name("loom")
    command = [script, "run", path, "--launch", "main", "--trace", tmp_path / "trace", *kept]
    # A shell that starts a process in the background makes it ignore the interrupt; here it has the default.
    default = "import os, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
    launcher = f"{default}; os.execv(sys.argv[1], sys.argv[1:])"
    with subprocess.Popen(
        [sys.executable, "-c", launcher, *command],
        stderr=subprocess.PIPE, text=True, env={**os.environ, "LOOM_NOTICE_AFTER": "0.01"},
    ) as process:  # fmt: skip
        assert process.stderr is not None
        assert process.stderr.readline().startswith("note: launch of 'main' is still running: ")
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    error, note = [line for line in errors.splitlines() if "is still running" not in line]
    assert error == "error: interrupted; no results were written"
    assert note.startswith("note: launch of 'main' was interrupted: ")
    # What the program did until then is of use; what it was to compute is not there.
    assert {path, tmp_path / "trace"} == set(tmp_path.iterdir())
    lines = (tmp_path / "trace").read_text().splitlines()
    assert lines and all(json.loads(line)["event"] for line in lines)


@pytest.mark.slow
def test_standard_output_that_cannot_be_written(write: Write) -> None:
    script = Path(sys.executable).with_name("loom")
    with open("/dev/full", "w") as full:
        done = subprocess.run([script, "run", write(SCALE)], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr == b"error: the output cannot be written: No space left on device\n"


@pytest.mark.slow
def test_output_to_a_pipe_that_closes(write: Write) -> None:
    path = write(SCALE)
    read, out = os.pipe()
    os.close(read)
    script = Path(sys.executable).with_name("loom")
    done = subprocess.run([script, "run", path, "--launch", "main"], stdout=out, stderr=subprocess.PIPE, check=False)
    os.close(out)
    assert done.returncode == 1 and done.stderr == b""


def test_an_output_directory_of_cslc(run_loom: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    flags = ["--arch=wse3", "--fabric-dims=9,4", "--fabric-offsets=4,1", "--params=width:2", "--memcpy", "--channels=1"]
    assert run_loom("cslc", write_layout(tmp_path), *flags, "-o", out).status == 0
    outcome = run_loom("run", out, "--launch", "add", "2.5", "3", "--get", f"values={tmp_path / 'values.npy'}")
    assert outcome.status == 0 and outcome.out.startswith("2 x 2 PEs, ")
    assert_array_equal(np.load(tmp_path / "values.npy"), np.full((2, 2, 4), 7.5, np.float32))
    one_error(run_loom("run", tmp_path), "is a directory without a compiled program", "output directory of loom cslc")


def test_places_of_an_output_directory(run_loom: Run, tmp_path: Path) -> None:
    """Findings name the lines of the source; those of the compiled text only if that has been changed since."""
    axpy = Path(__file__).parents[2] / "examples" / "csl" / "axpy"
    out = tmp_path / "out"
    flags = ["--params=width:1,length:4", "--memcpy", "--channels=1"]
    assert run_loom("cslc", axpy / "layout.csl", *flags, "-o", out).status == 0
    assert f"{axpy / 'pe.csl'}:20:3: note: fmacs in @axpy" in run_loom("run", out, "--launch", "axpy", "2").err
    flow = out / "program.flow.mlir"
    flow.write_text("// changed\n" + flow.read_text())
    assert f"{flow}:20:9: note: fmacs in @axpy" in run_loom("run", out, "--launch", "axpy", "2").err


@pytest.mark.slow
def test_csl(run_loom: Run, tmp_path: Path) -> None:
    """A layout is compiled; what it exports by pointers is set and read."""
    layout = write_layout(tmp_path)
    np.save(tmp_path / "v.npy", np.arange(12, dtype=np.float32).reshape(2, 3, 2))
    outcome = run_loom(
        "run", layout, "--arch", "wse3", "--param", "width=3", "--param", "length=2", "--param", "negate=true",
        "--set", f"values={tmp_path}/v.npy", "--launch", "add", "1.5", "2", "--get", f"values={tmp_path}/out.npy",
    )  # fmt: skip
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith("3 x 2 PEs, ")
    result = np.load(tmp_path / "out.npy")
    np.testing.assert_array_equal(result, np.arange(12, dtype=np.float32).reshape(2, 3, 2) - 3)


TRUTHS = """
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0);
  @export_name("x", [*]u16, true);
  @export_name("f", fn(bool, bool)void);
}
var x = @zeros([2]u16);
var x_ptr: [*]u16 = &x;
fn f(a: bool, b: bool) void { x = [2]u16{ @as(u16, a), @as(u16, b) }; }
comptime { @export_symbol(x_ptr, "x"); @export_symbol(f); }
"""


def test_arguments_that_are_bools(run_loom: Run, tmp_path: Path) -> None:
    (tmp_path / "layout.csl").write_text(TRUTHS)
    for texts, expected in ((("true", "0"), [1, 0]), (("false", "1"), [0, 1])):
        flags = "--launch", "f", *texts, "--get", f"x={tmp_path}/x.npy"
        assert run_loom("run", tmp_path / "layout.csl", *flags).status == 0
        assert np.load(tmp_path / "x.npy")[0, 0].tolist() == expected
    outcome = run_loom("run", tmp_path / "layout.csl", "--launch", "f", "yes", "1")
    assert "argument 1 of f(bool, bool) is 'yes', which is not a number" in outcome.err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--param", "width=wide"], "param 'width' is 'wide', which is not a number"),
        (["--param", "width=3", "--rectangle", "3x2"], "a CSL layout sets its rectangle itself"),
        (["--param", "width=3", "--param", "depth=2"], "given for 'depth', which is not a param of this file"),
        (["--param", "width=3", "--launch", "forget"], "launch of 'forget' never completes: 4 PEs"),
        (["--param", "width=3", "--launch", "sub"], "exports no function 'sub'; it exports the functions add, forget"),
        (["--param", "width=3", "--get", "v=v.npy"], "exports no buffer 'v'; it exports the buffers ids, values"),
    ],
)
def test_csl_mistakes(run_loom: Run, tmp_path: Path, flags: list[str], message: str) -> None:
    outcome = run_loom("run", write_layout(tmp_path), *flags)
    assert outcome.status == 1
    assert message in outcome.err.splitlines()[0] and "Traceback" not in outcome.err
