// RUN: loom-opt -p lower-to-flow --split-input-file %s | filecheck %s
// Buffers lie one after the other, in 16-bit words.

// CHECK-LABEL: flow.units @single on [:, :] words 52 {
wse.program @alignment target "wse3" rectangle 1 x 1 {
  wse.pe @single on [:, :] {
    // CHECK-NEXT: @a at 0 :
    wse.buffer @a : memref<3xi16>
    // 32-bit elements start at an even word.
    // CHECK-NEXT: @b at 4 :
    wse.buffer @b : memref<2xf32>
    // CHECK-NEXT: @c at 8 :
    wse.buffer @c : memref<2x5xf16>
    // 32 bytes are 16 words.
    // CHECK-NEXT: @d at 32 :
    wse.buffer @d : memref<9xi32> align 32
    // CHECK-NEXT: @e at 50 :
    wse.buffer @e : memref<i16>
  }
}

// -----

// A size that is a multiple of 128 32-bit words gets one more.
// CHECK-LABEL: flow.units @single on [:, :] words 258 {
wse.program @period target "wse3" rectangle 1 x 1 {
  wse.pe @single on [:, :] {
    wse.buffer @a : memref<256xi16>
  }
}

// -----

// All 49,152 bytes can be used.
// CHECK-LABEL: flow.units @single on [:, :] words 24576 {
wse.program @full target "wse3" rectangle 1 x 1 {
  wse.pe @single on [:, :] {
    wse.buffer @a : memref<12288xf32>
  }
}

// -----

// CHECK-LABEL: flow.units @single on [:, :] words 0 {
wse.program @empty target "wse3" rectangle 1 x 1 {
  wse.pe @single on [:, :] {
  }
}
