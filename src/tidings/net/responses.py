"""Reads responses: headers, whether the document has changed, and error messages by status."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime

import aiohttp

from tidings.base.messages import Message, msg
from tidings.base.times import from_datetime
from tidings.net import cache_headers
from tidings.net.errors import FeedGone, HttpError
from tidings.net.requests import FetchRequest, clean
from tidings.net.targets import Target

# Bytes and seconds. A smaller unneeded body is read to its end, so that the connection can be reused.
_MAX_DRAINED = 16 * 1024
_MAX_DRAIN_S = 0.5

_STATUS_MESSAGES: dict[int, Message] = {
    401: msg("{host} asks for a username and password, or does not accept the ones it was given. Check them."),
    403: msg("{host} denies access (403). It may block feed readers; another user agent or a cookie may help."),
    404: msg("{host} has nothing at this address (404). Check the address, or look for a new one on the site."),
    410: msg("{host} has removed this permanently (410). Look for a new address on the site."),
    429: msg("{host} limits the number of requests (429). Wait before you try again."),
    500: msg("{host} has an internal error (500). The publisher has to fix this; try again later."),
    502: msg(
        "{host} gets no valid response from a server behind it (502). The publisher has to fix this; try again later."
    ),
    503: msg("{host} is not available at the moment (503). Try again later."),
    504: msg("{host} gets no response in time from a server behind it (504). Try again later."),
}
_CHALLENGE = msg(
    "{host} checks that visitors are human, and blocks feed readers. Ask the publisher to exempt the feed, or "
    "give the feed a cookie from your browser."
)


def is_unchanged(request: FetchRequest, status: int, etag: str, last_modified: str) -> bool:
    """Return whether the document is unchanged.

    Some servers respond with 200 and the whole body although the ETag is the one in the request.
    """
    if request.ignore_cache:
        return False
    if status == 304:
        return bool(request.etag or request.last_modified)
    if status != 200:
        return False
    if etag:
        return etag == request.etag
    return bool(last_modified) and last_modified == request.last_modified


def http_error(target: Target, response: aiohttp.ClientResponse) -> HttpError:
    """Return the error for a response with a status of 400 or above."""
    status = response.status
    message = _STATUS_MESSAGES.get(status, msg("{host} responds with status {status} instead of a document."))
    if status == 403 and header(response, "cf-mitigated").strip().lower() == "challenge":
        message = _CHALLENGE
    kind = FeedGone if status == 410 else HttpError
    now = from_datetime(datetime.now(UTC))
    return kind(
        message.with_values(host=target.host, status=status),
        url=str(target),
        status=status,
        retry_after_s=cache_headers.retry_after_s(header(response, "Retry-After"), now),
        fresh_s=cache_headers.freshness_s(
            cache_control=joined_header(response, "Cache-Control"),
            expires=header(response, "Expires"),
            age=header(response, "Age"),
            date=header(response, "Date"),
            now=now,
        ),
    )


async def drain(response: aiohttp.ClientResponse) -> None:
    """Read the rest of a small body, so that the connection can be reused. Ignores errors."""
    left = _MAX_DRAINED
    with suppress(TimeoutError, aiohttp.ClientError, OSError):
        async with asyncio.timeout(_MAX_DRAIN_S):
            async for chunk in response.content.iter_any():
                left -= len(chunk)
                if left < 0:
                    return


def header(response: aiohttp.ClientResponse, name: str) -> str:
    """Return the first header of this name; "" if there is none."""
    return clean(response.headers.get(name, ""))


def joined_header(response: aiohttp.ClientResponse, name: str) -> str:
    """Return all headers of this name as one list with commas; "" if there are none."""
    return clean(", ".join(response.headers.getall(name, [])))
