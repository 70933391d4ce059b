"""Several devices: copies between their memories, signals, and collectives, with numpy as the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest

from loomir import Deadlock, LoomError, pto

EXECUTORS = ("reference", "core")
SIZE = 64
DEVICES = 4


@pytest.fixture(params=EXECUTORS, autouse=True)
def executor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_EXECUTOR", request.param)


def _view(name: str, pointer: str, size: int = SIZE, element: str = "f32") -> str:
    return f"""%{name}_view = pto.make_tensor_view %{pointer}, shape = [%c1, %c{size}], strides = [%c{size}, %c1]
      : !pto.tensor_view<1x{size}x{element}>
    %{name}_part = pto.partition_view %{name}_view, offsets = [%c0, %c0], sizes = [%c1, %c{size}]
      : !pto.tensor_view<1x{size}x{element}> -> !pto.partition_tensor_view<1x{size}x{element}>
    """


PART, WORD = f"!pto.partition_tensor_view<1x{SIZE}xf32>", "!pto.partition_tensor_view<1x1xi32>"
TILE = f"!pto.tile_buf<vec, 1x{SIZE}xf32>"


def _kernel(arguments: str, body: str) -> str:
    sizes = "".join(f"%c{n} = arith.constant {n} : index\n    " for n in (0, 1, SIZE, SIZE * DEVICES))
    return f"""
module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel({arguments}) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    {sizes}%one = arith.constant 1 : i32
    %tile = pto.alloc_tile : {TILE}
    %other = pto.alloc_tile : {TILE}
    {body}
    return
  }}
}}
"""


def _put(target: str, source: str, atomic: str = "none") -> str:
    return (
        f"pto.comm.tput(%{target}_part, %{source}_part, buf(%tile) : {PART}, {PART}, {TILE}) "
        f"{{atomicType = #pto<atomic_type atomic_{atomic}>}}\n    "
    )


def _notify(signal: str, how: str = "atomic_add") -> str:
    return f"pto.comm.tnotify(%{signal}_part, %one : {WORD}, i32) {{notifyOp = #pto<notify_op {how}>}}\n    "


def _await(signal: str, wanted: str, how: str = "ge") -> str:
    return f"pto.comm.twait(%{signal}_part, %{wanted} : {WORD}, i32) {{cmp = #pto<wait_cmp {how}>}}\n    "


DOUBLE = f"""pto.tload ins(%out_part : {PART}) outs(%tile : {TILE})
    pto.tadd ins(%tile, %tile : {TILE}, {TILE}) outs(%other : {TILE})
    pto.tstore ins(%other : {TILE}) outs(%twice_part : {PART})
    """

RING_ARGUMENTS = (
    "%x: !pto.ptr<f32>, %out: !pto.ptr<f32>, %twice: !pto.ptr<f32>, %next: !pto.ptr<f32>, %signal: !pto.ptr<i32>, "
    "%signal_next: !pto.ptr<i32>, %wanted: i32"
)
RING_VIEWS = (
    _view("x", "x") + _view("out", "out") + _view("twice", "twice") + _view("next", "next")
    + _view("signal", "signal", 1, "i32") + _view("signal_next", "signal_next", 1, "i32")
)  # fmt: skip


def _ring(*parts: str) -> str:
    return _kernel(RING_ARGUMENTS, RING_VIEWS + "".join(parts))


def _ring_values(wanted: int = 1) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    neighbors = [(device + 1) % DEVICES for device in range(DEVICES)]
    return {
        "x": [rng.standard_normal(SIZE).astype(np.float32) for _ in range(DEVICES)],
        "out": np.zeros(SIZE, np.float32),
        "twice": np.zeros(SIZE, np.float32),
        "next": [pto.Peer("out", device) for device in neighbors],
        "signal": np.zeros(1, np.int32),
        "signal_next": [pto.Peer("signal", device) for device in neighbors],
        "wanted": wanted,
    }


def test_ring() -> None:
    """Each device puts its array into the next, signals it, and doubles what it has got."""
    values = _ring_values()
    result = pto.run(
        _ring(_put("next", "x"), _notify("signal_next"), _await("signal", "wanted"), DOUBLE), devices=DEVICES,
        arguments=values,
    )  # fmt: skip
    for device in range(DEVICES):
        assert (result.arrays["twice"][device] == 2 * values["x"][device - 1]).all()
    assert result.arrays["signal"].tolist() == [[1]] * DEVICES
    assert result.findings == []


def test_signals_kept_for_the_next_launch() -> None:
    """They let its waits pass before anything has come, unless the program sets them back."""
    parts = (_put("next", "x"), _notify("signal_next"), _await("signal", "wanted"), DOUBLE)
    back = "%none = arith.constant 0 : i32\n    " + _notify("signal", "set").replace("%one", "%none")
    for text, repeat, codes in (
        (_ring(*parts), 2, ["stale-signal"]), (_ring(*parts, back), 2, []), (_ring(*parts), 1, []),
    ):  # fmt: skip
        found = pto.run(text, devices=DEVICES, arguments=_ring_values(), repeat=repeat).findings
        assert [finding.code for finding in found] == codes
        for finding in found:
            assert finding.severity == "warning"
            assert "is 0 before the first of 2 launches and 1 behind it, and the wait is for ge 1" in finding.message


SPIN = f"""scf.while () : () -> () {{
      %come = pto.comm.ttest(%signal_part, %wanted : {WORD}, i32) {{cmp = #pto<wait_cmp ge>}} -> i1
      %again = arith.xori %come, %yes : i1
      scf.condition(%again)
    }} do {{
      scf.yield
    }}
    """
CARRIED = f"""%asked = scf.while (%done = %no) : (i1) -> i1 {{
      %again = arith.xori %done, %yes : i1
      scf.condition(%again) %done : i1
    }} do {{
    ^bb0(%before: i1):
      %come = pto.comm.ttest(%signal_part, %wanted : {WORD}, i32) {{cmp = #pto<wait_cmp ge>}} -> i1
      scf.yield %come : i1
    }}
    """


@pytest.mark.parametrize("spin", [SPIN, CARRIED], ids=["condition", "carried"])
def test_loops_that_ask_for_a_signal(spin: str) -> None:
    """They wait as twait does, are behind the notification, and never end without it."""
    bits = "%yes = arith.constant true\n    %no = arith.constant false\n    "
    values = _ring_values()
    result = pto.run(
        _ring(bits, _put("next", "x"), _notify("signal_next"), spin, DOUBLE), devices=DEVICES, arguments=values
    )
    for device in range(DEVICES):
        assert (result.arrays["twice"][device] == 2 * values["x"][device - 1]).all()
    assert result.findings == []
    early = pto.run(
        _ring(bits, _notify("signal_next"), _put("next", "x"), spin, DOUBLE), devices=DEVICES, arguments=_ring_values()
    )
    assert {finding.code for finding in early.findings} == {"global-race"}
    with pytest.raises(Deadlock, match=r"waits for a signal .*, which is 0 where it is compared with 1"):
        pto.run(_ring(bits, spin, DOUBLE), devices=DEVICES, arguments=_ring_values())


def test_a_signal_asked_for_once() -> None:
    """What that returns depends on the moment, so the check says that it compares nothing."""
    ask = SPIN[SPIN.index("%come") : SPIN.index("%again")] + "scf.if %come {\n" + DOUBLE + "}\n    "
    result = pto.run(_ring(_put("next", "x"), _notify("signal_next"), ask), devices=DEVICES, arguments=_ring_values())
    (note,) = result.findings
    assert (note.code, note.severity) == ("unchecked-order", "note")
    assert "pto.comm.ttest orders them and what it returns depends on when it is asked" in note.message


@pytest.mark.parametrize(
    "parts",
    [
        (_put("next", "x"), _notify("signal_next"), DOUBLE),
        (_notify("signal_next"), _put("next", "x"), _await("signal", "wanted"), DOUBLE),
        (_put("next", "x"), _notify("signal_next"), _await("signal", "wanted", "le"), DOUBLE),
    ],
    ids=["no wait", "signal first", "wait that holds at once"],
)
def test_races(parts: Sequence[str]) -> None:
    """A put that is not waited for, or signalled too early, races."""
    result = pto.run(_ring(*parts), devices=DEVICES, arguments=_ring_values())
    assert {finding.code for finding in result.findings} == {"global-race"}
    assert all("and nothing orders the two; let the first signal the other device" in finding.message
               for finding in result.findings)  # fmt: skip


@pytest.mark.slow
def test_a_wait_for_less_than_all_signals() -> None:
    """Device 0 gets parts of two others and waits for one signal: which part has come, nobody knows."""
    arguments = (
        "%x: !pto.ptr<f32>, %out: !pto.ptr<f32>, %twice: !pto.ptr<f32>, %first: !pto.ptr<f32>, %signal: !pto.ptr<i32>, "
        "%signal_first: !pto.ptr<i32>, %wanted: i32, %rank: i32"
    )
    body = (
        _view("x", "x") + _view("out", "out") + _view("twice", "twice") + _view("first", "first")
        + _view("signal", "signal", 1, "i32") + _view("signal_first", "signal_first", 1, "i32")
        + "%zero = arith.constant 0 : i32\n    %is_first = arith.cmpi eq, %rank, %zero : i32\n    scf.if %is_first {\n"
        + _await("signal", "wanted") + DOUBLE + "} else {\n" + _put("first", "x", "add") + _notify("signal_first")
        + "}"
    )  # fmt: skip
    x = np.arange(SIZE, dtype=np.float32)

    def run(wanted: int) -> pto.Result:
        values: dict[str, Any] = {
            "x": [x, 2 * x, 3 * x], "out": np.zeros_like(x), "twice": np.zeros_like(x), "first": pto.Peer("out", 0),
            "signal": np.zeros(1, np.int32), "signal_first": pto.Peer("signal", 0), "wanted": wanted, "rank": [0, 1, 2],
        }  # fmt: skip
        return pto.run(_kernel(arguments, body), devices=3, arguments=values)

    right = run(2)
    assert right.findings == []
    assert (right.arrays["twice"][0] == 10 * x).all()
    assert {finding.code for finding in run(1).findings} == {"global-race"}
    with pytest.raises(Deadlock, match="which is 2 where it is compared with 3, and nothing changes it any more"):
        run(3)


@pytest.mark.parametrize("step", [1, -1])
def test_a_chain(step: int) -> None:
    """Each device waits for the one behind it, or before it, and then puts on what it has got."""
    arguments = RING_ARGUMENTS + ", %rank: i32, %first: i32"
    body = (
        RING_VIEWS + "%is_first = arith.cmpi eq, %rank, %first : i32\n    scf.if %is_first {\n" + _put("next", "x")
        + "} else {\n" + _await("signal", "wanted") + _put("next", "out") + "}\n    " + _notify("signal_next")
    )  # fmt: skip
    neighbors = [(device + step) % DEVICES for device in range(DEVICES)]
    values = _ring_values() | {
        "next": [pto.Peer("out", device) for device in neighbors],
        "signal_next": [pto.Peer("signal", device) for device in neighbors],
        "rank": list(range(DEVICES)),
        "first": 0 if step > 0 else DEVICES - 1,
    }
    result = pto.run(_kernel(arguments, body), devices=DEVICES, arguments=values)
    assert (result.arrays["out"] == values["x"][values["first"]]).all()
    assert (result.arrays["signal"] == 1).all()
    assert result.findings == []


def _slot(name: str, pointer: str) -> str:
    """Return the part of an array that is the slot of a round, of two."""
    whole = f"!pto.tensor_view<1x{SIZE * DEVICES}xf32>"
    return f"""%{name}_view = pto.make_tensor_view %{pointer}, shape = [%c1, %c{SIZE * DEVICES}],
      strides = [%c{SIZE * DEVICES}, %c1] : {whole}
    %{name}_part = pto.partition_view %{name}_view, offsets = [%c0, %at], sizes = [%c1, %c{SIZE}] : {whole} -> {PART}
    """


@pytest.mark.parametrize(
    ("waits_for", "slots_free", "codes"), [(1, 1, set[str]()), (0, 1, {"global-race"}), (1, 2, {"global-race"})]
)
def test_back_pressure(waits_for: int, slots_free: int, codes: set[str]) -> None:
    """Each device puts into two slots of the next: a wait for the first signals of one device is behind those."""
    arguments = RING_ARGUMENTS + ", %taken: !pto.ptr<i32>, %taken_before: !pto.ptr<i32>, %free: i32"
    body = (
        _view("x", "x") + _view("twice", "twice") + "".join(
            _view(name, name, 1, "i32") for name in ("signal", "signal_next", "taken", "taken_before")
        )
        + f"""%rounds = arith.constant {DEVICES} : index
    %c2 = arith.constant 2 : index
    scf.for %i = %c0 to %rounds step %c1 {{
      %slot = arith.remui %i, %c2 : index
      %at = arith.muli %slot, %c{SIZE} : index
      %done = arith.index_cast %i : index to i32
      %some = arith.addi %done, %wanted : i32
      %least = arith.subi %done, %free : i32
      """
        + _slot("out", "out") + _slot("next", "next") + _await("taken", "least") + _put("next", "x")
        + _notify("signal_next") + _await("signal", "some") + DOUBLE + _notify("taken_before") + "}\n"
    )  # fmt: skip
    values = _ring_values(waits_for) | {
        "out": np.zeros(SIZE * DEVICES, np.float32),
        "taken": np.zeros(1, np.int32),
        "taken_before": [pto.Peer("taken", (device - 1) % DEVICES) for device in range(DEVICES)],
        "free": slots_free,
    }
    result = pto.run(_kernel(arguments, body), devices=DEVICES, arguments=values)
    assert {finding.code for finding in result.findings} == codes
    if not codes:
        assert all((result.arrays["twice"][device] == 2 * values["x"][device - 1]).all() for device in range(DEVICES))


@pytest.mark.slow
def test_a_missing_signal() -> None:
    with pytest.raises(Deadlock, match=r"device 0 block 0 AIV0.*waits for a signal .*which is 0 where it is compared"):
        pto.run(_ring(_put("next", "x"), _await("signal", "wanted"), DOUBLE), devices=DEVICES,
                arguments=_ring_values())  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("how", "first", "wanted", "waits"),
    [
        ("eq", 4, 4, False), ("eq", 4, 5, True), ("ne", 4, 5, False), ("ne", 4, 4, True), ("gt", 4, 3, False),
        ("gt", 4, 4, True), ("ge", 4, 4, False), ("ge", 4, 5, True), ("lt", -4, -3, False), ("lt", 4, 4, True),
        ("le", 4, 4, False), ("le", 4, 3, True),
    ],
)  # fmt: skip
def test_comparisons(how: str, first: int, wanted: int, waits: bool) -> None:
    """Signals have a sign."""
    kernel = _kernel(
        "%signal: !pto.ptr<i32>, %wanted: i32", _view("signal", "signal", 1, "i32") + _await("signal", "wanted", how)
    )
    values = {"signal": np.array([first], np.int32), "wanted": wanted}
    if waits:
        with pytest.raises(Deadlock):
            pto.run(kernel, devices=2, arguments=values)
    else:
        pto.run(kernel, devices=2, arguments=values)


GROUP = ", ".join(f"%g{device}: !pto.ptr<f32>" for device in range(DEVICES))
GROUP_VIEWS = "".join(_view(f"g{device}", f"g{device}") for device in range(DEVICES))
MEMBERS = ", ".join(f"%g{device}_part" for device in range(DEVICES))
MEMBER_TYPES = ", ".join([PART] * DEVICES)


def _on_root(body: str) -> str:
    """Return code of device 1, which then tells the others."""
    tells = "".join(_notify(f"s{device}") for device in range(DEVICES) if device != 1)
    return (
        GROUP_VIEWS + "".join(_view(f"s{device}", f"s{device}", 1, "i32") for device in range(DEVICES))
        + _view("signal", "signal", 1, "i32")
        + "%is_root = arith.cmpi eq, %rank, %one : i32\n    scf.if %is_root {\n" + body + tells + "} else {\n"
        + _await("signal", "one") + "}"
    )  # fmt: skip


SIGNALS = ", ".join(f"%s{device}: !pto.ptr<i32>" for device in range(DEVICES))
ROOT = f"{GROUP}, {SIGNALS}, %signal: !pto.ptr<i32>, %rank: i32"


def _on_all(name: str) -> dict[str, Any]:
    return {
        **{f"g{device}": pto.Peer(name, device) for device in range(DEVICES)},
        **{f"s{device}": pto.Peer("signal", device) for device in range(DEVICES)},
        "signal": np.zeros(1, np.int32),
        "rank": list(range(DEVICES)),
    }


@pytest.mark.parametrize(("how", "combined"), [("sum", np.add), ("max", np.maximum), ("min", np.minimum)])
def test_all_reduce(how: str, combined: np.ufunc) -> None:
    """Device 1 combines the arrays of all, and gives all the result."""
    body = (
        _view("out", "out")
        + f"pto.comm.treduce(%out_part, %tile, recv(%other), group({MEMBERS}) : {PART}, {TILE}, {TILE}, "
        f"{MEMBER_TYPES}) "
        f"{{reduceOp = #pto<reduce_op {how}>, root = 1 : i32}}\n"
        f"pto.comm.tbroadcast(%out_part, recv(%tile), group({MEMBERS}) : {PART}, {TILE}, {MEMBER_TYPES}) "
        "{root = 1 : i32}\n"
    )
    rng = np.random.default_rng(5)
    x = [rng.standard_normal(SIZE).astype(np.float32) for _ in range(DEVICES)]
    kernel = _kernel(f"%x: !pto.ptr<f32>, %out: !pto.ptr<f32>, {ROOT}", _view("x", "x") + _on_root(body))
    values: dict[str, Any] = {"x": x, "out": np.zeros(SIZE, np.float32), **_on_all("x")}
    result = pto.run(kernel, devices=DEVICES, arguments=values)
    wanted = x[0]
    for other in x[1:]:
        wanted = combined(wanted, other)
    assert (result.arrays["x"] == wanted).all()
    assert result.findings == []


@pytest.mark.parametrize("gathers", [True, False])
def test_gather_and_scatter(gathers: bool) -> None:
    """Device 1 joins the arrays of all behind each other, or deals its own to all."""
    whole = f"!pto.partition_tensor_view<1x{SIZE * DEVICES}xf32>"
    name = "tgather" if gathers else "tscatter"
    body = _view("whole", "whole", SIZE * DEVICES).replace(f"[%c1, %c{SIZE * DEVICES}]", "[%rows, %columns]").replace(
        f"strides = [%c{SIZE * DEVICES}, %c1]", f"strides = [%c{SIZE}, %c1]"
    ).replace(f"1x{SIZE * DEVICES}x", f"{DEVICES}x{SIZE}x")  # fmt: skip
    body = f"%rows = arith.constant {DEVICES} : index\n%columns = arith.constant {SIZE} : index\n" + body
    body += (
        f"pto.comm.{name}(%whole_part, recv(%tile), group({MEMBERS}) : "
        f"{whole.replace(f'1x{SIZE * DEVICES}x', f'{DEVICES}x{SIZE}x')}, {TILE}, {MEMBER_TYPES}) {{root = 1 : i32}}\n"
    )
    rng = np.random.default_rng(7)
    x = rng.standard_normal((DEVICES, SIZE)).astype(np.float32)
    dealt = rng.standard_normal((DEVICES, SIZE)).astype(np.float32)
    kernel = _kernel(f"%x: !pto.ptr<f32>, %whole: !pto.ptr<f32>, {ROOT}", _view("x", "x") + _on_root(body))
    values: dict[str, Any] = {"x": list(x), "whole": dealt, **_on_all("x")}
    result = pto.run(kernel, devices=DEVICES, arguments=values)
    assert (result.arrays["whole"][1] == (x if gathers else dealt)).all()
    assert (result.arrays["x"] == (x if gathers else dealt)).all()
    assert result.findings == []


def test_windows() -> None:
    """PyPTO's kernels compute the distance to another device from a context, in elements."""
    body = (
        """%there = arith.subi %one, %rank : i32
    %peer = arith.index_cast %there : i32 to index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %four = arith.constant 4 : i64
    %pair = pto.load_scalar %context[%c2] : !pto.ptr<i64> -> i64
    %mine = arith.trunci %pair : i64 to i32
    %my_index = arith.index_cast %mine : i32 to index
    %my_word = arith.addi %c4, %my_index : index
    %its_word = arith.addi %c4, %peer : index
    %my_base = pto.load_scalar %context[%my_word] : !pto.ptr<i64> -> i64
    %its_base = pto.load_scalar %context[%its_word] : !pto.ptr<i64> -> i64
    %bytes = arith.subi %its_base, %my_base : i64
    %elements = arith.divsi %bytes, %four : i64
    %delta = arith.index_cast %elements : i64 to index
    %out_there = pto.addptr %out, %delta : !pto.ptr<f32> -> !pto.ptr<f32>
    %signal_there = pto.addptr %signal, %delta : !pto.ptr<i32> -> !pto.ptr<i32>
    """
        + _view("x", "x") + _view("out", "out") + _view("twice", "twice") + _view("there", "out_there")
        + _view("signal", "signal", 1, "i32") + _view("told", "signal_there", 1, "i32")
        + _put("there", "x") + _notify("told", "set") + _await("signal", "one", "eq") + DOUBLE
    )  # fmt: skip
    kernel = _kernel(
        "%x: !pto.ptr<f32>, %out: !pto.ptr<f32>, %twice: !pto.ptr<f32>, %signal: !pto.ptr<i32>, "
        "%context: !pto.ptr<i64>, %rank: i32",
        body,
    )
    x = np.arange(2 * SIZE, dtype=np.float32).reshape(2, SIZE)
    values: dict[str, Any] = {
        "x": list(x), "out": np.zeros(SIZE, np.float32), "twice": np.zeros(SIZE, np.float32),
        "signal": np.zeros(1, np.int32), "context": pto.WINDOWS, "rank": [0, 1],
    }  # fmt: skip
    result = pto.run(kernel, devices=2, arguments=values)
    assert (result.arrays["twice"] == 2 * x[::-1]).all()
    assert result.findings == []


def test_blocks_of_devices() -> None:
    """Each device has all blocks, numbered from 0, and its own arguments."""
    kernel = """
module attributes {pto.target_arch = "a5"} {
  func.func @kernel(%out: !pto.ptr<i32>, %bias: i32, %scale: f32, %scales: !pto.ptr<f32>)
      attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %block64 = pto.get_block_idx
    %block = arith.index_cast %block64 : i64 to index
    %count64 = pto.get_block_num
    %count = arith.trunci %count64 : i64 to i32
    %value = arith.addi %count, %bias : i32
    pto.store_scalar %value, %out[%block] : !pto.ptr<i32>, i32
    pto.store_scalar %scale, %scales[%block] : !pto.ptr<f32>, f32
    return
  }
}
"""
    values: dict[str, Any] = {
        "out": np.zeros(3, np.int32),
        "bias": [-10, 20],
        "scale": [0.5, -1.5],
        "scales": np.zeros(3, np.float32),
    }
    result = pto.run(kernel, devices=2, blocks=3, arguments=values)
    assert result.arrays["out"].tolist() == [[-7] * 3, [23] * 3]
    assert result.arrays["scales"].tolist() == [[0.5] * 3, [-1.5] * 3]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("changed", "devices", "message"),
    [
        ({"wanted": [1, 2]}, 4, "argument 'wanted' has 2 values for 4 devices"),
        ({"x": [np.zeros(n, np.float32) for n in (64, 64, 64, 65)]}, 4, "differs in shape or type between devices"),
        ({"next": pto.Peer("out", 4)}, 4, "argument 'next' is of device 4; there are devices 0 to 3"),
        ({"next": pto.Peer("wanted", 0)}, 4, "argument 'next' is 'wanted' of device 0, which is not an array"),
        ({"next": pto.Peer("out", cast("int", "1"))}, 4, "the device of argument 'next' is '1'; give a whole number"),
        ({"next": pto.WINDOWS}, 4, "'next' points to f32, and where the memories of devices begin is in 64-bit"),
        ({"next": [np.zeros(64, np.float32), *[pto.Peer("out", 0)] * 3]}, 4, "is an array of 1 of 4 devices, whose"),
        ({}, 0, "a run has 1 to 64 devices, not 0"),
        ({"x": np.zeros(64, np.float32), "next": pto.Peer("out", 0)}, 1, "about other devices, and there is one"),
    ],
)  # fmt: skip
def test_wrong_arguments(changed: dict[str, Any], devices: int, message: str) -> None:
    with pytest.raises(LoomError, match=message):
        pto.run(_ring(_put("next", "x")), devices=devices, arguments=_ring_values() | changed)
