"""Tables of operations, shared by dialects, passes and engine.

xDSL is never imported here, numpy only where an array type is asked for.
"""
