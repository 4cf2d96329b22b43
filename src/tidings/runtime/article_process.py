"""The process that looks for articles: hostile pages can hang or fill it, and nothing else.

    its parent ── length, page ──► stdin │ extract │ stdout ── length, outcome ──► its parent

The process ends when its stdin ends, so it never outlives its parent. `services.entries.article_extraction` starts it,
kills it when it takes too long, and starts another. It imports little of Tidings to stay small.
"""

from __future__ import annotations

import contextlib
import logging
import resource
import signal
import sys
from typing import BinaryIO

import msgspec

from tidings.domain.articles import ExtractionResult, WebPage
from tidings.domain.articles.extract import extract_article
from tidings.domain.ipc import LENGTH_BYTES


def main() -> None:
    """Arguments: seconds of processor time for one page, bytes of memory for all there is."""
    cpu_s, memory = int(sys.argv[1]), int(sys.argv[2])
    # Libraries tell of every page that they find hard.
    logging.disable()
    # Ctrl-C is for the parent, which tells us by closing the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, memory)
    serve(sys.stdin.buffer, sys.stdout.buffer, cpu_s)


def serve(pages: BinaryIO, outcomes: BinaryIO, cpu_s: int) -> None:
    decoder = msgspec.msgpack.Decoder(WebPage)
    while length := pages.read(LENGTH_BYTES):
        page = decoder.decode(pages.read(int.from_bytes(length)))
        # The signal has no handler: when the time is up the system ends the process, whatever it is doing.
        signal.setitimer(signal.ITIMER_PROF, cpu_s)
        outcome = msgspec.msgpack.encode(_outcome(page))
        signal.setitimer(signal.ITIMER_PROF, 0)
        outcomes.write(len(outcome).to_bytes(LENGTH_BYTES) + outcome)
        outcomes.flush()


def _outcome(page: WebPage) -> ExtractionResult:
    try:
        return ExtractionResult(extract_article(page))
    except Exception as error:  # noqa: BLE001 - a page must not end the process; the parent writes it down
        return ExtractionResult(None, f"{type(error).__name__}: {error}"[:500])


def _limit(what: int, amount: int) -> None:
    # Systems without this limit still have the other one, and a parent that watches the clock.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(what, (amount, amount))


if __name__ == "__main__":
    main()
