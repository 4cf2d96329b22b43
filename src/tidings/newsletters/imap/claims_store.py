"""Which mailbox a worker reads next, and how far it has come. The worker serves all users.

Whatever it writes names the worker: a worker that has lost its claim changes nothing.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, delete, insert, or_, select, text, update

from tidings.base.times import Instant
from tidings.engine.database import Read, Write, columns
from tidings.newsletters.imap.model import Mailbox
from tidings.newsletters.tables import newsletter_mailboxes

_mailboxes = newsletter_mailboxes
_lock_due = (
    select(*columns(_mailboxes, Mailbox))
    .where(
        _mailboxes.c.next_poll_at <= bindparam("now"),
        or_(_mailboxes.c.claimed_until.is_(None), _mailboxes.c.claimed_until <= bindparam("now")),
    )
    .order_by(_mailboxes.c.next_poll_at, _mailboxes.c.id)
    .limit(1)
    .with_for_update(skip_locked=True)
)
_claim = (
    update(_mailboxes)
    .where(_mailboxes.c.id == bindparam("mailbox"))
    .values(claimed_until=bindparam("until"), claimed_by=bindparam("worker"))
)
_change_held = update(_mailboxes).where(
    _mailboxes.c.id == bindparam("mailbox"), _mailboxes.c.claimed_by == bindparam("worker")
)
_release_all = (
    update(_mailboxes)
    .where(_mailboxes.c.claimed_by == bindparam("worker"), text("claimed_by <> ''"))
    .values(claimed_until=None, claimed_by="")
)
_select_shared = select(*columns(_mailboxes, Mailbox)).where(text("is_shared"))
_change_shared = update(_mailboxes).where(text("is_shared"))
_delete_shared = delete(_mailboxes).where(text("is_shared"))


def claim(db: Write, worker: str, *, now: Instant, until: Instant) -> Mailbox | None:
    """Claim the mailbox that has been due for longest and that no worker holds, and return it."""
    found = db.one(Mailbox, _lock_due, now=now)
    if found is not None:
        db.run(_claim, mailbox=found.id, worker=worker, until=until)
    return found


def change_held(db: Write, mailbox_id: int, worker: str, **values: Any) -> bool:
    """Change a claimed mailbox. Returns False if the worker does not hold it any more."""
    return db.run(_change_held.values(**values), mailbox=mailbox_id, worker=worker) > 0


def release_all(db: Write, worker: str) -> int:
    """Release what a worker holds. Returns the number of mailboxes."""
    return db.run(_release_all, worker=worker)


def get_shared(db: Read) -> Mailbox | None:
    """Return the mailbox of this installation."""
    return db.one(Mailbox, _select_shared)


def add_shared(db: Write, **values: Any) -> None:
    """Add the mailbox of this installation. Raises ConcurrentChange if another worker has just done so."""
    db.run(insert(_mailboxes).values(is_shared=True, **values))


def change_shared(db: Write, **values: Any) -> None:
    """Change the mailbox of this installation, and take it from the worker that reads it."""
    db.run(_change_shared.values(claimed_until=None, claimed_by="", **values))


def remove_shared(db: Write) -> None:
    db.run(_delete_shared)
