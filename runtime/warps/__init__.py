"""The first executor of `flow`: PEs and cores that run the same code go in warps, computed with numpy."""
