"""Client apps as tables: what they ask for, in their order, and what they insist on.

    play(APP, alice, library, [
        Ask("GET", "/v1/me", USER),
        Ask("PUT", "/v1/entries", status=204, body={"entry_ids": ["{entry}"], "status": "read"}),
    ])

An Ask without a shape wants an empty body: a client that sees one after a write takes it for an error, or stumbles.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from clients.library import Library
from clients.shapes import JsonShape, misfits
from support.people import HttpResponse, Person, call

Query = Sequence[tuple[str, str]]
Credentials = Callable[[Person], Mapping[str, str]]


def by_token(person: Person) -> dict[str, str]:
    return {"X-Auth-Token": person.token}


def by_password(person: Person) -> dict[str, str]:
    pair = base64.b64encode(f"{person.user.username}:{person.password}".encode()).decode()
    return {"Authorization": f"Basic {pair}"}


def by(**headers: str) -> Credentials:
    """The same for everybody: credentials that are wrong."""
    return lambda _: {name.replace("_", "-"): value for name, value in headers.items()}


@dataclass(frozen=True)
class App:
    """content_type: of its JSON bodies. origin: the page that a browser app was loaded from."""

    credentials: Credentials = by_token
    content_type: str = "application/json"
    origin: str = ""
    headers: Mapping[str, str] = field(default_factory=lambda: {"Accept": "*/*", "Accept-Encoding": "gzip"})


@dataclass(frozen=True)
class Ask:
    """path: may contain {names} of fields of `Library`. body: sent as JSON; bytes as they are, under content_type.

    A text "{name}" in the body stands for the id in that field of `Library`.
    """

    method: str
    path: str
    shape: JsonShape | None = None
    status: int | None = None
    query: Query = ()
    body: Any = None
    content_type: str = ""

    @property
    def expected(self) -> int:
        return self.status or (200 if self.shape else 204)


def play(app: App, person: Person, library: Library, asks: Iterable[Ask]) -> None:
    """All of them, one after the other; fails once, with everything that did not fit."""
    complaints = list(_complaints(app, person, library, asks))
    assert not complaints, "\n".join(complaints)


def ask(app: App, person: Person, method: str, path: str, query: Query = (), body: Any = None) -> HttpResponse:
    """A single request, for what depends on earlier answers."""
    return _send(app, person, method, path + (f"?{urlencode(query)}" if query else ""), body, app.content_type)


def fetch(app: App, person: Person, path: str, query: Query = ()) -> Any:
    answer = ask(app, person, "GET", path, query)
    assert answer.status == 200, answer.body
    return read(answer)


def read(answer: HttpResponse) -> Any:
    return json.loads(plain(answer))


def plain(answer: HttpResponse) -> bytes:
    return gzip.decompress(answer.body) if answer.headers.get("content-encoding") == "gzip" else answer.body


def _complaints(app: App, person: Person, library: Library, asks: Iterable[Ask]) -> Iterator[str]:
    for one in asks:
        path = one.path.format_map(vars(library)) + (f"?{urlencode(one.query)}" if one.query else "")
        answer = _send(
            app, person, one.method, path, _with_ids(one.body, library), one.content_type or app.content_type
        )
        for complaint in _look(one, answer):
            yield f"{one.method} {path} {complaint}"


def _with_ids(body: Any, library: Library) -> Any:
    if isinstance(body, dict):
        return {name: _with_ids(value, library) for name, value in body.items()}
    if isinstance(body, list):
        return [_with_ids(value, library) for value in body]
    if isinstance(body, str) and (match := re.fullmatch(r"\{(\w+)\}", body)):
        return getattr(library, match[1])
    return body


def _look(one: Ask, answer: HttpResponse) -> Iterator[str]:
    if answer.status != one.expected:
        yield f"answers {answer.status} instead of {one.expected}: {plain(answer)[:200]!r}"
    elif one.shape is None:
        if answer.body:
            yield f"answers with a body: {answer.body[:80]!r}"
    elif not answer.headers.get("content-type", "").startswith("application/json"):
        yield f"answers with {answer.headers.get('content-type')} instead of JSON"
    else:
        yield from misfits(read(answer), one.shape)


def _send(app: App, person: Person, method: str, path: str, content: Any, content_type: str) -> HttpResponse:
    body = content if isinstance(content, bytes) or content is None else json.dumps(content).encode()
    headers = {**app.headers, **app.credentials(person)}
    if body is not None and content_type:
        headers["Content-Type"] = content_type
    if not app.origin:
        return call(person.service.url, method, path, body, headers)
    return _send_from_browser(app, person, method, path, body, headers)


def _send_from_browser(
    app: App, person: Person, method: str, path: str, body: bytes | None, headers: dict[str, str]
) -> HttpResponse:
    """As a browser does: it asks for permission first, without credentials, and keeps answers from the page."""
    unusual = sorted(name.lower() for name in headers if name not in ("Accept", "Accept-Encoding"))
    preflight = {
        "Origin": app.origin,
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": ",".join(unusual),
    }
    permission = call(person.service.url, "OPTIONS", path, None, preflight)
    assert 200 <= permission.status < 300, f"preflight for {method} {path}: {permission.status}"
    assert _is_shared(permission, app.origin), f"preflight for {method} {path}: not for {app.origin}"
    assert method in _words(permission, "access-control-allow-methods"), f"preflight: {method} is not allowed"
    refused = set(unusual) - {name.lower() for name in _words(permission, "access-control-allow-headers")}
    assert not refused, f"preflight for {method} {path}: {refused} are not allowed"

    answer = call(person.service.url, method, path, body, {**headers, "Origin": app.origin})
    assert _is_shared(answer, app.origin), f"{method} {path}: the page may not read the answer"
    return answer


def _is_shared(answer: HttpResponse, origin: str) -> bool:
    return answer.headers.get("access-control-allow-origin") in ("*", origin)


def _words(answer: HttpResponse, header: str) -> list[str]:
    return [word.strip() for word in answer.headers.get(header, "").split(",")]
