"""How archives are joined to the rest: their services and routes."""

from __future__ import annotations

from tidings import __version__
from tidings.archives.account_export import AccountExport
from tidings.archives.account_import import AccountImport
from tidings.archives.background_imports import BackgroundImports
from tidings.archives.foreign_import import ForeignImport
from tidings.archives.import_runner import ProcessImportRunner
from tidings.archives.services import ArchiveServices
from tidings.wiring.arguments import import_folder, instance_settings
from tidings.wiring.slice import Parts, Slice


def build(parts: Parts) -> ArchiveServices:
    """Return exports and imports of accounts."""
    settings, database, clock = parts.settings, parts.database, parts.clock
    joins = parts.joins
    archivers = (
        joins.integrations, joins.views, joins.rules, joins.webhooks, joins.newsletters, joins.live_opml,
        joins.old_unread, joins.bridges, joins.list_settings,
    )  # fmt: skip
    account_import = AccountImport(database, clock, *archivers, parts.listeners, instance=instance_settings(settings))
    return ArchiveServices(
        account_export=AccountExport(database, clock, *archivers, application=f"Tidings {__version__}"),
        account_import=account_import,
        foreign_import=ForeignImport(account_import, clock),
        background_imports=BackgroundImports(
            database, clock, ProcessImportRunner(settings), import_folder(settings), parts.listeners
        ),
        integrations=joins.integrations,
    )


SLICE = Slice(build=build, endpoints=("archive_endpoints",), pages=("archive_pages",))
