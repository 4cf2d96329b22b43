"""The services of this slice, for its endpoints, its pages and the commands."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.archives.account_export import AccountExport
from tidings.archives.account_import import AccountImport
from tidings.archives.background_imports import BackgroundImports
from tidings.archives.foreign_import import ForeignImport
from tidings.archives.integration_settings import IntegrationArchiver
from tidings.services import SliceServices


@dataclass(frozen=True, slots=True)
class ArchiveServices(SliceServices):
    """Exports and imports of accounts."""

    account_export: AccountExport
    account_import: AccountImport
    foreign_import: ForeignImport
    background_imports: BackgroundImports
    integrations: IntegrationArchiver

    async def close(self) -> None:
        """Stop the child processes."""
        self.background_imports.close()
