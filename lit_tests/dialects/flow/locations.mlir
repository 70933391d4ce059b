// RUN: loom-opt %s --print-debuginfo | loom-opt --print-debuginfo | filecheck %s
// Locations written out are read back, those of arguments too.

flow.fabric @f target "wse3" grid 1 by 1 {
  flow.color @c = 1 loc("a.csl":1:1)
  flow.units @u on [:, :] words 8 {
    flow.queue input @in id 0 colors [@c on [:, :]]
    // CHECK-LABEL: flow.func @main(%n: i16 loc("a.csl":2:9), %m: f32 loc(unknown)) -> (i16) {
    flow.func @main(%n: i16 loc("a.csl":2:9), %m: f32) -> (i16) {
      // CHECK-NEXT: flow.return %n : i16 loc("a.csl":3:5)
      flow.return %n : i16 loc("a.csl":3:5)
    // CHECK-NEXT: } loc("a.csl":2:3)
    } loc("a.csl":2:3)
    // CHECK-NEXT: flow.task data @receive id 0 on @in (%low: f16 loc("a.csl":5:9), %high: i16 loc(unknown)) {
    flow.task data @receive id 0 on @in (%low: f16 loc("a.csl":5:9), %high: i16) {
      flow.return
    } loc("a.csl":5:3)
  }
}
