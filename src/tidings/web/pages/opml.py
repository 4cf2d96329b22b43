"""OPML import and export pages."""

from __future__ import annotations

import asyncio
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EntryFilter, EntryStatus
from tidings.domain.errors import FetchError, InvalidInput
from tidings.domain.feeds.opml import OpmlProblem
from tidings.domain.messages import msg
from tidings.domain.times import Instant
from tidings.http import forms
from tidings.http.binding import Form
from tidings.http.endpoints import Routes
from tidings.http.requests import Request
from tidings.http.responses import Download
from tidings.services import Services
from tidings.services.entries.listing import EntryLists
from tidings.services.feeds.opml import MAX_REMARKS, OpmlImportResult
from tidings.storage.feeds import health
from tidings.web.context import PageResponse, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import _
from tidings.web.pages.entry_lists import OLD
from tidings.web.pages.subscribe import complete_url
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
    """A problem in a line of the document. is_left_out: the whole feed was left out, not one setting."""

    remark: OpmlProblem
    is_left_out: bool


@routes.get("/feeds/import")
def show_import(context: RequestContext) -> PageResponse:
    return _import_page(context)


@routes.post("/feeds/import", body_limit=MAX_UPLOAD_BYTES, accepts_files=True)
def import_feeds(context: RequestContext, caller: User, services: Services) -> PageResponse:
    """Import all usable feeds in one transaction, and show a report line for each problem."""
    try:
        body = _uploaded(context.request)
        return _import_page(context, services.opml.import_(caller.id, body))
    except InvalidInput as error:
        return _import_page(context, problem=field_error(error, field="file"))


class ImportUrlForm(Form, frozen=True):
    url: str = ""


@routes.post("/feeds/import-url")
async def import_from_url(
    context: RequestContext, caller: User, services: Services, form: ImportUrlForm
) -> PageResponse:
    """Import the document at a URL. If that fails, the form shows the reason and what was typed."""
    try:
        done = await services.opml.import_from(caller.id, complete_url(form.url))
    except (InvalidInput, FetchError) as error:
        problem = field_error(error, field="url")
        return await asyncio.to_thread(_import_page, context, problem=problem, url=form.url)
    return await asyncio.to_thread(_import_page, context, done)


@routes.get("/feeds/export")
def export_feeds(caller: User, services: Services) -> Response:
    return Response(services.opml.export(caller.id), 200, _ATTACHMENT, "text/xml; charset=utf-8")


@routes.get("/feeds/export/archive")
def export_account(caller: User, services: Services) -> Response:
    """Send an archive of the whole account."""
    pieces = services.account_export.stream(caller)
    return Download(pieces, "tidings-archive.zip", "application/zip", SANDBOX_HEADERS)


def _uploaded(request: Request) -> bytes:
    body = forms.file(request, "file") if forms.kind_of(request) == forms.MULTIPART else None
    if not body:
        raise InvalidInput(msg("Choose a file first."))
    return body


def _import_page(
    context: RequestContext,
    done: OpmlImportResult | None = None,
    problem: InvalidInput | None = None,
    url: str = "",
) -> PageResponse:
    lines: list[FailedOutline] = []
    if done is not None:
        lines = [FailedOutline(outline, is_left_out=True) for outline in done.unusable]
        lines += [FailedOutline(outline, is_left_out=False) for outline in done.ignored_settings]
        lines.sort(key=lambda line: line.remark.line)
    values = {
        "title": _("Import and export"),
        "place": "import",
        "done": done,
        "url_typed": url,
        "lines": lines[:MAX_REMARKS],
        "more_lines": max(0, len(lines) - MAX_REMARKS),
        **progress(context),
    }
    return PageResponse("import.html", values, status=400 if problem else 200, problem=problem)


def progress(context: RequestContext) -> dict[str, Any]:
    """Returns waiting, the number of feeds that were never checked, total, that of all feeds, and old.

    old: the number of unread entries that are older than a week.
    """
    user_id = context.caller.id
    with context.services.reading() as db:
        waiting = health.count_unchecked(db, user_id)
        old = EntryLists(db, user_id).count(
            EntryFilter(statuses=(EntryStatus.UNREAD,), published_before=Instant(context.now - OLD))
        )
    return {"waiting": waiting, "total": len(context.sidebar.feeds), "old": old}
