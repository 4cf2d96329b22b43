"""Marks of the Fever API. Each sets a state, so that a repeated request changes nothing.

mark=item&as=read|unread|saved|unsaved&id=N
mark=feed|group&as=read&id=N&before=T
unread_recently_read=1
"""

from __future__ import annotations

from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.base.times import LATEST, SECOND, Instant
from tidings.domain.entries.entries import EntryFilter, EntryStatus
from tidings.fever.parameters import Parameters
from tidings.services import Services
from tidings.services.accounts.app_logins import FeverLogin

STATUSES = {"read": EntryStatus.READ, "unread": EntryStatus.UNREAD}
STARS = {"saved": True, "unsaved": False}
# "Kindling", the group of all feeds, and "Sparks", feeds that are shown apart, which Tidings does not have.
ALL_FEEDS, SPARKS = 0, -1
# Maximum number of items that one request may mark.
MAX_MARKED = 10_000


def apply(parameters: Parameters, login: FeverLogin, services: Services) -> None:
    """Apply the mark of a request, if it has one. Raises InvalidInput for a mark that is not known."""
    if parameters.text("unread_recently_read") not in ("", "0"):
        services.entries.app_marks.undo_read(login)
    match parameters.text("mark"):
        case "":
            pass
        case "item":
            _mark_items(parameters, login, services)
        case "feed" | "group" as kind:
            _mark_list(kind, parameters, login, services)
        case other:
            raise InvalidInput(verbatim(f"mark: {other[:40]!r} is not item, feed or group."), field="mark")


def _mark_items(parameters: Parameters, login: FeverLogin, services: Services) -> None:
    state, ids = parameters.text("as"), parameters.ids("id", MAX_MARKED + 1)
    if not ids:
        raise InvalidInput(verbatim("id: send the number of an item."), field="id")
    if len(ids) > MAX_MARKED:
        raise InvalidInput(verbatim(f"id: send {MAX_MARKED:,} numbers at most."), field="id")
    if state in STATUSES:
        services.entries.app_marks.set_status(login, ids, STATUSES[state])
    elif state in STARS:
        services.entries.app_marks.set_starred(login, ids, STARS[state])
    else:
        raise InvalidInput(verbatim(f"as: {state[:40]!r} is not read, unread, saved or unsaved."), field="as")


def _mark_list(kind: str, parameters: Parameters, login: FeverLogin, services: Services) -> None:
    number = parameters.number("id")
    if number is None:
        raise InvalidInput(verbatim(f"id: send the number of a {kind}."), field="id")
    if parameters.text("as") != "read":
        raise InvalidInput(verbatim(f"as: a {kind} can be marked as read only."), field="as")
    if kind == "group" and number == ALL_FEEDS:
        entry_filter = EntryFilter()
    elif kind == "group" and number == SPARKS:
        return
    else:
        entry_filter = EntryFilter(feed_id=number) if kind == "feed" else EntryFilter(category_id=number)
    services.entries.app_marks.mark_list_read(
        login, entry_filter, _stored_until(parameters.number("before"), services.clock())
    )


def _stored_until(before: int | None, now: Instant) -> Instant:
    """Return the time of `before`. None and 0 mean now; some clients send the largest number they can."""
    if not before:
        return now
    return Instant(max(0, min(before, LATEST // SECOND)) * SECOND)
