"""Requests for another user's resources get the same response as for resources that do not exist."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from support.people import Cast, Person
from support.publisher import Publisher
from support.resource_factory import BODIES, UNKNOWN, ResourceFactory
from support.running import RunningService
from tidings.api.openapi import document, operations_of
from tidings.http.endpoints import Endpoint
from tidings.wiring.routes import API_ROUTES

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

OPERATIONS = operations_of(API_ROUTES)
WITH_ID = {name: route for name, route in OPERATIONS.items() if "_id}" in route.path}
# Accounts are what administrators are for; of what is inside of one they see nothing.
ADMINISTERED = {"get_user", "update_user", "delete_user", "get_limits", "update_limits", "delete_invitation"}


@pytest.fixture(scope="module")
def owners(service: RunningService) -> Iterator[dict[str, ResourceFactory]]:
    """Resources by the name of their owner. No test changes them: it looks at Alice's before and after."""
    cast = Cast(service)
    people = (cast.person("alice"), cast.person("bob"), cast.person("charlie", is_admin=True))
    with Publisher() as site:
        yield {one.user.username.partition("-")[0]: ResourceFactory(one, site) for one in people}


@pytest.mark.parametrize(
    ("role", "operation"),
    [("bob", name) for name in WITH_ID] + [("charlie", name) for name in WITH_ID if name not in ADMINISTERED],
)
def test_a_stranger_cannot_tell_what_exists(role: str, operation: str, owners: dict[str, ResourceFactory]) -> None:
    route, resources, own = WITH_ID[operation], owners["alice"], owners[role]
    stranger = own.person
    theirs = {name: resources.id_of(name) for name in re.findall(r"\{(\w+)\}", route.path)}
    before = resource_state(resources)

    for known in _choices(theirs, own):
        body = resources.body(operation) if _takes_body(operation) else None
        requested = {name: theirs[name] if name in known else own.id_of(name) for name in theirs}
        unknown = {name: UNKNOWN if name in known else number for name, number in requested.items()}
        got = _answer(stranger, route, requested, body)
        assert got == _answer(stranger, route, unknown, body), f"{route.method} {route.path} with {known} of Alice"
        assert got[0] in (400, 403, 404), f"{route.method} {route.path} with {known} of Alice"

    assert resource_state(resources) == before


def _choices(theirs: Mapping[str, int], own: ResourceFactory) -> list[tuple[str, ...]]:
    """Return combinations of ids: all of Alice's, and each single one of hers among the stranger's own."""
    # A version is counted for each entry: its number tells nothing.
    ids = [name for name in theirs if name != "version"]
    sizes = range(1, len(ids) + 1)
    return [known for size in sizes for known in itertools.combinations(ids, size)]


@cache
def _takes_body(operation: str) -> bool:
    """Return whether an operation has a body. If so `BODIES` must have one, or the test would stop at its refusal."""
    route = WITH_ID[operation]
    described = document([route])["paths"][route.path][route.method.lower()]
    assert "requestBody" not in described or operation in BODIES, f"resource_factory.py has no body for {operation}"
    return operation in BODIES


def _answer(person: Person, route: Endpoint, ids: Mapping[str, int], body: Any) -> tuple[int, str, str]:
    """Return status, media type, and the body without ids."""
    answer = person.call(route.method, route.path.format_map(ids), body)
    text = re.sub(r"\b(" + "|".join(map(str, ids.values())) + r")\b", "#", answer.body.decode())
    return answer.status, answer.headers.get("content-type", ""), text


def resource_state(resources: ResourceFactory) -> list[Any]:
    """Return what the owner can read of everything that a stranger might have changed."""
    person = resources.person
    paths = [
        "/v1/feeds",
        "/v1/categories?counts=true",
        "/v1/labels?counts=true",
        "/v1/entries",
        "/v1/enclosures/{enclosure_id}",
        "/v1/me",
    ]
    seen = [person.get(re.sub(r"\{(\w+)\}", lambda match: str(resources.id_of(match[1])), path)) for path in paths]
    # Looking is itself remembered.
    seen[-1].pop("last_login_at")
    keys = [{**key, "last_used_at": None} for key in person.get("/v1/api-keys")]
    passwords = [{**one, "last_used_at": None} for one in person.get("/v1/api-passwords")]
    return [*seen, keys, passwords]


def test_every_path_id_has_a_resource_in_these_tests(alice: Person, site: Publisher) -> None:
    resources = ResourceFactory(alice, site)
    names = {name for route in API_ROUTES for name in re.findall(r"\{(\w+_id)\}", route.path)}

    assert {
        "feed_id",
        "entry_id",
        "category_id",
        "label_id",
        "enclosure_id",
        "api_key_id",
        "api_password_id",
        "user_id",
    } <= names
    for name in names:
        assert resources.id_of(name) > 0


def test_ids_of_another_user_have_no_effect_in_queries_and_bodies(
    alice: Person, bob: Person, charlie: Person, site: Publisher
) -> None:
    theirs = ResourceFactory(alice, site)
    for stranger in (bob, charlie):
        own = ResourceFactory(stranger, site)
        before = resource_state(theirs)
        for name in ("feed_id", "category_id"):
            got, unknown = (
                stranger.call("GET", f"/v1/entries?{name}={number}") for number in (theirs.id_of(name), UNKNOWN)
            )
            assert (got.status, unknown.status) == (400, 400)
            assert got.error == unknown.error.replace(str(UNKNOWN), str(theirs.id_of(name)))
        for method, path in (("POST", "/v1/feeds"), ("PUT", f"/v1/feeds/{own.id_of('feed_id')}")):
            got, unknown = (
                stranger.call(method, path, {"feed_url": site.url("/tides.xml"), "category_id": number})
                for number in (theirs.id_of("category_id"), UNKNOWN)
            )
            assert (got.status, unknown.status) == (400, 400)
            assert got.error == unknown.error.replace(str(UNKNOWN), str(theirs.id_of("category_id")))
        stranger.put("/v1/entries", {"entry_ids": [theirs.id_of("entry_id"), UNKNOWN], "starred": True})
        assert resource_state(theirs) == before
