"""Newsletters that tests deliver, and how they do it."""

from __future__ import annotations

import json
from typing import Any

from support.people import HttpResponse, Person, call


def message(
    number: int = 1, sender: str = "Tides <post@tides.example>", *headers: str, body: str = "High water."
) -> bytes:
    """Return a message. A header with the name of another one replaces it."""
    named = {
        "From": sender,
        "To": "letters@reader.example",
        "Subject": f"High water {number}",
        "Message-ID": f"<{number}@tides.example>",
        "Date": "Fri, 20 Nov 2026 07:30:00 +0000",
        "Content-Type": "text/html; charset=utf-8",
    } | dict(header.split(": ", 1) for header in headers)
    return "\r\n".join([*(f"{name}: {value}" for name, value in named.items() if value), "", body]).encode()


def deliver(person: Person, path: str, raw: bytes) -> HttpResponse:
    """Deliver a message as a mail server's pipe does, without credentials."""
    return call(person.service.url, "POST", path, raw)


def delivered(person: Person, path: str, raw: bytes) -> dict[str, Any]:
    """Deliver a message that is accepted, and return the answer."""
    answer = deliver(person, path, raw)
    assert answer.status == 200, answer.body
    found: dict[str, Any] = json.loads(answer.body)
    return found


def has_address(person: Person, name: str = "Letters", **more: object) -> str:
    """Make an address, and return its path."""
    return str(person.post("/v1/newsletters", {"name": name, **more})["post_path"])


def senders(person: Person) -> dict[str, dict[str, Any]]:
    """Return the senders by name."""
    return {one["name"]: one for one in person.get("/v1/newsletters/senders")}
