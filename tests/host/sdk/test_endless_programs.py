"""Programs that run for ever: the notices meanwhile, and how they are ended."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from loomir.host.sdk.errors import SdkError
from loomir.host.sdk.runtime import SdkRuntime
from loomir.tools import loom

LAYOUT = """
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 3, .height = 1 });
layout {
  @set_rectangle(3, 1);
  for (@range(u16, 3)) |x| {
    @set_tile_code(x, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(x), .for_ever = x == 1 });
  }
  @export_name("main", fn()void);
}
"""
PE = """
param memcpy_params;
param for_ever: bool;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
var n: u32 = 0;
fn spin() void {
  while (for_ever) {
    n += 1;
  }
}
fn main() void {
  spin();
  sys.unblock_cmd_stream();
}
comptime {
  @export_symbol(main);
}
"""
SCRIPT = """
from cerebras.sdk.runtime.sdkruntimepybind import SdkRuntime
runner = SdkRuntime("out", suppress_simfab_trace=True)
runner.load()
runner.run()
try:
    runner.launch("main", nonblock=False)
finally:
    runner.stop()
"""
WHERE = r"last seen PE \(1, 0\) in @main at pe\.csl:7:3"
STEPS = "2000000"


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("layout.csl").write_text(LAYOUT)
    Path("pe.csl").write_text(PE)
    Path("run.py").write_text(SCRIPT)
    flags = ("--arch=wse3", "--fabric-dims=10,3", "--fabric-offsets=4,1", "--memcpy", "--channels=1")
    assert loom.main(["cslc", "layout.csl", *flags]) == 0
    return tmp_path / "out"


@pytest.fixture
def runner(compiled: Path) -> SdkRuntime:
    made = SdkRuntime(compiled, suppress_simfab_trace=True)
    made.load()
    made.run()
    return made


@pytest.mark.slow
def test_step_limit(monkeypatch: pytest.MonkeyPatch, compiled: Path) -> None:
    """The loop is named; after that the machine can be stopped, and nothing else."""
    monkeypatch.setenv("LOOM_STEP_LIMIT", STEPS)
    runner = SdkRuntime(compiled, suppress_simfab_trace=True)
    runner.load()
    runner.run()
    past = rf"the program runs past its step limit of {STEPS} in @main on PE \(1, 0\)"
    message = rf"^pe\.csl:7:3: error: launch of 'main': {past}"
    with pytest.raises(SdkError, match=message):
        runner.launch("main", nonblock=False)
    with pytest.raises(SdkError, match=r"launch of 'main': the run has failed before: the program runs past its step"):
        runner.launch("main", nonblock=False)
    runner.stop()


@pytest.mark.parametrize("limit", ["0", "-1", "many", "1e6"])
def test_step_limit_that_is_none(monkeypatch: pytest.MonkeyPatch, compiled: Path, limit: str) -> None:
    monkeypatch.setenv("LOOM_STEP_LIMIT", limit)
    with pytest.raises(SdkError, match=f"LOOM_STEP_LIMIT is '{limit}'; give the number of steps"):
        SdkRuntime(compiled).load()


@pytest.mark.parametrize("seconds", ["soon", "-1"])
@pytest.mark.slow
def test_seconds_that_are_none(monkeypatch: pytest.MonkeyPatch, compiled: Path, seconds: str) -> None:
    monkeypatch.setenv("LOOM_NOTICE_AFTER", seconds)
    with pytest.raises(SdkError, match=f"LOOM_NOTICE_AFTER is '{seconds}'; give a number of seconds"):
        SdkRuntime(compiled).load()


@pytest.mark.slow
def test_notice(monkeypatch: pytest.MonkeyPatch, compiled: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What is awaited, how much of it is missing, and where the PEs are."""
    monkeypatch.setenv("LOOM_STEP_LIMIT", STEPS)
    monkeypatch.setenv("LOOM_NOTICE_AFTER", "0.000001")
    assert loom.main(["python", "run.py"]) == 1
    notice, *others = (line for line in capfd.readouterr().err.splitlines() if line.startswith("note: launch"))
    assert re.fullmatch(
        r"note: launch of 'main' is still running: 0 s and [\d,]+ steps so far, unblock_cmd_stream\(\) not called yet "
        rf"on \d of 3 PEs, {WHERE}; Ctrl-C ends it, and so does LOOM_STEP_LIMIT=N after N steps",
        notice,
    )
    assert all("on 1 of 3 PEs" in line for line in others)


@pytest.mark.slow
def test_no_notice(monkeypatch: pytest.MonkeyPatch, compiled: Path, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("LOOM_STEP_LIMIT", STEPS)
    monkeypatch.setenv("LOOM_NOTICE_AFTER", "0")
    assert loom.main(["python", "run.py"]) == 1
    assert "still running" not in capfd.readouterr().err


@pytest.mark.slow
def test_interrupt(compiled: Path) -> None:
    """The same report, the line of the script, and the status that shells know; stop() does not run the rest."""
    environment = {**os.environ, "LOOM_NOTICE_AFTER": "0.01"}
    # A shell that starts the tests in the background makes them ignore the interrupt; here it has the default.
    launcher = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import sys; from loomir.tools import loom; sys.exit(loom.main(['python', 'run.py']))"
    )
    with subprocess.Popen(
        [sys.executable, "-P", "-c", launcher],
        cwd=compiled.parent,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert "still running" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        rest = [line for line in process.stderr.read().splitlines() if "still running" not in line]
    assert process.returncode == 130
    error, note = rest
    assert re.fullmatch(rf"error: launch of 'main' was interrupted: .* not called yet on 1 of 3 PEs, {WHERE}", error)
    assert note == 'run.py:7: note: called from here: runner.launch("main", nonblock=False)'
