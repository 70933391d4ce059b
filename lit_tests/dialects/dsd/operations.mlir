// RUN: loom-opt %s | loom-opt | filecheck %s
// RUN: loom-opt %s --print-op-generic | loom-opt | filecheck %s
// Every DSD operation on descriptors, and with a scalar where it takes one.

// CHECK-LABEL: func.func @operations(
func.func @operations(
    %h: !dsd.mem1d<f16>, %s: !dsd.mem1d<f32>, %w: !dsd.mem1d<i16>, %d: !dsd.mem1d<i32>,
    %xh: f16, %xs: f32, %xw: i16, %xd: i32) {
  // CHECK-NEXT: dsd.add16 %w, %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<i16>
  dsd.add16 %w, %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<i16>
  // CHECK-NEXT: dsd.add16 %w, %w, %xw : !dsd.mem1d<i16>, !dsd.mem1d<i16>, i16
  dsd.add16 %w, %w, %xw : !dsd.mem1d<i16>, !dsd.mem1d<i16>, i16
  // CHECK-NEXT: dsd.addc16 %w, %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<i16>
  dsd.addc16 %w, %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<i16>
  // CHECK-NEXT: dsd.addc16 %w, %w, %xw : !dsd.mem1d<i16>, !dsd.mem1d<i16>, i16
  dsd.addc16 %w, %w, %xw : !dsd.mem1d<i16>, !dsd.mem1d<i16>, i16
  // CHECK-NEXT: dsd.and16 %w, %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<i16>
  dsd.and16 %w, %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<i16>
  // CHECK-NEXT: dsd.and16 %w, %w, %xw : !dsd.mem1d<i16>, !dsd.mem1d<i16>, i16
  dsd.and16 %w, %w, %xw : !dsd.mem1d<i16>, !dsd.mem1d<i16>, i16
  // CHECK-NEXT: dsd.clz %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>
  dsd.clz %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>
  // CHECK-NEXT: dsd.clz %w, %xw : !dsd.mem1d<i16>, i16
  dsd.clz %w, %xw : !dsd.mem1d<i16>, i16
  // CHECK-NEXT: dsd.ctz %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>
  dsd.ctz %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>
  // CHECK-NEXT: dsd.ctz %w, %xw : !dsd.mem1d<i16>, i16
  dsd.ctz %w, %xw : !dsd.mem1d<i16>, i16
  // CHECK-NEXT: dsd.fabsh %h, %h : !dsd.mem1d<f16>, !dsd.mem1d<f16>
  dsd.fabsh %h, %h : !dsd.mem1d<f16>, !dsd.mem1d<f16>
  // CHECK-NEXT: dsd.fabsh %h, %xh : !dsd.mem1d<f16>, f16
  dsd.fabsh %h, %xh : !dsd.mem1d<f16>, f16
  // CHECK-NEXT: dsd.fabss %s, %s : !dsd.mem1d<f32>, !dsd.mem1d<f32>
  dsd.fabss %s, %s : !dsd.mem1d<f32>, !dsd.mem1d<f32>
  // CHECK-NEXT: dsd.fabss %s, %xs : !dsd.mem1d<f32>, f32
  dsd.fabss %s, %xs : !dsd.mem1d<f32>, f32
  // CHECK-NEXT: dsd.faddh %h, %h, %h : !dsd.mem1d<f16>, !dsd.mem1d<f16>, !dsd.mem1d<f16>
  dsd.faddh %h, %h, %h : !dsd.mem1d<f16>, !dsd.mem1d<f16>, !dsd.mem1d<f16>
  // CHECK-NEXT: dsd.faddh %h, %h, %xh : !dsd.mem1d<f16>, !dsd.mem1d<f16>, f16
  dsd.faddh %h, %h, %xh : !dsd.mem1d<f16>, !dsd.mem1d<f16>, f16
  // CHECK-NEXT: dsd.faddhs %s, %h, %s : !dsd.mem1d<f32>, !dsd.mem1d<f16>, !dsd.mem1d<f32>
  dsd.faddhs %s, %h, %s : !dsd.mem1d<f32>, !dsd.mem1d<f16>, !dsd.mem1d<f32>
  // CHECK-NEXT: dsd.faddhs %s, %h, %xs : !dsd.mem1d<f32>, !dsd.mem1d<f16>, f32
  dsd.faddhs %s, %h, %xs : !dsd.mem1d<f32>, !dsd.mem1d<f16>, f32
  // CHECK-NEXT: dsd.fadds %s, %s, %s : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>
  dsd.fadds %s, %s, %s : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>
  // CHECK-NEXT: dsd.fadds %s, %s, %xs : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
  dsd.fadds %s, %s, %xs : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
  // CHECK-NEXT: dsd.fh2s %s, %h : !dsd.mem1d<f32>, !dsd.mem1d<f16>
  dsd.fh2s %s, %h : !dsd.mem1d<f32>, !dsd.mem1d<f16>
  // CHECK-NEXT: dsd.fh2s %s, %xh : !dsd.mem1d<f32>, f16
  dsd.fh2s %s, %xh : !dsd.mem1d<f32>, f16
  // CHECK-NEXT: dsd.fh2xp16 %w, %h : !dsd.mem1d<i16>, !dsd.mem1d<f16>
  dsd.fh2xp16 %w, %h : !dsd.mem1d<i16>, !dsd.mem1d<f16>
  // CHECK-NEXT: dsd.fh2xp16 %w, %xh : !dsd.mem1d<i16>, f16
  dsd.fh2xp16 %w, %xh : !dsd.mem1d<i16>, f16
  // CHECK-NEXT: dsd.fmach %h, %h, %h, %xh : !dsd.mem1d<f16>, !dsd.mem1d<f16>, !dsd.mem1d<f16>, f16
  dsd.fmach %h, %h, %h, %xh : !dsd.mem1d<f16>, !dsd.mem1d<f16>, !dsd.mem1d<f16>, f16
  // CHECK-NEXT: dsd.fmachs %s, %s, %h, %xh : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f16>, f16
  dsd.fmachs %s, %s, %h, %xh : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f16>, f16
  // CHECK-NEXT: dsd.fmacs %s, %s, %s, %xs : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
  dsd.fmacs %s, %s, %s, %xs : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
  // CHECK-NEXT: dsd.fmaxh %h, %h, %h : !dsd.mem1d<f16>, !dsd.mem1d<f16>, !dsd.mem1d<f16>
  dsd.fmaxh %h, %h, %h : !dsd.mem1d<f16>, !dsd.mem1d<f16>, !dsd.mem1d<f16>
  // CHECK-NEXT: dsd.fmaxh %h, %h, %xh : !dsd.mem1d<f16>, !dsd.mem1d<f16>, f16
  dsd.fmaxh %h, %h, %xh : !dsd.mem1d<f16>, !dsd.mem1d<f16>, f16
  // CHECK-NEXT: dsd.fmaxs %s, %s, %s : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>
  dsd.fmaxs %s, %s, %s : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>
  // CHECK-NEXT: dsd.fmaxs %s, %s, %xs : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
  dsd.fmaxs %s, %s, %xs : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
  // CHECK-NEXT: dsd.fmovh %h, %h : !dsd.mem1d<f16>, !dsd.mem1d<f16>
  dsd.fmovh %h, %h : !dsd.mem1d<f16>, !dsd.mem1d<f16>
  // CHECK-NEXT: dsd.fmovh %h, %xh : !dsd.mem1d<f16>, f16
  dsd.fmovh %h, %xh : !dsd.mem1d<f16>, f16
  // CHECK-NEXT: dsd.fmovs %s, %s : !dsd.mem1d<f32>, !dsd.mem1d<f32>
  dsd.fmovs %s, %s : !dsd.mem1d<f32>, !dsd.mem1d<f32>
  // CHECK-NEXT: dsd.fmovs %s, %xs : !dsd.mem1d<f32>, f32
  dsd.fmovs %s, %xs : !dsd.mem1d<f32>, f32
  // CHECK-NEXT: dsd.fmulh %h, %h, %h : !dsd.mem1d<f16>, !dsd.mem1d<f16>, !dsd.mem1d<f16>
  dsd.fmulh %h, %h, %h : !dsd.mem1d<f16>, !dsd.mem1d<f16>, !dsd.mem1d<f16>
  // CHECK-NEXT: dsd.fmulh %h, %h, %xh : !dsd.mem1d<f16>, !dsd.mem1d<f16>, f16
  dsd.fmulh %h, %h, %xh : !dsd.mem1d<f16>, !dsd.mem1d<f16>, f16
  // CHECK-NEXT: dsd.fmuls %s, %s, %s : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>
  dsd.fmuls %s, %s, %s : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>
  // CHECK-NEXT: dsd.fmuls %s, %s, %xs : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
  dsd.fmuls %s, %s, %xs : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
  // CHECK-NEXT: dsd.fnegh %h, %h : !dsd.mem1d<f16>, !dsd.mem1d<f16>
  dsd.fnegh %h, %h : !dsd.mem1d<f16>, !dsd.mem1d<f16>
  // CHECK-NEXT: dsd.fnegh %h, %xh : !dsd.mem1d<f16>, f16
  dsd.fnegh %h, %xh : !dsd.mem1d<f16>, f16
  // CHECK-NEXT: dsd.fnegs %s, %s : !dsd.mem1d<f32>, !dsd.mem1d<f32>
  dsd.fnegs %s, %s : !dsd.mem1d<f32>, !dsd.mem1d<f32>
  // CHECK-NEXT: dsd.fnegs %s, %xs : !dsd.mem1d<f32>, f32
  dsd.fnegs %s, %xs : !dsd.mem1d<f32>, f32
  // CHECK-NEXT: dsd.fnormh %h, %xh : !dsd.mem1d<f16>, f16
  dsd.fnormh %h, %xh : !dsd.mem1d<f16>, f16
  // CHECK-NEXT: dsd.fnorms %s, %xs : !dsd.mem1d<f32>, f32
  dsd.fnorms %s, %xs : !dsd.mem1d<f32>, f32
  // CHECK-NEXT: dsd.fs2h %h, %s : !dsd.mem1d<f16>, !dsd.mem1d<f32>
  dsd.fs2h %h, %s : !dsd.mem1d<f16>, !dsd.mem1d<f32>
  // CHECK-NEXT: dsd.fs2h %h, %xs : !dsd.mem1d<f16>, f32
  dsd.fs2h %h, %xs : !dsd.mem1d<f16>, f32
  // CHECK-NEXT: dsd.fs2xp16 %w, %s : !dsd.mem1d<i16>, !dsd.mem1d<f32>
  dsd.fs2xp16 %w, %s : !dsd.mem1d<i16>, !dsd.mem1d<f32>
  // CHECK-NEXT: dsd.fs2xp16 %w, %xs : !dsd.mem1d<i16>, f32
  dsd.fs2xp16 %w, %xs : !dsd.mem1d<i16>, f32
  // CHECK-NEXT: dsd.fscaleh %h, %xh, %xw : !dsd.mem1d<f16>, f16, i16
  dsd.fscaleh %h, %xh, %xw : !dsd.mem1d<f16>, f16, i16
  // CHECK-NEXT: dsd.fscales %s, %xs, %xw : !dsd.mem1d<f32>, f32, i16
  dsd.fscales %s, %xs, %xw : !dsd.mem1d<f32>, f32, i16
  // CHECK-NEXT: dsd.fsubh %h, %h, %h : !dsd.mem1d<f16>, !dsd.mem1d<f16>, !dsd.mem1d<f16>
  dsd.fsubh %h, %h, %h : !dsd.mem1d<f16>, !dsd.mem1d<f16>, !dsd.mem1d<f16>
  // CHECK-NEXT: dsd.fsubh %h, %h, %xh : !dsd.mem1d<f16>, !dsd.mem1d<f16>, f16
  dsd.fsubh %h, %h, %xh : !dsd.mem1d<f16>, !dsd.mem1d<f16>, f16
  // CHECK-NEXT: dsd.fsubs %s, %s, %s : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>
  dsd.fsubs %s, %s, %s : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>
  // CHECK-NEXT: dsd.fsubs %s, %s, %xs : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
  dsd.fsubs %s, %s, %xs : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
  // CHECK-NEXT: dsd.mov16 %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>
  dsd.mov16 %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>
  // CHECK-NEXT: dsd.mov16 %w, %xw : !dsd.mem1d<i16>, i16
  dsd.mov16 %w, %xw : !dsd.mem1d<i16>, i16
  // CHECK-NEXT: dsd.mov32 %d, %d : !dsd.mem1d<i32>, !dsd.mem1d<i32>
  dsd.mov32 %d, %d : !dsd.mem1d<i32>, !dsd.mem1d<i32>
  // CHECK-NEXT: dsd.mov32 %d, %xd : !dsd.mem1d<i32>, i32
  dsd.mov32 %d, %xd : !dsd.mem1d<i32>, i32
  // CHECK-NEXT: dsd.or16 %w, %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<i16>
  dsd.or16 %w, %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<i16>
  // CHECK-NEXT: dsd.or16 %w, %w, %xw : !dsd.mem1d<i16>, !dsd.mem1d<i16>, i16
  dsd.or16 %w, %w, %xw : !dsd.mem1d<i16>, !dsd.mem1d<i16>, i16
  // CHECK-NEXT: dsd.popcnt %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>
  dsd.popcnt %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>
  // CHECK-NEXT: dsd.popcnt %w, %xw : !dsd.mem1d<i16>, i16
  dsd.popcnt %w, %xw : !dsd.mem1d<i16>, i16
  // CHECK-NEXT: dsd.sar16 %w, %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<i16>
  dsd.sar16 %w, %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<i16>
  // CHECK-NEXT: dsd.sar16 %w, %w, %xw : !dsd.mem1d<i16>, !dsd.mem1d<i16>, i16
  dsd.sar16 %w, %w, %xw : !dsd.mem1d<i16>, !dsd.mem1d<i16>, i16
  // CHECK-NEXT: dsd.sll16 %w, %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<i16>
  dsd.sll16 %w, %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<i16>
  // CHECK-NEXT: dsd.sll16 %w, %w, %xw : !dsd.mem1d<i16>, !dsd.mem1d<i16>, i16
  dsd.sll16 %w, %w, %xw : !dsd.mem1d<i16>, !dsd.mem1d<i16>, i16
  // CHECK-NEXT: dsd.slr16 %w, %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<i16>
  dsd.slr16 %w, %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<i16>
  // CHECK-NEXT: dsd.slr16 %w, %w, %xw : !dsd.mem1d<i16>, !dsd.mem1d<i16>, i16
  dsd.slr16 %w, %w, %xw : !dsd.mem1d<i16>, !dsd.mem1d<i16>, i16
  // CHECK-NEXT: dsd.sub16 %w, %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<i16>
  dsd.sub16 %w, %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<i16>
  // CHECK-NEXT: dsd.sub16 %w, %w, %xw : !dsd.mem1d<i16>, !dsd.mem1d<i16>, i16
  dsd.sub16 %w, %w, %xw : !dsd.mem1d<i16>, !dsd.mem1d<i16>, i16
  // CHECK-NEXT: dsd.xor16 %w, %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<i16>
  dsd.xor16 %w, %w, %w : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<i16>
  // CHECK-NEXT: dsd.xor16 %w, %w, %xw : !dsd.mem1d<i16>, !dsd.mem1d<i16>, i16
  dsd.xor16 %w, %w, %xw : !dsd.mem1d<i16>, !dsd.mem1d<i16>, i16
  // CHECK-NEXT: dsd.xp162fh %h, %w : !dsd.mem1d<f16>, !dsd.mem1d<i16>
  dsd.xp162fh %h, %w : !dsd.mem1d<f16>, !dsd.mem1d<i16>
  // CHECK-NEXT: dsd.xp162fh %h, %xw : !dsd.mem1d<f16>, i16
  dsd.xp162fh %h, %xw : !dsd.mem1d<f16>, i16
  // CHECK-NEXT: dsd.xp162fs %s, %w : !dsd.mem1d<f32>, !dsd.mem1d<i16>
  dsd.xp162fs %s, %w : !dsd.mem1d<f32>, !dsd.mem1d<i16>
  // CHECK-NEXT: dsd.xp162fs %s, %xw : !dsd.mem1d<f32>, i16
  dsd.xp162fs %s, %xw : !dsd.mem1d<f32>, i16
  // CHECK-NEXT: func.return
  func.return
}
