"""Control flow and operations of a PE program, read from IR for the analyses that do not know IR."""
