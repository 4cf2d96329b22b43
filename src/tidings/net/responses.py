"""Reading an answer: its headers, whether it is news at all, and what a refusal means to a person."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime

import aiohttp

from tidings.domain.errors import FeedGone, HttpError
from tidings.domain.messages import Message, msg
from tidings.domain.polling import cache_headers
from tidings.domain.times import from_datetime
from tidings.net.requests import FetchRequest, clean
from tidings.net.targets import Target

# A body nobody needs is read to its end when it is this small: then the connection can serve again.
_SMALL = 16 * 1024
_SMALL_WAIT_S = 0.5

_STATUS_MESSAGES: dict[int, Message] = {
    401: msg("{host} asks for a user name and password, or does not accept the ones it was given. Check them."),
    403: msg(
        "{host} does not hand this out to us (403). Perhaps it keeps feed readers away; another user "
        "agent or a cookie may help."
    ),
    404: msg("{host} has nothing at this address (404). Check the address, or look for a new one on the site."),
    410: msg("{host} has taken this away for good (410). Look for a new address on the site."),
    429: msg("{host} finds that we ask too often (429). Wait before you try again."),
    500: msg("{host} has a fault (500). It is for the publisher to mend; try again later."),
    502: msg("{host} has a fault behind its front door (502). It is for the publisher to mend; try again later."),
    503: msg("{host} is out of service at the moment (503). Try again later."),
    504: msg("{host} waits in vain for a machine behind it (504). Try again later."),
}
_CHALLENGE = msg(
    "{host} wants to see a human first and does not let feed readers in. Ask the publisher to exempt "
    "the feed, or give the feed a cookie from your browser."
)


def is_known(request: FetchRequest, status: int, etag: str, last_modified: str) -> bool:
    """Whether the publisher, by whatever words, sends what we have already.

    Some answer 200 with the old ETag and the whole body.
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
    status = response.status
    message = _STATUS_MESSAGES.get(status, msg("{host} answers with status {status} instead of a document."))
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
            cache_control=joined(response, "Cache-Control"),
            expires=header(response, "Expires"),
            age=header(response, "Age"),
            date=header(response, "Date"),
            now=now,
        ),
    )


async def read_small_rest(response: aiohttp.ClientResponse) -> None:
    left = _SMALL
    with suppress(TimeoutError, aiohttp.ClientError, OSError):
        async with asyncio.timeout(_SMALL_WAIT_S):
            async for chunk in response.content.iter_any():
                left -= len(chunk)
                if left < 0:
                    return


def header(response: aiohttp.ClientResponse, name: str) -> str:
    return clean(response.headers.get(name, ""))


def joined(response: aiohttp.ClientResponse, name: str) -> str:
    """A list may come in one header or in several."""
    return clean(", ".join(response.headers.getall(name, [])))
