// y = A * x + y over a grid of 4 by 3 PEs, float32. Each PE holds a block of A, 8 rows by 6 columns.
//
// x arrives from the top: the PE of the top row sends its part of x down its column, and every PE of the column,
// the sender too, gets each wavelet (multicast). A data task multiplies a wavelet with its column of A. When all
// wavelets have come, the partial sums travel east: the first column sends its own, each PE on the way adds what
// it has to what passes through, and the last column adds the rest to y.
wse.program @gemv_grid target "wse3" rectangle 4 x 3 {
  wse.color @down
  wse.route @down on [:, 0] from [ramp] to [ramp, south]
  wse.route @down on [:, 1:-1] from [north] to [ramp, south]
  wse.route @down on [:, -1] from [north] to [ramp]

  // Neighbors in a row take turns with two colors: a PE receives on one and sends on the other.
  wse.color @sum0
  wse.color @sum1
  wse.route @sum0 on [:-1:2, :] from [ramp] to [east]
  wse.route @sum0 on [1::2, :] from [west] to [ramp]
  wse.route @sum1 on [1:-1:2, :] from [ramp] to [east]
  wse.route @sum1 on [2::2, :] from [west] to [ramp]

  wse.pe @block on [:, :] {
    wse.buffer @A : memref<8x6xf32>
    // This column's part of x; only the top row's is used.
    wse.buffer @x : memref<6xf32>
    // The partial sums; in the last column, which the host reads, the result.
    wse.buffer @y : memref<8xf32>
    // Wavelets of x seen so far.
    wse.buffer @seen : memref<i16> = dense<0>
    // Products finished; counts in the last column.
    wse.buffer @finished : memref<i16> = dense<0>
    wse.export @A
    wse.export @x
    wse.export @y
    wse.export @finished unsigned read_only
    wse.export @main

    wse.input_queue @x_in color @down
    wse.output_queue @x_out color @down
    wse.input_queue @sum_in colors [@sum0 on [1::2, :], @sum1 on [::2, :]]
    wse.output_queue @sum_out colors [@sum0 on [::2, :], @sum1 on [1::2, :]]

    wse.func @main() {
      %y = wse.coordinate y : i16
      %zero = arith.constant 0 : i16
      %top = arith.cmpi eq, %y, %zero : i16
      scf.if %top {
        %x = wse.get_buffer @x : memref<6xf32>
        %part = dsd.mem1d %x extent 6 : memref<6xf32>
        %out = dsd.fabout @x_out extent 6 : !dsd.fabout<f32>
        dsd.fmovs %out, %part async : !dsd.fabout<f32>, !dsd.mem1d<f32>
      }
      wse.return
    }

    wse.task @multiply data @x_in (%factor: f32) {
      %seen = wse.get_buffer @seen : memref<i16>
      %j = memref.load %seen[] : memref<i16>
      %A = wse.get_buffer @A : memref<8x6xf32>
      %first = dsd.tensor_access %A affine_map<(i) -> (i, 0)> extents [8] : memref<8x6xf32> -> !dsd.mem1d<f32>
      %column = dsd.increment_offset %first, %j : !dsd.mem1d<f32>
      %y = wse.get_buffer @y : memref<8xf32>
      %sums = dsd.mem1d %y extent 8 : memref<8xf32>
      dsd.fmacs %sums, %sums, %column, %factor : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      %one = arith.constant 1 : i16
      %next = arith.addi %j, %one : i16
      memref.store %next, %seen[] : memref<i16>
      %columns = arith.constant 6 : i16
      %all = arith.cmpi eq, %next, %columns : i16
      scf.if %all {
        wse.activate @reduce
      }
      wse.return
    }

    wse.task @reduce local {
      %seen = wse.get_buffer @seen : memref<i16>
      %zero = arith.constant 0 : i16
      memref.store %zero, %seen[] : memref<i16>
      %x = wse.coordinate x : i16
      %width = wse.extent x : i16
      %one = arith.constant 1 : i16
      %last_x = arith.subi %width, %one : i16
      %is_first = arith.cmpi eq, %x, %zero : i16
      %is_last = arith.cmpi eq, %x, %last_x : i16
      %y = wse.get_buffer @y : memref<8xf32>
      %sums = dsd.mem1d %y extent 8 : memref<8xf32>
      scf.if %is_first {
        %east = dsd.fabout @sum_out extent 8 : !dsd.fabout<f32>
        dsd.fmovs %east, %sums async : !dsd.fabout<f32>, !dsd.mem1d<f32>
      } else {
        %west = dsd.fabin @sum_in extent 8 : !dsd.fabin<f32>
        scf.if %is_last {
          dsd.fadds %sums, %west, %sums async(activate = @done) : !dsd.mem1d<f32>, !dsd.fabin<f32>, !dsd.mem1d<f32>
        } else {
          %east = dsd.fabout @sum_out extent 8 : !dsd.fabout<f32>
          dsd.fadds %east, %west, %sums async : !dsd.fabout<f32>, !dsd.fabin<f32>, !dsd.mem1d<f32>
        }
      }
      wse.return
    }

    wse.task @done local {
      %finished = wse.get_buffer @finished : memref<i16>
      %n = memref.load %finished[] : memref<i16>
      %one = arith.constant 1 : i16
      %next = arith.addi %n, %one : i16
      memref.store %next, %finished[] : memref<i16>
      wse.return
    }
  }
}
