"""Limits of accounts: what an account may have, by its own values or by the settings of the instance."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.domain.errors import AccountFull
from tidings.services.listeners import AccountRoom

# In settings and forms; sizes are stored in bytes.
MEGABYTE: Final = 1_000_000
MAX_NUMBER: Final = 2**31 - 1


class Limits(Struct, frozen=True, omit_defaults=True):
    """How much an account may have. None: as the settings of the instance say; 0: without limit."""

    max_feeds: int | None = None
    max_entries: int | None = None
    max_megabytes: int | None = None

    def or_default(self, default: Limits) -> Limits:
        """Return the limits that apply. default: those of the instance."""
        return Limits(*(
            getattr(default, name) if getattr(self, name) is None else getattr(self, name)
            for name in self.__struct_fields__
        ))  # fmt: skip

    def packed(self) -> str:
        return msgspec.json.encode(self).decode()

    @classmethod
    def unpacked(cls, text: str) -> Limits:
        return msgspec.json.decode(text, type=cls)

    def validated(self) -> Limits:
        """Return the same limits. Raises InvalidField."""
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None and not 0 <= value <= MAX_NUMBER:
                raise InvalidField(name, msg("give a number from {min:,} to {max:,}.", min=0, max=MAX_NUMBER))
        return self


class Usage(Struct, frozen=True):
    """How much an account has."""

    feeds: int
    entries: int
    size_bytes: int | None
    """About what the articles take; None if it was never measured, since there is no limit."""


def too_many_feeds(limits: Limits, usage: Usage, more: int) -> AccountFull | None:
    """Return the error if an account may not have this many more feeds."""
    if not limits.max_feeds or usage.feeds + more <= limits.max_feeds:
        return None
    return AccountFull(
        msg(
            "Your account may have {max:,} feeds and has {count:,}: delete some, or ask an administrator for more.",
            max=limits.max_feeds,
            count=usage.feeds,
        )
    )


def room_for_entries(limits: Limits, usage: Usage) -> AccountRoom:
    """Return how much more an account may have."""
    room = AccountRoom()
    if limits.max_entries:
        room.entries = limits.max_entries - usage.entries
        room.no_entries = AccountFull(
            msg(
                "Your account is full: it may have {max:,} entries. Delete some, or ask an administrator for more.",
                max=limits.max_entries,
            )
        )
    if limits.max_megabytes:
        room.size_bytes = limits.max_megabytes * MEGABYTE - (usage.size_bytes or 0)
        room.no_size = AccountFull(
            msg(
                "Your account is full: its articles may take {max:,} MB. "
                "Delete some, or ask an administrator for more.",
                max=limits.max_megabytes,
            )
        )
    return room
