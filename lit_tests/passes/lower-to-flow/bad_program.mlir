// RUN: loom-opt -p lower-to-flow --split-input-file --verify-diagnostics %s | filecheck %s
// What a whole program can get wrong. Every error is at the operation that is to be changed.

// CHECK: bad_program.mlir:[[# @LINE + 5]]:3: error: wse.pe @b is placed on PE (2, 1), where @a is already; place one program on each PE
wse.program @overlap target "wse3" rectangle 4 x 3 {
  wse.pe @a on [::2, 1:] {
  }

  wse.pe @b on [1:, :2] {
  }
}

// -----

// CHECK: bad_program.mlir:[[# @LINE + 2]]:3: error: wse.pe @a on [5, :] covers no PE of the rectangle, which has columns 0 to 1 and rows 0 to 2; correct its region or enlarge the rectangle
wse.program @outside target "wse3" rectangle 2 x 3 {
  wse.pe @a on [5, :] {
  }
}

// -----

wse.program @routes target "wse3" rectangle 4 x 3 {
  wse.color @c
  wse.route @c on [:, 0] + [3, :] from [ramp] to [east]
  // CHECK: color @c has two routes at PE (3, 2); name all its ports in one of them
  wse.route @c on [1:, -1] from [west] to [ramp]
}

// -----

wse.program @queue target "wse3" rectangle 4 x 3 {
  wse.color @c
  wse.color @d
  wse.pe @a on [:, :] {
    // CHECK: queue @q serves @c and @d at PE (3, 0); a queue serves one color
    wse.input_queue @q colors [@c on [::3, :], @d on [1:, :]] id 0
  }
}

// -----

wse.program @queue_id target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @a on [:, :] {
    // CHECK: queue @q has no id; run dsd-assign-queues before lower-to-flow
    wse.output_queue @q color @c
  }
}

// -----

wse.program @data_queue_id target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @a on [:, :] {
    // CHECK: queue @q has no id; run dsd-assign-queues before lower-to-flow
    wse.input_queue @q color @c
    wse.task @t data @q (%v: f32) {
      wse.return
    }
  }
}

// -----

wse.program @colors target "wse3" rectangle 1 x 1 {
  wse.color @c00
  wse.color @c01
  wse.color @c02
  wse.color @c03
  wse.color @c04
  wse.color @c05
  wse.color @c06
  wse.color @c07
  wse.color @c08
  wse.color @c09
  wse.color @c10
  wse.color @c11
  wse.color @c12
  wse.color @c13
  wse.color @c14
  wse.color @c15
  wse.color @c16
  wse.color @c17
  wse.color @c18
  wse.color @c19
  wse.color @c20
  wse.color @c21
  wse.color @c22
  wse.color @c23
  // CHECK: color @c24 gets no id: the program has 25 colors, and wse3 routes 24; let parts of the program that are far apart share a color
  wse.color @c24
}

// -----

wse.program @memory target "wse3" rectangle 1 x 1 {
  // CHECK: the buffers of @a take 49,180 bytes, but a PE of wse3 has 49,152: @large 40,000 ({{.*}}:{{[0-9]+}}), @other 9,000 ({{.*}}), @v1 26 ({{.*}}), @v2 26 ({{.*}}), @v3 26 ({{.*}}), @v4 26 ({{.*}}), @v5 26 ({{.*}}), @v6 26 ({{.*}}), 2 others 24; make them smaller or spread them over more PEs
  wse.pe @a on [:, :] {
    wse.buffer @v1 : memref<13xi16>
    wse.buffer @v2 : memref<13xi16>
    wse.buffer @v3 : memref<13xi16>
    wse.buffer @v4 : memref<13xi16>
    wse.buffer @v5 : memref<13xi16>
    wse.buffer @v6 : memref<13xi16>
    wse.buffer @v7 : memref<6xi16>
    wse.buffer @v8 : memref<6xi16>
    wse.buffer @other : memref<4500xf16>
    wse.buffer @large : memref<100x100xf32>
  }
}

// -----

wse.program @padding target "wse3" rectangle 1 x 1 {
  // CHECK: the buffers of @a take 49,150 bytes with their alignment, but a PE of wse3 has 49,152: @v 48,130 ({{.*}}), @w 1,020 ({{.*}}); make them smaller
  wse.pe @a on [:, :] {
    wse.buffer @v : memref<24065xi16>
    wse.buffer @w : memref<510xi16> align 1024
  }
}

// -----

wse.program @task_id target "wse3" rectangle 1 x 1 {
  wse.pe @a on [:, :] {
    wse.task @t08 local { wse.return }
    wse.task @t09 local { wse.return }
    wse.task @t10 local { wse.return }
    wse.task @t11 local { wse.return }
    wse.task @t12 local { wse.return }
    wse.task @t13 local { wse.return }
    wse.task @t14 local { wse.return }
    wse.task @t15 local { wse.return }
    wse.task @t16 local { wse.return }
    wse.task @t17 local { wse.return }
    wse.task @t18 local { wse.return }
    wse.task @t19 local { wse.return }
    wse.task @t20 local { wse.return }
    wse.task @t21 local { wse.return }
    wse.task @t22 local { wse.return }
    wse.task @t23 local { wse.return }
    wse.task @t24 local { wse.return }
    wse.task @t25 local { wse.return }
    wse.task @t26 local { wse.return }
    wse.task @t27 local { wse.return }
    wse.task @t28 local { wse.return }
    // CHECK: local task @t29 gets no id: @a has 22 local tasks, and 21 ids are free on wse3; merge tasks that never wait for each other
    wse.task @t29 local { wse.return }
  }
}

// -----

wse.program @data_task_id target "wse2" rectangle 1 x 1 {
  wse.color @c = 7
  wse.pe @a on [:, :] {
    wse.input_queue @q color @c id 0
    wse.task @receive data @q (%v: f32) {
      wse.return
    }
    // CHECK: local task @t has id 7, which data task @receive has by its color; give one another id
    wse.task @t local id 7 {
      wse.return
    }
  }
}

// -----

wse.program @color_of_no_queue target "wse2" rectangle 1 x 1 {
  wse.color @c
  wse.pe @a on [:, :] {
    wse.task @t local {
      // CHECK: wse.unblock names color @c, which no input queue of this PE serves; name its queue
      wse.unblock @c
      wse.return
    }
  }
}
