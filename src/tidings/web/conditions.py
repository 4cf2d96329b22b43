"""Queries and filters built from rows on a page, or typed as text: what a form with rows says, and how it is shown.

    form ─► read ─► Built ─► edited (a row more, a row less, as text, as rows) ─► shown ─► parts/conditions.html

A form has the text as it was, under its own name, and the rows as lists: `query_field`, `query_how`, `query_value`.
Text whose rows have not been changed stays as it was typed. Without scripts each change is a button of the form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from tidings.base.conditions import Condition
from tidings.base.errors import InvalidInput
from tidings.base.text import sort_key
from tidings.content.rules import filter_conditions, list_conditions
from tidings.content.rules.filters import FilterField
from tidings.domain.entries.entries import Direction, Entry, EntryFilter, PageRequest, Total
from tidings.http.binding import Form
from tidings.query import QueryError, conditions, normal_form, parse
from tidings.query.model import Attachment, State
from tidings.web.context import RequestContext
from tidings.web.field_errors import WrongPlace, field_error
from tidings.web.language import N_, _, ngettext
from tidings.web.message_translation import join_sentences, translated

MAX_ROWS = 64
# Feeds that a menu offers; others are found by words of their titles.
MAX_FEEDS = 300
# Titles below the number of matching entries.
MAX_TITLES = 5
# Where counting them stops.
COUNTED = 10_000

_FIELD_NAMES: Final = {
    conditions.ANY: N_("Title or text"),
    "title": N_("Title"),
    "text": N_("Text"),
    "author": N_("Author"),
    "feed": N_("Feed"),
    "category": N_("Category"),
    "label": N_("Label"),
    "tag": N_("Publisher's tag"),
    conditions.STATE: N_("State"),
    conditions.ATTACHMENT: N_("Attachment"),
    "published": N_("Date published"),
    "added": N_("Date received"),
    "changed": N_("Date changed"),
    "read": N_("Date read"),
    "words": N_("Number of words"),
    "minutes": N_("Minutes to read"),
    "site": N_("Site"),
    "url": N_("Address"),
    "lang": N_("Language"),
    conditions.VIEW: N_("Saved view"),
    conditions.QUERY: N_("Search syntax"),
    FilterField.TITLE: N_("Title"),
    FilterField.URL: N_("Address"),
    FilterField.COMMENTS_URL: N_("Address of the comments"),
    FilterField.CONTENT: N_("Content (HTML)"),
    FilterField.AUTHOR: N_("Author"),
    FilterField.TAG: N_("Publisher's tag"),
    FilterField.DATE: N_("Date published"),
    filter_conditions.LINE: N_("Line of text"),
    list_conditions.ANY: N_("Address, title, author or tag"),
}
_HOW_NAMES: Final = {
    "has": N_("contains"),
    "lacks": N_("does not contain"),
    "is": N_("is"),
    "is_not": N_("is not"),
    "begins": N_("begins with"),
    "has_exactly": N_("contains (case-sensitive)"),
    "matches": N_("matches the expression"),
    "fails": N_("does not match the expression"),
    "above": N_("more than"),
    "at_least": N_("at least"),
    "equal": N_("exactly"),
    "at_most": N_("at most"),
    "below": N_("less than"),
    "last": N_("in the last"),
    "older": N_("older than"),
    "on": N_("on the day"),
    "since": N_("since"),
    "until": N_("until"),
    "after": N_("after"),
    "before": N_("before"),
    "between": N_("between"),
    "future": N_("in the future"),
}
_STATE_NAMES: Final = {
    State.UNREAD: N_("Unread"),
    State.READ: N_("Already read"),
    State.STARRED: N_("Starred"),
    State.SHARED: N_("Shared"),
    State.DUPLICATE: N_("Duplicate"),
    State.HIDDEN: N_("Hidden by a rule"),
}
_ATTACHMENT_NAMES: Final = {
    Attachment.ENCLOSURE: N_("Any file"),
    Attachment.AUDIO: N_("Audio"),
    Attachment.VIDEO: N_("Video"),
    Attachment.IMAGE: N_("Picture"),
}
_HINTS: Final = {
    "site": "example.org",
    "url": "example.org/blog",
    "lang": "pt",
    conditions.QUERY: "rain OR snow",
    "between": "2020-01-01,2021-01-01",
}
_DURATION: Final = re.compile(r"([0-9]{1,5})(h|d|w|m|y)")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Language(Struct, frozen=True):
    """What rows are written as: queries, filters, or one expression."""

    hows: Mapping[str, tuple[str, ...]]
    """By field, in the order of the menu: how it can be compared."""
    default: Condition
    """A new row."""
    durations: tuple[str, ...]
    """Offered for "in the last"."""
    is_query: bool
    """Whether rows can be joined by "any" as well as by "all", and are written only if all of them can be used."""
    rows_of: Callable[[str], conditions.Conditions]
    """Returns the rows of a text. Raises InvalidInput."""
    text_of: Callable[[Sequence[Condition], bool], str]
    """Returns the text of rows that can be used."""
    check: Callable[[Condition], object]
    """Raises InvalidInput for a row that cannot be used."""
    setting: str = ""
    """Of a feed, which blocks the entries that the text of rows matches; "" for queries."""


QUERIES: Final = Language(
    conditions.HOWS,
    Condition(conditions.ANY, "has"),
    ("1h", "12h", "1d", "2d", "1w", "2w", "1m", "3m", "6m", "1y"),
    True,
    lambda text: conditions.conditions_of(parse(text)),
    lambda rows, is_any: normal_form(conditions.tree_of(rows, is_any=is_any)),
    conditions.term_of,
)
FILTERS: Final = Language(
    filter_conditions.HOWS,
    Condition(FilterField.TITLE, "has"),
    ("12h", "1d", "2d", "7d", "14d", "30d", "90d", "180d", "365d"),
    False,
    lambda text: conditions.Conditions(tuple(filter_conditions.conditions_of(text)), is_any=True),
    lambda rows, _is_any: filter_conditions.text_of(rows),
    filter_conditions.check,
    "block_filter_entry_rules",
)
LISTS: Final = Language(
    list_conditions.HOWS,
    Condition(list_conditions.ANY, "has"),
    (),
    False,
    lambda text: conditions.Conditions(tuple(list_conditions.conditions_of(text)), is_any=True),
    lambda rows, _is_any: list_conditions.text_of(rows),
    list_conditions.check,
    "blocklist_rules",
)


class QueryRows(Form, frozen=True):
    """The rows of a query in a form that has its text as `query`."""

    query_mode: str = ""
    """rows or text."""
    query_any: bool | None = None
    query_field: tuple[str, ...] = ()
    query_how: tuple[str, ...] = ()
    query_value: tuple[str, ...] = ()
    edit: str = ""
    """The button that changes rows: query-add, query-remove-2, query-text, query-rows, query-preview."""


class FilterRows(Form, frozen=True):
    """The rows of the two kinds of filters in a form that has their texts under the names of the API."""

    block_mode: str = ""
    block_field: tuple[str, ...] = ()
    block_how: tuple[str, ...] = ()
    block_value: tuple[str, ...] = ()
    keep_mode: str = ""
    keep_field: tuple[str, ...] = ()
    keep_how: tuple[str, ...] = ()
    keep_value: tuple[str, ...] = ()
    edit: str = ""


class ListRows(FilterRows, frozen=True):
    """The rows of the filters of a feed, which has two older ones of one expression each."""

    blocklist_mode: str = ""
    blocklist_field: tuple[str, ...] = ()
    blocklist_how: tuple[str, ...] = ()
    blocklist_value: tuple[str, ...] = ()
    keeplist_mode: str = ""
    keeplist_field: tuple[str, ...] = ()
    keeplist_how: tuple[str, ...] = ()
    keeplist_value: tuple[str, ...] = ()


class Built(Struct, frozen=True):
    """A query or filter on its way between a form and a page."""

    language: Language
    prefix: str
    """Of the names in the form."""
    text: str
    """The last one that could be used, while rows have problems."""
    rows: tuple[Condition, ...] = ()
    is_any: bool = False
    is_text: bool = True
    problems: Mapping[int, str] = {}
    """By row, from 0."""
    focus: int | None = None
    """The row that gets the focus."""

    @property
    def has_lines(self) -> bool:
        """Whether its text has a line for each row."""
        return self.language is FILTERS

    @property
    def is_wrong(self) -> bool:
        return bool(self.problems)

    @property
    def has_gaps(self) -> bool:
        """Whether a row has no value, although it is to be stored."""
        return any(_is_blank(self.rows[number]) for number in self.problems)

    @property
    def lacks_value(self) -> bool:
        """Whether no row of a query has a value yet, so that nobody knows what will match. Filters may be empty."""
        return self.language.is_query and bool(self.rows) and all(map(_is_blank, self.rows))


def stored(language: Language, prefix: str, text: str) -> Built:
    """Return what a page shows first: rows, or the text if it cannot be read or no row would say it better."""
    built = edited(Built(language, prefix, text), f"{prefix}-rows")
    if text.strip() and all(one.field == conditions.QUERY for one in built.rows):
        return Built(language, prefix, text)
    return built


def with_spare_row(built: Built) -> Built:
    """Return filters with an empty row at the end, so that one more is typed as easily as the first."""
    if built.is_text or len(built.rows) >= MAX_ROWS or _is_blank(built.rows[-1]):
        return built
    return replace(built, rows=(*built.rows, built.language.default))


def read(language: Language, prefix: str, form: Form, text: str, *, is_final: bool = False) -> Built:
    """Return what a form says. text: its field for the text.

    is_final: whether it is to be stored, so that a row without a value is wrong, except the one that `with_spare_row`
        added and nobody has filled in. Others do not count.
    """
    if getattr(form, f"{prefix}_mode") != "rows":
        return Built(language, prefix, text)
    sent = zip(*(getattr(form, f"{prefix}_{part}") for part in ("field", "how", "value")), strict=False)
    rows = tuple(_possible(language, *one) for one in sent)[:MAX_ROWS]
    is_any = bool(getattr(form, f"{prefix}_any", True))
    problems = {number: wrong for number, one in enumerate(rows) if (wrong := _problem(language, one))}
    used = [one for one in rows if not _is_blank(one)]
    if is_final and used:
        kept = len(rows) - (not language.is_query and rows[-1] == language.default)
        problems |= {number: _("Say what to look for.") for number, one in enumerate(rows[:kept]) if _is_blank(one)}
    built = Built(language, prefix, text, rows, is_any, is_text=False, problems=problems)
    return built if language.is_query and problems else replace(built, text=_text(built, used))


def edited(built: Built, edit: str) -> Built:
    """Return the rows after the button `edit`, which may belong to others."""
    action, _dash, number = edit.removeprefix(f"{built.prefix}-").partition("-")
    if not edit.startswith(f"{built.prefix}-"):
        return built
    match action:
        case "add":
            return replace(built, rows=(*built.rows, built.language.default), focus=len(built.rows))
        case "remove" if number.isdecimal() and int(number) < len(built.rows):
            return _without(built, int(number))
        case "text" if not (built.language.is_query and built.problems):
            return Built(built.language, built.prefix, built.text)
        case "rows" if built.is_text:
            return _as_rows(built)
    return built


def _without(built: Built, gone: int) -> Built:
    rows = built.rows[:gone] + built.rows[gone + 1 :] or (built.language.default,)
    problems = {number - (number > gone): text for number, text in built.problems.items() if number != gone}
    return replace(built, rows=rows, problems=problems, focus=min(gone, len(rows) - 1))


def _as_rows(built: Built) -> Built:
    try:
        found = built.language.rows_of(built.text)
    except InvalidInput:
        return built
    if len(found.rows) > MAX_ROWS:
        return built
    problems = {number: wrong for number, one in enumerate(found.rows) if (wrong := _problem(built.language, one))}
    rows = found.rows or (built.language.default,)
    return replace(built, rows=rows, is_any=found.is_any, is_text=False, problems=problems)


def _possible(language: Language, field: str, how: str, value: str) -> Condition:
    """Return a row as sent; after another field was chosen, with a comparison that this has."""
    hows = language.hows.get(field)
    if hows is None:
        return language.default
    return Condition(field, how if how in hows else hows[0], value)


def _is_blank(row: Condition) -> bool:
    return row.is_blank and row.how not in filter_conditions.ALONE


def _problem(language: Language, row: Condition) -> str:
    if _is_blank(row):
        return ""
    try:
        language.check(row)
    except QueryError as error:
        if row.field == conditions.QUERY:
            return str(translated(field_error(error).text))
        expected = _("Expected %(what)s.", what=translated(error.expected))
        return join_sentences(expected, translated(error.reason)) if error.reason else expected
    except InvalidInput as error:
        return str(translated(error.text))
    return ""


def _text(built: Built, used: Sequence[Condition]) -> str:
    """Return the text of rows: as it was if they mean the same."""
    try:
        was = built.language.rows_of(built.text)
        if was.rows == tuple(used) and (len(used) < 2 or was.is_any == built.is_any):
            return built.text
    except InvalidInput:
        pass
    return built.language.text_of(used, built.is_any)


# As a page shows it


class ShownRow(Struct, frozen=True):
    """A row with its menus, as pairs of value and label."""

    row: Condition
    hows: list[tuple[str, str]]
    kind: str
    """text, number, date, select, or "" for a comparison without a value."""
    choices: list[tuple[str, str]]
    hint: str
    problem: str


class ShownConditions(Struct, frozen=True):
    """What `parts/conditions.html` shows."""

    built: Built
    fields: list[tuple[str, str]]
    rows: list[ShownRow]
    place: WrongPlace | None = None
    """Where the text cannot be read."""
    has_unreadable: bool = False
    """Whether a row is written as text, because no row says the same."""
    matches: Matches | None = None
    """What matches, where the page has been asked for it."""


class Matches(Struct, frozen=True):
    """What matches among the stored entries."""

    total: Total
    entries: Sequence[Entry]
    """The newest."""
    of: int = 0
    """How many of the newest entries were tried; 0 for all stored ones."""


def shown(
    context: RequestContext, built: Built, problem: InvalidInput | None = None, matches: Matches | None = None
) -> ShownConditions:
    """Return what the page shows. problem: why the form was refused."""
    language = built.language
    names = {field: _(_FIELD_NAMES[field]) for field in language.hows}
    # A line that is not a rule is not offered, but shown where there is one; so are fields with nothing to choose.
    used = {row.field for row in built.rows}
    empty = {
        field
        for field in ("label", conditions.VIEW)
        if field in names and not _choices(context, Condition(field, "is"))
    }
    fields = [(field, name) for field, name in names.items() if field not in {*empty, filter_conditions.LINE} - used]
    return ShownConditions(
        built,
        fields,
        [_shown_row(context, built, number) for number in range(len(built.rows))],
        WrongPlace.of(built.text, problem) if problem and built.is_text else None,
        any(one.field in (conditions.QUERY, filter_conditions.LINE) and not one.is_blank for one in built.rows),
        matches,
    )


def _shown_row(context: RequestContext, built: Built, number: int) -> ShownRow:
    row = built.rows[number]
    kind, choices = _input(context, built.language, row)
    if kind == "select" and row.value not in dict(choices):
        # What was typed before the field was changed is not offered; what is stored is not lost.
        if row.is_blank or _problem(built.language, row):
            row = replace(row, value=choices[0][0] if choices else "")
        else:
            choices.append((row.value, row.value))
    hows = [(how, _(_HOW_NAMES[how])) for how in built.language.hows[row.field]]
    hint = _HINTS.get(row.how) or (_HINTS.get(row.field, "") if kind == "text" else "")
    return ShownRow(row, hows, kind, choices, hint, built.problems.get(number, ""))


def _input(context: RequestContext, language: Language, row: Condition) -> tuple[str, list[tuple[str, str]]]:
    """Return the kind of the row's input, and what it offers."""
    if row.how in filter_conditions.ALONE:
        return "", []
    if row.how in conditions.DURATIONS:
        return "select", [(one, duration(one)) for one in _with(language.durations, row.value)]
    if row.field in (conditions.STATE, conditions.ATTACHMENT, conditions.VIEW):
        return "select", _choices(context, row)
    if row.how in ("is", "is_not") and row.field in ("feed", "category", "label"):
        return "select", _choices(context, row)
    if row.field in ("words", "minutes"):
        return "number", []
    is_moment = row.how in ("on", "since", "until", "after", "before")
    return "date" if is_moment and (row.is_blank or _DAY.fullmatch(row.value)) else "text", []


def _with(offered: Sequence[str], value: str) -> list[str]:
    return [*offered, *([value] if value and value not in offered and _DURATION.fullmatch(value) else [])]


def _choices(context: RequestContext, row: Condition) -> list[tuple[str, str]]:
    match row.field:
        case conditions.STATE:
            return [(value.value, _(name)) for value, name in _STATE_NAMES.items()]
        case conditions.ATTACHMENT:
            return [(value.value, _(name)) for value, name in _ATTACHMENT_NAMES.items()]
        case "category":
            lines = sorted(context.sidebar.categories, key=lambda line: line.path_key)
            return [(str(line.category.id), line.path) for line in lines]
        case "label":
            return [(str(label.id), label.name) for label in context.sidebar.labels]
        case "feed":
            return _feed_choices(context, row.value)
    with context.services.reading() as db:
        views = context.services.entries.queries.views(db, context.caller.id)
    return [(view.name, view.name) for view in views]


def _feed_choices(context: RequestContext, chosen: str) -> list[tuple[str, str]]:
    listed = sorted(context.sidebar.feeds, key=lambda feed: sort_key(feed.title))
    some = [(str(feed.id), feed.title) for feed in listed]
    return some[:MAX_FEEDS] + [one for one in some[MAX_FEEDS:] if one[0] == chosen]


def duration(text: str) -> str:
    """Return a duration of a query in words."""
    found = _DURATION.fullmatch(text)
    if found is None:
        return text
    count = int(found[1])
    match found[2]:
        case "h":
            return ngettext("%(count)d hour", "%(count)d hours", count, count=count)
        case "d":
            return ngettext("%(count)d day", "%(count)d days", count, count=count)
        case "w":
            return ngettext("%(count)d week", "%(count)d weeks", count, count=count)
        case "m":
            return ngettext("%(count)d month", "%(count)d months", count, count=count)
        case _:
            return ngettext("%(count)d year", "%(count)d years", count, count=count)


# What matches


def _with_choices(context: RequestContext, built: Built) -> Built:
    """Return the rows with what their menus show: those whose field was just chosen have no value yet."""
    rows = []
    for row in built.rows:
        choices = _input(context, built.language, row)[1] if _is_blank(row) else []
        rows.append(replace(row, value=choices[0][0]) if choices else row)
    if tuple(rows) == built.rows or built.problems:
        return built
    built = replace(built, rows=tuple(rows))
    return replace(built, text=_text(built, [row for row in rows if not _is_blank(row)]))


def query_matches(
    context: RequestContext, built: Built, *, feed_id: int | None = None, category_id: int | None = None
) -> Matches | None:
    """Return the stored entries that a query finds; None while it cannot be used. Raises InvalidInput."""
    built = _with_choices(context, built)
    if built.problems or built.lacks_value:
        return None
    query = context.services.entries.queries.dated(context.caller, built.text)
    filter_ = EntryFilter(query=query, feed_id=feed_id, category_id=category_id)
    newest = PageRequest(direction=Direction.DESC, limit=MAX_TITLES, count_up_to=COUNTED)
    with context.services.entries.listing.of(context.caller.id, filter_) as lists:
        return Matches(lists.page_ids(filter_, newest)[1], lists.rows(filter_, newest))


def filter_matches(context: RequestContext, built: Built, *, feed_id: int | None = None) -> Matches | None:
    """Return which of the newest stored entries some filters match; None without usable ones. Raises NotFound."""
    built = _with_choices(context, built)
    if not built.text.strip() or built.problems:
        return None
    rules = {built.language.setting: built.text}
    found = context.services.feeds.rule_previewer.matching(context.caller, rules, feed_id=feed_id)
    return Matches(Total(len(found.entries)), found.entries[:MAX_TITLES], of=found.tried)
