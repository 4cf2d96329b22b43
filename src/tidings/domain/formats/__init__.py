"""Feeds in every format publishers use, read into one shape."""

from tidings.domain.formats.detect import detect
from tidings.domain.formats.parse import parse

__all__ = ["detect", "parse"]
