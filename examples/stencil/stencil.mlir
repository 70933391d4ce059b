// A 7-point stencil on a three-dimensional grid. Every PE holds one column of the grid, z is in its memory, and
// x and y run over the wafer. In each iteration a PE sends its column to its four neighbors and receives theirs;
// outside the grid everything is zero.
//
// The depth of the grid is in the next four lines and nowhere else; run.py writes other depths there.
#depth = 64 : i16
#padded = 66 : i16
!columns = memref<2x66xf32>
!halo = memref<64xf32>

wse.program @stencil target "wse3" rectangle 4 x 4 {
  // A PE sends and receives in one direction on different colors, so neighbors take turns: the color depends on
  // the parity of the sender's column or row.
  wse.color @east0
  wse.color @east1
  wse.color @west0
  wse.color @west1
  wse.color @south0
  wse.color @south1
  wse.color @north0
  wse.color @north1
  wse.route @east0 on [:-1:2, :] from [ramp] to [east]
  wse.route @east0 on [1::2, :] from [west] to [ramp]
  wse.route @east1 on [1:-1:2, :] from [ramp] to [east]
  wse.route @east1 on [2::2, :] from [west] to [ramp]
  wse.route @west0 on [2::2, :] from [ramp] to [west]
  wse.route @west0 on [1:-1:2, :] from [east] to [ramp]
  wse.route @west1 on [1::2, :] from [ramp] to [west]
  wse.route @west1 on [:-1:2, :] from [east] to [ramp]
  wse.route @south0 on [:, :-1:2] from [ramp] to [south]
  wse.route @south0 on [:, 1::2] from [north] to [ramp]
  wse.route @south1 on [:, 1:-1:2] from [ramp] to [south]
  wse.route @south1 on [:, 2::2] from [north] to [ramp]
  wse.route @north0 on [:, 2::2] from [ramp] to [north]
  wse.route @north0 on [:, 1:-1:2] from [south] to [ramp]
  wse.route @north1 on [:, 1::2] from [ramp] to [north]
  wse.route @north1 on [:, :-1:2] from [south] to [ramp]

  wse.pe @cell on [:, :] {
    // Two copies of the column, read and written in turn; the first and the last word of each stay zero.
    wse.buffer @u : !columns = dense<0.0>
    // What the neighbors sent; stays zero where there is no neighbor.
    wse.buffer @from_west : !halo = dense<0.0>
    wse.buffer @from_east : !halo = dense<0.0>
    wse.buffer @from_north : !halo = dense<0.0>
    wse.buffer @from_south : !halo = dense<0.0>
    wse.buffer @iteration : memref<i16> = dense<0>
    wse.buffer @iterations : memref<i16> = dense<0>

    wse.param @center : f32 = dense<0.4>
    wse.param @along_x : f32 = dense<0.125>
    wse.param @along_y : f32 = dense<0.1>
    wse.param @along_z : f32 = dense<0.075>

    wse.export @u
    wse.export @main

    wse.input_queue @west_in colors [@east0 on [1::2, :], @east1 on [::2, :]]
    wse.input_queue @east_in colors [@west0 on [1::2, :], @west1 on [::2, :]]
    wse.input_queue @north_in colors [@south0 on [:, 1::2], @south1 on [:, ::2]]
    wse.input_queue @south_in colors [@north0 on [:, 1::2], @north1 on [:, ::2]]
    wse.output_queue @east_out colors [@east0 on [::2, :], @east1 on [1::2, :]]
    wse.output_queue @west_out colors [@west0 on [::2, :], @west1 on [1::2, :]]
    wse.output_queue @south_out colors [@south0 on [:, ::2], @south1 on [:, 1::2]]
    wse.output_queue @north_out colors [@north0 on [:, ::2], @north1 on [:, 1::2]]

    wse.func @main(%iterations: i16) {
      %zero = arith.constant 0 : i16
      %limit = wse.get_buffer @iterations : memref<i16>
      %iteration = wse.get_buffer @iteration : memref<i16>
      memref.store %iterations, %limit[] : memref<i16>
      memref.store %zero, %iteration[] : memref<i16>
      %any = arith.cmpi ne, %iterations, %zero : i16
      scf.if %any {
        wse.activate @exchange
      }
      wse.return
    }

    // Starts the eight transfers of an iteration, the receives first. The joins below wait for all eight; in the
    // place of a transfer that a PE on the boundary does not make, the task itself signals the join.
    wse.task @exchange local {
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      %x = wse.coordinate x : i16
      %y = wse.coordinate y : i16
      %width = wse.extent x : i16
      %height = wse.extent y : i16
      %last_x = arith.subi %width, %one : i16
      %last_y = arith.subi %height, %one : i16
      %has_west = arith.cmpi ugt, %x, %zero : i16
      %has_east = arith.cmpi ult, %x, %last_x : i16
      %has_north = arith.cmpi ugt, %y, %zero : i16
      %has_south = arith.cmpi ult, %y, %last_y : i16

      // The copy read in this iteration starts at element (iteration mod 2) * (depth + 2).
      %depth = arith.constant #depth
      %padded = arith.constant #padded
      %iteration = wse.get_buffer @iteration : memref<i16>
      %i = memref.load %iteration[] : memref<i16>
      %parity = arith.andi %i, %one : i16
      %start = arith.muli %parity, %padded : i16
      %inner = arith.addi %start, %one : i16
      %u = wse.get_buffer @u : !columns
      %column = dsd.mem1d %u at %inner extent %depth : !columns

      scf.if %has_west {
        %buffer = wse.get_buffer @from_west : !halo
        %halo = dsd.mem1d %buffer extent %depth : !halo
        %in = dsd.fabin @west_in extent %depth : !dsd.fabin<f32>
        dsd.fmovs %halo, %in async(activate = @join_1) : !dsd.mem1d<f32>, !dsd.fabin<f32>
      } else {
        wse.activate @join_1
      }
      scf.if %has_east {
        %buffer = wse.get_buffer @from_east : !halo
        %halo = dsd.mem1d %buffer extent %depth : !halo
        %in = dsd.fabin @east_in extent %depth : !dsd.fabin<f32>
        dsd.fmovs %halo, %in async(unblock = @join_1) : !dsd.mem1d<f32>, !dsd.fabin<f32>
      } else {
        wse.unblock @join_1
      }
      scf.if %has_north {
        %buffer = wse.get_buffer @from_north : !halo
        %halo = dsd.mem1d %buffer extent %depth : !halo
        %in = dsd.fabin @north_in extent %depth : !dsd.fabin<f32>
        dsd.fmovs %halo, %in async(unblock = @join_2) : !dsd.mem1d<f32>, !dsd.fabin<f32>
      } else {
        wse.unblock @join_2
      }
      scf.if %has_south {
        %buffer = wse.get_buffer @from_south : !halo
        %halo = dsd.mem1d %buffer extent %depth : !halo
        %in = dsd.fabin @south_in extent %depth : !dsd.fabin<f32>
        dsd.fmovs %halo, %in async(unblock = @join_3) : !dsd.mem1d<f32>, !dsd.fabin<f32>
      } else {
        wse.unblock @join_3
      }

      scf.if %has_east {
        %out = dsd.fabout @east_out extent %depth : !dsd.fabout<f32>
        dsd.fmovs %out, %column async(unblock = @join_4) : !dsd.fabout<f32>, !dsd.mem1d<f32>
      } else {
        wse.unblock @join_4
      }
      scf.if %has_west {
        %out = dsd.fabout @west_out extent %depth : !dsd.fabout<f32>
        dsd.fmovs %out, %column async(unblock = @join_5) : !dsd.fabout<f32>, !dsd.mem1d<f32>
      } else {
        wse.unblock @join_5
      }
      scf.if %has_south {
        %out = dsd.fabout @south_out extent %depth : !dsd.fabout<f32>
        dsd.fmovs %out, %column async(unblock = @join_6) : !dsd.fabout<f32>, !dsd.mem1d<f32>
      } else {
        wse.unblock @join_6
      }
      scf.if %has_north {
        %out = dsd.fabout @north_out extent %depth : !dsd.fabout<f32>
        dsd.fmovs %out, %column async(unblock = @compute) : !dsd.fabout<f32>, !dsd.mem1d<f32>
      } else {
        wse.unblock @compute
      }
      wse.return
    }

    // Each join is activated by the one before it and unblocked by the end of one more transfer, and blocks itself
    // again for the next iteration.
    wse.task @join_1 local blocked {
      wse.block @join_1
      wse.activate @join_2
      wse.return
    }
    wse.task @join_2 local blocked {
      wse.block @join_2
      wse.activate @join_3
      wse.return
    }
    wse.task @join_3 local blocked {
      wse.block @join_3
      wse.activate @join_4
      wse.return
    }
    wse.task @join_4 local blocked {
      wse.block @join_4
      wse.activate @join_5
      wse.return
    }
    wse.task @join_5 local blocked {
      wse.block @join_5
      wse.activate @join_6
      wse.return
    }
    wse.task @join_6 local blocked {
      wse.block @join_6
      wse.activate @compute
      wse.return
    }

    // The last of the joins: all columns are here.
    wse.task @compute local blocked {
      wse.block @compute
      %one = arith.constant 1 : i16
      %two = arith.constant 2 : i16
      %depth = arith.constant #depth
      %padded = arith.constant #padded
      %iteration = wse.get_buffer @iteration : memref<i16>
      %i = memref.load %iteration[] : memref<i16>
      %next = arith.addi %i, %one : i16
      memref.store %next, %iteration[] : memref<i16>

      // The copy to read is at %above, %inner and %below, the copy to write at %result.
      %parity = arith.andi %i, %one : i16
      %above = arith.muli %parity, %padded : i16
      %inner = arith.addi %above, %one : i16
      %below = arith.addi %above, %two : i16
      %other = arith.andi %next, %one : i16
      %other_start = arith.muli %other, %padded : i16
      %result = arith.addi %other_start, %one : i16
      %u = wse.get_buffer @u : !columns
      %new = dsd.mem1d %u at %result extent %depth : !columns
      %old = dsd.mem1d %u at %inner extent %depth : !columns
      %upper = dsd.mem1d %u at %above extent %depth : !columns
      %lower = dsd.mem1d %u at %below extent %depth : !columns
      %west_buffer = wse.get_buffer @from_west : !halo
      %east_buffer = wse.get_buffer @from_east : !halo
      %north_buffer = wse.get_buffer @from_north : !halo
      %south_buffer = wse.get_buffer @from_south : !halo
      %west = dsd.mem1d %west_buffer extent %depth : !halo
      %east = dsd.mem1d %east_buffer extent %depth : !halo
      %north = dsd.mem1d %north_buffer extent %depth : !halo
      %south = dsd.mem1d %south_buffer extent %depth : !halo

      %center = wse.get_param @center : f32
      %along_x = wse.get_param @along_x : f32
      %along_y = wse.get_param @along_y : f32
      %along_z = wse.get_param @along_z : f32
      dsd.fmuls %new, %old, %center : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      dsd.fmacs %new, %new, %upper, %along_z : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      dsd.fmacs %new, %new, %lower, %along_z : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      dsd.fmacs %new, %new, %west, %along_x : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      dsd.fmacs %new, %new, %east, %along_x : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      dsd.fmacs %new, %new, %north, %along_y : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      dsd.fmacs %new, %new, %south, %along_y : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32

      %limit = wse.get_buffer @iterations : memref<i16>
      %n = memref.load %limit[] : memref<i16>
      %more = arith.cmpi ult, %next, %n : i16
      scf.if %more {
        wse.activate @exchange
      }
      wse.return
    }
  }
}
