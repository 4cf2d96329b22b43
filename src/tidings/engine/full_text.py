"""The full-text index of each engine: FTS5 on SQLite, tsvector under a GIN index on PostgreSQL.

Both index the terms that `content.search` makes, each prefixed with the user's id (`7/rain`), and with the
language group of its entry if that group has its own stemmer (`7de/haus`): a search reads only the user's part of the
index. A query string in the syntax of the engine is made by `match_expression`.

Terms that entries of several users have are stored once. On SQLite they are what the index needs to forget an entry
(`search_terms`), and the index still has the words of each user. On PostgreSQL they are a vector without an owner
(`/rain`, `de/haus`) under an index of its own (`engine.shared_vectors`): what a search finds there, it joins with the
user's own rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from msgspec import Struct
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Executable,
    Integer,
    Join,
    Table,
    TextualSelect,
    bindparam,
    column,
    delete,
    exists,
    func,
    select,
    text,
    true,
    update,
)
from sqlalchemy.dialects.postgresql import Insert
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from tidings.base.text import digest_of
from tidings.content.search import Phrase
from tidings.content.search_expressions import AllOf, AnyOf, Expression, Part, Phrases, Without, phrases_in
from tidings.engine import postgresql, shared_vectors
from tidings.engine.columns import CompressedText
from tidings.engine.database import Read, Write, is_distributed, is_sqlite
from tidings.engine.search_tables import search_documents, search_pending, search_terms, search_vectors
from tidings.engine.shared_vectors import SharedContent, SharedVector
from tidings.engine.statements import in_list, insert_rows, upsert

# Distance of title and body in a tsvector, in positions: no phrase begins in one and ends in the other.
_TITLE_BODY_GAP = 2
# Stands among the groups of languages of a user whose entries may have shared vectors.
SHARED: Final = "*"
# The weights of terms in a tsvector, by the part that they are in. D is the default, which is not written.
_LABELS = {Part.ANY: "", Part.TITLE: "A", Part.BODY: "D"}
# Stands for the owner in a vector. No term has it.
_OWNER = "\0"


class IndexedText(Struct, frozen=True, dict=True):
    """The terms of a title and of a body, which may be those of many users' entries."""

    title: Sequence[str]
    body: Sequence[str]
    group: str = ""
    """The group of languages, see `content.search.group_of`."""

    @cached_property
    def words(self) -> str:
        """As `search_documents` and `search_terms` have them."""
        return f"{' '.join(self.title)}\n{' '.join(self.body)}"

    @cached_property
    def vector(self) -> str:
        """A tsvector such as `'{owner}/rain':1A,4 '{owner}/tomorrow':2A`, where A marks the title. {owner} is a NUL."""
        positions: dict[str, list[str]] = {}
        for position, term in enumerate(self.title, 1):
            positions.setdefault(term, []).append(f"{position}{_LABELS[Part.TITLE]}")
        for position, term in enumerate(self.body, len(self.title) + _TITLE_BODY_GAP):
            positions.setdefault(term, []).append(str(position))
        # PostgreSQL stores no more positions of one term.
        return " ".join(f"'{_OWNER}/{term}':{','.join(at[:255])}" for term, at in positions.items())


class Document(Struct, frozen=True):
    """An entry, and what is indexed of it."""

    entry_id: int
    user_id: int
    text: IndexedText
    content: SharedContent | None = None
    """Its content, if entries of other users have the same, and probably the same terms."""

    @property
    def owner(self) -> str:
        """The prefix of its terms."""
        return f"{self.user_id}{self.text.group}"


# Searching

_entry_id: ColumnElement[int] = column("entry_id", Integer)


class IndexQuery(NamedTuple):
    """A query string in the syntax of the engine."""

    text: str
    has_shared: bool = False
    """Whether the user's entries may have shared vectors, which are searched, too (`with_shared`)."""


class with_shared(FunctionElement[Any]):  # noqa: N801 - named like an SQL function
    """with_shared(expression): the expression of a query that `has_shared`, as all functions here take it."""

    inherit_cache = True


@compiles(with_shared)
def _itself(element: with_shared, compiler: Any, **options: Any) -> str:
    return str(compiler.process(element.clauses, **options))


def query_expression(parameter: BindParameter[Any], *, has_shared: bool) -> ColumnElement[Any]:
    """Return the expression that the functions here take. parameter: the text of an `IndexQuery`."""
    return with_shared(parameter) if has_shared else parameter


class matches(FunctionElement[Any]):  # noqa: N801
    """matches(id, expression): whether the entry matches. expression: made by `query_expression`.

    Not declared as a boolean: SQLAlchemy would append `= 1`, and SQLite would not start from the matches.
    """

    inherit_cache = True


@compiles(matches, "sqlite")
def _matches_on_sqlite(element: matches, compiler: Any, **options: Any) -> str:
    id_, expression = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{id_} IN (SELECT rowid FROM entry_words WHERE entry_words MATCH {expression})"  # noqa: S608 - both are parameters


@compiles(matches, "postgresql")
def _matches_on_postgresql(element: matches, compiler: Any, **options: Any) -> str:
    id_, expression = element.clauses
    # OFFSET 0 makes PostgreSQL find the matches first, then apply the other conditions. Otherwise it may compare the
    # vector of each entry.
    return f"{compiler.process(id_, **options)} IN ({_select_found(compiler, expression, **options)} OFFSET 0)"


def _select_found(
    compiler: Any, expression: ColumnElement[Any], what: str = "entry_id", *, are_many: bool = False, **options: Any
) -> str:
    """Return the SELECT of the entries that match on PostgreSQL. what: to select of each. are_many: as they may be.

    It names the user, in the parameter of all statements that search, only for shared vectors and where rows are
    distributed by user: terms of others begin with the user's id.
    """
    query = f"CAST({compiler.process(expression, **options)} AS tsquery)"
    own = f"SELECT {what} FROM search_vectors WHERE words @@ {query}{_of_user(compiler)}"  # noqa: S608 - a parameter
    if not isinstance(expression, with_shared):
        return own
    return f"{own} UNION ALL {shared_vectors.matching(query, _user(compiler), what, are_many=are_many)}"


def _of_user(compiler: Any) -> str:
    return f" AND user_id = {_user(compiler)}" if postgresql.is_distributed(compiler.dialect) else ""


def _user(compiler: Any) -> str:
    return str(compiler.process(bindparam("user", type_=Integer)))


class is_in_matches(matches):  # noqa: N801
    """Like `matches`, for frequent words: the engine collects all matches, and looks up each entry of the list in them.

    Without this the engines would start from the matches, since they expect few.
    """

    inherit_cache = True


@compiles(is_in_matches, "sqlite")
def _is_in_matches_on_sqlite(element: is_in_matches, compiler: Any, **options: Any) -> str:
    return f"+{_matches_on_sqlite(element, compiler, **options)}"


@compiles(is_in_matches, "postgresql")
def _is_in_matches_on_postgresql(element: is_in_matches, compiler: Any, **options: Any) -> str:
    id_, expression = element.clauses
    found = _select_found(compiler, expression, are_many=True, **options)
    return f"({compiler.process(id_, **options)} IN ({found} OFFSET 0)) IS TRUE"


class is_match(FunctionElement[Any]):  # noqa: N801
    """is_match(id, expression): the same, evaluated for a single entry. For the cost see `max_single_matches`."""

    inherit_cache = True


@compiles(is_match, "sqlite")
def _is_match_on_sqlite(element: is_match, compiler: Any, **options: Any) -> str:
    id_, expression = (compiler.process(clause, **options) for clause in element.clauses)
    return f"EXISTS (SELECT 1 FROM entry_words WHERE entry_words MATCH {expression} AND rowid = {id_})"  # noqa: S608


@compiles(is_match, "postgresql")
def _is_match_on_postgresql(element: is_match, compiler: Any, **options: Any) -> str:
    id_, expression = element.clauses
    query = f"CAST({compiler.process(expression, **options)} AS tsquery)"
    owned = f"entry_id = {compiler.process(id_, **options)}{_of_user(compiler)}"
    if isinstance(expression, with_shared):
        return f"({shared_vectors.compared(query, owned)})"
    return f"(SELECT words @@ {query} FROM search_vectors WHERE {owned})"  # noqa: S608 - a parameter


class has_words(FunctionElement[Any]):  # noqa: N801
    """has_words(id, user, first, last): whether the text of the entry has at least `first` and at most `last` words."""

    inherit_cache = True


def _has_words(element: has_words, compiler: Any, table: str, **options: Any) -> str:
    id_, user, first, last = (compiler.process(clause, **options) for clause in element.clauses)
    counted = f"user_id = {user} AND word_count BETWEEN {first} AND {last} AND entry_id IS NOT NULL"
    return f"{id_} IN (SELECT entry_id FROM {table} WHERE {counted})"  # noqa: S608 - all are parameters


class has_words_itself(has_words):  # noqa: N801
    """Like `has_words`, evaluated for a single entry."""

    inherit_cache = True


@compiles(has_words_itself)
def _has_words_itself(element: has_words_itself, compiler: Any, **options: Any) -> str:
    id_, _user, first, last = (compiler.process(clause, **options) for clause in element.clauses)
    table = "search_documents" if compiler.dialect.name == "sqlite" else "search_vectors"
    owned = f"entry_id = {id_}{_of_user(compiler)}"
    return f"(SELECT word_count BETWEEN {first} AND {last} FROM {table} WHERE {owned}) IS TRUE"  # noqa: S608


@compiles(has_words, "sqlite")
def _has_words_on_sqlite(element: has_words, compiler: Any, **options: Any) -> str:
    return _has_words(element, compiler, "search_documents", **options)


@compiles(has_words, "postgresql")
def _has_words_on_postgresql(element: has_words, compiler: Any, **options: Any) -> str:
    return _has_words(element, compiler, "search_vectors", **options)


class count_with_words(has_words):  # noqa: N801
    """count_with_words(user, first, last): how many entries have as many words, whatever their status."""

    inherit_cache = True
    type = Integer()


@compiles(count_with_words)
def _count_with_words(element: count_with_words, compiler: Any, **options: Any) -> str:
    user, first, last = (compiler.process(clause, **options) for clause in element.clauses)
    table = "search_documents" if compiler.dialect.name == "sqlite" else "search_vectors"
    counted = f"user_id = {user} AND word_count BETWEEN {first} AND {last} AND entry_id IS NOT NULL"
    return f"(SELECT count(*) FROM {table} WHERE {counted})"  # noqa: S608 - all are parameters


class count_with_words_up_to(has_words):  # noqa: N801
    """count_with_words_up_to(user, first, last, limit): like `count_with_words`, at most `limit`."""

    inherit_cache = True
    type = Integer()


@compiles(count_with_words_up_to)
def _count_with_words_up_to(element: count_with_words_up_to, compiler: Any, **options: Any) -> str:
    user, first, last, limit = (compiler.process(clause, **options) for clause in element.clauses)
    table = "search_documents" if compiler.dialect.name == "sqlite" else "search_vectors"
    counted = f"user_id = {user} AND word_count BETWEEN {first} AND {last} AND entry_id IS NOT NULL"
    found = f"SELECT 1 FROM {table} WHERE {counted} LIMIT {limit}"  # noqa: S608 - all are parameters
    return f"(SELECT count(*) FROM ({found}) AS found)"  # noqa: S608


class count_indexed(FunctionElement[int]):  # noqa: N801
    """count_indexed(expression, user): how many entries the index has that match, whatever their status.

    Counted in the index alone, a frequent word takes a fraction of the time that looking up each entry takes.
    """

    inherit_cache = True
    type = Integer()


@compiles(count_indexed, "sqlite")
def _count_indexed_on_sqlite(element: count_indexed, compiler: Any, **options: Any) -> str:
    expression, user = (compiler.process(clause, **options) for clause in element.clauses)
    # Deleted entries stay in the index until it forgets them.
    gone = f"SELECT id FROM search_documents WHERE entry_id IS NULL AND user_id = {user}"  # noqa: S608 - a parameter
    return (
        f"((SELECT count(*) FROM entry_words WHERE entry_words MATCH {expression})"  # noqa: S608
        f" - (SELECT count(*) FROM ({gone}) AS gone"
        f" WHERE EXISTS (SELECT 1 FROM entry_words WHERE entry_words MATCH {expression} AND rowid = gone.id)))"
    )


@compiles(count_indexed, "postgresql")
def _count_indexed_on_postgresql(element: count_indexed, compiler: Any, **options: Any) -> str:
    expression, _ = element.clauses
    found = _select_found(compiler, expression, "1", are_many=True, **options)
    return f"(SELECT count(*) FROM ({found}) AS found)"  # noqa: S608 - a parameter


class counted_up_to(FunctionElement[int]):  # noqa: N801
    """counted_up_to(expression, limit): how many entries the index has that match, at most `limit`."""

    inherit_cache = True
    type = Integer()


@compiles(counted_up_to, "sqlite")
def _counted_up_to_on_sqlite(element: counted_up_to, compiler: Any, **options: Any) -> str:
    expression, limit = (compiler.process(clause, **options) for clause in element.clauses)
    found = f"SELECT rowid FROM entry_words WHERE entry_words MATCH {expression} LIMIT {limit}"  # noqa: S608
    return f"(SELECT count(*) FROM ({found}) AS found)"  # noqa: S608 - all are parameters


@compiles(counted_up_to, "postgresql")
def _counted_up_to_on_postgresql(element: counted_up_to, compiler: Any, **options: Any) -> str:
    expression, limit = element.clauses
    found = f"{_select_found(compiler, expression, '1', **options)} LIMIT {compiler.process(limit, **options)}"
    return f"(SELECT count(*) FROM ({found}) AS found)"  # noqa: S608 - all are parameters


class each_match(FunctionElement[int]):  # noqa: N801
    """The entries that match, one after the other: `each_match(expression).table_valued("entry_id", name="found")`.

    With `LookedUp` and a LIMIT, only as many matches are looked up as it takes, and none are collected.
    """

    inherit_cache = True


@compiles(each_match, "sqlite")
def _each_match_on_sqlite(element: each_match, compiler: Any, **options: Any) -> str:
    expression = compiler.process(element.clauses, **options)
    return f"(SELECT rowid AS entry_id FROM entry_words WHERE entry_words MATCH {expression})"  # noqa: S608 - a parameter


@compiles(each_match, "postgresql")
def _each_match_on_postgresql(element: each_match, compiler: Any, **options: Any) -> str:
    (expression,) = element.clauses
    # OFFSET 0: as in `matches`.
    return f"({_select_found(compiler, expression, **options)} OFFSET 0)"


class LookedUp(Join):
    """A join that reads its left side first, and looks up the right one for each row: `LookedUp(found, entries, …)`.

    Left to itself, SQLite begins with the entries of a feed, and evaluates the search for each of them. PostgreSQL
    decides by its statistics.
    """

    inherit_cache = True


@compiles(LookedUp, "sqlite")
def _looked_up_on_sqlite(element: LookedUp, compiler: Any, **options: Any) -> str:
    # SQLite keeps the order of a CROSS JOIN (https://www.sqlite.org/optoverview.html#crossjoin).
    left, right, condition = (
        compiler.process(part, **options) for part in (element.left, element.right, element.onclause)
    )
    return f"{left} CROSS JOIN {right} ON {condition}"


def select_matches(db: Read, parameter: str, *, has_shared: bool) -> TextualSelect:
    """Return the SELECT of the entries that match. parameter: the name of the one with the text of the query.

    Parameters: user, limit.
    """
    if is_sqlite(db.connection):
        found = text(f"SELECT rowid AS entry_id FROM entry_words WHERE entry_words MATCH :{parameter} LIMIT :limit")  # noqa: S608
        return found.columns(_entry_id)
    query = f"CAST(:{parameter} AS tsquery)"
    # PostgreSQL finds the matches first: it would rather test each entry of the user.
    condition = f"words @@ {query}" + (" AND user_id = :user" if is_distributed(db.connection) else "")
    matching = f"SELECT entry_id, user_id FROM search_vectors WHERE {condition} LIMIT :limit"  # noqa: S608
    own = f"SELECT entry_id FROM ({matching}) AS found WHERE user_id = :user"  # noqa: S608 - parameters
    if has_shared:
        own = f"{own} UNION ALL {shared_vectors.matching(query, ':user')} LIMIT :limit"
    return text(own).columns(_entry_id)


def select_with_words(db: Read, first: str, last: str) -> TextualSelect:
    """Return the SELECT of the entries with as many words. first, last: names of parameters, with user and limit."""
    table = "search_documents" if is_sqlite(db.connection) else "search_vectors"
    return text(
        f"SELECT entry_id FROM {table} WHERE user_id = :user AND word_count BETWEEN :{first} AND :{last}"  # noqa: S608
        " AND entry_id IS NOT NULL LIMIT :limit"
    ).columns(_entry_id)


def has_many_deleted(db: Read, most: int) -> bool:
    """Return whether more than `most` deleted entries are still in the index; False on PostgreSQL."""
    return is_sqlite(db.connection) and len(db.scalars(_select_deleted_ids, limit=most + 1)) > most


def max_removed(db: Read) -> int:
    """Return up to how many removed entries it is cheaper to test one by one than to look up all matches.

    SQLite takes up to 170 µs for each, PostgreSQL 10.
    """
    return 200 if is_sqlite(db.connection) else 5_000


def max_single_matches(db: Read, queries: Mapping[str, Expression]) -> int:
    """Return up to how many entries `is_match` is cheaper than reading all matches from the index.

    PostgreSQL takes 2 to 10 µs per entry. SQLite takes 40 to 170 µs, since it evaluates the query again for each; 0
    for a query with a word prefix on SQLite, which would look up all words with that prefix each time.
    """
    if not is_sqlite(db.connection):
        return 2_000
    phrases = (phrase for query in queries.values() for phrase in phrases_in(query))
    return 0 if any(phrase.ends_with_prefix for phrase in phrases) else 400 // len(queries)


def is_frequent(db: Read, expression: str) -> bool | None:
    """Return whether a search has at least `_FREQUENT` matches. expression: made by `match_expression`.

    None on PostgreSQL, which would have to collect all matches first.
    """
    return has_matches(db, expression, _FREQUENT) if is_sqlite(db.connection) else None


def has_matches(db: Read, expression: str, number: int) -> bool:
    """Return whether a search has so many matches. On SQLite only: PostgreSQL collects all matches first."""
    return bool(db.scalar(_count_up_to, expression=expression, limit=number) == number)


def counts_by_looking_up(db: Read) -> bool:
    """Return whether counting frequent matches is faster with `is_in_matches`: True on PostgreSQL."""
    return not is_sqlite(db.connection)


_FREQUENT = 5_000
_count_up_to = text(
    "SELECT count(*) FROM (SELECT rowid FROM entry_words WHERE entry_words MATCH :expression LIMIT :limit)"
)


class without_index(FunctionElement[Any]):  # noqa: N801
    """A column whose condition SQLite does not look up in an index. PostgreSQL decides by its statistics."""

    inherit_cache = True

    def __init__(self, column: ColumnElement[Any]) -> None:
        super().__init__(column)
        self.type = column.type


@compiles(without_index, "sqlite")
def _without_index_on_sqlite(element: without_index, compiler: Any, **options: Any) -> str:
    return f"+{compiler.process(element.clauses, **options)}"


@compiles(without_index, "postgresql")
def _without_index_on_postgresql(element: without_index, compiler: Any, **options: Any) -> str:
    return str(compiler.process(element.clauses, **options))


class is_listed(FunctionElement[Any]):  # noqa: N801
    """is_listed(id IN (a list), EXISTS (its row of this id)): for conditions on entries that another index finds.

    SQLite looks each entry up in the index of the list: it would begin with the list, or copy all of it. PostgreSQL
    decides by its statistics.
    """

    inherit_cache = True


@compiles(is_listed, "sqlite")
def _is_listed_on_sqlite(element: is_listed, compiler: Any, **options: Any) -> str:
    _, has_row = element.clauses
    return str(compiler.process(has_row, **options))


@compiles(is_listed, "postgresql")
def _is_listed_on_postgresql(element: is_listed, compiler: Any, **options: Any) -> str:
    is_in, _ = element.clauses
    return str(compiler.process(is_in, **options))


class is_one_of(FunctionElement[bool]):  # noqa: N801
    """is_one_of(column, value): they are equal. On PostgreSQL the column still counts in the ORDER BY.

    The order by user and id is then the order of the index with both. Ordered by the id alone, entries of one user may
    be picked out of all entries in the order of the primary key, where PostgreSQL expects them evenly among the others.
    """

    inherit_cache = True


@compiles(is_one_of, "sqlite")
def _is_one_of_on_sqlite(element: is_one_of, compiler: Any, **options: Any) -> str:
    column, value = (compiler.process(part, **options) for part in element.clauses)
    return f"{column} = {value}"


@compiles(is_one_of, "postgresql")
def _is_one_of_on_postgresql(element: is_one_of, compiler: Any, **options: Any) -> str:
    column, value = (compiler.process(part, **options) for part in element.clauses)
    return f"{column} = ANY (ARRAY[{value}])"


def index_query(db: Read, user_id: int, queries: Mapping[str, Expression]) -> IndexQuery:
    """Return the query for `matches`, in the syntax of the engine.

    queries: one for each group of languages, which applies to the entries of this group; and one of `SHARED` if the
    user's entries may have shared vectors. An expression that `holds_for_nothing` is written as its opposite: the
    caller negates that.
    """
    syntax = _Fts5 if is_sqlite(db.connection) else _TsQuery
    has_shared = SHARED in queries
    owners = [str(user_id), ""] if has_shared else [str(user_id)]
    of_group = {group: query for group, query in queries.items() if group != SHARED}
    expressions = [
        _written(query, syntax(f"{owner}{group}")).text for owner in owners for group, query in of_group.items()
    ]
    text_ = syntax.or_.join(f"({one})" for one in expressions) if len(expressions) > 1 else expressions[0]
    return IndexQuery(text_, has_shared)


class _Written(NamedTuple):
    """An expression, or its opposite, in the syntax of an engine."""

    text: str
    is_opposite: bool = False


def _written(expression: Expression, syntax: _Fts5) -> _Written:
    """Return the one of an expression and its opposite that an index can look up: FTS5 has no NOT of a single term."""
    match expression:
        case Phrases():
            return _Written(syntax.any_of(expression))
        case Without(of):
            text, is_opposite = _written(of, syntax)
            return _Written(text, not is_opposite)
        case AllOf(of):
            parts = [_written(each, syntax) for each in of]
            return _joined(
                [part.text for part in parts if not part.is_opposite],
                [part.text for part in parts if part.is_opposite],
                syntax,
            )
        case AnyOf(of):
            # Not all of the opposites.
            parts = [_written(each, syntax) for each in of]
            found = [part.text for part in parts if not part.is_opposite]
            opposite = [part.text for part in parts if part.is_opposite]
            return (
                _Written(_any(found, syntax))
                if not opposite
                else _joined(opposite, found, syntax)._replace(is_opposite=True)
            )


def _joined(required: list[str], excluded: list[str], syntax: _Fts5) -> _Written:
    """Return the conjunction of the required texts without the excluded ones; without required ones, its opposite."""
    if not required:
        return _Written(_any(excluded, syntax), is_opposite=True)
    text = required[0] if len(required) == 1 else f"({syntax.and_.join(required)})"
    return _Written(f"({text}{syntax.not_}{_any(excluded, syntax)})" if excluded else text)


def _any(texts: list[str], syntax: _Fts5) -> str:
    return texts[0] if len(texts) == 1 else f"({syntax.or_.join(texts)})"


class _Fts5:
    """Syntax of FTS5 queries (https://www.sqlite.org/fts5.html)."""

    and_, or_, not_ = " AND ", " OR ", " NOT "

    def __init__(self, owner: str) -> None:
        self._owner = owner

    def any_of(self, phrases: Phrases) -> str:
        return f"({self.or_.join(self._phrase(phrase, phrases.part) for phrase in phrases.any_of)})"

    def _phrase(self, phrase: Phrase, part: Part) -> str:
        column = f"{part} : " if part else ""
        return f'{column}"{_prefixed(self._owner, phrase.terms)}"' + (" *" if phrase.ends_with_prefix else "")


class _TsQuery(_Fts5):
    """Syntax of tsquery (https://www.postgresql.org/docs/current/datatype-textsearch.html)."""

    and_, or_, not_ = " & ", " | ", " & !"

    def _phrase(self, phrase: Phrase, part: Part) -> str:
        label = _LABELS[part]
        *before, last = (f"'{self._owner}/{term}'" for term in phrase.terms)
        ending = f":*{label}" if phrase.ends_with_prefix else f":{label}" if label else ""
        return f"({' <-> '.join([*(f'{term}:{label}' if label else term for term in before), last + ending])})"


# Indexing


def index(db: Write, documents: Sequence[Document]) -> None:
    """Index documents, replacing what is indexed of their entries. The entries exist, and belong to the users named."""
    if not documents:
        return
    documents = sorted(documents, key=lambda document: document.entry_id)
    if is_sqlite(db.connection):
        _remove(db, _select_by_id, ids=[document.entry_id for document in documents])
        db.run_many(
            _add_terms,
            [
                _fts_row(document.entry_id, document.owner, document.text.title, document.text.body)
                for document in documents
            ],
        )
        shared = _stored_once(db, (document.text.words for document in documents if document.content))
        db.run_many(_add_document, [_document_row(document, shared) for document in documents])
    else:
        users, ids = ([getattr(document, name) for document in documents] for name in ("user_id", "entry_id"))
        vector_ids = _vectors_stored_once(db, documents)
        db.run(_delete_vectors, users=sorted(set(users)), ids=ids)
        for is_own in (True, False):
            some = [document for document in documents if (document.entry_id not in vector_ids) is is_own]
            insert_rows(db, search_vectors, [_vector_row(document, vector_ids) for document in some])


def share_terms(db: Write, entry_ids: Sequence[int]) -> None:
    """Store terms that entries of several users have once. SQLite only; what searches find does not change."""
    own = db.rows(_select_own_terms, ids=entry_ids)
    ids = _stored_once(db, (document["words"] for document in own))
    db.run_many(_refer, [{"document": document["id"], "terms": ids[document["words"]]} for document in own])


def has_deleted(db: Read) -> bool:
    """Return whether deleted entries are still in the index. On PostgreSQL a foreign key removes them."""
    return is_sqlite(db.connection) and bool(db.rows(_select_deleted, limit=1))


def remove_deleted(db: Write, limit: int) -> int:
    """Remove up to `limit` deleted entries from the index. Returns how many."""
    return _remove(db, _select_deleted, limit=limit) if is_sqlite(db.connection) else 0


def compact(db: Write) -> None:
    """Purge removed entries from the index files. Reads and rewrites the whole index."""
    if is_sqlite(db.connection):
        db.run(_optimise)


def is_scattered(db: Read) -> bool:
    """Return whether much of SQLite's index is outside its largest part: what was added or removed since it was merged.

    FTS5 merges parts of similar size only. Terms of removed entries stay in the largest part, which has no equal, and
    what says that they are removed in others. Where old entries go, the index would grow to three times its size.
    """
    if not is_sqlite(db.connection):
        return False
    largest, total = db.tuples(_select_sizes)[0]
    return bool(total - largest > largest * _MAX_SCATTERED)


def merge(db: Write, pages: int, *, is_first: bool) -> bool:
    """Merge some pages of SQLite's index into one part. Returns whether there is more to do.

    is_first: begin with all that is in the index now. Otherwise, the merge that was begun goes on.
    """
    before = db.scalar(_count_changes)
    db.run(_merge, pages=-pages if is_first else pages)
    # Fewer rows change if there is nothing to merge (https://www.sqlite.org/fts5.html#the_merge_command).
    return bool(db.scalar(_count_changes) - before >= 2)


# About a merge a week if entries are kept for sixty days.
_MAX_SCATTERED = 0.25
# The table has a row for nearly each page.
_select_sizes = text(
    "SELECT coalesce(max(size), 0), coalesce(sum(size), 0)"
    " FROM (SELECT count(*) AS size FROM entry_words_idx GROUP BY segid) AS parts"
)
_count_changes = text("SELECT total_changes()")
_merge = text("INSERT INTO entry_words (entry_words, rank) VALUES ('merge', :pages)")
_optimise = text("INSERT INTO entry_words (entry_words) VALUES ('optimize')")
_add_terms = text("INSERT INTO entry_words (rowid, title, body) VALUES (:id, :title, :body)")
_remove_terms = text("INSERT INTO entry_words (entry_words, rowid, title, body) VALUES ('delete', :id, :title, :body)")
_add_document = search_documents.insert()
_add_terms_once = upsert(search_terms, ["digest"])
_select_terms_ids = select(search_terms.c.digest, search_terms.c.id).where(
    search_terms.c.digest.in_(bindparam("digests", expanding=True))
)
_delete_unused = delete(search_terms).where(
    search_terms.c.id.in_(bindparam("ids", expanding=True)),
    ~exists().where(search_documents.c.terms_id == search_terms.c.id),
)
_select_own_terms = (
    select(search_documents.c.id, search_documents.c.words)
    .where(search_documents.c.entry_id.in_(bindparam("ids", expanding=True)), search_documents.c.terms_id.is_(None))
    .order_by(search_documents.c.id)
)
_refer = (
    update(search_documents)
    .where(search_documents.c.id == bindparam("document"))
    .values(words="", terms_id=bindparam("terms"))
)
_words_of_document: ColumnElement[str] = func.coalesce(
    search_terms.c.words, search_documents.c.words, type_=CompressedText()
).label("words")
_select_documents = (
    select(
        search_documents.c.id,
        search_documents.c.user_id,
        search_documents.c.language,
        search_documents.c.terms_id,
        _words_of_document,
    )
    .select_from(search_documents.outerjoin(search_terms, search_terms.c.id == search_documents.c.terms_id))
    .order_by(search_documents.c.id)
)
_select_by_id = _select_documents.where(search_documents.c.id.in_(bindparam("ids", expanding=True)))
_select_deleted = _select_documents.where(search_documents.c.entry_id.is_(None)).limit(bindparam("limit"))
_select_deleted_ids = (
    select(search_documents.c.id).where(search_documents.c.entry_id.is_(None)).limit(bindparam("limit"))
)
_delete_documents = delete(search_documents).where(search_documents.c.id.in_(bindparam("ids", expanding=True)))

_delete_vectors = delete(search_vectors).where(
    in_list(search_vectors.c.user_id, "users"), in_list(search_vectors.c.entry_id, "ids")
)
_index_shared_again = (
    Insert(search_pending)
    .from_select(
        ["entry_id", "user_id"],
        select(search_vectors.c.entry_id, search_vectors.c.user_id).where(search_vectors.c.vector_id.is_not(None)),
    )
    .on_conflict_do_nothing()
)


def _remove(db: Write, documents: Executable, **parameters: Any) -> int:
    """Remove documents from the index of SQLite, and return their number.

    FTS5 does not keep texts: to remove a row, it has to be given the terms that were indexed.
    """
    rows, shared = [], set()
    for document in db.rows(documents, **parameters):
        shared.add(document["terms_id"])
        title, _, body = document["words"].partition("\n")
        owner = f"{document['user_id']}{document['language']}"
        rows.append(_fts_row(document["id"], owner, title.split(), body.split()))
    if rows:
        db.run_many(_remove_terms, rows)
        db.run(_delete_documents, ids=[row["id"] for row in rows])
    if shared := shared - {None}:
        # Nothing else removes documents: no terms are left that no document has.
        db.run(_delete_unused, ids=sorted(shared))
    return len(rows)


def _fts_row(entry_id: int, owner: str, title: Sequence[str], body: Sequence[str]) -> dict[str, Any]:
    return {"id": entry_id, "title": _prefixed(owner, title), "body": _prefixed(owner, body)}


def _document_row(document: Document, shared: Mapping[str, int]) -> dict[str, Any]:
    """Return the row of a document. shared: ids of terms that are stored once, by words."""
    text = document.text
    stored: dict[str, Any] = {"words": text.words, "terms_id": None}
    if document.content:
        stored = {"words": "", "terms_id": shared[text.words]}
    ids = {"id": document.entry_id, "entry_id": document.entry_id, "user_id": document.user_id}
    return ids | {"language": text.group, "word_count": len(text.body)} | stored


def _vector_row(document: Document, vector_ids: Mapping[int, int]) -> dict[str, Any]:
    """Return the row of a document. vector_ids: of vectors that are stored once, by entry."""
    text = document.text
    row = {"entry_id": document.entry_id, "user_id": document.user_id, "word_count": len(text.body)}
    if document.entry_id in vector_ids:
        return row | {"vector_id": vector_ids[document.entry_id]}
    return row | {"words": text.vector.replace(_OWNER, document.owner)}


def _vectors_stored_once(db: Write, documents: Sequence[Document]) -> dict[int, int]:
    """Store vectors that documents are about to refer to, if their content is shared. Return the ids by entry."""
    if not shared_vectors.can_be_used(db):
        return {}
    vectors: dict[tuple[int, int], SharedVector] = {}
    of_entry, sources = {}, set()
    for document in documents:
        content, text_ = document.content, document.text
        if content is None:
            continue
        # The text is the same object for all entries that have it.
        text_key = content.id, id(text_)
        if text_key not in vectors:
            digest = digest_of(f"{text_.group}\n{text_.words}")
            vectors[text_key] = SharedVector(content, digest, text_.vector.replace(_OWNER, text_.group))
        of_entry[document.entry_id] = vectors[text_key].key
        sources.add((document.user_id, content.source_id))
    shared_vectors.note_sources(db, sources)
    ids = shared_vectors.store(db, vectors.values())
    return {entry_id: ids[key] for entry_id, key in of_entry.items()}


def _stored_once(db: Write, words: Iterable[str]) -> dict[str, int]:
    """Store terms that documents are about to refer to, unless others do so already. Returns their ids by words."""
    digests = {each: digest_of(each) for each in words}
    if not digests:
        return {}
    db.run_many(_add_terms_once, [{"digest": digest, "words": each} for each, digest in digests.items()])
    ids = dict(db.tuples(_select_terms_ids, digests=list(digests.values())))
    return {each: ids[digest] for each, digest in digests.items()}


def _prefixed(owner: str, terms: Sequence[str]) -> str:
    """Return a text for FTS5 such as `7/rain 7/tomorrow`."""
    return f"{owner}/" + f" {owner}/".join(terms) if terms else ""


# Checking


def index_table(db: Read) -> Table:
    """Return the table that has a row, with `entry_id`, for each indexed entry."""
    return search_documents if is_sqlite(db.connection) else search_vectors


def is_found(db: Read) -> ColumnElement[bool]:
    """Return the condition that a search can find the entry of a row of `index_table`."""
    return shared_vectors.has_vector() if shared_vectors.can_be_used(db) else true()


def unshare(db: Write) -> None:
    """Give each entry a vector of its own again, soon: those with a shared one are indexed again. PostgreSQL only."""
    db.run(_index_shared_again)
    db.run(delete(search_vectors).where(search_vectors.c.vector_id.is_not(None)))
    shared_vectors.clear(db)


def count_differing(db: Read) -> int:
    """Return how many entries only some of the tables of SQLite's index have; 0 on PostgreSQL: see `is_found`."""
    return int(db.scalar(_count_differing)) if is_sqlite(db.connection) else 0


def check_structure(db: Write) -> None:
    """Have SQLite check its index. Raises a driver's error, as StoreUnavailable from `Database`, if it is damaged."""
    if is_sqlite(db.connection):
        db.run(_check_structure)


def clear(db: Write) -> None:
    """Remove everything from the index, even if it is damaged."""
    db.run(delete(index_table(db)))
    shared_vectors.clear(db)
    if is_sqlite(db.connection):
        db.run(_delete_all_terms)
        db.run(delete(search_terms))


def drop(db: Write) -> None:
    """Remove the table of SQLite's index that is not declared in the schema."""
    if is_sqlite(db.connection):
        db.run(text("DROP TABLE IF EXISTS entry_words"))


_delete_all_terms = text("INSERT INTO entry_words (entry_words) VALUES ('delete-all')")
_check_structure = text("INSERT INTO entry_words (entry_words) VALUES ('integrity-check')")
_count_differing = text(
    "SELECT (SELECT count(*) FROM search_documents WHERE id NOT IN (SELECT id FROM entry_words_docsize))"
    " + (SELECT count(*) FROM entry_words_docsize WHERE id NOT IN (SELECT id FROM search_documents))"
    " + (SELECT count(*) FROM search_documents"
    " WHERE terms_id IS NOT NULL AND terms_id NOT IN (SELECT id FROM search_terms))"
)
