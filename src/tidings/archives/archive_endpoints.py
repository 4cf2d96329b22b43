"""Endpoints that export and import an account."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct
from starlette.responses import Response

from tidings.api.schema_annotations import FILE_FORM, Required, Timestamp, one_of
from tidings.api.struct_copy import StructCopy
from tidings.archives.import_runs import AccountImportReport, ImportState
from tidings.archives.parts import SECURITY, ArchivePart, chosen_parts
from tidings.archives.services import ArchiveServices
from tidings.archives.source import SERVERS, ImportSource
from tidings.base.errors import ImportRunning, InsufficientStorage, InvalidInput, NotFound
from tidings.base.messages import msg, verbatim
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.http.binding import Query
from tidings.http.endpoints import Media, Routes
from tidings.http.requests import Request
from tidings.http.responses import Download
from tidings.http.uploads import UploadTooLarge
from tidings.net.errors import FetchError
from tidings.services import Services
from tidings.services.clock import time_zone

routes = Routes("Archives", after="OPML")

BINARY = {"type": "string", "format": "binary"}
ZIP = Media("application/zip", BINARY)


@routes.get("/v1/export/archive", scope=KeyScope.MANAGE, responses={200: ZIP})
def export_account(caller: User, archives: ArchiveServices) -> Response:
    """Export the whole account as an archive: settings, feeds with rules, entries with state and content.

    The ZIP file is sent while it is made. It has no passwords of feeds and no secrets of integrations.
    """
    return Download(archives.account_export.stream(caller), "tidings-archive.zip", "application/zip")


class ImportQuery(Query, frozen=True):
    """source: what wrote the file; default: Tidings itself.

    apply: what is applied besides feeds and entries (`settings`, `rules`, `scripts`, `integrations`), separated by
    commas, or `all` or `none`; default: settings. Name more only for a file of your own: a script runs on every page.
    Settings that protect the account are never applied.
    """

    source: Annotated[str, one_of(ImportSource)] = ""
    apply: tuple[str, ...] = ()


class MinifluxImport(Struct, frozen=True):
    """url: address of the server. api_key: of the account there. apply: as for archives."""

    url: Required[str] = None
    api_key: Required[str] = None
    apply: str = ""


class TtrssImport(Struct, frozen=True):
    """url: address of the server. username, password: of the account there."""

    url: Required[str] = None
    username: Required[str] = None
    password: Required[str] = None


class LeftOffOut(Struct, frozen=True):
    """What was not applied because nobody asked for it. part: as in `apply`, or security, which is never applied.

    name: a setting of the account or of feeds, or an integration, which is stored switched off; one that is set up
    already stays as it is. feeds: URLs of the first ones of `feed_count` feeds; empty for the account.
    """

    part: Annotated[str, one_of([*ArchivePart, SECURITY])]
    name: str
    feeds: list[str]
    feed_count: int


class ImportReportOut(Struct, frozen=True):
    """What an import did. deleted_entries: left out because they were deleted here.

    problems: what cannot be used here, and was left out. left_off: what was not asked for.
    """

    new_feeds: int
    known_feeds: int
    new_entries: int
    known_entries: int
    deleted_entries: int
    problems: list[str]
    left_off: list[LeftOffOut]


_copy_left_off = StructCopy(LeftOffOut)
_copy_report = StructCopy(ImportReportOut, "left_off")


class ImportOut(Struct, frozen=True):
    """The last import. interrupted: the service ended before the import did; repeat it, nothing is stored twice.

    asking: the import page waits for its user to say what of an archive is applied; expired: nobody did within a day.

    origin: the name of the file, or the address of the server. steps_total: 0 while unknown. finished_at, report: null
    until then. error_message: why it failed. Times are in the time zone of the user.
    """

    state: Annotated[str, one_of(ImportState)]
    source: Annotated[str, one_of(ImportSource)]
    origin: str
    steps_done: int
    steps_total: int
    started_at: Timestamp
    finished_at: Timestamp | None
    error_message: str
    report: ImportReportOut | None


@routes.post(
    "/v1/import/archive",
    scope=KeyScope.MANAGE,
    status=202,
    accepts_upload=True,
    raises=(InvalidInput, UploadTooLarge, ImportRunning, InsufficientStorage),
    request_bodies=(Media("application/octet-stream", BINARY), FILE_FORM),
)
def import_account(
    caller: User,
    services: Services,
    archives: ArchiveServices,
    request: Request,
    query: ImportQuery,
) -> ImportOut:
    """Import an archive, or a file of another reader: the body itself, or the field `file` of a form.

    The import runs in the background, one of a user at a time. A file may come from anybody: without `apply`, scripts,
    styles and filters of the account are left out, integrations are stored switched off, and the report says so.
    """
    if query.source not in ("", *ImportSource):
        known = ", ".join(source for source in ImportSource if source not in SERVERS)
        raise InvalidInput(verbatim(f"source: {query.source[:40]!r} is none of {known}."), field="source")
    if request.upload is None:
        raise InvalidInput(verbatim("Send a file: the body of this request has none."), field="file")
    source = ImportSource(query.source or ImportSource.TIDINGS)
    parts = chosen_parts(query.apply)
    archives.background_imports.start_file(caller, source, request.upload.path, request.upload.name, parts=parts)
    return get_import(caller, services, archives)


@routes.post("/v1/import/miniflux", scope=KeyScope.MANAGE, status=202, raises=(InvalidInput, FetchError, ImportRunning))
def import_from_miniflux(
    caller: User, services: Services, archives: ArchiveServices, body: MinifluxImport
) -> ImportOut:
    """Import the account of a running Miniflux, or of another Tidings, in the background."""
    parts = chosen_parts([body.apply])
    archives.background_imports.start_miniflux(caller, body.url or "", body.api_key or "", parts=parts)
    return get_import(caller, services, archives)


@routes.post(
    "/v1/import/tiny-tiny-rss", scope=KeyScope.MANAGE, status=202, raises=(InvalidInput, FetchError, ImportRunning)
)
def import_from_ttrss(caller: User, services: Services, archives: ArchiveServices, body: TtrssImport) -> ImportOut:
    """Import an account of a running Tiny Tiny RSS in the background. API access has to be enabled there."""
    archives.background_imports.start_ttrss(caller, body.url or "", body.username or "", body.password or "")
    return get_import(caller, services, archives)


@routes.get("/v1/import/archive", raises=(NotFound,))
def get_import(caller: User, services: Services, archives: ArchiveServices) -> ImportOut:
    """Get the state of the last import, and its report when it has ended."""
    run = archives.background_imports.of_user(caller.id)
    if run is None:
        raise NotFound(msg("There was no import yet."))
    clock = time_zone(caller.timezone)
    report, problem = run.decoded_report(), run.problem()
    return ImportOut(
        state=run.state_at(services.clock()),
        source=run.source,
        origin=run.origin,
        steps_done=run.steps_done,
        steps_total=run.steps_total,
        started_at=clock.format(run.started_at),
        finished_at=clock.format_optional(run.finished_at),
        error_message="" if problem is None else problem.english(),
        report=None if report is None else _report(report),
    )


def _report(report: AccountImportReport) -> ImportReportOut:
    return _copy_report(report, left_off=[_copy_left_off(one) for one in report.left_off])
