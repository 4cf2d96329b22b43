"""Entries: lists, search, changes, sharing, and articles from their pages."""
