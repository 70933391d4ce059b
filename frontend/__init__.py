"""Text to IR: reads what programmers write and yields modules of our dialects."""
