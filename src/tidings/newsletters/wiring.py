"""How newsletters are joined to the rest. Mail is delivered to `mail_endpoint`, which is mounted apart."""

from __future__ import annotations

from tidings.base.messages import msg
from tidings.newsletters.archiving import SenderArchiver
from tidings.newsletters.imap.mailboxes import Mailboxes, SharedMailbox
from tidings.newsletters.imap.model import Account
from tidings.newsletters.imap.worker import MailboxReader
from tidings.newsletters.lmtp_listener import LmtpListener
from tidings.newsletters.newsletters import Newsletters, forget_letters
from tidings.newsletters.services import NewsletterServices
from tidings.newsletters.unsubscribing import Unsubscriber
from tidings.services.listeners import CleanupTask
from tidings.settings import Settings
from tidings.web.settings_menu import MenuItem
from tidings.wiring.arguments import fetch_settings, instance_settings
from tidings.wiring.slice import Parts, Slice


def build(parts: Parts) -> NewsletterServices:
    """Return the newsletters of users."""
    parts.listeners.cleanup_tasks.append(CleanupTask("letters", forget_letters))
    newsletters = Newsletters(parts.database, parts.clock, parts.listeners, instance=instance_settings(parts.settings))
    unsubscriber = Unsubscriber(newsletters, fetch_settings(parts.settings))
    settings = parts.settings
    base_url = settings.base_url.rstrip("/")
    parts.joins.newsletters = SenderArchiver(parts.clock)
    mailboxes = Mailboxes(
        parts.database,
        parts.clock,
        newsletters,
        interval=settings.newsletters_imap_interval,
        allow_private_networks=settings.fetcher_allow_private_networks,
        shared=shared_mailbox(settings),
    )
    return NewsletterServices(
        newsletters, unsubscriber, mailboxes, base_url, settings.newsletters_address or "", settings.newsletters_lmtp
    )


def shared_mailbox(settings: Settings) -> SharedMailbox | None:
    """Return the mailbox of this installation, if one is set."""
    url = settings.newsletters_imap_url
    if url is None:
        return None
    account = Account(
        host=url.host,
        port=url.port,
        has_tls=url.has_tls,
        has_starttls=url.has_starttls,
        username=url.username,
        password=settings.newsletters_imap_password or "",
        folder=url.folder,
        marks_seen=settings.newsletters_imap_mark_seen,
    )
    return SharedMailbox(account, settings.newsletters_address or "")


def loops(services: NewsletterServices, worker: str) -> tuple[LmtpListener, MailboxReader]:
    return (
        LmtpListener(services.newsletters, services.lmtp, services.mail_address),
        MailboxReader(services.mailboxes, worker),
    )


SLICE = Slice(
    build=build,
    endpoints=("endpoints", "imap.endpoints"),
    pages=("pages", "imap.pages"),
    loops=loops,
    settings_menu=(
        MenuItem("/newsletters", msg("Newsletters"), after="/list-links", icon="mail"),
        MenuItem(
            "/newsletters/address",
            msg("Copy newsletter address"),
            after="/list-links",
            icon="copy",
            copies="[id^=mail-]",
            needs=lambda services: bool(services[NewsletterServices].mail_address),
        ),
    ),
)
