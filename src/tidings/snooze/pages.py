"""The page with the snoozed entries, and the form that snoozes one."""

from __future__ import annotations

from tidings.base.errors import InvalidInput
from tidings.domain.accounts.users import User
from tidings.http.binding import Form, Query
from tidings.http.endpoints import Routes
from tidings.services.clock import system_clock
from tidings.snooze.services import SnoozeServices
from tidings.snooze.times import days_ahead
from tidings.web import security
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.language import _
from tidings.web.message_translation import translated
from tidings.web.times import date

routes = Routes()

PATH = "/snoozed"
PER_PAGE = 100
MAX_PAGE = 10_000
# The choices of the menu, in days from today.
DAYS = {"tomorrow": 1, "week": 7}


class SnoozeForm(Form, frozen=True):
    """A choice of the menu, or a day."""

    choice: str = ""
    """tomorrow, or week; empty: `day` counts."""
    day: str = ""
    """As date fields send it: 2026-12-01."""
    back: str = ""


class BackForm(Form, frozen=True):
    """The page to return to."""

    back: str = ""


class PageQuery(Query, frozen=True):
    """page: counted from 1."""

    page: int | None = None


@routes.get(PATH)
def show_snoozed(context: RequestContext, snoozes: SnoozeServices, query: PageQuery) -> PageResponse:
    """Show the snoozed entries, in the order in which they come back."""
    page = min(max(query.page or 1, 1), MAX_PAGE)
    found = snoozes.snooze.page(context.caller.id, offset=(page - 1) * PER_PAGE, limit=PER_PAGE + 1)
    return PageResponse(
        "snooze/snoozed.html",
        {
            "title": _("Snoozed"),
            "place": "history",
            "snoozed": found[:PER_PAGE],
            "next_page": page + 1 if len(found) > PER_PAGE else 0,
        },
    )


@routes.post("/entries/{entry_id}/snooze")
def snooze_entry(caller: User, snoozes: SnoozeServices, form: SnoozeForm, entry_id: int) -> Redirect:
    """Snooze an entry until tomorrow, for a week, or until a day."""
    back = security.local_path(form.back) or "/"
    now = system_clock()
    until = form.day.strip()
    if form.choice in DAYS:
        until = days_ahead(DAYS[form.choice], caller.timezone, now).isoformat()
    try:
        found, moment = snoozes.snooze.snooze_one(caller, entry_id, until)
    except InvalidInput as error:
        return Redirect(back, translated(error.text))
    return Redirect(back, _("Unread again on %(day)s.", day=date(found.until, now, caller.timezone)), moment)


@routes.post("/entries/{entry_id}/snooze/end")
def end_snooze(caller: User, snoozes: SnoozeServices, form: BackForm, entry_id: int) -> Redirect:
    """Mark a snoozed entry unread now."""
    snoozes.snooze.end(caller, entry_id)
    return Redirect(security.local_path(form.back) or PATH, _("Unread again."))
