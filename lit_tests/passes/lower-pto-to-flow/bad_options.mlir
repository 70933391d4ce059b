// RUN: not loom-opt -p lower-pto-to-flow{blocks=0} %s 2>&1 | filecheck %s --check-prefix=BLOCKS
// RUN: not loom-opt -p lower-pto-to-flow{lanes=3} %s 2>&1 | filecheck %s --check-prefix=BLOCKS
// RUN: not loom-opt -p lower-pto-to-flow{protocol=a2a3\ lanes=1} %s 2>&1 | filecheck %s --check-prefix=LANES
// RUN: not loom-opt -p lower-pto-to-flow{protocol=a2a3\ blocks=2} %s 2>&1 | filecheck %s --check-prefix=BARRIER
// Numbers of blocks and vector cores that there are not.

// BLOCKS: error: blocks and devices must be 1 or more, and lanes 1 or 2; correct the options
// LANES: bad_options.mlir:[[# @LINE + 1]]:1: error: the program is for 2 vector cores in a block, as a2a3 has both take part in all pipes; leave out 'lanes'
func.func @v() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // BARRIER: bad_options.mlir:[[# @LINE + 1]]:3: error: 'pto.syncall' op waits for cores of other blocks, which is not supported yet; use one block
  pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>
  return
}
