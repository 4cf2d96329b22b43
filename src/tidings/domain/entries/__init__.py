"""Entries: states, lists, search, retention."""
