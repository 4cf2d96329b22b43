"""Finds entries that repeat an entry of another feed, and folds them or marks them read, as their user wants."""
