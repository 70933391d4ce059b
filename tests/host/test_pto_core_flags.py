"""Flags between cores in a run: `pto.sync.set`, `pto.sync.wait` and their kin."""

from __future__ import annotations

import numpy as np
import pytest

from loomir import Deadlock, LoomError, pto

ROUNDS = 3


@pytest.fixture(params=("reference", "core"), autouse=True)
def executor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_EXECUTOR", request.param)


def _set(flag: str, mode: int | None = None) -> str:
    return f"pto.sync.set <PIPE_MTE3>, {flag}{'' if mode is None else f' {{ffts_mode = {mode} : i32}}'}\n    "


def _wait(flag: str, mode: int | None = None) -> str:
    return _set(flag, mode).replace("sync.set <PIPE_MTE3>", "sync.wait <PIPE_MTE2>")


def _module(arch: str, **kernels: str) -> str:
    """Return kernels of cores: `cube`, `vector`."""
    found = f'module attributes {{pto.target_arch = "{arch}"}} {{\n'
    for kind, body in kernels.items():
        found += f"""
  func.func @{kind}(%x: !pto.ptr<i32>, %y: !pto.ptr<i32>, %flag: index)
      attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rounds = arith.constant {ROUNDS} : index
    %ten = arith.constant 10 : i32
    %lane64 = pto.get_subblock_idx
    %lane = arith.index_cast %lane64 : i64 to index
    %block64 = pto.get_block_idx
    %block = arith.index_cast %block64 : i64 to index
    %first = arith.cmpi eq, %lane, %c0 : index
    {body}
    return
  }}
"""
    return found + "}\n"


def _values(size: int = 8, flag: int = 0) -> dict[str, np.ndarray | int]:
    return {"x": np.arange(5, 5 + size, dtype=np.int32), "y": np.zeros(size, np.int32), "flag": flag}


def _copied(source: str, at: str, target: str, to: str) -> str:
    return f"""%v = pto.load_scalar %{source}[{at}] : !pto.ptr<i32> -> i32
    %w = arith.addi %v, %ten : i32
    pto.store_scalar %w, %{target}[{to}] : !pto.ptr<i32>, i32
    """


@pytest.mark.parametrize(("there", "back"), [("3", "4"), ("%flag", "4"), ("3", "%flag")])
def test_a_block_in_rounds(there: str, back: str) -> None:
    """The cube core adds to the only element of x that the first vector core keeps, in turns with both vector cores."""
    loop = "scf.for %i = %c0 to %rounds step %c1 {\n    {}}\n    "
    cube = loop.replace("{}", _copied("x", "%c0", "x", "%c0") + _set(there, 2) + _wait(back, 2), 1)
    keeps = "scf.if %first {\n" + _copied("x", "%c0", "y", "%i") + "}\n    "
    vector = loop.replace("{}", _wait(there, 2) + keeps + _set(back, 2), 1)
    flag = 3 if there == "%flag" else 4
    result = pto.run(_module("a2a3", cube=cube, vector=vector), arch="a2a3", arguments=_values(flag=flag), repeat=2)
    assert result.findings == []
    first = 5 + 10 * ROUNDS
    assert result.arrays["y"][:ROUNDS].tolist() == [first + 10 * i + 20 for i in range(ROUNDS)]


def test_two_vector_cores_exchange() -> None:
    """Each of the vector cores reads what the other has stored."""
    body = (
        "%other = arith.subi %c1, %lane : index\n    " + _copied("x", "%lane", "x", "%lane") + _set("7", 1) + _wait("7")
        + "%got = pto.load_scalar %x[%other] : !pto.ptr<i32> -> i32\n    "
        "pto.store_scalar %got, %y[%lane] : !pto.ptr<i32>, i32\n    "
    )  # fmt: skip
    result = pto.run(_module("a2a3", vector=body), arch="a2a3", lanes=2, arguments=_values())
    assert (result.arrays["y"][:2].tolist(), result.findings) == ([16, 15], [])


@pytest.mark.parametrize("waits", [True, False])
def test_all_blocks(waits: bool) -> None:
    """The core of each block reads what the next one has stored, the last one the first's, in rounds."""
    blocks = 4
    body = f"""%blocks = arith.constant {blocks} : index
    %behind = arith.addi %block, %c1 : index
    %next = arith.remui %behind, %blocks : index
    scf.for %i = %c0 to %rounds step %c1 {{
      {_copied("x", "%next", "y", "%block")}{_set("1", 0)}{_wait("1", 0) if waits else ""}
      %got = pto.load_scalar %y[%block] : !pto.ptr<i32> -> i32
      pto.store_scalar %got, %x[%block] : !pto.ptr<i32>, i32
      {_set("2", 0)}{_wait("2", 0)}
    }}
    """
    result = pto.run(_module("a2a3", cube=body), arch="a2a3", blocks=blocks, arguments=_values(blocks))
    assert {finding.code for finding in result.findings} == (set() if waits else {"global-race"})
    if waits:
        assert result.arrays["x"].tolist() == [5 + 10 * ROUNDS + (i + ROUNDS) % blocks for i in range(blocks)]


@pytest.mark.parametrize("second", [19, 3])
def test_a5_has_flags_of_the_second_vector_core(second: int) -> None:
    """The cube core waits for each vector core by a number of its own, the second first."""
    wait, own = "pto.wait_intra_block <PIPE_MTE2>, {}\n    ", "pto.set_intra_block <PIPE_MTE3>, 3\n    "
    cube = wait.format("%flag") + _copied("x", "%c1", "y", "%c1") + wait.format(3) + _copied("x", "%c0", "y", "%c0")
    cube = cube.replace("%w =", "%w2 =", 1).replace("%w,", "%w2,", 1).replace("%v", "%v2", 2)
    cube += "pto.set_intra_block <PIPE_MTE3>, 19\n    "
    vector = _copied("x", "%lane", "x", "%lane") + own
    kernels = _module("a5", cube=cube, vector=vector)
    values = _values(flag=second)
    if second == 19:
        result = pto.run(kernels, arch="a5", arguments=values)
        assert (result.arrays["y"][:2].tolist(), result.findings) == ([25, 26], [])
    else:
        said = (
            r"block 0 AIC: @\w+ waits \(<text>:\d+:5\) for flag 3 of AIV0 of its block on PIPE_MTE2, which is set by "
            r"pto.set_intra_block on PIPE_MTE3 at <text>:\d+:5: it has been set once, this is wait 2 for it"
        )
        with pytest.raises(Deadlock, match=said):
            pto.run(kernels, arch="a5", arguments=values)


@pytest.mark.slow
def test_a_set_is_missing() -> None:
    kernels = _module("a2a3", cube=_set("3"), vector=_wait("3") + _wait("3"))
    said = (
        r"AIV0.*waits .* for flag 3 of AIC of its block in mode 2 on PIPE_MTE2, which is set by pto.sync.set on "
        r"PIPE_MTE3 at <text>:\d+:5: it has been set once, this is wait 2 for it, and nothing sets it any "
        r"more; set it before"
    )
    with pytest.raises(Deadlock, match=said) as error:
        pto.run(kernels, arch="a2a3", arguments=_values())
    (finding,) = error.value.findings
    assert finding.code == "unset-flag" and "waits for flag 3 of block 0 AIC, which has ended" in finding.message


@pytest.mark.parametrize(
    ("there", "said"),
    [
        (
            _set("3", 0),
            "which is set by nothing in this module, but pto.sync.set on PIPE_MTE3 at .*:15:5 in mode 0",
        ),
        (_set("4"), "which is set by nothing in this module: it has not been set"),
        (_set("%flag"), "which is set by pto.sync.set on PIPE_MTE3 at <text>:15:5: it has not been set"),
    ],
)
def test_another_flag_is_set(there: str, said: str) -> None:
    """The report of a wait that never ends names what sets the flag, in another mode too, or that nothing does."""
    kernels = _module("a2a3", cube=there, vector=_wait("3", 2))
    with pytest.raises(Deadlock, match=f"waits .*for flag 3 of AIC of its block in mode 2 on PIPE_MTE2, {said}"):
        pto.run(kernels, arch="a2a3", arguments=_values(flag=5), check=False)


@pytest.mark.parametrize(
    ("kernels", "flag", "said"),
    [
        ({"cube": _wait("3")}, 0, "waits for a flag of the vector cores, and no kernel of this module runs there"),
        ({"vector": _wait("3")}, 0, "waits for a flag of the cube core, and no kernel of this module runs there"),
        ({"cube": _set("%flag"), "vector": ""}, 32, "flags between cores have numbers from 0 to 31"),
        ({"cube": _set("%flag"), "vector": ""}, -1, "flags between cores have numbers from 0 to 31"),
        ({"cube": _set("3", 0) + _set("4"), "vector": _wait("%flag")}, 4, "flags are set in several modes; give it"),
    ],
)
def test_wrong_flags(kernels: dict[str, str], flag: int, said: str) -> None:
    with pytest.raises(LoomError, match=said):
        pto.run(_module("a2a3", **kernels), arch="a2a3", arguments=_values(flag=flag))


def test_devices_have_flags_of_their_own() -> None:
    """Mode 0 waits for the cores of one device."""
    kernels = _module("a2a3", cube=_set("1", 0) + _wait("1", 0) + _copied("x", "%block", "y", "%block"))
    values = {"x": [np.full(2, 1, np.int32), np.full(2, 2, np.int32)], "y": np.zeros(2, np.int32), "flag": 0}
    result = pto.run(kernels, arch="a2a3", blocks=2, devices=2, arguments=values)
    assert result.arrays["y"].tolist() == [[11, 11], [12, 12]]
