"""A WebSub hub on a real loopback socket: it accepts, verifies, denies and pushes, and misbehaves on request.

    with Hub() as hub:
        site.serve("/feed.xml", rss(…, extra=hub.links(topic)))
        ...
        hub.wait_until_verified(topic)
        answers = hub.publish(topic, rss(…))

It runs in its own threads. `hub.behaviour` decides how it responds to the next requests.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html import escape
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode, urlsplit

from support.publisher import Answer, Publisher, ReceivedRequest, Reply

CHALLENGE = "challenge-<script>alert(1)</script>"


@dataclass(frozen=True)
class HubRequest:
    """A request to the hub. form: the fields of its form."""

    form: Mapping[str, str]

    @property
    def mode(self) -> str:
        return self.form["hub.mode"]

    @property
    def topic(self) -> str:
        return self.form["hub.topic"]

    @property
    def callback(self) -> str:
        return self.form["hub.callback"]

    @property
    def secret(self) -> str:
        return self.form.get("hub.secret", "")


@dataclass(frozen=True)
class PushResponse:
    """The response of the subscriber to a push or a verification."""

    status: int
    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Behaviour:
    """status, text: of the response to a request. verification: values that replace those of the verifying query.

    denies: the reason of a denial. verifies: whether the hub verifies requests.
    """

    status: int = 202
    text: str = ""
    verifies: bool = True
    denies: str | None = None
    verification: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


class Hub:
    def __init__(self) -> None:
        self.behaviour = Behaviour()
        self._server = Publisher()
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="hub")
        self._changed = threading.Condition()
        self._requests: list[HubRequest] = []
        self._verifications: list[tuple[HubRequest, PushResponse]] = []

    def __enter__(self) -> Self:
        self._server.start()
        self._server.script("/", self._take)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._threads.shutdown()
        self._server.stop()

    @property
    def url(self) -> str:
        return self._server.url("/")

    def links(self, topic: str) -> str:
        """Return the links by which a feed declares this hub."""
        atom = 'xmlns:atom="http://www.w3.org/2005/Atom"'
        return f'<atom:link {atom} rel="hub" href="{self.url}"/><atom:link {atom} rel="self" href="{escape(topic)}"/>'

    def requests(self, topic: str, mode: str = "subscribe") -> list[HubRequest]:
        with self._changed:
            return [one for one in self._requests if one.topic == topic and one.mode == mode]

    def verifications(self, topic: str, mode: str = "subscribe") -> list[PushResponse]:
        with self._changed:
            return [response for one, response in self._verifications if one.topic == topic and one.mode == mode]

    def wait_until_requested(self, topic: str, mode: str = "subscribe", *, times: int = 1) -> HubRequest:
        """Return the last request."""
        self._wait(lambda: len(self.requests(topic, mode)) >= times, f"no request to {mode} {topic}")
        return self.requests(topic, mode)[-1]

    def wait_until_verified(self, topic: str, mode: str = "subscribe", *, times: int = 1) -> PushResponse:
        """Return the last response to a verification, which may be a refusal."""
        self._wait(lambda: len(self.verifications(topic, mode)) >= times, f"not verified: {mode} {topic}")
        return self.verifications(topic, mode)[-1]

    def publish(self, topic: str, body: bytes | str, *, method: str = "sha256", **headers: str) -> PushResponse:
        """Push a document to the last subscriber of the topic. headers: replace the default ones."""
        request = self.requests(topic)[-1]
        raw = body.encode() if isinstance(body, str) else body
        signature = hmac.new(request.secret.encode(), raw, getattr(hashlib, method)).hexdigest()
        sent = {
            "Content-Type": "application/rss+xml; charset=utf-8",
            "Link": f'<{self.url}>; rel="hub", <{topic}>; rel="self"',
            "X-Hub-Signature": f"{method}={signature}",
        }
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return push(request.callback, raw, {name: value for name, value in sent.items() if value})

    def verify(self, request: HubRequest, **replaced: str) -> PushResponse:
        """Verify a request, and return the response.

        replaced: values for `mode`, `topic`, `challenge`, `lease_seconds` or `reason`; "" leaves one out.
        """
        values = {
            "mode": request.mode,
            "topic": request.topic,
            "challenge": CHALLENGE,
            "lease_seconds": "864000",
        } | replaced
        query = urlencode({f"hub.{name}": value for name, value in values.items() if value})
        response = call(request.callback + "?" + query, "GET")
        with self._changed:
            self._verifications.append((request, response))
            self._changed.notify_all()
        return response

    def _take(self, seen: ReceivedRequest) -> Reply:
        request, behaviour = HubRequest(dict(parse_qsl(seen.body.decode(), keep_blank_values=True))), self.behaviour
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()
        if behaviour.denies is not None:
            self._threads.submit(self.verify, request, mode="denied", reason=behaviour.denies, challenge="")
        elif behaviour.verifies and behaviour.status < 300:
            self._threads.submit(self.verify, request, **behaviour.verification)
        return Answer(
            behaviour.text, status=behaviour.status, headers={"Content-Type": "text/plain", **behaviour.headers}
        )

    def _wait(self, condition: Callable[[], bool], complaint: str, within_s: float = 180) -> None:
        deadline = time.monotonic() + within_s
        with self._changed:
            while not condition():
                assert self._changed.wait(max(0.0, deadline - time.monotonic())), complaint


def call(url: str, method: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> PushResponse:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    try:
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        connection.request(method, path, body=body, headers=dict(headers or {}))
        answer = connection.getresponse()
        return PushResponse(answer.status, answer.read(), {k.lower(): v for k, v in answer.getheaders()})
    finally:
        connection.close()


def push(callback: str, body: bytes, headers: Mapping[str, str]) -> PushResponse:
    return call(callback, "POST", body, headers)


def wait_for(condition: Callable[[], Any], complaint: str, within_s: float = 180) -> Any:
    """Wait until the condition holds, and return its value. Raises AssertionError after `within_s`."""
    deadline = time.monotonic() + within_s
    while not (found := condition()):
        assert time.monotonic() < deadline, complaint
        time.sleep(0.05)
    return found
