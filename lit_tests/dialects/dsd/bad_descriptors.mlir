// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Descriptors that break a rule, each with its error. AMB numbers name choices where the rules are silent.

// CHECK: error: a descriptor of memref<4xi64> has elements of i64, not f32; use that element type{{$}}
%A = "test.op"() : () -> memref<4xi64>
%d = "dsd.mem1d"(%A) <{extent = 4 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (memref<4xi64>) -> !dsd.mem1d<f32>
// -----
// DSD-058
// CHECK: error: 2 induction variables have 1 extents; give one for each{{$}}
%A = "test.op"() : () -> memref<8x8xf32>
%d = dsd.tensor_access %A affine_map<(i, j) -> (i, j)> extents [5] : memref<8x8xf32> -> !dsd.mem4d<f32>
// -----
// DSD-020
// CHECK: error: a mem1d access has one induction variable, not 2; make a !dsd.mem4d{{$}}
%A = "test.op"() : () -> memref<8x8xf32>
%d = dsd.tensor_access %A affine_map<(i, j) -> (i, j)> extents [5, 5] : memref<8x8xf32> -> !dsd.mem1d<f32>
// -----
// DSD-057
// CHECK: error: a mem4d access has one to four induction variables, not 5; split the access{{$}}
%A = "test.op"() : () -> memref<8xf32>
%d = dsd.tensor_access %A affine_map<(i, j, k, l, m) -> (i + j + k + l + m)> extents [1, 1, 1, 1, 1] : memref<8xf32> -> !dsd.mem4d<f32>
// -----
// DSD-021
// CHECK: error: extent -1 is out of range; choose one from 0 to 65535{{$}}
%A = "test.op"() : () -> memref<8xf32>
%d = dsd.tensor_access %A affine_map<(i) -> (i)> extents [-1] : memref<8xf32> -> !dsd.mem1d<f32>
// -----
// DSD-032
// CHECK: error: extent 65536 is out of range; choose one from 0 to 65535{{$}}
%A = "test.op"() : () -> memref<8xf32>
%d = dsd.tensor_access %A affine_map<(i) -> (i)> extents [65536] : memref<8xf32> -> !dsd.mem1d<f32>
// -----
// DSD-022: an extent of 0 is legal.
// CHECK: dsd.tensor_access %A affine_map<(d0) -> (d0)> extents [0]
%A = "test.op"() : () -> memref<8xf32>
%d = dsd.tensor_access %A affine_map<(i) -> (i)> extents [0] : memref<8xf32> -> !dsd.mem1d<f32>
// -----
// DSD-024
// CHECK: error: 1 indices do not address memref<8x8xf32>; give 2, one for each dimension{{$}}
%A = "test.op"() : () -> memref<8x8xf32>
%d = dsd.tensor_access %A affine_map<(i) -> (i)> extents [5] : memref<8x8xf32> -> !dsd.mem1d<f32>
// -----
// DSD-025
// CHECK: error: index (d0 floordiv 2) is not affine in the induction variables; use sums of variables times constants{{$}}
%A = "test.op"() : () -> memref<8xf32>
%d = dsd.tensor_access %A affine_map<(i) -> (i floordiv 2)> extents [5] : memref<8xf32> -> !dsd.mem1d<f32>
// -----
// DSD-026
// CHECK: error: a tensor access has a run-time symbol; give offset, strides and extents of a dsd.mem1d instead{{$}}
%A = "test.op"() : () -> memref<8xf32>
%d = dsd.tensor_access %A affine_map<(i)[s] -> (i + s)> extents [5] : memref<8xf32> -> !dsd.mem1d<f32>
// -----
// DSD-016
// CHECK: error: extent is missing and has no default; give it{{$}}
%A = "test.op"() : () -> memref<8xf32>
%d = "dsd.mem1d"(%A) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (memref<8xf32>) -> !dsd.mem1d<f32>
// -----
// DSD-036
// CHECK: error: offset is given as a number and as a value; keep one of them{{$}}
%A, %n = "test.op"() : () -> (memref<8xf32>, i16)
%d = "dsd.mem1d"(%A, %n) <{offset = 1 : i64, extent = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (memref<8xf32>, i16) -> !dsd.mem1d<f32>
// -----
// DSD-008
// CHECK: error: extent 65536 is out of range; choose one from 0 to 65535{{$}}
%A = "test.op"() : () -> memref<8xf32>
%d = dsd.mem1d %A extent 65536 : memref<8xf32>
// -----
// DSD-009
// CHECK: error: stride 128 is out of range; choose one from -128 to 127{{$}}
%A = "test.op"() : () -> memref<8xf32>
%d = dsd.mem1d %A stride 128 extent 4 : memref<8xf32>
// -----
// DSD-009
// CHECK: error: stride -129 is out of range; choose one from -128 to 127{{$}}
%A = "test.op"() : () -> memref<8xf32>
%d = dsd.mem1d %A stride -129 extent 4 : memref<8xf32>
// -----
// DSD-011
// CHECK: error: offset 32768 is out of range; choose one from -32768 to 32767{{$}}
%A = "test.op"() : () -> memref<8xf32>
%d = dsd.mem1d %A at 32768 extent 4 : memref<8xf32>
// -----
// DSD-048
// CHECK: error: offset -32769 is out of range; choose one from -32768 to 32767{{$}}
%A = "test.op"() : () -> memref<8xf32>
%d = dsd.mem4d %A at -32769 extents [4] : memref<8xf32>
// -----
// DSD-050
// CHECK: error: stride 32768 is out of range; choose one from -32768 to 32767{{$}}
%A = "test.op"() : () -> memref<8xf32>
%d = dsd.mem4d %A strides [1, 32768] extents [4, 4] : memref<8xf32>
// -----
// DSD-052
// CHECK: error: extent -4 is out of range; choose one from 0 to 65535{{$}}
%A = "test.op"() : () -> memref<8xf32>
%d = dsd.mem4d %A extents [4, -4] : memref<8xf32>
// -----
// DSD-053
// CHECK: error: 1 strides do not fit 2 extents; give one stride for each extent{{$}}
%A = "test.op"() : () -> memref<8xf32>
%d = dsd.mem4d %A strides [1] extents [4, 4] : memref<8xf32>
// -----
// AMB-05: one to four dimensions.
// CHECK: error: a mem4d has one to four dimensions, not 0; split the walk{{$}}
%A = "test.op"() : () -> memref<8xf32>
%d = dsd.mem4d %A extents [] : memref<8xf32>
// -----
// CHECK: error: a mem4d has one to four dimensions, not 5; split the walk{{$}}
%A = "test.op"() : () -> memref<8xf32>
%d = dsd.mem4d %A extents [1, 1, 1, 1, 1] : memref<8xf32>
// -----
// DSD-085, DSD-089
// CHECK: error: wraparound 15 is larger than the 10 elements of memref<10xf16>; choose a smaller one{{$}}
%A = "test.op"() : () -> memref<10xf16>
%d = dsd.circbuf %A extent 20 wraparound 15 : memref<10xf16>
// -----
// DSD-086, DSD-090
// CHECK: error: wraparound is missing, and memref<f16> has no size to take; give it{{$}}
%A = "test.op"() : () -> memref<f16>
%d = dsd.circbuf %A extent 20 : memref<f16>
// -----
// CHECK: error: wraparound is missing, and memref<?xf16> has no size to take; give it{{$}}
%A = "test.op"() : () -> memref<?xf16>
%d = dsd.circbuf %A extent 20 : memref<?xf16>
// -----
// AMB-30
// CHECK: error: wraparound 0 is out of range; choose one from 1 to 65535{{$}}
%A = "test.op"() : () -> memref<10xf16>
%d = dsd.circbuf %A extent 20 wraparound 0 : memref<10xf16>
// -----
// DSD-079
// CHECK: error: extent -1 is out of range; choose one from 0 to 65535{{$}}
%A = "test.op"() : () -> memref<10xf16>
%d = dsd.circbuf %A extent -1 : memref<10xf16>
// -----
// DSD-005
// CHECK: error: dsd.fabin has neither a queue nor a color; name one{{$}}
%i = dsd.fabin extent 4 : !dsd.fabin<f32>
// -----
// DSD-008
// CHECK: error: extent 65536 is out of range; choose one from 0 to 65535{{$}}
%i = dsd.fabin @q extent 65536 : !dsd.fabin<f32>
// -----
// DSD-110
// CHECK: error: dsd.fabin has no option 'control', which belongs to dsd.fabout; remove it{{$}}
%i = dsd.fabin @q extent 4 {control} : !dsd.fabin<f32>
// -----
// DSD-110
// CHECK: error: dsd.fabin has no option 'wavelet_index_offset', which belongs to dsd.mem1d, dsd.mem4d, dsd.tensor_access and dsd.fabout; remove it{{$}}
%i = dsd.fabin @q extent 4 {wavelet_index_offset} : !dsd.fabin<f16>
// -----
// DSD-254
// CHECK: error: dsd.mem1d has no option 'control_transform', which belongs to dsd.fabin and dsd.fabout; remove it{{$}}
%A = "test.op"() : () -> memref<8xf32>
%d = dsd.mem1d %A extent 4 {control_transform} : memref<8xf32>
// -----
// AMB-24
// CHECK: error: simd_32 packs 16-bit values into wavelets, but the values are f32; remove it{{$}}
%i = dsd.fabin @q extent 4 {simd = simd_32} : !dsd.fabin<f32>
// -----
// AMB-26
// CHECK: error: wavelet_index_offset puts an index into the high half of each wavelet, where i32 has data; send 16-bit values{{$}}
%o = dsd.fabout @q extent 4 {wavelet_index_offset} : !dsd.fabout<i32>
// -----
// DSD-165
// CHECK: error: dsd.increment_offset takes a mem1d or mem4d descriptor, not !dsd.fabin<f32>; only those have an offset{{$}}
%d = "test.op"() : () -> !dsd.fabin<f32>
%e = dsd.increment_offset %d, 4 : !dsd.fabin<f32>
// -----
// DSD-166
// CHECK: error: offset 40000 is out of range; choose one from -32768 to 32767{{$}}
%d = "test.op"() : () -> !dsd.mem1d<f32>
%e = dsd.increment_offset %d, 40000 : !dsd.mem1d<f32>
// -----
// DSD-173
// CHECK: error: dsd.set_length takes a mem1d, circbuf or fabric descriptor, not !dsd.mem4d<f32>; a mem4d keeps its extents, and a FIFO has a read length and a write length{{$}}
%d = "test.op"() : () -> !dsd.mem4d<f32>
%e = dsd.set_length %d, 4 : !dsd.mem4d<f32>
// -----
// AMB-17
// CHECK: error: dsd.set_length takes a mem1d, circbuf or fabric descriptor, not !dsd.fifo<f32>; a mem4d keeps its extents, and a FIFO has a read length and a write length{{$}}
%d = "test.op"() : () -> !dsd.fifo<f32>
%e = dsd.set_length %d, 4 : !dsd.fifo<f32>
// -----
// DSD-174
// CHECK: error: length -1 is out of range; choose one from 0 to 65535{{$}}
%d = "test.op"() : () -> !dsd.mem1d<f32>
%e = dsd.set_length %d, -1 : !dsd.mem1d<f32>
// -----
// DSD-177
// CHECK: error: dsd.set_stride takes a mem1d descriptor, not !dsd.mem4d<f32>; only that has one stride{{$}}
%d = "test.op"() : () -> !dsd.mem4d<f32>
%e = dsd.set_stride %d, 4 : !dsd.mem4d<f32>
// -----
// DSD-178
// CHECK: error: stride 128 is out of range; choose one from -128 to 127{{$}}
%d = "test.op"() : () -> !dsd.mem1d<f32>
%e = dsd.set_stride %d, 128 : !dsd.mem1d<f32>
// -----
// DSD-161
// CHECK: error: dsd.set_base takes a mem1d or mem4d descriptor, not !dsd.circbuf<f32>; only those have a base{{$}}
%d, %A = "test.op"() : () -> (!dsd.circbuf<f32>, memref<8xf32>)
%e = dsd.set_base %d, %A : !dsd.circbuf<f32>, memref<8xf32>
// -----
// DSD-162
// CHECK: error: the new base is a scalar; name an array{{$}}
%d, %A = "test.op"() : () -> (!dsd.mem1d<f32>, memref<f32>)
%e = dsd.set_base %d, %A : !dsd.mem1d<f32>, memref<f32>
// -----
// CHECK: error: the new base has elements of f16, the descriptor of f32; make a new descriptor{{$}}
%d, %A = "test.op"() : () -> (!dsd.mem1d<f32>, memref<8xf16>)
%e = dsd.set_base %d, %A : !dsd.mem1d<f32>, memref<8xf16>
// -----
// CHECK: error: dsd.set_stride makes a !dsd.mem1d<f16> of a !dsd.mem1d<f32>; both have the same type{{$}}
%d = "test.op"() : () -> !dsd.mem1d<f32>
%e = "dsd.set_stride"(%d) <{value = 1 : i64}> : (!dsd.mem1d<f32>) -> !dsd.mem1d<f16>
// -----
// CHECK: error: 1 of the extents are values, but 2 are given; give one for each{{$}}
%A, %n = "test.op"() : () -> (memref<8xf32>, i16)
%d = "dsd.mem4d"(%A, %n, %n) <{extents = array<i64: -9223372036854775808, 2>, operandSegmentSizes = array<i32: 1, 0, 0, 2>}> : (memref<8xf32>, i16, i16) -> !dsd.mem4d<f32>
// -----
// CHECK: error: in simd_64 a value takes the half of a wavelet that wavelet_index_offset puts the index in; use one of the two{{$}}
%o = dsd.fabout @q extent 4 {wavelet_index_offset, simd = simd_64} : !dsd.fabout<f16>
// -----
// DSD-258: the index of a wavelet of two values is a value.
// CHECK: error: a wavelet that carries two values has no index, so control_transform has nothing to mark; remove it, or simd{{$}}
%o = dsd.fabout @q extent 4 {control_transform, simd = simd_64} : !dsd.fabout<f16>
// -----
// CHECK: error: all that is sent is control wavelets with control, so control_transform has nothing to mark; remove it, or control{{$}}
%o = dsd.fabout @q extent 4 {control, control_transform} : !dsd.fabout<f32>
