"""Control wavelets: the tasks they start, the operations they end, and those that nothing waits for."""

from __future__ import annotations

import numpy as np
import pytest

import loomir
from loomir.diagnostics.errors import LoomError
from loomir.runtime import Deadlock, Machine

from .machines import load

TARGETS = ("wse2", "wse3")
HEIGHT = 3

SEND = """
wse.export @send
wse.func @send(%id: i32, %word: i32) {
  %shift = arith.constant 16 : i32
  %high = arith.shli %id, %shift : i32
  %payload = arith.ori %high, %word : i32
  %o = dsd.fabout @east extent 1 {control} : !dsd.fabout<i32>
  dsd.mov32 %o, %payload : !dsd.fabout<i32>, i32
}
wse.export @data
wse.func @data(%value: f32) {
  %o = dsd.fabout @east extent 1 : !dsd.fabout<f32>
  dsd.fmovs %o, %value : !dsd.fabout<f32>, f32
}"""


def program(target: str, receiver: str, *, flags: str = "") -> str:
    """Column 0 sends what the host asks it to, column 1 runs `receiver`, which has the input queue @west."""
    return f"""wse.program @control target "{target}" rectangle 2 x {HEIGHT} {{
      wse.color @c
      wse.color @out
      wse.host_stream @out out
      wse.route @c on [0, :] from [ramp] to [east]
      wse.route @c on [1, :] from [west] to [ramp]
      wse.pe @sender on [0, :] {{
        wse.output_queue @east color @c id 2
        {SEND}
      }}
      wse.pe @receiver on [1, :] {{
        wse.input_queue @west color @c id 3 {flags}
        wse.output_queue @to_host color @out id 4
        {receiver}
      }}
    }}"""


def machine(text: str) -> Machine:
    return load(loomir.compile(text).fabric)


SUM = """
wse.buffer @sum : memref<f32>
wse.export @sum
wse.task @add data @west (%x: f32) {
  %b = wse.get_buffer @sum : memref<f32>
  %s = memref.load %b[] : memref<f32>
  %t = arith.addf %s, %x : f32
  memref.store %t, %b[] : memref<f32>
}
wse.task @report control id 43 {
  %b = wse.get_buffer @sum : memref<f32>
  %s = memref.load %b[] : memref<f32>
  %o = dsd.fabout @to_host extent 1 : !dsd.fabout<f32>
  dsd.fmovs %o, %s : !dsd.fabout<f32>, f32
}"""


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_a_sentinel_comes_after_the_data_before_it(target: str):
    engine = machine(program(target, SUM))
    for number in range(5):
        engine.launch("data", [1.5 + number])
        engine.run()
        if number % 2 == 0:
            engine.launch("send", [43, 0])
            engine.run()
    assert (engine.receive("out", 1, 0, 1, HEIGHT, 3).view(np.float32) == [1.5, 7.5, 17.5]).all()


def store(kind: str) -> str:
    return f"""
    wse.buffer @got : memref<{kind}>
    wse.export @got
    wse.task @take control id 7 (%data: {kind}) {{
      %b = wse.get_buffer @got : memref<{kind}>
      memref.store %data, %b[] : memref<{kind}>
    }}"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("kind", "expected"), [("i16", 0x1234), ("i32", 7 << 16 | 0x1234), ("f16", np.uint16(0x1234).view(np.float16))]
)
def test_arguments(target: str, kind: str, expected: object):
    """A control task takes the low half, or the whole wavelet; its queue has no data task and is unblocked."""
    engine = machine(program(target, store(kind), flags="unblocked"))
    engine.launch("send", [7, 0x1234])
    engine.run()
    assert (engine.read_symbol("got")[:, 1] == expected).all()


@pytest.mark.slow
def test_two_arguments():
    receiver = """
    wse.buffer @got : memref<2xi16>
    wse.export @got
    wse.task @take control id 7 (%data: i16, %id: i16) {
      %b = wse.get_buffer @got : memref<2xi16>
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      memref.store %data, %b[%zero] : memref<2xi16>
      memref.store %id, %b[%one] : memref<2xi16>
    }"""
    engine = machine(program("wse3", receiver, flags="unblocked"))
    engine.launch("send", [7, 12])
    engine.run()
    assert (engine.read_symbol("got")[:, 1] == [12, 7]).all()


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_a_blocked_queue_keeps_control_wavelets(target: str):
    name = "@c" if target == "wse2" else "@west"
    receiver = store("i16") + f"wse.export @open wse.func @open() {{ wse.unblock {name} }}"
    engine = machine(program(target, receiver))
    engine.launch("send", [7, 5])
    engine.run(allow_pending=True)
    assert (engine.read_symbol("got")[:, 1] == 0).all()
    with pytest.raises(Deadlock, match=r"input queue @west .* has control wavelets but is blocked"):
        engine.run()
    engine.launch("open")
    engine.run()
    assert (engine.read_symbol("got")[:, 1] == 5).all()


def test_a_blocked_data_task_holds_back_control_wavelets_too():
    receiver = SUM.replace("data @west", "data @west blocked") + (
        "wse.export @open wse.func @open() { wse.unblock @add }"
    )
    engine = machine(program("wse3", receiver))
    engine.launch("data", [2.0])
    engine.run(allow_pending=True)
    engine.launch("send", [43, 0])
    engine.run(allow_pending=True)
    assert not engine.received("out").any()
    engine.launch("open")
    engine.run()
    assert (engine.receive("out", 1, 0, 1, HEIGHT, 1).view(np.float32) == 2).all()


def test_an_id_without_task():
    engine = machine(program("wse2", SUM))
    engine.launch("send", [44, 0])
    with pytest.raises(
        LoomError,
        match=r"a control wavelet with id 44 arrives on color @c, input queue @west, at PE \(1, 0\), where no control "
        r"task has that id; the control tasks are: 43 \(@report\)",
    ):
        engine.run()


def collect(settings: str) -> str:
    return f"""
    wse.buffer @got : memref<8xf32>
    wse.buffer @ends : memref<2xi16>
    wse.export @got
    wse.export @ends
    wse.task @start local active {{
      %b = wse.get_buffer @got : memref<8xf32>
      %d = dsd.mem1d %b extent 8 : memref<8xf32>
      %i = dsd.fabin @west extent 8 : !dsd.fabin<f32>
      dsd.fmovs %d, %i async({settings}) : !dsd.mem1d<f32>, !dsd.fabin<f32>
    }}
    wse.task @done local {{
      %b = wse.get_buffer @ends : memref<2xi16>
      %at = arith.constant 0 : index
      %one = arith.constant 1 : i16
      memref.store %one, %b[%at] : memref<2xi16>
    }}
    wse.task @early local {{
      %b = wse.get_buffer @ends : memref<2xi16>
      %at = arith.constant 1 : index
      %one = arith.constant 1 : i16
      memref.store %one, %b[%at] : memref<2xi16>
    }}
    wse.task @opened local active blocked {{
      wse.activate @early
    }}"""


def fill(engine: Machine, count: int) -> None:
    for number in range(count):
        engine.launch("data", [number + 1.0])
        engine.run(allow_pending=True)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("on_control", ["activate @early", "unblock @opened"])
def test_a_control_wavelet_ends_an_operation(target: str, on_control: str):
    engine = machine(program(target, collect(f"activate = @done, on_control = {on_control}")))
    fill(engine, 3)
    engine.launch("send", [0, 99])
    engine.run(allow_pending=True)
    assert (engine.read_symbol("got")[:, 1] == [1, 2, 3, 0, 0, 0, 0, 0]).all()
    assert (engine.read_symbol("ends")[:, 1] == [0, 1]).all()


def test_a_control_wavelet_that_ends_an_operation_silently():
    engine = machine(program("wse2", collect("activate = @done, on_control = terminate")))
    fill(engine, 3)
    engine.launch("send", [0, 99])
    engine.run(allow_pending=True)
    assert (engine.read_symbol("ends")[:, 1] == [0, 0]).all()


def test_an_operation_that_is_not_ended_early():
    engine = machine(program("wse3", collect("activate = @done, on_control = activate @early")))
    fill(engine, 8)
    assert (engine.read_symbol("got")[:, 1] == np.arange(1, 9)).all()
    assert (engine.read_symbol("ends")[:, 1] == [1, 0]).all()


def test_without_on_control_a_control_wavelet_is_data():
    """DSD-198: it takes the place of an element."""
    engine = machine(program("wse2", collect("activate = @done")))
    fill(engine, 7)
    engine.launch("send", [0, 0])
    engine.run(allow_pending=True)
    assert (engine.read_symbol("got")[:, 1] == [1, 2, 3, 4, 5, 6, 7, 0]).all()
    assert (engine.read_symbol("ends")[:, 1] == [1, 0]).all()


@pytest.mark.parametrize("target", TARGETS)
def test_an_index_travels_in_the_high_half(target: str):
    """DSD-108, and DSD-236 for memory: the receiver's walk starts as many words in as the index says."""
    text = f"""wse.program @indexed target "{target}" rectangle 2 x {HEIGHT} {{
      wse.color @c
      wse.route @c on [0, :] from [ramp] to [east]
      wse.route @c on [1, :] from [west] to [ramp]
      wse.pe @sender on [0, :] {{
        wse.output_queue @east color @c id 2
        wse.task @start local active {{
          %o = dsd.fabout @east extent 1 {{wavelet_index_offset}} : !dsd.fabout<i16>
          %y = wse.coordinate y : i16
          %seven = arith.constant 7 : i16
          dsd.add16 %o, %y, %seven index(%y) : !dsd.fabout<i16>, i16, i16
        }}
      }}
      wse.pe @receiver on [1, :] {{
        wse.input_queue @west color @c id 3
        wse.buffer @got : memref<4xi16>
        wse.export @got
        wse.task @put data @west (%value: i16, %index: i16) {{
          %b = wse.get_buffer @got : memref<4xi16>
          %d = dsd.mem1d %b extent 1 {{wavelet_index_offset}} : memref<4xi16>
          dsd.mov16 %d, %value index(%index) : !dsd.mem1d<i16>, i16
        }}
      }}
    }}"""
    engine = machine(text)
    engine.run()
    assert engine.read_symbol("got")[:, 1].tolist() == [[7, 0, 0, 0], [0, 8, 0, 0], [0, 0, 9, 0]]
