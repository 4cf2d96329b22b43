"""Which subscription a worker checks next. The worker serves all users."""

from __future__ import annotations

from typing import Final

from tidings.live_opml.model import OpmlSource
from tidings.live_opml.tables import opml_subscriptions
from tidings.storage.polling.claims import Claims

CLAIMS: Final = Claims(opml_subscriptions, OpmlSource, due=opml_subscriptions.c.next_check_at)
