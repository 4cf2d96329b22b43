"""The process that looks for articles: hostile pages can hang or fill it, and nothing else.

    its parent ── length, page ──► stdin │ extract │ stdout ── length, outcome ──► its parent

It lives until its stdin ends, and so never longer than its parent. `services.extraction` starts it, kills it when it
takes too long, and starts another. It imports little of Tidings: it is kept small.
"""

from __future__ import annotations

import contextlib
import logging
import resource
import signal
import sys
from typing import BinaryIO

import msgspec

from tidings.domain.articles import Outcome, Page
from tidings.domain.articles.extract import extract
from tidings.domain.pipes import LENGTH_BYTES


def main() -> None:
    """Arguments: seconds of processor time for one page, bytes of memory for all there is."""
    cpu_s, memory = int(sys.argv[1]), int(sys.argv[2])
    # Libraries tell of every page that they find hard.
    logging.disable()
    # Ctrl-C is for the parent, which tells us by closing the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, memory)
    answer_all(sys.stdin.buffer, sys.stdout.buffer, cpu_s)


def answer_all(pages: BinaryIO, outcomes: BinaryIO, cpu_s: int) -> None:
    decoder = msgspec.msgpack.Decoder(Page)
    while length := pages.read(LENGTH_BYTES):
        page = decoder.decode(pages.read(int.from_bytes(length)))
        # Nobody handles this signal: when the time is up the system ends the process, wherever it is lost.
        signal.setitimer(signal.ITIMER_PROF, cpu_s)
        outcome = msgspec.msgpack.encode(_outcome(page))
        signal.setitimer(signal.ITIMER_PROF, 0)
        outcomes.write(len(outcome).to_bytes(LENGTH_BYTES) + outcome)
        outcomes.flush()


def _outcome(page: Page) -> Outcome:
    try:
        return Outcome(extract(page))
    except Exception as error:  # noqa: BLE001 - a page must not end the process; the parent writes it down
        return Outcome(None, f"{type(error).__name__}: {error}"[:500])


def _limit(what: int, amount: int) -> None:
    # Systems without this limit still have the other one, and a parent that watches the clock.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(what, (amount, amount))


if __name__ == "__main__":
    main()
