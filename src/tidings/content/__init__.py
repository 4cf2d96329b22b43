"""Feeds, pages and articles: bytes in, values out. A library that knows no users, databases or settings."""
