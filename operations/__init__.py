"""Tables of operations, shared by dialects, passes and engine; neither xDSL nor numpy is imported here."""
