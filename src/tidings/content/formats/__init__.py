"""Parses feeds of every format that publishers use into one structure, `ParsedFeed`."""

from tidings.content.formats.entry_builder import id_hashes
from tidings.content.formats.parse import detect_format, parse_feed

__all__ = ["detect_format", "id_hashes", "parse_feed"]
