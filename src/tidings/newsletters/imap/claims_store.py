"""Which mailbox a worker reads next, and how far it has come. The worker serves all users.

Whatever it writes names the worker: a worker that has lost its claim changes nothing.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import bindparam, delete, insert, select, text, update

from tidings.engine.database import Read, Write, columns
from tidings.newsletters.imap.model import Mailbox
from tidings.newsletters.tables import newsletter_mailboxes
from tidings.storage.polling.claims import Claims

_mailboxes = newsletter_mailboxes

CLAIMS: Final = Claims(_mailboxes, Mailbox, due=_mailboxes.c.next_poll_at)

_change_held = update(_mailboxes).where(
    _mailboxes.c.id == bindparam("mailbox"), _mailboxes.c.claimed_by == bindparam("worker")
)
_select_shared = select(*columns(_mailboxes, Mailbox)).where(text("is_shared"))
_change_shared = update(_mailboxes).where(text("is_shared"))
_delete_shared = delete(_mailboxes).where(text("is_shared"))


def change_held(db: Write, mailbox_id: int, worker: str, **values: Any) -> bool:
    """Change a claimed mailbox. Returns False if the worker does not hold it any more."""
    return db.run(_change_held.values(**values), mailbox=mailbox_id, worker=worker) > 0


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
