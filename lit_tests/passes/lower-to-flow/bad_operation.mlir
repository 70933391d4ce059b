// RUN: loom-opt -p lower-to-flow --split-input-file --verify-diagnostics %s | filecheck %s
// An operation without a counterpart is an error that names it, never dropped.

wse.program @affine_map target "wse3" rectangle 1 x 1 {
  wse.pe @a on [:, :] {
    wse.buffer @A : memref<8x8xf32>
    wse.func @f() {
      %A = wse.get_buffer @A : memref<8x8xf32>
      // CHECK: bad_operation.mlir:[[# @LINE + 1]]:7: error: dsd.tensor_access still has an affine map; run dsd-expand-tensor-access before lower-to-flow
      %d = dsd.tensor_access %A affine_map<(i) -> (i, i)> extents [5] : memref<8x8xf32> -> !dsd.mem1d<f32>
      wse.return
    }
  }
}

// -----

wse.program @no_queue target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @a on [:, :] {
    wse.func @f() {
      // CHECK: dsd.fabin names a color and no queue; run dsd-assign-queues before lower-to-flow
      %d = dsd.fabin color @c extent 5 : !dsd.fabin<f32>
      wse.return
    }
  }
}

// -----

wse.program @no_microthread target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @a on [:, :] {
    wse.buffer @A : memref<8xf32>
    wse.output_queue @out color @c id 0
    wse.func @f() {
      %A = wse.get_buffer @A : memref<8xf32>
      %a = dsd.mem1d %A extent 5 : memref<8xf32>
      %o = dsd.fabout @out extent 5 : !dsd.fabout<f32>
      // CHECK: dsd.fmovs is asynchronous and has no microthread; run dsd-assign-microthreads before lower-to-flow
      dsd.fmovs %o, %a async : !dsd.fabout<f32>, !dsd.mem1d<f32>
      wse.return
    }
  }
}

// -----

wse.program @index_of_unknown_walk target "wse3" rectangle 1 x 1 {
  wse.pe @a on [:, :] {
    wse.func @f(%d: !dsd.mem1d<f32>, %n: i16) {
      // CHECK: dsd.fmovs has an index, but the descriptor of an operand is not known here; make the descriptor next to the operation
      dsd.fmovs %d, %d index(%n) : !dsd.mem1d<f32>, !dsd.mem1d<f32>
      wse.return
    }
  }
}

// -----

wse.program @no_register target "wse3" rectangle 1 x 1 {
  wse.pe @a on [:, :] {
    wse.buffer @A : memref<8xf32>
    wse.func @f() {
      %A = wse.get_buffer @A : memref<8xf32>
      %a = dsd.mem1d %A extent 5 : memref<8xf32>
      // CHECK: dsr.load uses a src0 register without a number; run dsr-allocate before lower-to-flow
      %r = dsr.load %a : !dsd.mem1d<f32> -> !dsr.src0<f32>
      wse.return
    }
  }
}

// -----

wse.program @array_as_value target "wse3" rectangle 1 x 1 {
  wse.pe @a on [:, :] {
    wse.buffer @A : memref<8xf32>
    wse.buffer @B : memref<8xf32>
    wse.func @f(%c: i1) {
      %A = wse.get_buffer @A : memref<8xf32>
      %B = wse.get_buffer @B : memref<8xf32>
      // CHECK: arith.select passes on an array, which cannot be lowered to flow; name the buffer with wse.get_buffer where it is loaded, stored or described
      %C = arith.select %c, %A, %B : memref<8xf32>
      wse.return
    }
  }
}

// -----

wse.program @array_as_argument target "wse3" rectangle 1 x 1 {
  wse.pe @a on [:, :] {
    // CHECK: wse.func passes on an array, which cannot be lowered to flow
    wse.func @f(%A: memref<8xf32>) {
      wse.return
    }
  }
}

// -----

wse.program @other_dialect target "wse3" rectangle 1 x 1 {
  wse.pe @a on [:, :] {
    wse.buffer @A : memref<8xf32>
    wse.func @f() {
      %A = wse.get_buffer @A : memref<8xf32>
      // CHECK: memref.copy has no counterpart in flow; use wse, dsd, arith, math and scf
      "memref.copy"(%A, %A) : (memref<8xf32>, memref<8xf32>) -> ()
      wse.return
    }
  }
}

// -----

wse.program @other_structure target "wse3" rectangle 1 x 1 {
  wse.pe @a on [:, :] {
    wse.func @f(%n: index) {
      // CHECK: scf.execute_region has no counterpart in flow
      %r = scf.execute_region -> (index) {
        scf.yield %n : index
      }
      wse.return
    }
  }
}

// -----

wse.program @overwritten target "wse3" rectangle 1 x 1 {
  wse.pe @a on [:, :] {
    wse.buffer @A : memref<8xf32>
    wse.func @f() {
      %A = wse.get_buffer @A : memref<8xf32>
      %a = dsd.mem1d %A extent 5 : memref<8xf32>
      %b = dsd.mem1d %A extent 6 : memref<8xf32>
      %d = dsr.load %a : !dsd.mem1d<f32> -> !dsr.dest<f32, 0>
      %r = dsr.load %a : !dsd.mem1d<f32> -> !dsr.src0<f32, 3>
      %s = dsr.load %b : !dsd.mem1d<f32> -> !dsr.src0<f32, 3>
      // CHECK: dsr.fmovs reads a descriptor from src0 register 3, which may hold another one by then; load it again before the operation or into another register
      dsr.fmovs %d, %r : !dsr.dest<f32, 0>, !dsr.src0<f32, 3>
      wse.return
    }
  }
}

// -----

wse.program @overwritten_by_the_trip_before target "wse3" rectangle 1 x 1 {
  wse.pe @a on [:, :] {
    wse.buffer @A : memref<8xf32>
    wse.func @f(%n: index) {
      %A = wse.get_buffer @A : memref<8xf32>
      %a = dsd.mem1d %A extent 5 : memref<8xf32>
      %b = dsd.mem1d %A extent 6 : memref<8xf32>
      %d = dsr.load %a : !dsd.mem1d<f32> -> !dsr.dest<f32, 0>
      %r = dsr.load %a : !dsd.mem1d<f32> -> !dsr.src0<f32, 3>
      scf.for %k = %n to %n step %n {
        // CHECK: dsr.fmovs reads a descriptor from src0 register 3, which may hold another one by then
        dsr.fmovs %d, %r : !dsr.dest<f32, 0>, !dsr.src0<f32, 3>
        %s = dsr.load %b : !dsd.mem1d<f32> -> !dsr.src0<f32, 3>
      }
      wse.return
    }
  }
}
