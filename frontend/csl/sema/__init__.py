"""What a CSL program means: compile-time evaluation, types, and the IR of what is left for run time.

One partial evaluator walks the tree. A value is known at compile time, or differs from PE to PE but is fixed when the
program starts (a `Column`), or is an SSA value of the function being emitted; every rule of the language is written
once for all three.
"""
