"""Reports: words for what executors leave as records, while a program runs and when nothing can happen any more."""
