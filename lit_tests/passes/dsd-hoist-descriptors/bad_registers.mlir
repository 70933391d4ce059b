// RUN: loom-opt -p dsd-hoist-descriptors,dsr-allocate --split-input-file --verify-diagnostics %s | filecheck %s
// What is moved before a loop is loaded there as long as enough registers are left for each operation of the loop; an
// error names what competes and the least that has to complete first.

// Four sends leave four stride registers of 16: three for each operation of the loop, none to keep.
// CHECK-LABEL: wse.program @p
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<64xi16>
    wse.output_queue @out color @c id 0
    wse.func @main(%start: i16, %n: i16) {
      %A = wse.get_buffer @A : memref<64xi16>
      %o = dsd.fabout @out extent 8 : !dsd.fabout<i16>
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      %a = dsd.mem4d %A at %start extents [2, 2, 2] : memref<64xi16>
      dsd.mov16 %o, %a async(ut = 0) : !dsd.fabout<i16>, !dsd.mem4d<i16>
      dsd.mov16 %o, %a async(ut = 1) : !dsd.fabout<i16>, !dsd.mem4d<i16>
      dsd.mov16 %o, %a async(ut = 2) : !dsd.fabout<i16>, !dsd.mem4d<i16>
      dsd.mov16 %o, %a async(ut = 3) : !dsd.fabout<i16>, !dsd.mem4d<i16>
      // CHECK: scf.for
      // CHECK: dsr.load
      // CHECK: dsr.load
      scf.for %i = %zero to %n step %one : i16 {
        %b = dsd.mem4d %A at %start extents [2, 2, 2] : memref<64xi16>
        %d = dsd.mem4d %A at %i extents [2, 2, 2] : memref<64xi16>
        dsd.mov16 %b, %n : !dsd.mem4d<i16>, i16
        dsd.mov16 %d, %n : !dsd.mem4d<i16>, i16
      }
      wse.return
    }
  }
}

// -----

wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<64xi16>
    wse.output_queue @out color @c id 0
    wse.func @main(%start: i16, %n: i16) {
      %A = wse.get_buffer @A : memref<64xi16>
      %o = dsd.fabout @out extent 8 : !dsd.fabout<i16>
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      %a = dsd.mem4d %A at %start extents [2, 2, 2] : memref<64xi16>
      dsd.mov16 %o, %a async(ut = 0) : !dsd.fabout<i16>, !dsd.mem4d<i16>
      dsd.mov16 %o, %a async(ut = 1) : !dsd.fabout<i16>, !dsd.mem4d<i16>
      dsd.mov16 %o, %a async(ut = 2) : !dsd.fabout<i16>, !dsd.mem4d<i16>
      dsd.mov16 %o, %a async(ut = 3) : !dsd.fabout<i16>, !dsd.mem4d<i16>
      dsd.mov16 %o, %a async(ut = 4) : !dsd.fabout<i16>, !dsd.mem4d<i16>
      scf.for %i = %zero to %n step %one : i16 {
        %b = dsd.mem4d %A at %start extents [2, 2, 2] : memref<64xi16>
        %d = dsd.mem4d %A at %i extents [2, 2, 2] : memref<64xi16>
        // CHECK: error: wse3 has 16 sr registers, too few for mov16 in function @main ({{.*}}:[[# @LINE + 1]]:9), which needs 3, while these hold theirs: mov16 in function @main ({{.*}}) with 3, {{.*}}; let mov16 in function @main ({{[^ ]*}}) complete first
        dsd.mov16 %b, %n : !dsd.mem4d<i16>, i16
        dsd.mov16 %d, %n : !dsd.mem4d<i16>, i16
      }
      wse.return
    }
  }
}
