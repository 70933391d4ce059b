// RUN: loom-opt -p pto-validate-vmi-registers %s | filecheck %s

!c = !pto.vmi.vreg<100xf32, #pto.vmi.layout<contiguous>>

// Registers that are not full are stored in order, and in memory that is large enough whole ones are read.
// CHECK-LABEL: @tails
func.func @tails(%v: !c, %m: !pto.vmi.mask<100xb32, #pto.vmi.layout<contiguous>>, %p: memref<128xf32, #pto.address_space<vec>>) {
  %o = arith.constant 0 : index
  pto.vmi.store %v, %p[%o] : !c, memref<128xf32, #pto.address_space<vec>>
  %0 = pto.vmi.masked_load %p[%o], %m, %v : memref<128xf32, #pto.address_space<vec>>, !pto.vmi.mask<100xb32, #pto.vmi.layout<contiguous>>, !c -> !c
  return
}

// The last stage takes registers for the parts of a vector.
// CHECK-LABEL: @parts
func.func @parts(%v: !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>) -> (!pto.vreg<64xf32>, !pto.vreg<64xf32>) {
  %0, %1 = "pto.vmi.unpack"(%v) : (!pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>) -> (!pto.vreg<64xf32>, !pto.vreg<64xf32>)
  func.return %0, %1 : !pto.vreg<64xf32>, !pto.vreg<64xf32>
}

// Whole registers, one element for all, and elements that count down are an order that there is.
// CHECK-LABEL: @orders
func.func @orders(%v: !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>, %w: !pto.vmi.vreg<4xf32, #pto.vmi.layout<contiguous>>) {
  %0 = "pto.vmi.shuffle"(%w) {indices = array<i64: 0, 0, 0, 0>} : (!pto.vmi.vreg<4xf32, #pto.vmi.layout<contiguous>>) -> !pto.vmi.vreg<4xf32, #pto.vmi.layout<contiguous>>
  %1 = "pto.vmi.shuffle"(%w) {indices = array<i64: 0, 1>} : (!pto.vmi.vreg<4xf32, #pto.vmi.layout<contiguous>>) -> !pto.vmi.vreg<2xf32, #pto.vmi.layout<contiguous>>
  return
}
