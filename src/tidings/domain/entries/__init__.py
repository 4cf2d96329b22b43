"""Entries: status, lists, search and retention."""
