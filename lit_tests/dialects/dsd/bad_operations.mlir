// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// DSD operations that break a rule, each with its error.

// CHECK: error: fadds takes 2 sources, not 1; correct the operands{{$}}
%d = "test.op"() : () -> !dsd.mem1d<f32>
dsd.fadds %d, %d : !dsd.mem1d<f32>, !dsd.mem1d<f32>
// -----
// CHECK: error: source 2 of fadds has elements of f16, but f32 is needed; use that{{$}}
%d, %h = "test.op"() : () -> (!dsd.mem1d<f32>, !dsd.mem1d<f16>)
dsd.fadds %d, %d, %h : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f16>
// -----
// CHECK: error: the destination of fmovs has elements of i32, but f32 is needed; use that{{$}}
%d, %w = "test.op"() : () -> (!dsd.mem1d<f32>, !dsd.mem1d<i32>)
dsd.fmovs %w, %d : !dsd.mem1d<i32>, !dsd.mem1d<f32>
// -----
// CHECK: error: source 1 of mov16 has elements of f32, but i16 is needed; use that{{$}}
%d, %w = "test.op"() : () -> (!dsd.mem1d<f32>, !dsd.mem1d<i16>)
dsd.mov16 %w, %d : !dsd.mem1d<i16>, !dsd.mem1d<f32>
// -----
// A move or a bitwise operation takes any element of its width.
// CHECK: dsd.mov16 %h, %w : !dsd.mem1d<f16>, !dsd.mem1d<i16>
// CHECK: dsd.xor16 %w, %w, %h : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<f16>
%h, %w = "test.op"() : () -> (!dsd.mem1d<f16>, !dsd.mem1d<i16>)
dsd.mov16 %h, %w : !dsd.mem1d<f16>, !dsd.mem1d<i16>
dsd.xor16 %w, %w, %h : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<f16>
// -----
// DSD-072: a pointer to a scalar is a destination.
// CHECK: dsd.fmovh %s, %h : memref<f16>, !dsd.mem1d<f16>
%s, %h = "test.op"() : () -> (memref<f16>, !dsd.mem1d<f16>)
dsd.fmovh %s, %h : memref<f16>, !dsd.mem1d<f16>
// -----
// DSD-073
// CHECK: error: fmacs does not write to a scalar; make a descriptor of stride 0 with dsd.mem1d{{$}}
%s, %d, %c = "test.op"() : () -> (memref<f32>, !dsd.mem1d<f32>, f32)
dsd.fmacs %s, %d, %d, %c : memref<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
// -----
// CHECK: error: the destination of fmovh has elements of f32, but f16 is needed; use that{{$}}
%s, %h = "test.op"() : () -> (memref<f32>, !dsd.mem1d<f16>)
dsd.fmovh %s, %h : memref<f32>, !dsd.mem1d<f16>
// -----
// AMB-10
// CHECK: error: the destination of fmovs is an array; make a descriptor of it with dsd.mem1d{{$}}
%A, %d = "test.op"() : () -> (memref<4xf32>, !dsd.mem1d<f32>)
dsd.fmovs %A, %d : memref<4xf32>, !dsd.mem1d<f32>
// -----
// AMB-10
// CHECK: error: source 1 of fmovs is an array; make a descriptor of it with dsd.mem1d{{$}}
%A, %d = "test.op"() : () -> (memref<4xf32>, !dsd.mem1d<f32>)
dsd.fmovs %d, %A : !dsd.mem1d<f32>, memref<4xf32>
// -----
// CHECK: error: the destination of fmovs is a value; name a descriptor or the buffer of a scalar{{$}}
%c, %d = "test.op"() : () -> (f32, !dsd.mem1d<f32>)
dsd.fmovs %c, %d : f32, !dsd.mem1d<f32>
// -----
// CHECK: error: source 1 of fmovs is of type index; name a descriptor{{$}}
%c, %d = "test.op"() : () -> (index, !dsd.mem1d<f32>)
dsd.fmovs %d, %c : !dsd.mem1d<f32>, index
// -----
// CHECK: error: source 1 of sub16 cannot be a scalar; name a descriptor{{$}}
%c, %d = "test.op"() : () -> (i16, !dsd.mem1d<i16>)
dsd.sub16 %d, %c, %d : !dsd.mem1d<i16>, i16, !dsd.mem1d<i16>
// -----
// CHECK: error: source 3 of fmacs must be a scalar of f32; give one{{$}}
%d = "test.op"() : () -> !dsd.mem1d<f32>
dsd.fmacs %d, %d, %d, %d : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>
// -----
// DSD-091
// CHECK: error: source 1 of fmovs is a circbuf, which works only in a register; load it with dsr.load{{$}}
%c, %d = "test.op"() : () -> (!dsd.circbuf<f32>, !dsd.mem1d<f32>)
dsd.fmovs %d, %c : !dsd.mem1d<f32>, !dsd.circbuf<f32>
// -----
// DSD-091
// CHECK: error: the destination of fmovs is a circbuf, which works only in a register; load it with dsr.load{{$}}
%c, %d = "test.op"() : () -> (!dsd.circbuf<f32>, !dsd.mem1d<f32>)
dsd.fmovs %c, %d : !dsd.circbuf<f32>, !dsd.mem1d<f32>
// -----
// DSD-102
// CHECK: error: the destination of fmovs is a fabin; wavelets are sent to a fabout{{$}}
%i, %d = "test.op"() : () -> (!dsd.fabin<f32>, !dsd.mem1d<f32>)
dsd.fmovs %i, %d : !dsd.fabin<f32>, !dsd.mem1d<f32>
// -----
// DSD-102
// CHECK: error: source 1 of fmovs is a fabout; wavelets are received from a fabin{{$}}
%o, %d = "test.op"() : () -> (!dsd.fabout<f32>, !dsd.mem1d<f32>)
dsd.fmovs %d, %o : !dsd.mem1d<f32>, !dsd.fabout<f32>
// -----
// DSD-124
// CHECK: error: fadds reads two FIFOs; at most one source can be a FIFO{{$}}
%f, %d = "test.op"() : () -> (!dsd.fifo<f32>, !dsd.mem1d<f32>)
dsd.fadds %d, %f, %f : !dsd.mem1d<f32>, !dsd.fifo<f32>, !dsd.fifo<f32>
// -----
// DSD-125
// CHECK: error: the first source of fadds is a FIFO; swap the sources or copy the FIFO first{{$}}
%f, %d = "test.op"() : () -> (!dsd.fifo<f32>, !dsd.mem1d<f32>)
dsd.fadds %d, %f, %d : !dsd.mem1d<f32>, !dsd.fifo<f32>, !dsd.mem1d<f32>
// -----
// DSD-183
// CHECK: error: fmovs is async but moves no wavelets; only operations with a fabric operand can be{{$}}
%d = "test.op"() : () -> !dsd.mem1d<f32>
dsd.fmovs %d, %d async : !dsd.mem1d<f32>, !dsd.mem1d<f32>
// -----
// DSD-189
// CHECK: error: activate and unblock are both given; keep one of them{{$}}
%o, %d = "test.op"() : () -> (!dsd.fabout<f32>, !dsd.mem1d<f32>)
dsd.fmovs %o, %d async(activate = @t, unblock = @t) : !dsd.fabout<f32>, !dsd.mem1d<f32>
// -----
// DSD-044
// CHECK: error: an operand of add16 has wavelet_index_offset, but the operation has no index; give it one, in CSL with '.index', in IR with index(...){{$}}
%A, %c = "test.op"() : () -> (memref<10xi16>, i16)
%d = dsd.mem1d %A extent 10 {wavelet_index_offset} : memref<10xi16>
%e = dsd.increment_offset %d, 2 : !dsd.mem1d<i16>
dsd.add16 %e, %e, %c : !dsd.mem1d<i16>, !dsd.mem1d<i16>, i16
// -----
// DSD-056
// CHECK: error: an operand of add16 has wavelet_index_offset, but the operation has no index; give it one, in CSL with '.index', in IR with index(...){{$}}
%A, %c = "test.op"() : () -> (memref<10xi16>, i16)
%d = dsd.mem4d %A extents [2, 5] {wavelet_index_offset} : memref<10xi16>
dsd.add16 %d, %d, %c : !dsd.mem4d<i16>, !dsd.mem4d<i16>, i16
// -----
// DSD-109
// CHECK: error: an operand of add16 has wavelet_index_offset, but the operation has no index; give it one, in CSL with '.index', in IR with index(...){{$}}
%d, %c = "test.op"() : () -> (!dsd.mem1d<i16>, i16)
%o = dsd.fabout @q extent 1 {wavelet_index_offset} : !dsd.fabout<i16>
dsd.add16 %o, %d, %c : !dsd.fabout<i16>, !dsd.mem1d<i16>, i16
// -----
// DSD-249
// CHECK: error: fmovh has one source, which zero calls second_source; use that instead of first_source{{$}}
%d = "test.op"() : () -> !dsd.mem1d<f16>
%o = dsd.fabout @q extent 10 {zero = first_source} : !dsd.fabout<f16>
dsd.fmovh %o, %d : !dsd.fabout<f16>, !dsd.mem1d<f16>
// -----
// DSD-247: with one source, second_source is that source.
// CHECK: dsd.fmovh %o, %d : !dsd.fabout<f16>, !dsd.mem1d<f16>
%d = "test.op"() : () -> !dsd.mem1d<f16>
%o = dsd.fabout @q extent 10 {zero = second_source} : !dsd.fabout<f16>
dsd.fmovh %o, %d : !dsd.fabout<f16>, !dsd.mem1d<f16>
// -----
// AMB-31
// CHECK: error: zero names source 2 of fmulh, which is not in memory; name a memory descriptor{{$}}
%d, %c = "test.op"() : () -> (!dsd.mem1d<f16>, f16)
%o = dsd.fabout @q extent 10 {zero = second_source} : !dsd.fabout<f16>
dsd.fmulh %o, %d, %c : !dsd.fabout<f16>, !dsd.mem1d<f16>, f16
// -----
// CHECK: error: fmovs drops data wavelets; only a mov32 without index, result and on_control can{{$}}
%s, %i = "test.op"() : () -> (memref<f32>, !dsd.fabin<f32>)
dsd.fmovs %s, %i async drops_data : memref<f32>, !dsd.fabin<f32>
// -----
// CHECK: error: mov32 drops data wavelets; only a mov32 without index, result and on_control can{{$}}
%s, %i = "test.op"() : () -> (memref<i32>, !dsd.fabin<i32>)
dsd.mov32 %s, %i async(on_control = terminate) drops_data : memref<i32>, !dsd.fabin<i32>
// -----
// CHECK: error: the source of an operation that drops data wavelets is not a fabin; name one{{$}}
%o, %d = "test.op"() : () -> (!dsd.fabout<i32>, !dsd.mem1d<i32>)
dsd.mov32 %o, %d async drops_data : !dsd.fabout<i32>, !dsd.mem1d<i32>
