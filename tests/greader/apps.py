"""A client of the Google Reader API: it signs in, keeps its token, and sends the requests of the protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from support.people import HttpResponse, Person, call

FORM = "application/x-www-form-urlencoded"
READING_LIST = "user/-/state/com.google/reading-list"
READ = "user/-/state/com.google/read"
STARRED = "user/-/state/com.google/starred"
KEPT_UNREAD = "user/-/state/com.google/kept-unread"
ITEM = "tag:google.com,2005:reader/item/"
# Where the API is: as of Miniflux, and as of FreshRSS.
MOUNTS = ("", "/api/greader.php")

Pairs = Sequence[tuple[str, Any]] | Mapping[str, Any]


def label(name: str) -> str:
    return f"user/-/label/{name}"


def long_id(entry_id: int) -> str:
    return f"{ITEM}{entry_id:016x}"


def with_password(person: Person, mount: str = "") -> App:
    """Return an app that is signed in with an API password of its own."""
    password = person.post("/v1/api-passwords", {"name": "app"})["password"]
    return App(person, mount).sign_in(password)


@dataclass
class App:
    """person: whose account. mount: below which the API is. token: of the login, "" before it."""

    person: Person
    mount: str = ""
    token: str = ""

    def sign_in(self, password: str = "") -> App:
        answer = self.login(Email=self.person.user.username, Passwd=password or self.person.password)
        assert answer.status == 200, answer
        values = dict(line.split("=", 1) for line in answer.body.decode().splitlines())
        self.token = values["Auth"]
        return self

    def login(self, **fields: str) -> HttpResponse:
        body = urlencode(fields).encode()
        path = f"{self.mount}/accounts/ClientLogin"
        return call(self.person.service.url, "POST", path, body, {"Content-Type": FORM})

    def call(
        self,
        method: str,
        path: str,
        fields: Pairs = (),
        *,
        query: Pairs = (),
        raw: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> HttpResponse:
        """Send a request. path: below reader/api/0/. fields: of a form. query: of the URL. raw: another body."""
        sent = {"Authorization": f"GoogleLogin auth={self.token}"} if self.token else {}
        address = f"{self.mount}/reader/api/0/{path}" + (f"?{urlencode(query, doseq=True)}" if query else "")
        if method == "GET":
            return call(self.person.service.url, "GET", address, headers={**sent, **(headers or {})})
        body = urlencode(fields, doseq=True).encode()
        sent["Content-Type"] = "text/xml" if raw is not None else FORM
        given = body if raw is None else raw
        return call(self.person.service.url, method, address, given, {**sent, **(headers or {})})

    def get(self, path: str, query: Pairs = ()) -> Any:
        answer = self.call("GET", path, query={"output": "json", **query} if isinstance(query, Mapping) else query)
        assert answer.status == 200, (path, answer)
        assert answer.headers["content-type"] == "application/json"
        return answer.json()

    def post(self, path: str, fields: Pairs = (), **more: Any) -> str:
        """Send a change. Returns the text of the response."""
        answer = self.call("POST", path, fields, **more)
        assert answer.status == 200, (path, answer)
        return answer.body.decode()

    def items(self, stream: str = "", **query: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get("stream/contents", {"s": stream, **query})["items"]
        return found

    def ids(self, stream: str = READING_LIST, **query: Any) -> list[int]:
        """Return the ids of all pages."""
        found: list[int] = []
        continuation = ""
        while True:
            answer = self.get("stream/items/ids", {"s": stream, **query, "c": continuation})
            found += [int(one["id"]) for one in answer["itemRefs"]]
            continuation = answer.get("continuation", "")
            if not continuation:
                return found

    def contents(self, ids: Iterable[int], **query: Any) -> list[dict[str, Any]]:
        pairs = [("i", long_id(number)) for number in ids]
        answer = self.call("POST", "stream/items/contents", pairs, query=query)
        assert answer.status == 200, answer
        found: list[dict[str, Any]] = answer.json()["items"]
        return found
