"""Recognises the enclosures of an entry after its publisher has changed it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence

from tidings.content.model import ParsedEnclosure


def match_enclosures(
    stored: Mapping[int, ParsedEnclosure], published: Sequence[ParsedEnclosure]
) -> dict[int, ParsedEnclosure]:
    """Return what each stored enclosure is now; enclosures that the entry does not have any more are left out.

    It is the one with the same URL; else one of the same kind (audio, image) with the same URL except for scheme and
    query, in which many podcasts have a new token in every document; else the entry's only one of the same type.

    stored: the stored enclosures, by id.
    """
    found: dict[int, ParsedEnclosure] = {}
    unmatched = dict.fromkeys(published)
    key_of: Callable[[ParsedEnclosure], Hashable]
    for key_of in (_url, _url_without_query, _type):
        stored_counts, published_counts = Counter(map(key_of, stored.values())), Counter(map(key_of, published))
        candidates = {
            key: id_
            for id_, enclosure in stored.items()
            if id_ not in found and stored_counts[key := key_of(enclosure)] == 1
        }
        for enclosure in list(unmatched):
            key = key_of(enclosure)
            if published_counts[key] == 1 and key in candidates:
                found[candidates[key]] = enclosure
                del unmatched[enclosure]
    return found


def _url(enclosure: ParsedEnclosure) -> str:
    return enclosure.url


def _url_without_query(enclosure: ParsedEnclosure) -> tuple[str, str]:
    """Return the URL without scheme and query, and the kind: a cover may have the path of its episode."""
    return enclosure.url.partition("?")[0].rpartition("://")[2], enclosure.mime_type.partition("/")[0]


def _type(enclosure: ParsedEnclosure) -> str:
    return enclosure.mime_type
