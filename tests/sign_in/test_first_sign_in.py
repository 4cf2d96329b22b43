"""An account that signs in for the first time begins as its browser is set; what was chosen stays."""

from __future__ import annotations

import secrets

import pytest

from support.people import PASSWORD
from support.running import RunningService
from support.visitors import Visitor

GERMAN = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"}


def sign_in(service: RunningService, name: str, zone: str = "Europe/Vienna") -> tuple[str, str]:
    """Sign in, and return the language and the time zone of the account afterwards."""
    visitor = Visitor(service)
    visitor.page("/sign-in")
    sent = {"username": name, "password": PASSWORD, "timezone": zone}
    assert visitor.post("/sign-in", sent, headers=GERMAN).status == 303
    found = service.services.accounts.users.find(name)
    return found.language, found.timezone


@pytest.fixture
def name(service: RunningService) -> str:
    created = service.services.accounts.users.create(f"dora-{secrets.token_hex(3)}", PASSWORD)
    return created.username


def test_the_first_browser_decides(service: RunningService, name: str) -> None:
    assert sign_in(service, name) == ("de_DE", "Europe/Vienna")


@pytest.mark.parametrize("zone", ["", "Moon/Sea of Rains", "../etc/passwd"])
def test_a_zone_that_is_not_known_leaves_utc(service: RunningService, name: str, zone: str) -> None:
    assert sign_in(service, name, zone) == ("de_DE", "UTC")


def test_what_was_chosen_stays(service: RunningService, name: str) -> None:
    users = service.services.accounts.users
    user = users.find(name)
    users.update(user, user.id, {"language": "fr_FR", "timezone": "Asia/Tokyo"})

    assert sign_in(service, name) == ("fr_FR", "Asia/Tokyo")


def test_a_later_browser_decides_nothing(service: RunningService, name: str) -> None:
    users = service.services.accounts.users
    sign_in(service, name)
    user = users.find(name)
    users.update(user, user.id, {"language": "en_US", "timezone": "UTC"})

    assert sign_in(service, name) == ("en_US", "UTC")
