// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Rules of descriptors and operations that depend on the program's symbols or on the target.

// DSD-213
// CHECK: error: output queue @out is used where an input queue is needed; name an input queue{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.output_queue @out color @c
    wse.func @main() {
      %i = dsd.fabin @out extent 4 : !dsd.fabin<f32>
      wse.return
    }
  }
}
// -----
// DSD-213
// CHECK: error: input queue @in is used where an output queue is needed; name an output queue{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.input_queue @in color @c
    wse.func @main() {
      %o = dsd.fabout @in extent 4 : !dsd.fabout<f32>
      wse.return
    }
  }
}
// -----
// AMB-11: a color beside a queue is one the queue serves.
// CHECK: error: queue @in does not serve color @d; name its color or none{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.color @d
  wse.pe @e on [:, :] {
    wse.input_queue @in color @c
    wse.func @main() {
      %i = dsd.fabin @in color @c extent 4 : !dsd.fabin<f32>
      %j = dsd.fabin @in color @d extent 4 : !dsd.fabin<f32>
      wse.return
    }
  }
}
// -----
// DSD-101
// CHECK: error: on wse2 a fabric descriptor has no priority; give it to the operation{{$}}
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.func @main() {
      %i = dsd.fabin color @c extent 4 {priority = high} : !dsd.fabin<f32>
      wse.return
    }
  }
}
// -----
// DSD-228
// CHECK: error: on wse3 an operation has no priority; give it to the fabric descriptor{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.func @main() {
      %u = wse.get_buffer @u : memref<4xf32>
      %d = dsd.mem1d %u extent 4 : memref<4xf32>
      %i = dsd.fabin color @c extent 4 {priority = high} : !dsd.fabin<f32>
      dsd.fmovs %d, %i async(priority = high) : !dsd.mem1d<f32>, !dsd.fabin<f32>
      wse.return
    }
  }
}
// -----
// DSD-098
// CHECK: error: fadds has 2 fabric inputs, but wse3 takes 1; receive one of them into memory first{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.color @d
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<f32>
    wse.func @main() {
      %u = wse.get_buffer @u : memref<f32>
      %i = dsd.fabin color @c extent 4 : !dsd.fabin<f32>
      %j = dsd.fabin color @d extent 4 : !dsd.fabin<f32>
      dsd.fadds %u, %i, %j : memref<f32>, !dsd.fabin<f32>, !dsd.fabin<f32>
      wse.return
    }
  }
}
// -----
// DSD-099: WSE-2 takes two.
// CHECK: dsd.fadds %u, %i, %j : memref<f32>, !dsd.fabin<f32>, !dsd.fabin<f32>
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.color @c
  wse.color @d
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<f32>
    wse.func @main() {
      %u = wse.get_buffer @u : memref<f32>
      %i = dsd.fabin color @c extent 4 : !dsd.fabin<f32>
      %j = dsd.fabin color @d extent 4 : !dsd.fabin<f32>
      dsd.fadds %u, %i, %j : memref<f32>, !dsd.fabin<f32>, !dsd.fabin<f32>
      wse.return
    }
  }
}
// -----
// DSD-190, DSD-191
// CHECK: error: data task @t cannot be activated; name a local task (wse.task ... local){{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<f32>
    wse.input_queue @in color @c
    wse.task @t data @in (%v: f32) {
      wse.return
    }
    wse.func @main() {
      %u = wse.get_buffer @u : memref<f32>
      %i = dsd.fabin color @c extent 4 : !dsd.fabin<f32>
      dsd.fmovs %u, %i async(activate = @t) : memref<f32>, !dsd.fabin<f32>
      wse.return
    }
  }
}
// -----
// DSD-192
// CHECK: error: input queue @in cannot be unblocked on wse2; name a local task, a data task or a color{{$}}
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<f32>
    wse.input_queue @in color @c
    wse.func @main() {
      %u = wse.get_buffer @u : memref<f32>
      %i = dsd.fabin @in extent 4 : !dsd.fabin<f32>
      dsd.fmovs %u, %i async(unblock = @c) : memref<f32>, !dsd.fabin<f32>
      dsd.fmovs %u, %i async(unblock = @in) : memref<f32>, !dsd.fabin<f32>
      wse.return
    }
  }
}
// -----
// DSD-193
// CHECK: error: color @c cannot be unblocked on wse3; name a local task, a data task or an input queue{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<f32>
    wse.input_queue @in color @c
    wse.func @main() {
      %u = wse.get_buffer @u : memref<f32>
      %i = dsd.fabin @in extent 4 : !dsd.fabin<f32>
      dsd.fmovs %u, %i async(unblock = @in) : memref<f32>, !dsd.fabin<f32>
      dsd.fmovs %u, %i async(unblock = @c) : memref<f32>, !dsd.fabin<f32>
      wse.return
    }
  }
}
// -----
// DSD-203
// CHECK: error: control task @t cannot be activated; name a local task (wse.task ... local){{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<f32>
    wse.task @t control id 3 {
      wse.return
    }
    wse.func @main() {
      %u = wse.get_buffer @u : memref<f32>
      %i = dsd.fabin color @c extent 4 : !dsd.fabin<f32>
      dsd.fmovs %u, %i async(on_control = activate @t) : memref<f32>, !dsd.fabin<f32>
      wse.return
    }
  }
}
// -----
// DSD-204, DSD-206
// CHECK: error: control task @t cannot be unblocked on wse2; name a local task, a data task or a color{{$}}
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<f32>
    wse.task @t control id 3 {
      wse.return
    }
    wse.func @main() {
      %u = wse.get_buffer @u : memref<f32>
      %i = dsd.fabin color @c extent 4 : !dsd.fabin<f32>
      dsd.fmovs %u, %i async(on_control = unblock @t) : memref<f32>, !dsd.fabin<f32>
      wse.return
    }
  }
}
// -----
// DSD-205
// CHECK: error: color @c cannot be unblocked on wse3; name a local task, a data task or an input queue{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<f32>
    wse.func @main() {
      %u = wse.get_buffer @u : memref<f32>
      %i = dsd.fabin color @c extent 4 : !dsd.fabin<f32>
      dsd.fmovs %u, %i async(on_control = unblock @c) : memref<f32>, !dsd.fabin<f32>
      wse.return
    }
  }
}
// -----
// DSD-222
// CHECK: error: wse3 has no microthread 8; choose one from 0 to 7{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<f32>
    wse.func @main() {
      %u = wse.get_buffer @u : memref<f32>
      %i = dsd.fabin color @c extent 4 : !dsd.fabin<f32>
      dsd.fmovs %u, %i async(ut = 8) : memref<f32>, !dsd.fabin<f32>
      wse.return
    }
  }
}
// -----
// DSD-223
// CHECK: error: on wse2 the microthread is the id 2 of the queue, not 3; remove ut{{$}}
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<f32>
    wse.input_queue @in color @c id 2
    wse.func @main() {
      %u = wse.get_buffer @u : memref<f32>
      %i = dsd.fabin @in extent 4 : !dsd.fabin<f32>
      dsd.fmovs %u, %i async(ut = 2) : memref<f32>, !dsd.fabin<f32>
      dsd.fmovs %u, %i async(ut = 3) : memref<f32>, !dsd.fabin<f32>
      wse.return
    }
  }
}
