"""Notices of long runs, whose results are the same as without a watch."""

from __future__ import annotations

from itertools import count, pairwise

import numpy as np
import pytest

import loomir
from loomir.diagnostics.errors import LoomError
from loomir.runtime import Machine
from loomir.runtime.watch import MAX_PLACES, Watch

from .machines import load

ENDLESS = """
flow.fabric @f target "wse3" grid 3 by 1 {
  flow.units @pe on [:, :] words 8 {
    flow.buffer @n at 0 : memref<2xi16>
    flow.export @n as "n"
    flow.export @main as "main"
    flow.export @turns as "turns"
    flow.func @main(%trips: i16) {
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      %i = arith.constant 0 : index
      %r = scf.while (%k = %zero) : (i16) -> i16 {
        %more = arith.cmpi ne, %k, %trips : i16
        scf.condition(%more) %k : i16
      } do {
      ^bb0(%l: i16):
        %old = flow.load @n[%i] : i16
        %new = arith.addi %old, %one : i16
        flow.store %new, @n[%i] : i16
        %next = arith.addi %l, %one : i16
        scf.yield %next : i16
      }
      flow.return
    }
    flow.func @turns() {
      flow.activate @ping
      flow.return
    }
    flow.task local @ping id 8 {
      flow.activate @pong
      flow.return
    }
    flow.task local @pong id 9 {
      flow.activate @ping
      flow.return
    }
  }
}
"""
LOOP = "<text>:12:7"
NEVER = -1
"""Of trips: a number that the loop reaches after all others."""


def watched(tell, first: float = 5.0) -> Machine:
    """A machine with a watch whose clock goes on by a second whenever it is read."""
    made = load(loomir.compile(ENDLESS).module)
    ticks = count()
    made.watch = Watch(tell, first=first, clock=lambda: float(next(ticks)))
    return made


@pytest.mark.slow
def test_notices() -> None:
    told: list[str] = []
    made = watched(told.append)
    made.launch("main", [NEVER])
    assert made.watch is not None
    made.watch.begin("launch of 'main'", lambda: "all is missing")
    made.run()
    assert len(told) >= 2
    assert told[0].startswith("launch of 'main' is still running: ")
    assert " steps so far, all is missing, last seen " in told[0]
    assert told[0].endswith(f" in @main at {LOOP}")
    assert "\n" not in told[0]


@pytest.mark.slow
def test_notices_become_rare() -> None:
    told: list[str] = []
    made = watched(told.append)
    made.launch("main", [NEVER])
    made.run()
    seconds = [int(notice.split(": ")[1].split()[0]) for notice in told]
    assert all(later >= 3 * earlier for earlier, later in pairwise(seconds))


@pytest.mark.slow
def test_no_notices() -> None:
    told: list[str] = []
    made = watched(told.append, first=0)
    made.launch("main", [NEVER])
    made.run()
    assert not told


@pytest.mark.thorough
def test_tasks_that_activate_each_other() -> None:
    """All places that were seen are named, the last one first, but not ever more of them."""
    told: list[str] = []
    made = watched(told.append)
    made.launch("turns")
    with pytest.raises(LoomError, match="step limit"):
        made.run(500_000)
    assert "@ping" in told[0] or "@pong" in told[0]
    assert told[0].count(" in @") <= MAX_PLACES


@pytest.mark.slow
def test_results_do_not_depend_on_the_watch() -> None:
    unwatched = load(loomir.compile(ENDLESS).module)
    made = [watched(lambda notice: None), unwatched]
    for machine in made:
        machine.launch("main", [30_000])
        machine.run()
    assert made[0].statistics() == made[1].statistics()
    assert np.array_equal(made[0].read_symbol("n"), made[1].read_symbol("n"))
    assert (made[0].read_symbol("n")[:, :, 0] == 30_000).all()


@pytest.mark.parametrize("limit", [1, 1000, 20_000, 60_001])
def test_step_limit_is_exact(limit: int) -> None:
    """It stops the program where it does without a watch."""
    made = [watched(lambda notice: None), load(loomir.compile(ENDLESS).module)]
    errors: list[str] = []
    for machine in made:
        machine.launch("main", [NEVER])
        with pytest.raises(LoomError, match="step limit") as caught:
            machine.run(limit)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
    assert np.array_equal(made[0].read_symbol("n"), made[1].read_symbol("n"))


def test_interrupt() -> None:
    """Who interrupts a run is told where it was."""

    def interrupt(notice: str) -> None:
        raise KeyboardInterrupt

    made = watched(interrupt)
    made.launch("main", [NEVER])
    with pytest.raises(KeyboardInterrupt) as caught:
        made.run()
    [note] = caught.value.__notes__
    assert note.startswith("the program was interrupted: ")
    assert note.endswith(f" in @main at {LOOP}")
