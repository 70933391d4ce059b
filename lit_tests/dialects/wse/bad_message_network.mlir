// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Networks of messages that are wrong, each with its error.

// CHECK: error: @comm is not defined
wse.program @missing target "wse3" rectangle 1 x 1 {
  wse.message_network @comm
}
// -----
// CHECK: error: a message of a network has no control; remove it, or message
wse.program @control target "wse3" rectangle 1 x 1 {
  wse.color @comm
  wse.pe @pe on [:, :] {
    wse.output_queue @out color @comm id 3
    wse.func @main() {
      %o = dsd.fabout @out extent 8 {control, message} : !dsd.fabout<f32>
      wse.return
    }
  }
}
// -----
// CHECK: error: color @comm is a network of messages and has routes or a stream of the host; use another color
wse.program @both target "wse3" rectangle 2 x 1 {
  wse.color @comm
  wse.message_network @comm
  wse.route @comm on [0, :] from [ramp] to [east]
}
// -----
// CHECK: error: color @comm is made a network of messages twice; leave one out
wse.program @twice target "wse3" rectangle 2 x 1 {
  wse.color @comm
  wse.message_network @comm
  wse.message_network @comm
}
