// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Formats and scalars of 16-bit floats that do not fit, each with its error.

// CHECK: error: source 1 of faddh has elements of f16, but bf16 is needed; use that{{$}}
%b, %h = "test.op"() : () -> (!dsd.mem1d<bf16>, !dsd.mem1d<f16>)
dsd.faddh %b, %h, %b fp16(bf16) : !dsd.mem1d<bf16>, !dsd.mem1d<f16>, !dsd.mem1d<bf16>
// -----
// CHECK: error: unknown format 'f8' of 16-bit floats; use bf16 or cb16, or leave out fp16 for f16{{$}}
%h = "test.op"() : () -> !dsd.mem1d<f16>
dsd.fabsh %h, %h fp16(f8) : !dsd.mem1d<f16>, !dsd.mem1d<f16>
// -----
// CHECK: error: fadds has no operand of 16-bit floats; leave out fp16{{$}}
%s = "test.op"() : () -> !dsd.mem1d<f32>
dsd.fadds %s, %s, %s fp16(bf16) : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>
// -----
// CHECK: error: unknown cb16 function 'erf'; use one of addf, subf,
%y = "test.op"() : () -> i16
%r = wse.cb16 "erf" %y : (i16) -> i16
// -----
// CHECK: error: 'addf' of cb16 takes 2 operands, not 1; correct them{{$}}
%y = "test.op"() : () -> i16
%r = wse.cb16 "addf" %y : (i16) -> i16
// -----
// CHECK: error: 'extf' of cb16 takes f32, not i16; use that{{$}}
%y = "test.op"() : () -> i16
%r = wse.cb16 "extf" %y : (i16) -> i16
// -----
// CHECK: error: source 2 of fmulh is a scalar of i16, but bf16 is needed; use that{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<8xi16>
    flow.func @main(%k: i16) {
      %o = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<i16>
      flow.apply fmulh %o, %o, %k fp16(bf16) : !flow.stream<i16>, !flow.stream<i16>, i16
    }
  }
}
