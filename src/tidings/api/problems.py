"""Errors as problem details (RFC 9457), for clients whose Accept header asks for them.

The default is the body of the contract, with its one member.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from tidings.http.responses import JSON, weights_of

PROBLEM_JSON: Final = "application/problem+json"

# What each code means, in general. The reference at /docs/api lists them, and `type` of a problem leads there.
TITLES: Final = {
    "invalid-input": "A value is invalid",
    "category-exists": "There is a category with this title",
    "feed-exists": "The feed is subscribed to",
    "already-subscribed": "The address leads to another feed of the user",
    "no-integration": "No service to save entries to is switched on",
    "account-full": "The account has reached one of its limits",
    "invalid-rule": "A rule cannot be read",
    "invalid-query": "A query cannot be read",
    "not-a-feed": "The document is not a feed",
    "feed-unreadable": "The document is too damaged to be read",
    "no-items": "The selectors of a feed made from a page find nothing",
    "page-unreadable": "The page cannot be read by the selectors of its feed",
    "feed-error": "The document cannot be used as a feed",
    "request-too-large": "The request is too large",
    "request-too-slow": "The request arrived too slowly",
    "upload-too-large": "The file is too large",
    "unpacked-too-large": "The unpacked body is too large",
    "unsupported-coding": "The Content-Encoding is not accepted",
    "unauthorized": "The credentials are missing or wrong",
    "unknown-key": "The API key is not known",
    "expired-key": "The API key has expired",
    "forbidden": "The user may not do this",
    "scope-missing": "The API key has not the scope that this needs",
    "not-found": "This does not exist",
    "method-not-allowed": "The address does not take this method",
    "cursor-expired": "What has changed since the cursor is not known any more",
    "import-running": "Another import of the user is running",
    "sign-in-throttled": "There were too many wrong passwords",
    "too-many-requests": "The API key has made too many requests",
    "too-many-streams": "The user has too many streams of events",
    "unreachable": "The other site cannot be reached",
    "network-error": "The connection to the other site failed",
    "connect-timeout": "The other site did not accept the connection in time",
    "fetch-timeout": "The other site did not respond in time",
    "tls-error": "The certificate of the other site is not trusted",
    "address-refused": "The address may not be fetched",
    "http-error": "The other site returned an error",
    "feed-gone": "The feed does not exist any more",
    "host-closed": "The other site asked for a pause",
    "too-many-redirects": "The other site redirects too often",
    "body-too-large": "The document is too large",
    "empty-body": "The document is empty",
    "undecodable-body": "The document cannot be decompressed",
    "not-a-page": "The document is not a web page",
    "page-too-demanding": "The article takes too long to extract",
    "fetch-failed": "The document could not be fetched",
    "refresh-failed": "The feed could not be checked",
    "internal-error": "The service has a defect",
    "store-unavailable": "The database does not respond",
    "local-shortage": "The server is short of files, memory or threads",
    "overloaded": "The server has too many requests",
    "insufficient-storage": "The disk of the server is full",
}


class Problem(Struct, frozen=True, omit_defaults=True):
    """An error, for clients whose Accept header has application/problem+json (RFC 9457).

    type: where the code is described, below the address of the service. title: what the code means. detail: what
    happened here and what to do, the same text as error_message. code: the same as in X-Error-Code. field: the member
    or parameter that is wrong; left out if it is none.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
    field: str = ""


def title_of(code: str) -> str:
    """Return what a code means; the code in words where nothing else is known."""
    return TITLES.get(code) or code.replace("-", " ").capitalize()


def problem_type(code: str, base_path: str) -> str:
    """Return the address that identifies a code: its line in the reference of the service."""
    return f"{base_path}/docs/api#error-{code}"


def wants_problem(accept: str) -> bool:
    """Return whether an Accept header asks for problem details (RFC 9110, section 12.5.1): by name, not by a wildcard.

    A client that names JSON as well gets the one that it prefers, and problem details if it likes them equally.
    """
    if "problem+json" not in accept.lower():
        return False
    weights = weights_of(accept)
    weight = weights.get(PROBLEM_JSON, 0.0)
    return weight > 0 and weight >= weights.get(JSON, 0.0)
