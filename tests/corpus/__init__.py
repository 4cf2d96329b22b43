"""Scores against other people's test data, where it is present."""
