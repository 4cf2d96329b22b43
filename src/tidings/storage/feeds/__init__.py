"""Feeds, categories and icons."""
