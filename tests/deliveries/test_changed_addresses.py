"""A stored secret is not sent to another host than it was given for, whoever changes the address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from deliveries.test_integrations import IntegrationsFixture
from tidings.base.errors import InvalidInput
from tidings.deliveries.provider import FieldKind, SettingField
from tidings.deliveries.registry import REGISTRY
from tidings.engine.database import Database

OLD, NEW = "https://old.example.org/x", "https://new.example.org/x"


def secrets_of(name: str) -> list[SettingField]:
    return [field for field in REGISTRY[name].fields if field.is_secret and field.kind is not FieldKind.ADDRESS]


WITH_BOTH = [
    name
    for name, provider in REGISTRY.items()
    if secrets_of(name) and any(field.kind is FieldKind.ADDRESS for field in provider.fields)
]


@pytest.fixture
def fixture(database: Database) -> Iterator[IntegrationsFixture]:
    made = IntegrationsFixture(database, allows=True)
    yield made
    made.apprise_sender.close()


def settings_of(name: str) -> dict[str, Any]:
    return {field.name: "X-Key: hush" if field.name == "headers" else "hush" for field in secrets_of(name)}


def refused(fixture: IntegrationsFixture, name: str, **given: Any) -> str:
    """Change settings, which is refused and changes nothing. Returns the field that is named."""
    before = fixture.shown(name)
    with pytest.raises(InvalidInput) as error:
        fixture.put(**{name: given})
    assert error.value.message.startswith(f"{error.value.field}: it was given for another host")
    assert fixture.shown(name) == before
    return str(error.value.field).removeprefix(f"{name}.")


def test_the_services_with_an_address_and_a_secret_are_known() -> None:
    assert {"linkding", "wallabag", "ntfy", "custom", "shiori", "betula", "readeck"} <= {*WITH_BOTH}


@pytest.mark.parametrize("name", WITH_BOTH)
def test_another_host_needs_every_secret_again(fixture: IntegrationsFixture, name: str) -> None:
    given = settings_of(name)
    fixture.put(**{name: {"url": OLD, **given}})

    for missing in given:
        others = {field: value for field, value in given.items() if field != missing}
        assert refused(fixture, name, url=NEW, **others) == missing

    assert fixture.put(**{name: {"url": NEW, **given}})[name]["url"] == NEW


@pytest.mark.parametrize(
    "address",
    [
        "http://old.example.org/x",
        "https://old.example.org:8443/x",
        "https://old.example.org.evil.example/x",
        "https://www.old.example.org/x",
    ],
)
def test_what_counts_as_another_host(fixture: IntegrationsFixture, address: str) -> None:
    fixture.put(linkding={"url": OLD, "token": "hush"})

    assert refused(fixture, "linkding", url=address) == "token"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("https://old.example.org/x", "https://old.example.org/elsewhere"),
        ("https://old.example.org", "https://OLD.example.org:443/"),
        ("http://old.example.org", "https://old.example.org"),
    ],
)
def test_the_same_host_needs_nothing(fixture: IntegrationsFixture, old: str, new: str) -> None:
    fixture.put(linkding={"url": old, "token": "hush"})

    fixture.put(linkding={"url": new})

    assert fixture.shown("linkding")["has_token"] is True


def test_a_secret_may_be_removed_with_the_new_address(fixture: IntegrationsFixture) -> None:
    fixture.put(ntfy={"url": OLD, "topic": "rain", "token": "hush"})

    fixture.put(ntfy={"url": NEW, "token": ""})

    assert fixture.shown("ntfy")["has_token"] is False


def test_removing_the_address_first_leads_nowhere(fixture: IntegrationsFixture) -> None:
    fixture.put(linkding={"url": OLD, "token": "hush"})
    fixture.put(linkding={"url": ""})

    assert refused(fixture, "linkding", url=NEW) == "token"


@pytest.mark.parametrize(
    "url", ["https://{{author|raw}}/", "https://old.example.org{{author|raw}}/x", "https://x{{title}}?to={{url}}"]
)
def test_a_placeholder_in_the_host_is_another_host(fixture: IntegrationsFixture, url: str) -> None:
    fixture.put(custom={"url": "https://old.example.org/?to={{url}}", "headers": "X-Key: hush"})

    assert refused(fixture, "custom", url=url) == "headers"


def test_a_placeholder_behind_the_host_is_the_same_host(fixture: IntegrationsFixture) -> None:
    fixture.put(custom={"url": "https://old.example.org/?to={{url}}", "headers": "X-Key: hush"})

    assert fixture.put(custom={"url": "https://old.example.org?q={{title}}"})["custom"]["has_headers"] is True


def test_the_credentials_of_a_webhook_end_with_its_address(fixture: IntegrationsFixture) -> None:
    made = fixture.put(webhook={"url": "https://me:hush@old.example.org/"})["webhook"]

    changed = fixture.put(webhook={"url": NEW})["webhook"]

    assert changed["url"] == NEW
    assert changed["secret"] == made["secret"], "it signs what is sent, and is never sent itself"
