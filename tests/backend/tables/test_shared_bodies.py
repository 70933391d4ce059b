"""Bodies that classes share: the tables are those of the same program with every body written out."""

from __future__ import annotations

import pytest

from loomir.backend.tables import assemble
from loomir.dialects import flow
from loomir.runtime.tables.check import check
from loomir.runtime.tables.dump import dump
from loomir.runtime.tables.format import SECTIONS

from ...runtime.flow_modules import parse

MEMBERS = """
    flow.buffer @pad at 0 : memref<{pad}xi16>
    flow.buffer @a at {address} : memref<{shape}xf32>
    flow.buffer @ring at {ring} : memref<4xi16>
    flow.param @p = {param}
    flow.fifo @fifo on @ring
    flow.queue output @out id 2 colors [@red on [:, :]]
    flow.queue input @in id 2 colors [@red on [:, :]]{unblocked}
    flow.export @main as "main"
"""
TWICE = """{{
      %one = arith.constant 1 : i16
      %p = flow.get_param @p : i16
      %q = arith.addi %p, %one : i16
      %r = arith.addi %q, %n : i16
      flow.return %r : i16
    }}"""
MAIN = """{{
      %i = arith.constant 1 : index
      %f = flow.load @a[%i] : f32
      %m = flow.call @twice(%n) : (i16) -> (i16)
      %s = flow.stream @a at 1 strides [1] extents [%m] : !flow.stream<f32>
      %o = flow.queue_stream @out extent %m : !flow.stream<f32>
      flow.apply fmovs %o, %s async(microthread = 2, activate = @done) : !flow.stream<f32>, !flow.stream<f32>
      flow.apply fmovs %s, %f : !flow.stream<f32>, f32
      %z = flow.fifo_stream @fifo : !flow.stream<i16>
      flow.set_fifo_length @fifo read, %m
      flow.apply mov16 %z, %m : !flow.stream<i16>, i16
      flow.unblock @in
      flow.return
    }}"""
DONE = "{{ flow.activate @done flow.return }}"

BASE = {"pad": 4, "address": 4, "shape": 8, "ring": 30, "param": "dense<3> : tensor<i16>", "unblocked": " unblocked"}


def program(changes: dict[str, object], *, shared: bool) -> str:
    def units(name: str, region: str, values: dict[str, object], *, home: bool) -> str:
        if home or not shared:
            bodies = (
                f"flow.func @twice(%n: i16) -> (i16) {TWICE}\n flow.func @main(%n: i16) {MAIN}\n"
                f" flow.task local @done id 9 {DONE}"
            ).format()
        else:
            bodies = (
                "flow.func @twice(i16) -> (i16) shares @left::@twice\n flow.func @main(i16) shares @left::@main\n"
                " flow.task local @done id 9 shares @left::@done"
            )
        return f"flow.units @{name} on {region} words 64 {{ {MEMBERS.format(**values)} {bodies} }}"

    left = units("left", "[0, :]", BASE, home=True)
    right = units("right", "[1, :]", BASE | changes, home=False)
    return f'flow.fabric @f target "wse3" grid 2 by 1 {{ flow.color @red = 3\n {left}\n {right} }}'


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({}, True),
        ({"pad": 2, "address": 2, "ring": 20}, True),
        ({"param": "dense<4> : tensor<i16>"}, True),
        ({"param": "dense<[[4, 5]]> : tensor<1x2xi16>"}, False),
        ({"shape": 6}, True),
        ({"unblocked": ""}, True),
    ],
)
def test_tables_are_those_of_bodies_written_out(changes: dict[str, object], same: bool) -> None:
    found, wanted = (
        assemble(next(op for op in parse(program(changes, shared=shared)).walk() if isinstance(op, flow.FabricOp)))
        for shared in (True, False)
    )
    check(found)
    assert dump(found) == dump(wanted)
    assert found.strings == wanted.strings
    for name in SECTIONS:
        assert found[name].tobytes() == wanted[name].tobytes()
    assert (len(found["bodies"]) == 3) == same
