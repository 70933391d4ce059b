// RUN: loom-opt %s | loom-opt | filecheck %s
// RUN: loom-opt %s --print-op-generic | loom-opt | filecheck %s
// Every DSD operation on registers.

// CHECK-LABEL: func.func @operations(
func.func @operations(
    %rh: !dsr.dest<f16>, %rs: !dsr.dest<f32>, %rw: !dsr.dest<i16>, %rd: !dsr.dest<i32>,
    %ah: !dsr.src0<f16>, %as: !dsr.src0<f32>, %aw: !dsr.src0<i16>, %ad: !dsr.src0<i32>,
    %bh: !dsr.src1<f16>, %bs: !dsr.src1<f32>, %bw: !dsr.src1<i16>, %bd: !dsr.src1<i32>,
    %xh: f16, %xs: f32, %xw: i16) {
  // CHECK-NEXT: dsr.add16 %rw, %aw, %bw : !dsr.dest<i16>, !dsr.src0<i16>, !dsr.src1<i16>
  dsr.add16 %rw, %aw, %bw : !dsr.dest<i16>, !dsr.src0<i16>, !dsr.src1<i16>
  // CHECK-NEXT: dsr.addc16 %rw, %aw, %bw : !dsr.dest<i16>, !dsr.src0<i16>, !dsr.src1<i16>
  dsr.addc16 %rw, %aw, %bw : !dsr.dest<i16>, !dsr.src0<i16>, !dsr.src1<i16>
  // CHECK-NEXT: dsr.and16 %rw, %aw, %bw : !dsr.dest<i16>, !dsr.src0<i16>, !dsr.src1<i16>
  dsr.and16 %rw, %aw, %bw : !dsr.dest<i16>, !dsr.src0<i16>, !dsr.src1<i16>
  // CHECK-NEXT: dsr.clz %rw, %aw : !dsr.dest<i16>, !dsr.src0<i16>
  dsr.clz %rw, %aw : !dsr.dest<i16>, !dsr.src0<i16>
  // CHECK-NEXT: dsr.ctz %rw, %aw : !dsr.dest<i16>, !dsr.src0<i16>
  dsr.ctz %rw, %aw : !dsr.dest<i16>, !dsr.src0<i16>
  // CHECK-NEXT: dsr.fabsh %rh, %ah : !dsr.dest<f16>, !dsr.src0<f16>
  dsr.fabsh %rh, %ah : !dsr.dest<f16>, !dsr.src0<f16>
  // CHECK-NEXT: dsr.fabss %rs, %as : !dsr.dest<f32>, !dsr.src0<f32>
  dsr.fabss %rs, %as : !dsr.dest<f32>, !dsr.src0<f32>
  // CHECK-NEXT: dsr.faddh %rh, %ah, %bh : !dsr.dest<f16>, !dsr.src0<f16>, !dsr.src1<f16>
  dsr.faddh %rh, %ah, %bh : !dsr.dest<f16>, !dsr.src0<f16>, !dsr.src1<f16>
  // CHECK-NEXT: dsr.faddhs %rs, %ah, %bs : !dsr.dest<f32>, !dsr.src0<f16>, !dsr.src1<f32>
  dsr.faddhs %rs, %ah, %bs : !dsr.dest<f32>, !dsr.src0<f16>, !dsr.src1<f32>
  // CHECK-NEXT: dsr.fadds %rs, %as, %bs : !dsr.dest<f32>, !dsr.src0<f32>, !dsr.src1<f32>
  dsr.fadds %rs, %as, %bs : !dsr.dest<f32>, !dsr.src0<f32>, !dsr.src1<f32>
  // CHECK-NEXT: dsr.fh2s %rs, %ah : !dsr.dest<f32>, !dsr.src0<f16>
  dsr.fh2s %rs, %ah : !dsr.dest<f32>, !dsr.src0<f16>
  // CHECK-NEXT: dsr.fh2xp16 %rw, %ah : !dsr.dest<i16>, !dsr.src0<f16>
  dsr.fh2xp16 %rw, %ah : !dsr.dest<i16>, !dsr.src0<f16>
  // CHECK-NEXT: dsr.fmach %rh, %ah, %bh, %xh : !dsr.dest<f16>, !dsr.src0<f16>, !dsr.src1<f16>, f16
  dsr.fmach %rh, %ah, %bh, %xh : !dsr.dest<f16>, !dsr.src0<f16>, !dsr.src1<f16>, f16
  // CHECK-NEXT: dsr.fmachs %rs, %as, %bh, %xh : !dsr.dest<f32>, !dsr.src0<f32>, !dsr.src1<f16>, f16
  dsr.fmachs %rs, %as, %bh, %xh : !dsr.dest<f32>, !dsr.src0<f32>, !dsr.src1<f16>, f16
  // CHECK-NEXT: dsr.fmacs %rs, %as, %bs, %xs : !dsr.dest<f32>, !dsr.src0<f32>, !dsr.src1<f32>, f32
  dsr.fmacs %rs, %as, %bs, %xs : !dsr.dest<f32>, !dsr.src0<f32>, !dsr.src1<f32>, f32
  // CHECK-NEXT: dsr.fmaxh %rh, %ah, %bh : !dsr.dest<f16>, !dsr.src0<f16>, !dsr.src1<f16>
  dsr.fmaxh %rh, %ah, %bh : !dsr.dest<f16>, !dsr.src0<f16>, !dsr.src1<f16>
  // CHECK-NEXT: dsr.fmaxs %rs, %as, %bs : !dsr.dest<f32>, !dsr.src0<f32>, !dsr.src1<f32>
  dsr.fmaxs %rs, %as, %bs : !dsr.dest<f32>, !dsr.src0<f32>, !dsr.src1<f32>
  // CHECK-NEXT: dsr.fmovh %rh, %ah : !dsr.dest<f16>, !dsr.src0<f16>
  dsr.fmovh %rh, %ah : !dsr.dest<f16>, !dsr.src0<f16>
  // CHECK-NEXT: dsr.fmovs %rs, %as : !dsr.dest<f32>, !dsr.src0<f32>
  dsr.fmovs %rs, %as : !dsr.dest<f32>, !dsr.src0<f32>
  // CHECK-NEXT: dsr.fmulh %rh, %ah, %bh : !dsr.dest<f16>, !dsr.src0<f16>, !dsr.src1<f16>
  dsr.fmulh %rh, %ah, %bh : !dsr.dest<f16>, !dsr.src0<f16>, !dsr.src1<f16>
  // CHECK-NEXT: dsr.fmuls %rs, %as, %bs : !dsr.dest<f32>, !dsr.src0<f32>, !dsr.src1<f32>
  dsr.fmuls %rs, %as, %bs : !dsr.dest<f32>, !dsr.src0<f32>, !dsr.src1<f32>
  // CHECK-NEXT: dsr.fnegh %rh, %ah : !dsr.dest<f16>, !dsr.src0<f16>
  dsr.fnegh %rh, %ah : !dsr.dest<f16>, !dsr.src0<f16>
  // CHECK-NEXT: dsr.fnegs %rs, %as : !dsr.dest<f32>, !dsr.src0<f32>
  dsr.fnegs %rs, %as : !dsr.dest<f32>, !dsr.src0<f32>
  // CHECK-NEXT: dsr.fnormh %rh, %xh : !dsr.dest<f16>, f16
  dsr.fnormh %rh, %xh : !dsr.dest<f16>, f16
  // CHECK-NEXT: dsr.fnorms %rs, %xs : !dsr.dest<f32>, f32
  dsr.fnorms %rs, %xs : !dsr.dest<f32>, f32
  // CHECK-NEXT: dsr.fs2h %rh, %as : !dsr.dest<f16>, !dsr.src0<f32>
  dsr.fs2h %rh, %as : !dsr.dest<f16>, !dsr.src0<f32>
  // CHECK-NEXT: dsr.fs2xp16 %rw, %as : !dsr.dest<i16>, !dsr.src0<f32>
  dsr.fs2xp16 %rw, %as : !dsr.dest<i16>, !dsr.src0<f32>
  // CHECK-NEXT: dsr.fscaleh %rh, %xh, %xw : !dsr.dest<f16>, f16, i16
  dsr.fscaleh %rh, %xh, %xw : !dsr.dest<f16>, f16, i16
  // CHECK-NEXT: dsr.fscales %rs, %xs, %xw : !dsr.dest<f32>, f32, i16
  dsr.fscales %rs, %xs, %xw : !dsr.dest<f32>, f32, i16
  // CHECK-NEXT: dsr.fsubh %rh, %ah, %bh : !dsr.dest<f16>, !dsr.src0<f16>, !dsr.src1<f16>
  dsr.fsubh %rh, %ah, %bh : !dsr.dest<f16>, !dsr.src0<f16>, !dsr.src1<f16>
  // CHECK-NEXT: dsr.fsubs %rs, %as, %bs : !dsr.dest<f32>, !dsr.src0<f32>, !dsr.src1<f32>
  dsr.fsubs %rs, %as, %bs : !dsr.dest<f32>, !dsr.src0<f32>, !dsr.src1<f32>
  // CHECK-NEXT: dsr.mov16 %rw, %aw : !dsr.dest<i16>, !dsr.src0<i16>
  dsr.mov16 %rw, %aw : !dsr.dest<i16>, !dsr.src0<i16>
  // CHECK-NEXT: dsr.mov32 %rd, %ad : !dsr.dest<i32>, !dsr.src0<i32>
  dsr.mov32 %rd, %ad : !dsr.dest<i32>, !dsr.src0<i32>
  // CHECK-NEXT: dsr.or16 %rw, %aw, %bw : !dsr.dest<i16>, !dsr.src0<i16>, !dsr.src1<i16>
  dsr.or16 %rw, %aw, %bw : !dsr.dest<i16>, !dsr.src0<i16>, !dsr.src1<i16>
  // CHECK-NEXT: dsr.popcnt %rw, %aw : !dsr.dest<i16>, !dsr.src0<i16>
  dsr.popcnt %rw, %aw : !dsr.dest<i16>, !dsr.src0<i16>
  // CHECK-NEXT: dsr.sar16 %rw, %aw, %bw : !dsr.dest<i16>, !dsr.src0<i16>, !dsr.src1<i16>
  dsr.sar16 %rw, %aw, %bw : !dsr.dest<i16>, !dsr.src0<i16>, !dsr.src1<i16>
  // CHECK-NEXT: dsr.sll16 %rw, %aw, %bw : !dsr.dest<i16>, !dsr.src0<i16>, !dsr.src1<i16>
  dsr.sll16 %rw, %aw, %bw : !dsr.dest<i16>, !dsr.src0<i16>, !dsr.src1<i16>
  // CHECK-NEXT: dsr.slr16 %rw, %aw, %bw : !dsr.dest<i16>, !dsr.src0<i16>, !dsr.src1<i16>
  dsr.slr16 %rw, %aw, %bw : !dsr.dest<i16>, !dsr.src0<i16>, !dsr.src1<i16>
  // CHECK-NEXT: dsr.sub16 %rw, %aw, %bw : !dsr.dest<i16>, !dsr.src0<i16>, !dsr.src1<i16>
  dsr.sub16 %rw, %aw, %bw : !dsr.dest<i16>, !dsr.src0<i16>, !dsr.src1<i16>
  // CHECK-NEXT: dsr.xor16 %rw, %aw, %bw : !dsr.dest<i16>, !dsr.src0<i16>, !dsr.src1<i16>
  dsr.xor16 %rw, %aw, %bw : !dsr.dest<i16>, !dsr.src0<i16>, !dsr.src1<i16>
  // CHECK-NEXT: dsr.xp162fh %rh, %aw : !dsr.dest<f16>, !dsr.src0<i16>
  dsr.xp162fh %rh, %aw : !dsr.dest<f16>, !dsr.src0<i16>
  // CHECK-NEXT: dsr.xp162fs %rs, %aw : !dsr.dest<f32>, !dsr.src0<i16>
  dsr.xp162fs %rs, %aw : !dsr.dest<f32>, !dsr.src0<i16>
  // CHECK-NEXT: func.return
  func.return
}
