// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Rules of registers that depend on the program's symbols or on the target.

// DSR-022
// CHECK: error: wse3 has no src0 register 999; choose one from 0 to {{[0-9]+$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.func @main() {
      %r = dsr.get_dsr : !dsr.src0<f32, 999>
      wse.return
    }
  }
}
// -----
// DSR-022
// CHECK: error: wse3 has no dest register 999; choose one from 0 to {{[0-9]+$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.func @main() {
      %u = wse.get_buffer @u : memref<4xf32>
      %d = dsd.mem1d %u extent 4 : memref<4xf32>
      %r = dsr.load %d : !dsd.mem1d<f32> -> !dsr.dest<f32, 999>
      wse.return
    }
  }
}
// -----
// DSR-028
// CHECK: error: wse2 has no xdsr register 999; choose one from 0 to {{[0-9]+$}}
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.func @main() {
      %x = dsr.get_xdsr : !dsr.xdsr<999>
      wse.return
    }
  }
}
// -----
// DSR-031
// CHECK: error: wse2 has no sr register 999; choose one from 0 to {{[0-9]+$}}
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.func @main() {
      %s = dsr.get_sr : !dsr.sr<999>
      wse.return
    }
  }
}
// -----
// DSD-191, DSR-035: the settings of a load follow the rules of those of an operation.
// CHECK: error: @t is not defined in wse.pe @e or its program; define it or correct the name{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.func @main() {
      %i = dsd.fabin color @c extent 4 : !dsd.fabin<f32>
      %r = dsr.load %i async(activate = @t) : !dsd.fabin<f32> -> !dsr.src1<f32>
      wse.return
    }
  }
}
// -----
// DSD-098
// CHECK: error: fadds has 2 fabric inputs, but wse3 takes 1; receive one of them into memory first{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<f32>
    wse.func @main() {
      %u = wse.get_buffer @u : memref<f32>
      %i = dsd.fabin color @c extent 4 : !dsd.fabin<f32>
      %r = dsr.load %i : !dsd.fabin<f32> -> !dsr.src0<f32>
      %s = dsr.load %i : !dsd.fabin<f32> -> !dsr.src1<f32>
      dsr.fadds %u, %r, %s : memref<f32>, !dsr.src0<f32>, !dsr.src1<f32>
      wse.return
    }
  }
}
