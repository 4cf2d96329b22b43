"""The framing of messages between the processes of Tidings: each message on a pipe follows its length."""

from __future__ import annotations

# The size of the length prefix of a request or a response; the length is in bytes, big-endian.
LENGTH_BYTES = 4
