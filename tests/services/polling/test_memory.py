"""What one feed takes in memory at most: 20 times the limit of a body, whatever is in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support.people import rss
from support.publisher import Publisher
from tidings.content.formats.entry_builder import MAX_ENTRIES
from tidings.engine.database import Database
from tidings.storage import migrate

pytestmark = pytest.mark.slow

LIMIT = 15 * 2**20
BOUND = 20 * LIMIT
HEAD = '<rss version="2.0"><channel><title>Feed</title><link>https://site.example/</link>'
BASED = HEAD.replace("<rss ", f'<rss xml:base="https://site.example/{"x" * 1900}/" ')
TAIL = "</channel></rss>"


def filled(part: str, *, head: str = HEAD, tail: str = TAIL) -> str:
    """As many parts as there is room for."""
    return head + part * ((LIMIT - len((head + tail).encode())) // len(part.encode())) + tail


def items(inside: str) -> str:
    """As many items as are read, full of that."""
    body = inside * ((LIMIT // MAX_ENTRIES - 90) // len(inside.encode()))
    created = (
        f"<item><guid>{number}</guid><description><![CDATA[{body}]]></description></item>"
        for number in range(MAX_ENTRIES)
    )
    return BASED + "".join(created) + TAIL


# Each took from twice to forty times the bound before it was measured.
DOCUMENTS: dict[str, Callable[[], str]] = {
    "short links below a long base": lambda: filled(
        "<a href=x>y</a>",
        head=f"{HEAD}<item><link>https://site.example/{'x' * 1900}/</link><description><![CDATA[",
        tail=f"]]></description></item>{TAIL}",
    ),
    "short links in many items": lambda: items("<a href=x>😀</a>"),
    "empty elements": lambda: filled("<i/>", head=f"{HEAD}<item><description>"),
    "attributes": lambda: HEAD + "<item " + " ".join(f"a{number:x}=''" for number in range(LIMIT // 11)) + f"/>{TAIL}",
}

# Those that took most.
WORST = {"short links in many items", "attributes"}


def growth(database_url: str, folder: Path, site: Publisher, document: str) -> int:
    """Bytes."""
    site.serve("/small.xml", rss(["One", "Two"], site.url("/small.xml")))
    site.serve("/large.xml", document.encode()[:LIMIT])
    done = subprocess.run(
        [sys.executable, "-m", "support.memory", database_url, folder, *map(site.url, ("/small.xml", "/large.xml"))],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1])


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """One is enough: neither engine is what takes the memory."""
    url = f"sqlite:///{tmp_path / 'tidings.db'}"
    database = Database(url)
    migrate.upgrade(database)
    database.close()
    return url


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell the peak of a process apart")
@pytest.mark.parametrize(
    "name", [name if name in WORST else pytest.param(name, marks=pytest.mark.long) for name in DOCUMENTS]
)
def test_no_document_takes_more_than_twenty_times_the_limit(
    database_url: str, tmp_path: Path, site: Publisher, name: str
) -> None:
    taken = growth(database_url, tmp_path, site, DOCUMENTS[name]())

    assert taken < BOUND, f"{taken / 2**20:.0f} MiB"


# Elements that each of hundreds of paragraphs opens again, and the same where it looks as if they were closed.
REOPENED = {
    "open": "<p>" + "".join(f"<b a={number}>" for number in range(740)) + "<p>x" * 740,
    "closed in a comment": "<p>" + "".join(f"<b a={number}><!--</b>-->" for number in range(390)) + "<p>x" * 690,
    "without attributes": "<p>" + "<b><i><u><s><em><tt><code><big><font><small><strike><strong>" * 3 + "<p>x" * 1_450,
}
CLEAN = """
import re, sys
from pathlib import Path
from tidings.content.cleaning import clean

def kilobytes(what):
    return int(re.search(rf"^{what}:\\s+(\\d+)", Path("/proc/self/status").read_text(), re.MULTILINE)[1])

before = kilobytes("VmRSS")
clean(sys.argv[1], base_url="https://site.example/")
print((kilobytes("VmHWM") - before) * 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell the peak of a process apart")
@pytest.mark.parametrize("name", REOPENED)
def test_a_short_text_does_not_expand_when_cleaned(name: str) -> None:
    assert len(REOPENED[name]) < 11_000

    taken = int(subprocess.check_output([sys.executable, "-c", CLEAN, REOPENED[name]]))

    assert taken < 40 * 2**20, f"{taken / 2**20:.0f} MiB"
