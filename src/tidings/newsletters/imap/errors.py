"""What goes wrong with a mailbox, in words for its owner."""

from __future__ import annotations

from tidings.base.errors import TidingsError


class MailboxError(TidingsError):
    """A mailbox cannot be read."""

    code = "mailbox-failed"
    is_retryable = True
