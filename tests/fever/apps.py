"""An app of the Fever API: it has the URL and a key, and sends queries and marks where its kind sends them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from support.people import HttpResponse, Person, call

FORM = "application/x-www-form-urlencoded"
ADDRESSES = ("/fever/", "/fever", "/api/fever.php", "/api/fever.php/")
UNKNOWN_KEY = "0" * 32


def key_of(username: str, password: str) -> str:
    """Return the key as clients compute it: the MD5 hash of name and password, separated by a colon."""
    return hashlib.md5(f"{username}:{password}".encode(), usedforsecurity=False).hexdigest()


@dataclass
class FeverApp:
    """address: of the API, below the base. marks_in: where the fields of marks are sent, "form" or "query".

    forwarded: the address of the client as a proxy sends it. An own one is not slowed down by failures of other tests.
    """

    person: Person
    key: str
    address: str = "/fever/"
    marks_in: str = "form"
    forwarded: str = "198.18.9.1"

    def call(
        self, query: str = "", fields: Mapping[str, Any] | None = None, *, method: str = "POST", key_in: str = "form"
    ) -> HttpResponse:
        """query: what follows `?api`, such as "&items&since_id=5"."""
        form = {"api_key": self.key} if key_in == "form" else {}
        more = f"&api_key={self.key}" if key_in == "query" else ""
        path = f"{self.address}?api{query}{more}"
        body = None if method in ("GET", "HEAD") else urlencode({**form, **(fields or {})}).encode()
        headers = {"X-Forwarded-For": self.forwarded, **({"Content-Type": FORM} if body is not None else {})}
        return call(self.person.service.url, method, path, body, headers)

    def get(self, query: str = "", **more: Any) -> dict[str, Any]:
        """The response to queries, which has to be that of a known key."""
        answer = self.call(query, **more)
        assert answer.status == 200, answer
        assert answer.headers["content-type"] == "application/json"
        found: dict[str, Any] = answer.json()
        assert found["auth"] == 1, found
        return found

    def mark(self, **fields: Any) -> dict[str, Any]:
        if self.marks_in == "form":
            return self.get(fields=fields)
        return self.get(
            f"&{urlencode(fields)}",
            method="GET" if self.marks_in == "get" else "POST",
            key_in="query" if self.marks_in == "get" else "form",
        )

    def items(self, query: str = "") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get(f"&items{query}")["items"]
        return found

    def unread(self) -> list[int]:
        return ids(self.get("&unread_item_ids")["unread_item_ids"])

    def saved(self) -> list[int]:
        return ids(self.get("&saved_item_ids")["saved_item_ids"])


def ids(text: Any) -> list[int]:
    assert isinstance(text, str)
    return [int(one) for one in text.split(",")] if text else []


def sign_in(person: Person, name: str = "app", **more: Any) -> FeverApp:
    """An app with an API password of its own."""
    password = person.post("/v1/api-passwords", {"name": name})["password"]
    return FeverApp(person, key_of(person.user.username, password), **more)
