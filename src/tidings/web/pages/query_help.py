"""The page that lists what the query language has; docs/query.md describes all of it."""

from __future__ import annotations

from tidings.http.endpoints import Routes
from tidings.web.context import PageResponse
from tidings.web.language import N_, _

routes = Routes()

# Groups of examples, with what they find.
EXAMPLES = (
    (
        N_("Words"),
        (
            (("rain snow",), N_("both words, in any of their forms")),
            (('"heavy rain"',), N_("these words next to each other")),
            (("rai*",), N_("words that begin like this")),
            (("rain OR snow",), N_("at least one of the words")),
            (("-rain", "-(rain wind)"), N_("entries without this")),
            (("(rain OR snow) wind",), N_("parentheses group words and fields")),
        ),
    ),
    (
        N_("Where"),
        (
            (("title:rain", "text:rain"), N_("only in the title, or only in the text")),
            (("author:jane", 'author:"jane doe"'), N_("words of the author's name")),
            (("feed:weather", "category:news"), N_("words of the title of the feed or the category")),
            (("site:example.org", "url:example.org/blog"), N_("the feed's site, or a part of the entry's address")),
            (("label:later", "#linux"), N_("your label, or the publisher's tag")),
            (("lang:pt",), N_("the language of the entry")),
            (("S:news", 'search:"my view"'), N_("the entries of a saved view")),
        ),
    ),
    (
        N_("State and size"),
        (
            (
                ("is:unread", "is:read", "is:starred", "is:shared", "is:duplicate", "is:hidden"),
                N_("entries in this state"),
            ),
            (("has:audio", "has:video", "has:image", "has:enclosure"), N_("attached files")),
            (("words>500", "minutes<=5"), N_("the number of words, or the reading time")),
        ),
    ),
    (
        N_("Times"),
        (
            (("published:today", "published:7d"), N_("of today, or of the last seven days")),
            (("published:2026-01", "published:2026-01..2026-03"), N_("of a month or a day, or from one to another")),
            (("published:>1y",), N_("more than a year old")),
            (("added:12h", "changed:7d", "read:yesterday"), N_("when an entry was found, changed or read")),
        ),
    ),
    (
        N_("Expressions"),
        ((("title:/^re:/i", "url:/…/", "author:/…/"), N_("a regular expression of RE2; the letter i ignores case")),),
    ),
)


@routes.get("/search/help")
def show_query_help() -> PageResponse:
    """Show what a query can ask."""
    return PageResponse("query_help.html", {"title": _("Search syntax"), "groups": EXAMPLES})
