"""A browser without script: it keeps cookies, remembers the page it is on, and sends that page's forms."""

from __future__ import annotations

import html
import ipaddress
import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from support.people import HttpResponse, Person, call
from support.running import RunningService
from tidings.domain.accounts.events import Method, Origin
from tidings.web.cookies import SESSION
from tidings.web.security import csrf_token

FORM = "application/x-www-form-urlencoded"
# Addresses of the network for benchmarks (RFC 2544), which no other client or publisher uses.
_addresses = map(str, map(ipaddress.IPv4Address("198.18.0.0").__add__, itertools.count(1)))
_TOKEN = re.compile(r'name="csrf" value="([^"]+)"')


@dataclass
class Visitor:
    """base_path: the path of the service. person: the user who signs in.

    address: a client address of its own in X-Forwarded-For, so that wrong passwords of other visitors do not slow down
    its sign-in.
    """

    service: RunningService
    person: Person | None = None
    base_path: str = ""
    cookies: dict[str, str] = field(default_factory=dict)
    token: str = ""
    address: str = field(default_factory=lambda: next(_addresses))

    def sign_in(self, next_path: str = "", password: str = "") -> HttpResponse:
        """Sign in with the form, and return the response without following its redirect."""
        assert self.person
        self.get("/sign-in")
        answer = self.post(
            "/sign-in", username=self.person.user.username, password=password or self.person.password, next=next_path
        )
        if answer.status == 303:
            self.get("/view")
        return answer

    def begin_session(self) -> Visitor:
        """Get the cookie and the token that signing in gives, without its three pages. Returns this browser."""
        assert self.person
        session = self.service.services.accounts.sessions.begin(
            self.person.user, Origin(self.address, "tests", Method.PASSWORD)
        )
        self.cookies[SESSION] = session
        self.token = csrf_token(session)
        return self

    def get(self, path: str, *, method: str = "GET", headers: Mapping[str, str] | None = None) -> HttpResponse:
        answer = call(self.service.url, method, self.base_path + path, headers=self._headers(headers))
        return self._seen(answer)

    def page(self, path: str) -> str:
        """Return the text of a page. Raises AssertionError unless the status is 200."""
        answer = self.get(path)
        assert answer.status == 200, f"{path}: {answer.status} {answer.headers.get('location', '')}"
        return answer.body.decode()

    def post(
        self,
        path: str,
        fields: Mapping[str, Any] | None = None,
        /,
        *,
        headers: Mapping[str, str] | None = None,
        csrf: str | None = None,
        **more: Any,
    ) -> HttpResponse:
        """fields, more: fields of the form. csrf: a token to send instead of that of the last page; "" for none."""
        token = self.token if csrf is None else csrf
        given = {**({"csrf": token} if token else {}), **(fields or {}), **more}
        sent = {"Content-Type": FORM, **self._headers(headers)}
        return self._seen(
            call(self.service.url, "POST", self.base_path + path, urlencode(given, doseq=True).encode(), sent)
        )

    def follow(self, answer: HttpResponse) -> str:
        assert answer.status == 303, answer.status
        location = answer.headers["location"]
        assert location.startswith(f"{self.base_path}/")
        return self.page(location.removeprefix(self.base_path))

    def _headers(self, more: Mapping[str, str] | None) -> dict[str, str]:
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return {"X-Forwarded-For": self.address, **({"Cookie": cookies} if cookies else {}), **(more or {})}

    def _seen(self, answer: HttpResponse) -> HttpResponse:
        for line in answer.cookies:
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value
            if "Max-Age=0" in line:
                del self.cookies[name]
        if answer.headers.get("content-type", "").startswith("text/html"):
            match = _TOKEN.search(answer.body.decode())
            self.token = html.unescape(match[1]) if match else self.token
        return answer
