"""The child process that cleans the entries of an import, while its parent stores the ones before them.

    parent ── length, policy and entries ──► stdin │ clean │ stdout ── length, clean entries ──► parent

The process ends when its stdin ends, so it never outlives its parent. `archives.entry_cleaner` starts it.
It imports little of Tidings to stay small.
"""

from __future__ import annotations

import signal
import sys
from typing import BinaryIO

import msgspec

from tidings.archives.validation import UncleanEntries, cleaned
from tidings.base.ipc import framed, read_message


def main() -> None:
    # Ctrl-C is for the parent, which then closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(sys.stdin.buffer, sys.stdout.buffer)


def serve(requests: BinaryIO, responses: BinaryIO) -> None:
    """Answer requests until the pipe ends."""
    decoder = msgspec.msgpack.Decoder(UncleanEntries)
    while message := read_message(requests):
        request = decoder.decode(message)
        entries = [cleaned(entry, request.policy) for entry in request.entries]
        responses.write(framed(msgspec.msgpack.encode(entries)))
        responses.flush()


if __name__ == "__main__":
    main()
