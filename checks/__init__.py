"""Hazards and contracts: reports on valid programs that are wrong, or may be on some chip.

The verifiers reject what no chip accepts. What is accepted and then overwrites, aliases, hangs or leaves credits
behind is reported here: each finding says where, what happens, and what to do. The engine finds the rest when the
program runs.

`checks/pto` holds the checks of programs with pipes, one file per hazard or contract. Each file declares the codes it
reports as CODES and has one function: `find(subject)` of whole programs, or `find_in_kernel(kernel)` of one end of the
pipes. `registry` finds the files and runs them.

| code | file |
|---|---|
| `aliasing-rings` | aliasing_rings |
| `deadlock` | deadlock |
| `early-credit`, `lost-credit` | free_credits |
| `early-overwrite`, `seeded-credits` | overwrites |
| `freed-twice`, `mixed-tile-sizes` | global_memory_tiles |
| `lane-shape` | lane_shape |
| `leftover-credits` | leftover_credits |
| `local-aliasing`, `slots-held` | slots_in_use |
| `not-a-slot`, `slot-not-pushed`, `store-after-push`, `unwritten-slot`, `use-after-free` | slot_contents |
| `reserved-size` | reserved_size |
| `second-core` | second_core |
| `small-slot` | slot_size |
| `unbalanced-pipe` | free_credits, push_pop_balance, unknown_numbers |
| `undecided` | unknown_numbers |
| `unequal-lanes` | unequal_lanes |
| `unsafe-depth` | unsafe_depth |
"""
