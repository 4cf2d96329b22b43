"""Feeds, categories and OPML."""
