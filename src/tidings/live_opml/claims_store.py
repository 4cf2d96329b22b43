"""Which subscription a worker checks next. The worker serves all users."""

from __future__ import annotations

from sqlalchemy import bindparam, or_, select, text, update

from tidings.base.times import Instant
from tidings.engine.database import Write, columns
from tidings.live_opml.model import OpmlSource
from tidings.live_opml.tables import opml_subscriptions

_lock_due = (
    select(*columns(opml_subscriptions, OpmlSource))
    .where(
        opml_subscriptions.c.next_check_at <= bindparam("now"),
        or_(opml_subscriptions.c.claimed_until.is_(None), opml_subscriptions.c.claimed_until <= bindparam("now")),
    )
    .order_by(opml_subscriptions.c.next_check_at, opml_subscriptions.c.id)
    .limit(1)
    .with_for_update(skip_locked=True)
)
_claim = (
    update(opml_subscriptions)
    .where(opml_subscriptions.c.id == bindparam("subscription"))
    .values(claimed_until=bindparam("until"), claimed_by=bindparam("worker"))
)
_release_all = (
    update(opml_subscriptions)
    .where(opml_subscriptions.c.claimed_by == bindparam("worker"), text("claimed_by <> ''"))
    .values(claimed_until=None, claimed_by="")
)


def claim(db: Write, worker: str, *, now: Instant, until: Instant) -> OpmlSource | None:
    """Claim the subscription that has been due for longest and that no worker holds, and return it."""
    source = db.one(OpmlSource, _lock_due, now=now)
    if source is not None:
        db.run(_claim, subscription=source.id, worker=worker, until=until)
    return source


def release_all(db: Write, worker: str) -> int:
    """Release what a worker holds. Returns the number of subscriptions."""
    return db.run(_release_all, worker=worker)
