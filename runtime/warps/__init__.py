"""The executor of chips: cores of `flow` that run the same code go in warps, computed with numpy."""
