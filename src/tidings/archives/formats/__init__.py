"""Translates the formats of other feed readers into the records of an archive."""
