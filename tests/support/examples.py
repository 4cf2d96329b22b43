"""What a running service answers, as examples for the OpenAPI document (src/tidings/api/examples.json)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support.people import Answer, Cast, answers_to, basic, call
from support.publisher import Publisher
from support.resource_factory import BODIES, UNKNOWN, ResourceFactory
from support.running import RunningService
from tidings.api.openapi import operations_of, successes
from tidings.api.reference import documented_endpoints
from tidings.http.endpoints import Endpoint

KEPT = Path(__file__).parents[2] / "src" / "tidings" / "api" / "examples.json"
# The URL that replaces that of the publisher in the examples.
SITE = "https://weather.example"
# Says everything about itself already.
WITHOUT = {"get_openapi"}
# Wrong passwords sent at the same time: more than wait for their turn in the throttle.
GUESSES = 24

Examples = dict[str, dict[str, Any]]


def taken(service: RunningService, site: Publisher) -> Examples:
    """service: without any user yet."""
    resources = ResourceFactory(Cast(service).person("ada", is_admin=True, username="ada"), site)
    routes = operations_of(documented_endpoints())
    made: Examples = {}
    # What looks comes before what changes; what deletes has nothing to show.
    for method in ("GET", "PUT", "POST"):
        for name, route in routes.items():
            if route.method == method and name not in WITHOUT and (example := _example(resources, name, route)):
                made[name] = example
    made["errors"] = {str(answer.status): _shown(answer, site) for answer in _errors(resources)}
    return made


def _example(resources: ResourceFactory, name: str, route: Endpoint) -> dict[str, Any]:
    example: dict[str, Any] = {}
    # A second time where that answers differently.
    for _ in range(2 if len(successes(route)) > 1 and route.method == "POST" else 1):
        example |= _call(resources, name, route)
    return example


def _call(resources: ResourceFactory, name: str, route: Endpoint) -> dict[str, Any]:
    path = re.sub(r"\{(\w+)\}", lambda found: resources.named(found[1]), route.path)
    body = resources.body(name) if name in BODIES else None
    answer = resources.person.call(
        route.method, path, **({"raw": body.encode()} if isinstance(body, str) else {"body": body})
    )
    example: dict[str, Any] = {} if body is None else {"request": _with_address(body, resources.site)}
    if answer.body and answer.status < 300:
        example[str(answer.status)] = _shown(answer, resources.site)
    return example


def _errors(resources: ResourceFactory) -> list[Answer]:
    person = resources.person
    bob = Cast(person.service).person("bob")
    return [
        person.call("POST", "/v1/categories", {"title": ""}),
        call(person.service.url, "GET", "/v1/me"),
        bob.call("GET", "/v1/users"),
        person.call("GET", f"/v1/feeds/{UNKNOWN}"),
        person.call("POST", "/v1/feeds", {"feed_url": resources.site.url("/gone.xml")}),
        _refused_guess(person.service),
    ]


def _refused_guess(service: RunningService) -> Answer:
    """Guess passwords until the service refuses to verify one. Returns that response, without awaiting the others."""
    guesses = [basic("ada", f"guess {number}") for number in range(GUESSES)]
    return next(answer for answer in answers_to(service.url, "/v1/me", guesses) if answer.status == 429)


def _shown(answer: Answer, site: Publisher) -> Any:
    is_json = answer.headers["content-type"].startswith("application/json")
    return _with_address(answer.json() if is_json else answer.body.decode(), site)


def _with_address(value: Any, site: Publisher) -> Any:
    """Hosts as well, which messages tell by themselves."""
    host = site.url("").rpartition(":")[0].rpartition("/")[2]
    return json.loads(json.dumps(value).replace(site.url(""), SITE).replace(host, SITE.rpartition("/")[2]))


def merged(kept: Mapping[str, Mapping[str, Any]], new: Mapping[str, Mapping[str, Any]]) -> Examples:
    """An example stays while it has the form of the new one: times and ids differ with every run."""
    return {
        name: {
            part: kept[name][part] if part in kept.get(name, {}) and form(kept[name][part]) == form(value) else value
            for part, value in parts.items()
        }
        for name, parts in new.items()
    }


def form(value: Any) -> Any:
    """Names and types, all the way down."""
    if isinstance(value, dict):
        return {name: form(one) for name, one in value.items()}
    if isinstance(value, list):
        return [form(one) for one in value[:1]]
    return type(value).__name__
