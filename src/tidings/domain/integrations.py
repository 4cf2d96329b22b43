"""Other services that a user has connected: which there are, and what is set for them."""

from __future__ import annotations

from msgspec import Struct

from tidings.domain.feeds import Feed

WEBHOOK = "webhook"
# Those that an entry can be saved to; they are what `has_integrations` counts.
SAVE_TARGETS = frozenset({WEBHOOK})


class WebhookSettings(Struct, frozen=True):
    """secret: signs what is sent."""

    url: str = ""
    secret: str = ""

    def receiver(self, feed: Feed) -> str:
        """Where events about this feed go: the feed's own address comes first; "" when there is none at all."""
        return feed.webhook_url or self.url
