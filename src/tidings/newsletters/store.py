"""The statements of newsletters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import bindparam, delete, func, insert, select, update

from tidings.base.times import Instant
from tidings.domain.feeds.feeds import NEWSLETTERS_URL
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import upsert
from tidings.newsletters.model import NewsletterAddress, NewsletterFeed, NewsletterSender
from tidings.newsletters.tables import newsletter_addresses, newsletter_letters, newsletter_senders
from tidings.storage.schema import feeds

_addresses, _senders, _letters = newsletter_addresses, newsletter_senders, newsletter_letters

_select_addresses = (
    select(*columns(_addresses, NewsletterAddress))
    .where(_addresses.c.user_id == bindparam("user"))
    .order_by(_addresses.c.id)
)
_select_address = _select_addresses.where(_addresses.c.id == bindparam("id"))
_select_by_secret = select(*columns(_addresses, NewsletterAddress)).where(_addresses.c.secret == bindparam("secret"))
_address_is_owned = (_addresses.c.user_id == bindparam("user"), _addresses.c.id == bindparam("address"))
_delete_address = delete(_addresses).where(*_address_is_owned)
_count_letter = (
    update(_addresses)
    .where(*_address_is_owned)
    .values(letters=_addresses.c.letters + 1, last_letter_at=bindparam("moment"))
)
_set_hour = update(_addresses).where(*_address_is_owned).values(hour=bindparam("at"), hour_letters=bindparam("count"))
_add_sender = upsert(_senders, ["user_id", "sender_key"], update=["sender_key"]).returning(_senders.c.id)
_select_senders = (
    select(*columns(_senders, NewsletterSender))
    .where(_senders.c.user_id == bindparam("user"))
    .order_by(func.lower(_senders.c.name), _senders.c.id)
)
_select_sender = _select_senders.where(_senders.c.id == bindparam("id"))
_select_feeds = (
    select(*columns(feeds, NewsletterFeed))
    .where(feeds.c.user_id == bindparam("user"), feeds.c.feed_url.startswith(NEWSLETTERS_URL))
    .order_by(func.lower(feeds.c.title), feeds.c.id)
)
_count_senders = select(func.count()).select_from(_senders).where(_senders.c.user_id == bindparam("user"))
_sender_is_owned = (_senders.c.user_id == bindparam("user"), _senders.c.id == bindparam("sender"))
_count_of_sender = update(_senders).where(*_sender_is_owned).values(letters=_senders.c.letters + 1)
_count_discarded = (
    update(_senders)
    .where(*_sender_is_owned)
    .values(discarded=_senders.c.discarded + 1, last_letter_at=bindparam("moment"))
)
_has_letter = select(_letters.c.id).where(
    _letters.c.user_id == bindparam("user"), _letters.c.digest == bindparam("digest")
)
_remove_old = delete(_letters).where(
    _letters.c.id.in_(
        select(_letters.c.id)
        .where(_letters.c.received_at < bindparam("before"))
        .order_by(_letters.c.received_at)
        .limit(bindparam("limit"))
        .scalar_subquery()
    )
)


def list_addresses(db: Read, user_id: int) -> list[NewsletterAddress]:
    return db.all(NewsletterAddress, _select_addresses, user=user_id)


def get_address(db: Read, user_id: int, address_id: int) -> NewsletterAddress | None:
    return db.one(NewsletterAddress, _select_address, user=user_id, id=address_id)


def address_by_secret(db: Read, secret: str) -> NewsletterAddress | None:
    return db.one(NewsletterAddress, _select_by_secret, secret=secret)


def add_address(db: Write, user_id: int, values: Mapping[str, Any]) -> int:
    return db.insert(insert(_addresses).values(user_id=user_id, **values))


def remove_address(db: Write, user_id: int, address_id: int) -> bool:
    """Delete an address. Returns False if the user has no such address."""
    return db.run(_delete_address, user=user_id, address=address_id) > 0


def count_letter(db: Write, user_id: int, address_id: int, now: Instant) -> None:
    db.run(_count_letter, user=user_id, address=address_id, moment=now)


def set_hour(db: Write, address: NewsletterAddress, hour: int, count: int) -> None:
    """Write how many letters were delivered in an hour."""
    db.run(_set_hour, user=address.user_id, address=address.id, at=hour, count=count)


def list_senders(db: Read, user_id: int) -> list[NewsletterSender]:
    """Return the senders of a user by name."""
    return db.all(NewsletterSender, _select_senders, user=user_id)


def get_sender(db: Read, user_id: int, sender_id: int) -> NewsletterSender | None:
    return db.one(NewsletterSender, _select_sender, user=user_id, id=sender_id)


def list_feeds(db: Read, user_id: int) -> list[NewsletterFeed]:
    """Return the feeds of letters of a user by title."""
    return db.all(NewsletterFeed, _select_feeds, user=user_id)


def count_senders(db: Read, user_id: int) -> int:
    return int(db.scalar(_count_senders, user=user_id) or 0)


def ensure_sender(db: Write, user_id: int, key: str, name: str) -> int:
    """Return the id of a sender, which is added if there is none. Its row is locked until the transaction ends."""
    return int(db.scalar(_add_sender.values(user_id=user_id, sender_key=key, name=name)))


def change_sender(db: Write, user_id: int, sender_id: int, **values: Any) -> None:
    if values:
        db.run(update(_senders).where(*_sender_is_owned).values(**values), user=user_id, sender=sender_id)


def count_of_sender(db: Write, user_id: int, sender_id: int) -> None:
    db.run(_count_of_sender, user=user_id, sender=sender_id)


def count_discarded(db: Write, user_id: int, sender_id: int, now: Instant) -> None:
    db.run(_count_discarded, user=user_id, sender=sender_id, moment=now)


def has_letter(db: Read, user_id: int, digest: bytes) -> bool:
    return db.scalar(_has_letter, user=user_id, digest=digest) is not None


def add_letter(db: Write, user_id: int, digest: bytes, now: Instant) -> None:
    """Record that a letter has arrived. Raises ConcurrentChange if another transaction has just done so."""
    db.run(insert(_letters).values(user_id=user_id, digest=digest, received_at=now))


def remove_old_letters(db: Write, before: Instant, limit: int) -> int:
    """Forget letters that arrived before a moment. Returns their number."""
    return db.run(_remove_old, before=before, limit=limit)
