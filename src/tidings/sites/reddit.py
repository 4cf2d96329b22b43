"""Reads feeds of Reddit through its API, whose limits are those of the operator's client and not of strangers.

    …/r/rain/new/.rss ─► token of the client ─► oauth.reddit.com/r/rain/new ─► JSON Feed

The entries have the ids of the feeds that Reddit publishes itself, so that a feed may change between the two.
Sources: https://www.reddit.com/dev/api, https://github.com/reddit-archive/reddit/wiki/OAuth2#application-only-oauth
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from msgspec.structs import replace

from tidings.base.messages import msg
from tidings.base.times import SECOND, Instant
from tidings.content.discovery import FeedCandidate, known_site_feeds
from tidings.content.formats.json_feed import as_number, as_objects, as_text
from tidings.net.errors import HttpError
from tidings.net.fetch import Fetcher, FetchRequest, FetchResponse
from tidings.services.clock import Clock
from tidings.sites import api
from tidings.sites.reddit_posts import item_of

API: Final = "https://oauth.reddit.com"
TOKENS: Final = "https://www.reddit.com/api/v1/access_token"
_HOSTS: Final = re.compile(r"(?:(?:www|old|new|np|m|i)\.)?reddit\.com")
_SUFFIX: Final = re.compile(r"/?\.rss$")
_SORTS: Final = ("hot", "new", "top", "rising", "controversial", "best")
# Parameters that a listing takes.
_PARAMETERS: Final = frozenset({"t", "sort", "q", "restrict_sr", "limit", "include_over_18", "type"})
_INSTALLED: Final = {
    "grant_type": "https://oauth.reddit.com/grants/installed_client",
    "device_id": "DO_NOT_TRACK_THIS_DEVICE",
}


class Reddit:
    """A `Detour` of Reddit, with the operator's client.

    secret: empty for a client of an installed app. api_url, tokens_url: where the API is.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        client_id: str,
        secret: str,
        timeout_s: float,
        api_url: str = API,
        tokens_url: str = TOKENS,
    ) -> None:
        self._clock = clock
        self._client = f"{client_id}:{secret}"
        self._has_secret = bool(secret)
        self._timeout_s = timeout_s
        self._api_url = api_url
        self._tokens_url = tokens_url
        self._tokens = api.Tokens(clock)

    def takes(self, request: FetchRequest) -> bool:
        """Return whether it is a public feed of Reddit.

        With a cookie, it may show what only its owner sees; and a user may have a proxy because Reddit limits ours.
        """
        if request.cookie or request.password or request.proxy_url:
            return False
        return bool(_SUFFIX.search(urlsplit(request.url).path)) and listing_path(request.url) is not None

    def asked_url(self, request: FetchRequest) -> str:
        """Return the URL of the feed: the feeds of Reddit share the limit of its API."""
        return request.url

    async def get(self, request: FetchRequest, fetcher: Fetcher) -> FetchResponse:
        """Return the listing as a feed."""

        async def ask(token: str) -> FetchResponse:
            url = f"{self._api_url}{listing_path(request.url)}"
            return await fetcher.get(api.as_operator(request, url, api.bearer(token)))

        async def new_token() -> api.Token:
            return await self._new_token(request, fetcher)

        try:
            response = await api.within(self._timeout_s, request, self._tokens.ask(b"", new_token, ask))
        except HttpError as error:
            # A pause is for the feeds of Reddit, and not for a host that has none.
            error.url = request.url
            raise
        if response.not_modified:
            return api.under(request, response)
        answer = api.decoded(response.body, api="Reddit", url=response.url)
        things = [thing for listing in as_objects(answer) for thing in _children(listing)]
        if not things and not all("data" in listing for listing in as_objects(answer) or [{}]):
            raise api.unexpected("Reddit", response.url)
        page = _SUFFIX.sub("", urlsplit(request.url).path) or "/"
        items = [item for thing in things if (item := item_of(thing))]
        title = page.removeprefix("/") or "Reddit"
        return api.as_feed(request, response, title, f"https://www.reddit.com{page}", items)

    async def feeds(self, user_id: int, request: FetchRequest) -> list[FeedCandidate]:  # noqa: ARG002 - the same for all
        """Return the feeds of a page of Reddit: its address says all, and strangers may not open it."""
        return known_site_feeds(request.url) if listing_path(request.url) is not None else []

    async def _new_token(self, request: FetchRequest, fetcher: Fetcher) -> api.Token:
        """Raises HttpError if Reddit refuses the client."""
        credentials = base64.b64encode(self._client.encode()).decode()
        form = {"grant_type": "client_credentials"} if self._has_secret else _INSTALLED
        headers = ("Authorization", f"Basic {credentials}"), ("Content-Type", "application/x-www-form-urlencoded")
        plain = api.as_operator(request, self._tokens_url, *headers)
        post = replace(plain, body=urlencode(form).encode(), ignore_cache=True)
        answer = await api.post(
            fetcher,
            post,
            api="Reddit",
            refused=msg(
                "Reddit does not accept the client that the operator has set with TIDINGS_REDDIT_CLIENT_ID and "
                "TIDINGS_REDDIT_CLIENT_SECRET."
            ),
        )
        token, lasts_s = as_text(answer.get("access_token")), as_number(answer.get("expires_in"))
        if not token:
            # Reddit refuses some clients with status 200 and the member `error`.
            raise HttpError(
                msg("Reddit gives no token to the client that the operator has set: {reason}", reason=_reason(answer)),
                url=self._tokens_url,
                status=401,
            )
        return api.Token(token, Instant(self._clock() + lasts_s * SECOND))


def listing_path(url: str) -> str | None:
    """Return the path and query at the API of a feed or page of Reddit; None for all other addresses."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if not _HOSTS.fullmatch((parts.hostname or "").lower()):
        return None
    parameters = parse_qsl(parts.query)
    if any(name in ("feed", "user") for name, _ in parameters):
        return None  # a private feed, which has a token of its own
    path = _path([part for part in _SUFFIX.sub("", parts.path).split("/") if part])
    kept = [(name, value) for name, value in parameters if name in _PARAMETERS]
    return path and f"{path}?{urlencode([*kept, ('raw_json', '1')])}"


def _path(segments: list[str]) -> str | None:
    match segments:
        case []:
            return "/hot"
        case ["u", *rest]:
            return _path(["user", *rest])
        case ["r" | "domain", _] | ["user", _, "m", _]:
            return f"/{'/'.join(segments)}/hot"
        case ["user", _]:
            return f"/{'/'.join(segments)}/overview"
        case ["r", name, "comments", post, *_]:
            return f"/r/{name}/comments/{post}"
        case ["comments", post, *_]:
            return f"/comments/{post}"
        case ["r", _, "comments" | "search"] | ["user", _, "overview" | "submitted" | "comments"] | ["search"]:
            return f"/{'/'.join(segments)}"
        case [*_, sort] if sort in _SORTS and (len(segments) == 1 or _path(segments[:-1]) is not None):
            return f"/{'/'.join(segments)}"
    return None


def _children(listing: dict[str, Any]) -> Iterable[dict[str, Any]]:
    data = listing.get("data")
    return as_objects(data.get("children")) if isinstance(data, dict) else ()


def _reason(answer: dict[str, Any]) -> str:
    return as_text(answer.get("message")) or as_text(answer.get("error")) or "-"
