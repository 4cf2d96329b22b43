"""Translates the tree of a query into the filter of a list of entries.

    tree ─► terms that a list has conditions and indexes for (state, feed, tag, times, …) ─► EntryFilter
         ─► terms about words                                                             ─► one full-text expression
         ─► the rest, as conditions on the entries of the list                            ─► shape and parameters

Names of feeds, categories, labels and authors, and regular expressions, are compared here and not in the database, by
the code that `query.Matcher` uses: both engines and the matcher agree on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct, structs
from sqlalchemy import ColumnElement, bindparam, select

from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.base.times import Instant, zone_info
from tidings.content.rules.evaluation import RuleBudget, RuleBudgetExceeded
from tidings.content.rules.regex import compile_regex
from tidings.content.search import alternatives
from tidings.content.search_expressions import AllOf, AnyOf, Expression, Part, Phrases, Without, holds_for_nothing
from tidings.domain.entries.entries import EntryFilter, EntryStatus
from tidings.domain.entries.labels import Label
from tidings.domain.feeds.categories import CategoryTree
from tidings.engine import full_text
from tidings.engine.database import Read, Row
from tidings.engine.statements import in_list, joined_ids, split_ids
from tidings.query.evaluate import time_bounds
from tidings.query.model import (
    And,
    Attachment,
    Comparison,
    Everything,
    Has,
    Id,
    IdField,
    Is,
    Leaf,
    Not,
    Number,
    NumberField,
    Or,
    Pattern,
    PatternField,
    State,
    Text,
    TextField,
    TimeField,
    Times,
    Tree,
    leaves,
)
from tidings.query.names import MAX_TAG, feed_test, is_in_words, is_language, is_name
from tidings.query.parser import expression_of
from tidings.storage.entries import labels, search_index
from tidings.storage.entries.query_conditions import FALSE, TRUE, Shape, list_of
from tidings.storage.feeds import further_categories
from tidings.storage.feeds.categories import list_all, with_below
from tidings.storage.schema import entries, feeds
from tidings.storage.schema.archive import author_prefix, language_prefix

# A regular expression is tested on so many entries, the newest; the query then covers no older ones.
MAX_TESTED = 50_000
# Seconds of processor time for all regular expressions of a query.
MAX_PATTERN_S = 2.0
# So many names of authors, or languages, are looked at.
MAX_VALUES = 20_000
# Up to so many entries are found first and then sorted; a list with more is read in its order.
FEW = 5_000
_LARGEST = 2**31 - 1
_LAST_CHARACTER = "\U0010ffff"

_PARTS = {TextField.ANY: Part.ANY, TextField.TITLE: Part.TITLE, TextField.TEXT: Part.BODY}
_COLUMNS = {
    TimeField.PUBLISHED: "published_at",
    TimeField.CHANGED: "changed_at",
    TimeField.ADDED: "created_at",
    TimeField.READ: "changed_at",
}


class QueryPlan(Struct, frozen=True):
    """What a query adds to a list of entries."""

    entry_filter: EntryFilter
    """The list's filter with the conditions of the query that it can express."""
    expressions: Mapping[str, Expression]
    """What the query asks of words, by group of languages; {} if nothing."""
    rest: Shape
    """The other conditions."""
    parameters: Mapping[str, Any]
    total: int | None = None
    """The number of entries, where making the plan has found them all."""


# Lists the entries of a filter and a plan's conditions on words, newest first, and their titles or URLs in lines.
Candidates = Callable[[PatternField, EntryFilter, Mapping[str, Expression]], tuple[list[int], str]]


def needs_index(tree: Tree) -> bool:
    """Return whether a query asks the full-text index."""
    return any(
        (isinstance(leaf, Text) and leaf.field in _PARTS)
        or (isinstance(leaf, Number) and leaf.field is NumberField.WORDS)
        for leaf in leaves(tree)
    )


class QueryNames:
    """The names that queries of one user compare, each kind read when it is first asked for."""

    def __init__(self, db: Read, user_id: int) -> None:
        self._db = db
        self._user_id = user_id
        self._feeds_of: dict[Text, Sequence[int]] = {}
        self._names: dict[TextField, Sequence[tuple[int, Sequence[str]]]] = {}

    @cached_property
    def language_groups(self) -> list[str]:
        return search_index.language_groups(self._db, self._user_id)

    @cached_property
    def feeds(self) -> Sequence[Row]:
        return self._db.rows(_select_feeds, user=self._user_id)

    def feeds_of(self, leaf: Text) -> Sequence[int]:
        """Return the feeds that match a leaf of the fields feed, category or site; each is looked for once."""
        if leaf not in self._feeds_of:
            is_wanted = feed_test(leaf)
            names = self._feed_names(leaf.field)
            self._feeds_of[leaf] = [feed_id for feed_id, of_feed in names if any(map(is_wanted, of_feed))]
        return self._feeds_of[leaf]

    def _feed_names(self, field: TextField) -> Sequence[tuple[int, Sequence[str]]]:
        """Return what a field compares of each feed, by feed id."""
        if field not in self._names:
            self._names[field] = [(feed["id"], self._names_of(feed, field)) for feed in self.feeds]
        return self._names[field]

    def _names_of(self, feed: Row, field: TextField) -> Sequence[str]:
        if field is TextField.SITE:
            return feed["site_url"], feed["feed_url"]
        if field is TextField.FEED:
            return (feed["title"],)
        return [self.tree.path(one) for one in (feed["category_id"], *self.further.get(feed["id"], ()))]

    @cached_property
    def labels(self) -> Sequence[Label]:
        return labels.list_all(self._db, self._user_id)

    @cached_property
    def further(self) -> Mapping[int, Sequence[int]]:
        """The categories of feeds after the first."""
        return further_categories.of_user(self._db, self._user_id)

    @cached_property
    def tree(self) -> CategoryTree:
        return CategoryTree(list_all(self._db, self._user_id))

    @cached_property
    def values(self) -> Mapping[str, Sequence[str]]:
        """The authors and the languages of entries, by kind of condition."""
        return _Values(self._db, self._user_id)


class _Values(dict[str, Sequence[str]]):
    def __init__(self, db: Read, user_id: int) -> None:
        super().__init__()
        self._db = db
        self._user_id = user_id

    def __missing__(self, kind: str) -> Sequence[str]:
        values = self._db.scalars(_select_values[kind], user=self._user_id, limit=MAX_VALUES)
        self[kind] = [value for value in values if value is not None]
        return self[kind]


def plan(
    db: Read,
    user_id: int,
    entry_filter: EntryFilter,
    candidates: Candidates,
    *,
    names: QueryNames | None = None,
    is_counted: bool = False,
) -> QueryPlan | None:
    """Return the plan of the query in a filter; None if nothing can match.

    names: those of the user, to share them between queries. is_counted: only the number of entries is wanted.
    """
    if entry_filter.query is None:
        return QueryPlan(entry_filter, {}, TRUE, {})
    names = names or QueryNames(db, user_id)
    return _Planner(db, user_id, entry_filter, candidates, names, is_counted=is_counted).plan()


class _Planner:
    def __init__(
        self,
        db: Read,
        user_id: int,
        entry_filter: EntryFilter,
        candidates: Candidates,
        names: QueryNames,
        *,
        is_counted: bool,
    ) -> None:
        assert entry_filter.query is not None
        self._db = db
        self._user_id = user_id
        self._names = names
        self._is_counted = is_counted
        self._query = entry_filter.query
        self._zone = zone_info(self._query.zone)
        self._filter = structs.replace(entry_filter, query=None)
        self._candidates = candidates
        self._tested: dict[PatternField, tuple[list[int], str]] = {}
        self._pattern_budget = RuleBudget(MAX_PATTERN_S)
        self._words: Mapping[str, Expression] = {}
        self._parameters: dict[str, Any] = {}
        # How many entries of the list match a regular expression, by its condition.
        self._found_by_pattern: dict[Shape, int] = {}

    def plan(self) -> QueryPlan | None:
        tree = self._query.tree
        terms = [] if isinstance(tree, Everything) else list(tree.terms) if isinstance(tree, And) else [tree]
        terms = [term for term in terms if not self._is_hoisted(term)]
        about_words = [term for term in terms if _is_about_words(term)]
        if about_words:
            self._words = {group: _expression(And(tuple(about_words)), group) for group in self._names.language_groups}
        rest = _joined("and", [self._shape(term) for term in terms if not _is_about_words(term)])
        if rest == FALSE or _is_impossible(self._filter):
            return None
        if self._found_by_pattern.keys() == {rest}:
            # Only entries that match the words were tested.
            return QueryPlan(self._filter, {}, rest, self._parameters, self._found_by_pattern[rest])
        if not self._is_counted:
            rest = self._with_few(rest)
        return None if rest == FALSE else QueryPlan(self._filter, self._words, rest, self._parameters)

    def _with_few(self, shape: Shape) -> Shape:
        """Return the condition with the entries themselves in it if they are few, and quickly found."""
        parts = list(shape[1:]) if shape[0] == "and" else [shape]
        for number, part in enumerate(parts):
            if (ids := self._few_of(part)) is not None:
                parts[number] = self._listed("few", ids)
                return _joined("and", parts)
        return shape

    def _few_of(self, shape: Shape) -> list[int] | None:
        """Return the entries that can match a condition; None if they are not listed or not few."""
        kind, *parts = shape
        if kind == "or":
            found = [self._few_of(part) for part in parts]
            together = {id_ for each in found if each is not None for id_ in each}
            return None if None in found or len(together) > FEW else sorted(together)
        if kind == "few":
            return list(self._parameters[parts[0]])
        # With other conditions, fewer entries than all have to be tested.
        is_alone = not self._words and self._filter == EntryFilter()
        statement = list_of(self._db, shape, tests_everything=is_alone)
        if statement is None:
            return None
        ids = split_ids(self._db.scalar(joined_ids(statement), **self._parameters, user=self._user_id, limit=FEW + 1))
        return ids if len(ids) <= FEW else None

    def _is_hoisted(self, term: Tree) -> bool:
        """Put a term into the filter, whose conditions have indexes, if the filter has room for it."""
        now = self._filter
        match term:
            case Is(State.STARRED) | Not(Is(State.STARRED)) if now.starred is None:
                self._narrow(starred=isinstance(term, Is))
            case Is(State.UNREAD | State.READ as state):
                status = EntryStatus.UNREAD if state is State.UNREAD else EntryStatus.READ
                known = now.statuses or (EntryStatus.UNREAD, EntryStatus.READ)
                if status not in known:
                    return False
                self._narrow(statuses=(status,))
            case Is(State.SHARED):
                self._narrow(shared=True)
            case Not(Is(State.HIDDEN)):
                self._narrow(excludes_hidden=True)
            case Is(State.DUPLICATE):
                if not now.statuses:
                    # Folded ones are in no other list.
                    self._narrow(statuses=(EntryStatus.UNREAD, EntryStatus.READ, EntryStatus.FOLDED))
                return False
            case Times(TimeField.PUBLISHED | TimeField.CHANGED | TimeField.ADDED as field):
                self._narrow_times(_COLUMNS[field].removesuffix("_at"), term)
            case _:
                return self._is_hoisted_place(term)
        return True

    def _is_hoisted_place(self, term: Tree) -> bool:
        now = self._filter
        match term:
            case Id(IdField.FEED, number) if now.feed_id in (None, number):
                self._narrow(feed_id=number)
            case Id(IdField.CATEGORY, number) if now.category_id in (None, number):
                self._narrow(category_id=number)
            case Text(_, TextField.FEED | TextField.CATEGORY | TextField.SITE):
                found = list(self._feeds(term))
                if len(found) != 1 or now.feed_id not in (None, found[0]):
                    return False
                self._narrow(feed_id=found[0])
            case Text(words, TextField.TAG, False):
                self._narrow(tags=tuple(dict.fromkeys((*now.tags, words[:MAX_TAG]))))
            case _:
                return False
        return True

    def _narrow(self, **changes: Any) -> None:
        self._filter = structs.replace(self._filter, **changes)

    def _narrow_times(self, name: str, times: Times) -> None:
        first, end = self._bounds(times)
        after, before = getattr(self._filter, f"{name}_after"), getattr(self._filter, f"{name}_before")
        if first is not None:
            self._narrow(**{f"{name}_after": first - 1 if after is None else max(after, first - 1)})
        if end is not None:
            self._narrow(**{f"{name}_before": end if before is None else min(before, end)})

    def _shape(self, tree: Tree) -> Shape:
        if _is_about_words(tree):
            return self._matches(tree)
        match tree:
            case Not(Number(field, comparison, number)) if comparison in _OPPOSITES:
                # A range as well, which an index lists.
                return self._leaf(Number(field, _OPPOSITES[comparison], number))
            case Not(term):
                return _negated(self._shape(term))
            case And(terms) | Or(terms):
                kind, node = ("and", And) if isinstance(tree, And) else ("or", Or)
                # One look-up in the index for all terms about words.
                about_words = tuple(term for term in terms if _is_about_words(term))
                shapes = [self._shape(term) for term in terms if term not in about_words]
                if about_words:
                    shapes.append(self._matches(about_words[0] if len(about_words) == 1 else node(about_words)))
                return _joined(kind, shapes)
            case Everything():
                return TRUE
            case _:
                return self._leaf(tree)

    def _matches(self, tree: Tree) -> Shape:
        expressions = {group: _expression(tree, group) for group in self._names.language_groups}
        searched = full_text.index_query(self._db, self._user_id, expressions)
        shape = ("matches", self._parameter(searched.text), searched.has_shared)
        return _negated(shape) if holds_for_nothing(expressions[""]) else shape

    def _leaf(self, leaf: Leaf) -> Shape:
        match leaf:
            case Text():
                return self._text(leaf)
            case Id(field, number):
                if field is IdField.CATEGORY:
                    return self._category(number)
                return ("feeds" if field is IdField.FEED else "labels", self._parameter([number]))
            case Pattern():
                return self._pattern(leaf)
            case Has(attachment):
                return ("attached", "" if attachment is Attachment.ENCLOSURE else attachment.value)
            case Is(state):
                return _STATES[state]
            case Number(field, comparison, number):
                first, last = _range(comparison, number)
                return (field.value, self._parameters_of(first=first, last=last))
            case Times():
                return self._times(leaf)
        return FALSE

    def _category(self, number: int) -> Shape:
        category_ids = with_below(self._db, self._user_id, [number])
        further = further_categories.feeds_in(self._db, self._user_id, category_ids)
        return _joined("or", [("categories", self._parameter(category_ids)), self._listed("feeds", further)])

    def _text(self, leaf: Text) -> Shape:
        match leaf.field:
            case TextField.FEED | TextField.CATEGORY | TextField.SITE:
                return self._listed("feeds", self._feeds(leaf))
            case TextField.LABEL:
                found = (each.id for each in self._names.labels if is_name(leaf, each.name))
                return self._listed("labels", found)
            case TextField.AUTHOR:
                return self._by_values("authors", lambda name: is_in_words(leaf, name))
            case TextField.TAG:
                key = leaf.words[:MAX_TAG]
                name = self._parameter(key)
                self._parameters[f"{name}_end"] = key + _LAST_CHARACTER
                return ("tag", name, leaf.is_prefix)
            case TextField.URL:
                return ("url", self._parameter(leaf.words))
            case TextField.LANGUAGE:
                return self._by_values("languages", lambda name: is_language(leaf, name))
        # Words without letters and digits.
        return FALSE

    def _feeds(self, leaf: Text) -> Sequence[int]:
        return self._names.feeds_of(leaf)

    def _by_values(self, kind: str, is_wanted: Callable[[str], bool]) -> Shape:
        """Return the condition that the author or the language is one that is wanted. kind: of `_INDEXED`."""
        found = [value for value in self._names.values[kind] if is_wanted(value)]
        if not found:
            return FALSE
        ids = split_ids(self._db.scalar(_select_by_values[kind], user=self._user_id, wanted=found, limit=FEW + 1))
        return self._listed("few", ids) if len(ids) <= FEW else (kind, self._parameter(found))

    def _pattern(self, pattern: Pattern) -> Shape:
        expression = compile_regex(expression_of(pattern))
        if pattern.field is PatternField.AUTHOR:
            return self._by_values("authors", expression.is_found_in)
        tested, texts = self._tested_texts(pattern.field)
        if not tested:
            return FALSE
        try:
            with self._pattern_budget:
                ids = [tested[number] for number in expression.matching_lines(texts, self._pattern_budget)]
        except RuleBudgetExceeded as error:
            problem = msg("the regular expressions take too long: use simpler ones, or search in fewer entries.")
            raise InvalidField("query", problem) from error
        shape = self._listed("few" if len(ids) <= FEW else "ids", ids)
        self._found_by_pattern[shape] = len(ids)
        return shape

    def _tested_texts(self, field: PatternField) -> tuple[list[int], str]:
        """Return the entries on which regular expressions are tested, and a line with the title or URL of each."""
        if field not in self._tested:
            ids, texts = self._candidates(field, self._filter, self._words)
            self._tested[field] = ids, texts
            if len(ids) >= MAX_TESTED:
                self._narrow(after_entry_id=max(min(ids) - 1, self._filter.after_entry_id or 0))
        return self._tested[field]

    def _times(self, times: Times) -> Shape:
        first, end = self._bounds(times)
        name = self._parameters_of(first=first, end=end)
        shape = ("time", _COLUMNS[times.field], name, first is not None, end is not None)
        return _joined("and", [shape, _STATES[State.READ]]) if times.field is TimeField.READ else shape

    def _bounds(self, times: Times) -> tuple[Instant | None, Instant | None]:
        return time_bounds(times, now=self._query.now, zone=self._zone)

    def _listed(self, kind: str, values: Iterable[Any]) -> Shape:
        found = list(values)
        return (kind, self._parameter(found)) if found else FALSE

    def _parameter(self, value: Any) -> str:
        name = f"q{len(self._parameters)}"
        self._parameters[name] = value
        return name

    def _parameters_of(self, **values: Any) -> str:
        name = f"q{len(self._parameters)}"
        self._parameters |= {f"{name}_{key}": value for key, value in values.items()}
        return name


_OPPOSITES = {
    Comparison.BELOW: Comparison.AT_LEAST,
    Comparison.AT_MOST: Comparison.ABOVE,
    Comparison.AT_LEAST: Comparison.BELOW,
    Comparison.ABOVE: Comparison.AT_MOST,
}
_STATES: Mapping[State, Shape] = {
    State.UNREAD: ("status", int(EntryStatus.UNREAD)),
    State.READ: ("status", int(EntryStatus.READ)),
    State.STARRED: ("starred",),
    State.SHARED: ("shared",),
    State.DUPLICATE: ("duplicates",),
    State.HIDDEN: ("hidden",),
}


def _is_about_words(tree: Tree) -> bool:
    """Return whether the full-text index alone knows whether an entry matches."""
    match tree:
        case Text(words, field, is_prefix):
            return field in _PARTS and bool(alternatives(words, "", is_prefix=is_prefix))
        case Not(term):
            return _is_about_words(term)
        case And(terms) | Or(terms):
            return all(map(_is_about_words, terms))
        case _:
            return False


def _expression(tree: Tree, group: str) -> Expression:
    """Return what a tree about words asks of entries in a group of languages."""
    match tree:
        case Text(words, field, is_prefix):
            return Phrases(alternatives(words, group, is_prefix=is_prefix), _PARTS[field])
        case Not(term):
            return Without(_expression(term, group))
        case And(terms):
            return AllOf(tuple(_expression(term, group) for term in terms))
        case Or(terms):
            return AnyOf(tuple(_expression(term, group) for term in terms))
    raise ValueError(tree)


def _joined(kind: str, shapes: list[Shape]) -> Shape:
    neutral, decisive = (TRUE, FALSE) if kind == "and" else (FALSE, TRUE)
    if decisive in shapes:
        return decisive
    shapes = [shape for shape in shapes if shape != neutral]
    return neutral if not shapes else shapes[0] if len(shapes) == 1 else (kind, *shapes)


def _negated(shape: Shape) -> Shape:
    if shape in (TRUE, FALSE):
        return FALSE if shape == TRUE else TRUE
    negated: Shape = shape[1] if shape[0] == "not" else ("not", shape)
    return negated


def _range(comparison: Comparison, number: int) -> tuple[int, int]:
    """Return the smallest and the largest whole number that compare like this."""
    match comparison:
        case Comparison.BELOW:
            return 0, number - 1
        case Comparison.AT_MOST:
            return 0, number
        case Comparison.EQUAL:
            return number, number
        case Comparison.AT_LEAST:
            return number, _LARGEST
        case Comparison.ABOVE:
            return number + 1, _LARGEST


def _is_impossible(entry_filter: EntryFilter) -> bool:
    """Return whether bounds contradict each other."""
    pairs = (
        (entry_filter.published_after, entry_filter.published_before),
        (entry_filter.changed_after, entry_filter.changed_before),
        (entry_filter.created_after, entry_filter.created_before),
    )
    return any(after is not None and before is not None and before - after <= 1 for after, before in pairs)


_select_feeds = select(feeds.c.id, feeds.c.title, feeds.c.site_url, feeds.c.feed_url, feeds.c.category_id).where(
    feeds.c.user_id == bindparam("user")
)

# Columns with few different values, found by walking through an index by user and value.
_INDEXED: Mapping[str, ColumnElement[str]] = {"authors": author_prefix, "languages": language_prefix}


def _values_statement(column: ColumnElement[str]) -> Any:
    """Return the SELECT of the different values of a user: from each in the index to the next other one."""
    own = entries.c.user_id == bindparam("user")
    first = select(column.label("value")).where(own).order_by(column).limit(1).subquery()
    values = select(first.c.value).cte("found", recursive=True)
    following = (
        select(column).where(own, column > values.c.value).order_by(column).limit(1).correlate(values).scalar_subquery()
    )
    values = values.union_all(select(following).where(values.c.value.is_not(None)))
    return select(values.c.value).limit(bindparam("limit"))


_select_values = {kind: _values_statement(column) for kind, column in _INDEXED.items()}
_select_by_values = {
    kind: joined_ids(
        select(entries.c.id)
        .where(entries.c.user_id == bindparam("user"), in_list(column, "wanted"))
        .limit(bindparam("limit"))
    )
    for kind, column in _INDEXED.items()
}
