"""The command-line tools. Thin: everything they do is reachable from the Python API."""
