"""The codes of errors in the header X-Error-Code, and messages that apps compare."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

from support.people import Person
from support.publisher import Publisher
from tidings.api.replies import from_error
from tidings.base.errors import TidingsError
from tidings.services.entries.entries import NoSaver

HANDBOOK = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
CODE = "x-error-code"
# Of the start of a process, of attempts to deliver, of letters, which are stored as they came, of mailboxes, which keep
# what went wrong, and of sign-ins at a provider, which end on a page: no response of the API has them. And what only
# has subclasses.
NOT_IN_RESPONSES = {
    "cannot-start", "refused", "unsendable", "letter-unreadable", "mailbox-failed", "error",
    "openid-error", "openid-provider-unavailable", "openid-broken-token",
}  # fmt: skip


# With every module that declares an error.
importlib.import_module("tidings.wiring.surfaces")


def errors(root: type[TidingsError] = TidingsError) -> Iterator[type[TidingsError]]:
    for kind in root.__subclasses__():
        yield kind
        yield from errors(kind)


def test_every_code_is_documented_and_every_documented_code_exists() -> None:
    table = HANDBOOK[HANDBOOK.index("| status | codes |") :].split("\n\n")[0]
    ours = {kind.code for kind in errors() if kind.__module__.startswith("tidings.")}

    assert {*re.findall(r"`([a-z-]+)`", table)} == ours - NOT_IN_RESPONSES | {
        "method-not-allowed",
        "internal-error",
        "overloaded",
    }


def test_a_taken_category_has_the_message_that_twine_compares(alice: Person) -> None:
    alice.has_category("Weather")
    other = alice.has_category("Other")

    for answer in (
        alice.call("POST", "/v1/categories", {"title": "weather"}),
        alice.call("PUT", f"/v1/categories/{other['id']}", {"title": "Weather"}),
    ):
        assert (answer.status, answer.error) == (400, "This category already exists.")
        assert answer.headers[CODE] == "category-exists"


def test_a_known_feed_has_the_message_that_twine_compares(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)

    answer = alice.call("POST", "/v1/feeds", {"feed_url": feed["feed_url"]})

    assert (answer.status, answer.error) == (400, "This feed already exists.")
    assert answer.headers[CODE] == "feed-exists"


def test_saving_without_a_service_has_more_than_the_message_that_flux_news_takes_for_success(
    alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["One"])

    answer = alice.call("POST", f"/v1/entries/{alice.entries()[0]['id']}/save")

    assert answer.status == 400
    assert answer.error.startswith("There is no third-party integration enabled: ")
    assert answer.headers[CODE] == "no-integration"


def test_every_error_has_its_code_which_pages_of_other_origins_can_read(alice: Person) -> None:
    found = {
        (answer.status, answer.headers[CODE])
        for answer in (
            alice.call("GET", "/v1/feeds/999999"),
            alice.call("GET", "/v1/nothing"),
            alice.call("PATCH", "/v1/me"),
            alice.call("GET", "/v1/users"),
            alice.call("GET", "/v1/entries", status="lost"),
        )
    }

    assert found == {
        (404, "not-found"), (405, "method-not-allowed"), (403, "forbidden"), (400, "invalid-input"),
    }  # fmt: skip
    exposed = alice.call("GET", "/v1/me").headers["access-control-expose-headers"]
    assert CODE in exposed.lower()
    assert from_error(NoSaver()).headers[CODE] == "no-integration"
