// RUN: loom-opt %s -t csl --split-input-file --verify-diagnostics | filecheck %s
// Ids that the memcpy library, which the printed program imports, keeps for itself.

// CHECK: error: color @c has id 21, which the memcpy library of the printed program reserves; choose another{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c = 21
  wse.pe @cell on [:, :] {
  }
}
// -----
// CHECK: error: local task @t has id 27, which the memcpy library of the printed program reserves; choose another{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.task @t local id 27 {
      wse.return
    }
  }
}
// -----
// CHECK: error: control task @t has id 33, which the memcpy library of the printed program reserves; choose another{{$}}
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.task @t control id 33 (%v: i16) {
      wse.return
    }
  }
}
// -----
// On WSE-3, other than on WSE-2, task 21 has nothing to do with color 21.
// CHECK: @get_local_task_id(21)
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.task @t local id 21 {
      wse.return
    }
  }
}
// -----
// CHECK: error: local task @t has id 21, which the memcpy library of the printed program reserves; choose another{{$}}
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.task @t local id 21 {
      wse.return
    }
  }
}
