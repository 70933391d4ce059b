"""A stand-in for PTOAS's `ptodsl`, for machines that cannot install it: what its user guide says of the functions that
our example and page call, and text of the form in which its modules print. Loops are not rewritten."""
