"""What a host program sees: compile a program, put arrays in, launch functions, take arrays out."""
