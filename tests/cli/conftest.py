from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import Tidings
from tidings.engine.database import Database
from tidings.settings import load
from tidings.wiring.services import AllServices, build_services


@pytest.fixture
def bare(tmp_path: Path) -> Tidings:
    """A command line with an empty data folder and no database."""
    return Tidings(tmp_path)


@pytest.fixture
def tidings(tmp_path: Path, database_url: str) -> Tidings:
    """A command line with a migrated database, on both engines."""
    return Tidings(tmp_path, {"DATABASE_URL": database_url})


@pytest.fixture
def services(tidings: Tidings, database: Database) -> AllServices:
    """The services on the database of `tidings`, to prepare and inspect it."""
    return build_services(database, load(tidings.environment(), None))
