"""Endpoints for the mailbox of a user, which is read for letters."""

from __future__ import annotations

from msgspec import Struct

from tidings.api.schema_annotations import Required, Timestamp
from tidings.base.errors import InvalidInput, NotFound
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.http.json_body import Int64
from tidings.newsletters.imap.model import DEFAULT_FOLDER, Mailbox
from tidings.newsletters.services import NewsletterServices
from tidings.services.clock import time_zone

routes = Routes("Newsletters", after="Archives")


class NewsletterMailboxOut(Struct, frozen=True):
    """A folder on an IMAP server. mark_seen: letters that became entries are marked as seen there.

    letters: how many have become entries. error: why it could not be read the last time; "" if it could.
    """

    host: str
    port: int
    tls: bool
    starttls: bool
    username: str
    folder: str
    mark_seen: bool
    letters: int
    polled_at: Timestamp | None
    next_poll_at: Timestamp
    failures: int
    error: str


class NewsletterMailboxUpdate(Struct, frozen=True):
    """port: default 993, with starttls 143. tls: default true. starttls: default false. folder: default INBOX.

    mark_seen: default false.

    password: leave it out to keep the stored one, for the same account.
    """

    host: Required[str] = None
    port: Int64 | None = None
    tls: bool | None = None
    starttls: bool | None = None
    username: Required[str] = None
    password: str | None = None
    folder: str | None = None
    mark_seen: bool | None = None


@routes.get("/v1/newsletters/mailbox", scope=KeyScope.MANAGE, raises=(NotFound,))
def get_newsletter_mailbox(caller: User, newsletters: NewsletterServices) -> NewsletterMailboxOut:
    """Return the mailbox that is read for your letters, without its password."""
    return _out(caller, newsletters.mailboxes.get(caller.id))


@routes.put("/v1/newsletters/mailbox", scope=KeyScope.MANAGE, status=201, raises=(InvalidInput,))
def set_newsletter_mailbox(
    caller: User, newsletters: NewsletterServices, body: NewsletterMailboxUpdate
) -> NewsletterMailboxOut:
    """Set the mailbox whose letters become entries of your feeds. It is read within seconds, and every few minutes."""
    mailbox = newsletters.mailboxes.save(
        caller.id,
        host=body.host or "",
        port=body.port,
        has_tls=body.tls is not False,
        has_starttls=bool(body.starttls),
        username=body.username or "",
        password=body.password,
        folder=DEFAULT_FOLDER if body.folder is None else body.folder,
        marks_seen=bool(body.mark_seen),
    )
    return _out(caller, mailbox)


@routes.delete("/v1/newsletters/mailbox", scope=KeyScope.MANAGE, status=204, raises=(NotFound,))
def delete_newsletter_mailbox(caller: User, newsletters: NewsletterServices) -> None:
    """Stop reading your mailbox, and forget its password. Letters stay, here and there."""
    newsletters.mailboxes.remove(caller.id)


def _out(caller: User, mailbox: Mailbox) -> NewsletterMailboxOut:
    zone = time_zone(caller.timezone)
    return NewsletterMailboxOut(
        host=mailbox.host,
        port=mailbox.port,
        tls=mailbox.has_tls,
        starttls=mailbox.has_starttls,
        username=mailbox.username,
        folder=mailbox.folder,
        mark_seen=mailbox.marks_seen,
        letters=mailbox.letters,
        polled_at=zone.format_optional(mailbox.polled_at),
        next_poll_at=zone.format(mailbox.next_poll_at),
        failures=mailbox.failures,
        error=mailbox.error,
    )
