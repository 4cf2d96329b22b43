"""Health checks, and the version that clients compare number by number."""

from __future__ import annotations

import re

import pytest

from support.people import Person, call

HEALTH = ["/healthcheck", "/liveness", "/healthz", "/readiness", "/readyz"]


@pytest.mark.parametrize("path", HEALTH)
def test_a_health_check_needs_no_credentials_and_says_ok(alice: Person, path: str) -> None:
    answer = call(alice.service.url, "GET", path, headers={"X-Auth-Token": "wrong"})

    assert (answer.status, answer.body) == (200, b"OK")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert "access-control-allow-origin" not in answer.headers
    assert call(alice.service.url, "HEAD", path).headers["content-length"] == "2"


@pytest.mark.parametrize("path", HEALTH)
def test_a_health_check_takes_get_and_head_only(alice: Person, path: str) -> None:
    assert call(alice.service.url, "POST", path).status == 405


def test_the_version_is_three_numbers_and_every_field_says_something(alice: Person) -> None:
    version = alice.get("/v1/version")

    assert version["version"] == "2.3.4"
    assert re.fullmatch(r"\d+\.\d+\.\d+", version["version"])
    contract = {"version", "commit", "build_date", "go_version", "compiler", "arch", "os"}
    assert contract | {"service_version"} == set(version)
    assert all(isinstance(value, str) and value for value in version.values())


def test_the_version_is_for_users_and_the_old_path_is_gone(alice: Person) -> None:
    assert call(alice.service.url, "GET", "/v1/version").status == 401
    assert call(alice.service.url, "GET", "/version").status == 404
