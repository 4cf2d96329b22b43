"""Apps of Alice and Bob."""

from __future__ import annotations

import pytest

from greader.apps import MOUNTS, App, with_password
from support.people import Person


@pytest.fixture(params=[MOUNTS[0], pytest.param(MOUNTS[1], marks=pytest.mark.long)], ids=["root", "freshrss"])
def app(request: pytest.FixtureRequest, alice: Person) -> App:
    """An app that is signed in with an API password. Both paths of the API lead to the same routes."""
    return with_password(alice, request.param)


@pytest.fixture
def bobs(bob: Person) -> App:
    return App(bob).sign_in()
