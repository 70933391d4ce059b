"""Errors, findings and limits: what every level reports to the person who wrote the program."""
