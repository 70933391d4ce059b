"""Hazards and contracts of programs with pipes, one file each."""
