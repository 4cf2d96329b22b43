"""The last import of an account, as the import page shows it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from tidings.domain.archives.import_runs import UNFINISHED, AccountImportReport, ImportRun, ImportState
from tidings.domain.archives.sources import SERVERS, ImportSource
from tidings.web.context import RequestContext
from tidings.web.language import N_, _

# Problems that the report of a page shows; the API has all of them.
MAX_PROBLEMS = 100
STATES = {
    ImportState.WAITING: N_("Waiting for other imports"),
    ImportState.RUNNING: N_("Importing"),
    ImportState.DONE: N_("Imported"),
    ImportState.FAILED: N_("The import failed"),
    ImportState.INTERRUPTED: N_("The import was interrupted"),
}


class ShownImport(Struct, frozen=True):
    """The last import as the page shows it. origin: of a file or a server."""

    run: ImportRun
    state: ImportState
    report: AccountImportReport | None
    problems: list[str]
    more_problems: int

    @property
    def is_running(self) -> bool:
        return self.state in UNFINISHED


def shown_import(context: RequestContext) -> dict[str, Any]:
    """Returns what the template of the import page needs beside OPML."""
    run = context.services.background_imports.of_user(context.caller.id)
    return {
        "sources": source_choices(),
        "source_chosen": ImportSource.TIDINGS,
        "states": STATES,
        "run": None if run is None else _shown(run, context),
    }


def source_choices() -> list[tuple[str, str]]:
    """Returns the sources of files with their names."""
    names = {
        ImportSource.TIDINGS: _("Tidings (archive)"),
        ImportSource.FRESHRSS: _("FreshRSS (SQLite or ZIP)"),
        ImportSource.NEWSBLUR: "NewsBlur",
        ImportSource.FEEDBIN: _("Feedbin (starred entries)"),
    }
    return [
        (source, names.get(source, source.replace("-", " ").title()))
        for source in ImportSource
        if source not in SERVERS
    ]


def _shown(run: ImportRun, context: RequestContext) -> ShownImport:
    report = run.decoded_report()
    problems = [] if report is None else report.problems
    return ShownImport(
        run, run.state_at(context.now), report, problems[:MAX_PROBLEMS], max(0, len(problems) - MAX_PROBLEMS)
    )
