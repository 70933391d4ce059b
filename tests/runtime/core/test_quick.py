"""Operations on elements side by side, where the core takes a short way: sources that overlap, and 16-bit wavelets."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import loomir

LENGTH, COUNT = 24, 9
KINDS = {"f32": ("fmovs", "fadds", np.float32), "f16": ("fmovh", "faddh", np.float16)}

PROGRAM = """
wse.program @overlaps target "wse3" rectangle 2 x 1 {
  wse.color @east
  wse.route @east on [:-1, :] from [ramp] to [east]
  wse.route @east on [1:, :] from [west] to [ramp]
  wse.pe @pe on [:, :] {
    wse.buffer @a : memref<LENGTHxKIND>
    wse.buffer @got : memref<COUNTxKIND>
    wse.export @a
    wse.export @got
    wse.export @shift
    wse.export @add
    wse.export @send
    wse.input_queue @in color @east
    wse.output_queue @out color @east
    wse.func @shift(%to: i16, %from: i16) {
      %a = wse.get_buffer @a : memref<LENGTHxKIND>
      %n = arith.constant COUNT : i16
      %new = dsd.mem1d %a at %to extent %n : memref<LENGTHxKIND>
      %old = dsd.mem1d %a at %from extent %n : memref<LENGTHxKIND>
      dsd.MOVE %new, %old : !dsd.mem1d<KIND>, !dsd.mem1d<KIND>
      wse.return
    }
    wse.func @add(%to: i16, %from: i16) {
      %a = wse.get_buffer @a : memref<LENGTHxKIND>
      %n = arith.constant COUNT : i16
      %new = dsd.mem1d %a at %to extent %n : memref<LENGTHxKIND>
      %old = dsd.mem1d %a at %from extent %n : memref<LENGTHxKIND>
      dsd.ADD %new, %new, %old : !dsd.mem1d<KIND>, !dsd.mem1d<KIND>, !dsd.mem1d<KIND>
      wse.return
    }
    wse.func @send(%from: i16) {
      %x = wse.coordinate x : i16
      %zero = arith.constant 0 : i16
      %n = arith.constant COUNT : i16
      %sends = arith.cmpi eq, %x, %zero : i16
      scf.if %sends {
        %a = wse.get_buffer @a : memref<LENGTHxKIND>
        %old = dsd.mem1d %a at %from extent %n : memref<LENGTHxKIND>
        %to = dsd.fabout @out extent %n : !dsd.fabout<KIND>
        dsd.MOVE %to, %old async : !dsd.fabout<KIND>, !dsd.mem1d<KIND>
      } else {
        %got = wse.get_buffer @got : memref<COUNTxKIND>
        %new = dsd.mem1d %got extent %n : memref<COUNTxKIND>
        %in = dsd.fabin @in extent %n : !dsd.fabin<KIND>
        dsd.ADD %new, %new, %in : !dsd.mem1d<KIND>, !dsd.mem1d<KIND>, !dsd.fabin<KIND>
      }
      wse.return
    }
  }
}
"""


@cache
def simulator(kind: str) -> loomir.Simulator:
    move, add, _ = KINDS[kind]
    text = PROGRAM.replace("LENGTH", str(LENGTH)).replace("COUNT", str(COUNT))
    return loomir.Simulator(loomir.compile(text.replace("KIND", kind).replace("MOVE", move).replace("ADD", add)))


def values(kind: str) -> np.ndarray:
    return np.random.default_rng(3).integers(-9, 9, (1, 2, LENGTH)).astype(KINDS[kind][2])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("to, start", [(0, 0), (1, 0), (0, 1), (2, 5), (7, 4), (12, 3), (0, 15), (15, 6)])
def test_elements_are_computed_in_order(kind: str, to: int, start: int):
    machine = simulator(kind)
    for name in ("shift", "add"):
        machine.set("a", values(kind))
        expected = values(kind)
        for k in range(COUNT):
            old = expected[:, :, start + k].copy()
            expected[:, :, to + k] = old if name == "shift" else expected[:, :, to + k] + old
        machine.launch(name, to, start)
        assert np.array_equal(machine.get("a"), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_wavelets_are_added(kind: str):
    machine = simulator(kind)
    machine.set("a", values(kind))
    machine.set("got", np.ones((1, 2, COUNT), KINDS[kind][2]))
    machine.launch("send", 4)
    assert np.array_equal(machine.get("got")[0, 1], values(kind)[0, 0, 4 : 4 + COUNT] + KINDS[kind][2](1))
