"""Assembler: `flow` as the flat tables that the executors run."""
