"""Links that are used once: invitations, and sign-ins that the command line has made."""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import bindparam, delete, insert, select

from tidings.base.times import Instant
from tidings.engine.database import Read, Write, columns
from tidings.sign_in.tables import account_links


class AccountLink(Struct, frozen=True):
    """A link, without its token, which only its receiver has."""

    id: int
    for_user_id: int | None
    note: str
    invited_by: str
    is_admin: bool
    limits: str
    created_at: Instant
    expires_at: Instant


_select_all = select(*columns(account_links, AccountLink))
_select_by_hash = _select_all.where(
    account_links.c.token_hash == bindparam("digest"), account_links.c.expires_at > bindparam("now")
)
_select_invitations = _select_all.where(
    account_links.c.for_user_id.is_(None), account_links.c.expires_at > bindparam("now")
).order_by(account_links.c.id.desc())
_delete_invitation = (
    delete(account_links)
    .where(account_links.c.for_user_id.is_(None), account_links.c.id == bindparam("link"))
    .returning(account_links.c.note)
)
_delete = delete(account_links).where(account_links.c.id == bindparam("link"))
_delete_of_user = delete(account_links).where(account_links.c.for_user_id == bindparam("user"))
_select_expired = select(account_links.c.id).where(account_links.c.expires_at <= bindparam("now"))
_delete_expired = delete(account_links).where(
    account_links.c.id.in_(_select_expired.limit(bindparam("limit")).scalar_subquery())
)


def by_hash(db: Read, digest: bytes, now: Instant) -> AccountLink | None:
    """Return the link with this token hash; None if it does not exist or has expired."""
    return db.one(AccountLink, _select_by_hash, digest=digest, now=now)


def invitations(db: Read, now: Instant) -> list[AccountLink]:
    """Return the invitations that are open, the newest first."""
    return db.all(AccountLink, _select_invitations, now=now)


def add(db: Write, link: AccountLink, *, digest: bytes) -> None:
    """Add a link. link: its `id` is ignored."""
    db.run(
        insert(account_links).values(
            token_hash=digest,
            for_user_id=link.for_user_id,
            note=link.note,
            invited_by=link.invited_by,
            is_admin=link.is_admin,
            limits=link.limits,
            created_at=link.created_at,
            expires_at=link.expires_at,
        )
    )


def remove_invitation(db: Write, link_id: int) -> str | None:
    """Delete an invitation. Returns for whom it was; None if there is no such invitation."""
    removed: str | None = db.scalar(_delete_invitation, link=link_id)
    return removed


def use(db: Write, link_id: int) -> bool:
    """Delete a link that is used. Returns False if it was used already."""
    return db.run(_delete, link=link_id) > 0


def remove_of_user(db: Write, user_id: int) -> None:
    db.run(_delete_of_user, user=user_id)


def remove_expired(db: Write, now: Instant, limit: int) -> int:
    """Delete up to `limit` expired links. Returns how many."""
    return db.run(_delete_expired, now=now, limit=limit)
