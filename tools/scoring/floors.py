"""The minimum scores, slightly below the current ones. `python -m scoring` and the tests use the same.

By part and field; "all" is the part as a whole. Shares from 0 to 1.
"""

from __future__ import annotations

from typing import Final

FLOORS: Final[dict[str, dict[str, float]]] = {
    "feeds-expected": {
        "all": 0.98,
        "author": 0.9,
        "content": 0.96,
        "date": 1,
        "enclosures": 0.95,
        "feed title": 1,
        "number of entries": 1,
        "tags": 1,
        "title": 1,
        "url": 0.96,
    },
    "feeds-expressions": {"all": 0.965},
    "feeds-real": {"has entries": 1, "cut off": 1, "byte flipped": 0.995, "tag dropped": 0.995},
    "agreement": {
        "raises nothing": 1,
        "is read": 1,
        "entry": 0.998,
        "title": 0.995,
        "link": 0.99,
        "date": 0.99,
        "content": 0.975,
        "enclosures": 0.98,
        "tags": 0.98,
    },
    "hostile": {"harmless": 1, "cleaned twice": 1},
    "bodies": {"harmless": 1, "cleaned twice": 1},
    "articles": {"words (F1)": 0.98, "pictures kept": 0.95},
}

# Bytes of feeds that one core parses, cleans and identifies in a second. `python -m scoring` checks it, the tests do
# not, because other load on the machine lowers it.
MEGABYTES_PER_SECOND: Final = 20
