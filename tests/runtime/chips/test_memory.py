"""Without memory the core's chips end with one error, wherever an allocation fails, and lose nothing of what they have.

The core is built with allocations that count and fail on demand.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from loomir import LoomError, pto
from loomir.operations.pipe_protocol import Behavior
from loomir.runtime.core import compile_core, library

from .test_channels import Case, launch, load

HEADER = Path(__file__).with_name("failing_allocations.h")
EXAMPLES = Path(__file__).parents[3] / "examples/pto"
MESSAGE = "the program needs more memory than there is; use fewer blocks"


class Allocations:
    """The counters of the library."""

    def __init__(self, found: ctypes.CDLL) -> None:
        self._library = found

    def __getitem__(self, name: str) -> int:
        return ctypes.c_long.in_dll(self._library, f"loom_allocations_{name}").value

    def fail_behind(self, count: int) -> None:
        """Let the allocation fail that comes behind `count` others; none if that is -1."""
        ctypes.c_long.in_dll(self._library, "loom_allocations_left").value = count


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    if not compile_core.is_wanted():
        pytest.skip("LOOM_CORE=none")
    extra = ["-include", str(HEADER)]
    extra += [*compile_core.SANITIZERS["memory"]] if library.is_named() else []
    with pytest.MonkeyPatch.context() as patch:
        # A sanitizer that is loaded in front is meant for this process, not for the compiler.
        patch.delenv("LD_PRELOAD", raising=False)
        return library.open_library(compile_core.build(tmp_path_factory.mktemp("core"), [*extra, "-O0"]))


@pytest.fixture
def allocations(failing: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> Iterator[Allocations]:
    monkeypatch.setattr(library, "load", lambda: failing)
    found = Allocations(failing)
    yield found
    found.fail_behind(-1)


def channels(depth: int, *, pushes: int, drain: bool = False, blocks: int = 2) -> Callable[[], object]:
    """A producer and a consumer, launched twice; with more pushes than pops they end with findings or a deadlock."""
    case = Case(depth, max(1, depth // 2), 2, 0, True, pushes, 8, 1, drain, blocks)

    def run() -> None:
        machine, buffer = load(case, executor="core")
        for _ in range(2):
            launch(machine, case, buffer)

    return run


def kernel(name: str, arch: Behavior, **arguments: object) -> Callable[[], object]:
    """Several launches of an example: each machine is new, the lowered program is not."""
    programs: list[pto.Program] = []

    def run() -> None:
        if not programs:
            programs.append(pto.Program(EXAMPLES / f"{name}.pto", arch=arch, check=False))
        pto.launch(programs[0], arguments, repeat=5)  # type: ignore[arg-type]

    return run


WIDE = np.ones((32, 64), np.float32)
SQUARE = np.ones((16, 16), np.float32)
RUNS = {
    "channels": channels(4, pushes=8),
    "findings": channels(3, pushes=8),
    "deadlock": channels(2, pushes=11),
    "drained": channels(4, pushes=8, drain=True),
    "products and prints": kernel("matmul_print", "a2a3", a=SQUARE, b=SQUARE),
    "both directions": kernel("both_directions", "a5", a=WIDE, b=np.ones((64, 512), np.float32)),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", RUNS)
def test_every_allocation_may_fail(allocations: Allocations, name: str) -> None:
    run = RUNS[name]

    def outcome(count: int) -> str:
        allocations.fail_behind(count)
        try:
            run()
        except LoomError as error:
            return error.message
        return "ends"

    def live() -> int:
        # The traceback of an error may keep a machine a while.
        if allocations["live"]:
            gc.collect()
        return allocations["live"]

    made = allocations["made"]
    usual = outcome(-1)
    count = allocations["made"] - made
    assert count > 10 and live() == 0
    for number in range(count):
        assert outcome(number) == MESSAGE, f"allocation {number} of {count} fails"
        assert live() == 0, f"something is lost where allocation {number} of {count} fails"
    assert outcome(count) == outcome(-1) == usual
