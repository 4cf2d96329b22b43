"""Deliveries: each is an event to be sent to one receiver, with the state and the result of the attempts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from tidings.base.messages import Message, decode_message, encode_message, msg
from tidings.base.times import DAY, Instant

# Maximum number of characters of a response body, and of an error, that are stored and shown.
MAX_EXCERPT_LENGTH = 1_000
MAX_ERROR_LENGTH = 500
# How long delivered and failed deliveries can be viewed and redelivered.
FINISHED_RETENTION = 7 * DAY

QUEUE_OVERFLOWED = msg(
    "Too many events were waiting for this receiver: the oldest were given up, and their bodies deleted."
)
GIVEN_UP_TOGETHER = msg("Nothing reached this receiver for a day: all events that had waited as long were given up.")


class DeliveryState(StrEnum):
    """The state of a delivery."""

    PENDING = "pending"
    """Attempts continue."""
    DELIVERED = "delivered"
    FAILED = "failed"
    """Given up, by default after a day of failed attempts."""


class FailureKind(StrEnum):
    """The part that an attempt failed at, which decides what happens next."""

    RECEIVER = "receiver"
    """The receiver takes nothing at the moment: its whole queue waits, in order."""
    EVENT = "event"
    """The receiver fails at this event: it steps aside for a few more attempts, and later events go on."""
    TIMEOUT = "timeout"
    """As EVENT, but the receiver may have done its work already: at most one more attempt."""
    REFUSED = "refused"
    """The receiver will never take this event: no more attempts."""


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
    failed_tries: int = 0
    """Attempts that failed because of this event."""
    retry_at: Instant | None = None
    """When it is attempted again, if it stepped aside."""

    @property
    def error(self) -> Message:
        """The message of `last_error`, which can be rendered in any language."""
        return decode_message(self.last_error, self.last_error_form)

    @property
    def queued_at(self) -> Instant:
        return self.redelivered_at or self.created_at

    def __repr__(self) -> str:
        """Leaves out the receiver: its URL may hold credentials, and deliveries appear in logs and tracebacks."""
        return f"Delivery({self.id})"


class ReceiverQueue(Struct, frozen=True):
    """A receiver with due deliveries, leased by a worker: one row of `receivers`."""

    id: int
    user_id: int
    integration: str
    failures: int
    """Failed attempts in a row."""
    failing_since: Instant | None
    given_up: int
    """Deliveries given up in a row."""


class QueueLimits(Struct, frozen=True):
    """How much may be pending for one receiver, and for all receivers of one user.

    When a limit is exceeded, the oldest deliveries are given up; for a user, the oldest in the longest queues.
    """

    max_deliveries: int = 10_000
    max_bytes: int = 64 * 1024 * 1024
    max_deliveries_of_user: int = 50_000
    max_bytes_of_user: int = 256 * 1024 * 1024


def fair_share(sizes: Sequence[int], total: int) -> int:
    """Return the largest share such that queues cut to it have at most `total` together; short queues keep all."""
    left, share = total, 0
    for position, size in enumerate(sorted(sizes)):
        share = max(0, left) // (len(sizes) - position)
        if size > share:
            break
        left -= size
        share = size
    return share


def error_columns(error: Message | None) -> dict[str, str]:
    """Return the columns in which deliveries and integrations store an error; empty texts for None."""
    text = error.english()[:MAX_ERROR_LENGTH] if error else ""
    return {"last_error": text, "last_error_form": encode_message(error, text) if error else ""}


def address_digest(receiver: str) -> bytes:
    """Return 16 bytes that stand for the receiver in an index, whose entries are limited in size."""
    return hashlib.blake2b(receiver.encode(), digest_size=16).digest()
