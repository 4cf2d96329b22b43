"""Requests for what a feed links to. Secrets of a feed go only to the host that they were given for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from tidings.domain.feeds.feeds import Feed
from tidings.net.fetch import FetchRequest
from tidings.net.guard import may_share

# The options of a feed that go only to the scheme, host and port that they were given for. The user agent is one of
# them: some publishers accept a feed reader by a token in it.
BOUND_TO_HOST: Final = ("cookie", "username", "password", "user_agent")


def linked_request(
    feed: Feed, url: str, *, accept: str, max_body_size: int | None = None, timeout_s: float | None = None
) -> FetchRequest:
    """Return a request with the options of the feed.

    Its cookie and user agent are sent to its own publisher only, its password for its own URL only.
    """
    is_own_site, is_own_url = may_share(feed.feed_url, url), url == feed.feed_url
    return FetchRequest(
        url=url,
        accept=accept,
        user_agent=feed.user_agent if is_own_site else "",
        cookie=feed.cookie if is_own_site else "",
        username=feed.username if is_own_url else "",
        password=feed.password if is_own_url else "",
        allow_self_signed_certificates=feed.allow_self_signed_certificates,
        proxy_url=feed.proxy_url,
        fetch_via_proxy=feed.fetch_via_proxy,
        max_body_size=max_body_size,
        timeout_s=timeout_s,
    )


def may_move(values: Mapping[str, Any], url: str) -> bool:
    """Return whether a redirect may change the URL of a feed: nothing that is bound to its host would go elsewhere.

    values: columns of the feed.
    """
    return not any(values.get(name) for name in BOUND_TO_HOST) or may_share(values["feed_url"], url)


def request_elsewhere(request: FetchRequest, url: str) -> FetchRequest:
    """Return the same request for another URL, on another host without what is bound to the first."""
    return replace(request, url=url, **_cleared(request.url, url))


def options_elsewhere(options: Mapping[str, Any], given_for: str, url: str) -> dict[str, Any]:
    """Return options of a feed for a URL, on another host without what is bound to the host of `given_for`."""
    dropped = _cleared(given_for, url)
    return {name: value for name, value in options.items() if name not in dropped}


def options_after_move(feed: Feed, changed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes of a feed, and with a new URL on another host the removal of what was not given for it."""
    return {**_cleared(feed.feed_url, changed.get("feed_url", feed.feed_url)), **changed}


def _cleared(given_for: str, url: str) -> dict[str, str]:
    return {} if given_for == url or may_share(given_for, url) else dict.fromkeys(BOUND_TO_HOST, "")
