"""Records responses of a running service as examples for the OpenAPI document (src/tidings/api/examples.json)."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from support.people import Cast, HttpResponse, Person, answers_to, basic, call
from support.publisher import Publisher
from support.resource_factory import BODIES, UNKNOWN, ResourceFactory
from support.running import RunningService
from tidings.api.openapi import operations_of, successes
from tidings.archives import import_runs_store as import_runs
from tidings.archives.import_runs import UNFINISHED, AccountImportReport, ImportState
from tidings.http.endpoints import Endpoint
from tidings.services.sync_cursor import Cursor
from tidings.storage.accounts.change_log import Point
from tidings.wiring.routes import DOCUMENTED_ROUTES

KEPT = Path(__file__).parents[2] / "src" / "tidings" / "api" / "examples.json"
# Replaces the publisher's URL in the examples.
SITE = "https://weather.example"
# The OpenAPI document is no example of itself, and a stream has no end.
WITHOUT = {"get_openapi", "stream_events"}
# One of a user runs at a time.
IMPORTS = {"import_account", "import_from_miniflux", "import_from_ttrss"}
# Wrong passwords sent at the same time: more than the throttle lets wait.
GUESSES = 24
# A change that never was.
NEVER = Point(10**9, 0)

Examples = dict[str, dict[str, Any]]


def taken(service: RunningService, site: Publisher) -> Examples:
    """Return examples by operation. service: it has no user yet."""
    resources = ResourceFactory(Cast(service).person("ada", is_admin=True, username="ada"), site)
    _imported_before(resources.person)
    # No other example makes one, or it is read first.
    resources.id_of("sender_id")
    resources.person.put("/v1/newsletters/mailbox", BODIES["set_newsletter_mailbox"], status=201)
    routes = operations_of(DOCUMENTED_ROUTES)
    created: Examples = {}
    # Reads come before changes. Deletions have no example.
    for method in ("GET", "PUT", "POST"):
        for name, route in routes.items():
            if route.method == method and name not in WITHOUT and (example := _example(resources, name, route)):
                created[name] = example
    created["errors"] = {str(answer.status): _shown(answer, site) for answer in _errors(resources)}
    return created


def _example(resources: ResourceFactory, name: str, route: Endpoint) -> dict[str, Any]:
    example: dict[str, Any] = {}
    # A second request where its response differs.
    for _ in range(2 if len(successes(route)) > 1 and route.method == "POST" else 1):
        example |= _call(resources, name, route)
    return example


def _call(resources: ResourceFactory, name: str, route: Endpoint) -> dict[str, Any]:
    path = re.sub(r"\{(\w+)\}", lambda match: resources.named(match[1]), route.path)
    body = resources.body(name) if name in BODIES else None
    answer = resources.person.call(
        route.method, path, **({"raw": body.encode()} if isinstance(body, str) else {"body": body})
    )
    example: dict[str, Any] = {} if body is None else {"request": _with_example_site(body, resources.site)}
    if name in IMPORTS:
        _wait_for_import(resources.person)
    if answer.body and answer.status < 300:
        example[str(answer.status)] = _shown(answer, resources.site)
    return example


def _imported_before(person: Person) -> None:
    """Record an import that has ended, of which reads tell."""
    services, token = person.service.services, "example"
    report = AccountImportReport(new_feeds=1, new_entries=2, problems=["Rain: this address is no web address"])
    now = services.clock()
    with services.database.writing() as db:
        import_runs.begin(db, person.id, token, source="freshrss", origin="user.sqlite", now=now, abandoned=now)
        import_runs.finish(
            db, person.id, token, state=ImportState.DONE, now=now, report=msgspec.json.encode(report).decode()
        )


def _wait_for_import(person: Person) -> None:
    """Return when the last import has ended: the next one would be refused before."""
    ends_at = time.monotonic() + 120
    while person.get("/v1/import/archive")["state"] in UNFINISHED:
        assert time.monotonic() < ends_at, "the import has not ended"
        time.sleep(0.1)


def _errors(resources: ResourceFactory) -> list[HttpResponse]:
    person = resources.person
    bob = Cast(person.service).person("bob")
    return [
        person.call("POST", "/v1/categories", {"title": ""}),
        call(person.service.url, "GET", "/v1/me"),
        bob.call("GET", "/v1/users"),
        person.call("GET", f"/v1/feeds/{UNKNOWN}"),
        person.call("GET", "/v1/sync", cursor=Cursor(NEVER, NEVER).encode(person.id)),
        person.call("POST", "/v1/feeds", {"feed_url": resources.site.url("/gone.xml")}),
        _refused_guess(person.service),
    ]


def _refused_guess(service: RunningService) -> HttpResponse:
    """Guess passwords until the service refuses to verify one. Returns that response, without awaiting the others."""
    guesses = [basic("ada", f"guess {number}") for number in range(GUESSES)]
    return next(answer for answer in answers_to(service.url, "/v1/me", guesses) if answer.status == 429)


def _shown(answer: HttpResponse, site: Publisher) -> Any:
    if answer.headers["content-type"] == "application/zip":
        # Bytes have no place in a JSON document.
        return "PK…"
    is_json = answer.headers["content-type"].startswith("application/json")
    return _with_example_site(answer.json() if is_json else answer.body.decode(), site)


def _with_example_site(value: Any, site: Publisher) -> Any:
    """Return the value with the URL of the publisher replaced, and its host, which messages contain alone."""
    host = site.url("").rpartition(":")[0].rpartition("/")[2]
    return json.loads(json.dumps(value).replace(site.url(""), SITE).replace(host, SITE.rpartition("/")[2]))


def merged(kept: Mapping[str, Mapping[str, Any]], new: Mapping[str, Mapping[str, Any]]) -> Examples:
    """Return the new examples; a stored one stays if it has the same form: times and ids differ with every run."""
    return {
        name: {
            part: kept[name][part] if part in kept.get(name, {}) and form(kept[name][part]) == form(value) else value
            for part, value in parts.items()
        }
        for name, parts in new.items()
    }


def form(value: Any) -> Any:
    """Return the names and types of a JSON value, recursively."""
    if isinstance(value, dict):
        return {name: form(member) for name, member in value.items()}
    if isinstance(value, list):
        return [form(item) for item in value[:1]]
    return type(value).__name__
