// RUN: loom-opt -p wse-lint %s 2>&1 >/dev/null | filecheck %s
// RUN: loom-opt -p wse-lint --json %s 2>&1 >/dev/null | filecheck %s --check-prefix JSON

// JSON: {"severity": "warning", "message": "task 'idle' never runs: {{.*}}", "code": "idle-task", "file": "{{.*}}warnings.mlir", "line": {{[0-9]+}}, "column": {{[0-9]+}}, "notes": []}
wse.program @lint target "wse3" rectangle 2 x 1 {
  wse.color @red
  wse.color @blue
  wse.route @red on [0, 0] from [ramp] to [east]
  wse.route @red on [1, 0] from [west] to [ramp]
  wse.pe @left on [0, 0] {
    // CHECK: warnings.mlir:{{[0-9]+}}:{{[0-9]+}}: warning: task 'idle' never runs: nothing activates it
    wse.task @idle local id 9 {
      wse.return
    }
    // CHECK-NEXT: warnings.mlir:{{[0-9]+}}:{{[0-9]+}}: warning: task 'blocked' never runs: it is blocked at the start, and nothing unblocks it
    wse.task @blocked local id 10 active blocked {
      wse.return
    }
    wse.task @started local id 11 active {
      %f = wse.get_buffer @given : memref<4xf32>
      %k = arith.constant 0 : index
      %v = memref.load %f[%k] : memref<4xf32>
      %w = wse.get_buffer @empty : memref<4xf32>
      %u = memref.load %w[%k] : memref<4xf32>
      wse.return
    }
    wse.buffer @given : memref<4xf32> = dense<1.0>
    // CHECK-NEXT: warnings.mlir:{{[0-9]+}}:{{[0-9]+}}: warning: variable 'empty' is read, but never written; give it a value
    wse.buffer @empty : memref<4xf32>
    // CHECK-NEXT: warnings.mlir:{{[0-9]+}}:{{[0-9]+}}: warning: output queue @out is initialized, but nothing is sent by it
    wse.output_queue @out color @red id 2
  }
  // What several PE programs have is looked at together, and nothing here is wrong.
  // CHECK-NOT: warning
  wse.pe @right on [1, 0] {
    wse.input_queue @in color @red id 2
    wse.task @take data @in (%value: f32) {
      wse.activate @after
      wse.return
    }
    wse.task @after local id 9 {
      wse.return
    }
  }
}
