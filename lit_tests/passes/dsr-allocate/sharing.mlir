// RUN: loom-opt -p dsr-allocate %s | filecheck %s
// PE programs share a body with open registers only if they share all bodies, which together say what is in use when.

// CHECK-LABEL: wse.program @shared
wse.program @shared target "wse2" rectangle 3 x 1 {
  // CHECK: wse.pe @first
  wse.pe @first on [0, 0] {
    wse.buffer @A : memref<8xi16>
    wse.func @main() {
      %a = wse.get_buffer @A : memref<8xi16>
      %m = dsd.mem1d %a extent 8 : memref<8xi16>
      %s = dsr.load %m : !dsd.mem1d<i16> -> !dsr.src0<i16, 0>
      // CHECK: !dsr.dest<i16, 0>
      %d = dsr.load %m : !dsd.mem1d<i16> -> !dsr.dest<i16>
      dsr.mov16 %d, %s : !dsr.dest<i16>, !dsr.src0<i16, 0>
      wse.return
    }
    wse.func @other() {
      wse.return
    }
  }
  // CHECK: wse.pe @second
  wse.pe @second on [1, 0] {
    wse.buffer @A : memref<8xi16>
    // CHECK: wse.func @main() shares @first::@main
    wse.func @main() shares @first::@main
    wse.func @other() shares @first::@other
  }
  // CHECK: wse.pe @third
  wse.pe @third on [2, 0] {
    wse.buffer @A : memref<8xi16>
    // CHECK: wse.func @main() {
    // CHECK: !dsr.dest<i16, 1>
    wse.func @main() shares @first::@main
    wse.func @other() {
      %a = wse.get_buffer @A : memref<8xi16>
      %m = dsd.mem1d %a extent 8 : memref<8xi16>
      %d = dsr.load %m : !dsd.mem1d<i16> -> !dsr.dest<i16, 0>
      wse.return
    }
  }
}
