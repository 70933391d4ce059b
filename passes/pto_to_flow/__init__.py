"""Parts of the pass `lower-pto-to-flow`: views of memory, pipes as channels, and the bodies of kernels."""
