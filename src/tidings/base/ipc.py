"""The framing of messages between the processes of Tidings: each message on a pipe follows its length."""

from __future__ import annotations

from typing import BinaryIO

# The size of the length prefix of a request or a response; the length is in bytes, big-endian.
LENGTH_BYTES = 4


def framed(message: bytes) -> bytes:
    """Return the message after its length, as it is written to a pipe."""
    return len(message).to_bytes(LENGTH_BYTES) + message


def read_message(pipe: BinaryIO) -> bytes:
    """Return the next message, b"" at the end of the pipe."""
    return pipe.read(int.from_bytes(pipe.read(LENGTH_BYTES)))
