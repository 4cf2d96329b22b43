"""Scores on published test data, and inputs that fuzzing found."""
