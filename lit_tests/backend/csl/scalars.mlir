// RUN: loom-opt %s -t csl --split-input-file | filecheck %s

// Integers of the IR have no sign; in CSL all are signed, and what reads them as unsigned says so.

wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @r : memref<64xi16>
    wse.func @signs(%a: i16, %b: i16) {
      %r = wse.get_buffer @r : memref<64xi16>
      %i = arith.constant 0 : index
      %two = arith.constant 2 : i16
      %add = arith.addi %a, %b : i16
      memref.store %add, %r[%i] : memref<64xi16>
      %divs = arith.divsi %a, %two : i16
      memref.store %divs, %r[%i] : memref<64xi16>
      %divu = arith.divui %a, %b : i16
      memref.store %divu, %r[%i] : memref<64xi16>
      %remu = arith.remui %a, %two : i16
      memref.store %remu, %r[%i] : memref<64xi16>
      %shl = arith.shli %a, %two : i16
      memref.store %shl, %r[%i] : memref<64xi16>
      %shru = arith.shrui %a, %b : i16
      memref.store %shru, %r[%i] : memref<64xi16>
      %shrs = arith.shrsi %a, %b : i16
      memref.store %shrs, %r[%i] : memref<64xi16>
      %min = arith.minui %a, %b : i16
      memref.store %min, %r[%i] : memref<64xi16>
      %max = arith.maxsi %a, %b : i16
      memref.store %max, %r[%i] : memref<64xi16>
      %mixed = arith.addi %a, %two : i16
      %bits = arith.andi %mixed, %b : i16
      memref.store %bits, %r[%i] : memref<64xi16>
      %abs = math.absi %a : i16
      memref.store %abs, %r[%i] : memref<64xi16>
      wse.return
    }
    // CHECK-LABEL: fn signs(a: i16, b: i16) void {
    // CHECK-NEXT:   r[0] = a + b;
    // CHECK-NEXT:   r[0] = a / 2;
    // CHECK-NEXT:   r[0] = @bitcast(i16, @bitcast(u16, a) / @bitcast(u16, b));
    // CHECK-NEXT:   r[0] = @bitcast(i16, @bitcast(u16, a) % 2);
    // CHECK-NEXT:   r[0] = a << @as(u16, 2);
    // CHECK-NEXT:   r[0] = @bitcast(i16, @bitcast(u16, a) >> @bitcast(u16, b));
    // CHECK-NEXT:   r[0] = a >> @bitcast(u16, b);
    // CHECK-NEXT:   r[0] = @bitcast(i16, if (@bitcast(u16, a) < @bitcast(u16, b)) @bitcast(u16, a) else @bitcast(u16, b));
    // CHECK-NEXT:   r[0] = if (a > b) a else b;
    // CHECK-NEXT:   const mixed: i16 = a + 2;
    // CHECK-NEXT:   r[0] = mixed & b;
    // CHECK-NEXT:   r[0] = math.abs(a);
    // CHECK-NEXT: }

    wse.func @conversions(%a: i16, %w: i32, %x: f32, %h: f16) {
      %r = wse.get_buffer @r : memref<64xi16>
      %i = arith.index_cast %a : i16 to index
      %extu = arith.extui %a : i16 to i32
      %exts = arith.extsi %a : i16 to i32
      %sum = arith.addi %extu, %exts : i32
      %trunc = arith.trunci %sum : i32 to i16
      memref.store %trunc, %r[%i] : memref<64xi16>
      %fs = arith.sitofp %a : i16 to f32
      %fu = arith.uitofp %a : i16 to f32
      %fh = arith.extf %h : f16 to f32
      %s = arith.addf %fs, %fu : f32
      %t = arith.addf %s, %fh : f32
      %is = arith.fptosi %t : f32 to i16
      memref.store %is, %r[%i] : memref<64xi16>
      %iu = arith.fptoui %x : f32 to i16
      memref.store %iu, %r[%i] : memref<64xi16>
      %bits = arith.bitcast %h : f16 to i16
      memref.store %bits, %r[%i] : memref<64xi16>
      %odd = arith.trunci %w : i32 to i1
      %flag = arith.extui %odd : i1 to i16
      memref.store %flag, %r[%i] : memref<64xi16>
      %mask = arith.extsi %odd : i1 to i16
      memref.store %mask, %r[%i] : memref<64xi16>
      wse.return
    }
    // CHECK-LABEL: fn conversions(a: i16, w: i32, x: f32, h: f16) void {
    // CHECK-NEXT:   const i: i32 = @as(i32, a);
    // CHECK-NEXT:   r[i] = @as(i16, @as(i32, @bitcast(u16, a)) + @as(i32, a));
    // CHECK-NEXT:   r[i] = @as(i16, @as(f32, a) + @as(f32, @bitcast(u16, a)) + @as(f32, h));
    // CHECK-NEXT:   r[i] = @bitcast(i16, @as(u16, x));
    // CHECK-NEXT:   r[i] = @bitcast(i16, h);
    // CHECK-NEXT:   const odd: bool = w & 1 != 0;
    // CHECK-NEXT:   r[i] = @as(i16, odd);
    // CHECK-NEXT:   r[i] = if (odd) @as(i16, -1) else @as(i16, 0);
    // CHECK-NEXT: }

    wse.func @comparisons(%a: i16, %b: i16, %x: f32, %y: f32) {
      %lt = arith.cmpi slt, %a, %b : i16
      %lo = arith.cmpi ult, %a, %b : i16
      %one = arith.cmpf one, %x, %y : f32
      %ult = arith.cmpf ult, %x, %y : f32
      %ord = arith.cmpf ord, %x, %y : f32
      %p = arith.andi %lt, %lo : i1
      %q = arith.ori %one, %ult : i1
      %s = arith.xori %p, %ord : i1
      %t = arith.andi %q, %s : i1
      scf.if %t {
        wse.call @signs(%a, %b) : (i16, i16) -> ()
      }
      wse.return
    }
    // CHECK-LABEL: fn comparisons(a: i16, b: i16, x: f32, y: f32) void {
    // CHECK-NEXT:   if ((x < y or x > y or !(x >= y)) and (a < b and @bitcast(u16, a) < @bitcast(u16, b)) != (x == x and y == y)) {
    // CHECK-NEXT:     signs(a, b);
    // CHECK-NEXT:   }
    // CHECK-NEXT: }

    wse.func @floats(%x: f32, %y: f32, %h: f16) -> f32 {
      %neg = arith.negf %x : f32
      %max = arith.maximumf %neg, %y : f32
      %num = arith.maxnumf %max, %y : f32
      %root = math.sqrt %num : f32
      %power = math.powf %root, %y : f32
      %tenth = arith.constant 0.1 : f32
      %infinite = arith.constant 0x7f800000 : f32
      %small = arith.constant 1.0e-7 : f32
      %a = arith.addf %power, %tenth : f32
      %b = arith.addf %a, %infinite : f32
      %c = arith.mulf %b, %small : f32
      wse.return %c : f32
    }
    // CHECK-LABEL: fn floats(x: f32, y: f32, h: f16) f32 {
    // CHECK-NEXT:   const neg: f32 = -x;
    // CHECK-NEXT:   const max: f32 = if (neg == 0.0 and y == 0.0) neg + y else if (neg > y or neg != neg) neg else y;
    // CHECK-NEXT:   const power: f32 = math.pow(math.sqrt(if (y > max or max != max) y else max), y);
    // CHECK-NEXT:   return (power + 0.1 + @bitcast(f32, @as(u32, 0x7f800000))) * 0.0000001;
    // CHECK-NEXT: }
  }
}
