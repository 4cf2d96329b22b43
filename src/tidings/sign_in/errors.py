"""Errors of signing in, besides those of the core."""

from __future__ import annotations

from tidings.base.errors import InvalidInput
from tidings.base.messages import Message


class ProofRefused(InvalidInput):
    """A code or the answer of a passkey that is not right: a failed attempt. reason: for the log, always the same."""

    def __init__(self, reason: str, text: Message, *, field: str = "") -> None:
        super().__init__(text, field=field)
        self.reason = reason
