"""How many pages of an article are joined, and which repeat an earlier one. Imports no parser."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

MAX_PAGES: Final = 5

# Characters of text by which pages are compared.
_COMPARED_CHARS: Final = 300


def is_repeated(content: str, earlier: Sequence[str]) -> bool:
    """Return whether a page has no text, or begins with the same text as an earlier one."""
    start = _first_words(content)
    return not start or any(_first_words(page) == start for page in earlier)


def _first_words(content: str) -> str:
    return " ".join(re.sub(r"<[^>]*+>", " ", content[: 40 * _COMPARED_CHARS]).split())[:_COMPARED_CHARS]
