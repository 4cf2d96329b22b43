"""Alice's app, at both paths of the API."""

from __future__ import annotations

import pytest

from greader.apps import MOUNTS, App
from support.people import Person


@pytest.fixture(params=MOUNTS, ids=["root", "freshrss"])
def app(request: pytest.FixtureRequest, alice: Person) -> App:
    """An app that is signed in with an API password."""
    password = alice.post("/v1/api-passwords", {"name": "app"})["password"]
    return App(alice, request.param).sign_in(password)


@pytest.fixture
def bobs(bob: Person) -> App:
    return App(bob).sign_in()
