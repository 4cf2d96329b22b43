from __future__ import annotations

import pytest

from clients.library import Library, create_library
from support.people import Person
from support.publisher import Publisher


@pytest.fixture
def library(alice: Person, site: Publisher) -> Library:
    """The feeds and entries of Alice, with their ids."""
    return create_library(alice, site)
