"""Parses the `srcset` attribute into candidates and descriptors, by the rules of browsers."""

from __future__ import annotations

import re
from collections.abc import Callable

_WHITESPACE = " \t\n\r\f"
_URL = re.compile(r"[ \t\n\r\f,]*+([^ \t\n\r\f]++)")
# Descriptors end at a comma outside parentheses.
_DESCRIPTORS = re.compile(r"((?:[^,(]|\([^)]*+\)?)*+)(?:,|$)")
_WIDTH = re.compile(r"[1-9][0-9]{0,5}w")
_MODERATE_WIDTH_PX = 1_600
_DENSITY = re.compile(r"(?:[0-9]{1,4}(?:\.[0-9]{1,8})?|\.[0-9]{1,8})x")


def clean_srcset(value: str, clean_url: Callable[[str], str]) -> str:
    """Return the usable candidates in a uniform notation; "" if there is none.

    clean_url: returns the absolute URL, or "" to leave the candidate out.
    Source: HTML Standard, section 4.8.4.3.10 (parsing a srcset attribute).
    """
    kept: list[str] = []
    for url, descriptor in candidates(value):
        clean = clean_url(url) if _is_descriptor(descriptor) else ""
        if clean:
            # A comma at either end of a URL would be parsed as the end of the candidate.
            clean = "%2C" + clean[1:] if clean.startswith(",") else clean
            clean = clean[:-1] + "%2C" if clean.endswith(",") else clean
            kept.append(f"{clean} {descriptor}" if descriptor else clean)
    return ", ".join(kept)


def main_candidate(srcset: str) -> str:
    """Return the URL for readers that know no candidates: the widest one of moderate size, else the first.

    srcset: as `clean_srcset` writes it.
    """
    found = candidates(srcset)
    widths = sorted((int(each[:-1]), url) for url, each in found if _WIDTH.fullmatch(each))
    if widths:
        return max((each for each in widths if each[0] <= _MODERATE_WIDTH_PX), default=widths[0])[1]
    return next((url for url, each in found if each in ("", "1x")), found[0][0] if found else "")


def candidates(value: str) -> list[tuple[str, str]]:
    """Return URLs with their descriptors, as written and unchecked."""
    parsed: list[tuple[str, str]] = []
    position = 0
    while (match := _URL.match(value, position)) is not None:
        url, position = match[1], match.end()
        descriptor = ""
        if url.endswith(","):
            url = url.rstrip(",")
        else:
            rest = _DESCRIPTORS.match(value, position)
            if rest is None:
                break
            descriptor, position = rest[1].strip(_WHITESPACE), rest.end()
        parsed.append((url, descriptor))
    return parsed


def _is_descriptor(text: str) -> bool:
    return not text or _WIDTH.fullmatch(text) is not None or _DENSITY.fullmatch(text) is not None
