"""Known findings that are not fixed yet. They are still tried, but do not fail the run.

Remove an entry when it is fixed: the end of a run lists entries whose attempts are all blocked.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Final

# (theme, name of the attempt, with * and ? as in shell patterns): what has to be fixed.
_LF = "the server takes LF alone as the end of a line, as RFC 9112, section 2.2, lets it; it has no setting for that"

KNOWN: Final[Mapping[tuple[str, str], str]] = {
    ("smuggling", "bare LF"): _LF,
}


def reason(theme: str, name: str) -> str:
    """Return why this finding is known, "" if it is not."""
    return next((why for (of, pattern), why in KNOWN.items() if of == theme and fnmatchcase(name, pattern)), "")
