"""Pipes, kernels and control flow of a pto module, read from IR for the analyses that do not know IR."""
