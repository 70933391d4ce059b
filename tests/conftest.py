"""For all tests: which cases a run tries, the executors it tries them on, and the profiles of hypothesis.

How long an example takes is the machine's business, so hypothesis sets no deadline for it. A commit passes or fails
alike on every machine, so all profiles but `search` try the same examples each time.

`--executor NAME` (more with commas, or given again) runs the tests of whole programs on the executors named, each on
all of them. Without it the environment decides, as it does for users. `@pytest.mark.executors("core")` restricts a
test to executors that can do it. Programs of PTO have an executor of their own.
"""

from __future__ import annotations

import gc
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from loomir.runtime.executors import AUTO, EXECUTOR, EXECUTORS, chosen

from .searches import SHARES, is_chosen, quick_case

TESTS = Path(__file__).parent
OF_PROGRAMS = ("runtime", "frontend", "host", "examples")
"""Folders with tests that run programs: their tests are tried on every executor named."""
OF_NONE = (
    "runtime/core", "runtime/tables", "runtime/fabric", "runtime/reference",
)  # fmt: skip
"""Tests of parts of the engine, which run no programs on a machine."""

for name, share in SHARES.items():
    settings.register_profile(name, deadline=None, max_examples=100 // share, derandomize=name != "search")
settings.load_profile("short")

# IR is full of cycles and lives long: collections between the allocations of a test take a tenth of all time.
gc.set_threshold(100_000, 10, 10)


def pytest_collection_finish() -> None:
    """Keep what tests and modules consist of out of all collections to come."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names executors."""
    parser.addoption(
        "--executor", action="append", metavar="NAME", help="run programs on this executor; may be given several times"
    )


def executors(config: pytest.Config) -> list[str]:
    """Return the executors that the command line names, or else the one of the environment."""
    given: list[str] | None = config.getoption("--executor")
    names = [name for one in given or [chosen()] for name in one.split(",")]
    for name in names:
        if name not in (*EXECUTORS, AUTO):
            raise pytest.UsageError(f"--executor {name}: the executors are {', '.join(EXECUTORS)}, and {AUTO}")
    return list(dict.fromkeys(names))


def is_below(path: Path, folders: tuple[str, ...]) -> bool:
    """Return True if a test is in one of some folders."""
    return any(path.is_relative_to(TESTS / folder) for folder in folders)


def able(mark: pytest.Mark | None) -> tuple[str, ...]:
    """Return the executors that can run a test."""
    return (*(EXECUTORS if mark is None else mark.args), AUTO)


@pytest.fixture
def executor() -> str:
    """Return the name of the executor that runs the machines of a test."""
    return chosen()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Try tests of programs on each executor, where there are several."""
    names = executors(metafunc.config)
    path = metafunc.definition.path
    if len(names) == 1 or not is_below(path, OF_PROGRAMS) or is_below(path, OF_NONE):
        return
    known = able(metafunc.definition.get_closest_marker("executors"))
    if "executor" not in metafunc.fixturenames:
        metafunc.fixturenames.append("executor")
    metafunc.parametrize("executor", [name for name in names if name in known] or names[:1])


def parameters(item: pytest.Item) -> dict[str, Any]:
    """Return the values of the parameters of a case."""
    return item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}


def executor_of(item: pytest.Item) -> str:
    """Return the executor that a case runs on."""
    found: str | None = parameters(item).get("executor")
    known = able(item.get_closest_marker("executors"))
    names = executors(item.config)
    if found is None:
        found = names[0]
    # Whatever can run a program may not be what a test is about.
    return known[0] if found == AUTO and item.get_closest_marker("executors") is not None else found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Let all machines that a case makes use its executor, in processes that it starts too."""
    before = os.environ.get(EXECUTOR)
    os.environ[EXECUTOR] = executor_of(item)
    try:
        return (yield)
    finally:
        if before is None:
            del os.environ[EXECUTOR]
        else:
            os.environ[EXECUTOR] = before


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as thorough the cases that `one_in` leaves to thorough runs, and as slow all but one case of each test.

    Skip what an executor cannot do.
    """
    cases_of: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        executor = executor_of(item)
        cases_of[f"{item.nodeid.partition('[')[0]} {executor}"].append(item)
        if executor not in able(item.get_closest_marker("executors")):
            item.add_marker(pytest.mark.skip(reason=f"not for the executor {executor}"))
    for test, cases in cases_of.items():
        for position, item in enumerate(cases):
            mark = item.get_closest_marker("one_in")
            if mark is not None and not is_chosen(position, mark.args[0]):
                item.add_marker("thorough")
        others = [item for item in cases if item.get_closest_marker("thorough") is None]
        for position, item in enumerate(others):
            if position != quick_case(test, len(others)):
                item.add_marker("slow")
