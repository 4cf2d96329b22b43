from __future__ import annotations

import pytest

from clients.library import Library, library
from support.people import Person
from support.publisher import Publisher


@pytest.fixture
def shelf(alice: Person, site: Publisher) -> Library:
    """What Alice has subscribed to."""
    return library(alice, site)
