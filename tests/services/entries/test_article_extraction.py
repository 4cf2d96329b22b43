"""Hostile pages: they end the process that looks at them, and nothing else."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from support.processes import is_running
from tidings.content.articles import Article, WebPage
from tidings.domain.errors import PageTooDemanding
from tidings.services.entries.article_extraction import ArticleExtractor
from tidings.services.worker_pool import ProcessLimits

pytestmark = pytest.mark.slow

WORDS = "<p>The rain came late, lasted long, and left by the evening.</p>"
STORY = f"<article>{WORDS * 9}</article>"
# Where every paragraph lies below two hundred elements, Readability looks at each of its words two hundred times.
NESTED = ("<div>" * 200 + "<p>" + "words, many of them. " * 5 + "</p>" + "</div>" * 200) * 1000
# Each of them becomes an object of more than a hundred times its size.
MANY = "<b>x</b>" * 1_250_000


def page(html: str) -> WebPage:
    return WebPage(f"<html><body>{html}".encode(), "utf-8", "https://example.org/story")


def read(extraction: ArticleExtractor, *pages: WebPage) -> list[Article | BaseException]:
    """All of them at the same time."""

    async def look() -> list[Article | BaseException]:
        return await asyncio.gather(*map(extraction.article, pages), return_exceptions=True)

    return asyncio.run(look())


def reads(extraction: ArticleExtractor, html: str = STORY) -> bool:
    (found,) = read(extraction, page(html))
    return isinstance(found, Article) and "The rain came late" in found.content


@pytest.fixture
def pool() -> Iterator[Callable[..., ArticleExtractor]]:
    created: list[ArticleExtractor] = []

    def make(max_concurrent: int = 1, **limits: float) -> ArticleExtractor:
        chosen = ProcessLimits(**{"cpu_s": 10, "wall_s": 300} | limits)  # type: ignore[arg-type]
        created.append(ArticleExtractor(max_concurrent=max_concurrent, limits=chosen))
        return created[-1]

    yield make
    for extraction in created:
        extraction.close()
        assert extraction.processes == []


def test_processes_are_started_when_needed_and_used_again(
    pool: Callable[..., ArticleExtractor],
) -> None:
    extraction = pool(max_concurrent=2)
    assert extraction.processes == []

    assert reads(extraction)
    first = extraction.processes
    assert reads(extraction)

    assert len(first) == 1
    assert extraction.processes == first


def test_pages_are_processed_concurrently_up_to_the_limit(
    pool: Callable[..., ArticleExtractor],
) -> None:
    extraction = pool(max_concurrent=2)

    found = read(extraction, *[page(STORY)] * 8)

    assert all(isinstance(one, Article) for one in found)
    assert len(extraction.processes) <= 2


def test_a_page_that_takes_too_long_is_given_up_and_the_process_replaced(pool: Callable[..., ArticleExtractor]) -> None:
    extraction = pool(cpu_s=1)
    assert reads(extraction)
    first = extraction.processes

    (found,) = read(extraction, page(NESTED))

    assert isinstance(found, PageTooDemanding)
    assert not is_running(first[0])
    assert reads(extraction)
    assert extraction.processes != first


def test_a_page_also_has_a_wall_clock_limit(pool: Callable[..., ArticleExtractor]) -> None:
    extraction = pool(wall_s=1, cpu_s=3600)

    (found,) = read(extraction, page(NESTED))

    assert isinstance(found, PageTooDemanding)
    assert reads(pool())


def test_a_page_that_takes_too_much_memory_is_given_up(pool: Callable[..., ArticleExtractor]) -> None:
    extraction = pool(memory_bytes=160 * 2**20)

    (found,) = read(extraction, page(MANY))

    assert isinstance(found, PageTooDemanding)
    assert reads(extraction)


def test_a_nested_page_does_not_affect_a_concurrent_one(pool: Callable[..., ArticleExtractor]) -> None:
    extraction = pool(max_concurrent=2, cpu_s=1)

    nested, plain = read(extraction, page(NESTED), page(STORY))

    assert isinstance(nested, PageTooDemanding)
    assert isinstance(plain, Article)


def test_a_page_of_ten_megabytes_is_read(pool: Callable[..., ArticleExtractor]) -> None:
    sentence = "The rain came late, lasted long, and left by the evening. " * 17

    assert reads(pool(), f"<p>{sentence}</p>" * 10_000)


@pytest.mark.parametrize(
    "html",
    [
        pytest.param("<div>" * 100_000 + WORDS, id="elements"),
        pytest.param("<b>" * 100_000 + WORDS, id="formatting"),
        pytest.param("<table><tr><td>" * 5_000 + WORDS, id="tables"),
        pytest.param("<svg>" * 50_000 + WORDS, id="drawings"),
    ],
)
def test_deep_nesting_ends_no_process(pool: Callable[..., ArticleExtractor], html: str) -> None:
    extraction = pool()
    assert reads(extraction)
    first = extraction.processes

    (found,) = read(extraction, page(html))

    assert isinstance(found, Article)
    assert extraction.processes == first


@pytest.mark.parametrize(
    "body", [b"", b"\0" * 1000, b"\xff\xfe\xfd" * 1000, b"<", b"plain words", b"<!-- ", os.urandom(50_000)]
)
def test_a_body_that_is_not_html_has_no_article(pool: Callable[..., ArticleExtractor], body: bytes) -> None:
    extraction = pool()

    (found,) = read(extraction, WebPage(body, "", "https://example.org/"))

    assert isinstance(found, Article)


def test_a_process_that_was_killed_while_idle_is_replaced(pool: Callable[..., ArticleExtractor]) -> None:
    extraction = pool()
    assert reads(extraction)
    first = extraction.processes
    os.kill(first[0], signal.SIGKILL)
    os.waitid(os.P_PID, first[0], os.WEXITED | os.WNOWAIT)

    assert reads(extraction)
    assert extraction.processes != first


def test_an_idle_process_ends(pool: Callable[..., ArticleExtractor]) -> None:
    extraction = pool(idle_s=0.3)
    assert reads(extraction)

    deadline = time.monotonic() + 60
    while extraction.processes and time.monotonic() < deadline:
        time.sleep(0.05)

    assert extraction.processes == []
    assert reads(extraction)


def test_a_process_is_replaced_after_some_pages(pool: Callable[..., ArticleExtractor]) -> None:
    extraction = pool(requests=2)
    assert reads(extraction)
    first = extraction.processes
    assert reads(extraction)

    assert reads(extraction)

    assert extraction.processes != first


def test_closing_ends_processes_at_work(pool: Callable[..., ArticleExtractor]) -> None:
    extraction = pool(cpu_s=60, wall_s=60)

    async def close_while_reading() -> None:
        reading = asyncio.create_task(extraction.article(page(NESTED)))
        while not (at_work := extraction.processes):  # noqa: ASYNC110 - a thread starts it, and tells nobody
            await asyncio.sleep(0.05)
        await asyncio.to_thread(extraction.close)
        assert at_work
        assert not any(map(is_running, at_work))
        with pytest.raises(PageTooDemanding):
            await reading

    asyncio.run(close_while_reading())
    extraction.close()


def test_the_event_loop_is_not_blocked(pool: Callable[..., ArticleExtractor]) -> None:
    extraction = pool(cpu_s=1)

    async def count_while_reading() -> int:
        reading = asyncio.create_task(extraction.article(page(NESTED)))
        loop_iterations = 0
        while not reading.done():
            await asyncio.sleep(0.01)
            loop_iterations += 1
        with pytest.raises(PageTooDemanding):
            await reading
        return loop_iterations

    assert asyncio.run(count_while_reading()) > 30


def test_a_process_ends_when_its_pipe_is_closed() -> None:
    command = [sys.executable, "-m", "tidings.runtime.article_process", "10", str(2**30)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        process.stdin.close()

        assert process.wait(60) == 0


def test_the_web_process_does_not_import_the_article_extraction() -> None:
    code = "import sys, tidings.wiring; print(*{'readability'} & set(sys.modules))"

    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert finished.stdout.strip() == ""
