// RUN: loom-opt %s --print-debuginfo | loom-opt --print-debuginfo | filecheck %s
// Locations written out are read back, those of arguments too.

wse.program @p target "wse3" rectangle 2 x 1 {
  wse.color @c loc("a.csl":1:1)
  wse.pe @cell on [:, :] {
    wse.input_queue @in color @c
    // CHECK-LABEL: wse.func @main(%n: i16 loc("a.csl":2:9), %m: f32 loc(unknown)) {
    wse.func @main(%n: i16 loc("a.csl":2:9), %m: f32) {
      // CHECK-NEXT: wse.return loc("a.csl":3:5)
      wse.return loc("a.csl":3:5)
    // CHECK-NEXT: } loc("a.csl":2:3)
    } loc("a.csl":2:3)
    // CHECK-NEXT: wse.task @receive data @in (%low: f16 loc("a.csl":5:9), %high: i16 loc(unknown)) {
    wse.task @receive data @in (%low: f16 loc("a.csl":5:9), %high: i16) {
      wse.return
    } loc("a.csl":5:3)
  }
}
