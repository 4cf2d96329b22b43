from __future__ import annotations

import pytest

from support.people import Person
from support.running import RunningService
from support.visitors import Visitor


@pytest.fixture
def visitor(service: RunningService) -> Visitor:
    """A browser without a session."""
    return Visitor(service)


@pytest.fixture
def reader(service: RunningService, alice: Person) -> Visitor:
    """Alice, signed in."""
    reader = Visitor(service, alice)
    assert reader.sign_in().status == 303
    return reader
