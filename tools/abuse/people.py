"""Users of the service: by the API with their password, and by the pages with a session."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from abuse import client, pages
from abuse.client import Answer
from abuse.service import ADMIN, PASSWORD, Service


@dataclass
class Person:
    """cookies: those of the browser session, by name."""

    service: Service
    name: str
    password: str
    id: int = 0
    cookies: dict[str, str] = field(default_factory=dict)

    @property
    def basic(self) -> dict[str, str]:
        return client.basic(self.name, self.password)

    def api(self, method: str, path: str, body: Any = None, timeout_s: float = 60) -> Answer:
        """body: sent as JSON; bytes are sent as they are."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        headers = {**self.basic, "Content-Type": "application/json"}
        return client.request(self.service, method, path, headers=headers, body=data, timeout_s=timeout_s)

    def made(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of the answer; RuntimeError when it is not a success."""
        answer = self.api(method, path, body)
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.text[:300]}")
        return answer.json() if answer.body else None

    def get(self, path: str, headers: dict[str, str] | None = None) -> Answer:
        """A page, with the session."""
        return self._visit("GET", path, headers or {}, None)

    def post(
        self, path: str, body: bytes, media_type: str = pages.URLENCODED, headers: dict[str, str] | None = None
    ) -> Answer:
        """A form, with the session."""
        return self._visit("POST", path, {"Content-Type": media_type, **(headers or {})}, body)

    def submit(self, form: pages.Form, **values: str) -> Answer:
        return self.post(form.action, urlencode({**form.values, **values}).encode())

    def sign_in(self, headers: dict[str, str] | None = None) -> Answer:
        """Keeps the session. RuntimeError when it is refused."""
        form = pages.forms(self.get("/sign-in").text)[0]
        body = urlencode({**form.values, "username": self.name, "password": self.password}).encode()
        answer = self.post(form.action, body, headers=headers)
        if answer.status >= 400:
            raise RuntimeError(f"sign-in of {self.name}: {answer.status} {answer.text[:300]}")
        return answer

    @property
    def cookie_header(self) -> dict[str, str]:
        return {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}

    def _visit(self, method: str, path: str, headers: dict[str, str], body: bytes | None) -> Answer:
        own = self.cookie_header if self.cookies else {}
        answer = client.request(self.service, method, path, headers={**own, **headers}, body=body)
        for name, value in answer.headers:
            if name.lower() == "set-cookie":
                key, _, content = value.partition(";")[0].partition("=")
                self.cookies[key] = content
        return answer


def administrator(service: Service) -> Person:
    return Person(service, ADMIN, PASSWORD, 1)


def person(service: Service, name: str = "", *, is_admin: bool = False) -> Person:
    """A new user. name: made up when it is not given."""
    made = Person(service, name or f"u{secrets.token_hex(5)}", f"pw-{secrets.token_hex(8)}")
    wish = {"username": made.name, "password": made.password, "is_admin": is_admin}
    made.id = administrator(service).made("POST", "/v1/users", wish)["id"]
    return made
