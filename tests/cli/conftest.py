from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import Tidings
from tidings.services import Services
from tidings.settings import load
from tidings.storage.engine.database import Database
from tidings.wiring import build_services


@pytest.fixture
def bare(tmp_path: Path) -> Tidings:
    """With an empty data folder: for what ends before it comes to a database."""
    return Tidings(tmp_path)


@pytest.fixture
def tidings(tmp_path: Path, database_url: str) -> Tidings:
    """Over a database with today's schema, on both engines."""
    return Tidings(tmp_path, {"DATABASE_URL": database_url})


@pytest.fixture
def services(tidings: Tidings, database: Database) -> Services:
    """The use cases over the same database, to set it up and to look what became of it."""
    return build_services(database, load(tidings.environment(), None))
