"""The cursor of a client: what it has, and how far it is with what it does not have yet.

A client asks for the changes between two rows of the log, `since` and `until`, in pages. After the last page it has
`until`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
from enum import IntEnum

from msgspec import Struct

from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.storage.accounts.change_log import Point

# Number and version of two rows, stage, and id.
_FORM = struct.Struct(">qqqqBq")
_CHECK_SIZE = 6


NOTHING = Point(-1, 0)
"""What a client has that begins."""


class Stage(IntEnum):
    """What a page begins with."""

    SMALL = 0
    """Settings, categories, labels, views and rules, in one page."""
    FEEDS = 1
    ENTRIES = 2


class Cursor(Struct, frozen=True):
    """Where a client is."""

    since: Point
    """What it has. Equal to `until` when it has everything."""
    until: Point
    """What it will have after the last page."""
    stage: Stage = Stage.SMALL
    after: int = 0
    """The last id of this stage that it has."""

    @property
    def is_complete(self) -> bool:
        return self.since == self.until

    def encode(self, user_id: int) -> str:
        """Return the text that stands for the cursor of a user."""
        since, until = self.since, self.until
        packed = _FORM.pack(since.number, since.version, until.number, until.version, self.stage, self.after)
        return base64.urlsafe_b64encode(packed + _check(packed, user_id)).rstrip(b"=").decode()


def read_cursor(text: str, user_id: int) -> Cursor:
    """Return the cursor. Raises InvalidField for a text that was damaged, or made for another user."""
    try:
        raw = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise _unknown() from error
    packed, check = raw[: _FORM.size], raw[_FORM.size :]
    if len(packed) != _FORM.size or check != _check(packed, user_id):
        raise _unknown()
    number, version, last_number, last_version, stage, after = _FORM.unpack(packed)
    return Cursor(Point(number, version), Point(last_number, last_version), Stage(stage), after)


def _check(packed: bytes, user_id: int) -> bytes:
    """Return what tells damaged and foreign cursors. It keeps nothing secret: a cursor shows its owner's data only."""
    return hashlib.blake2b(packed, digest_size=_CHECK_SIZE, key=str(user_id).encode(), usedforsecurity=False).digest()


def _unknown() -> InvalidField:
    return InvalidField(
        "cursor", msg("this is not a cursor of yours. Send one as you received it, or none to begin again.")
    )
