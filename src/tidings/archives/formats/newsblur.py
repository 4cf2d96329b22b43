"""Translates the saved stories of NewsBlur, as its API returns them, into items of an export.

Source: https://www.newsblur.com/api, `/reader/starred_stories`, and `apps/reader/views.py` in its repository.
Stories have the number of their feed, but not its URL.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from tidings.archives.formats.json_items import JsonItems
from tidings.archives.formats.listed_items import ItemFeed, ListedItem, identity_of, moment
from tidings.archives.records import ArchivedEntry
from tidings.base.text import plain_line
from tidings.base.times import EPOCH, SECOND


class _Story(Struct):
    """A saved story. Times are seconds since 1970, as numbers or texts."""

    story_title: str | None = ""
    story_permalink: str | None = ""
    story_content: str | None = ""
    story_authors: str | None = ""
    story_tags: list[str] | None = None
    user_tags: list[str] | None = None
    story_timestamp: Any = None
    starred_timestamp: Any = None
    story_hash: str = ""
    id: Any = ""


def saved_stories(chunks: Iterable[bytes]) -> Iterator[ListedItem] | None:
    """Return the stories of a document, None if it is not a list of stories. Raises InvalidInput with the line."""
    stories = JsonItems(chunks, "stories").items_if_present(_Story)
    return None if stories is None else map(_item, stories)


def _item(story: _Story) -> ListedItem:
    url = story.story_permalink or ""
    title = plain_line(story.story_title or "")
    saved_at = moment(story.starred_timestamp, SECOND)
    entry = ArchivedEntry(
        feed=0,
        hash=identity_of(url, story.story_hash, str(story.id), title),
        status="read",
        starred=True,
        published_at=moment(story.story_timestamp, SECOND) or saved_at or EPOCH,
        created_at=saved_at,
        title=title or url,
        url=url,
        author=story.story_authors or "",
        tags=[tag for tag in story.story_tags or () if tag.strip()],
        content=story.story_content or "",
    )
    return ListedItem(ItemFeed(), entry, tuple(tag for tag in story.user_tags or () if tag.strip()))
