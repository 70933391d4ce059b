// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// DSD operations on registers that break a rule, each with its error.

// CHECK: error: fadds takes 2 sources, not 1; correct the operands{{$}}
%r, %s = "test.op"() : () -> (!dsr.dest<f32>, !dsr.src0<f32>)
dsr.fadds %r, %s : !dsr.dest<f32>, !dsr.src0<f32>
// -----
// CHECK: error: source 1 of fmovs is of type !dsd.mem1d<f32>; load a descriptor with dsr.load{{$}}
%r, %d = "test.op"() : () -> (!dsr.dest<f32>, !dsd.mem1d<f32>)
dsr.fmovs %r, %d : !dsr.dest<f32>, !dsd.mem1d<f32>
// -----
// DSR-008
// CHECK: error: source 1 of fmovs is a dest register, which holds destinations only; use a src0 or src1{{$}}
%r = "test.op"() : () -> !dsr.dest<f32>
dsr.fmovs %r, %r : !dsr.dest<f32>, !dsr.dest<f32>
// -----
// DSR-009: a src0 register is a destination as well.
// CHECK: dsr.fmovs %r, %s : !dsr.src0<f32, 1>, !dsr.src0<f32, 2>
%r, %s = "test.op"() : () -> (!dsr.src0<f32, 1>, !dsr.src0<f32, 2>)
dsr.fmovs %r, %s : !dsr.src0<f32, 1>, !dsr.src0<f32, 2>
// -----
// DSR-010
// CHECK: error: the destination of fmovs is a src1 register, which holds sources only; use a dest or src0{{$}}
%r, %s = "test.op"() : () -> (!dsr.src1<f32>, !dsr.src0<f32>)
dsr.fmovs %r, %s : !dsr.src1<f32>, !dsr.src0<f32>
// -----
// CHECK: error: two sources of fadds are src0 registers; load one of them into the other source file{{$}}
%r, %s = "test.op"() : () -> (!dsr.dest<f32>, !dsr.src0<f32>)
dsr.fadds %r, %s, %s : !dsr.dest<f32>, !dsr.src0<f32>, !dsr.src0<f32>
// -----
// CHECK: error: source 1 of fmovs has elements of f16, but f32 is needed; use that{{$}}
%r, %s = "test.op"() : () -> (!dsr.dest<f32>, !dsr.src0<f16>)
dsr.fmovs %r, %s : !dsr.dest<f32>, !dsr.src0<f16>
// -----
// DSD-073
// CHECK: error: fmacs does not write to a scalar; make a descriptor of stride 0 with dsd.mem1d{{$}}
%p, %r, %s, %c = "test.op"() : () -> (memref<f32>, !dsr.src0<f32>, !dsr.src1<f32>, f32)
dsr.fmacs %p, %r, %s, %c : memref<f32>, !dsr.src0<f32>, !dsr.src1<f32>, f32
// -----
// DSR-069
// CHECK: error: an operand of fmovs was loaded with single_step, which is for @map; load it without{{$}}
%r, %d = "test.op"() : () -> (!dsr.dest<f32>, !dsd.mem1d<f32>)
%s = dsr.load %d single_step : !dsd.mem1d<f32> -> !dsr.src0<f32>
dsr.fmovs %r, %s : !dsr.dest<f32>, !dsr.src0<f32>
// -----
// DSD-183
// CHECK: error: fmovs is async but moves no wavelets; only operations with a fabric operand can be{{$}}
%d = "test.op"() : () -> !dsd.mem1d<f32>
%r = dsr.load %d : !dsd.mem1d<f32> -> !dsr.dest<f32>
%s = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src0<f32>
dsr.fmovs %r, %s async : !dsr.dest<f32>, !dsr.src0<f32>
// -----
// DSD-184
// CHECK: error: fmovs is async, but no fabric operand was loaded with async; add async to its dsr.load{{$}}
%d, %i = "test.op"() : () -> (!dsd.mem1d<f32>, !dsd.fabin<f32>)
%r = dsr.load %d : !dsd.mem1d<f32> -> !dsr.dest<f32>
%s = dsr.load %i : !dsd.fabin<f32> -> !dsr.src1<f32>
dsr.fmovs %r, %s async : !dsr.dest<f32>, !dsr.src1<f32>
// -----
// DSD-194
// CHECK: error: activate takes effect only where the fabric descriptor is loaded; give it to that dsr.load{{$}}
%d, %i = "test.op"() : () -> (!dsd.mem1d<f32>, !dsd.fabin<f32>)
%r = dsr.load %d : !dsd.mem1d<f32> -> !dsr.dest<f32>
%s = dsr.load %i async : !dsd.fabin<f32> -> !dsr.src1<f32>
dsr.fmovs %r, %s async(activate = @t) : !dsr.dest<f32>, !dsr.src1<f32>
// -----
// DSD-194
// CHECK: error: unblock takes effect only where the fabric descriptor is loaded; give it to that dsr.load{{$}}
%d, %i = "test.op"() : () -> (!dsd.mem1d<f32>, !dsd.fabin<f32>)
%r = dsr.load %d : !dsd.mem1d<f32> -> !dsr.dest<f32>
%s = dsr.load %i async(activate = @t) : !dsd.fabin<f32> -> !dsr.src1<f32>
dsr.fmovs %r, %s async(unblock = @t) : !dsr.dest<f32>, !dsr.src1<f32>
// -----
// DSD-185: an operation on a register loaded with async need not repeat the settings, and may.
// CHECK: dsr.fmovs %r, %s : !dsr.dest<f32>, !dsr.src1<f32>
// CHECK: dsr.fmovs %r, %s async(activate = @t) : !dsr.dest<f32>, !dsr.src1<f32>
%d, %i = "test.op"() : () -> (!dsd.mem1d<f32>, !dsd.fabin<f32>)
%r = dsr.load %d : !dsd.mem1d<f32> -> !dsr.dest<f32>
%s = dsr.load %i async(activate = @t) : !dsd.fabin<f32> -> !dsr.src1<f32>
dsr.fmovs %r, %s : !dsr.dest<f32>, !dsr.src1<f32>
dsr.fmovs %r, %s async(activate = @t) : !dsr.dest<f32>, !dsr.src1<f32>
// -----
// What a register got elsewhere is for the run to tell.
// CHECK: dsr.fmovs %r, %s async : !dsr.dest<f32, 0>, !dsr.src1<f32, 0>
%r = dsr.get_dsr : !dsr.dest<f32, 0>
%s = dsr.get_dsr : !dsr.src1<f32, 0>
dsr.fmovs %r, %s async : !dsr.dest<f32, 0>, !dsr.src1<f32, 0>
// -----
// DSD-044: the load hides no option of the descriptor.
// CHECK: error: an operand of mov16 has wavelet_index_offset, but the operation has no index; give it one, in CSL with '.index', in IR with index(...){{$}}
%A, %r = "test.op"() : () -> (memref<10xi16>, !dsr.dest<i16>)
%d = dsd.mem1d %A extent 10 {wavelet_index_offset} : memref<10xi16>
%s = dsr.load %d : !dsd.mem1d<i16> -> !dsr.src0<i16>
dsr.mov16 %r, %s : !dsr.dest<i16>, !dsr.src0<i16>
