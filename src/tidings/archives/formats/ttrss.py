"""Translates what the JSON API of Tiny Tiny RSS returns into the records of an archive.

Source: `classes/API.php` (level 23) and `classes/RSSUtils.php` in its repository. Numbers may be texts there.
"""

from __future__ import annotations

import re
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from tidings.archives.formats.listed_items import identity_of
from tidings.archives.records import ArchivedCategory, ArchivedEnclosure, ArchivedEntry, ArchivedFeed, ArchivedLabel
from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.base.text import plain_line
from tidings.base.times import LATEST, SECOND, Instant, to_datetime
from tidings.domain.feeds.categories import SEPARATOR
from tidings.domain.feeds.feeds import EditedFeedField

# Maximum number of headlines that it returns in one page, since this level of its API.
PAGE: Final = 200
MIN_LEVEL: Final = 6
# Numbers with a special meaning: all feeds without virtual ones, and entries whose feed was removed.
ALL_FEEDS: Final = -3
ARCHIVED: Final = 0
# What older versions wrote: the number of the user, and the id as in the feed.
_PLAIN_ID: Final = re.compile(r"[0-9]+,(?P<id>.+)", re.DOTALL)
_PUBLISHED: Final = "Published"
_PROBLEMS: Final = {
    "LOGIN_ERROR": "the server does not accept this user and password",
    "API_DISABLED": "the API is off for this user: turn it on in the preferences of Tiny Tiny RSS",
    "NOT_LOGGED_IN": "the server ended the session during the import: repeat the import",
}
T = TypeVar("T")


class Login(Struct, frozen=True):
    session_id: str
    api_level: int = 0


class Headline(Struct, frozen=True):
    """An entry with its id at the server."""

    id: int
    guid: str
    """As stored at the server, usually a hash of the id in the feed."""
    entry: ArchivedEntry


class _Envelope(Struct):
    status: int
    content: msgspec.Raw


class _Error(Struct):
    error: str = ""


class _Category(Struct):
    id: int
    title: str = ""


class _Node(Struct):
    """A category or a feed in the tree."""

    id: str = ""
    """CAT: or FEED: and a number."""
    bare_id: int = 0
    items: list[_Node] = []


class _Tree(Struct):
    categories: _Node


class _Feed(Struct):
    """A feed of Tiny Tiny RSS."""

    id: int
    feed_url: str
    title: str | None = ""
    cat_id: int | None = 0
    update_interval: int | None = 0
    """Minutes, 0 for the default, negative if the feed is not updated."""


class _Label(Struct):
    caption: str


class _Attachment(Struct):
    content_url: str | None = ""
    content_type: str | None = ""


class _Headline(Struct):
    """An article of Tiny Tiny RSS."""

    id: int
    guid: str | None = ""
    unread: bool = False
    marked: bool = False
    published: bool = False
    updated: int = 0
    """Seconds since 1970."""
    title: str | None = ""
    link: str | None = ""
    tags: list[str] | None = None
    labels: Any = None
    """Lists of number, name and colours."""
    author: str | None = ""
    comments_link: str | None = ""
    lang: str | None = ""
    content: str | None = ""
    attachments: list[_Attachment] | None = None


def read_login(document: bytes) -> Login:
    """Return the session. Raises InvalidInput, including for a server that is too old."""
    login: Login = _content(document, Login, "login")
    if login.api_level < MIN_LEVEL:
        text = f"this Tiny Tiny RSS is too old: its API has level {login.api_level}, and {MIN_LEVEL} is needed"
        raise InvalidInput(verbatim(text))
    return login


def read_categories(document: bytes) -> dict[int, str]:
    """Return the titles of the user's categories by number, without those of the categories above them."""
    categories: list[_Category] = _content(document, list[_Category], "getCategories")
    return {each.id: each.title.strip() for each in categories if each.id > 0}


def read_parents(document: bytes) -> dict[int, int]:
    """Return the numbers of the categories above others, by the number of the lower one."""
    tree: _Tree = _content(document, _Tree, "getFeedTree")
    parents: dict[int, int] = {}
    waiting = [(0, tree.categories)]
    while waiting:
        above, node = waiting.pop()
        for child in node.items:
            if child.id.startswith("CAT:") and child.bare_id > 0:
                if above:
                    parents[child.bare_id] = above
                waiting.append((child.bare_id, child))
    return parents


def archived_categories(titles: dict[int, str], parents: dict[int, int]) -> dict[int, ArchivedCategory]:
    """Return the categories by number. titles, parents: by number."""
    found = {}
    for number in titles:
        line, each = list[int](), number
        while each in titles and each not in line:
            line.append(each)
            each = parents.get(each, 0)
        path = [titles[one] for one in reversed(line)]
        found[number] = ArchivedCategory(SEPARATOR.join(path), path=path)
    return found


def read_feeds(document: bytes, categories: dict[int, ArchivedCategory]) -> list[ArchivedFeed]:
    """Return the feeds; feeds without a category have "". categories: by number."""
    feeds: list[_Feed] = _content(document, list[_Feed], "getFeeds")
    titles = {number: category.title for number, category in categories.items()}
    return [_feed(feed, titles.get(feed.cat_id or 0, "")) for feed in feeds]


def read_labels(document: bytes) -> list[ArchivedLabel]:
    labels: list[_Label] = _content(document, list[_Label], "getLabels")
    return [ArchivedLabel(label.caption) for label in labels]


def read_headlines(document: bytes, feed: int) -> list[Headline]:
    """Return the entries of a page. feed: number of their feed. Raises InvalidInput."""
    headlines: list[_Headline] = _content(document, list[_Headline], "getHeadlines")
    return [Headline(each.id, each.guid or "", _entry(each, feed)) for each in headlines]


def _feed(feed: _Feed, category: str) -> ArchivedFeed:
    settings: dict[str, Any] = {}
    interval = feed.update_interval or 0
    if interval < 0:
        settings["disabled"] = True
    elif interval > 0:
        settings["check_interval_minutes"] = interval
    return ArchivedFeed(
        number=feed.id,
        category=category,
        feed_url=feed.feed_url,
        title=plain_line(feed.title or ""),
        edited=EditedFeedField.TITLE,
        settings=settings,
    )


def _entry(headline: _Headline, feed: int) -> ArchivedEntry:
    url = headline.link or ""
    title = plain_line(headline.title or "")
    labels = [*_labels(headline.labels), *([_PUBLISHED] if headline.published else [])]
    plain_id = _PLAIN_ID.fullmatch(headline.guid or "")
    return ArchivedEntry(
        feed=feed,
        hash=identity_of(plain_id["id"] if plain_id else "", url, headline.guid or "", title),
        status="unread" if headline.unread else "read",
        starred=headline.marked,
        published_at=to_datetime(_instant(headline.updated)),
        title=title or url,
        url=url,
        author=headline.author or "",
        comments_url=headline.comments_link or "",
        language=headline.lang or "",
        tags=[tag for tag in headline.tags or () if tag.strip()],
        labels=list(dict.fromkeys(labels)),
        enclosures=[
            ArchivedEnclosure(each.content_url, each.content_type or "")
            for each in headline.attachments or ()
            if each.content_url
        ],
        content=headline.content or "",
    )


def _labels(value: Any) -> list[str]:
    rows = value if isinstance(value, list) else []
    return [row[1] for row in rows if isinstance(row, list) and len(row) > 1 and isinstance(row[1], str)]


def _instant(seconds: int) -> Instant:
    return Instant(seconds * SECOND if 0 < seconds * SECOND <= LATEST else 0)


def _content(document: bytes, kind: Any, operation: str) -> Any:
    try:
        envelope = msgspec.json.decode(document, type=_Envelope)
        if envelope.status:
            raise _refusal(msgspec.json.decode(envelope.content, type=_Error).error, operation)
        return msgspec.json.decode(envelope.content, type=kind, strict=False)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        text = f"the server does not answer {operation} as Tiny Tiny RSS does: {str(error)[:200]}"
        raise InvalidInput(verbatim(text)) from error


def _refusal(code: str, operation: str) -> InvalidInput:
    return InvalidInput(verbatim(_PROBLEMS.get(code) or f"the server refuses {operation}: {code[:200]}"))
