"""Making entries ready to be stored: once for all feeds alike, and not more at a time than memory has room for."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable
from typing import Any, Final

from tidings.domain.articles import Article
from tidings.domain.feeds import Feed, ParsedEntry
from tidings.domain.ingestion import USUAL, Instance, Intake, Prepared, prepare
from tidings.domain.times import Instant
from tidings.domain.users import User

# Bytes of clean texts. The largest of 200 real feeds comes to a tenth of it.
MOST_AT_ONCE: Final = 64 * 2**20
# Columns of a feed of which something was left for the next check: the same document will do then.
READ_AGAIN: Final[dict[str, Any]] = {"body_digest": None, "etag_header": "", "last_modified_header": ""}


def as_many_as_fit(made: Iterable[Prepared]) -> list[Prepared]:
    """The first of them, one at least."""
    found, size = [], 0
    for one in made:
        found.append(one)
        size += _size(one)
        if size > MOST_AT_ONCE:
            break
    return found


class Preparing:
    """Makes entries of one document ready, once for all feeds that want them the same way."""

    def __init__(self, instance: Instance = USUAL) -> None:
        self._instance = instance
        self._made: dict[tuple[Hashable, str], Prepared] = {}
        self._size = 0

    def way(self, feed: Feed, user: User) -> Intake:
        return Intake.of(feed, user, self._instance)

    def __call__(
        self, entry: ParsedEntry, how: Intake, *, feed: Feed, now: Instant, article: Article | None = None
    ) -> Prepared:
        if article is not None:
            return prepare(entry, how, feed=feed, now=now, article=article)
        key = how.key, entry.hash
        made = self._made.get(key)
        if made is None:
            made = prepare(entry, how, feed=feed, now=now)
            self._size += _size(made)
            if self._size <= MOST_AT_ONCE:
                self._made[key] = made
        return made


def _size(made: Prepared) -> int:
    return sys.getsizeof(made.entry.content) if made.entry else 0
