"""The content of an entry, stored in a table of its own, and what the user can switch to.

    entries ─► entry_contents ─► its own content, or
                             └─► shared_contents: the content that entries of several feeds of a source have

Every read begins at the entry of a user. An edit or a fetched article gives an entry a content of its own again. What
no entry refers to any more is removed by the cleanup.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from msgspec import Struct
from sqlalchemy import (
    ColumnElement,
    Select,
    Table,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    null,
    select,
    true,
    update,
)

from tidings.base.text import digest_of
from tidings.domain.entries.entries import EditedEntryField
from tidings.engine import nodes, statements
from tidings.engine.columns import CompressedText
from tidings.engine.database import Read, Row, Write, is_distributed, is_sqlite
from tidings.engine.full_text import without_index
from tidings.engine.shared_vectors import can_be_used, lock_unused
from tidings.engine.statements import in_list
from tidings.storage.entries import counters
from tidings.storage.schema import (
    entries,
    entry_contents,
    feeds,
    search_documents,
    search_pending,
    search_vectors,
    shared_contents,
    shared_vectors,
    sources,
)

# Shorter contents, in characters, are stored with each entry: a reference with its indexes takes about as much.
MIN_SHARED_SIZE: Final = 200
# The kind of the advisory locks of sources, any number that no other kind in this database uses.
_LOCK_KIND: Final = 748_346_474
# How many contents that were stored before are shared in one transaction, and of how many feeds at most.
SHARED_BATCH: Final = 100
SHARED_FEEDS: Final = 25
# Of how many entries search terms are shared in one transaction, as many as are indexed in one.
SHARED_TERMS: Final = 50

_update = update(entry_contents).where(
    entry_contents.c.user_id == bindparam("user"), entry_contents.c.entry_id == bindparam("entry")
)
_set = _update.values(content=bindparam("body"), shared_id=null())
_set_both = _update.values(content=bindparam("body"), other_content=bindparam("other"), shared_id=null())
_set_of_feed = _update.values(content=bindparam("body"), chapters=bindparam("written"), shared_id=bindparam("shared"))
_body_of_feed = bindparam("body", type_=entry_contents.c.other_content.type)
_set_hidden_of_feed = _update.values(
    other_content=case((entry_contents.c.other_content.is_not(None), _body_of_feed)), chapters=bindparam("written")
)
# The row of an entry; a condition on the owner in both tables lets PostgreSQL read one partition.
has_body = and_(entry_contents.c.entry_id == entries.c.id, entry_contents.c.user_id == entries.c.user_id)
# Joins what the row refers to, which is missing for most rows.
has_shared = shared_contents.c.id == entry_contents.c.shared_id
body: ColumnElement[str] = func.coalesce(
    shared_contents.c.content, entry_contents.c.content, type_=CompressedText()
).label("content")
_select_extras = (
    select(entry_contents.c.chapters, entry_contents.c.other_content, entries.c.edited)
    .select_from(entry_contents.join(entries, has_body))
    .where(entries.c.user_id == bindparam("user"), entries.c.id == bindparam("entry"))
)


class ContentExtras(Struct, frozen=True):
    """What is stored next to an entry's content."""

    chapters: str = ""
    """As `domain.entries.entries` writes them."""
    other_content: str | None = None
    """Clean HTML, None if there is nothing to switch to."""


class EntryExtras(ContentExtras, frozen=True):
    """What is stored next to an entry's content, with the fields that its user has edited."""

    edited: int = 0
    """Bits of the fields that no longer follow the publisher."""

    @property
    def is_whole_article(self) -> bool:
        """Whether the content did not come from the feed: then the feed's is what the user can switch to."""
        return bool(self.edited & EditedEntryField.CONTENT)


class FeedContent(Struct, frozen=True):
    """A content that arrives with a feed."""

    user_id: int
    feed_id: int
    content: str


def extras(db: Read, user_id: int, entry_id: int) -> EntryExtras:
    return db.one(EntryExtras, _select_extras, user=user_id, entry=entry_id) or EntryExtras()


def set_content(db: Write, user_id: int, entry_id: int, content: str) -> None:
    """Replace the content of an entry of the user. content: cleaned HTML.

    The caller calls `search_index.note_changed`.
    """
    db.run(_set, user=user_id, entry=entry_id, body=content)


def set_contents(db: Write, user_id: int, entry_id: int, content: str, other_content: str) -> None:
    """Like `set_content`, with what the user can switch to."""
    db.run(_set_both, user=user_id, entry=entry_id, body=content, other=other_content)


def set_of_feed(
    db: Write, user_id: int, entry_id: int, content: str, chapters: str, *, is_shown: bool, shared_id: int | None = None
) -> None:
    """Like `set_content`, for what the publisher has changed. chapters: as in `ContentExtras`.

    is_shown: whether the user sees the content of the feed. Otherwise it becomes what the user can switch to, unless
    there is nothing to switch to. shared_id: of the same content, if it is shared.
    """
    if is_shown:
        written = {"body": content if shared_id is None else "", "shared": shared_id}
        db.run(_set_of_feed, user=user_id, entry=entry_id, written=chapters, **written)
    else:
        db.run(_set_hidden_of_feed, user=user_id, entry=entry_id, body=content, written=chapters)


# Sharing
#
# References to contents of a source are made, and its contents removed, only by the transaction that holds the lock of
# the source. Nobody waits for it: who does not get it stores contents with entries, or removes contents another time.

_select_sources = select(feeds.c.id, feeds.c.source_id).where(
    in_list(feeds.c.user_id, "users"), in_list(feeds.c.id, "feeds")
)
_select_shared_sources = _select_sources.join(sources, sources.c.id == feeds.c.source_id).where(
    sources.c.is_shared == true()
)
# Where feeds are on other servers, a join with sources would bring them to the coordinator as a temporary table first.
_select_shared = select(sources.c.id).where(in_list(sources.c.id, "ids"), sources.c.is_shared == true())
_SELECT_KNOWN = """
    SELECT wanted.source_id, wanted.digest, shared_contents.id
    FROM wanted JOIN shared_contents
        ON shared_contents.source_id = wanted.source_id AND shared_contents.digest = wanted.digest
"""


def share(db: Write, arriving: Iterable[FeedContent]) -> dict[FeedContent, int]:
    """Store contents of sources that several feeds show, once for each source. Return their ids.

    What is missing from the result is stored with its entry: short contents, those of a source that only one feed has
    ever shown, those of a source whose contents another transaction stores at this moment, and all of them while a
    server of a distributed database does not answer, since contents are copied to each.
    """
    long = [one for one in arriving if len(one.content) >= MIN_SHARED_SIZE]
    if not long:
        return {}
    users, ids = sorted({one.user_id for one in long}), sorted({one.feed_id for one in long})
    source_of = _shared_sources(db, users, ids)
    found = {(source_of[one.feed_id], one.content) for one in long if one.feed_id in source_of}
    stored = _stored(db, found) if nodes.did_all_answer(db) else {}
    return {one: stored[content] for one in long if (content := (source_of.get(one.feed_id, 0), one.content)) in stored}


def _shared_sources(db: Read, users: Sequence[int], feed_ids: Sequence[int]) -> dict[int, int]:
    """Return the sources of feeds by feed id, except those that only one feed has ever shown."""
    if not is_distributed(db.connection):
        return dict(db.tuples(_select_shared_sources, users=users, feeds=feed_ids))
    found: dict[int, int] = dict(db.tuples(_select_sources, users=users, feeds=feed_ids))
    shared = set(db.scalars(_select_shared, ids=sorted(set(found.values())))) if found else set()
    return {feed_id: source_id for feed_id, source_id in found.items() if source_id in shared}


def _stored(db: Write, contents: Iterable[tuple[int, str]]) -> dict[tuple[int, str], int]:
    """Return the ids of shared contents by source and text, and add what is missing.

    contents: pairs of source id and text. Those of a source whose contents another transaction adds are left out.
    """
    wanted = sorted(set(contents))
    locked = statements.try_advisory_locks(db, _LOCK_KIND, sorted({source_id for source_id, _ in wanted}))
    keys = {(source_id, text): (source_id, digest_of(text)) for source_id, text in wanted if source_id in locked}
    known = {
        (source_id, bytes(digest)): int(id_)
        for source_id, digest, id_ in statements.select_by_hash(
            db, _SELECT_KNOWN, keys.values(), names=("source_id", "digest")
        )
    }
    missing = {key: text for (_, text), key in keys.items() if key not in known}
    if missing:
        known |= zip(missing, statements.take_ids(db, shared_contents, len(missing)), strict=True)
        rows: Sequence[dict[str, Any]] = [
            {"id": known[key], "source_id": key[0], "digest": key[1], "content": text} for key, text in missing.items()
        ]
        statements.insert_rows(db, shared_contents, rows)
    return {content: known[key] for content, key in keys.items()}


# Sharing what was stored before
#
# A source that several feeds show has a position: contents of entries of feeds with a higher id may not be shared yet.
# It is set by a migration, and when the second feed comes.

_select_unshared_source = (
    select(sources.c.id, sources.c.unshared_after)
    .where(sources.c.unshared_after.is_not(None))
    .order_by(sources.c.id)
    .limit(1)
)
_count_unshared_sources = select(func.count()).select_from(sources).where(sources.c.unshared_after.is_not(None))
_select_next_feeds = (
    select(feeds.c.id, feeds.c.user_id)
    .where(feeds.c.source_id == bindparam("source"), feeds.c.id > bindparam("after"))
    .order_by(feeds.c.id)
    .limit(bindparam("limit"))
)
_count_feeds = select(func.count()).select_from(
    select(feeds.c.id).where(feeds.c.source_id == bindparam("source")).limit(2).subquery()
)
_select_unshared = (
    select(entries.c.id, entries.c.user_id, entries.c.feed_id, entry_contents.c.content)
    .select_from(entries.join(entry_contents, has_body))
    .where(
        in_list(without_index(entries.c.user_id), "users"),
        in_list(entries.c.feed_id, "feeds"),
        entries.c.edited.bitwise_and(int(EditedEntryField.CONTENT)) == 0,
        entry_contents.c.shared_id.is_(None),
        func.length(entry_contents.c.content) >= MIN_SHARED_SIZE,
    )
    .limit(bindparam("limit"))
)


def _shared_with_own_terms(index: Table, has_own: ColumnElement[bool]) -> Select[Any]:
    """Return the SELECT of entries whose search terms are still stored for each, unless they wait to be indexed."""
    is_waiting = exists().where(
        search_pending.c.entry_id == entries.c.id, search_pending.c.user_id == entries.c.user_id
    )
    return (
        select(entries.c.id, entries.c.user_id)
        .select_from(entries.join(entry_contents, has_body).join(index, index.c.entry_id == entries.c.id))
        .where(
            in_list(without_index(entries.c.user_id), "users"),
            in_list(entries.c.feed_id, "feeds"),
            entry_contents.c.shared_id.is_not(None),
            index.c.user_id == entries.c.user_id,
            has_own,
            ~is_waiting,
        )
        .limit(bindparam("limit"))
    )


_select_shared_with_own_terms = _shared_with_own_terms(search_documents, search_documents.c.terms_id.is_(None))
_select_shared_with_own_vectors = _shared_with_own_terms(search_vectors, search_vectors.c.vector_id.is_(None))
_refer = _update.where(entry_contents.c.shared_id.is_(None)).values(content="", shared_id=bindparam("shared"))
_set_position = (
    update(sources)
    .where(sources.c.id == bindparam("source"), sources.c.unshared_after == bindparam("before"))
    .values(unshared_after=bindparam("reached"))
)


class UnsharedSource(Struct, frozen=True):
    """A source with contents that are stored once for each feed."""

    id: int
    unshared_after: int
    """The last of its feeds whose contents are shared."""


def first_unshared(db: Read) -> UnsharedSource | None:
    return db.one(UnsharedSource, _select_unshared_source)


def count_unshared(db: Read) -> int:
    """Return how many sources have contents that may not be shared yet."""
    return int(db.scalar(_count_unshared_sources))


def share_stored(
    db: Write, source: UnsharedSource, share_terms: Callable[[Write, dict[int, int]], object]
) -> int | None:
    """Share some contents of a source, or without any left some search terms. Returns how many are shared now.

    Moves its position when neither are left. None while another transaction shares or stores contents of the source:
    nothing is done then.
    share_terms: stores search terms of entries once, given the user of each entry.
    """
    if not statements.try_advisory_locks(db, _LOCK_KIND, [source.id]):
        return None
    following = db.rows(_select_next_feeds, source=source.id, after=source.unshared_after, limit=SHARED_FEEDS)
    if db.scalar(_count_feeds, source=source.id) < 2:
        following = []
    owners = {"users": sorted({row["user_id"] for row in following}), "feeds": [row["id"] for row in following]}
    if following and db.rows(_select_unshared, **owners, limit=1):
        counters.lock_each(db, [(row["user_id"], row["id"]) for row in following])
        return _share_contents(db, source, db.rows(_select_unshared, **owners, limit=SHARED_BATCH))
    # Without the locks, which all changes of these feeds would wait for while PostgreSQL indexes entries.
    with_own_terms = _with_own_terms(db, owners, SHARED_TERMS) if following else {}
    share_terms(db, with_own_terms)
    if len(with_own_terms) < SHARED_TERMS:
        reached = following[-1]["id"] if len(following) == SHARED_FEEDS else None
        db.run(_set_position, source=source.id, before=source.unshared_after, reached=reached)
    return len(with_own_terms)


def _share_contents(db: Write, source: UnsharedSource, found: Sequence[Row]) -> int:
    """Share the contents of entries. Returns how many. found: by `_select_unshared`."""
    ids = _stored(db, {(source.id, row["content"]) for row in found})
    referring = [
        {"user": row["user_id"], "entry": row["id"], "shared": ids[source.id, row["content"]]} for row in found
    ]
    db.run_many(_refer, sorted(referring, key=lambda row: row["entry"]))
    return len(found)


def _with_own_terms(db: Write, owners: dict[str, list[int]], limit: int) -> dict[int, int]:
    """Return up to `limit` entries with shared contents and search terms of their own, and the user of each."""
    if is_distributed(db.connection):
        return {}
    statement = _select_shared_with_own_terms if is_sqlite(db.connection) else _select_shared_with_own_vectors
    return dict(db.tuples(statement, **owners, limit=limit))


# Removing what no entry has any more

_is_unused = ~exists().where(entry_contents.c.shared_id == shared_contents.c.id)
_select_page = (
    select(shared_contents.c.id, shared_contents.c.source_id)
    .where(shared_contents.c.id > bindparam("after"))
    .order_by(shared_contents.c.id)
    .limit(bindparam("limit"))
)
_select_unused = _select_page.where(_is_unused)
_delete_listed = delete(shared_contents).where(in_list(shared_contents.c.id, "ids"))
_delete_unused = _delete_listed.where(_is_unused)
# Where entries are on other servers, one statement cannot look for them and remove what they do not have.
_select_used = select(entry_contents.c.shared_id).where(in_list(entry_contents.c.shared_id, "ids")).distinct()


def find_unused(db: Read, *, after: int, limit: int) -> list[tuple[int, int]]:
    """Return ids of shared contents above `after` that no entry refers to, with the ids of their sources."""
    if not is_distributed(db.connection):
        return [(int(id_), int(source_id)) for id_, source_id in db.tuples(_select_unused, after=after, limit=limit)]
    unused: list[tuple[int, int]] = []
    while len(unused) < limit and (page := db.tuples(_select_page, after=after, limit=limit)):
        used = set(db.scalars(_select_used, ids=[id_ for id_, _ in page]))
        unused += [(id_, source_id) for id_, source_id in page if id_ not in used]
        after = page[-1][0]
    return unused[:limit]


def remove_unused(db: Write, found: Iterable[tuple[int, int]]) -> int:
    """Remove shared contents that no entry refers to. found: by `find_unused`. Returns how many were removed.

    A reference that was made since is seen by the statement that removes, which begins after the locks are taken.
    """
    of_source: defaultdict[int, list[int]] = defaultdict(list)
    for id_, source_id in found:
        of_source[source_id].append(id_)
    locked = statements.try_advisory_locks(db, _LOCK_KIND, sorted(of_source))
    ids = sorted(id_ for one in locked for id_ in of_source[one])
    if not is_distributed(db.connection):
        return db.run(_delete_unused, ids=ids) if ids else 0
    unused = sorted(set(ids).difference(db.scalars(_select_used, ids=ids)))
    return db.run(_delete_listed, ids=unused) if unused else 0


# A vector goes with its content. It remains when the title changes of all who have it, until it is found here.
_other_vector = shared_vectors.alias("other")
_has_other_vector = exists().where(
    _other_vector.c.content_id == shared_vectors.c.content_id, _other_vector.c.id != shared_vectors.c.id
)
_is_unused_vector = ~exists().where(
    entry_contents.c.shared_id == shared_vectors.c.content_id,
    search_vectors.c.entry_id == entry_contents.c.entry_id,
    search_vectors.c.user_id == entry_contents.c.user_id,
    search_vectors.c.vector_id == shared_vectors.c.id,
)
_select_unused_vectors = (
    select(shared_vectors.c.id)
    .where(shared_vectors.c.id > bindparam("after"), _has_other_vector, _is_unused_vector)
    .order_by(shared_vectors.c.id)
    .limit(bindparam("limit"))
)
_delete_unused_vectors = delete(shared_vectors).where(in_list(shared_vectors.c.id, "ids"), _is_unused_vector)


def find_unused_vectors(db: Read, *, after: int, limit: int) -> list[int]:
    """Return ids of shared vectors above `after` that no entry with their content has."""
    return list(db.scalars(_select_unused_vectors, after=after, limit=limit)) if can_be_used(db) else []


def remove_unused_vectors(db: Write, found: Iterable[int]) -> int:
    """Remove shared vectors that no entry has. found: by `find_unused_vectors`. Returns how many were removed.

    An entry that refers to one since holds it locked, or is seen by the statement that removes.
    """
    return db.run(_delete_unused_vectors, ids=lock_unused(db, found))
