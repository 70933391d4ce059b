"""Symbolic model checking of communicating cores: deadlock, overwritten slots, leftover credits.

A core is a tree of loops, branches and events on ring buffers. Where the next event depends on a symbolic integer, the
search splits and records the outcome of the comparison for all cores. Cores wait for each other by counted entries and
credits alone, so outcomes do not depend on the interleaving and one interleaving is searched; whether a push follows
the free of its slot in every interleaving is derived from the frees that each token has not seen, a vector clock.

A state is the position of each core relative to the others, the tokens in flight, and the bounds of integers. Their
number is finite if cores in loops stay together; once all have been visited, no other outcome is possible for any trip
count. Loops of unknown trip count are abstracted: bounds of old iterations are dropped, so an outcome that is found
may be spurious.

Knows the arithmetic of pipes and of symbolic integers, nothing of IR.
"""
