"""Alice and Bob with apps of theirs, and feeds of Alice's."""

from __future__ import annotations

import pytest

from clients.library import Library, create_library
from fever.apps import FeverApp, sign_in
from support.people import Person
from support.publisher import Publisher


@pytest.fixture
def library(alice: Person, site: Publisher) -> Library:
    return create_library(alice, site)


@pytest.fixture
def app(alice: Person) -> FeverApp:
    return sign_in(alice)


@pytest.fixture
def bobs(bob: Person) -> FeverApp:
    return sign_in(bob)
