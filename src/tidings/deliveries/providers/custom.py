"""A custom request, for a service without a provider: method, URL, headers and body with placeholders.

docs/integrations.md lists the placeholders.
"""

from __future__ import annotations

import re
from typing import Annotated

from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.deliveries.events import SAVE_ENTRY, Event
from tidings.deliveries.placeholders import (
    FILTERS,
    TemplateFilter,
    escape_for_header,
    escape_for_json,
    render,
    template_values,
)
from tidings.deliveries.provider import RequestSequence, ServiceSettings, address, choice, template, text
from tidings.deliveries.requests import expect_success
from tidings.net.post import ServiceRequest

NAME = "custom"
# Translated, since it is not the name of a service.
TITLE = msg("Custom request")
EVENTS = frozenset({SAVE_ENTRY})

# The HTTP client sets these headers.
FORBIDDEN_HEADERS = frozenset({"connection", "content-length", "host", "te", "trailer", "transfer-encoding", "upgrade"})
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Settings(ServiceSettings, frozen=True, kw_only=True):
    method: Annotated[str, choice("Method", "POST", "PUT", "PATCH", "GET")] = "POST"
    url: Annotated[str, template(address("Address", "Such as https://example.org/add?to={{url}}."))] = ""
    headers: Annotated[str, template(text("Headers", "Name: value, one per line.", is_secret=True))] = ""
    body: Annotated[str, template(text("Body"))] = '{"url": "{{url}}", "title": "{{title}}"}'


def deliver(settings: Settings, event: Event) -> RequestSequence:
    values = template_values(event.saved_entry)
    headers = {
        name: escape_for_header(render(value, values, escape_for_header)) for name, value in _lines(settings.headers)
    }
    body = ""
    if settings.method != "GET":
        kind = next((value for name, value in headers.items() if name.lower() == "content-type"), "")
        if not kind:
            kind = "application/json" if settings.body.lstrip()[:1] in ("{", "[") else "text/plain; charset=utf-8"
            headers["Content-Type"] = kind
        body = render(settings.body, values, _default_filter(kind))
    url = render(settings.url, values, FILTERS["url"])
    response = yield ServiceRequest(settings.method, url, headers, body.encode())
    expect_success(response, TITLE)


def check(settings: Settings) -> None:
    """Raise InvalidInput for headers that cannot be sent."""
    for name, value in _lines(settings.headers):
        if not _NAME.fullmatch(name):
            raise InvalidField("headers", msg("{name} is not a header name; write Name: value.", name=repr(name[:40])))
        if name.lower() in FORBIDDEN_HEADERS:
            raise InvalidField("headers", msg("{name} cannot be set; leave it out.", name=name))
        if any(ord(letter) < 32 and letter != "\t" for letter in value):
            raise InvalidField("headers", msg("{name} holds an invisible character; remove it.", name=name))


def _lines(headers: str) -> list[tuple[str, str]]:
    """Return the names and values of the headers."""
    parts = (line.partition(":") for line in headers.splitlines() if line.strip())
    return [(name.strip(), value.strip()) for name, _, value in parts]


def _default_filter(kind: str) -> TemplateFilter:
    """Return the filter for placeholders in a body of this media type."""
    kind = kind.lower()
    if "json" in kind:
        return escape_for_json
    if "urlencoded" in kind:
        return FILTERS["form"]
    if "xml" in kind or "html" in kind:
        return FILTERS["html"]
    return FILTERS["raw"]
