"""Feeds and categories: subscribing, changing, discovery, icons, OPML, rule previews."""
