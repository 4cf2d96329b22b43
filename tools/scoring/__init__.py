"""Scores parsing, cleaning and article extraction on published test data, where it is present."""
