"""Programs whose tables have something in every section."""

from __future__ import annotations

from functools import lru_cache

from loomir.backend.tables import assemble
from loomir.dialects import flow
from loomir.runtime.tables.format import Tables

from ..flow_modules import parse

EVERYTHING = """flow.fabric @everything target "wse3" grid 4 by 2 {
  flow.color @red = 3
  flow.color @blue = 4
  flow.color @host = 5
  flow.color @messages = 6
  flow.route @red on [0, :] from [ramp] to [east]
  flow.route @red on [1, :] from [west] to [ramp] swap [x] filter range id 1 min_idx [0, 4] max_idx 9
  flow.route @blue on [:, :] from [ramp] to [ramp] switch [to [east], invalid, to [west]] at 1 ring always_pop
  flow.host_stream @host in on [0, 0]
  flow.message_network @messages
  flow.units @left on [0, :] + [2, 0] words 64 {
    flow.buffer @a at 0 : memref<2x4xf32> = dense<1.5>
    flow.buffer @b at 20 : memref<5xi8>
    flow.buffer @ring at 24 : memref<4xi16>
    flow.buffer @pointer at 30 : memref<i16>
    flow.param @c = dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi16>
    flow.initialize @ring[1] = @c
    flow.fifo @fifo on @ring activate_push @more
    flow.queue input @in id 2 colors [@red on [1, :], @blue on [::2, :]] control_offset 4 unblocked
    flow.queue input @words id 3 colors [@host on [:, :]]
    flow.queue output @out id 2 colors [@red on [:, :]]
    flow.export @a as "a"
    flow.export @pointer as "p" points_to memref<?xf32>
    flow.export @main as "main"
    flow.initial {
      %walk = flow.stream @a at 0 strides [1] extents [8] : !flow.stream<f32>
      flow.load_register src0 1, %walk save_address : !flow.stream<f32>
    }
    flow.func @more_of(%n: i16, %m: i16) -> (i16, i16) {
      %more = arith.cmpi slt, %n, %m : i16
      %r, %s = scf.if %more -> (i16, i16) {
        %one = arith.constant 1 : i16
        %next = arith.addi %n, %one : i16
        %x, %y = flow.call @more_of(%next, %m) : (i16, i16) -> (i16, i16)
        scf.yield %x, %y : i16, i16
      } else {
        scf.yield %m, %n : i16, i16
      }
      flow.return %r, %s : i16, i16
    }
    flow.blocked_microthread 3
    flow.func @main(%n: i16, %f: f32) {
      flow.set_exception_mask %n
      flow.block_microthread %n : i16
      flow.unblock_microthread %n : i16
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %end = arith.index_cast %n : i16 to index
      %c = flow.get_param @c : i16
      %x = flow.coordinate x : i16
      %walk = flow.stream @a at %n strides [1] extents [4] : !flow.stream<f32>
      %sum, %last = scf.for %i = %zero to %end step %one iter_args(%sum = %f, %at = %walk) -> (f32, !flow.stream<f32>) {
        %e = flow.load @a[%one, %i] : f32
        %next = arith.addf %sum, %e : f32
        %moved = flow.advance %at, %x : !flow.stream<f32>
        scf.yield %next, %moved : f32, !flow.stream<f32>
      }
      %r, %s = flow.call @more_of(%c, %x) : (i16, i16) -> (i16, i16)
      %q = arith.divsi %r, %s : i16
      flow.store %q, %n[%end] : i16
      %out = flow.queue_stream @out extent %q : !flow.stream<f32>
      flow.apply fmovs %out, %last async(microthread = 3, activate = @more, priority = low)
        : !flow.stream<f32>, !flow.stream<f32>
      %held = flow.register src0 1 : !flow.stream<f32>
      flow.apply fmacs %last, %last, %held, %sum : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>, f32
      %fifo = flow.fifo_stream @fifo : !flow.stream<i16>
      flow.set_fifo_length @fifo write, %n
      %done = flow.apply mov16 %fifo, %q : !flow.stream<i16>, i16 -> i1
      flow.assert %done, "pushed {u}", %q : i16
      flow.set_clock "start"
      %low, %middle, %high = flow.timestamp
      flow.print "{d} {f}", %middle, %sum : i16, f32
      flow.directive "gather" along "y", %low, %high
      flow.return
    }
    flow.task local @more id 9 active {
      flow.unblock @in
      flow.return
    }
    flow.task data @word id 3 on @words (%low: i16, %high: i16) {
      flow.store %low, @pointer[] : i16
      flow.return
    }
    flow.task control @stop id 40 (%word: i16) {
      flow.activate @more
      flow.block @more
      flow.return
    }
  }
  flow.units @right on [1, :] words 8 attributes {configuration = array<i64: 32712, 3>} {
    flow.buffer @a at 0 : memref<2x4xf16>
    flow.export @more as "main"
    flow.func @more(%n: i16, %f: f32) {
      %walk = flow.stream @a at 0 strides [1, 1] extents [2, 4] : !flow.stream<f16>
      flow.apply faddh %walk, %walk, %walk : !flow.stream<f16>, !flow.stream<f16>, !flow.stream<f16>
      flow.return
    }
  }
}"""


@lru_cache
def everything() -> Tables:
    """Return the tables of a program with every construct."""
    module = parse(EVERYTHING, verify=False)
    return assemble(next(op for op in module.walk() if isinstance(op, flow.FabricOp)))
