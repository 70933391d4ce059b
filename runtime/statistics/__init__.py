"""Statistics of runs: what executors of tables count, and what is read from it. docs/statistics.md defines each."""
