"""Decisions without I/O: every function takes values and returns values."""
