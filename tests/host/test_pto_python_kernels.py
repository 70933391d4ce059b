"""Kernels written in Python: their text, places and arguments, with stand-ins for the DSLs of PTOAS."""

import importlib.util
import io
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from loomir import LoomError, pto
from loomir.tools import loom

ROOT = Path(__file__).parents[2]

VIEW = "!pto.tensor_view<1x64xf32>"
PART = "!pto.partition_tensor_view<1x64xf32>"
TILE = "!pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=64, v_row=1, v_col=64, blayout=row_major, slayout=none_box, fractal=512, pad=0>"  # noqa: E501
TEXT = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @twice(%arg0: !pto.ptr<f32, gm>, %arg1: !pto.ptr<f32, gm>, %arg2: index) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %0 = pto.make_tensor_view %arg0, shape = [%c1, %c64], strides = [%c64, %c1] : {VIEW}
    %1 = pto.make_tensor_view %arg1, shape = [%c1, %c64], strides = [%c64, %c1] : {VIEW}
    %2 = pto.partition_view %0, offsets = [%c0, %c0], sizes = [%c1, %c64] : {VIEW} -> {PART}
    %3 = pto.partition_view %1, offsets = [%c0, %c0], sizes = [%c1, %c64] : {VIEW} -> {PART}
    %4 = pto.alloc_tile : {TILE}
    scf.for %arg3 = %c0 to %arg2 step %c1 {{
      pto.tload ins(%2 : {PART}) outs(%4 : {TILE})
      pto.tadd ins(%4, %4 : {TILE}, {TILE}) outs(%4 : {TILE})
    }}
    pto.tstore ins(%4 : {TILE}) outs(%3 : {PART})
    return
  }}
}}
"""
X = np.arange(64, dtype=np.float32)


@pytest.fixture
def dsl(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The stand-in of PTOAS's DSL, importable as `ptodsl`."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "stand_ins"))
    for name in ("ptodsl", "ptodsl.pto"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("ptodsl.pto")


class Traced:
    """A module of MLIR's bindings: operations with names, places and regions, and a text."""

    def __init__(self, text: str, names: list[Any]):
        self.text = text
        self.operation = _operation(names)

    def __str__(self) -> str:
        return self.text


def _operation(names: list[Any]) -> Any:
    name, location, *inner = names
    blocks = [SimpleNamespace(operations=[SimpleNamespace(operation=_operation(member)) for member in inner])]
    return SimpleNamespace(name=name, location=location, regions=[SimpleNamespace(blocks=blocks)] if inner else [])


def at(line: int) -> str:
    return f'loc("kernel.py":{line}:4)'


BODY = [
    ["arith.constant", "loc(unknown)"],
    ["arith.constant", at(2)],
    ["arith.constant", at(3)],
    ["pto.make_tensor_view", at(4)],
    ["pto.make_tensor_view", at(5)],
    ["pto.partition_view", at(6)],
    ["pto.partition_view", at(7)],
    ["pto.alloc_tile", at(8)],
    ["scf.for", at(9), ["pto.tload", at(10)], ["pto.tadd", at(11)], ["scf.yield", at(9)]],
    ["pto.tstore", 'loc("store"("kernel.py":12:4))'],
    ["func.return", at(13)],
]
OPERATIONS = ["builtin.module", "loc(unknown)", ["func.func", at(1), *BODY]]


def test_a_kernel_of_the_dsl_runs_with_its_arguments_in_order(dsl: Any) -> None:
    @dsl.jit(target="a5")
    def double(x_ptr: dsl.ptr(dsl.f32, "gm"), out_ptr: dsl.ptr(dsl.f32, "gm"), *, N: dsl.const_expr = 64):  # type: ignore[valid-type]
        parts = [
            dsl.partition_view(dsl.make_tensor_view(p, shape=[1, N], strides=[N, 1]), offsets=[0, 0], sizes=[1, N])
            for p in (x_ptr, out_ptr)
        ]
        tile = dsl.alloc_tile(shape=[1, N], dtype=dsl.f32)
        dsl.tile.load(parts[0], tile)
        dsl.tile.add(tile, tile, tile)
        dsl.tile.store(tile, parts[1])

    assert pto.check(double) == []
    for kernel, size in ((double, 64), (double.compile(N=8), 8)):
        x = np.arange(size, dtype=np.float32)
        result = pto.run(kernel, arch="a5", arguments=[x, np.zeros_like(x)])
        assert (result.arrays["arg1"] == 2 * x).all() and result.findings == []
    assert pto.kernel_text(double, N=8) == double.compile(N=8).mlir_text() != pto.kernel_text(double)
    with pytest.raises(TypeError, match="unknown constexpr"):
        pto.kernel_text(double, M=8)


@pytest.mark.usefixtures("dsl")
def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert _example().main() == 0
    assert capsys.readouterr().out == "right\n"


def test_the_example_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ptodsl", None)
    with pytest.raises(SystemExit, match=r"ptodsl cannot be imported .*; install the package of PTOAS"):
        _example()


def _example() -> Any:
    spec = importlib.util.spec_from_file_location("python_kernel", ROOT / "examples/pto/python_kernel.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.usefixtures("dsl")
def test_the_page_on_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"^```py\n(.*?)^```$", (ROOT / "docs/pto-python.md").read_text(), re.DOTALL | re.MULTILINE)
    # The DSL looks at the source of a function.
    script = tmp_path / "page.py"
    script.write_text(block)
    exec(compile(block, str(script), "exec", dont_inherit=True), {"np": np, "pto": pto})
    assert "func.func @double(%arg0: !pto.ptr<f32, gm>" in capsys.readouterr().out


def test_findings_and_errors_are_where_python_is() -> None:
    """The tile is stored without being written if the loop runs never."""
    module = Traced(TEXT, OPERATIONS)
    result = pto.run(module, arch="a5", arguments=[X, np.zeros_like(X), 0])
    assert [(finding.code, finding.location) for finding in result.findings] == [("unwritten-tile", "kernel.py:12:4")]
    assert (pto.run(module, arch="a5", arguments=[X, np.zeros_like(X), 1]).arrays["arg1"] == 2 * X).all()
    wide = Traced(TEXT.replace("sizes = [%c1, %c64]", "sizes = [%c64, %c64]", 1), OPERATIONS)
    with pytest.raises(LoomError, match=r"^kernel\.py:6:4: error: ") as caught:
        pto.run(wide, arch="a5", arguments=[X, np.zeros_like(X), 1])
    assert caught.value.location == "kernel.py:6:4"


@pytest.mark.parametrize("names", [["builtin.module", at(1)], [*OPERATIONS, ["func.func", at(20)]]])
def test_places_are_those_of_the_text_if_the_operations_differ(names: list[Any]) -> None:
    result = pto.run(Traced(TEXT, names), arch="a5", arguments=[X, np.zeros_like(X), 0])
    assert [finding.location for finding in result.findings] == ["<kernel>:15:5"]


def test_a_text_that_the_dsl_prints_and_we_do_not_read() -> None:
    (finding,) = pto.check(Traced(TEXT.replace("pto.tadd", "pto.taddd"), OPERATIONS))
    assert (finding.code, finding.location) == ("rejected", "<kernel>:13:7")
    assert "operation pto.taddd is not registered" in finding.message


@pytest.mark.parametrize("source", [None, 5, b"module {}", [TEXT], SimpleNamespace(text=TEXT), Traced])
def test_what_is_no_program(source: Any) -> None:
    for call in (pto.check, pto.run, pto.Program, pto.kernel_text):
        with pytest.raises(LoomError, match=r" is not a program; give a file, the text of kernels, an xDSL module, a"):
            call(source)


def test_constants_of_what_has_none() -> None:
    with pytest.raises(LoomError, match=r"a Traced has no compile-time constants; give N to the DSL"):
        pto.kernel_text(Traced(TEXT, OPERATIONS), N=8)


def test_python_files_are_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(f"open({str(tmp_path / 'done')!r}, 'w')\n")
    for command in ("check", "run"):
        assert loom.main(["pto", command, str(path)]) == 1
    assert f"{path}: error: is a Python program, which is not run here" in capsys.readouterr().err
    assert not (tmp_path / "done").exists()


def test_kernels_from_stdin(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for text, status, said in (
        (TEXT, 0, "stdin: nothing found"),
        (TEXT.replace("tadd", "taddd"), 1, "stdin:13:7: error: operation pto.taddd"),
        ("", 1, "the text contains no operation; write"),
    ):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
        assert loom.main(["pto", "check", "-"]) == status
        captured = capsys.readouterr()
        assert said in captured.out + captured.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([X], r"@twice takes 3 arguments \(arg0, arg1, arg2\), and 1 are given"),
        ([X, X, 1, 1], r"@twice takes 3 arguments \(arg0, arg1, arg2\), and 4 are given"),
        (X, r"arguments are ndarray; give a dict by name, or a list in order"),
        ("ab", r"arguments are str; give a dict by name, or a list in order"),
        ([X, None, None], r"argument 'arg2' is a number without a value; pass one"),
        ([1, X, 1], r"argument 'arg0' is a pointer to f32; pass an array"),
    ],
)
def test_wrong_arguments_in_order(arguments: Any, message: str) -> None:
    with pytest.raises(LoomError, match=message):
        pto.run(TEXT, arch="a5", arguments=arguments)


def test_an_array_that_is_not_given() -> None:
    for arguments in ([X, None, 1], {"arg0": X, "arg1": None, "arg2": 1}, {"arg0": X, "arg2": 1}):
        assert (pto.run(TEXT, arch="a5", arguments=arguments).arrays["arg1"] == 2 * X).all()  # type: ignore[arg-type]


SECOND = """  func.func @second(%arg0: TYPE) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    return
  }
}
"""


@pytest.mark.parametrize("type", ["i32", "!pto.ptr<f32, gm>"])
def test_arguments_in_order_for_kernels_that_differ(type: str) -> None:
    text = TEXT.replace("attributes {pto.entry} ", "").removesuffix("}\n") + SECOND.replace("TYPE", type)
    assert pto.check(text) == []
    message = (
        "argument 'arg0' is a number of @second and a pointer of @twice; equal names are one argument, so rename one"
        if type == "i32"
        else "@twice and @second take different arguments; give them by name: arg0, arg1, arg2"
    )
    with pytest.raises(LoomError, match=f"^error: {re.escape(message)}$"):
        pto.run(text, arch="a5", arguments=[X, X, 1])
