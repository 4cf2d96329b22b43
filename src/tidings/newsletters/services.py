"""The services of this slice, for its endpoints and pages."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from tidings.newsletters.imap.mailboxes import Mailboxes
from tidings.newsletters.lmtp_listener import Place
from tidings.newsletters.newsletters import Newsletters
from tidings.newsletters.unsubscribing import Unsubscriber
from tidings.services import SliceServices


@dataclass(frozen=True, slots=True)
class NewsletterServices(SliceServices):
    """Newsletters as feeds."""

    newsletters: Newsletters
    unsubscriber: Unsubscriber
    mailboxes: Mailboxes
    base_url: str
    """Where the service is, without a slash at the end."""
    mail_address: str
    """The mail address at which letters arrive, with {secret} where the secret stands; "" if there is none."""
    lmtp: Place | None
    """Where a worker listens for LMTP; None for nowhere."""

    def post_path(self, secret: str) -> str:
        """Return the path at which messages are delivered, with the base path."""
        return f"{urlsplit(self.base_url).path}/mail/{secret}"

    def release_leases(self, worker: str) -> int:
        """Release the mailboxes that a worker was about to read."""
        return self.mailboxes.release_all(worker)

    async def close(self) -> None:
        """Close connections to senders and mailboxes. Call it inside the event loop that used them."""
        self.mailboxes.close()
        await self.unsubscriber.close()

    def mail_addresses(self, secret: str) -> list[str]:
        """Return the mail addresses of a secret address."""
        return [self.mail_address.replace("{secret}", secret)] if self.mail_address else []
