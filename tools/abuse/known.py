"""Findings that are known and not mended yet. Each is still tried; what is listed here does not fail the run.

An entry goes when its mending lands: one whose attempts are all held off is named at the end of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Final

# (theme, name of the attempt, with * and ? as in shell patterns): what is to be mended.
_LF = "the server takes LF alone as the end of a line, as RFC 9112, section 2.2, lets it; it has no setting for that"

KNOWN: Final[Mapping[tuple[str, str], str]] = {
    ("smuggling", "bare LF"): _LF,
}


def reason(theme: str, name: str) -> str:
    """Why this finding is known, "" when it is not."""
    return next((why for (of, pattern), why in KNOWN.items() if of == theme and fnmatchcase(name, pattern)), "")
