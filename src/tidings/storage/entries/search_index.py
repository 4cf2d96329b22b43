"""Keeps the full-text index up to date. Searches: `storage.entries.entry_lists`.

    title or body written ─► row in search_pending ─► index_pending, many entries in one transaction ─► index

Indexing an entry costs ten times as much as storing it, and fifty entries cost little more than one. So a transaction
that writes entries only adds rows to `search_pending`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from sqlalchemy import and_, bindparam, delete, exists, literal_column, select

from tidings.content.cleaning import text_of
from tidings.content.search import MAX_TITLE_TERMS, group_of, parse_query, terms
from tidings.content.search_expressions import Expression, expression_of, holds_for_nothing
from tidings.engine import full_text, shared_vectors, statements
from tidings.engine.database import Read, Row, Write, is_distributed, is_sqlite
from tidings.engine.full_text import Document, IndexedText, without_index
from tidings.engine.shared_vectors import SharedContent
from tidings.engine.statements import in_joined_group, in_list, upsert
from tidings.storage.entries.contents import body, has_body, has_shared
from tidings.storage.schema import (
    entries,
    entry_contents,
    search_languages,
    search_pending,
    search_sources,
    shared_contents,
)

# Terms of the last texts that are kept, about ten times as large as the texts: at most 5 MB.
KEPT_TEXTS = 32
MAX_KEPT_CHARACTERS = 16_000

# An existing row is written again: on PostgreSQL this waits for a transaction that is indexing the old text.
_insert_pending = upsert(search_pending, ["entry_id"], update=["user_id"])
_note_unchanged = upsert(search_pending, ["entry_id"])
_insert_language = upsert(search_languages, ["user_id", "language"])
_select_languages = select(search_languages.c.language).where(search_languages.c.user_id == bindparam("user"))
_select_groups = _select_languages.union_all(
    select(literal_column(f"'{full_text.SHARED}'")).where(exists().where(search_sources.c.user_id == bindparam("user")))
)
_select_newest = (
    select(search_pending.c.entry_id, search_pending.c.user_id)
    .order_by(search_pending.c.entry_id.desc())
    .limit(bindparam("limit"))
)
# Skips rows that another transaction is indexing, and never waits.
_claim_newest = _select_newest.with_for_update(skip_locked=True)
_claim_listed = _claim_newest.where(in_list(search_pending.c.entry_id, "ids"))
_claim_newest_of_user = _claim_newest.where(search_pending.c.user_id == bindparam("user"))
_claim_listed_of_users = _claim_listed.where(in_list(search_pending.c.user_id, "users"))
_has_pending = select(exists(select(search_pending.c.entry_id)))
_has_pending_of_user = select(exists().where(search_pending.c.user_id == bindparam("user")))
_select_existing = select(entries.c.id).where(
    in_list(without_index(entries.c.user_id), "users"), in_list(entries.c.id, "ids")
)
_delete_pending = delete(search_pending).where(
    in_list(without_index(search_pending.c.user_id), "users"), in_list(search_pending.c.entry_id, "ids")
)
_select_texts = (
    select(
        entries.c.id,
        entries.c.user_id,
        entries.c.title,
        entries.c.language,
        entry_contents.c.shared_id,
        shared_contents.c.source_id,
        body,
    )
    .select_from(
        entries.outerjoin(entry_contents, and_(has_body, in_joined_group(entry_contents.c.user_id, "users"))).outerjoin(
            shared_contents, has_shared
        )
    )
    .where(in_list(without_index(entries.c.user_id), "users"), in_list(entries.c.id, "ids"))
    # Skips an entry that another transaction is deleting: the two would wait for each other.
    .with_for_update(of=entries, key_share=True, skip_locked=True)
)


def parse_queries(db: Read, user_id: int, text: str) -> dict[str, Expression]:
    """Return the expression of a search by language group, for the groups that the user has; {} if it matches nothing.

    "" is the group without stems of its own.
    """
    parsed = {
        # What is shared is in all languages; no part of the query is dropped that "" keeps.
        group: expression_of(parse_query(text, group.removeprefix(full_text.SHARED)))
        for group in language_groups(db, user_id)
    }
    found = {group: expression for group, expression in parsed.items() if expression is not None}
    # A long query may be cut in one language where what is left is found by its opposite, and not so in another.
    is_negative = bool(found) and holds_for_nothing(next(iter(found.values())))
    return {group: each for group, each in found.items() if holds_for_nothing(each) is is_negative}


def language_groups(db: Read, user_id: int) -> list[str]:
    """Return the groups of languages with stems of their own that entries of a user have, and "" for the others.

    With `full_text.SHARED` if the entries may have shared vectors.
    """
    statement = _select_groups if shared_vectors.can_be_used(db) else _select_languages
    return ["", *sorted(db.scalars(statement, user=user_id))]


def note_changed(db: Write, user_id: int, entry_ids: Iterable[int]) -> None:
    """Record that titles or bodies of entries have changed and have to be indexed."""
    db.run_many(_insert_pending, [{"entry_id": id_, "user_id": user_id} for id_ in sorted(entry_ids)])


def note_new(db: Write, numbered: Sequence[tuple[int, int]]) -> None:
    """Like `note_changed`, for entries of this transaction. numbered: pairs of entry id and user id."""
    statements.insert_rows(db, search_pending, [{"entry_id": id_, "user_id": user_id} for id_, user_id in numbered])


def is_behind(db: Read, user_id: int | None = None) -> bool:
    """Return whether entries (of one user) wait to be indexed."""
    return bool(db.scalar(_has_pending) if user_id is None else db.scalar(_has_pending_of_user, user=user_id))


def index_pending(db: Write, *, limit: int, user_id: int | None = None) -> int:
    """Index up to `limit` waiting entries (of one user), the newest first. Returns how many were processed."""
    return _index(db, _claim(db, limit, user_id))


def share_terms(db: Write, user_of: Mapping[int, int]) -> None:
    """Store terms that entries of several users have once. user_of: the entries, with the user of each.

    PostgreSQL's index does not tell the texts from which it was made, so that they are indexed again: at once, or a
    search would wait for it.
    """
    ids = sorted(user_of)
    if is_sqlite(db.connection):
        full_text.share_terms(db, ids)
    elif ids:
        db.run_many(_note_unchanged, [{"entry_id": id_, "user_id": user_of[id_]} for id_ in ids])
        _index(db, dict(db.tuples(_claim_listed, ids=ids, limit=len(ids))))


def _index(db: Write, claimed: Mapping[int, int]) -> int:
    """Index waiting entries that are locked. claimed: the user of each. Returns how many were processed."""
    if not claimed:
        return 0
    ids, users = list(claimed), sorted(set(claimed.values()))
    rows = [
        row for some in statements.lockable_together(db, users) for row in db.rows(_select_texts, users=some, ids=ids)
    ]
    documents = _documents(rows)
    full_text.index(db, documents)
    languages = sorted({(document.user_id, document.text.group) for document in documents if document.text.group})
    db.run_many(_insert_language, [{"user_id": user_id, "language": group} for user_id, group in languages])
    missing = set(ids).difference(document.entry_id for document in documents)
    skipped = db.scalars(_select_existing, users=users, ids=sorted(missing)) if missing else []
    done = sorted(set(ids).difference(skipped))
    db.run(_delete_pending, users=users, ids=done)
    return len(done)


def _claim(db: Write, limit: int, user_id: int | None) -> dict[int, int]:
    """Lock waiting entries, the newest first. Return the user by entry."""
    if user_id is not None:
        return dict(db.tuples(_claim_newest_of_user, user=user_id, limit=limit))
    if not is_distributed(db.connection):
        return dict(db.tuples(_claim_newest, limit=limit))
    newest = dict(db.tuples(_select_newest, limit=limit))
    claimed: dict[int, int] = {}
    for some in statements.lockable_together(db, newest.values()):
        claimed |= db.tuples(_claim_listed_of_users, users=some, ids=list(newest), limit=limit)
    return claimed


def has_deleted(db: Read) -> bool:
    """Return whether deleted entries are still in the index. Searches do not find them."""
    return full_text.has_deleted(db)


def compact(db: Write) -> None:
    """Purge removed entries from the index files. Takes long."""
    full_text.compact(db)


def is_scattered(db: Read) -> bool:
    """Return whether merging the index would make it much smaller."""
    return full_text.is_scattered(db)


def merge(db: Write, *, pages: int, is_first: bool) -> bool:
    """Merge some pages of the index. Returns whether there is more to do. is_first: begin with all of the index."""
    return full_text.merge(db, pages, is_first=is_first)


def remove_deleted(db: Write, *, limit: int) -> int:
    """Remove up to `limit` deleted entries from the index. Returns how many."""
    return full_text.remove_deleted(db, limit)


def _documents(rows: Iterable[Row]) -> list[Document]:
    # Taking a text apart is most of the work, and a batch has those of a source for several subscribers.
    texts: dict[tuple[str, str, str], IndexedText] = {}
    documents = []
    for row in rows:
        text = row["title"], row["content"] or "", group_of(row["language"])
        if text not in texts:
            texts[text] = _kept_text(*text) if len(text[1]) <= MAX_KEPT_CHARACTERS else _text(*text)
        shared = None if row["shared_id"] is None else SharedContent(row["shared_id"], row["source_id"])
        documents.append(Document(row["id"], row["user_id"], texts[text], shared))
    return documents


def _text(title: str, content: str, group: str) -> IndexedText:
    return IndexedText(terms(title, group)[:MAX_TITLE_TERMS], terms(text_of(content), group), group)


# New entries of a source come once for each subscriber, in many batches.
_kept_text = lru_cache(maxsize=KEPT_TEXTS)(_text)
