"""Turns posts of a Bluesky timeline into items of JSON Feed.

Sources: https://github.com/bluesky-social/atproto/tree/main/lexicons/app/bsky (feed/defs, embed, richtext/facet)
"""

from __future__ import annotations

from html import escape
from typing import Any, Final
from urllib.parse import quote

from tidings.content.formats.json_feed import as_objects, as_text, as_texts
from tidings.sites.api import hidden, image, link

HOME: Final = "https://bsky.app"
# Labels behind which the app hides pictures.
_SENSITIVE: Final = frozenset({"porn", "sexual", "nudity", "graphic-media", "gore"})


def item_of(listed: dict[str, Any]) -> dict[str, Any] | None:
    """Return the item of a post of a timeline; a repost has the reposted post, and says whose repost it is.

    None without a post.
    """
    post = _object(listed.get("post"))
    uri, record, author = as_text(post.get("uri")), _object(post.get("record")), _object(post.get("author"))
    if not uri:
        return None
    reason = _object(listed.get("reason"))
    repost = _object(reason.get("by")) if as_text(reason.get("$type")).endswith("#reasonRepost") else {}
    content = _answered(_object(listed.get("reply"))) + rich_text(record) + _media(post)
    if repost:
        content += f"<p>Reposted by {escape(_name(repost))}</p>"
    return {
        "id": f"{uri}#repost-{as_text(repost.get('did'))}" if repost else uri,
        "url": _page(post),
        # What a post answers comes first in its content, and would be its title.
        "summary": as_text(record.get("text")),
        "content_html": content,
        "authors": [{"name": _name(author), "url": f"{HOME}/profile/{_path(as_text(author.get('handle')))}"}],
        "date_published": as_text(reason.get("indexedAt")) if repost else as_text(record.get("createdAt")),
        "language": next(iter(as_texts(record.get("langs"))), ""),
        "tags": _tags(record),
    }


def rich_text(record: dict[str, Any]) -> str:
    """Return the text of a post as HTML, with its links, mentions and tags.

    Facets count bytes of UTF-8; one that overlaps another or cuts a character is left out.
    """
    text = as_text(record.get("text")).encode()
    parts, end = [], 0
    for start, stop, url in sorted(_links(record)):
        if start < end or stop > len(text) or stop <= start:
            continue
        try:
            before, label = text[end:start].decode(), text[start:stop].decode()
        except UnicodeDecodeError:
            continue
        parts += [escape(before), link(url, label)]
        end = stop
    whole = "".join([*parts, escape(text[end:].decode(errors="replace"))])
    return "".join(f"<p>{part.replace(chr(10), '<br>')}</p>" for part in whole.split("\n\n") if part.strip())


def _links(record: dict[str, Any]) -> list[tuple[int, int, str]]:
    """Return start, end and address of each facet that leads somewhere."""
    found = []
    for facet in as_objects(record.get("facets")):
        index = _object(facet.get("index"))
        start, stop = index.get("byteStart"), index.get("byteEnd")
        feature = next(iter(as_objects(facet.get("features"))), {})
        url = as_text(feature.get("uri"))
        if did := as_text(feature.get("did")):
            url = f"{HOME}/profile/{_path(did)}"
        elif tag := as_text(feature.get("tag")):
            url = f"{HOME}/hashtag/{_path(tag)}"
        if url and isinstance(start, int) and isinstance(stop, int) and start >= 0:
            found.append((start, stop, url))
    return found


def _tags(record: dict[str, Any]) -> list[str]:
    features = [one for facet in as_objects(record.get("facets")) for one in as_objects(facet.get("features"))]
    return [*as_texts(record.get("tags")), *(tag for one in features if (tag := as_text(one.get("tag"))))]


def _media(post: dict[str, Any]) -> str:
    media = _embedded(_object(post.get("embed")))
    labels = {as_text(label.get("val")) for label in as_objects(post.get("labels"))}
    return hidden("Sensitive content", media) if labels & _SENSITIVE else media


def _embedded(embed: dict[str, Any]) -> str:
    """Return what a post shows below its text: pictures, a video, a link, a quoted post."""
    pictures = "".join(image(as_text(one.get("fullsize")), as_text(one.get("alt"))) for one in _pictures(embed))
    external, film = _object(embed.get("external")), ""
    if thumbnail := as_text(embed.get("thumbnail")):
        # The film itself is a playlist, which most browsers cannot play: its picture stands for it.
        film = image(thumbnail, as_text(embed.get("alt")))
    shown = [pictures, film, _external(external), _quoted(_object(embed.get("record")))]
    if inner := _object(embed.get("media")):
        shown.insert(0, _embedded(inner))
    return "".join(shown)


def _pictures(embed: dict[str, Any]) -> list[dict[str, Any]]:
    return as_objects(embed.get("images"))


def _external(external: dict[str, Any]) -> str:
    url = as_text(external.get("uri"))
    if not url:
        return ""
    description = escape(as_text(external.get("description")))
    label = link(url, as_text(external.get("title")) or url)
    return f"{image(as_text(external.get('thumb')))}<p>{label}<br>{description}</p>"


def _quoted(record: dict[str, Any]) -> str:
    """Return a quoted post; next to media, it is one level further in."""
    inner = _object(record.get("record"))
    quoted = inner or record
    value = _object(quoted.get("value"))
    if not as_text(value.get("text")):
        return ""
    by = link(_page(quoted), _name(_object(quoted.get("author"))))
    return f"<blockquote>{rich_text(value)}<p>{by}</p></blockquote>"


def _answered(reply: dict[str, Any]) -> str:
    parent = _object(reply.get("parent"))
    author, record = _object(parent.get("author")), _object(parent.get("record"))
    if not author or not record:
        return ""
    return f"<blockquote>{rich_text(record)}<p>{link(_page(parent), _name(author))}</p></blockquote>"


def _page(post: dict[str, Any]) -> str:
    """Return the address of a post's page in the app."""
    author = _object(post.get("author"))
    who = as_text(author.get("handle"))
    if not who or who == "handle.invalid":
        who = as_text(author.get("did"))
    return f"{HOME}/profile/{_path(who)}/post/{_path(as_text(post.get('uri')).rpartition('/')[2])}"


def _path(part: str) -> str:
    return quote(part, safe=":.-_~")


def _name(author: dict[str, Any]) -> str:
    handle, name = as_text(author.get("handle")), as_text(author.get("displayName")).strip()
    return f"{name} (@{handle})" if name else f"@{handle}"


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
