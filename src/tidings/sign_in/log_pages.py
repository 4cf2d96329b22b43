"""The log of an account, and for administrators the log of all accounts."""

from __future__ import annotations

from typing import Any, Final

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.domain.accounts.events import EventKind
from tidings.domain.accounts.users import User
from tidings.http.binding import Query
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.services.accounts.users import by_id
from tidings.sign_in.account_log import KEPT_FOR
from tidings.sign_in.account_log_store import LogEntry, LogFilter, LogPlace
from tidings.sign_in.log_words import detail_in_words, kind_in_words, methods_in_words
from tidings.sign_in.services import SignInServices
from tidings.web.browser_names import browser_name
from tidings.web.context import PageResponse
from tidings.web.language import _

routes = Routes()

OWN: Final = "/settings/log"
OF_ALL: Final = "/users/log"
PAGE_LENGTH: Final = 50


class LogQuery(Query, frozen=True):
    """The query of a page of the log."""

    before: str = ""
    """The last entry of the page before."""


class LogOfAllQuery(LogQuery, frozen=True):
    """The query of a page of the log of all."""

    user: int | None = None
    kind: str = ""


@routes.get(OWN)
def show_log(caller: User, sign_in: SignInServices, query: LogQuery) -> PageResponse:
    values = {"title": _("Account log"), "path": OWN, "of_all": False, "kind": "", "chosen": None}
    return _page(sign_in, LogFilter(user_id=caller.id), query, values)


@routes.get(OF_ALL, admin=True)
def show_log_of_all(services: Services, sign_in: SignInServices, query: LogOfAllQuery) -> PageResponse:
    kind = query.kind if query.kind in set(EventKind) else ""
    chosen = None
    if query.user is not None:
        with services.reading() as db:
            chosen = by_id(db, query.user)
    values = {"title": _("Log of all accounts"), "path": OF_ALL, "of_all": True, "kind": kind, "chosen": chosen}
    return _page(sign_in, LogFilter(user_id=query.user, kind=kind), query, values)


def _page(sign_in: SignInServices, wanted: LogFilter, query: LogQuery, values: dict[str, Any]) -> PageResponse:
    before = LogPlace.read(query.before) if query.before else None
    if query.before and before is None:
        raise InvalidInput(msg("This page of the log cannot be found: begin with the first one."), field="before")
    entries, more = sign_in.log.page(wanted, before=before, limit=PAGE_LENGTH)
    known = {
        "entries": [(entry, kind_in_words(entry.kind, entry.method), _facts(entry)) for entry in entries],
        "more": str(more) if more else "",
        "days": KEPT_FOR // (24 * 3_600_000_000),
    }
    return PageResponse("sign_in/log.html", values | known)


def _facts(entry: LogEntry) -> list[str]:
    """Return what the log knows of an entry besides its time, in words."""
    return [
        fact
        for fact in (
            detail_in_words(entry.kind, entry.detail),
            methods_in_words(entry.method, entry.second_method),
            browser_name(entry.user_agent) if entry.user_agent else "",
            _("several addresses") if entry.has_several_addresses else entry.address,
            _("by %(name)s", name=entry.actor) if entry.actor else "",
        )
        if fact
    ]
