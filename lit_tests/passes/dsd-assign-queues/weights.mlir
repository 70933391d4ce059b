// RUN: loom-opt -p dsd-assign-queues %s --split-input-file 2>&1 | filecheck %s
// Heavier streams get longer queues, as far as ids are open, and a remark says so.

// On WSE-2 output queues have 2, 2, 6, 6, 2 and 2 words (DSD-216). The light stream is issued once for 20 wavelets, the
// middle one ten times for 8, the heavy one in a function that a loop calls fifty times.
// CHECK:      weights.mlir:{{[0-9]+}}:{{[0-9]+}}: remark: heavier streams get longer queues: output queue @heavy gets id 2, of 6 words, for 100 wavelets; output queue @middle gets id 3, of 6 words, for 80 wavelets; output queue @light gets id 0, of 2 words, for 20 wavelets
// CHECK-LABEL: wse.program @three
wse.program @three target "wse2" rectangle 1 x 1 {
  wse.color @a
  wse.color @b
  wse.color @c
  wse.pe @p on [:, :] {
    // CHECK: wse.output_queue @light color @a id 0
    wse.output_queue @light color @a
    // CHECK-NEXT: wse.output_queue @middle color @b id 3
    wse.output_queue @middle color @b
    // CHECK-NEXT: wse.output_queue @heavy color @c id 2
    wse.output_queue @heavy color @c
    wse.buffer @A : memref<20xi16>
    wse.func @send() {
      %A = wse.get_buffer @A : memref<20xi16>
      %a = dsd.mem1d %A extent 20 : memref<20xi16>
      %o = dsd.fabout @heavy extent 2 : !dsd.fabout<i16>
      dsd.mov16 %o, %a : !dsd.fabout<i16>, !dsd.mem1d<i16>
      wse.return
    }
    wse.func @main() {
      %A = wse.get_buffer @A : memref<20xi16>
      %a = dsd.mem1d %A extent 20 : memref<20xi16>
      %l = dsd.fabout @light extent 20 : !dsd.fabout<i16>
      %m = dsd.fabout @middle extent 16 {simd = simd_32} : !dsd.fabout<i16>
      dsd.mov16 %l, %a async() : !dsd.fabout<i16>, !dsd.mem1d<i16>
      %0 = arith.constant 0 : i16
      %1 = arith.constant 1 : i16
      %10 = arith.constant 10 : i16
      %50 = arith.constant 50 : i16
      scf.for %i = %0 to %10 step %1 : i16 {
        dsd.mov16 %m, %a : !dsd.fabout<i16>, !dsd.mem1d<i16>
      }
      scf.for %i = %0 to %50 step %1 : i16 {
        wse.call @send() : () -> ()
      }
      wse.return
    }
  }
}

// -----

// What is given stays, and streams that weigh the same are left alone.
// CHECK-NOT: remark
// CHECK-LABEL: wse.program @given
wse.program @given target "wse2" rectangle 1 x 1 {
  wse.color @a
  wse.color @b
  wse.pe @p on [:, :] {
    // CHECK: wse.output_queue @light color @a id 2
    wse.output_queue @light color @a id 2
    // CHECK-NEXT: wse.output_queue @heavy color @b id 4
    wse.output_queue @heavy color @b id 4
    wse.buffer @A : memref<20xi16>
    wse.func @main() {
      %A = wse.get_buffer @A : memref<20xi16>
      %a = dsd.mem1d %A extent 20 : memref<20xi16>
      %l = dsd.fabout @light extent 2 : !dsd.fabout<i16>
      %m = dsd.fabout @heavy extent 20 : !dsd.fabout<i16>
      dsd.mov16 %l, %a : !dsd.fabout<i16>, !dsd.mem1d<i16>
      dsd.mov16 %m, %a : !dsd.fabout<i16>, !dsd.mem1d<i16>
      wse.return
    }
  }
}

// CHECK-LABEL: wse.program @equal
wse.program @equal target "wse2" rectangle 1 x 1 {
  wse.color @a
  wse.color @b
  wse.pe @p on [:, :] {
    // CHECK: wse.output_queue @one color @a id 0
    wse.output_queue @one color @a
    // CHECK-NEXT: wse.output_queue @two color @b id 1
    wse.output_queue @two color @b
    wse.buffer @A : memref<20xi16>
    wse.func @main() {
      %A = wse.get_buffer @A : memref<20xi16>
      %a = dsd.mem1d %A extent 20 : memref<20xi16>
      %l = dsd.fabout @one extent 20 : !dsd.fabout<i16>
      %m = dsd.fabout @two extent 20 : !dsd.fabout<i16>
      dsd.mov16 %l, %a : !dsd.fabout<i16>, !dsd.mem1d<i16>
      dsd.mov16 %m, %a : !dsd.fabout<i16>, !dsd.mem1d<i16>
      wse.return
    }
  }
}
