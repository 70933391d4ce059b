"""Tables: a program as flat arrays, as assembled from `flow`, kept in a file and run by the executors."""
