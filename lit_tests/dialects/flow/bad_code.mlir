// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Tasks, functions and operations that break a rule by themselves, each with its error.

// CHECK: error: task @t is 'timer'; make it one of local, data, control{{$}}
"builtin.module"() ({
  "flow.fabric"() <{sym_name = "p", target = "wse3", width = 1 : i64, height = 1 : i64}> ({
    "flow.color"() <{sym_name = "c", color = 3 : i64}> : () -> ()
    "flow.units"() <{sym_name = "u", regions = [#wse.region<[:, :]>], words = 8 : i64}> ({
      "flow.task"() <{sym_name = "t", kind = "timer", task_id = 9 : i64}> ({
        "flow.return"() : () -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// CHECK: error: data task @t has no queue; name the input queue that starts it{{$}}
"builtin.module"() ({
  "flow.fabric"() <{sym_name = "p", target = "wse3", width = 1 : i64, height = 1 : i64}> ({
    "flow.color"() <{sym_name = "c", color = 3 : i64}> : () -> ()
    "flow.units"() <{sym_name = "u", regions = [#wse.region<[:, :]>], words = 8 : i64}> ({
      "flow.task"() <{sym_name = "t", kind = "data", task_id = 2 : i64}> ({
      ^bb0(%value: i32):
        "flow.return"() : () -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// CHECK: error: local task @t has a queue; remove it, only data tasks have one{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.task local @t id 9 on @in {
    }
  }
}
// -----
// CHECK: error: control task @t cannot be active; only local tasks are activated{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.task control @t id 9 active {
    }
  }
}
// -----
// CHECK: error: local task @t takes arguments, but nothing passes any to it; keep the values in buffers{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.task local @t id 9 (%x: i16) {
    }
  }
}
// -----
// CHECK: error: data task @t takes no argument; give it one for the wavelet, or two of 16 bits{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.task data @t id 2 on @in {
    }
  }
}
// -----
// CHECK: error: data task @t takes more than a wavelet holds; give it one argument of 16 or 32 bits, or two of 16 bits{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.task data @t id 2 on @in (%low: i16, %high: f32) {
    }
  }
}
// -----
// CHECK: error: a wavelet cannot hold i64; use f16, bf16, f32, i16 or i32{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.task data @t id 2 on @in (%value: i64) {
    }
  }
}
// -----
// CHECK: error: queue @in has two data tasks, @t and @s; give one of them another queue{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.task data @t id 2 on @in (%value: i32) {
    }
    flow.task data @s id 2 on @in (%value: i32) {
    }
  }
}
// -----
// A data task has the id of its queue, on WSE-2 of its color.
// CHECK: error: data task @t has id 9, but on wse3 it has the id of its queue; use 2{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.task data @t id 9 on @in (%value: i32) {
    }
  }
}
// -----
// CHECK: error: data task @t has id 2, but on wse2 it has the id of its queue's color; use 3{{$}}
flow.fabric @p target "wse2" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.task data @t id 2 on @in (%value: i32) {
    }
  }
}
// -----
// CHECK: error: local task @t has id 7, which wse3 does not offer; choose one from 8 to 30{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.task local @t id 7 {
    }
  }
}
// -----
// CHECK: error: local task @t has id 30, which wse3 reserves for the system; choose another{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.task local @t id 30 {
    }
  }
}
// -----
// CHECK: error: control task @t has id 64, which wse3 does not offer; choose one from 0 to 63{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.task control @t id 64 {
    }
  }
}
// -----
// CHECK: error: local task @s has id 9, which @t has already; give one another id{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.task local @t id 9 {
    }
    flow.task control @end id 9 {
    }
    flow.task local @s id 9 {
    }
  }
}
// -----
// CHECK: error: flow.return does not return what its function or task declares (f32); make both agree{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.func @f -> (f32) {
    }
  }
}
// -----
// CHECK: error: flow.return does not return what its function or task declares (nothing); make both agree{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.task local @t id 9 {
      %one = arith.constant 1 : i16
      flow.return %one : i16
    }
  }
}
// -----
// CHECK: error: the body of function @f does not take the arguments of its type; make both agree{{$}}
"builtin.module"() ({
  "flow.fabric"() <{sym_name = "p", target = "wse3", width = 1 : i64, height = 1 : i64}> ({
    "flow.color"() <{sym_name = "c", color = 3 : i64}> : () -> ()
    "flow.units"() <{sym_name = "u", regions = [#wse.region<[:, :]>], words = 8 : i64}> ({
      "flow.func"() <{sym_name = "f", function_type = (i16) -> ()}> ({
        "flow.return"() : () -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// CHECK: error: an argument of function @f cannot be of type i4; use f16, bf16, f32, i1, i8, i16, i32, i64 or index{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.func @f(%x: i4) {
    }
  }
}
// -----
// CHECK: error: an argument of function @f cannot be of type f80; use f16, bf16, f32, i1, i8, i16, i32, i64 or index{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.func @f(%x: f80) -> (f80) {
      flow.return %x : f80
    }
  }
}
// -----
// CHECK: error: 'flow.return' expects parent op to be one of 'flow.func', 'flow.task'{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.func @main {
      %c = arith.constant true
      scf.if %c {
        flow.return
      }
    }
  }
}
// -----
// CHECK: error: flow.coordinate has a whole number as its result, not f32; use i16, i32, i64 or index{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.func @main {
      %x = flow.coordinate x : f32
    }
  }
}
// -----
// CHECK: error: the grid has no axis 'z'; use x or y{{$}}
"builtin.module"() ({
  "flow.fabric"() <{sym_name = "p", target = "wse3", width = 1 : i64, height = 1 : i64}> ({
    "flow.color"() <{sym_name = "c", color = 3 : i64}> : () -> ()
    "flow.units"() <{sym_name = "u", regions = [#wse.region<[:, :]>], words = 8 : i64}> ({
      "flow.buffer"() <{sym_name = "a", address = 0 : i64, type = memref<4xi16>}> : () -> ()
      "flow.func"() <{sym_name = "main", function_type = () -> ()}> ({
        %x = "flow.extent"() <{axis = "z"}> : () -> i16
        "flow.return"() : () -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// CHECK: error: a stream has one to four dimensions with a stride and an extent each, not 1 stride and 2 extents; correct them{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.func @main {
      %s = flow.stream @a at 0 strides [1] extents [2, 2] : !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: a stream has one to four dimensions with a stride and an extent each, not 5 strides and 5 extents; correct them{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.func @main {
      %s = flow.stream @a at 0 strides [1, 1, 1, 1, 1] extents [1, 1, 1, 1, 1] : !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: extent -1 does not fit a stream; choose one from 0 to 65535{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.func @main {
      %s = flow.stream @a at 0 strides [1] extents [-1] : !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: stride 70000 does not fit a stream; choose one from -65535 to 65535{{$}}
"builtin.module"() ({
  "flow.fabric"() <{sym_name = "p", target = "wse3", width = 1 : i64, height = 1 : i64}> ({
    "flow.color"() <{sym_name = "c", color = 3 : i64}> : () -> ()
    "flow.units"() <{sym_name = "u", regions = [#wse.region<[:, :]>], words = 8 : i64}> ({
      "flow.buffer"() <{sym_name = "a", address = 0 : i64, type = memref<4xi16>}> : () -> ()
      "flow.func"() <{sym_name = "main", function_type = () -> ()}> ({
        %s = "flow.stream"() <{buffer = @a, static_offset = 0 : i64, static_strides = array<i64: 70000>, static_extents = array<i64: 4>, operandSegmentSizes = array<i32: 0, 0, 0, 0>}> : () -> !flow.stream<i16>
        "flow.return"() : () -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// CHECK: error: the stream leaves 1 offset open, but has values for 0; give one for each{{$}}
"builtin.module"() ({
  "flow.fabric"() <{sym_name = "p", target = "wse3", width = 1 : i64, height = 1 : i64}> ({
    "flow.color"() <{sym_name = "c", color = 3 : i64}> : () -> ()
    "flow.units"() <{sym_name = "u", regions = [#wse.region<[:, :]>], words = 8 : i64}> ({
      "flow.buffer"() <{sym_name = "a", address = 0 : i64, type = memref<4xi16>}> : () -> ()
      "flow.func"() <{sym_name = "main", function_type = () -> ()}> ({
        %s = "flow.stream"() <{buffer = @a, static_offset = -9223372036854775808 : i64, static_strides = array<i64: 1>, static_extents = array<i64: 4>, operandSegmentSizes = array<i32: 0, 0, 0, 0>}> : () -> !flow.stream<i16>
        "flow.return"() : () -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// CHECK: error: extent -4 does not fit a stream; choose one from 0 to 65535{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.func @main {
      %in = flow.queue_stream @in extent -4 : !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: flow.resize makes !flow.stream<f16> of !flow.stream<i16>; a stream keeps its type, so use that{{$}}
"builtin.module"() ({
  "flow.fabric"() <{sym_name = "p", target = "wse3", width = 1 : i64, height = 1 : i64}> ({
    "flow.color"() <{sym_name = "c", color = 3 : i64}> : () -> ()
    "flow.units"() <{sym_name = "u", regions = [#wse.region<[:, :]>], words = 8 : i64}> ({
      "flow.buffer"() <{sym_name = "a", address = 0 : i64, type = memref<4xi16>}> : () -> ()
      "flow.func"() <{sym_name = "main", function_type = () -> ()}> ({
        %h = "flow.stream"() <{buffer = @a, static_offset = 0 : i64, static_strides = array<i64: 1>, static_extents = array<i64: 4>, operandSegmentSizes = array<i32: 0, 0, 0, 0>}> : () -> !flow.stream<i16>
        %one = "arith.constant"() <{value = 1 : i16}> : () -> i16
        %s = "flow.resize"(%h, %one) : (!flow.stream<i16>, i16) -> !flow.stream<f16>
        "flow.return"() : () -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// CHECK: error: 'fmovz' is not an operation of the DSD table; correct the name{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.func @main {
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
      flow.apply fmovz %a, %a : !flow.stream<f32>, !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: fmovs takes 1 source, not 2; correct the operands{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.func @main {
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
      flow.apply fmovs %a, %a, %a : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: the destination of fmovs has elements of i16, but f32 is needed; use a type of that width{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.buffer @h at 0 : memref<8xi16>
    flow.func @main {
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
      %h = flow.stream @h at 0 strides [1] extents [4] : !flow.stream<i16>
      flow.apply fmovs %h, %a : !flow.stream<i16>, !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: source 2 of fadds has elements of i16, but f32 is needed; use a type of that width{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.buffer @h at 0 : memref<8xi16>
    flow.func @main {
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
      %h = flow.stream @h at 0 strides [1] extents [4] : !flow.stream<i16>
      flow.apply fadds %a, %a, %h : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<i16>
    }
  }
}
// -----
// CHECK: error: source 3 of fmacs must be a scalar of f32; give one{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.func @main {
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
      flow.apply fmacs %a, %a, %a, %a : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: source 1 of sub16 cannot be a scalar; give a stream{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @h at 0 : memref<8xi16>
    flow.func @main {
      %h = flow.stream @h at 0 strides [1] extents [4] : !flow.stream<i16>
      %one = arith.constant 1 : i16
      flow.apply sub16 %h, %one, %h : !flow.stream<i16>, i16, !flow.stream<i16>
    }
  }
}
// -----
// CHECK: error: source 1 of fmovs is a scalar of i32, but f32 is needed; use that{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.func @main {
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
      %one = arith.constant 1 : i32
      flow.apply fmovs %a, %one : !flow.stream<f32>, i32
    }
  }
}
// -----
// DSD-189: activate and unblock may not both be given.
// CHECK: error: an operation activates or unblocks a task at its end, not both (DSD-189); keep one of them{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.task local @t id 9 {
    }
    flow.func @main {
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
      %in = flow.queue_stream @in extent 4 : !flow.stream<f32>
      flow.apply fmovs %a, %in async(microthread = 0, activate = @t, unblock = @t) : !flow.stream<f32>, !flow.stream<f32>
    }
  }
}
// -----
// DSD-196: completion settings need an asynchronous operation.
// CHECK: error: only an asynchronous operation has a completion task or a priority (DSD-196); give it a microthread{{$}}
"builtin.module"() ({
  "flow.fabric"() <{sym_name = "p", target = "wse3", width = 1 : i64, height = 1 : i64}> ({
    "flow.color"() <{sym_name = "c", color = 3 : i64}> : () -> ()
    "flow.units"() <{sym_name = "u", regions = [#wse.region<[:, :]>], words = 8 : i64}> ({
      "flow.buffer"() <{sym_name = "a", address = 0 : i64, type = memref<4xi16>}> : () -> ()
      "flow.func"() <{sym_name = "main", function_type = () -> ()}> ({
        %s = "flow.stream"() <{buffer = @a, static_offset = 0 : i64, static_strides = array<i64: 1>, static_extents = array<i64: 4>, operandSegmentSizes = array<i32: 0, 0, 0, 0>}> : () -> !flow.stream<i16>
        "flow.apply"(%s, %s) <{operation = "mov16", activate = @main}> : (!flow.stream<i16>, !flow.stream<i16>) -> ()
        "flow.return"() : () -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// CHECK: error: 'urgent' is not a priority; use low, medium, high{{$}}
"builtin.module"() ({
  "flow.fabric"() <{sym_name = "p", target = "wse3", width = 1 : i64, height = 1 : i64}> ({
    "flow.color"() <{sym_name = "c", color = 3 : i64}> : () -> ()
    "flow.units"() <{sym_name = "u", regions = [#wse.region<[:, :]>], words = 8 : i64}> ({
      "flow.buffer"() <{sym_name = "a", address = 0 : i64, type = memref<4xi16>}> : () -> ()
      "flow.func"() <{sym_name = "main", function_type = () -> ()}> ({
        %s = "flow.stream"() <{buffer = @a, static_offset = 0 : i64, static_strides = array<i64: 1>, static_extents = array<i64: 4>, operandSegmentSizes = array<i32: 0, 0, 0, 0>}> : () -> !flow.stream<i16>
        "flow.apply"(%s, %s) <{operation = "mov16", microthread = 1 : i64, priority = "urgent"}> : (!flow.stream<i16>, !flow.stream<i16>) -> ()
        "flow.return"() : () -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
