"""Doubles hostile texts for every reader of text from outside, and serves such transcripts to the running service.

The readers are timed in a process of their own, `python -m doubling`, by processor time.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from abuse import client
from abuse.attempts import Attempt, Result
from abuse.people import Person, person
from abuse.service import Service
from abuse.testbed import Testbed

MAX_CPU_S: Final = 5
GROWS = "the processor time grows faster than the text"
HOLDS = f"more than {MAX_CPU_S} s of processor time, or no answer within a minute"
_TOOLS = Path(__file__).parents[2]
# In the short form.
_FEW = ("transcript", "cookies", "log line")
_CUE = "WEBVTT\n\n00:01.000 --> 00:04.000\n"
_LARGE = 2_000_000

# By name, the transcript of a publisher and its Content-Type.
TRANSCRIPTS: Final[Mapping[str, tuple[Callable[[], str], str]]] = {
    "line ends": (lambda: "WEBVTT" + "\n" * _LARGE, "text/vtt"),
    "voices": (lambda: _CUE + "<v " * (_LARGE // 3), "text/vtt"),
    "voices of line ends": (lambda: _CUE + ("<v" + "\n" * 60) * (_LARGE // 62), "text/vtt"),
    "open tags": (lambda: _CUE + "<a " * (_LARGE // 3), "text/vtt"),
    "blanks": (lambda: _CUE + "x\n" + " " * _LARGE, "text/vtt"),
    "cues without an arrow": (lambda: "WEBVTT\n\n" + "00:01.000 " * (_LARGE // 10), "text/vtt"),
    "paragraphs": (lambda: "x\n" * (_LARGE // 2), "text/plain"),
    "JSON": (lambda: '{"segments": [' + '{"body": "&#1"},' * (_LARGE // 16) + "{}]}", "application/json"),
    "long reference": (lambda: _CUE + "&#" + "1" * 100_000, "text/vtt"),
    "open tags of HTML": (lambda: "<p>" + "<a " * (_LARGE // 3), "text/html"),
    "encoding of host names": (lambda: "WEBVTT\n\n" + "a" * 60_000 + "-" + "9" * 60_000, "text/vtt; charset=punycode"),
}


def run(testbed: Testbed) -> Iterator[Result]:
    yield from _readers(_FEW if testbed.short else ())
    service, user = testbed.shared, person(testbed.shared)
    user.sign_in()
    for name, (text, kind) in testbed.choose(TRANSCRIPTS.items(), 4):
        path = f"/transcript-{time.monotonic_ns()}"
        url = testbed.publisher.serve(path, text(), kind)
        attempt = Attempt(f"transcript: {name}", "a user opens the transcript of an episode", HOLDS)
        yield Result(attempt, _opened(service, user, testbed.publisher.serve(f"{path}.xml", _podcast(url))))
    yield Result(
        Attempt("cookies: backslashes", "a stranger sends a cookie of backslashes, twice", HOLDS), _cookies(service)
    )


def _readers(names: tuple[str, ...]) -> Iterator[Result]:
    child = subprocess.Popen(
        [sys.executable, "-m", "doubling", *names],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(_TOOLS)},
        text=True,
    )
    assert child.stdout is not None
    for line in child.stdout:
        timed = json.loads(line)
        attempt = Attempt(f"{timed['reader']}: {timed['text']}", "the text, and four times as much of it", GROWS)
        yield Result(attempt, timed["found"])
    if child.wait():
        yield Result(Attempt("readers", "all readers", "one raises an error"), "the process failed: python -m doubling")


def _cookies(service: Service) -> str:
    spent = service.processor_s()
    for _ in range(2):
        with suppress(OSError):
            client.request(service, "GET", "/sign-in", headers={"Cookie": 'a="' + "\\" * 55_000 + '"'}, timeout_s=60)
    used = service.processor_s() - spent
    return "" if used <= MAX_CPU_S else f"{used:.1f} s of processor time"


def _podcast(url: str) -> str:
    return (
        '<rss version="2.0" xmlns:podcast="https://podcastindex.org/namespace/1.0"><channel><title>a</title><item>'
        '<guid>1</guid><title>b</title><enclosure url="http://a.example/1.mp3" type="audio/mpeg" length="9"/>'
        f'<podcast:transcript url="{url}" type="text/vtt"/></item></channel></rss>'
    )


def _opened(service: Service, user: Person, feed: str) -> str:
    """Open the transcript of the only episode of a feed. Returns what was observed if that costs too much."""
    feed_id = user.made("POST", "/v1/feeds", {"feed_url": feed})["feed_id"]
    entry = user.made("GET", f"/v1/feeds/{feed_id}/entries")["entries"][0]["id"]
    links = re.findall(r"/enclosures/\d+/transcript", user.get(f"/entries/{entry}").text)
    if not links:
        raise RuntimeError("the page of the episode has no link to its transcript")
    spent, status = service.processor_s(), 0
    with suppress(OSError):
        status = user.get(links[0]).status
    used = service.processor_s() - spent
    problems = [] if used <= MAX_CPU_S else [f"{used:.1f} s of processor time"]
    return ", ".join([*problems, *(() if status in (200, 404) else (f"answered {status}",))])
