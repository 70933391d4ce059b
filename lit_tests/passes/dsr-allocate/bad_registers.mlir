// RUN: loom-opt -p dsr-allocate --split-input-file --verify-diagnostics %s | filecheck %s
// Programs that need more registers than there are; errors name what is live.

// Stride registers run out first: three for each of five sends that are under way, and three for the sixth, of 16.
wse.program @strides target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<64xi16>
    wse.output_queue @out color @c id 0
    wse.func @main(%start: i16) {
      %A = wse.get_buffer @A : memref<64xi16>
      %a = dsd.mem4d %A at %start extents [2, 2, 2] : memref<64xi16>
      %o = dsd.fabout @out extent 8 : !dsd.fabout<i16>
      dsd.mov16 %o, %a async(ut = 0) : !dsd.fabout<i16>, !dsd.mem4d<i16>
      dsd.mov16 %o, %a async(ut = 1) : !dsd.fabout<i16>, !dsd.mem4d<i16>
      dsd.mov16 %o, %a async(ut = 2) : !dsd.fabout<i16>, !dsd.mem4d<i16>
      dsd.mov16 %o, %a async(ut = 3) : !dsd.fabout<i16>, !dsd.mem4d<i16>
      dsd.mov16 %o, %a async(ut = 4) : !dsd.fabout<i16>, !dsd.mem4d<i16>
      // CHECK: bad_registers.mlir:[[# @LINE + 1]]:7: error: wse3 has 16 sr registers, too few for mov16 in function @main ({{.*}}:[[# @LINE + 1]]:7), which needs 3, while these hold theirs: mov16 in function @main ({{.*}}:14:7) with 3, {{.*}}mov16 in function @main ({{.*}}:18:7) with 3; let mov16 in function @main ({{.*}}:14:7) complete first
      dsd.mov16 %o, %a async(ut = 5) : !dsd.fabout<i16>, !dsd.mem4d<i16>
      wse.return
    }
  }
}

// -----

// A synchronous operation finds none left.
wse.program @synchronous target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<64xi16>
    wse.output_queue @out color @c id 0
    wse.func @main(%start: i16) {
      %A = wse.get_buffer @A : memref<64xi16>
      %a = dsd.mem4d %A at %start extents [2, 2, 2] : memref<64xi16>
      %o = dsd.fabout @out extent 8 : !dsd.fabout<i16>
      dsd.mov16 %o, %a async(ut = 0) : !dsd.fabout<i16>, !dsd.mem4d<i16>
      dsd.mov16 %o, %a async(ut = 1) : !dsd.fabout<i16>, !dsd.mem4d<i16>
      dsd.mov16 %o, %a async(ut = 2) : !dsd.fabout<i16>, !dsd.mem4d<i16>
      dsd.mov16 %o, %a async(ut = 3) : !dsd.fabout<i16>, !dsd.mem4d<i16>
      // CHECK: error: wse3 has 16 sr registers, too few for add16 in function @main ({{.*}}), which needs 6, while these hold theirs: mov16 in function @main ({{.*}}:38:7) with 3, {{.*}}; let mov16 in function @main ({{.*}}:38:7) complete first
      dsd.add16 %a, %a, %start : !dsd.mem4d<i16>, !dsd.mem4d<i16>, i16
      wse.return
    }
  }
}
