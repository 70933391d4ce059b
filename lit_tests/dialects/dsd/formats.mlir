// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Formats of 16-bit floats: operations with fp16, and scalars of cb16 as the integers with their bits.

// CHECK: dsd.faddh %b, %b, %x fp16(bf16) : !dsd.mem1d<bf16>, !dsd.mem1d<bf16>, bf16
// CHECK: dsd.fmachs %s, %s, %c, %y fp16(cb16) : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<i16>, i16
// CHECK: dsr.faddh %d, %r, %q fp16(bf16) : !dsr.dest<bf16, 2>, !dsr.src0<bf16, 1>, !dsr.src1<bf16, 1>
%b, %x, %s, %c, %y = "test.op"() : () -> (!dsd.mem1d<bf16>, bf16, !dsd.mem1d<f32>, !dsd.mem1d<i16>, i16)
dsd.faddh %b, %b, %x fp16(bf16) : !dsd.mem1d<bf16>, !dsd.mem1d<bf16>, bf16
dsd.fmachs %s, %s, %c, %y fp16(cb16) : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<i16>, i16
%d, %r, %q = "test.op"() : () -> (!dsr.dest<bf16, 2>, !dsr.src0<bf16, 1>, !dsr.src1<bf16, 1>)
dsr.faddh %d, %r, %q fp16(bf16) : !dsr.dest<bf16, 2>, !dsr.src0<bf16, 1>, !dsr.src1<bf16, 1>

// -----

// CHECK: %sum = wse.cb16 "addf" %y, %y : (i16, i16) -> i16
// CHECK: %wide = wse.cb16 "extf" %sum : (i16) -> f32
// CHECK: %less = wse.cb16 "olt" %y, %sum : (i16, i16) -> i1
// CHECK: %left = wse.remf %wide, %wide : f32
%y = "test.op"() : () -> i16
%sum = wse.cb16 "addf" %y, %y : (i16, i16) -> i16
%wide = wse.cb16 "extf" %sum : (i16) -> f32
%less = wse.cb16 "olt" %y, %sum : (i16, i16) -> i1
%left = wse.remf %wide, %wide : f32

// -----

// CHECK: flow.apply fmulh %o, %o, %k fp16(cb16) : !flow.stream<i16>, !flow.stream<i16>, i16
// CHECK: %n = flow.cb16 "negf" %k : (i16) -> i16
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<8xi16>
    flow.func @main(%k: i16) {
      %o = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<i16>
      flow.apply fmulh %o, %o, %k fp16(cb16) : !flow.stream<i16>, !flow.stream<i16>, i16
      %n = flow.cb16 "negf" %k : (i16) -> i16
    }
  }
}
