"""Processes: the supervisor, the child processes, and what they check and set up at their start."""
