"""Parses dates in the forms that feeds contain."""
