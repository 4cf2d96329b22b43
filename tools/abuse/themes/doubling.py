"""Sends texts that make a careless reader take time that grows with the square of their length.

Every reader of text from outside is timed with inputs of doubled length; then a publisher's transcripts are opened in
the running service.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from abuse.attempts import Attempt, Result
from abuse.people import person
from abuse.testbed import Testbed
from doubling import INPUTS, READERS, growth
from doubling.measure import FACTOR, MAX_GROWTH

TRANSCRIPT_BYTES: Final = 4_000_000
MAX_CPU_S: Final = 10.0
TRANSCRIPTS: Final = (
    "line ends",
    "carriage returns",
    "tabs and line ends",
    "open voices",
    "open tags",
    "cues",
    "quotes",
)
_LINEAR = f"{FACTOR} times the text takes more than {MAX_GROWTH:.0f} times the processor time"


def run(testbed: Testbed) -> Iterator[Result]:
    for name in testbed.choose(READERS, 6):
        for kind in testbed.choose(INPUTS, 4):
            attempt = Attempt(f"{name}: {kind}", f"reads {kind} as {name}", _LINEAR)
            found = growth(READERS[name], INPUTS[kind])
            evidence = "" if found.is_linear else f"{found.ratio:.1f} times, {found.long_s:.2f} s"
            yield Result(attempt, evidence)
    yield from _transcripts(testbed)


def _transcripts(testbed: Testbed) -> Iterator[Result]:
    """Open transcripts of a publisher, as a listener does."""
    service, publisher = testbed.shared, testbed.publisher
    listener = person(service)
    listener.sign_in()
    for kind in testbed.choose(TRANSCRIPTS, 3):
        path = f"/transcript{time.monotonic_ns()}"
        transcript = publisher.serve(f"{path}.vtt", INPUTS[kind](TRANSCRIPT_BYTES), "text/vtt")
        feed = publisher.serve(f"{path}.xml", _episode(transcript))
        listener.made("POST", "/v1/feeds", {"feed_url": feed})
        (entry,) = listener.made("GET", "/v1/entries?limit=1&order=id&direction=desc")["entries"]
        part = next(one["id"] for one in entry["enclosures"] if one["url"] == transcript)
        before, answer = service.processor_s(), None
        with suppress(OSError):
            answer = listener.get(f"/enclosures/{part}/transcript")
        used = service.processor_s() - before
        evidence = ""
        if used > MAX_CPU_S or answer is None:
            evidence = f"{used:.1f} s of processor time"
        elif answer.status == 500:
            evidence = "answered 500"
        yield Result(
            Attempt(
                f"transcript: {kind}",
                f"GET a transcript of {TRANSCRIPT_BYTES:,} {kind}",
                f"more than {MAX_CPU_S:.0f} s of processor time, no answer, or an answer 500",
            ),
            evidence,
        )


def _episode(transcript: str) -> str:
    return (
        '<rss version="2.0" xmlns:podcast="https://podcastindex.org/namespace/1.0"><channel><title>a</title><item>'
        f"<title>a</title><guid>{transcript}</guid>"
        f'<enclosure url="{transcript}.mp3" type="audio/mpeg" length="1"/>'
        f'<podcast:transcript url="{transcript}" type="text/vtt"/></item></channel></rss>'
    )
