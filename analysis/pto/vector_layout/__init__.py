"""Layouts of vectors of any length (`pto.vmi`): which each operation can take and give, and the choice among them."""
