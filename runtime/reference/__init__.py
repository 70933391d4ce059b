"""Reference executor: runs tables in plain Python, one PE at a time; the specification of what the machine does."""
