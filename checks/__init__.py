"""Hazards and contracts: reports on valid programs that are wrong, or may be on some chip.

The verifiers reject what no chip accepts. What is accepted and then overwrites, aliases, hangs or leaves credits
behind is reported here: each finding says where, what happens, and what to do. The engine finds the rest when the
program runs.

`checks/pto` holds the checks of programs with pipes, one file per hazard or contract. Each file declares the codes it
reports as CODES and has one function: `find(subject)` of whole programs, or `find_in_kernel(kernel)` of one end of the
pipes. `registry` finds the files and runs them; docs/pto.md says what each code means.
"""
