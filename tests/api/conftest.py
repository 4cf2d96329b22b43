"""For tests of the API: a service that waits long for publishers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.databases import Databases
from support.people import Cast, Person
from support.running import RunningService, running_service


@pytest.fixture(scope="session")
def patient_service(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service that waits ten minutes for a publisher: a request that ends earlier has a limit of its own."""
    folder = tmp_path_factory.mktemp("patient")
    with databases.migrated() as url, running_service(url, folder, http_client_timeout="600") as running:
        yield running


@pytest.fixture
def patient_alice(patient_service: RunningService) -> Person:
    """A user of the patient service."""
    return Cast(patient_service).person("alice")
