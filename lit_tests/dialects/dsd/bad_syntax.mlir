// RUN: loom-opt %s --split-input-file --parsing-diagnostics | filecheck %s
// Text that is not a descriptor or DSD operation, each with its error.

// CHECK: a descriptor cannot hold i64; use f16, bf16, f32, i16 or i32{{$}}
%d = "test.op"() : () -> !dsd.mem1d<i64>
// -----
// CHECK: a descriptor is made of a memref, for example memref<16xf32>{{$}}
%A = "test.op"() : () -> f32
%d = dsd.mem1d %A extent 4 : f32
// -----
// CHECK: expected affine_map<...>, the indices of the access{{$}}
%A = "test.op"() : () -> memref<8xf32>
%d = dsd.tensor_access %A 4 extents [5] : memref<8xf32> -> !dsd.mem1d<f32>
// -----
// CHECK: a tensor access makes a !dsd.mem1d or !dsd.mem4d{{$}}
%A = "test.op"() : () -> memref<8xf32>
%d = dsd.tensor_access %A affine_map<(i) -> (i)> extents [5] : memref<8xf32> -> !dsd.circbuf<f32>
// -----
// CHECK: dsd.fabin makes a !dsd.fabin, for example !dsd.fabin<f32>{{$}}
%i = dsd.fabin @q extent 4 : !dsd.fabout<f32>
// -----
// CHECK: an option is given twice; give it once{{$}}
%o = dsd.fabout @q extent 4 {control, control} : !dsd.fabout<f32>
// -----
// DSD-231: a priority is one of three words.
// CHECK: Expected `low`, `medium`, or `high`
%i = dsd.fabin @q extent 4 {priority = highest} : !dsd.fabin<f32>
// -----
// CHECK: 'ut' is given twice; give it once{{$}}
%o, %d = "test.op"() : () -> (!dsd.fabout<f32>, !dsd.mem1d<f32>)
dsd.fmovs %o, %d async(ut = 1, ut = 2) : !dsd.fabout<f32>, !dsd.mem1d<f32>
// -----
// CHECK: 'speed' is not a setting of an asynchronous operation; use activate, unblock, on_control, ut or priority{{$}}
%o, %d = "test.op"() : () -> (!dsd.fabout<f32>, !dsd.mem1d<f32>)
dsd.fmovs %o, %d async(speed = 1) : !dsd.fabout<f32>, !dsd.mem1d<f32>
// -----
// CHECK: 2 operands have 1 types; give one for each{{$}}
%d = "test.op"() : () -> !dsd.mem1d<f32>
dsd.fmovs %d, %d : !dsd.mem1d<f32>
