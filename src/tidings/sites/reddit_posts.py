"""Turns posts and comments of Reddit's API into items of JSON Feed.

Source: https://www.reddit.com/dev/api, https://github.com/reddit-archive/reddit/wiki/JSON
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import escape
from typing import Any, Final
from urllib.parse import urljoin

from tidings.content.formats.json_feed import as_objects, as_text
from tidings.sites.api import image, link

HOME: Final = "https://www.reddit.com"
_IMAGE: Final = re.compile(r"https?://[^?#]+\.(?:jpe?g|png|gif|webp)(?:[?#]|$)", re.IGNORECASE)
_MAX_GALLERY: Final = 50


def item_of(thing: dict[str, Any]) -> dict[str, Any] | None:
    """Return the item of a post (`t3`) or a comment (`t1`); None for everything else."""
    data = thing.get("data")
    if not isinstance(data, dict) or thing.get("kind") not in ("t1", "t3"):
        return None
    is_comment = thing["kind"] == "t1"
    author, subreddit = as_text(data.get("author")), as_text(data.get("subreddit"))
    title = as_text(data.get("title"))
    if is_comment:
        title = f"/u/{author} on {as_text(data.get('link_title'))}" if data.get("link_title") else f"/u/{author}"
    url = urljoin(HOME, as_text(data.get("permalink")))
    flair = as_text(data.get("link_flair_text"))
    return {
        "id": as_text(data.get("name")) or f"{thing['kind']}_{as_text(data.get('id'))}",
        "url": url,
        "title": title,
        "content_html": as_text(data.get("body_html")) if is_comment else _content(data, url),
        "authors": [{"name": f"/u/{author}"}] if author else [],
        "date_published": _date(data.get("created_utc")),
        "tags": [tag for tag in (subreddit, flair, "nsfw" if data.get("over_18") is True else "") if tag],
    }


def _content(post: dict[str, Any], url: str) -> str:
    target = urljoin(HOME, as_text(post.get("url")))
    text = as_text(post.get("selftext_html"))
    parts = [text, _media(post, target)]
    if post.get("is_self") is not True and target not in (HOME, url):
        parts.append(f"<p>{link(target, as_text(post.get('domain')) or target)}</p>")
    parts.append(f"<p>{link(url, 'Comments')}</p>")
    return "".join(parts)


def _media(post: dict[str, Any], target: str) -> str:
    """Return the pictures of a gallery, or the post's video, picture or preview."""
    if gallery := _gallery(post):
        return "".join(image(*picture) for picture in gallery)
    video = _at(post, "media", "reddit_video", "fallback_url")
    preview = as_text(_at(post, "preview", "images", 0, "source", "url"))
    if isinstance(video, str):
        return f'<p><video controls src="{escape(video)}" poster="{escape(preview)}"></video></p>'
    return image(target if _IMAGE.match(target) else preview, as_text(post.get("title")))


def _gallery(post: dict[str, Any]) -> list[tuple[str, str]]:
    """Return addresses and captions."""
    pictures = []
    for one in as_objects(_at(post, "gallery_data", "items"))[:_MAX_GALLERY]:
        source = _at(post, "media_metadata", as_text(one.get("media_id")), "s")
        if isinstance(source, dict) and (url := as_text(source.get("u")) or as_text(source.get("gif"))):
            pictures.append((url, as_text(one.get("caption"))))
    return pictures


def _at(value: Any, *keys: str | int) -> Any:
    """Return what is at a path in JSON; None if there is nothing."""
    for key in keys:
        if isinstance(value, dict) and isinstance(key, str):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and len(value) > key:
            value = value[key]
        else:
            return None
    return value


def _date(seconds: Any) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (TypeError, ValueError, OverflowError, OSError):
        return ""
