"""Import and export: OPML, archives, files of other readers, and accounts of a running Miniflux or Tiny Tiny RSS."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from tidings.archives.import_progress import shown_import
from tidings.archives.import_review import AnswerForm
from tidings.archives.parts import ALL_PARTS, DEFAULT_PARTS
from tidings.archives.services import ArchiveServices
from tidings.archives.source import ImportSource
from tidings.base.errors import ImportRunning, InvalidInput
from tidings.base.messages import msg
from tidings.base.times import Instant
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import OLD_ENTRY_AGE, EntryFilter, EntryStatus
from tidings.domain.feeds.opml import OpmlProblem
from tidings.http import forms
from tidings.http.binding import Form
from tidings.http.endpoints import Routes
from tidings.http.requests import Request
from tidings.http.responses import Download
from tidings.net.errors import FetchError
from tidings.services import Services
from tidings.services.entries.listing import EntryLists
from tidings.services.feeds.opml import MAX_REMARKS, OpmlImportResult
from tidings.services.feeds.typed_urls import complete_url, reach
from tidings.storage.entries import entry_lists
from tidings.storage.feeds import health
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import _
from tidings.web.security import SANDBOX_HEADERS

routes = Routes()

# In bytes; the same as in the API.
MAX_UPLOAD_BYTES = 32 * 2**20
_ATTACHMENT = {
    "Content-Disposition": 'attachment; filename="feeds.opml"',
    "Cache-Control": "no-store",
    **SANDBOX_HEADERS,
}


class FailedOutline(Struct, frozen=True):
    """A problem in a line of the document."""

    remark: OpmlProblem
    is_left_out: bool
    """The whole feed was left out, not only one setting."""


@routes.get("/feeds/import")
def show_import(context: RequestContext, archives: ArchiveServices) -> PageResponse:
    return import_page(context, archives)


@routes.post("/feeds/import", body_limit=MAX_UPLOAD_BYTES, accepts_files=True)
def import_feeds(context: RequestContext, caller: User, services: Services, archives: ArchiveServices) -> PageResponse:
    """Import all usable feeds in one transaction, and show a report line for each problem."""
    try:
        body = _uploaded(context.request)
        return import_page(context, archives, services.feeds.opml.import_(caller.id, body))
    except InvalidInput as error:
        return import_page(context, archives, problem=field_error(error, field="file"))


class ImportTextForm(Form, frozen=True):
    text: str = ""


@routes.post("/feeds/import-text", body_limit=MAX_UPLOAD_BYTES)
def import_from_text(
    context: RequestContext, caller: User, services: Services, archives: ArchiveServices, form: ImportTextForm
) -> PageResponse:
    """Import a document that was pasted. If that fails, the form shows the reason and what was pasted."""
    try:
        return import_page(context, archives, services.feeds.opml.import_(caller.id, _pasted(form.text)))
    except InvalidInput as error:
        problem = field_error(error, field="text")
        return import_page(context, archives, problem=problem, values={"text_typed": form.text})


class ImportUrlForm(Form, frozen=True):
    url: str = ""


@routes.post("/feeds/import-url")
async def import_from_url(
    context: RequestContext, caller: User, services: Services, archives: ArchiveServices, form: ImportUrlForm
) -> PageResponse:
    """Import the document at a URL. If that fails, the form shows the reason and what was typed."""
    try:
        done = await reach(form.url, partial(services.feeds.opml.import_from, caller.id))
    except (InvalidInput, FetchError) as error:
        problem = field_error(error, field="url")
        return await asyncio.to_thread(import_page, context, archives, problem=problem, values={"url_typed": form.url})
    return await asyncio.to_thread(import_page, context, archives, done)


class ArchiveForm(Form, frozen=True):
    source: str = ""


class MinifluxForm(Form, frozen=True):
    """The form that imports an account of a Miniflux server."""

    server: str = ""
    api_key: str = ""
    apply_all: bool | None = None
    """Apply filters, styles, scripts and receivers as well."""


class TtrssForm(Form, frozen=True):
    ttrss_server: str = ""
    ttrss_username: str = ""
    ttrss_password: str = ""


@routes.post("/feeds/import/archive", accepts_upload=True)
def import_archive(
    context: RequestContext, caller: User, archives: ArchiveServices, request: Request, form: ArchiveForm
) -> PageResponse | Redirect:
    """Start the import of a file. The page that follows shows its progress, or asks what an archive may change."""
    try:
        _start(caller, archives, request, form)
    except (InvalidInput, ImportRunning) as error:
        problem = field_error(error, field="archive", renamed={"file": "archive"})
        return import_page(context, archives, problem=problem, values={"source_chosen": form.source})
    return Redirect("/feeds/import#import-run")


def _start(caller: User, archives: ArchiveServices, request: Request, form: ArchiveForm) -> None:
    if form.source not in list(ImportSource):
        raise InvalidInput(msg("Choose where the file comes from."), field="source")
    if request.upload is None:
        raise InvalidInput(msg("Choose a file first."))
    upload = request.upload
    archives.background_imports.start_file(caller, ImportSource(form.source), upload.path, upload.name, asks=True)


@routes.post("/feeds/import/answer")
def answer_import(
    context: RequestContext, caller: User, archives: ArchiveServices, form: AnswerForm
) -> PageResponse | Redirect:
    """Import the archive that waits for an answer, with the parts that were ticked."""
    try:
        archives.background_imports.answer(caller, Instant(form.started_at or 0), form.parts())
    except InvalidInput as error:
        return import_page(context, archives, problem=field_error(error, field="archive"))
    return Redirect("/feeds/import#import-run")


@routes.post("/feeds/import/cancel")
def cancel_import(caller: User, archives: ArchiveServices, form: AnswerForm) -> Redirect:
    """Forget the archive that waits for an answer."""
    archives.background_imports.cancel(caller, Instant(form.started_at or 0))
    return Redirect("/feeds/import", notice=_("Nothing was imported."))


@routes.post("/feeds/import/miniflux")
def import_from_miniflux(
    context: RequestContext, caller: User, archives: ArchiveServices, form: MinifluxForm
) -> PageResponse | Redirect:
    try:
        parts = ALL_PARTS if form.apply_all else DEFAULT_PARTS
        archives.background_imports.start_miniflux(caller, complete_url(form.server), form.api_key, parts=parts)
    except (InvalidInput, ImportRunning, FetchError) as error:
        problem = field_error(error, field="server", renamed={"url": "server"})
        typed = {"server_typed": form.server, "apply_all": bool(form.apply_all)}
        return import_page(context, archives, problem=problem, values=typed)
    return Redirect("/feeds/import#import-run")


@routes.post("/feeds/import/tiny-tiny-rss")
def import_from_ttrss(
    context: RequestContext, caller: User, archives: ArchiveServices, form: TtrssForm
) -> PageResponse | Redirect:
    try:
        archives.background_imports.start_ttrss(
            caller, complete_url(form.ttrss_server), form.ttrss_username, form.ttrss_password
        )
    except (InvalidInput, ImportRunning, FetchError) as error:
        renamed = {name: f"ttrss_{name}" for name in ("username", "password")} | {"url": "ttrss_server"}
        problem = field_error(error, field="ttrss_server", renamed=renamed)
        typed = {"ttrss_server_typed": form.ttrss_server, "ttrss_username_typed": form.ttrss_username}
        return import_page(context, archives, problem=problem, values=typed)
    return Redirect("/feeds/import#import-run")


@routes.get("/feeds/export")
def export_feeds(caller: User, services: Services) -> Response:
    return Response(services.feeds.opml.export(caller.id), 200, _ATTACHMENT, "text/xml; charset=utf-8")


@routes.get("/feeds/export/archive")
def export_account(caller: User, archives: ArchiveServices) -> Response:
    """Send an archive of the whole account."""
    pieces = archives.account_export.stream(caller)
    return Download(pieces, "tidings-archive.zip", "application/zip", SANDBOX_HEADERS)


def _uploaded(request: Request) -> bytes:
    body = forms.file(request, "file") if forms.kind_of(request) == forms.MULTIPART else None
    if not body:
        raise InvalidInput(msg("Choose a file first."))
    return body


def _pasted(text: str) -> bytes:
    if not text.strip():
        raise InvalidInput(msg("Paste the text of a file first."))
    return text.encode()


def import_page(
    context: RequestContext,
    archives: ArchiveServices,
    done: OpmlImportResult | None = None,
    problem: InvalidInput | None = None,
    values: Mapping[str, Any] | None = None,
) -> PageResponse:
    """Return the page.

    done: the result of an import of OPML. values: what was typed into the form with the problem.
    """
    lines: list[FailedOutline] = []
    if done is not None:
        lines = [FailedOutline(outline, is_left_out=True) for outline in done.unusable]
        lines += [FailedOutline(outline, is_left_out=False) for outline in done.ignored_settings]
        lines.sort(key=lambda line: line.remark.line)
    shown = {
        "title": _("Import and export"),
        "place": "import",
        "done": done,
        "url_typed": "",
        "text_typed": "",
        "server_typed": "",
        "apply_all": False,
        "ttrss_server_typed": "",
        "ttrss_username_typed": "",
        "lines": lines[:MAX_REMARKS],
        "more_lines": max(0, len(lines) - MAX_REMARKS),
        **progress(context),
        **shown_import(context, archives),
        **(values or {}),
    }
    return PageResponse("archives/import.html", shown, status=400 if problem else 200, problem=problem)


def progress(context: RequestContext) -> dict[str, Any]:
    """Return the numbers of feeds: waiting (never checked) and total, then old and newest.

    old: the number of unread entries that are older than a week. newest: see `Shown`.
    """
    user_id = context.caller.id
    with context.services.reading() as db:
        newest = entry_lists.newest_id(db, user_id)
        waiting = health.count_unchecked(db, user_id)
        old = EntryLists(db, user_id).count(
            EntryFilter(statuses=(EntryStatus.UNREAD,), published_before=Instant(context.now - OLD_ENTRY_AGE))
        )
    return {"waiting": waiting, "total": context.sidebar.feed_count, "old": old, "newest": newest}
