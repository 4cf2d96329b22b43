"""Reads timelines of a Mastodon account through the API of its server, with the access token of the account.

    https://HOST/api/v1/timelines/home, token as the feed's password ─► statuses ─► JSON Feed

Other software has the same API: Pleroma and Akkoma, GoToSocial, Pixelfed, Sharkey, Friendica.
Sources: https://docs.joinmastodon.org/methods/timelines/, https://docs.joinmastodon.org/entities/Status/
"""

from __future__ import annotations

import re
from html import escape
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from msgspec.structs import replace

from tidings.base.messages import msg
from tidings.content.formats import text
from tidings.content.formats.json_feed import as_objects, as_text
from tidings.net.errors import HttpError
from tidings.net.fetch import Fetcher, FetchRequest, FetchResponse
from tidings.net.guard import parse_target
from tidings.sites import api

_TIMELINE: Final = re.compile(
    r"/api/v1/(?:timelines/(home|public|list/[\w-]+|tag/[^/?#]+)|(bookmarks|favourites))", re.ASCII
)
# The most that servers send.
_LIMIT: Final = 40


class Mastodon:
    """A `Detour` of timelines. timeout_s: for all requests of one document."""

    def __init__(self, *, timeout_s: float) -> None:
        self._timeout_s = timeout_s

    def takes(self, request: FetchRequest) -> bool:
        """Return whether it is a timeline with a token. Without one, a public timeline can be a feed made from JSON."""
        return bool(request.password) and _timeline(request.url) is not None

    def asked_url(self, request: FetchRequest) -> str:
        """Return the URL of the feed: its host is what is asked."""
        return request.url

    async def get(self, request: FetchRequest, fetcher: Fetcher) -> FetchResponse:
        """Return the timeline as a feed."""
        target = parse_target(request.url)
        url = request.url if urlsplit(request.url).query else f"{request.url}?limit={_LIMIT}"
        headers = (api.bearer(request.password.strip()),)
        asked = replace(request, url=url, headers=headers, username="", password="", accept=api.JSON_ACCEPT)
        try:
            response = await api.within(self._timeout_s, request, fetcher.get(asked))
        except HttpError as error:
            raise _explained(error, target.host) from error
        if response.not_modified:
            return api.under(request, response)
        answer = api.decoded(response.body, api=target.host, url=response.url)
        if not isinstance(answer, list):
            raise api.unexpected(target.host, response.url)
        name = _timeline(request.url) or ""
        items = [item for status in as_objects(answer) if (item := item_of(status))]
        return api.as_feed(
            request, response, f"{_title(name)}: {target.host}", str(target.url.origin() / _page(name)), items
        )


def _timeline(url: str) -> str | None:
    try:
        match = _TIMELINE.fullmatch(urlsplit(url).path)
    except ValueError:
        return None
    return match and (match[1] or match[2])


def _title(name: str) -> str:
    kind, _, rest = name.partition("/")
    return f"#{unquote(rest)}" if kind == "tag" else f"{kind.capitalize()} {rest}".strip()


def _page(name: str) -> str:
    """Return the path of the page on which the server shows the timeline."""
    kind, _, rest = name.partition("/")
    return {"list": f"lists/{rest}", "tag": f"tags/{unquote(rest)}"}.get(kind, kind)


def _explained(error: HttpError, host: str) -> HttpError:
    if error.status not in (401, 403):
        return error
    return HttpError(
        msg(
            "{host} does not accept the access token. Create one in the preferences of your account there, under "
            "Development, with the scope read, and enter it as the password of this feed.",
            host=host,
        ),
        url=error.url,
        status=error.status,
    )


# Statuses


def item_of(status: dict[str, Any]) -> dict[str, Any] | None:
    """Return the item of a status; a boost has the boosted status, and says whose boost it is. None without an id."""
    boosted = status.get("reblog")
    shown = boosted if isinstance(boosted, dict) else status
    account = _account(shown)
    id_ = as_text(status.get("uri")) or as_text(status.get("id"))
    if not id_:
        return None
    warning, content = as_text(shown.get("spoiler_text")), _content(shown)
    if warning:
        content = api.hidden(warning, content)
    if shown is not status:
        content += f"<p>Boosted by {escape(_name(_account(status)))}</p>"
    item = {
        "id": id_,
        "url": as_text(shown.get("url")) or as_text(shown.get("uri")),
        # The beginning of what the author wrote becomes the title, without whose boost it is.
        "summary": text.excerpt(as_text(shown.get("content"))),
        "content_html": content,
        "authors": [{"name": _name(account), "url": as_text(account.get("url"))}],
        "date_published": as_text(status.get("created_at")),
        "language": as_text(shown.get("language")),
        "tags": [as_text(tag.get("name")) for tag in as_objects(shown.get("tags"))],
    }
    return item | {"title": warning} if warning else item


def _content(status: dict[str, Any]) -> str:
    media = "".join(_attachment(one) for one in as_objects(status.get("media_attachments")))
    if status.get("sensitive") is True and not status.get("spoiler_text"):
        media = api.hidden("Sensitive content", media)
    quote = status.get("quote")
    quoted = quote.get("quoted_status") if isinstance(quote, dict) else None
    return "".join((as_text(status.get("content")), media, _poll(status), _card(status), _quotation(quoted)))


def _attachment(media: dict[str, Any]) -> str:
    url = as_text(media.get("url")) or as_text(media.get("remote_url"))
    description, preview = as_text(media.get("description")), as_text(media.get("preview_url"))
    if not url:
        return ""
    match media.get("type"):
        case "video" | "gifv":
            return f'<p><video controls src="{escape(url)}" poster="{escape(preview)}"></video></p>'
        case "audio":
            return f'<p><audio controls src="{escape(url)}"></audio></p>'
        case "image":
            return api.image(url, description)
    return f"<p>{api.link(url, description or url)}</p>"


def _poll(status: dict[str, Any]) -> str:
    poll = status.get("poll")
    options = as_objects(poll.get("options")) if isinstance(poll, dict) else []
    listed = "".join(f"<li>{escape(as_text(option.get('title')))}</li>" for option in options)
    return f"<ul>{listed}</ul>" if listed else ""


def _card(status: dict[str, Any]) -> str:
    card = status.get("card")
    url = as_text(card.get("url")) if isinstance(card, dict) else ""
    return f"<p>{api.link(url, as_text(card.get('title')) or url)}</p>" if isinstance(card, dict) and url else ""


def _quotation(quoted: Any) -> str:
    if not isinstance(quoted, dict):
        return ""
    by = api.link(as_text(quoted.get("url")), _name(_account(quoted)))
    return f"<blockquote>{as_text(quoted.get('content'))}<p>{by}</p></blockquote>"


def _account(status: dict[str, Any]) -> dict[str, Any]:
    account = status.get("account")
    return account if isinstance(account, dict) else {}


def _name(account: dict[str, Any]) -> str:
    handle = as_text(account.get("acct"))
    name = as_text(account.get("display_name")).strip()
    return f"{name} (@{handle})" if name and handle else name or f"@{handle}"
