"""Helpers for providers: build requests and read responses."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec

from tidings.base.messages import Message, msg
from tidings.deliveries.events import EntryPayload, Event, FailureKind
from tidings.deliveries.provider import DeliveryRefused, raise_for_status
from tidings.net.post import ServiceRequest, ServiceResponse

JSON = {"Content-Type": "application/json", "Accept": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}


class Undeliverable(DeliveryRefused):
    """The service can never take this event: it is not retried."""

    code = "unsendable"
    is_retryable = False

    def __init__(self, message: Message) -> None:
        super().__init__(message, kind=FailureKind.REFUSED)


def entry_with_url(event: Event) -> EntryPayload:
    """Return the entry of a save_entry event, with a title. Raises Undeliverable for an entry without URL."""
    entry = event.saved_entry
    if not entry.url:
        raise Undeliverable(msg("This entry has no address that could be saved."))
    return entry if entry.title else msgspec.structs.replace(entry, title=entry.url)


def post_json(url: str, value: Any, headers: Mapping[str, str], *, method: str = "POST") -> ServiceRequest:
    return ServiceRequest(method, url, {**JSON, **headers}, msgspec.json.encode(value))


def post_form(url: str, fields: Mapping[str, str], headers: Mapping[str, str]) -> ServiceRequest:
    return ServiceRequest("POST", url, {**FORM, **headers}, urlencode(fields).encode())


def join_path(url: str, path: str) -> str:
    """Return the URL with the path appended. path: begins with a slash; the URL may have a path of its own."""
    return url.rstrip("/") + path


def bearer_auth(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def basic_auth(username: str, password: str) -> dict[str, str]:
    """Return the header of basic authentication. Source: RFC 7617."""
    return {"Authorization": "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()}


def split_tags(tags: str) -> list[str]:
    """Return the tags of a text in which commas separate them, each once."""
    return list(dict.fromkeys(stripped for tag in tags.split(",") if (stripped := tag.strip())))


def all_tags(tags: str, entry: EntryPayload) -> list[str]:
    """Return the tags of a text, as `split_tags`, and the labels of the entry.

    Labels have no commas, since some services separate their tags by them.
    """
    names = (" ".join(label.replace(",", " ").split()) for label in entry.labels)
    return list(dict.fromkeys([*split_tags(tags), *(name for name in names if name)]))


def without_empty(**members: Any) -> dict[str, Any]:
    """Return the members that are not empty: many services read an empty one as a request to clear the value."""
    return {name: value for name, value in members.items() if value not in ("", [], None)}


def expect_success(response: ServiceResponse, title: str | Message, *also: int) -> None:
    """Raise DeliveryRefused unless the status is a success. also: other statuses that mean success here."""
    if response.status in also:
        return
    raise_for_status(response, title)
    if response.status >= 300:
        raise DeliveryRefused(
            msg(
                "{title} responds with status {status}.",
                title=title,
                status=response.status,
            )
        )


def required_text(response: ServiceResponse, title: str, *names: str) -> str:
    """Return a text from the JSON object of a response: the text of the first dotted name that has one.

    Raises DeliveryRefused if all are missing.
    """
    expect_success(response, title)
    value = _json(response)
    for found in (_at(value, name.split(".")) for name in names):
        if isinstance(found, str) and found:
            return found
    raise DeliveryRefused(
        msg(
            "Tidings does not understand the response of {title}. Check the address, and whether the service is up to "
            "date.",
            title=title,
        )
    )


def error_text(response: ServiceResponse, *names: str) -> str:
    """Return an error message from a response, for services that report errors with a success status; "" if none.

    It is without a full stop at its end, since it becomes the end of a sentence.
    """
    value = _json(response)
    found = next((one for name in names if (one := _at(value, name.split(".")))), "")
    return (", ".join(map(str, found)) if isinstance(found, list) else str(found))[:200].rstrip(".")


def _json(response: ServiceResponse) -> Any:
    try:
        return msgspec.json.decode(response.body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _at(value: Any, path: Iterable[str]) -> Any:
    for name in path:
        if isinstance(value, list) and value:
            value = value[0]
        value = value.get(name) if isinstance(value, dict) else None
    return value
