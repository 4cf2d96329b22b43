"""Full-text search, which the engines do in ways of their own.

SQLite has FTS5, PostgreSQL tsvector under a GIN index. Both index the terms that `domain.entries.search` makes, each
prefixed with the user's id (`7/rain`), and with the language group of its entry if that has stems of its own
(`7de/haus`): a search reads only the user's own part of the index.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, Executable, Text, bindparam, cast, delete, select, text
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from tidings.domain.entries.search import Phrase, Question
from tidings.storage.engine.database import Read, Write
from tidings.storage.engine.engines import is_sqlite
from tidings.storage.engine.upsert import upsert
from tidings.storage.schema import search_documents, search_vectors

# Body and title are apart in a tsvector by at least this much: no phrase begins in one and ends in the other.
_GAP = 2


class Document(Struct, frozen=True):
    """An entry as the index sees it: the terms of its title and of its body. group: of languages, see `stemming`."""

    entry_id: int
    user_id: int
    title: Sequence[str]
    body: Sequence[str]
    group: str = ""

    @property
    def owner(self) -> str:
        return f"{self.user_id}{self.group}"


# Asking


class matches(FunctionElement[Any]):  # noqa: N801 - reads as a function of SQL, which it is
    """matches(id, question): whether the index has that entry for it. question: made by `asked`.

    Not declared as a boolean: SQLAlchemy would write `= 1` behind it, and SQLite not start from what was found.
    """

    inherit_cache = True


@compiles(matches, "sqlite")
def _matches_on_sqlite(element: matches, compiler: Any, **how: Any) -> str:
    id_, question = (compiler.process(one, **how) for one in element.clauses)
    return f"{id_} IN (SELECT rowid FROM entry_words WHERE entry_words MATCH {question})"  # noqa: S608 - parameters both


@compiles(matches, "postgresql")
def _matches_on_postgresql(element: matches, compiler: Any, **how: Any) -> str:
    id_, question = (compiler.process(one, **how) for one in element.clauses)
    # OFFSET 0: first what was found, then what else is asked of it. Otherwise each entry may have its vector compared.
    found = f"SELECT entry_id FROM search_vectors WHERE words @@ CAST({question} AS tsquery) OFFSET 0"  # noqa: S608
    return f"{id_} IN ({found})"


class is_among(matches):  # noqa: N801
    """The same of lists of which much is found: all that the index has is put together, and each entry looked up there.

    The engines would rather start from what was found, since they expect little of it.
    """

    inherit_cache = True


@compiles(is_among, "sqlite")
def _is_among_on_sqlite(element: is_among, compiler: Any, **how: Any) -> str:
    return f"+{_matches_on_sqlite(element, compiler, **how)}"


@compiles(is_among, "postgresql")
def _is_among_on_postgresql(element: is_among, compiler: Any, **how: Any) -> str:
    return f"({_matches_on_postgresql(element, compiler, **how)}) IS TRUE"


class is_match(FunctionElement[Any]):  # noqa: N801
    """is_match(id, question): the same, asked of a single entry. What that costs: `most_asked`."""

    inherit_cache = True


@compiles(is_match, "sqlite")
def _is_match_on_sqlite(element: is_match, compiler: Any, **how: Any) -> str:
    id_, question = (compiler.process(one, **how) for one in element.clauses)
    return f"EXISTS (SELECT 1 FROM entry_words WHERE entry_words MATCH {question} AND rowid = {id_})"  # noqa: S608


@compiles(is_match, "postgresql")
def _is_match_on_postgresql(element: is_match, compiler: Any, **how: Any) -> str:
    id_, question = (compiler.process(one, **how) for one in element.clauses)
    return f"(SELECT words @@ CAST({question} AS tsquery) FROM search_vectors WHERE entry_id = {id_})"  # noqa: S608


def most_asked(db: Read, questions: Mapping[str, Question]) -> int:
    """How many entries may be asked one by one before asking the index for all of them is cheaper.

    PostgreSQL takes 2 to 10 µs for each. SQLite takes 40 to 170: it works the question out anew, for which the
    beginning of a word has all words looked up that begin so.
    """
    if not is_sqlite(db.connection):
        return 2_000
    asked = (any_of for question in questions.values() for any_of in question.required + question.excluded)
    return 0 if any(phrase.is_open for any_of in asked for phrase in any_of) else 400 // len(questions)


def is_frequent(db: Read, question: str) -> bool:
    """Whether the index has much for it. question: made by `asked`.

    SQLite only: PostgreSQL would first put together all there is.
    """
    return is_sqlite(db.connection) and db.scalar(_count_some, question=question, some=_MUCH) == _MUCH


def counts_by_looking_up(db: Read) -> bool:
    """Whether a count of frequent matches is faster with each entry looked up (`is_among`): not on SQLite."""
    return not is_sqlite(db.connection)


_MUCH = 5_000
_count_some = text("SELECT count(*) FROM (SELECT rowid FROM entry_words WHERE entry_words MATCH :question LIMIT :some)")


class off_index(FunctionElement[Any]):  # noqa: N801
    """A column for a condition that SQLite is not to take from an index. PostgreSQL decides by its statistics."""

    inherit_cache = True

    def __init__(self, column: ColumnElement[Any]) -> None:
        super().__init__(column)
        self.type = column.type


@compiles(off_index, "sqlite")
def _off_index_on_sqlite(element: off_index, compiler: Any, **how: Any) -> str:
    return f"+{compiler.process(element.clauses, **how)}"


@compiles(off_index, "postgresql")
def _off_index_on_postgresql(element: off_index, compiler: Any, **how: Any) -> str:
    return str(compiler.process(element.clauses, **how))


def asked(db: Read, user_id: int, questions: Mapping[str, Question]) -> str:
    """For `matches`: each question asked of the entries in its group of languages.

    A question without anything required asks for what it excludes: the caller turns that round.
    """
    kind = _Fts5 if is_sqlite(db.connection) else _TsQuery
    asked = [_asked(question, kind(f"{user_id}{group}")) for group, question in questions.items()]
    return asked[0] if len(asked) == 1 else kind.or_.join(f"({one})" for one in asked)


def _asked(question: Question, words: _Fts5) -> str:
    required = [words.any_of(phrases) for phrases in question.required]
    excluded = [words.any_of(phrases) for phrases in question.excluded]
    if not required:
        return words.or_.join(excluded)
    return words.and_.join(required) + (words.not_ + f"({words.or_.join(excluded)})" if excluded else "")


class _Fts5:
    and_, or_, not_ = " AND ", " OR ", " NOT "

    def __init__(self, owner: str) -> None:
        self._owner = owner

    def any_of(self, phrases: Iterable[Phrase]) -> str:
        return f"({self.or_.join(map(self._phrase, phrases))})"

    def _phrase(self, phrase: Phrase) -> str:
        return f'"{_owned(self._owner, phrase.terms)}"' + (" *" if phrase.is_open else "")


class _TsQuery(_Fts5):
    and_, or_, not_ = " & ", " | ", " & !"

    def _phrase(self, phrase: Phrase) -> str:
        terms = " <-> ".join(f"'{self._owner}/{term}'" for term in phrase.terms)
        return f"({terms}:*)" if phrase.is_open else f"({terms})"


# Indexing


def index(db: Write, documents: Sequence[Document]) -> None:
    """Put them in, in place of what was there of the same entries. The entries exist, and belong to those users."""
    documents = sorted(documents, key=lambda one: one.entry_id)
    if is_sqlite(db.connection):
        _take_out(db, _documents_of, ids=[one.entry_id for one in documents])
        db.run_many(_put_in, [_fts_row(one.entry_id, one.owner, one.title, one.body) for one in documents])
        db.run_many(_remember, [_remembered(one) for one in documents])
    else:
        db.run_many(_set_vector, [{"entry": one.entry_id, "vector": _vector(one)} for one in documents])


def has_deleted(db: Read) -> bool:
    """Whether entries that are gone are still in the index. PostgreSQL takes them out by itself."""
    return is_sqlite(db.connection) and bool(db.tuples(_documents_of_nobody, limit=1))


def forget_deleted(db: Write, limit: int) -> int:
    """Take them out, `limit` at most; how many."""
    return _take_out(db, _documents_of_nobody, limit=limit) if is_sqlite(db.connection) else 0


def compact(db: Write) -> None:
    """Leave nothing in the index of what was taken out. Reads and writes all of it."""
    if is_sqlite(db.connection):
        db.run(_optimise)


_optimise = text("INSERT INTO entry_words (entry_words) VALUES ('optimize')")
_put_in = text("INSERT INTO entry_words (rowid, title, body) VALUES (:id, :title, :body)")
_put_out = text("INSERT INTO entry_words (entry_words, rowid, title, body) VALUES ('delete', :id, :title, :body)")
_remember = search_documents.insert()
_documents = select(
    search_documents.c.id, search_documents.c.user_id, search_documents.c.language, search_documents.c.words
).order_by(search_documents.c.id)
_documents_of = _documents.where(search_documents.c.id.in_(bindparam("ids", expanding=True)))
_documents_of_nobody = _documents.where(search_documents.c.entry_id.is_(None)).limit(bindparam("limit"))
_forget = delete(search_documents).where(search_documents.c.id.in_(bindparam("ids", expanding=True)))

_vector_parameter = cast(bindparam("vector", type_=Text), TSVECTOR)
_set_vector = upsert(search_vectors, ["entry_id"], update=["words"]).values(
    entry_id=bindparam("entry"), words=_vector_parameter
)


def _take_out(db: Write, which: Executable, **parameters: Any) -> int:
    known = db.tuples(which, **parameters)
    rows = []
    for id_, user_id, group, words in known:
        title, _, body = words.partition("\n")
        rows.append(_fts_row(id_, f"{user_id}{group}", title.split(), body.split()))
    db.run_many(_put_out, rows)
    db.run(_forget, ids=[row["id"] for row in rows])
    return len(rows)


def _fts_row(entry_id: int, owner: str, title: Sequence[str], body: Sequence[str]) -> dict[str, Any]:
    return {"id": entry_id, "title": _owned(owner, title), "body": _owned(owner, body)}


def _remembered(document: Document) -> dict[str, Any]:
    words = f"{' '.join(document.title)}\n{' '.join(document.body)}"
    known = {"id": document.entry_id, "entry_id": document.entry_id, "user_id": document.user_id}
    return known | {"language": document.group, "words": words}


def _owned(owner: str, terms: Sequence[str]) -> str:
    """7/rain 7/tomorrow"""
    return f"{owner}/" + f" {owner}/".join(terms) if terms else ""


def _vector(document: Document) -> str:
    """'7/rain':1,4 '7/tomorrow':2"""
    places: dict[str, list[str]] = {}
    for place, term in enumerate(document.title, 1):
        places.setdefault(term, []).append(str(place))
    for place, term in enumerate(document.body, len(document.title) + _GAP):
        places.setdefault(term, []).append(str(place))
    # More places of one term are not kept by PostgreSQL anyway.
    return " ".join(f"'{document.owner}/{term}':{','.join(at[:255])}" for term, at in places.items())
