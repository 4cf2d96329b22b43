"""What a delivery is: an event on its way to one receiver, and what became of it."""

from __future__ import annotations

import hashlib
from enum import StrEnum

from msgspec import Struct

from tidings.domain.messages import Message, decode_message, encode_message, msg
from tidings.domain.times import DAY, Instant

# As much of an answer is kept and shown, in characters.
MAX_EXCERPT_LENGTH = 1_000
MAX_ERROR_LENGTH = 500
# What was delivered or given up can be looked at and repeated for so long.
FINISHED_RETENTION = 7 * DAY

QUEUE_OVERFLOWED = msg("Too much was waiting for this receiver: the oldest were given up, and their bodies not kept.")
GIVEN_UP_TOGETHER = msg("Nothing reached this receiver for a day: whatever had waited as long was given up.")


class DeliveryState(StrEnum):
    """pending: tried until it is delivered, or failed when a day did not do."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


class Delivery(Struct, frozen=True):
    """One row of `deliveries`, without its body."""

    id: int
    user_id: int
    delivery_id: str
    integration: str
    event_type: str
    receiver: str
    feed_id: int | None
    state: str
    attempts: int
    size: int
    created_at: Instant
    redelivered_at: Instant | None
    finished_at: Instant | None
    last_status: int
    last_error: str
    last_response: str
    last_error_form: str = ""

    @property
    def error(self) -> Message:
        """What `last_error` says, to be rendered in any language."""
        return decode_message(self.last_error, self.last_error_form)

    @property
    def queued_at(self) -> Instant:
        return self.redelivered_at or self.created_at

    def __repr__(self) -> str:
        """Without the receiver: it may have credentials in it, and deliveries end up in logs and traces."""
        return f"Delivery({self.id})"


class ReceiverQueue(Struct, frozen=True):
    """A receiver with something to do, held by a worker: one row of `receivers`.

    failures: in a row; given_up: deliveries, in a row.
    """

    id: int
    user_id: int
    integration: str
    failures: int
    failing_since: Instant | None
    given_up: int


class QueueLimits(Struct, frozen=True):
    """How much may wait for one receiver: beyond either, the oldest are given up."""

    max_deliveries: int = 10_000
    max_bytes: int = 64 * 1024 * 1024


def error_columns(error: Message | None) -> dict[str, str]:
    """Returns what deliveries and integrations keep of an error. None: all is well."""
    text = error.english()[:MAX_ERROR_LENGTH] if error else ""
    return {"last_error": text, "last_error_form": encode_message(error, text) if error else ""}


def address_digest(receiver: str) -> bytes:
    """An index entry has a size limit; an address has hardly any."""
    return hashlib.blake2b(receiver.encode(), digest_size=16).digest()
