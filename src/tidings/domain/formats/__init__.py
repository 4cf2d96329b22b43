"""Parses feeds of every format that publishers use into one structure, `ParsedFeed`."""

from tidings.domain.formats.detect import detect_format
from tidings.domain.formats.parse import parse_feed

__all__ = ["detect_format", "parse_feed"]
