"""What scripts ask for: counts, and where a listener is. And the keys, which they obey."""

from __future__ import annotations

import msgspec

from tidings.domain.users import User
from tidings.http.replies import Reply
from tidings.services import Services
from tidings.web.calling import Form
from tidings.web.language import N_, _
from tidings.web.routes import Routes
from tidings.web.security import NOTHING_RUNS
from tidings.web.visits import Page, Redirect, Visit

routes = Routes()

_NOT_KEPT = (("Cache-Control", "no-store"), *NOTHING_RUNS)

KEYS = (
    (
        N_("Go to"),
        (
            (("g u",), N_("Unread")),
            (("g b",), N_("Starred")),
            (("g h",), N_("History")),
            (("g f",), N_("Feeds")),
            (("g c",), N_("Categories")),
            (("g s",), N_("Settings")),
            (("/",), N_("Search")),
            (("+",), N_("Add a feed")),
        ),
    ),
    (
        N_("Entries"),
        (
            (("j", "n", "→"), N_("Next")),
            (("k", "p", "←"), N_("Previous")),
            (("o", "Enter"), N_("Open")),
            (("v",), N_("Original")),
            (("V",), N_("Original, here")),
            (("c",), N_("Comments")),
            (("C",), N_("Comments, here")),
            (("m",), N_("Mark read or unread")),
            (("M",), N_("The same, and go to the previous")),
            (("f",), N_("Star")),
            (("s",), N_("Save")),
            (("d",), N_("Fetch the whole article")),
        ),
    ),
    (
        N_("Lists"),
        (
            (("A",), N_("Mark all read")),
            (("z",), N_("Undo")),
            (("r",), N_("Refresh this list")),
            (("R",), N_("Refresh all feeds")),
            (("Esc",), N_("Close, or back to the list")),
            (("?",), N_("This help")),
        ),
    ),
)


class Position(Form, frozen=True):
    """position: seconds from the beginning."""

    position: int | None = None
    back: str = ""


@routes.get("/counts")
def show_counts(visit: Visit) -> Reply:
    """unread, starred, and f7 or c3 for a feed or category with unread entries; those with none are left out."""
    sidebar = visit.sidebar
    counts = {f"c{line.category.id}": line.unread for line in sidebar.categories if line.unread}
    counts |= {f"f{feed.id}": feed.unread for feed in sidebar.feeds.values() if feed.unread}
    counts |= {"unread": sidebar.unread, "starred": sidebar.starred}
    return Reply(200, msgspec.json.encode(counts), headers=_NOT_KEPT)


@routes.post("/enclosures/{enclosure_id}/position")
def keep_position(caller: User, services: Services, enclosure_id: int, form: Position) -> Redirect:
    services.enclosures.set_progression(caller.id, enclosure_id, min(form.position or 0, 2**31 - 1))
    return Redirect("/")


@routes.get("/keys")
def show_keys() -> Page:
    return Page("keys.html", {"title": _("Keyboard shortcuts"), "groups": KEYS})
