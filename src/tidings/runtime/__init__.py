"""Processes: the supervisor, its children, and what they check and set up at their start."""
