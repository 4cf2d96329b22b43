"""Parses feeds of every format that publishers use into one structure, `ParsedFeed`."""

from tidings.domain.formats.detect import detect_format
from tidings.domain.formats.identity import id_hashes
from tidings.domain.formats.parse import parse_feed

__all__ = ["detect_format", "id_hashes", "parse_feed"]
