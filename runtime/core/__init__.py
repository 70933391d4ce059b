"""The engine's core in C: its sources, the library built from them, and the calls into it.

The core knows scalars, DSD operations, tiles and events, and nothing of CSL, PTO or Python. `compile_core` builds the
library, `library` loads it.
"""
