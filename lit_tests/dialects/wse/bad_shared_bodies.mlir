// RUN: loom-opt --split-input-file --verify-diagnostics %s | filecheck %s
// Bodies that cannot be shared.

wse.program @unknown target "wse2" rectangle 2 x 1 {
  wse.pe @left on [0, 0] {
  }
  wse.pe @right on [1, 0] {
    // CHECK: function @main shares the body of @left::@main, which is not defined; define it or correct the name
    wse.func @main() shares @left::@main
  }
}

// -----

wse.program @kind target "wse2" rectangle 2 x 1 {
  wse.pe @left on [0, 0] {
    wse.task @main local { wse.return }
  }
  wse.pe @right on [1, 0] {
    // CHECK: function @main cannot share the body of local task @main; name one of its own kind
    wse.func @main() shares @left::@main
  }
}

// -----

wse.program @chain target "wse2" rectangle 3 x 1 {
  wse.pe @left on [0, 0] {
    wse.func @main() { wse.return }
  }
  wse.pe @middle on [1, 0] {
    wse.func @main() shares @left::@main
  }
  wse.pe @right on [2, 0] {
    // CHECK: function @main shares the body of @middle::@main, which shares that of @left::@main; name the latter
    wse.func @main() shares @middle::@main
  }
}

// -----

wse.program @itself target "wse2" rectangle 1 x 1 {
  wse.pe @left on [0, 0] {
    // CHECK: function @main shares the body of @left::@main, which shares that of @left::@main; name the latter
    wse.func @main() shares @left::@main
  }
}

// -----

wse.program @names target "wse2" rectangle 2 x 1 {
  wse.pe @left on [0, 0] {
    wse.func @main() { wse.return }
  }
  wse.pe @right on [1, 0] {
    // CHECK: function @other shares the body of function @main, which has another name; give both one name
    wse.func @other() shares @left::@main
  }
}

// -----

wse.program @results target "wse2" rectangle 2 x 1 {
  wse.pe @left on [0, 0] {
    wse.func @main() -> i16 {
      %zero = arith.constant 0 : i16
      wse.return %zero : i16
    }
  }
  wse.pe @right on [1, 0] {
    // CHECK: function @main has type () -> (), but the body it shares is of type () -> i16; make both agree
    wse.func @main() shares @left::@main
  }
}

// -----

wse.program @arguments target "wse3" rectangle 2 x 1 {
  wse.color @c
  wse.pe @left on [0, 0] {
    wse.task @main local { wse.return }
  }
  wse.pe @right on [1, 0] {
    wse.input_queue @in color @c
    // CHECK: data task @main takes no argument; give it one for the wavelet, or two of 16 bits
    wse.task @main data @in shares @left::@main
  }
}

// -----

wse.program @symbols target "wse2" rectangle 2 x 1 {
  wse.pe @left on [0, 0] {
    wse.buffer @u : memref<8xf32>
    wse.func @main() {
      // CHECK: buffer @u has type memref<4xf32>, not memref<8xf32>; use its type
      %u = wse.get_buffer @u : memref<8xf32>
      wse.return
    }
  }
  wse.pe @right on [1, 0] {
    wse.buffer @u : memref<4xf32>
    wse.func @main() shares @left::@main
  }
}

// -----

wse.program @missing target "wse2" rectangle 2 x 1 {
  wse.pe @left on [0, 0] {
    wse.task @next local { wse.return }
    wse.func @main() {
      // CHECK: @next is not defined in wse.pe @right or its program; define it or correct the name
      wse.activate @next
      wse.return
    }
  }
  wse.pe @right on [1, 0] {
    wse.func @main() shares @left::@main
  }
}

// -----

// That a body fits one program says nothing of the next.
wse.program @third target "wse2" rectangle 3 x 1 {
  wse.pe @left on [0, 0] {
    wse.buffer @u : memref<8xf32>
    wse.func @main() {
      // CHECK: buffer @u has type memref<4xf32>, not memref<8xf32>; use its type
      %u = wse.get_buffer @u : memref<8xf32>
      wse.return
    }
  }
  wse.pe @middle on [1, 0] {
    wse.buffer @u : memref<8xf32>
    wse.func @main() shares @left::@main
  }
  wse.pe @right on [2, 0] {
    wse.buffer @u : memref<4xf32>
    wse.func @main() shares @left::@main
  }
}
