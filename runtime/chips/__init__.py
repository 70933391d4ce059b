"""Chips of cube and vector cores: what executors share that run their tables."""
