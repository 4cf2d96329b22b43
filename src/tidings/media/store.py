"""The queue of a user: audio and video to play one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from sqlalchemy import and_, bindparam, or_, select, tuple_, update

from tidings.domain.entries.entries import EntryStatus
from tidings.engine.database import Read, Write
from tidings.storage.ownership import of_same_user
from tidings.storage.schema import enclosures, entries, feeds
from tidings.storage.schema.archive import enclosure_kind


class QueuedMedia(Struct, frozen=True):
    """An enclosure in the queue, with its entry and feed."""

    id: int
    entry_id: int
    url: str
    mime_type: str
    media_progression: int
    """Seconds."""
    title: str
    language: str
    """The entry's language code; empty if it is not known."""
    feed_id: int
    feed_title: str
    no_media_player: bool


_is_queued = enclosures.c.queue_position.is_not(None)
_select_media = (
    select(
        enclosures.c.id,
        enclosures.c.entry_id,
        enclosures.c.url,
        enclosures.c.mime_type,
        enclosures.c.media_progression,
        entries.c.title,
        entries.c.language,
        entries.c.feed_id,
        feeds.c.title.label("feed_title"),
        feeds.c.no_media_player,
    )
    .select_from(
        enclosures.join(entries, and_(entries.c.id == enclosures.c.entry_id, of_same_user(entries, enclosures))).join(
            feeds, and_(feeds.c.id == entries.c.feed_id, of_same_user(feeds, entries))
        )
    )
    .where(enclosures.c.user_id == bindparam("user"))
)
_select_queue = _select_media.where(_is_queued, entries.c.status != int(EntryStatus.REMOVED)).order_by(
    enclosures.c.queue_position, enclosures.c.id
)
_select_place = (
    select(entries.c.feed_id.label("feed"), entries.c.published_at, entries.c.id.label("entry"))
    .select_from(
        enclosures.join(entries, and_(entries.c.id == enclosures.c.entry_id, of_same_user(entries, enclosures)))
    )
    .where(enclosures.c.user_id == bindparam("user"), enclosures.c.id == bindparam("enclosure"))
)
_place = tuple_(entries.c.published_at, entries.c.id)
_given_place = tuple_(
    bindparam("published_at", type_=entries.c.published_at.type), bindparam("entry", type_=entries.c.id.type)
)
_select_unheard = _select_media.where(
    entries.c.user_id == bindparam("user"),
    entries.c.feed_id == bindparam("feed"),
    entries.c.status == int(EntryStatus.UNREAD),
    or_(enclosure_kind == "audio/", enclosure_kind == "video/"),
    feeds.c.no_media_player.is_(False),
).limit(1)
_select_unheard_after = _select_unheard.where(_place > _given_place).order_by(
    entries.c.published_at, entries.c.id, enclosures.c.id
)
_select_unheard_before = _select_unheard.where(_place < _given_place).order_by(
    entries.c.published_at.desc(), entries.c.id.desc(), enclosures.c.id
)
_select_ids = (
    select(enclosures.c.id)
    .where(enclosures.c.user_id == bindparam("user"), _is_queued)
    .order_by(enclosures.c.queue_position, enclosures.c.id)
)
_set_position = (
    update(enclosures)
    .where(enclosures.c.user_id == bindparam("user"), enclosures.c.id == bindparam("enclosure"))
    .values(queue_position=bindparam("position"))
)


def list_all(db: Read, user_id: int) -> list[QueuedMedia]:
    """Return the queue in its order, without deleted entries."""
    return db.all(QueuedMedia, _select_queue, user=user_id)


def next_of_feed(db: Read, user_id: int, enclosure_id: int) -> QueuedMedia | None:
    """Return what is unread and was published after an enclosure's entry in its feed, or else the nearest before it."""
    place = db.row(_select_place, user=user_id, enclosure=enclosure_id)
    if place is None:
        return None
    given = {"user": user_id, **place}
    return db.one(QueuedMedia, _select_unheard_after, **given) or db.one(QueuedMedia, _select_unheard_before, **given)


def list_ids(db: Read, user_id: int) -> list[int]:
    """Return the ids of all enclosures in the queue, in its order."""
    return [int(id_) for id_ in db.scalars(_select_ids, user=user_id)]


def replace(db: Write, user_id: int, before: Sequence[int], after: Sequence[int]) -> None:
    """Store the order of the queue. before, after: ids of enclosures of the user."""
    positions: dict[int, int | None] = dict.fromkeys(before) | {id_: place for place, id_ in enumerate(after, 1)}
    db.run_many(
        _set_position,
        [{"user": user_id, "enclosure": id_, "position": place} for id_, place in sorted(positions.items())],
    )
