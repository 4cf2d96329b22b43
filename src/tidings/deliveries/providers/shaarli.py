"""Shaarli keeps and shares links.

API: https://shaarli.github.io/api-documentation/ and https://shaarli.readthedocs.io/en/master/REST-API.html
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Annotated

import msgspec

from tidings.base.times import SECOND
from tidings.deliveries.events import SAVE_ENTRY, Event
from tidings.deliveries.provider import RequestSequence, ServiceSettings, address, flag, secret, tags
from tidings.deliveries.requests import all_tags, bearer_auth, entry_with_url, expect_success, join_path, post_json

NAME = "shaarli"
TITLE = "Shaarli"
EVENTS = frozenset({SAVE_ENTRY})

CONFLICT = 409


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Your Shaarli server, such as https://shaarli.example.org.")] = ""
    api_secret: Annotated[str, secret("REST API secret", "In Shaarli: Tools, Configure your Shaarli.")] = ""
    tags: Annotated[str, tags()] = ""
    private: Annotated[bool, flag("Visible only to you")] = True


def deliver(settings: Settings, event: Event) -> RequestSequence:
    entry = entry_with_url(event)
    saved = {
        "url": entry.url,
        "title": entry.title,
        "tags": [tag.replace(" ", "-") for tag in all_tags(settings.tags, entry)],  # its tags must not contain spaces
        "private": settings.private,
    }
    token = _token(settings.api_secret, event.at // SECOND)
    response = yield post_json(join_path(settings.url, "/api/v1/links"), saved, bearer_auth(token))
    expect_success(response, TITLE, CONFLICT)  # the link exists already


def _token(key: str, at_s: int) -> str:
    """Return a JSON web token, valid for nine minutes before and after. at_s: seconds since 1970."""
    head, body = (_encoded(msgspec.json.encode(part)) for part in ({"typ": "JWT", "alg": "HS512"}, {"iat": at_s}))
    signature = hmac.new(key.encode(), f"{head}.{body}".encode(), hashlib.sha512).digest()
    return f"{head}.{body}.{_encoded(signature)}"


def _encoded(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()
