"""Algorithms of passes and checks, on plain values.

Only `analysis.pto` and `analysis.wse` import xDSL and dialects: they read IR for the rest.
"""
