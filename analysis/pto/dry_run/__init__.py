"""Dry run of kernels: control flow, addresses and pipes of all cores for given arguments, without any data."""
