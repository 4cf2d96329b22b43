"""Requests as leaves make them, and what the answers say."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec

from tidings.domain.events import EntryTold, Event
from tidings.domain.integrations.leaf import Answer, Outgoing, Refused, accepted

JSON = {"Content-Type": "application/json", "Accept": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}


class Unsendable(Refused):
    """Whatever the service says, this event is nothing for it."""

    code = "unsendable"
    worth_retrying = False


def link(event: Event) -> EntryTold:
    """The entry of save_entry, for a service that keeps addresses. Unsendable when the entry has none."""
    entry = event.entry
    if not entry.url:
        raise Unsendable("This entry has no address that could be saved.")
    return entry if entry.title else msgspec.structs.replace(entry, title=entry.url)


def post_json(url: str, value: Any, headers: Mapping[str, str], *, method: str = "POST") -> Outgoing:
    return Outgoing(method, url, {**JSON, **headers}, msgspec.json.encode(value))


def post_form(url: str, fields: Mapping[str, str], headers: Mapping[str, str]) -> Outgoing:
    return Outgoing("POST", url, {**FORM, **headers}, urlencode(fields).encode())


def below(address: str, path: str) -> str:
    """path: begins with a slash; the address may have a path of its own."""
    return address.rstrip("/") + path


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def basic(username: str, password: str) -> dict[str, str]:
    """Source: RFC 7617."""
    return {"Authorization": "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()}


def labels(tags: str) -> list[str]:
    """Those that a user typed, with commas between them; each once."""
    return list(dict.fromkeys(stripped for tag in tags.split(",") if (stripped := tag.strip())))


def given(**members: Any) -> dict[str, Any]:
    """Those that are not empty: many services take an empty one for a wish."""
    return {name: value for name, value in members.items() if value not in ("", [], None)}


def taken(answer: Answer, title: str, *also: int) -> None:
    """Refused unless the status is a success, or one of those that mean the same here."""
    if answer.status in also:
        return
    accepted(answer, title)
    if answer.status >= 300:
        raise Refused(f"{title} sends us elsewhere ({answer.status}). Set the address that it sends to.")


def member(answer: Answer, title: str, *names: str) -> str:
    """A text within the JSON object of an answer, by the first of the dotted names under which there is one."""
    taken(answer, title)
    value = _json(answer)
    for found in (_at(value, name.split(".")) for name in names):
        if isinstance(found, str) and found:
            return found
    raise Refused(f"{title} answers in a way that we do not understand. Check the address, and that it is up to date.")


def complaint(answer: Answer, *names: str) -> str:
    """As `member`, of a service that reports failures within a success; "" when it has nothing to say."""
    value = _json(answer)
    found = next((one for name in names if (one := _at(value, name.split(".")))), "")
    return (", ".join(map(str, found)) if isinstance(found, list) else str(found))[:200]


def _json(answer: Answer) -> Any:
    try:
        return msgspec.json.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _at(value: Any, path: Iterable[str]) -> Any:
    for name in path:
        if isinstance(value, list) and value:
            value = value[0]
        value = value.get(name) if isinstance(value, dict) else None
    return value
