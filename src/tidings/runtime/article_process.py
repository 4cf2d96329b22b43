"""The child process that extracts articles: a hostile page can exhaust the time or memory of this process only.

    parent ── length, page ──► stdin │ extract │ stdout ── length, result ──► parent

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

from tidings.base.ipc import framed, read_message
from tidings.content.articles import ExtractionResult, WebPage
from tidings.content.articles.extract import extract_article


def main() -> None:
    """Command-line arguments: seconds of processor time for each page, bytes of address space of the process."""
    cpu_s, memory_bytes = int(sys.argv[1]), int(sys.argv[2])
    # Libraries log a warning for every page that is hard to parse.
    logging.disable()
    # Ctrl-C is for the parent, which then closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, memory_bytes)
    serve(sys.stdin.buffer, sys.stdout.buffer, cpu_s)


def serve(pages: BinaryIO, results: BinaryIO, cpu_s: int) -> None:
    """Answer requests until the pipe ends.

    cpu_s: seconds of processor time for each page; then the process is ended.
    """
    decoder = msgspec.msgpack.Decoder(WebPage)
    while message := read_message(pages):
        page = decoder.decode(message)
        # The signal has no handler: when the time is up, the system ends the process, whatever it is doing.
        signal.setitimer(signal.ITIMER_PROF, cpu_s)
        result = msgspec.msgpack.encode(_extract(page))
        signal.setitimer(signal.ITIMER_PROF, 0)
        results.write(framed(result))
        results.flush()


def _extract(page: WebPage) -> ExtractionResult:
    try:
        return ExtractionResult(extract_article(page))
    except Exception as error:  # noqa: BLE001 - a page must not end the process; the parent logs the error
        return ExtractionResult(None, f"{type(error).__name__}: {error}"[:500])


def _limit(resource_: int, amount: int) -> None:
    # Where this limit is missing, the other one applies, and the timeout of the parent.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource_, (amount, amount))


if __name__ == "__main__":
    main()
