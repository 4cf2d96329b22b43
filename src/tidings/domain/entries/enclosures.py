"""Recognises the enclosures of an entry after its publisher has changed it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tidings.domain.feeds.feeds import ParsedEnclosure


def match_enclosures(
    stored: Mapping[int, ParsedEnclosure], published: Sequence[ParsedEnclosure]
) -> dict[int, ParsedEnclosure]:
    """Returns what each stored enclosure is now; those that the entry no longer has are left out.

    It is the one with the same URL; else with the same URL but for scheme and query, in which many podcasts have a new
    token in every document; else the entry's only one of the same type.

    stored: by id.
    """
    found: dict[int, ParsedEnclosure] = {}
    left = dict.fromkeys(published)
    for key in (_url, _url_without_query, _type):
        before, after = Counter(map(key, stored.values())), Counter(map(key, published))
        known = {key(one): id_ for id_, one in stored.items() if id_ not in found and before[key(one)] == 1}
        for one in list(left):
            if after[key(one)] == 1 and key(one) in known:
                found[known[key(one)]] = one
                del left[one]
    return found


def _url(enclosure: ParsedEnclosure) -> str:
    return enclosure.url


def _url_without_query(enclosure: ParsedEnclosure) -> str:
    return enclosure.url.partition("://")[2].partition("?")[0]


def _type(enclosure: ParsedEnclosure) -> str:
    return enclosure.mime_type
