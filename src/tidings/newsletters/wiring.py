"""How newsletters are joined to the rest. Mail is delivered to `mail_endpoint`, which is mounted apart."""

from __future__ import annotations

from tidings.base.messages import msg
from tidings.newsletters.archiving import SenderArchiver
from tidings.newsletters.lmtp_listener import LmtpListener
from tidings.newsletters.newsletters import Newsletters, forget_letters
from tidings.newsletters.services import NewsletterServices
from tidings.newsletters.unsubscribing import Unsubscriber
from tidings.services.listeners import CleanupTask
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
    return NewsletterServices(
        newsletters, unsubscriber, base_url, settings.newsletters_address or "", settings.newsletters_lmtp
    )


def loops(services: NewsletterServices, _worker: str) -> tuple[LmtpListener]:
    return (LmtpListener(services.newsletters, services.lmtp, services.mail_address),)


SLICE = Slice(
    build=build,
    endpoints=("endpoints",),
    pages=("pages",),
    loops=loops,
    settings_menu=(MenuItem("/newsletters", msg("Newsletters"), after="/list-links"),),
)
