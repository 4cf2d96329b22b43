"""The statements of users' mailboxes."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, delete, insert, select, update

from tidings.engine.database import Read, Write, columns
from tidings.newsletters.imap.model import Mailbox
from tidings.newsletters.tables import newsletter_mailboxes

_of_user = newsletter_mailboxes.c.user_id == bindparam("user")
_select = select(*columns(newsletter_mailboxes, Mailbox)).where(_of_user)
_change = update(newsletter_mailboxes).where(_of_user)
_delete = delete(newsletter_mailboxes).where(_of_user)


def get(db: Read, user_id: int) -> Mailbox | None:
    return db.one(Mailbox, _select, user=user_id)


def add(db: Write, user_id: int, **values: Any) -> None:
    """Add the mailbox of a user. Raises ConcurrentChange if another transaction has just done so."""
    db.run(insert(newsletter_mailboxes).values(user_id=user_id, **values))


def change(db: Write, user_id: int, **values: Any) -> None:
    """Change the mailbox of a user, and take it from the worker that reads it."""
    db.run(_change.values(claimed_until=None, claimed_by="", **values), user=user_id)


def remove(db: Write, user_id: int) -> bool:
    """Returns False if the user has none."""
    return db.run(_delete, user=user_id) > 0
