"""The fabric of a program, as arrays computed from its tables: classes of PEs, colors of queues, ways of wavelets."""
