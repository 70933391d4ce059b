"""The cause and remedy in findings about pipes: what a user has to change, not what follows from it."""

from __future__ import annotations

import pytest

from loomir import pto
from loomir.diagnostics.findings import Finding, once_each
from loomir.host.pto_check import check
from loomir.operations.pipe_protocol import Behavior
from loomir.runtime import Deadlock
from loomir.runtime.reports.channel_remedies import Counts, remedy

ACC = "!pto.tile_buf<acc, 16x16xf32>"
VEC = "!pto.tile_buf<vec, 16x16xf32>"
HALF = "!pto.tile_buf<vec, 8x16xf32>"


def program(frees: str, *, split: int = 0, pipes: int = 2, rounds: int = 16) -> str:
    """A cube kernel that pushes into pipes of 4 slots, and a vector kernel that pops; on a5."""
    cube, vector = [f"%t = pto.alloc_tile : {ACC}"], list[str]()
    for number in range(pipes):
        settings = (
            f"{{id = {number}, dir_mask = 1, slot_size = 1024, slot_num = 4}}(c2v_consumer_buf = %a{number} : i32)"
        )
        cube += [
            f'%a{number} = pto.import_reserved_buffer {{name = "b{number}", peer_func = @vector}} -> i32',
            f"pto.aic_initialize_pipe {settings}",
        ]
        where = "location = #pto.address_space<vec>, auto = true"
        vector += [
            f'%a{number} = pto.reserve_buffer {{name = "b{number}", size = 4096, {where}}} -> i32',
            f"pto.aiv_initialize_pipe {settings}",
        ]
    bounds = (
        f"%lo = arith.constant 0 : index\n%hi = arith.constant {rounds} : index\n%by = arith.constant 1 : index\n"
        "scf.for %k = %lo to %hi step %by {"
    )
    tile = HALF if split else VEC
    cube += [bounds, *(f"pto.tpush_to_aiv(%t : {ACC}) {{id = {n}, split = {split}}}" for n in range(pipes)), "}"]
    vector += [bounds, *(f"%e{n} = pto.tpop_from_aic {{id = {n}, split = {split}}} -> {tile}" for n in range(pipes))]
    vector += [*(f"pto.tfree_from_aic {{id = {number}, split = {split}}}" for number in frees), "}"]
    kernels = [
        f"func.func @{name}() attributes {{pto.kernel_kind = #pto.kernel_kind<{name}>}} {{\n{body}\nreturn\n}}"
        for name, body in (("cube", "\n".join(cube)), ("vector", "\n".join(vector)))
    ]
    return 'module attributes {pto.target_arch = "a5"} {\n' + "\n".join(kernels) + "\n}\n"


def found(text: str, arch: Behavior = "a5") -> list[Finding]:
    return check(text, arch)


def test_frees_in_their_places_are_right() -> None:
    assert found(program("01")) == []


@pytest.mark.parametrize("arch", ["a5", "ideal"])
def test_a_missing_free_is_no_lack_of_slots(arch: Behavior) -> None:
    (finding,) = found(program("1"), arch)
    assert finding.code == "unbalanced-pipe"
    assert "16 entries are popped from pipe 0, but 0 are freed" in finding.message
    assert finding.message.endswith("so its producer waits for slots that are never free; free each entry once")


def test_a_free_of_another_pipe_is_named() -> None:
    (finding,) = found(program("11"))
    assert finding.code == "unbalanced-pipe"
    assert "while pipe 1 is freed 32 times for 16 pops: 16 of its frees are meant for pipe 0" in finding.message
    assert "name that pipe there" in finding.message


def test_a_hang_says_what_was_not_freed() -> None:
    with pytest.raises(Deadlock, match="4 entries of channel @c2v_0 were popped and 0 freed: free each after"):
        pto.run(program("1"), arch="a5")
    with pytest.raises(Deadlock, match="channel @c2v_1 was freed 8 times for 4 pops: free the entries of @c2v_0 there"):
        pto.run(program("11"), arch="a5")


def test_remedies_of_channels() -> None:
    assert remedy(Counts("c", 4, 2, 0), []).startswith("let one of them push before it pops")
    assert remedy(Counts("c", 4, 4, 0, lost=True), []).startswith("free each entry before the next pop")
    assert "use more slots" in remedy(Counts("c", 4, 8, 4), [Counts("d", 4, 8, 8)])
    assert (
        remedy(Counts("c", 4, 0, 0, unpushed=4), [])
        == "4 slots of channel @c were taken and not pushed: push each slot"
    )


@pytest.mark.slow
def test_credits_of_a_chip_are_reported_once() -> None:
    """Four pipes of split entries on a5 begin with credits, and leave some; a run says so once too."""
    text = program("0123", split=1, pipes=4)
    findings = found(text)
    assert sorted(finding.code for finding in findings) == ["leftover-credits", "seeded-credits"]
    assert all("the same holds at <text>:" in finding.message for finding in findings)
    run = [finding.code for finding in pto.run(text, arch="a5").findings]
    assert len(run) == len(set(run)) and set(run) <= {"seeded-credits", "leftover-credits"}


def test_errors_and_other_codes_are_kept() -> None:
    warnings = [Finding("warning", "one", "m", f"f:{line}:1") for line in range(7)]
    error = Finding("error", "one", "m", "f:9:1")
    assert once_each([*warnings, error], ()) == [*warnings, error]
    first, last = once_each([*warnings, error], ("one",))
    assert first.message == "m; the same holds at f:1:1, f:2:1, f:3:1, f:4:1 and 2 more places"
    assert last == error


@pytest.mark.parametrize(("slots", "blamed"), [(6, "the buffer 'f' of 196608 bytes"), (1, "%t of 184320 bytes")])
def test_what_does_not_fit_is_named_the_largest_first(slots: int, blamed: str) -> None:
    """Of a buffer of 192 KiB for slots and a small tile, or a small buffer and a large tile."""
    tile = "!pto.tile_buf<vec, 16x16xf32>" if slots > 1 else "!pto.tile_buf<vec, 360x128xf32>"
    text = f"""
      module attributes {{pto.target_arch = "a3"}} {{
        func.func @vector(%slots: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
          %b = pto.reserve_buffer
            {{name = "f", size = {32768 * slots}, location = #pto.address_space<vec>, auto = true}} -> i32
          pto.aiv_initialize_pipe {{id = 0, dir_mask = 1, slot_size = 32768, slot_num = {slots}}}
            (gm_slot_buffer = %slots : !pto.ptr<f32>, c2v_consumer_buf = %b : i32)
          %t = pto.alloc_tile : {tile}
          pto.tneg ins(%t : {tile}) outs(%t : {tile})
          return
        }}
      }}
    """
    (finding,) = check(text)
    assert finding.code == "rejected"
    assert "vec overflow, requires" in finding.message
    assert f"the largest first: {blamed}" in finding.message
    assert ("use fewer or smaller slots" in finding.message) == (slots > 1)
