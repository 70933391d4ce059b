"""Attributes, operands and rules of the wafer that wse, dsd, dsr and flow share."""
