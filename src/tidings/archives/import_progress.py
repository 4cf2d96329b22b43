"""The last import of an account, as the import page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from tidings.archives.import_review import ShownLeftOff, ShownPart, left_off, parts_of, security_of
from tidings.archives.import_runs import UNFINISHED, AccountImportReport, ImportRun, ImportState
from tidings.archives.integration_settings import IntegrationKind
from tidings.archives.parts import ImportReview
from tidings.archives.services import ArchiveServices
from tidings.archives.source import SERVERS, ImportSource
from tidings.web.context import RequestContext
from tidings.web.language import N_, _

# Problems that the report of a page shows; the API has all of them.
MAX_PROBLEMS = 100
STATES = {
    ImportState.WAITING: N_("Waiting for other imports"),
    ImportState.RUNNING: N_("Importing"),
    ImportState.ASKING: N_("Choose what the archive may change"),
    ImportState.EXPIRED: N_("Nobody answered within a day: choose the file again"),
    ImportState.DONE: N_("Imported"),
    ImportState.FAILED: N_("The import failed"),
    ImportState.INTERRUPTED: N_("The import was interrupted"),
}


class ShownImport(Struct, frozen=True):
    """The last import as the page shows it."""

    run: ImportRun
    state: ImportState
    report: AccountImportReport | None
    problems: list[str]
    more_problems: int
    left_off: list[ShownLeftOff]
    """What was not asked for."""
    kept: list[ShownLeftOff]
    """What imports never change."""
    review: ImportReview | None = None
    """What the archive holds, while the import asks."""
    parts: list[ShownPart] = []
    """What the user can choose, while the import asks."""
    security: list[str] = []
    """What stays in any case, while the import asks."""

    @property
    def is_running(self) -> bool:
        return self.state in UNFINISHED


def shown_import(context: RequestContext, archives: ArchiveServices) -> dict[str, Any]:
    """Return what the template of the import page needs apart from OPML."""
    run = archives.background_imports.of_user(context.caller.id)
    return {
        "sources": source_choices(),
        "source_chosen": ImportSource.TIDINGS,
        "states": STATES,
        "run": None if run is None else _shown(run, context, archives.integrations.kinds),
    }


def source_choices() -> list[tuple[str, str]]:
    """Return the sources of files with their names."""
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


def _shown(run: ImportRun, context: RequestContext, kinds: Mapping[str, IntegrationKind]) -> ShownImport:
    report, review = run.decoded_report(), run.review()
    problems = report.problems if report is not None else review.problems if review is not None else []
    left = [] if report is None else report.left_off
    return ShownImport(
        run,
        run.state_at(context.now),
        report,
        problems[:MAX_PROBLEMS],
        max(0, len(problems) - MAX_PROBLEMS),
        left_off(left, kinds, security=False),
        left_off(left, kinds, security=True),
        review,
        [] if review is None else parts_of(review, kinds),
        [] if review is None else security_of(review, kinds),
    )
