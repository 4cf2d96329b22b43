"""Reads timelines of a Bluesky account through the API of its server, with an app password of the account.

    https://bsky.social/xrpc/app.bsky.feed.getTimeline, handle and app password ─► session ─► posts ─► JSON Feed

Sources: https://docs.bsky.app/docs/api/com-atproto-server-create-session,
https://docs.bsky.app/docs/api/app-bsky-feed-get-timeline
"""

from __future__ import annotations

import hashlib
import re
from typing import Final
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from tidings.base.messages import msg
from tidings.base.times import MINUTE, Instant
from tidings.content.formats.json_feed import as_objects, as_text
from tidings.net.fetch import Fetcher, FetchRequest, FetchResponse
from tidings.net.guard import parse_target
from tidings.services.clock import Clock
from tidings.sites import api
from tidings.sites.bluesky_posts import item_of

_TIMELINE: Final = re.compile(r"/xrpc/app\.bsky\.feed\.(getTimeline|getFeed|getListFeed|getAuthorFeed)")
_TITLES: Final = {"getTimeline": "Home", "getFeed": "Feed", "getListFeed": "List", "getAuthorFeed": "Posts"}
_LIMIT: Final = 50
# A session is good for two hours. Servers limit how many an account may begin in a day.
_SESSION: Final = 110 * MINUTE
# An expired session is refused with 400.
_EXPIRED: Final = (400, 401)


class Bluesky:
    """A `Detour` of timelines. timeout_s: for all requests of one document."""

    def __init__(self, clock: Clock, *, timeout_s: float) -> None:
        self._clock = clock
        self._timeout_s = timeout_s
        self._tokens = api.Tokens(clock)

    def takes(self, request: FetchRequest) -> bool:
        """Return whether it is a timeline with a handle and a password."""
        return bool(request.username and request.password) and _timeline(request.url) is not None

    def asked_url(self, request: FetchRequest) -> str:
        """Return the URL of the feed: its host is what is asked."""
        return request.url

    async def get(self, request: FetchRequest, fetcher: Fetcher) -> FetchResponse:
        """Return the timeline as a feed."""
        target = parse_target(request.url)
        parts = urlsplit(request.url)
        url = request.url if "limit=" in parts.query else f"{request.url}{'&' if parts.query else '?'}limit={_LIMIT}"

        async def ask(token: str) -> FetchResponse:
            headers = (api.bearer(token),)
            return await fetcher.get(
                replace(request, url=url, headers=headers, username="", password="", accept=api.JSON_ACCEPT)
            )

        async def new_session() -> api.Token:
            return await self._new_session(request, fetcher, str(target.url.origin()), target.host)

        account = hashlib.sha256(
            msgspec.json.encode([str(target.url.origin()), request.username, request.password])
        ).digest()
        work = self._tokens.ask(account, new_session, ask, expired=_EXPIRED)
        response = await api.within(self._timeout_s, request, work)
        if response.not_modified:
            return api.under(request, response)
        answer = api.decoded(response.body, api=target.host, url=response.url)
        if not isinstance(answer, dict) or not isinstance(answer.get("feed"), list):
            raise api.unexpected(target.host, response.url)
        items = [item for post in as_objects(answer["feed"]) if (item := item_of(post))]
        title = f"{_TITLES[_timeline(request.url) or 'getTimeline']}: {request.username.removeprefix('@')}"
        return api.as_feed(request, response, title, "https://bsky.app/", items)

    async def _new_session(self, request: FetchRequest, fetcher: Fetcher, origin: str, host: str) -> api.Token:
        """Raises HttpError if the server refuses the account. request: of a feed, with the proxy to use."""
        url = f"{origin}/xrpc/com.atproto.server.createSession"
        account = {"identifier": request.username.strip().removeprefix("@"), "password": request.password.strip()}
        post = replace(
            request,
            url=url,
            headers=(("Content-Type", "application/json"),),
            body=msgspec.json.encode(account),
            accept=api.JSON_ACCEPT,
            ignore_cache=True,
        )
        answer = await api.post(
            fetcher,
            post,
            api=host,
            refused=msg(
                "{host} does not accept the handle and the app password. Enter the handle as the user name of this "
                "feed, and as the password one that you create in the settings of your account there, under App "
                "passwords.",
                host=host,
            ),
        )
        token = as_text(answer.get("accessJwt"))
        if not token:
            raise api.unexpected(host, url)
        return api.Token(token, Instant(self._clock() + _SESSION))


def _timeline(url: str) -> str | None:
    try:
        match = _TIMELINE.fullmatch(urlsplit(url).path)
    except ValueError:
        return None
    return match and match[1]
