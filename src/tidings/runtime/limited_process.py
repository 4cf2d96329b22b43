"""Child processes with limits on time and memory, for work on input that may be hostile.

    parent ── length, request ──► stdin │ work │ stdout ── length, response ──► parent

A process ends when its stdin ends, so it never outlives its parent. `services.worker_pool` starts it, kills it when it
takes too long, and starts another.
"""

from __future__ import annotations

import contextlib
import logging
import resource
import signal
import sys
from collections.abc import Callable
from typing import TypeVar

import msgspec

from tidings.base.ipc import framed, read_message

R = TypeVar("R")


def limit_resources(limits: dict[int, int]) -> None:
    """Set limits of this process: amounts by `resource.RLIMIT_…`."""
    for limit, amount in limits.items():
        # Where this limit is missing, the others apply, and the timeout of the parent.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (amount, amount))


def answer_requests(request_type: type[R], work: Callable[[R], object]) -> None:
    """Answer requests from stdin until it ends.

    Command-line arguments: seconds of processor time for each request, bytes of address space of the process.
    """
    cpu_s, memory_bytes = int(sys.argv[1]), int(sys.argv[2])
    # Libraries log warnings for input that is hard to read.
    logging.disable()
    # Ctrl-C is for the parent, which then closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_resources({resource.RLIMIT_CORE: 0, resource.RLIMIT_AS: memory_bytes})
    decoder = msgspec.msgpack.Decoder(request_type)
    while message := read_message(sys.stdin.buffer):
        request = decoder.decode(message)
        # The signal has no handler: when the time is up, the system ends the process, whatever it is doing.
        signal.setitimer(signal.ITIMER_PROF, cpu_s)
        response = msgspec.msgpack.encode(work(request))
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.buffer.write(framed(response))
        sys.stdout.buffer.flush()
