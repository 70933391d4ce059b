"""SdkRuntime: construction, symbols, life of a run, functions and tasks (HOST-001 to HOST-032)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import loomir
from loomir.host.sdk import core, loading
from loomir.host.sdk import runtime as runtime_module
from loomir.host.sdk.debugging import debug_util
from loomir.host.sdk.errors import SdkError
from loomir.host.sdk.platforms import (
    SdkCompileArtifacts,
    SdkTarget,
    SimfabConfig,
    get_platform,
    get_simulator,
    get_system,
)
from loomir.host.sdk.runtime import MemcpyDataType, MemcpyOrder, SdkRuntime, Task

from .programs import EXPORTS

Start = Callable[[], SdkRuntime]

WORDS: dict[str, Any] = {
    "streaming": False,
    "data_type": MemcpyDataType.MEMCPY_32BIT,
    "order": MemcpyOrder.ROW_MAJOR,
    "nonblock": False,
}


def read(runtime: SdkRuntime, name: str, elements: int, dtype: Any = np.float32, bits: int = 32) -> np.ndarray:
    """A buffer of all 3 x 2 PEs, [2, 3, elements]."""
    data = np.zeros(6 * elements, np.uint32)
    kind = MemcpyDataType.MEMCPY_16BIT if bits == 16 else MemcpyDataType.MEMCPY_32BIT
    runtime.memcpy_d2h(data, runtime.get_id(name), 0, 0, 3, 2, elements, **{**WORDS, "data_type": kind})
    return data.view(dtype).reshape(2, 3, elements)


def test_worked_order(grid: Path) -> None:
    """HOST-001, HOST-003, HOST-004, HOST-009: construct, get_id, load, run, copy in, copy out; sizes are known."""
    runner = SdkRuntime(str(grid))
    a, b = runner.get_id("real"), runner.get_id("fixed")
    runner.load()
    runner.run()
    data = np.arange(36, dtype=np.float32)
    runner.memcpy_h2d(a, data, 0, 0, 3, 2, 6, **WORDS)
    out = np.zeros(12, np.float32)
    runner.memcpy_d2h(out, b, 0, 0, 3, 2, 2, **WORDS)
    assert_array_equal(out, np.full(12, 1.5))
    runner.stop()


def test_statistics_of_a_host_script(grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LOOM_STATS names a file; one that cannot be written is an error that says so."""
    file = tmp_path / "stats.json"
    for path in (file, tmp_path / "none" / "stats.json"):
        monkeypatch.setenv("LOOM_STATS", str(path))
        runner = SdkRuntime(str(grid))
        runner.load()
        runner.run()
        if path == file:
            runner.stop()
            assert json.loads(file.read_text())["grid"] == [3, 2]
        else:
            with pytest.raises(
                SdkError, match=r"LOOM_STATS names '.*stats.json', which cannot be written: No such file"
            ):
                runner.stop()


@pytest.mark.parametrize("bindir", [None, 3, b"out"])
def test_bindir_of_another_type(bindir: Any) -> None:
    """HOST-002: str or Path."""
    with pytest.raises(SdkError, match=r"bindir is \w+; give a str or pathlib.Path"):
        SdkRuntime(bindir)


def test_bindir_without_a_program(tmp_path: Path, grid: Path) -> None:
    """HOST-002: a directory that the compiler wrote."""
    with pytest.raises(SdkError, match="does not exist; give the output directory of loom cslc"):
        SdkRuntime(tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SdkError, match="contains no compiled program"):
        SdkRuntime(tmp_path / "empty")
    with pytest.raises(SdkError, match="is not a directory"):
        SdkRuntime(grid / "out.json")
    (grid / "loom.json").write_text("{}")
    with pytest.raises(SdkError, match="was compiled by another version of loom cslc; compile the program again"):
        SdkRuntime(grid)
    (grid / "loom.json").write_text('{"format": 0}')
    with pytest.raises(SdkError, match="was compiled by another version of loom cslc"):
        SdkRuntime(grid)


@pytest.mark.parametrize("empty", [None, ""])
def test_simulator(grid: Path, empty: str | None) -> None:
    """HOST-006: no address means the simulator."""
    SdkRuntime(grid, cmaddr=empty)


def test_no_wafer(grid: Path) -> None:
    """HOST-005: an address would mean a wafer, which there is not."""
    with pytest.raises(SdkError, match=r"cmaddr is '10.0.0.1:9000', a wafer's address; leave it out"):
        SdkRuntime(grid, cmaddr="10.0.0.1:9000")


def test_unknown_argument(grid: Path) -> None:
    with pytest.raises(
        SdkError, match="SdkRuntime takes no argument 'suppres_trace'; it takes bindir, cmaddr, suppress"
    ):
        SdkRuntime(grid, suppres_trace=True)


@pytest.mark.parametrize("suppress", [None, False, True])
def test_traces(grid: Path, suppress: bool | None) -> None:
    """HOST-007, HOST-008: a trace is written unless suppressed."""
    runner = SdkRuntime(grid) if suppress is None else SdkRuntime(grid, suppress_simfab_trace=suppress)
    runner.load()
    runner.run()
    runner.launch("double", nonblock=False)
    runner.stop()
    traces = Path("simfab_traces")
    assert traces.exists() is not bool(suppress)
    if not suppress:
        assert "double" in (traces / "trace.jsonl").read_text()


def test_traces_keep_the_last_records(grid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """HOST-008: whatever a run takes, its trace is short; the file is as the machine stands, also behind a hang."""
    monkeypatch.setattr(loading, "MAX_TRACED", 4)
    runner = SdkRuntime(grid)
    runner.load()
    runner.run()
    runner.launch("double", nonblock=False)
    with pytest.raises(loomir.Deadlock):
        runner.launch("wait", nonblock=False)
    for _ in range(2):
        first, *others = (json.loads(line) for line in Path("simfab_traces", "trace.jsonl").read_text().splitlines())
        assert first["event"] == "dropped" and len(others) == 4 and others[-1]["name"] == "fmovs in @wait"
        runner._keep()
    runtime_module.take_unstopped()


def test_platforms(grid: Path) -> None:
    """HOST-005, HOST-006: where a program runs, as newer scripts say it."""
    config = SimfabConfig(suppress_trace=True, dump_core=True, core_path="my.core")
    platform = get_platform(None, config, SdkTarget.WSE3)
    assert platform.is_simulation() and not platform.is_system()
    runner = SdkRuntime(SdkCompileArtifacts(str(grid)), platform, memcpy_required=True)
    runner.load()
    runner.run()
    runner.stop()
    assert Path("my.core").exists() and not Path("simfab_traces").exists()
    SdkRuntime(grid, get_simulator())
    with pytest.raises(SdkError, match="the platform is a WSE2, but the program was compiled for wse3; pass target="):
        SdkRuntime(grid, get_platform(target=SdkTarget.WSE2))
    with pytest.raises(SdkError, match="a wafer's address; leave it out"):
        get_platform("1.2.3.4:9000")
    with pytest.raises(
        SdkError, match=r"there is no wafer at '1.2.3.4:9000': loom runs programs on its own simulator only"
    ):
        get_system("1.2.3.4:9000")
    wrong: Any = "wse3"
    for make in (lambda: get_simulator(target=wrong), lambda: get_simulator(wrong), lambda: SdkRuntime(grid, wrong)):
        with pytest.raises(SdkError, match=r"(target|config|platform) is 'wse3'; give"):
            make()


def test_physical_coordinates(grid: Path) -> None:
    """HOST-010, HOST-011: the offsets are added."""
    runner = SdkRuntime(grid)
    assert runner.coord_logical_to_physical((2, 3)) == (6, 4)
    numbers: Any = (np.int32(0), np.int64(0))
    assert runner.coord_logical_to_physical(numbers) == (4, 1)
    for wrong in ((1,), (1, 2, 3), "ab", 5, (1.5, 2)):
        with pytest.raises(SdkError, match="is not a coordinate; give a pair of ints"):
            runner.coord_logical_to_physical(wrong)  # pyright: ignore[reportArgumentType]


def test_symbol_ids(grid: Path) -> None:
    """HOST-012, HOST-013: an id for each array and function, the same before and after load."""
    runner = SdkRuntime(grid)
    ids = {name: runner.get_id(name) for name in EXPORTS if not name.startswith("loom.")}
    assert all(type(number) is int for number in ids.values())
    assert len(set(ids.values())) == len(ids)
    runner.load()
    assert runner.get_id("double") == ids["double"]
    runtime_module.take_unstopped()


@pytest.mark.parametrize("name", ["missing", "hidden", "loom.cmd_stream"])
def test_unknown_symbol(grid: Path, name: str) -> None:
    """HOST-014: an error that names the symbol, and those there are."""
    with pytest.raises(SdkError, match=rf"the program exports no symbol '{name}'; it exports wide, real, narrow"):
        SdkRuntime(grid).get_id(name)


def test_order_of_life(grid: Path) -> None:
    """HOST-015, HOST-016, HOST-017: load, run, commands, stop."""
    runner = SdkRuntime(grid, suppress_simfab_trace=True)
    with pytest.raises(SdkError, match=r"run: call load\(\) and then run\(\) before"):
        runner.run()
    with pytest.raises(SdkError, match=r"launch of 'double': call load\(\) and then run\(\) before"):
        runner.launch("double", nonblock=False)
    runner.load()
    with pytest.raises(SdkError, match=r"launch of 'double': call run\(\) before"):
        runner.launch("double", nonblock=False)
    runner.run()
    with pytest.raises(SdkError, match="run: it is already running"):
        runner.run()
    runner.stop()


def test_stop_finishes_what_is_pending(start: Start) -> None:
    """HOST-018: transfers and calls that were not waited for are done by stop()."""
    runner = start()
    data = np.arange(36, dtype=np.float32)
    out = np.zeros(36, np.float32)
    later = {**WORDS, "nonblock": True}
    runner.memcpy_h2d(runner.get_id("real"), data, 0, 0, 3, 2, 6, **later)
    runner.launch("double", nonblock=True)
    task = runner.memcpy_d2h(out, runner.get_id("real"), 0, 0, 3, 2, 6, **later)
    assert not out.any()
    runner.stop()
    assert_array_equal(out, 2 * data)
    assert runner.is_task_done(task)


def test_nothing_after_stop(start: Start) -> None:
    """HOST-019: no command is accepted after stop()."""
    runner = start()
    real = runner.get_id("real")
    runner.stop()
    data = np.zeros(36, np.float32)
    for command in (
        lambda: runner.launch("double", nonblock=False),
        lambda: runner.call("double", [], nonblock=True),
        lambda: runner.memcpy_h2d(real, data, 0, 0, 3, 2, 6, **WORDS),
        lambda: runner.memcpy_d2h(data, real, 0, 0, 3, 2, 6, **WORDS),
        runner.run,
        runner.load,
        runner.stop,
    ):
        with pytest.raises(SdkError, match=r"stop\(\) was called; make a new SdkRuntime for more commands"):
            command()


@pytest.mark.slow
def test_core_of_a_stopped_run(start: Start, grid: Path) -> None:
    """HOST-021, HOST-022, HOST-024: of a machine that has run only, and under the name the debugger reads."""
    fresh = SdkRuntime(grid)
    for prepare in (lambda: None, fresh.load):
        prepare()
        with pytest.raises(SdkError, match=r"dump_core writes the memory of a stopped machine; call it after stop\(\)"):
            fresh.dump_core("corefile.cs1")
    fresh.stop()
    runner = start()
    runner.stop()
    with pytest.raises(SdkError, match=r"a core named 'core' cannot be read by the debugger; name it 'corefile.cs1'"):
        runner.dump_core("core")
    runner.dump_core("corefile.cs1")
    assert Path("corefile.cs1").stat().st_size > 0


def test_core_right_before_the_stop(running: SdkRuntime, grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """HOST-022: as the debugging page of SDK 1.4 has it; commands that were not waited for are in it."""
    running.memcpy_h2d(
        running.get_id("real"), np.arange(36, dtype=np.float32), 0, 0, 3, 2, 6, **(WORDS | {"nonblock": True})
    )
    running.dump_core("corefile.cs1")
    printed = capsys.readouterr().err
    assert printed.count("warning") == 1
    assert "warning: dump_core: stop() was not called yet, so the core shows the memory as it is now" in printed
    early = Path("corefile.cs1").rename("early.cs1")
    running.stop()
    running.dump_core("corefile.cs1")
    assert capsys.readouterr().err == ""
    with np.load(early, allow_pickle=False) as one, np.load("corefile.cs1", allow_pickle=False) as other:
        assert one.files == other.files
        assert all((one[name] == other[name]).all() for name in one.files)
    core._held.clear()
    assert_array_equal(debug_util(grid).get_symbol(4, 1, "real", np.float32), np.arange(6))


def test_no_core_of_a_wafer(grid: Path) -> None:
    """HOST-023: a run on a wafer, which alone could not dump a core, is refused from the start."""
    with pytest.raises(SdkError, match="loom runs programs on its own simulator only"):
        SdkRuntime(grid, cmaddr="1.2.3.4:9000").dump_core("corefile.cs1")


def test_launch(running: SdkRuntime) -> None:
    """HOST-025, HOST-027, HOST-031: blocking, the function has run on return; what returns is a Task."""
    running.memcpy_h2d(running.get_id("real"), np.ones(36, np.float32), 0, 0, 3, 2, 6, **WORDS)
    task = running.launch("double", nonblock=False)
    assert isinstance(task, Task)
    assert running.is_task_done(task) is True
    assert_array_equal(read(running, "real", 6), np.full((2, 3, 6), 2.0))
    running.stop()


def test_tasks(running: SdkRuntime) -> None:
    """HOST-027, HOST-029, HOST-030, HOST-031: a handle tells whether its command is done, and waits for it."""
    data, out = np.ones(36, np.float32), np.zeros(36, np.float32)
    later = {**WORDS, "nonblock": True}
    first = running.memcpy_h2d(running.get_id("real"), data, 0, 0, 3, 2, 6, **later)
    second = running.launch("double", nonblock=True)
    third = running.memcpy_d2h(out, running.get_id("real"), 0, 0, 3, 2, 6, **later)
    assert all(isinstance(task, Task) for task in (first, second, third))
    assert repr(second) == "<Task launch of 'double': pending>"
    running.task_wait(second)
    assert running.is_task_done(first) and running.is_task_done(second)
    running.task_wait(third)
    assert_array_equal(out, 2 * data)
    running.task_wait(third)
    running.stop()


def test_asking_makes_progress(running: SdkRuntime) -> None:
    """HOST-029: a loop that asks until a task is done ends."""
    task = running.launch("double", nonblock=True)
    while not running.is_task_done(task):
        pass
    running.stop()


def test_arrays_belong_to_the_script(running: SdkRuntime) -> None:
    """What a command sends is what its array held when it was given."""
    data = np.ones(36, np.float32)
    running.memcpy_h2d(running.get_id("real"), data, 0, 0, 3, 2, 6, **{**WORDS, "nonblock": True})
    data[:] = 9
    assert_array_equal(read(running, "real", 6), np.ones((2, 3, 6)))


@pytest.mark.parametrize("handle", [None, 3, "task"])
def test_no_task(running: SdkRuntime, handle: Any) -> None:
    """HOST-032: only what this runtime returned."""
    for use in (running.is_task_done, running.task_wait):
        with pytest.raises(SdkError, match="is not a task of this SdkRuntime"):
            use(handle)


def test_task_of_another_runtime(start: Start) -> None:
    """HOST-032: a task of another runtime is refused."""
    one, other = start(), start()
    task = one.launch("double", nonblock=False)
    with pytest.raises(SdkError, match="<Task launch of 'double': done> is not a task of this SdkRuntime"):
        other.task_wait(task)


@pytest.mark.parametrize("arguments", [(np.int16(-3), np.float32(0.5)), (-3, 0.5)])
def test_launch_with_arguments(running: SdkRuntime, arguments: tuple[Any, ...]) -> None:
    """HOST-026: arguments of the function's types, or plain numbers that fit."""
    running.launch("take", *arguments, nonblock=False)
    assert_array_equal(read(running, "narrow", 4, np.uint32, 16)[:, :, 0], np.full((2, 3), 0xFFFD))
    assert_array_equal(read(running, "real", 6)[:, :, 0], np.full((2, 3), 0.5))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.int16(1),), r"take\(i16, f32\) takes 2 arguments, not 1"),
        ((np.int16(1), np.float32(1), 3), r"takes 2 arguments, not 3"),
        (
            (np.uint16(1), np.float32(1)),
            r"argument 1 of take\(i16, f32\) is .*uint16.*, but the function takes i16; pass",
        ),
        ((np.int32(1), np.float32(1)), "argument 1 .* takes i16; pass numpy.int16"),
        ((np.int16(1), np.float64(1)), "argument 2 .* takes f32; pass numpy.float32"),
        ((np.int16(1), "x"), "argument 2 .* is str 'x', but the function takes f32"),
        ((40000, 1.0), "argument 1 .* is int 40000, but the function takes i16"),
        ((1.0, 1.0), "argument 1 .* is float 1.0, but the function takes i16"),
        ((True, 1.0), "argument 1 .* is bool True, but the function takes i16"),
        ((np.zeros(2, np.int16), 1.0), "argument 1 .* takes i16"),
    ],
)
def test_wrong_arguments(running: SdkRuntime, arguments: tuple[Any, ...], message: str) -> None:
    """HOST-026: a wrong count or type is an error before anything runs."""
    with pytest.raises(SdkError, match=message):
        running.launch("take", *arguments, nonblock=False)
    running.launch("double", nonblock=False)


def test_call_passes_bits(running: SdkRuntime) -> None:
    """call() takes the bits of each argument as a 32-bit word."""
    running.call("take", [np.uint32(0xFFFD), np.float32(0.5).view(np.uint32)], nonblock=False)
    assert_array_equal(read(running, "narrow", 4, np.uint32, 16)[:, :, 0], np.full((2, 3), 0xFFFD))
    assert_array_equal(read(running, "real", 6)[:, :, 0], np.full((2, 3), 0.5))
    running.call("double", [], nonblock=True)
    with pytest.raises(SdkError, match=r"call: take\(i16, f32\) takes 2 arguments, not 0"):
        running.call("take", [])
    with pytest.raises(SdkError, match="call takes the bits of each argument as an unsigned 32-bit integer"):
        running.call("take", [1.5, 2])


@pytest.mark.parametrize("name", ["missing", "real"])
def test_no_function(running: SdkRuntime, name: str) -> None:
    with pytest.raises(SdkError, match=f"launch: the program exports no function '{name}'; it exports: double, forget"):
        running.launch(name, nonblock=False)


def test_command_stream_never_unblocked(running: SdkRuntime) -> None:
    """The commonest mistake: the function and the PEs are named."""
    message = (
        r"launch of 'forget' never completes: 4 PEs, \(1, 0\), \(2, 0\), \(1, 1\), \(2, 1\), never called "
        r"unblock_cmd_stream\(\); call it on every PE"
    )
    running.launch("forget", nonblock=False)
    with pytest.raises(SdkError, match=message):
        running.launch("double", nonblock=False)
    with pytest.raises(SdkError, match=r"launch of 'double': the run has failed before: .*launch of 'forget' never"):
        running.launch("double", nonblock=False)
    running.stop()


@pytest.mark.parametrize("nonblock", [False, True])
def test_stop_after_a_function_that_never_unblocks(
    running: SdkRuntime, nonblock: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """HOST-018: it has returned and nothing waits, so there is nothing that stop() could wait for."""
    running.launch("forget", nonblock=nonblock)
    running.stop()
    printed = capsys.readouterr().err
    assert printed.count("warning") == 1
    assert (
        "warning: stop: launch of 'forget' never completes: 4 PEs, (1, 0), (2, 0), (1, 1), (2, 1), never called "
        "unblock_cmd_stream(); call it on every PE, where the work that 'forget' starts ends"
    ) in printed


@pytest.mark.parametrize("command", ["launch", "copy", "task_wait", "is_task_done"])
def test_commands_after_a_function_that_never_unblocks(running: SdkRuntime, command: str) -> None:
    """HOST-018, HOST-029, HOST-030: all that would wait for it is a deadlock."""
    task = running.launch("forget", nonblock=False)
    data = np.zeros(36, np.float32)
    with pytest.raises(loomir.Deadlock, match="launch of 'forget' never completes: 4 PEs") as caught:
        if command == "launch":
            running.launch("double", nonblock=True)
            running.stop()
        elif command == "copy":
            running.memcpy_d2h(data, running.get_id("real"), 0, 0, 3, 2, 6, **WORDS)
        elif command == "task_wait":
            running.task_wait(task)
        else:
            while not running.is_task_done(task):
                pass
    assert caught.value.silent == ((1, 0), (2, 0), (1, 1), (2, 1))


def test_stop_with_a_function_that_waits(running: SdkRuntime) -> None:
    """HOST-018: what it waits for is pending, and stop() would wait for it too."""
    running.launch("wait", nonblock=True)
    with pytest.raises(loomir.Deadlock, match="launch of 'wait' never completes: all 6 PEs"):
        running.stop()


def test_function_that_hangs(running: SdkRuntime) -> None:
    """A hang before unblock_cmd_stream() is reported with who waits for what, and where."""
    with pytest.raises(SdkError) as caught:
        running.launch("wait", nonblock=False)
    text = str(caught.value)
    assert text.startswith("grid.csl:")
    assert "launch of 'wait' never completes: all 6 PEs never called unblock_cmd_stream()" in text
    assert "waits on input queue @from_host" in text and "for 2 of 2 wavelets" in text
    assert isinstance(caught.value, loomir.Deadlock)
    assert len(caught.value.silent) == len(caught.value.units) == 6
    assert (caught.value.queues, caught.value.missing) == (("from_host",), 12)


def test_a_launch_that_forgets_to_unblock_is_a_deadlock(running: SdkRuntime) -> None:
    running.launch("forget", nonblock=False)
    with pytest.raises(loomir.Deadlock) as caught:
        running.launch("double", nonblock=False)
    assert caught.value.silent == ((1, 0), (2, 0), (1, 1), (2, 1)) == caught.value.units
    assert caught.value.waits == () and caught.value.statistics["grid"] == [3, 2]


def test_a_hang_leaves_trace_and_core(grid: Path) -> None:
    """Whoever looks for the cause reads them, also where the script ends without stop()."""
    runner = SdkRuntime(grid)
    runner.load()
    runner.run()
    runner.memcpy_h2d(runner.get_id("real"), np.arange(36, dtype=np.float32), 0, 0, 3, 2, 6, **WORDS)
    with pytest.raises(loomir.Deadlock, match="launch of 'wait' never completes"):
        runner.launch("wait", nonblock=False)
    events = [json.loads(line) for line in Path("simfab_traces", "trace.jsonl").read_text().splitlines()]
    assert ("task", "wait") in {(event["event"], event["name"]) for event in events}
    core._held.clear()
    assert_array_equal(debug_util(grid).get_symbol(4, 1, "real", np.float32), np.arange(6))
    runtime_module.take_unstopped()


def test_failed_command_not_waited_for(running: SdkRuntime) -> None:
    """A command that fails later is reported by whoever waits next."""
    task = running.launch("wait", nonblock=True)
    with pytest.raises(SdkError, match="launch of 'wait' never completes"):
        running.stop()
    assert "pending" in repr(task)


def test_errors_are_runtime_errors(grid: Path) -> None:
    """Scripts catch the SDK's errors as RuntimeError."""
    with pytest.raises(RuntimeError):
        SdkRuntime(grid).get_id("missing")


def test_read_symbol(running: SdkRuntime) -> None:
    """Any symbol, exported or not, as bytes or elements."""
    running.stop()
    assert_array_equal(running.read_symbol(1, 1, "hidden", "int16"), [7, 7, 7])
    assert_array_equal(running.read_symbol(0, 0, "hidden"), [7, 0, 7, 0, 7, 0])
    with pytest.raises(SdkError, match=r"PE P7.1 of the fabric has no symbol 'hidden'"):
        running.read_symbol(3, 0, "hidden")


def test_log(start: Start) -> None:
    """What programs print is in sim.log, a line when it ends, with its cycle."""
    runner = start()
    Path("sim.log").write_text("of an earlier run")
    runner.launch("say", np.int16(-2), nonblock=False)
    lines = Path("sim.log").read_text().splitlines()
    assert all(line.startswith("@") for line in lines)
    texts = sorted(line.partition(" ")[2] for line in lines)
    assert texts == sorted([f"PE {x} says -2" for x in (0, 1, 2)] * 2 + ["fffe and more"] * 6)
    cycles = [int(line[1:].partition(" ")[0]) for line in lines]
    assert cycles == sorted(cycles)
    runner.stop()
    assert Path("sim.log").read_text().splitlines() == lines
