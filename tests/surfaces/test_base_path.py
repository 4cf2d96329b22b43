"""A service below a base path, behind proxies that keep the prefix and proxies that remove it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from support.people import Cast, Person, call
from support.running import RunningService, environment_for, running
from tidings.engine.database import Database
from tidings.storage import migrate

pytestmark = pytest.mark.slow

# The name that makes paths ambiguous: those of the Google Reader API begin with it.
BASE_PATH = "/reader"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder = tmp_path_factory.mktemp("base_path")
    url = f"sqlite:///{folder}/tidings.db"
    database = Database(url)
    migrate.upgrade(database)
    database.close()
    with running("web", environment_for(url, folder, base_url=f"http://localhost{BASE_PATH}"), folder) as service:
        service.url += BASE_PATH
        service.wait_until_ready()
        yield service


@pytest.fixture(scope="module")
def alice(service: RunningService) -> Person:
    return Cast(service).person("alice")


@pytest.fixture(params=[BASE_PATH, ""], ids=["kept", "removed"])
def prefix(request: pytest.FixtureRequest) -> str:
    """What a proxy leaves in front of a path."""
    return str(request.param)


def test_every_surface_is_served_with_and_without_the_prefix(alice: Person, prefix: str) -> None:
    url, key = alice.service.url, {"X-Auth-Token": alice.token}

    assert call(url, "GET", f"{prefix}/v1/me", headers=key).json()["username"] == alice.user.username
    assert call(url, "GET", f"{prefix}/v1/openapi.json").json()["servers"] == [{"url": BASE_PATH}]
    assert call(url, "GET", f"{prefix}/reader/api/0/token").status == 401
    assert call(url, "GET", f"{prefix}/api/greader.php/reader/api/0/token").status == 401
    assert call(url, "GET", f"{prefix}/api/greader.php").body == b"OK"
    assert call(url, "POST", f"{prefix}/fever/?api").json()["auth"] == 0
    assert call(url, "GET", f"{prefix}/healthcheck").body == b"OK"
    page = call(url, "GET", f"{prefix}/sign-in")
    assert page.status == 200
    addresses = re.findall(r' (?:href|src|action)="(/[^"]*)"', page.body.decode())
    assert addresses
    assert all(link.startswith(f"{BASE_PATH}/") for link in addresses)


def test_redirects_lead_below_the_base_path(alice: Person, prefix: str) -> None:
    for path, location in (("/v1", "/v1/"), ("//v1/me", "/v1/me"), ("/unread", "/sign-in?next=/unread")):
        assert call(alice.service.url, "GET", f"{prefix}{path}").headers["location"] == BASE_PATH + location


def test_an_unknown_address_names_the_reference_below_the_base_path(alice: Person, prefix: str) -> None:
    answer = call(alice.service.url, "GET", f"{prefix}/v1/nothing", headers={"X-Auth-Token": alice.token})

    assert answer.status == 404
    assert answer.error == "There is nothing at this address: see /reader/docs/api for what there is."
