"""The player of the tables notices what it is there to notice."""

from __future__ import annotations

import pytest

from clients.apps import App, Ask, play
from clients.contract import USER
from clients.library import Library
from clients.shapes import record, whole
from support.people import Person

pytestmark = pytest.mark.slow

BROWSER = "https://app.example"


@pytest.mark.parametrize(
    ("one", "complaint"),
    [
        (Ask("GET", "/v1/me", USER, status=201), "GET /v1/me answers 200 instead of 201"),
        (Ask("GET", "/v1/me", status=200), "answers with a body"),
        (Ask("GET", "/v1/me", record(username=whole)), "is not a whole number"),
        (Ask("GET", "/v1/export", USER), "instead of JSON"),
        (Ask("GET", "/v1/feeds/{unknown}", USER), "answers 404 instead of 200"),
        (Ask("PUT", "/v1/entries", body={"entry_ids": "{entry}"}), "answers 400 instead of 204"),
    ],
)
def test_a_response_that_does_not_match_is_reported(alice: Person, library: Library, one: Ask, complaint: str) -> None:
    with pytest.raises(AssertionError) as raised:
        play(App(), alice, library, [one, Ask("GET", "/v1/me", USER)])
    assert complaint in str(raised.value)


@pytest.mark.parametrize(
    ("app", "path", "complaint"),
    [
        (App(origin=BROWSER, headers={"X-Requested-With": "app"}), "/v1/me", "x-requested-with"),
        (App(origin=BROWSER), "/healthcheck", "preflight"),
    ],
)
def test_a_response_that_cors_does_not_allow_is_reported(
    alice: Person, library: Library, app: App, path: str, complaint: str
) -> None:
    with pytest.raises(AssertionError) as raised:
        play(app, alice, library, [Ask("GET", path, USER)])
    assert complaint in str(raised.value)
