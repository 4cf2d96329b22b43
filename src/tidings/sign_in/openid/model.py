"""What is stored of sign-ins at the provider."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from tidings.base.times import Instant

# Characters of an ID token that is kept for signing out; without a longer one, the provider asks the user.
MAX_ID_TOKEN = 12_000


class Identity(Struct, frozen=True):
    """An account at the provider that is linked with a user of this service."""

    id: int
    user_id: int
    issuer: str
    subject: str
    name: str
    """How the provider called the user when they signed in the last time."""
    created_at: Instant
    last_used_at: Instant | None


class ProviderSession(Struct, frozen=True):
    """What is needed to end a session here together with the session at the provider."""

    session_id: int
    user_id: int
    issuer: str
    subject: str
    provider_session_id: str
    """"" if the provider does not say."""
    id_token: str
    """The last one, as a hint for the provider whom to sign out; "" if it was too long."""


class SessionNote(Struct, frozen=True):
    """What is kept with a session that begins at the provider: see `AccountEvent.note`."""

    issuer: str
    subject: str
    provider_session_id: str
    id_token: str

    def pack(self) -> str:
        return msgspec.json.encode(self).decode()

    @classmethod
    def unpack(cls, note: str) -> SessionNote:
        return msgspec.json.decode(note, type=cls)
