// RUN: loom-opt %s -p dsd-assign-queues,dsd-assign-microthreads,lower-to-flow | filecheck %s
// Control wavelets, wavelets with an index, and what each becomes.

// CHECK-LABEL:   flow.units @cell
// CHECK:           flow.queue input @in id 2 colors [@c on [:, :]] unblocked
// CHECK:             %o = flow.queue_stream @out extent 1 control : !flow.stream<i32>
// CHECK:             flow.apply mov32 %o, %word : !flow.stream<i32>, i32
// CHECK:             %p = flow.queue_stream @out extent 1 : !flow.stream<i16>
// CHECK-NEXT:        [[MARKED:%[0-9]+]] = flow.indexed %p, %index : !flow.stream<i16>
// CHECK-NEXT:        flow.apply mov16 [[MARKED]], %index : !flow.stream<i16>, i16
// CHECK:             flow.apply mov32 %d, %i async(microthread = 3, activate = @done, on_control = unblock @in) : !flow.stream<i32>, !flow.stream<i32>
// CHECK-NEXT:        flow.apply mov32 %d, %j async(microthread = 4, on_control = terminate) : !flow.stream<i32>, !flow.stream<i32>
// CHECK:             flow.apply mov32 {{%[0-9]+}}, %k async(microthread = 3) drops_data : !flow.stream<i32>, !flow.stream<i32>
// CHECK:           flow.task control @end id 43
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.color @c
  wse.color @e
  wse.color @g
  wse.pe @cell on [:, :] {
    wse.buffer @b : memref<4xi32>
    wse.input_queue @in color @c id 2 unblocked
    wse.input_queue @in3 color @e id 3
    wse.input_queue @in4 color @g id 4
    wse.output_queue @out color @c id 2
    wse.func @send(%word: i32, %index: i16) {
      %o = dsd.fabout @out extent 1 {control} : !dsd.fabout<i32>
      dsd.mov32 %o, %word : !dsd.fabout<i32>, i32
      %p = dsd.fabout @out extent 1 {wavelet_index_offset} : !dsd.fabout<i16>
      dsd.mov16 %p, %index index(%index) : !dsd.fabout<i16>, i16
    }
    wse.func @receive() {
      %m = wse.get_buffer @b : memref<4xi32>
      %d = dsd.mem1d %m extent 4 : memref<4xi32>
      %i = dsd.fabin @in3 extent 4 : !dsd.fabin<i32>
      %j = dsd.fabin @in4 extent 4 : !dsd.fabin<i32>
      dsd.mov32 %d, %i async(activate = @done, on_control = unblock @c) : !dsd.mem1d<i32>, !dsd.fabin<i32>
      dsd.mov32 %d, %j async(on_control = terminate) : !dsd.mem1d<i32>, !dsd.fabin<i32>
    }
    wse.func @drop() {
      %nowhere = arith.constant 0 : i16
      %s = wse.view %nowhere : memref<i32>
      %k = dsd.fabin @in3 extent 2 : !dsd.fabin<i32>
      dsd.mov32 %s, %k async drops_data : memref<i32>, !dsd.fabin<i32>
    }
    wse.task @done local {
    }
    wse.task @end control id 43 {
    }
  }
}
