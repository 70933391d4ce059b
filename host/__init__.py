"""Host interface: compile a program, write its arrays, launch functions, read arrays."""
