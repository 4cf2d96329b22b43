"""Makes HTML from outside safe to show, and removes tracking from its links.

clean            HTML ─► HTML that is safe in our pages
clean_with_text  the same, and its text
text_of          clean HTML ─► its words
prefix_ids       clean HTML of an older version ─► with a prefix before its ids
"""

from __future__ import annotations

from tidings.content.cleaning.attribute_checks import prefix_ids
from tidings.content.cleaning.sanitize import CleanedHtml, clean, clean_with_text
from tidings.content.cleaning.text import text_of
from tidings.content.cleaning.writer import DEFAULT_POLICY, CleaningPolicy

__all__ = [
    "DEFAULT_POLICY",
    "CleanedHtml",
    "CleaningPolicy",
    "clean",
    "clean_with_text",
    "prefix_ids",
    "text_of",
]
