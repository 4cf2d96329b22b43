"""Entries, lists of them, their counters and the search index."""
