"""The errors of database transactions that callers can act on."""

from __future__ import annotations

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg


class ConcurrentChange(InvalidInput):
    """Another request is making the same change at this moment; a repeated request will find it made."""

    def __init__(self) -> None:
        super().__init__(msg("Someone else changed the same thing at this moment: look again, then repeat."))
