"""The archive of a stranger: what comes in, what comes in switched off, and what never does."""

from __future__ import annotations

import io
from collections.abc import Collection
from typing import Any

import pytest

from support.archives import (
    HOSTILE_FEED_SETTINGS,
    HOSTILE_INTEGRATIONS,
    HOSTILE_SETTINGS,
    archive,
    hostile_archive,
)
from support.people import Person
from tidings.archives.import_runs import AccountImportReport
from tidings.archives.parts import ALL_PARTS, DEFAULT_PARTS, ArchivePart, ImportReview
from tidings.wiring.services import AllServices

CAREFUL = {"allow_account_password_in_apps": False, "proxies_pictures": True}


def _import(
    services: AllServices, person: Person, content: bytes, parts: Collection[ArchivePart] = DEFAULT_PARTS
) -> AccountImportReport:
    user = services.accounts.users.find(person.user.username)
    return services.archives.account_import.store(user, io.BytesIO(content), lambda _done, _total: None, parts=parts)


def _review(services: AllServices, person: Person, content: bytes) -> ImportReview:
    return services.archives.account_import.review(
        services.accounts.users.find(person.user.username), io.BytesIO(content)
    )


@pytest.fixture
def careful(alice: Person) -> Person:
    """A user who protects the account, and has a webhook."""
    alice.put(f"/v1/users/{alice.id}", CAREFUL, status=201)
    alice.put("/v1/integrations", {"webhook": {"enabled": True, "url": "https://hooks.example.org/mine"}}, status=201)
    return alice


def test_scripts_filters_and_security_settings_stay_out_and_harmless_ones_come_in(
    careful: Person, services: AllServices
) -> None:
    before = careful.get("/v1/me")

    report = _import(services, careful, hostile_archive(theme="dark_serif"))

    me = careful.get("/v1/me")
    assert me["theme"] == "dark_serif"
    assert {name: me[name] for name in HOSTILE_SETTINGS} == {name: before[name] for name in HOSTILE_SETTINGS}
    assert {one.name: one.part for one in report.left_off if not one.feeds} == {
        "custom_js": "scripts", "stylesheet": "scripts", "external_font_hosts": "scripts",
        "block_filter_entry_rules": "rules", "keep_filter_entry_rules": "rules", "saves_starred": "integrations",
        "allow_account_password_in_apps": "security", "proxies_pictures": "security",
        "webhook": "integrations", "linkding": "integrations",
    }  # fmt: skip


def test_receivers_and_proxies_of_feeds_stay_out(careful: Person, services: AllServices) -> None:
    report = _import(services, careful, hostile_archive())

    (feed,) = careful.get("/v1/feeds")
    stored = {name: feed[name] for name in HOSTILE_FEED_SETTINGS if name in feed}
    assert stored == {
        "webhook_url": "", "apprise_service_urls": "", "ntfy_enabled": False, "ntfy_topic": "stranger",
        "pushover_enabled": False, "proxy_url": "", "allow_self_signed_certificates": False,
    }  # fmt: skip
    left = {one.name: (one.part, one.feeds, one.feed_count) for one in report.left_off if one.feeds}
    assert left["webhook_url"] == ("integrations", [feed["feed_url"]], 1)
    assert left["allow_self_signed_certificates"][0] == "security"
    assert len(left) == 6


def test_a_new_integration_comes_in_switched_off_and_a_known_one_stays(careful: Person, services: AllServices) -> None:
    report = _import(services, careful, hostile_archive())

    stored = careful.get("/v1/integrations")
    assert (stored["webhook"]["enabled"], stored["webhook"]["url"]) == (True, "https://hooks.example.org/mine")
    assert (stored["linkding"]["enabled"], stored["linkding"]["url"]) == (False, "https://stranger.example/")
    assert report.problems == []


def test_an_own_archive_brings_everything_but_security(alice: Person, services: AllServices) -> None:
    alice.put(f"/v1/users/{alice.id}", CAREFUL, status=201)

    report = _import(services, alice, hostile_archive(), ALL_PARTS)

    me, (feed,) = alice.get("/v1/me"), alice.get("/v1/feeds")
    assert {name: me[name] for name in HOSTILE_SETTINGS} == {**HOSTILE_SETTINGS, **CAREFUL}
    assert feed["webhook_url"] == HOSTILE_FEED_SETTINGS["webhook_url"]
    assert feed["ntfy_enabled"] is True
    assert {name: alice.get("/v1/integrations")[name]["enabled"] for name in HOSTILE_INTEGRATIONS} == {
        "webhook": True, "linkding": True,
    }  # fmt: skip
    assert [(one.name, one.part) for one in report.left_off] == [
        ("allow_account_password_in_apps", "security"),
        ("proxies_pictures", "security"),
        ("allow_self_signed_certificates", "security"),
    ]


@pytest.mark.parametrize(
    ("part", "applied"),
    [
        (ArchivePart.SETTINGS, {"theme"}),
        (ArchivePart.RULES, {"block_filter_entry_rules", "keep_filter_entry_rules"}),
        (ArchivePart.SCRIPTS, {"custom_js", "stylesheet", "external_font_hosts"}),
        (ArchivePart.INTEGRATIONS, {"saves_starred"}),
    ],
)
def test_a_part_that_is_asked_for_comes_alone(
    alice: Person, services: AllServices, part: ArchivePart, applied: set[str]
) -> None:
    before = alice.get("/v1/me")

    _import(services, alice, hostile_archive(theme="dark_serif"), {part})

    after = alice.get("/v1/me")
    assert {name for name, value in after.items() if value != before[name]} == applied
    assert alice.get("/v1/integrations")["webhook"]["enabled"] is (part is ArchivePart.INTEGRATIONS)


def test_what_is_equal_already_is_not_named(alice: Person, services: AllServices) -> None:
    _import(services, alice, archive(HOSTILE_SETTINGS, {}, HOSTILE_INTEGRATIONS), ALL_PARTS)
    security = {name: HOSTILE_SETTINGS[name] for name in CAREFUL}
    alice.put(f"/v1/users/{alice.id}", security, status=201)

    report = _import(services, alice, archive(HOSTILE_SETTINGS, {}, HOSTILE_INTEGRATIONS))

    assert report.left_off == []


def test_feeds_with_the_same_setting_are_counted(alice: Person, services: AllServices) -> None:
    report = _import(services, alice, archive(feed_settings={"webhook_url": "https://stranger.example/"}))

    assert [(one.name, one.feed_count) for one in report.left_off] == [("webhook_url", 1)]


def test_a_review_says_what_would_change_and_changes_nothing(careful: Person, services: AllServices) -> None:
    before: Any = (careful.get("/v1/me"), careful.get("/v1/integrations"))

    review = _review(services, careful, hostile_archive(theme="dark_serif", timezone="America/Coyhaique2"))

    assert (review.application, review.username, review.feeds, review.entries) == ("Tidings 9", "stranger", 1, 0)
    changes = {change.name: change for change in review.changes}
    assert (changes["theme"].before, changes["theme"].after) == ("light_serif", "dark_serif")
    assert changes["custom_js"].after == HOSTILE_SETTINGS["custom_js"]
    assert changes["webhook"].before == "https://hooks.example.org/mine"
    assert changes["webhook"].after == "https://stranger.example/hook"
    assert changes["webhook_url"].feed == "https://feeds.example.org/news.xml"
    assert review.parts == list(ArchivePart)
    assert review.problems[0].startswith("setting timezone: ")
    assert (careful.get("/v1/me"), careful.get("/v1/integrations")) == before
    assert careful.get("/v1/feeds") == []


def test_a_review_cuts_long_texts_and_long_lists(alice: Person, services: AllServices) -> None:
    review = _review(services, alice, archive({"custom_js": "x" * 90_000}))

    assert [len(change.after) for change in review.changes] == [2_002]


def test_feeds_that_the_account_has_are_not_in_a_review(alice: Person, services: AllServices) -> None:
    _import(services, alice, archive())

    assert _review(services, alice, archive(feed_settings=HOSTILE_FEED_SETTINGS)).changes == []
