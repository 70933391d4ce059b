"""Hazards and contracts: what is reported of a valid program that is wrong, or may be on some chip."""
