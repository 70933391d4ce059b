// RUN: loom-opt -p lower-to-flow %s | filecheck %s
// Descriptors become streams, whatever way they go.

wse.program @descriptors target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @single on [:, :] {
    wse.buffer @A : memref<8x16xf32>
    wse.buffer @B : memref<40xi16>
    wse.input_queue @in color @c id 0
    wse.output_queue @out color @c id 0

    // CHECK-LABEL: flow.task local @memory
    wse.task @memory local {
      %A = wse.get_buffer @A : memref<8x16xf32>
      // CHECK-NEXT: flow.stream @A at 3 strides [-2] extents [5] : !flow.stream<f32>
      %a = dsd.mem1d %A at 3 stride -2 extent 5 : memref<8x16xf32>
      // CHECK-NEXT: flow.stream @A at 0 strides [1] extents [7] : !flow.stream<f32>
      %b = dsd.mem1d %A extent 7 : memref<8x16xf32>
      // CHECK-NEXT: flow.stream @A at 2 strides [1, -3] extents [2, 4] : !flow.stream<f32>
      %c = dsd.mem4d %A at 2 strides [1, -3] extents [2, 4] : memref<8x16xf32>
      // DSD-051: the default strides visit consecutive elements.
      // CHECK-NEXT: flow.stream @A at 0 strides [1, 1] extents [2, 3] : !flow.stream<f32>
      %d = dsd.mem4d %A extents [2, 3] : memref<8x16xf32>
      // DSD-087: element k of the walk is element k mod 5 of the buffer.
      // CHECK-NEXT: flow.circular_stream @A extent 18 wraparound 5 : !flow.stream<f32>
      %e = dsd.circbuf %A extent 18 wraparound 5 : memref<8x16xf32>
      // DSD-084: all of the array.
      // CHECK-NEXT: flow.circular_stream @A extent 300 wraparound 128 : !flow.stream<f32>
      %f = dsd.circbuf %A extent 300 : memref<8x16xf32>
      wse.return
    }

    // CHECK-LABEL: flow.func @values(%start: i16, %by: i16, %n: i16) {
    wse.func @values(%start: i16, %by: i16, %n: i16) {
      %A = wse.get_buffer @A : memref<8x16xf32>
      // CHECK-NEXT: flow.stream @A at %start strides [%by] extents [%n] : !flow.stream<f32>
      %a = dsd.mem1d %A at %start stride %by extent %n : memref<8x16xf32>
      // CHECK-NEXT: flow.stream @A at %start strides [1, 2] extents [3, 4] : !flow.stream<f32>
      %b = dsd.mem4d %A at %start strides [1, 2] extents [3, 4] : memref<8x16xf32>
      // CHECK-NEXT: flow.stream @A at 0 strides [1, %by] extents [%n, 65535] : !flow.stream<f32>
      %last = arith.constant -1 : i16
      %d = dsd.mem4d %A strides [1, %by] extents [%n, %last] : memref<8x16xf32>
      // Constants become literals, and are not computed: an extent is unsigned, an offset signed.
      // CHECK-NEXT: flow.stream @A at -1 strides [1] extents [65535] : !flow.stream<f32>
      %m = arith.constant -1 : i16
      %c = dsd.mem1d %A at %m extent %m : memref<8x16xf32>
      // CHECK-NEXT: flow.return
      wse.return
    }

    // CHECK-LABEL: flow.func @ring(%n: i16) {
    wse.func @ring(%n: i16) {
      %A = wse.get_buffer @A : memref<8x16xf32>
      // CHECK-NEXT: %[[RING:.*]] = flow.circular_stream @A extent 18 wraparound 5 : !flow.stream<f32>
      %e = dsd.circbuf %A extent 18 wraparound 5 : memref<8x16xf32>
      // CHECK-NEXT: flow.resize %[[RING]], %n : !flow.stream<f32>
      %f = dsd.set_length %e, %n : !dsd.circbuf<f32>
      // CHECK-NEXT: flow.return
      wse.return
    }

    // CHECK-LABEL: flow.func @fabric(%n: i16) {
    wse.func @fabric(%n: i16) {
      // CHECK-NEXT: flow.queue_stream @in extent 64 : !flow.stream<f16>
      %a = dsd.fabin @in extent 64 : !dsd.fabin<f16>
      // CHECK-NEXT: flow.queue_stream @out extent %n : !flow.stream<f32>
      %b = dsd.fabout @out extent %n {priority = low} : !dsd.fabout<f32>
      // DSD-245, DSD-253.
      // CHECK-NEXT: flow.queue_stream @out extent 4 zero first : !flow.stream<f32>
      %z = dsd.fabout @out extent 4 {zero = first_source} : !dsd.fabout<f32>
      // CHECK-NEXT: flow.queue_stream @out extent 4 zero second control_transform : !flow.stream<i32>
      %y = dsd.fabout @out extent 4 {zero = second_source, control_transform} : !dsd.fabout<i32>
      // CHECK-NEXT: flow.queue_stream @in extent 4 control_transform : !flow.stream<i32>
      %x = dsd.fabin @in extent 4 {control_transform} : !dsd.fabin<i32>
      // DSD-240: two values a wavelet, except with simd_off and for 32 bits.
      // DSD-241: a receive in simd_64 awaits two wavelets.
      // CHECK-NEXT: flow.queue_stream @in extent %n packed in_pairs : !flow.stream<f16>
      %s = dsd.fabin @in extent %n {simd = simd_64} : !dsd.fabin<f16>
      // CHECK-NEXT: flow.queue_stream @out extent 4 packed : !flow.stream<i16>
      %t = dsd.fabout @out extent 4 {simd = simd_max} : !dsd.fabout<i16>
      // CHECK-NEXT: flow.queue_stream @out extent 3 : !flow.stream<i16>
      %u = dsd.fabout @out extent 3 {simd = simd_off} : !dsd.fabout<i16>
      // CHECK-NEXT: flow.queue_stream @in extent 3 : !flow.stream<f32>
      %v = dsd.fabin @in extent 3 {simd = simd_32_or_64} : !dsd.fabin<f32>
      // CHECK-NEXT: flow.queue_stream @out extent 1 control : !flow.stream<i32>
      %c = dsd.fabout @out extent 1 {control} : !dsd.fabout<i32>
      // CHECK-NEXT: flow.return
      wse.return
    }

    // CHECK-LABEL: flow.func @derived(%n: i16) {
    wse.func @derived(%n: i16) {
      %A = wse.get_buffer @A : memref<8x16xf32>
      %B = wse.get_buffer @B : memref<40xi16>
      // CHECK-NEXT: %[[A:.*]] = flow.stream @A
      %a = dsd.mem1d %A at 2 stride 3 extent 5 : memref<8x16xf32>
      // CHECK-NEXT: %[[B:.*]] = flow.stream @B
      %b = dsd.mem1d %B extent 5 : memref<40xi16>
      // DSD-168: a stream moves by 16-bit words: two for each f32.
      // CHECK-NEXT: %[[C0:.*]] = arith.constant -20 : i16
      // CHECK-NEXT: flow.advance %[[A]], %[[C0]] : !flow.stream<f32>
      %c = dsd.increment_offset %a, -10 : !dsd.mem1d<f32>
      // CHECK-NEXT: %[[TWO:.*]] = arith.constant 2 : i16
      // CHECK-NEXT: %[[WORDS:.*]] = arith.muli %n, %[[TWO]] : i16
      // CHECK-NEXT: %[[D:.*]] = flow.advance %[[A]], %[[WORDS]] : !flow.stream<f32>
      %d = dsd.increment_offset %a, %n : !dsd.mem1d<f32>
      // CHECK-NEXT: %[[E:.*]] = flow.advance %[[B]], %n : !flow.stream<i16>
      %e = dsd.increment_offset %b, %n : !dsd.mem1d<i16>
      // 65535 elements are the 16 bits of -1.
      // CHECK-NEXT: %[[C1:.*]] = arith.constant -1 : i16
      // CHECK-NEXT: %[[F:.*]] = flow.resize %[[D]], %[[C1]] : !flow.stream<f32>
      %f = dsd.set_length %d, 65535 : !dsd.mem1d<f32>
      // CHECK-NEXT: %[[G:.*]] = flow.restride %[[F]], %n : !flow.stream<f32>
      %g = dsd.set_stride %f, %n : !dsd.mem1d<f32>
      // Another base takes the walk along, and forgets the offset and its increments.
      // CHECK-NEXT: %[[H0:.*]] = flow.stream @A at 0 strides [3] extents [5] : !flow.stream<f32>
      // CHECK-NEXT: %[[H1:.*]] = flow.resize %[[H0]], %[[C1]] : !flow.stream<f32>
      // CHECK-NEXT: %{{.*}} = flow.restride %[[H1]], %n : !flow.stream<f32>
      %h = dsd.set_base %g, %A : !dsd.mem1d<f32>, memref<8x16xf32>
      wse.return
    }

    // CHECK-LABEL: flow.func @carried(%n: index, %c: i1) {
    wse.func @carried(%n: index, %c: i1) {
      %A = wse.get_buffer @A : memref<8x16xf32>
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %a = dsd.mem1d %A extent 8 : memref<8x16xf32>
      // CHECK: %[[LAST:.*]] = scf.for {{.*}} iter_args(%walk = %{{.*}}) -> (!flow.stream<f32>) {
      %last = scf.for %k = %zero to %n step %one iter_args(%walk = %a) -> (!dsd.mem1d<f32>) {
        // CHECK: %[[NEXT:.*]] = flow.advance %walk, %{{.*}} : !flow.stream<f32>
        %next = dsd.increment_offset %walk, 8 : !dsd.mem1d<f32>
        // CHECK-NEXT: scf.yield %[[NEXT]] : !flow.stream<f32>
        scf.yield %next : !dsd.mem1d<f32>
      }
      // CHECK: %[[CHOSEN:.*]] = scf.if %c -> (!flow.stream<f32>) {
      %chosen = scf.if %c -> (!dsd.mem1d<f32>) {
        scf.yield %last : !dsd.mem1d<f32>
      } else {
        scf.yield %a : !dsd.mem1d<f32>
      }
      // CHECK: flow.call @walk(%[[CHOSEN]]) : (!flow.stream<f32>) -> ()
      wse.call @walk(%chosen) : (!dsd.mem1d<f32>) -> ()
      wse.return
    }

    // CHECK-LABEL: flow.func @walk(%d: !flow.stream<f32>) {
    wse.func @walk(%d: !dsd.mem1d<f32>) {
      wse.return
    }
  }
}
