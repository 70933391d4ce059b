// RUN: loom-opt -p dsd-hoist-descriptors %s --split-input-file | filecheck %s
// RUN: loom-opt -p dsd-hoist-descriptors,dsr-allocate %s --split-input-file | filecheck %s --check-prefix LOADS
// Equal descriptors are one value, made before the loops that do not change it.

// Of every operand its own descriptor, as the front end makes them.
// CHECK-LABEL: wse.program @constants
// LOADS-LABEL: wse.program @constants
wse.program @constants target "wse3" rectangle 1 x 1 {
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<30xf32>
    wse.func @main(%n: i16, %x: f32) {
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      // CHECK: %A = wse.get_buffer @A
      // CHECK-NEXT: %a = dsd.mem1d %A extent 10
      // CHECK-NEXT: %c = dsd.mem4d %A strides [1, 9] extents [3, 2]
      // CHECK-NEXT: scf.for
      // CHECK-NEXT: dsd.fadds %a, %a, %x
      // CHECK-NEXT: wse.call @other
      // CHECK-NEXT: scf.for
      // CHECK-NEXT: dsd.fmacs %c, %c, %a, %x
      // CHECK-NEXT: }
      // LOADS: dsr.load %a implicit : !dsd.mem1d<f32> -> !dsr.dest<f32, {{.}}>
      // LOADS-COUNT-4: dsr.load
      // LOADS-NOT: dsr.load
      // LOADS: wse.call @other
      // LOADS-NOT: dsr.load
      // LOADS: wse.return
      scf.for %i = %zero to %n step %one : i16 {
        %A = wse.get_buffer @A : memref<30xf32>
        %a = dsd.mem1d %A extent 10 : memref<30xf32>
        %b = dsd.mem1d %A extent 10 : memref<30xf32>
        dsd.fadds %a, %b, %x : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
        wse.call @other() : () -> ()
        scf.for %j = %zero to %n step %one : i16 {
          %B = wse.get_buffer @A : memref<30xf32>
          %c = dsd.mem4d %B strides [1, 9] extents [3, 2] : memref<30xf32>
          %d = dsd.mem4d %B strides [1, 9] extents [3, 2] : memref<30xf32>
          %e = dsd.mem1d %B extent 10 : memref<30xf32>
          dsd.fmacs %c, %d, %e, %x : !dsd.mem4d<f32>, !dsd.mem4d<f32>, !dsd.mem1d<f32>, f32
        }
      }
      wse.return
    }
    wse.func @other() {
      %A = wse.get_buffer @A : memref<30xf32>
      %a = dsd.mem1d %A at 3 extent 5 : memref<30xf32>
      dsd.fmovs %a, %a : !dsd.mem1d<f32>, !dsd.mem1d<f32>
      wse.return
    }
  }
}

// -----

// What a field is computed from moves with the descriptor, out of the loops that do not change it alone; what has
// effects, or may fail, does not.
// CHECK-LABEL: wse.program @computed
wse.program @computed target "wse3" rectangle 1 x 1 {
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<30xf32>
    wse.buffer @offset : memref<i16>
    wse.param @size : i16 = dense<4>
    wse.func @main(%n: i16, %x: f32, %pointer: i16) {
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      %A = wse.get_buffer @A : memref<30xf32>
      %o = wse.get_buffer @offset : memref<i16>
      // CHECK: [[SIZE:%.*]] = wse.get_param @size
      // CHECK-NEXT: [[TWICE:%.*]] = arith.addi [[SIZE]], [[SIZE]]
      // CHECK-NEXT: %a = dsd.mem1d %A at [[TWICE]] extent [[SIZE]]
      // CHECK-NEXT: %b = dsd.increment_offset %a, %n
      // CHECK-NEXT: scf.for %i
      scf.for %i = %zero to %n step %one : i16 {
        // CHECK-NEXT: %c = dsd.mem1d %A at %i
        // CHECK-NEXT: scf.while
        // CHECK: memref.load %o
        // CHECK-NEXT: dsd.mem1d %A at
        // CHECK-NEXT: wse.view %pointer
        // CHECK-NEXT: dsd.mem1d %view extent 4
        scf.while () : () -> () {
          %size = wse.get_param @size : i16
          %twice = arith.addi %size, %size : i16
          %a = dsd.mem1d %A at %twice extent %size : memref<30xf32>
          %b = dsd.increment_offset %a, %n : !dsd.mem1d<f32>
          %c = dsd.mem1d %A at %i extent 4 : memref<30xf32>
          %again = arith.cmpi slt, %i, %n : i16
          dsd.fadds %a, %b, %c : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>
          scf.condition(%again)
        } do {
          %now = memref.load %o[] : memref<i16>
          %d = dsd.mem1d %A at %now extent 4 : memref<30xf32>
          %view = wse.view %pointer : memref<?xf32>
          %e = dsd.mem1d %view extent 4 : memref<?xf32>
          dsd.fmovs %d, %e : !dsd.mem1d<f32>, !dsd.mem1d<f32>
          scf.yield
        }
      }
      wse.return
    }
  }
}

// -----

// What differs in one field, or is made in another branch, is not merged.
// CHECK-LABEL: wse.program @different
wse.program @different target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<30xf32>
    wse.output_queue @out color @c id 0
    wse.func @main(%x: f32, %n: i16, %if: i1) {
      %A = wse.get_buffer @A : memref<30xf32>
      // CHECK: %a = dsd.mem1d %A extent 10
      // CHECK-NEXT: %b = dsd.mem1d %A extent 9
      // CHECK-NEXT: %c = dsd.mem1d %A extent 10 {{.*}}wavelet_index_offset
      // CHECK-NEXT: %o = dsd.fabout @out extent 10
      // CHECK-NEXT: %p = dsd.fabout @out extent 10 {{.*}}control
      %a = dsd.mem1d %A extent 10 : memref<30xf32>
      %b = dsd.mem1d %A extent 9 : memref<30xf32>
      %c = dsd.mem1d %A extent 10 {wavelet_index_offset} : memref<30xf32>
      %o = dsd.fabout @out extent 10 : !dsd.fabout<f32>
      %p = dsd.fabout @out extent 10 {control} : !dsd.fabout<f32>
      dsd.fadds %a, %b, %x : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      dsd.fmovs %o, %c index(%n) : !dsd.fabout<f32>, !dsd.mem1d<f32>
      dsd.fmovs %p, %c index(%n) : !dsd.fabout<f32>, !dsd.mem1d<f32>
      // CHECK: scf.if
      // CHECK-NEXT: %d = dsd.mem1d %A at 20
      // CHECK-NEXT: dsd.fadds %a, %d
      // CHECK: else
      // CHECK-NEXT: %e = dsd.mem1d %A at 20
      // CHECK-NEXT: dsd.fsubs %a, %e
      scf.if %if {
        %d = dsd.mem1d %A at 20 extent 10 : memref<30xf32>
        dsd.fadds %a, %d, %x : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      } else {
        %e = dsd.mem1d %A at 20 extent 10 : memref<30xf32>
        dsd.fsubs %a, %e, %x : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      }
      wse.return
    }
  }
}

// -----

// Fields that are known only at run time are computed for each register: equal descriptors are merged among destinations
// and among sources in one place. What only a descriptor that stays needs stays too.
// CHECK-LABEL: wse.program @at_run_time
wse.program @at_run_time target "wse3" rectangle 1 x 1 {
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<30xf32>
    wse.func @main(%x: f32, %n: i16) {
      %A = wse.get_buffer @A : memref<30xf32>
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      // CHECK: %a = dsd.mem1d %A at %n
      // CHECK-NEXT: %b = dsd.mem1d %A at %n
      // CHECK-NEXT: dsd.fadds %a, %b, %x
      // CHECK-NEXT: dsd.fmuls %a, %b, %x
      %a = dsd.mem1d %A at %n extent 10 : memref<30xf32>
      %b = dsd.mem1d %A at %n extent 10 : memref<30xf32>
      dsd.fadds %a, %b, %x : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      %c = dsd.mem1d %A at %n extent 10 : memref<30xf32>
      %d = dsd.mem1d %A at %n extent 10 : memref<30xf32>
      dsd.fmuls %c, %d, %x : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      // CHECK: scf.for
      // CHECK-NEXT: arith.addi %n, %n
      // CHECK-NEXT: arith.addi
      // CHECK-NEXT: dsd.mem1d
      scf.for %i = %zero to %n step %one : i16 {
        %twice = arith.addi %n, %n : i16
        %offset = arith.addi %twice, %i : i16
        %e = dsd.mem1d %A at %offset extent 10 : memref<30xf32>
        dsd.fmovs %e, %x : !dsd.mem1d<f32>, f32
      }
      wse.return
    }
  }
}
