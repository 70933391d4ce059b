"""Command-line tools. Thin: everything they do can be done through the Python API."""
