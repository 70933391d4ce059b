"""loom python: scripts run as Python runs them, with the SDK's modules provided."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ..host.sdk.programs import write_grid
from .conftest import Run, one_error

Script = Callable[..., str]


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_grid(tmp_path_factory.mktemp("grid") / "out")


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Script:
    """Writes a host script; the working directory is a fresh one."""
    monkeypatch.chdir(tmp_path)

    def script(text: str, name: str = "run.py") -> str:
        (tmp_path / name).write_text(text)
        return name

    return script


def test_script_sees_what_python_shows(run_loom: Run, script: Script, tmp_path: Path) -> None:
    script("value = 42\n", "neighbor.py")
    (tmp_path / "deeper").mkdir()
    name = script(
        "import sys, neighbor, os\n"
        "here = os.path.dirname(os.path.realpath(__file__))\n"
        "print(sys.argv, __name__, os.path.basename(__file__), sys.path[0] == here)\n"
        "print(neighbor.value, sys.modules['__main__'].__dict__ is globals())\n"
    )
    outcome = run_loom("python", name, "--name", "out", "-h")
    assert outcome.status == 0, outcome.err
    assert outcome.out == "['run.py', '--name', 'out', '-h'] __main__ run.py True\n42 True\n"


def test_code_and_modules(run_loom: Run, script: Script) -> None:
    assert run_loom("python", "-c", "import sys; print(sys.argv)", "a").out == "['-c', 'a']\n"
    script("import sys; print(__name__, sys.argv[1:])\n", "some_module.py")
    assert run_loom("python", "-u", "-m", "some_module", "b").out == "__main__ ['b']\n"


def test_words_of_clocks_are_joined_as_numpy_1_joins_them(run_loom: Run, script: Script) -> None:
    """NumPy 2 makes 0 of a u16 shifted by 16 or more; other shifts are the interpreter's."""
    name = script(
        "import numpy as np\n"
        "def joined(words):\n"
        "    return words[0] + (words[1] << 16) + (words[2] << 32)\n"
        "print(joined(np.array([5, 1, 2], np.uint16)), joined([5, 1, 2]))\n"
        "print(np.uint32(3) << 32, np.array([1, 2], np.uint16) << 1, type(np.uint16(1) << np.uint16(3)).__name__)\n"
        "1 << 'a'\n"
    )
    outcome = run_loom("python", name)
    assert outcome.status == 1
    assert outcome.out.splitlines()[:2] == ["8590000133 8590000133", "12884901888 [2 4] uint16"]
    assert f'{name}", line 6' in outcome.err and "TypeError: unsupported operand" in outcome.err


JOINS = "import numpy as np\ndef joined():\n    return int(np.uint16(1) << 16)\n"


def test_words_are_joined_in_own_modules_too(run_loom: Run, script: Script, tmp_path: Path) -> None:
    """In those beside the script and below it, cached by Python or not, not in what is installed there or elsewhere."""
    script(JOINS, "beside.py")
    for folder in ("pack", "env/lib/python3/site-packages", "../elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
    script("from . import inner\njoined = inner.joined\n", "pack/__init__.py")
    script(JOINS, "pack/inner.py")
    script(JOINS, "env/lib/python3/site-packages/installed.py")
    script(JOINS, "../elsewhere/foreign.py")
    name = script(
        "import sys\nsys.path += ['env/lib/python3/site-packages', '../elsewhere']\n"
        "import beside, pack, installed, foreign\n"
        "print(beside.joined(), pack.joined(), installed.joined(), foreign.joined(), pack.inner.__file__[-13:])\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    # Python leaves code of its own.
    subprocess.run([sys.executable, name], check=True, capture_output=True, env=environment)
    assert list(tmp_path.glob("__pycache__/beside.*"))
    before = list(sys.meta_path)
    for arguments in (["run.py"], ["-m", "run"], ["-c", "import run"]):
        outcome = run_loom("python", *arguments)
        assert (outcome.status, outcome.out) == (0, "65536 65536 0 0 pack/inner.py\n"), outcome.err
        for each in ("beside", "pack", "pack.inner", "installed", "foreign", "run"):
            sys.modules.pop(each, None)
    assert sys.meta_path == before
    subprocess.run([sys.executable, "-c", "import beside; assert beside.joined() == 0"], check=True)


def test_the_end_of_a_script(script: Script, tmp_path: Path) -> None:
    """The collector need not go over what was loaded before, and files that a script leaves open get what it wrote.

    Its functions refer to its names, those to them: what the collector finds of that would be closed in any order.
    """
    name = script(
        "import atexit, gc\n"
        "kept = open('kept.txt', 'w')\n"
        "_last = 'the end'\n"
        "class Closed:\n    def __del__(self):\n        print('closed', _last, file=kept)\n"
        "closed = Closed()\n"
        "def write():\n    print(gc.get_freeze_count() > 10000, file=kept)\n"
        "atexit.register(write)\n"
    )
    subprocess.run([sys.executable, "-P", "-m", "loomir.tools.loom", "python", name], check=True, cwd=tmp_path)
    ours = (tmp_path / "kept.txt").read_text()
    subprocess.run([sys.executable, name], check=True, cwd=tmp_path)
    assert ours == (tmp_path / "kept.txt").read_text().replace("False", "True") != ""


def test_sdk_modules(run_loom: Run) -> None:
    """HOST-001, HOST-052, HOST-053, HOST-054, HOST-070: the names that the manual gives, importable both ways."""
    code = """
import cerebras.sdk.sdk_utils
from cerebras.sdk import sdk_utils
from cerebras.sdk.sdk_utils import calculate_cycles, input_array_to_u32, memcpy_view
from cerebras.sdk.runtime.sdkruntimepybind import SdkRuntime, MemcpyDataType, MemcpyOrder, Task
from cerebras.sdk.runtime import sdkruntimepybind
from cerebras.sdk.runtime.sdkruntimepybind import (
    SdkLayout, CodeRegion, Color, Edge, EdgeRouteInfo, FP16TYPE, PortHandle, Route, RoutingPosition, get_edge_routing,
    SdkCompileArtifacts, SdkExecutionPlatform, SdkTarget, SimfabConfig, get_platform, get_simulator, get_system,
)
from cerebras.sdk.debug.debug_util import debug_util
from cerebras.geometry.geometry import IntVector, IntRectangle
assert sdk_utils.memcpy_view is memcpy_view
assert SdkRuntime.__mro__[1:] == (object,) and debug_util.__mro__[1:] == (object,)
print(IntRectangle(IntVector(0, 1), IntVector(2, 3)).lr.x)
try:
    import cerebras.sdk.missing
except ModuleNotFoundError as error:
    print(error)
"""
    outcome = run_loom("python", "-c", code)
    assert outcome.status == 0, outcome.err
    assert outcome.out == "2\nNo module named 'cerebras.sdk.missing'\n"


@pytest.mark.parametrize(
    ("code", "err"),
    [
        (
            "from cerebras.sdk.client import SdkCompiler",
            "error: SdkCompiler: there is no appliance to connect to; compile with cslc and use SdkRuntime of "
            "cerebras.sdk.runtime.sdkruntimepybind",
        ),
    ],
)
def test_names_that_are_not_provided(run_loom: Run, script: Script, code: str, err: str) -> None:
    outcome = run_loom("python", script(code))
    assert outcome.status == 1
    assert outcome.err.splitlines() == [err, f"run.py:1: note: called from here: {code}"]


def test_names_that_the_sdk_does_not_have(run_loom: Run) -> None:
    code = "from cerebras.sdk.runtime import sdkruntimepybind as sdk; print(hasattr(sdk, 'SdkRuntimes')); sdk.Missing"
    outcome = run_loom("python", "-c", code)
    assert (outcome.status, outcome.out) == (1, "False\n")
    assert outcome.err.endswith("has no attribute 'Missing'\n")


def test_no_package_is_installed() -> None:
    """Outside loom python there is no package of the SDK's name."""
    ended = subprocess.run([sys.executable, "-c", "import loomir.host.sdk, cerebras"], capture_output=True, check=False)
    assert b"No module named 'cerebras'" in ended.stderr


@pytest.mark.parametrize(
    ("code", "status", "err"),
    [
        ("import sys; sys.exit(3)", 3, ""),
        ("raise SystemExit", 0, ""),
        ("import sys; sys.exit('done for')", 1, "done for\n"),
        ("exit(True)", 1, ""),
    ],
)
def test_exit_status(run_loom: Run, code: str, status: int, err: str) -> None:
    outcome = run_loom("python", "-c", code)
    assert (outcome.status, outcome.err) == (status, err)


def test_own_exceptions_are_shown_as_python_shows_them(run_loom: Run, script: Script) -> None:
    name = script("def f():\n    assert 1 == 2, 'not equal'\nf()\n")
    outcome = run_loom("python", name)
    assert outcome.status == 1
    lines = outcome.err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1] == '  File "run.py", line 3, in <module>'
    assert lines[-1] == "AssertionError: not equal"
    assert "loomir" not in outcome.err


def test_syntax_error(run_loom: Run, script: Script) -> None:
    outcome = run_loom("python", script("x = = 1\n"))
    assert outcome.status == 1
    assert outcome.err.splitlines()[0] == '  File "run.py", line 1'
    assert outcome.err.splitlines()[-1] == "SyntaxError: invalid syntax"


RUNTIME = """\
import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import SdkRuntime, MemcpyDataType, MemcpyOrder
runner = SdkRuntime({out!r}, suppress_simfab_trace=True)
"""


@pytest.mark.slow
def test_our_errors_are_one_message(run_loom: Run, script: Script, artifact: Path) -> None:
    """The message, and the line of the script that led to it; no traceback."""
    name = script(RUNTIME.format(out=str(artifact)) + "def find():\n    return runner.get_id('missing')\nfind()\n")
    outcome = run_loom("python", name)
    assert outcome.status == 1
    assert outcome.err.splitlines() == [
        "error: the program exports no symbol 'missing'; it exports wide, real, narrow, single, half, fixed, double, "
        "forget, take, echo, wait, say, pointed",
        "run.py:5: note: called from here: return runner.get_id('missing')",
    ]


def test_scripts_catch_our_errors(run_loom: Run, script: Script, artifact: Path) -> None:
    name = script(
        RUNTIME.format(out=str(artifact))
        + "try:\n    runner.get_id('missing')\nexcept RuntimeError as error:\n    print('caught')\n"
    )
    outcome = run_loom("python", name)
    assert (outcome.status, outcome.out) == (0, "caught\n")


@pytest.mark.parametrize("ending", ["", "import sys; sys.exit(0)"])
def test_forgotten_stop(run_loom: Run, script: Script, artifact: Path, ending: str) -> None:
    """HOST-020: a program that ends without stop() ends in an error."""
    text = RUNTIME.format(out=str(artifact)) + "runner.load()\nrunner.run()\nrunner.launch('double', nonblock=False)\n"
    outcome = run_loom("python", script(text + ending))
    one_error(outcome, "the program ends without SdkRuntime.stop(); call it when all is done")


def test_a_failed_script_gets_no_note_about_stop(run_loom: Run, script: Script, artifact: Path) -> None:
    """HOST-020: what ended the script is the error, not that it did not come to stop()."""
    outcome = run_loom(
        "python", script(RUNTIME.format(out=str(artifact)) + "runner.load()\nraise ValueError('mine')\n")
    )
    assert outcome.status == 1
    assert "stop()" not in outcome.err and outcome.err.endswith("ValueError: mine\n")


def test_stopped(run_loom: Run, script: Script, artifact: Path) -> None:
    """HOST-020: with stop() all is well."""
    outcome = run_loom(
        "python", script(RUNTIME.format(out=str(artifact)) + "runner.load()\nrunner.run()\nrunner.stop()")
    )
    assert (outcome.status, outcome.err) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no script is named; usage: loom python"),
        (["missing.py"], "missing.py: error: does not exist; name a Python script"),
        (["."], ".: error: is not a file; name a Python script"),
        (["--name", "out"], "unrecognized argument --name; usage"),
        (["-c"], "-c needs an argument; usage"),
        (["-m"], "-m needs an argument; usage"),
    ],
)
def test_wrong_arguments(
    run_loom: Run, arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    one_error(run_loom("python", *arguments), message)


@pytest.mark.slow
def test_compiler_on_path(run_loom: Run, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts that call the compiler themselves find it, and PATH is as before afterwards."""
    path = os.environ["PATH"]
    name = script("import shutil, subprocess\nprint(subprocess.call([shutil.which('cslc'), '--bogus']))\n")
    outcome = run_loom("python", name)
    assert outcome.status == 0 and outcome.out == "1\n"
    assert "error: " in outcome.err and "cslc --help" in outcome.err
    assert os.environ["PATH"] == path


@pytest.mark.slow
def test_working_directory_does_not_shadow(run_loom: Run, script: Script) -> None:
    """Modules of the working directory are not ours, even if they are named like those we import."""
    script("raise SystemExit('shadowed')\n", "json.py")
    name = script(
        "import subprocess\nraise SystemExit(subprocess.call(['cslc', '--help'], stdout=subprocess.DEVNULL))\n"
    )
    assert run_loom("python", name).status == 0


def test_help(run_loom: Run) -> None:
    outcome = run_loom("python", "--help")
    assert outcome.status == 0 and outcome.out.startswith("usage: loom python ")
    assert "LOOM_STEP_LIMIT" in outcome.out and "LOOM_NOTICE_AFTER" in outcome.out


SENDS_THREE = """
const memcpy = @import_module("<memcpy/get_params>", .{ .width = 1, .height = 1, .MEMCPYD2H_1 = @get_color(5) });
layout {
  @set_rectangle(1, 1);
  @set_tile_code(0, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(0) });
  @export_name("main", fn()void);
}
"""

SENDER = """
param memcpy_params;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const oq = @get_output_queue(2);
const out = @get_dsd(fabout_dsd, .{ .extent = 3, .fabric_color = sys.MEMCPYD2H_1, .output_queue = oq });
fn main() void { @mov32(out, 7); sys.unblock_cmd_stream(); }
comptime {
  if (@is_arch("wse3")) @initialize_queue(oq, .{ .color = sys.MEMCPYD2H_1 });
  @export_symbol(main);
}
"""

COMPARES = """
import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import MemcpyDataType, MemcpyOrder, SdkRuntime
runner = SdkRuntime("out")
runner.load()
runner.run()
runner.launch("main", nonblock=False)
result = np.zeros({count}, np.uint32)
runner.memcpy_d2h(result, 5, 0, 0, 1, 1, {count}, streaming=True, order=MemcpyOrder.ROW_MAJOR,
                  data_type=MemcpyDataType.MEMCPY_32BIT, nonblock=False)
np.testing.assert_array_equal(result, {expected})
runner.stop()
"""


@pytest.mark.parametrize(
    ("count", "expected", "is_told", "status"), [(2, 8, True, 1), (3, 8, False, 1), (3, 7, False, 0)]
)
def test_unread_wavelets_beside_a_wrong_result(
    run_loom: Run, script: Script, tmp_path: Path, count: int, expected: int, is_told: bool, status: int
) -> None:
    """A script that ends with an error before stop() is told of wavelets that nothing has read."""
    (tmp_path / "layout.csl").write_text(SENDS_THREE)
    (tmp_path / "pe.csl").write_text(SENDER)
    flags = ("--arch=wse3", "--fabric-dims=8,3", "--fabric-offsets=4,1", "--memcpy", "--channels=1", "-o", "out")
    assert run_loom("cslc", "layout.csl", *flags).status == 0
    outcome = run_loom("python", script(COMPARES.format(count=count, expected=expected)))
    assert outcome.status == status
    assert ("AssertionError" in outcome.err) == (status == 1)
    told = [line for line in outcome.err.splitlines() if line.startswith("warning: ")]
    assert len(told) == is_told, outcome.err
    if is_told:
        assert told[0].startswith("warning: when the script ends: 1 wavelet of color ")
