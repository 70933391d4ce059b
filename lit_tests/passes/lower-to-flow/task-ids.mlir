// RUN: loom-opt -p lower-to-flow --split-input-file %s | filecheck %s
// Local tasks keep their ids and get free ones; data tasks have the number of their queue on WSE-3, of their color on
// WSE-2.

// CHECK-LABEL: flow.fabric @wse3
wse.program @wse3 target "wse3" rectangle 1 x 1 {
  wse.color @c = 9
  wse.pe @single on [:, :] {
    wse.input_queue @in color @c id 2
    // CHECK: flow.task local @first id 8 {
    wse.task @first local {
      wse.return
    }
    // CHECK: flow.task local @fixed id 9 active blocked {
    wse.task @fixed local id 9 active blocked {
      wse.return
    }
    // CHECK: flow.task local @second id 10 {
    wse.task @second local {
      wse.return
    }
    // CHECK: flow.task data @receive id 2 on @in blocked (%v: f32) {
    wse.task @receive data @in blocked (%v: f32) {
      wse.return
    }
    // CHECK: flow.task control @end id 5 {
    wse.task @end control id 5 {
      wse.return
    }
  }
}

// -----

// CHECK-LABEL: flow.fabric @wse2
wse.program @wse2 target "wse2" rectangle 1 x 1 {
  // The color of a data task does not take the id of a local task.
  // CHECK: flow.color @c = 1
  wse.color @c
  wse.pe @single on [:, :] {
    wse.input_queue @in color @c id 2
    // CHECK: flow.task local @fixed id 0 {
    wse.task @fixed local id 0 {
      wse.return
    }
    // CHECK: flow.task data @receive id 1 on @in (%low: i16, %high: f16) {
    wse.task @receive data @in (%low: i16, %high: f16) {
      wse.return
    }
    // CHECK: flow.task local @free id 2 {
    wse.task @free local {
      // On WSE-2 a color stands for the queue that serves it.
      // CHECK-NEXT: flow.block @in
      wse.block @c
      // CHECK-NEXT: flow.unblock @in
      wse.unblock @c
      // CHECK-NEXT: flow.unblock @receive
      wse.unblock @receive
      wse.return
    }
  }
}

// -----

// Ids 29 and 30 belong to the system: a 21st task on WSE-3 still fits.
// CHECK-LABEL: flow.fabric @last
// CHECK: flow.task local @t28 id 28
wse.program @last target "wse3" rectangle 1 x 1 {
  wse.pe @single on [:, :] {
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
  }
}
