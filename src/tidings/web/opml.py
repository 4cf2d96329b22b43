"""Coming from another reader and leaving for one: OPML."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from tidings.domain.errors import InvalidInput
from tidings.domain.opml import Remark
from tidings.domain.users import User
from tidings.http import forms
from tidings.http.replies import Reply
from tidings.http.requests import Request
from tidings.services import Services
from tidings.services.opml import MOST_REMARKS, Imported
from tidings.storage import feed_health
from tidings.web.language import _
from tidings.web.problems import plain
from tidings.web.routes import Routes
from tidings.web.security import NOTHING_RUNS
from tidings.web.visits import Page, Visit

routes = Routes()

# As much as the API takes.
LARGEST_DOCUMENT = 32 * 2**20
_AS_FILE = (("Content-Disposition", 'attachment; filename="feeds.opml"'), ("Cache-Control", "no-store"), *NOTHING_RUNS)


class Line(Struct, frozen=True):
    """Of a report: what was wrong in a line of the document. is_left_out: the whole feed, not one setting of it."""

    remark: Remark
    is_left_out: bool


@routes.get("/feeds/import")
def show_import(visit: Visit) -> Page:
    return _import_page(visit)


@routes.post("/feeds/import", body_limit=LARGEST_DOCUMENT)
def import_feeds(visit: Visit, caller: User, services: Services) -> Page:
    """All that can be used, or nothing; then a line for every line that something was wrong with."""
    try:
        body = _uploaded(visit.request)
        return _import_page(visit, services.opml.import_(caller.id, body))
    except InvalidInput as error:
        return _import_page(visit, problem=plain(error, field="file"))


@routes.get("/feeds/export")
def export_feeds(caller: User, services: Services) -> Reply:
    return Reply(200, services.opml.export(caller.id), "text/xml; charset=utf-8", _AS_FILE)


def _uploaded(request: Request) -> bytes:
    body = forms.file(request, "file") if forms.kind_of(request) == forms.MULTIPART else None
    if not body:
        raise InvalidInput(_("Choose a file first."))
    return body


def _import_page(visit: Visit, done: Imported | None = None, problem: InvalidInput | None = None) -> Page:
    lines: list[Line] = []
    if done is not None:
        lines = [Line(one, is_left_out=True) for one in done.unusable]
        lines += [Line(one, is_left_out=False) for one in done.odd]
        lines.sort(key=lambda line: line.remark.line)
    values = {
        "title": _("Import and export"),
        "place": "import",
        "done": done,
        "lines": lines[:MOST_REMARKS],
        "more_lines": max(0, len(lines) - MOST_REMARKS),
        **progress(visit),
    }
    return Page("import.html", values, status=400 if problem else 200, problem=problem)


def progress(visit: Visit) -> dict[str, Any]:
    """waiting: feeds that were never checked, of how many."""
    with visit.services.reading() as db:
        waiting = feed_health.waiting(db, visit.caller.id)
    return {"waiting": waiting, "total": len(visit.sidebar.feeds)}
