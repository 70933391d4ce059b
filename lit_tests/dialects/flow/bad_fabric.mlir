// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Fabrics, units and what they own that break a rule by themselves, each with its error.

// CHECK: error: unknown target 'wse1'; choose one of a2a3, a5, wse2, wse3{{$}}
flow.fabric @p target "wse1" grid 1 by 1 {

}
// -----
// CHECK: error: the grid of a flow.fabric needs at least one column and one row{{$}}
flow.fabric @p target "wse3" grid 0 by 4 {

}
// -----
// CHECK: error: arith.constant does not belong in a flow.fabric directly; only colors, routes, host streams, message networks, spaces, channels and units do{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  %c = arith.constant 0 : i16
}
// -----
// The error is at the operation that made it, not at the fabric that found it.
// CHECK: bad_fabric.mlir:22:3: error: color @c is color 24, which wse3 does not offer; choose one from 0 to 23{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 24
}
// -----
// CHECK: error: colors @c and @d are both color 3; give one another number{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.color @d = 3
}
// -----
// CHECK: error: Redefinition of symbol "c"{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.color @c = 4
}
// -----
// CHECK: error: the route goes to no port; name at least one{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.route @c on [:, :] from [ramp] to []
}
// -----
// CHECK: error: the route names a port twice in 'from'; name it once{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.route @c on [:, :] from [west, west] to [east]
}
// -----
// CHECK: error: the route sends the color back to west, where it comes from; remove one{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.route @c on [:, :] from [west] to [ramp, west]
}
// -----
// CHECK: error: 'up' is not a router port; the ports are ramp, north, east, south, west{{$}}
"builtin.module"() ({
  "flow.fabric"() <{sym_name = "p", target = "wse3", width = 1 : i64, height = 1 : i64}> ({
    "flow.color"() <{sym_name = "c", color = 3 : i64}> : () -> ()
    "flow.route"() <{color = @c, regions = [#wse.region<[:, :]>], receive = ["up"], transmit = ["ramp"]}> : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// CHECK: error: units @u on [2:, :] + [0, 3] cover no PE of the grid, which has columns 0 to 1 and rows 0 to 0; correct their region or remove them{{$}}
flow.fabric @p target "wse3" grid 2 by 1 {
  flow.units @u on [2:, :] + [0, 3] words 8 {
  }
}
// -----
// CHECK: error: units @v are placed on PE (1, 0), where @u are already; place one class of units on each PE{{$}}
flow.fabric @p target "wse3" grid 2 by 2 {
  flow.units @u on [:, 0] + [0, :] words 8 {
  }
  flow.units @v on [1:, 1:] + [1, 0] words 8 {
  }
}
// -----
// CHECK: error: units @u have 24577 words of memory, but a PE of wse3 has 24576; use fewer{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 24577 {

  }
}
// -----
// CHECK: error: Redefinition of symbol "a"{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xi16>
    flow.buffer @a at 4 : memref<4xi16>
  }
}
// -----
// CHECK: error: flow.coordinate does not belong in flow.units directly; put it into a flow.func or flow.task{{$}}
"builtin.module"() ({
  "flow.fabric"() <{sym_name = "p", target = "wse3", width = 1 : i64, height = 1 : i64}> ({
    "flow.color"() <{sym_name = "c", color = 3 : i64}> : () -> ()
    "flow.units"() <{sym_name = "u", regions = [#wse.region<[:, :]>], words = 8 : i64}> ({
      "flow.coordinate"() <{axis = "x"}> : () -> i16
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// CHECK: error: 'flow.buffer' expects parent op 'flow.units'{{$}}
"builtin.module"() ({
  "flow.fabric"() <{sym_name = "p", target = "wse3", width = 1 : i64, height = 1 : i64}> ({
    "flow.buffer"() <{sym_name = "a", address = 0 : i64, type = memref<4xi16>}> : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// CHECK: error: buffer @a cannot hold i64; use f16, bf16, f32, i8, i16 or i32{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xi64>
  }
}
// -----
// CHECK: error: buffer @a has type memref<?xf32> with an open extent; give every extent{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<?xf32>
  }
}
// -----
// CHECK: error: buffer @a holds 32-bit elements at odd word address 1; align it to 2 words{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 1 : memref<2xf32>
  }
}
// -----
// CHECK: error: buffer @a takes words 6 to 9, but its units have words 0 to 7; move it or give them more words{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 6 : memref<2xf32>
  }
}
// -----
// CHECK: error: buffer @a takes words -2 to 1, but its units have words 0 to 7; move it or give them more words{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at -2 : memref<2xf32>
  }
}
// -----
// CHECK: error: initial value of type tensor<3xi16> does not fit memref<4xi16>; give it that type{{$}}
"builtin.module"() ({
  "flow.fabric"() <{sym_name = "p", target = "wse3", width = 1 : i64, height = 1 : i64}> ({
    "flow.color"() <{sym_name = "c", color = 3 : i64}> : () -> ()
    "flow.units"() <{sym_name = "u", regions = [#wse.region<[:, :]>], words = 8 : i64}> ({
      "flow.buffer"() <{sym_name = "a", address = 0 : i64, type = memref<4xi16>, initial = dense<0> : tensor<3xi16>}> : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// CHECK: error: parameter @c cannot be of type f64; use f16, bf16, f32, i1, i8, i16, i32, i64 or index{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.param @c = dense<0.0> : tensor<f64>
  }
}
// -----
// CHECK: error: parameter @row has values of shape [3, 2]; give one value, or one for each PE, [2, 3]{{$}}
flow.fabric @p target "wse3" grid 3 by 2 {
  flow.units @u on [:, :] words 8 {
    flow.param @row = dense<0> : tensor<3x2xi16>
  }
}
// -----
// CHECK: error: "x" is exported twice; give one of them another name{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<i16>
    flow.buffer @b at 1 : memref<i16>
    flow.export @a as "x"
    flow.export @b as "x"
  }
}
// -----
// CHECK: error: "x" is an unsigned memref<2xi16> here, but a memref<2xi16> in units @u; give them one type or two names{{$}}
flow.fabric @p target "wse3" grid 2 by 1 {
  flow.units @u on [0, :] words 4 {
    flow.buffer @a at 0 : memref<2xi16>
    flow.export @a as "x"
  }
  flow.units @v on [1, :] words 4 {
    flow.buffer @b at 0 : memref<2xi16>
    flow.export @b as "x" unsigned
  }
}
// -----
// CHECK: error: buffer @a of memref<4xbf16> cannot be exported as unsigned; only i8, i16 and i32 can{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xbf16>
    flow.export @a as "a" unsigned
  }
}
// -----
// CHECK: error: function @main cannot be unsigned, read_only or a pointer; remove the keyword{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.func @main {
    }
    flow.export @main as "main" read_only
  }
}
// -----
// CHECK: error: function @main takes !flow.stream<f32>, which the host cannot pass; take numbers of type f16, bf16, f32, i1, i8, i16, i32 or i64{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.func @main(%s: !flow.stream<f32>) {
    }
    flow.export @main as "main"
  }
}
// -----
// CHECK: error: parameter @k cannot be exported; export a buffer or a function{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.param @k = dense<0> : tensor<i16>
    flow.export @k as "k"
  }
}
// -----
// CHECK: error: queue @q is 'both'; make it 'input' or 'output'{{$}}
"builtin.module"() ({
  "flow.fabric"() <{sym_name = "p", target = "wse3", width = 1 : i64, height = 1 : i64}> ({
    "flow.color"() <{sym_name = "c", color = 3 : i64}> : () -> ()
    "flow.units"() <{sym_name = "u", regions = [#wse.region<[:, :]>], words = 8 : i64}> ({
      "flow.queue"() <{sym_name = "q", direction = "both", queue_id = 0 : i64, colors = [@c], color_regions = [[#wse.region<[:, :]>]]}> : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// CHECK: error: queue @q has 1 color, but regions for 0; give each color its regions{{$}}
"builtin.module"() ({
  "flow.fabric"() <{sym_name = "p", target = "wse3", width = 1 : i64, height = 1 : i64}> ({
    "flow.color"() <{sym_name = "c", color = 3 : i64}> : () -> ()
    "flow.units"() <{sym_name = "u", regions = [#wse.region<[:, :]>], words = 8 : i64}> ({
      "flow.queue"() <{sym_name = "q", direction = "input", queue_id = 0 : i64, colors = [@c], color_regions = []}> : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// DSD-220: a queue id the target does not have.
// CHECK: error: input queue @q has id 8, which wse3 does not have; choose one from 0 to 7{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue input @q id 8 colors [@c on [:, :]]
  }
}
// -----
// DSD-219: WSE-2 has no output queues 6 and 7.
// CHECK: error: output queue @q has id 6, which wse2 does not have; choose one from 0 to 5{{$}}
flow.fabric @p target "wse2" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue output @q id 6 colors [@c on [:, :]]
  }
}
// -----
// CHECK: error: queue @q serves @c and @d at PE (2, 0); a queue serves one color, so keep one of them there{{$}}
flow.fabric @p target "wse3" grid 4 by 1 {
  flow.color @c = 3
  flow.color @d = 4
  flow.units @u on [:, :] words 8 {
    flow.queue input @q id 0 colors [@c on [::2, :], @d on [2:, :]]
  }
}
// -----
// CHECK: error: input queue @r has id 0, which @q has already with another color at PE (2, 0); give one another id{{$}}
flow.fabric @p target "wse3" grid 4 by 1 {
  flow.color @c = 3
  flow.color @d = 4
  flow.units @u on [:, :] words 8 {
    flow.queue input @q id 0 colors [@c on [::2, :]]
    flow.queue output @o id 0 colors [@d on [:, :]]
    flow.queue input @r id 0 colors [@d on [2:, :]]
  }
}
// -----
// CHECK: error: 'low' is not a priority of the main thread; use one of medium_low, medium, medium_high, high{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 4 main_thread low {
  }
}
