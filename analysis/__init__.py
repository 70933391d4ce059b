"""The algorithms of the passes, on plain values: nothing below this package imports xDSL or a dialect."""
