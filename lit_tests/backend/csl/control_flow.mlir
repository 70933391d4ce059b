// RUN: loom-opt %s -t csl | filecheck %s

wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @a : memref<8xi16>

    // Values that a loop hands on change all at once.
    wse.func @fibonacci(%n: i16) -> i16 {
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      %x, %y = scf.for %i = %zero to %n step %one iter_args(%p = %zero, %q = %one) -> (i16, i16) : i16 {
        %sum = arith.addi %p, %q : i16
        scf.yield %q, %sum : i16, i16
      }
      %both = arith.addi %x, %y : i16
      wse.return %both : i16
    }
    // CHECK-LABEL: fn fibonacci(n: i16) i16 {
    // CHECK-NEXT:   var p: i16 = 0;
    // CHECK-NEXT:   var q: i16 = 1;
    // CHECK-NEXT:   for (@range(i16, n)) |i| {
    // CHECK-NEXT:     const sum: i16 = p + q;
    // CHECK-NEXT:     p = q;
    // CHECK-NEXT:     q = sum;
    // CHECK-NEXT:   }
    // CHECK-NEXT:   return p + q;
    // CHECK-NEXT: }

    wse.func @choose(%n: i16) {
      %a = wse.get_buffer @a : memref<8xi16>
      %i = arith.constant 0 : index
      %two = arith.constant 2 : i16
      %big = arith.cmpi sgt, %n, %two : i16
      %plain = scf.if %big -> (i16) {
        scf.yield %n : i16
      } else {
        scf.yield %two : i16
      }
      memref.store %plain, %a[%i] : memref<8xi16>
      %p, %q = scf.if %big -> (i16, i16) {
        %m = memref.load %a[%i] : memref<8xi16>
        scf.yield %m, %n : i16, i16
      } else {
        scf.yield %two, %two : i16, i16
      }
      memref.store %p, %a[%i] : memref<8xi16>
      memref.store %q, %a[%i] : memref<8xi16>
      scf.if %big {
      } else {
        memref.store %n, %a[%i] : memref<8xi16>
      }
      wse.return
    }
    // CHECK-LABEL: fn choose(n: i16) void {
    // CHECK-NEXT:   const big: bool = n > 2;
    // CHECK-NEXT:   a[0] = if (big) n else @as(i16, 2);
    // CHECK-NEXT:   var p: i16;
    // CHECK-NEXT:   var q: i16;
    // CHECK-NEXT:   if (big) {
    // CHECK-NEXT:     const m: i16 = a[0];
    // CHECK-NEXT:     p = m;
    // CHECK-NEXT:     q = n;
    // CHECK-NEXT:   } else {
    // CHECK-NEXT:     p = 2;
    // CHECK-NEXT:     q = 2;
    // CHECK-NEXT:   }
    // CHECK-NEXT:   a[0] = p;
    // CHECK-NEXT:   a[0] = q;
    // CHECK-NEXT:   if (!big) {
    // CHECK-NEXT:     a[0] = n;
    // CHECK-NEXT:   }
    // CHECK-NEXT: }

    wse.func @loops(%n: i16) -> i16 {
      %hundred = arith.constant 100 : i16
      %last = scf.while (%v = %n) : (i16) -> i16 {
        %go = arith.cmpi slt, %v, %hundred : i16
        scf.condition(%go) %v : i16
      } do {
      ^bb0(%w: i16):
        %double = arith.addi %w, %w : i16
        scf.yield %double : i16
      }
      scf.while () : () -> () {
        %a = wse.get_buffer @a : memref<8xi16>
        %i = arith.constant 0 : index
        %x = memref.load %a[%i] : memref<8xi16>
        %zero = arith.constant 0 : i16
        %go = arith.cmpi ne, %x, %zero : i16
        scf.condition(%go)
      } do {
        %a = wse.get_buffer @a : memref<8xi16>
        %i = arith.constant 0 : index
        memref.store %n, %a[%i] : memref<8xi16>
        scf.yield
      }
      wse.return %last : i16
    }
    // CHECK-LABEL: fn loops(n: i16) i16 {
    // CHECK-NEXT:   var v: i16 = n;
    // CHECK-NEXT:   var last: i16;
    // CHECK-NEXT:   while (true) {
    // CHECK-NEXT:     last = v;
    // CHECK-NEXT:     if (!(v < 100)) {
    // CHECK-NEXT:       break;
    // CHECK-NEXT:     }
    // CHECK-NEXT:     v = v + v;
    // CHECK-NEXT:   }
    // CHECK-NEXT:   while (true) {
    // CHECK-NEXT:     const x: i16 = a[0];
    // CHECK-NEXT:     if (!(x != 0)) {
    // CHECK-NEXT:       break;
    // CHECK-NEXT:     }
    // CHECK-NEXT:     a[0] = n;
    // CHECK-NEXT:   }
    // CHECK-NEXT:   return last;
    // CHECK-NEXT: }

    wse.func @cases(%n: i16) {
      %i = arith.index_cast %n : i16 to index
      scf.index_switch %i
      case 2 {
        wse.activate @t
        scf.yield
      }
      case 5 {
        wse.block @t
        scf.yield
      }
      default {
        wse.unblock @t
        scf.yield
      }
      wse.return
    }
    // CHECK-LABEL: fn cases(n: i16) void {
    // CHECK-NEXT:   if (@as(i32, n) == 2) {
    // CHECK-NEXT:     @activate(t_id);
    // CHECK-NEXT:   } else if (@as(i32, n) == 5) {
    // CHECK-NEXT:     @block(t_id);
    // CHECK-NEXT:   } else {
    // CHECK-NEXT:     @unblock(t_id);
    // CHECK-NEXT:   }
    // CHECK-NEXT: }

    wse.task @t local {
      wse.return
    }
  }
}
