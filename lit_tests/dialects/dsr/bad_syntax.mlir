// RUN: loom-opt %s --split-input-file --parsing-diagnostics | filecheck %s
// Text that is not a register, each with its error.

// CHECK: a register cannot hold i64; use f16, bf16, f32, i16 or i32{{$}}
%r = "test.op"() : () -> !dsr.dest<i64>
// -----
// DSR-022
// CHECK: Expected integer literal
%r = "test.op"() : () -> !dsr.dest<f32, -1>
// -----
// CHECK: a descriptor is loaded into a !dsr.dest, !dsr.src0 or !dsr.src1{{$}}
%d = "test.op"() : () -> !dsd.mem1d<f32>
%r = dsr.load %d : !dsd.mem1d<f32> -> !dsr.xdsr
// -----
// CHECK: 2 operands have 1 types; give one for each{{$}}
%q, %x = "test.op"() : () -> (!dsd.mem4d<f32>, !dsr.xdsr)
%r = dsr.load %q xdsr %x : !dsd.mem4d<f32> -> !dsr.src0<f32>
