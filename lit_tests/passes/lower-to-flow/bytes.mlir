// RUN: loom-opt %s -p lower-to-flow | filecheck %s

// Elements of i8 take a byte each; buffers of more than a word begin at an even word; addresses count bytes.
wse.program @p target "wse3" rectangle 1 x 1 {
  // CHECK-LABEL: flow.units @cell on [0, 0] words 10 {
  wse.pe @cell on [0, 0] {
    // CHECK-NEXT: flow.buffer @flag at 0 : memref<i8>
    // CHECK-NEXT: flow.buffer @two at 1 : memref<2xi8>
    // CHECK-NEXT: flow.buffer @text at 2 : memref<5xi8> = dense<[104, 101, 108, 108, 111]>
    // CHECK-NEXT: flow.buffer @words at 6 : memref<3xi16>
    // CHECK-NEXT: flow.buffer @p at 9 : memref<i16>
    // CHECK-NEXT: flow.initialize @p[0] = 7
    // CHECK-NEXT: flow.export @p as "tail" points_to memref<2xi8> unsigned
    wse.buffer @flag : memref<i8>
    wse.buffer @two : memref<2xi8>
    wse.buffer @text : memref<5xi8> = dense<[104, 101, 108, 108, 111]>
    wse.buffer @words : memref<3xi16>
    wse.buffer @p : memref<i16>
    wse.initialize @p[0] = address_of @text + 3
    wse.export @p as "tail" points_to memref<2xi8> unsigned
    wse.func @main() {
      // CHECK: %[[I:.*]] = arith.constant 1 : index
      // CHECK-NEXT: %[[A:.*]] = arith.constant 12 : i16
      // CHECK-NEXT: %[[X:.*]] = flow.load %[[A]][%[[I]]] : i8
      // CHECK-NEXT: flow.store %[[X]], @text[%[[I]]] : i8
      %i = arith.constant 1 : index
      %a = wse.address_of @words : i16
      %v = wse.view %a : memref<?xi8>
      %x = memref.load %v[%i] : memref<?xi8>
      %t = wse.get_buffer @text : memref<5xi8>
      memref.store %x, %t[%i] : memref<5xi8>
      wse.return
    }
  }
}
