"""The child process that decodes pictures: one made for it can exhaust the time or memory of this process only.

    parent ── length, picture ──► stdin │ decode, scale, encode │ stdout ── length, result ──► parent

The process ends when its stdin ends, so it never outlives its parent. `services.pictures` starts it, kills it when it
takes too long, and starts another.
"""

from __future__ import annotations

import contextlib
import logging
import resource
import signal
import sys
from typing import BinaryIO

import msgspec

from tidings.base.ipc import framed, read_message
from tidings.content.pictures.decoding import DecodingRequest, decode


def main() -> None:
    """Command-line arguments: seconds of processor time for each picture, bytes of address space of the process."""
    cpu_s, memory_bytes = int(sys.argv[1]), int(sys.argv[2])
    logging.disable()
    # Ctrl-C is for the parent, which then closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for limit, amount in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, memory_bytes)):
        # Where this limit is missing, the other one applies, and the timeout of the parent.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (amount, amount))
    serve(sys.stdin.buffer, sys.stdout.buffer, cpu_s)


def serve(pictures: BinaryIO, results: BinaryIO, cpu_s: int) -> None:
    """Answer requests until the pipe ends.

    cpu_s: seconds of processor time for each picture; then the process is ended.
    """
    decoder = msgspec.msgpack.Decoder(DecodingRequest)
    while message := read_message(pictures):
        request = decoder.decode(message)
        # The signal has no handler: when the time is up, the system ends the process, whatever it is doing.
        signal.setitimer(signal.ITIMER_PROF, cpu_s)
        result = msgspec.msgpack.encode(decode(request))
        signal.setitimer(signal.ITIMER_PROF, 0)
        results.write(framed(result))
        results.flush()


if __name__ == "__main__":
    main()
