"""Pictures that are fetched for readers: once, within limits, and never from the operator's own network."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from io import BytesIO
from pathlib import Path
from typing import TypeVar

import pytest
from PIL import Image

from net.fetching import Only
from support.publisher import Answer, Endless, Publisher
from tidings.base.errors import Forbidden, InvalidInput
from tidings.base.times import SECOND, Instant
from tidings.content.pictures.formats import Picture
from tidings.content.pictures.scaling import PictureSize
from tidings.engine.database import Database
from tidings.media.cache import MediaCache
from tidings.media.policy import MediaKind, MediaPolicy, MediaProxyMode
from tidings.media.proxy import FAILED_FOR_S, FRESH_S, MediaProxy
from tidings.media.signatures import PREFIX
from tidings.net.errors import AddressRefused, BodyTooLarge, FetchError, HttpError, TooManyRedirects
from tidings.net.fetch import Fetcher, FetchSettings
from tidings.net.relay import MediaRelay
from tidings.services.pictures import PictureDecoder

pytestmark = pytest.mark.one_engine

T = TypeVar("T")
PNG = b"\x89PNG\r\n\x1a\n and so on"
MIB = 2**20


class Clock:
    def __init__(self) -> None:
        self.now = Instant(1_800_000_000 * SECOND)

    def __call__(self) -> Instant:
        return self.now


def with_proxy(
    database: Database, folder: Path, use: Callable[[MediaProxy], Awaitable[T]], clock: Clock | None = None
) -> T:
    """Runs `use` with a proxy that may reach 127.0.0.1 and no other address of this machine."""

    async def run() -> T:
        settings, guard = FetchSettings(user_agent="Tidings/test", max_body_size=MIB), Only("127.0.0.1")
        fetcher, relay = Fetcher(settings, guard=guard), MediaRelay(settings, guard=guard)
        cache = MediaCache(folder / "media", limit=64 * MIB)
        decoder, policy = PictureDecoder(), MediaPolicy(MediaProxyMode.ALL, frozenset(MediaKind))
        proxy = MediaProxy(database, fetcher, relay, decoder, cache, clock or Clock(), policy)
        try:
            return await use(proxy)
        finally:
            await proxy.close()
            decoder.close()

    return asyncio.run(run())


def fetch(database: Database, folder: Path, url: str) -> Picture:
    return with_proxy(database, folder, lambda proxy: proxy.picture(url))


@pytest.mark.slow
def test_a_picture_is_fetched_once_and_the_publisher_learns_nothing_about_the_reader(
    database: Database, tmp_path: Path, site: Publisher
) -> None:
    url = site.serve("/rain.png", PNG, headers={"Content-Type": "text/html"}, after_s=0.2)

    async def read(proxy: MediaProxy) -> list[Picture]:
        return await asyncio.gather(*(proxy.picture(url) for _ in range(10)))

    first = with_proxy(database, tmp_path, read)
    # Another process, later.
    second = with_proxy(database, tmp_path, read)

    assert first == second == [Picture("image/png", PNG)] * 10
    assert len(site.requests) == 1
    assert site.last.headers["user-agent"] == "Tidings/test"
    assert not {"cookie", "referer", "x-forwarded-for", "authorization"} & site.last.headers.keys()


@pytest.mark.slow
def test_an_old_picture_is_fetched_anew_and_kept_while_it_cannot_be_had(
    database: Database, tmp_path: Path, site: Publisher
) -> None:
    clock = Clock()
    url = site.script("/rain.png", Answer(PNG), Answer(status=500), Answer(PNG + b"2"))

    def read() -> bytes:
        return with_proxy(database, tmp_path, lambda proxy: proxy.picture(url), clock).content

    assert [read(), read()] == [PNG, PNG]
    clock.now = Instant(clock.now + (FRESH_S + 1) * SECOND)
    assert read() == PNG
    assert read() == PNG + b"2"
    assert len(site.requests) == 3


@pytest.mark.parametrize("target", ["http://127.0.0.2:{port}/rain.png", "http://[::1]:{port}/rain.png"])
def test_a_private_address_is_refused_also_behind_a_redirect(
    database: Database, tmp_path: Path, site: Publisher, target: str
) -> None:
    with Publisher("127.0.0.2", port=site.port) as private:
        private.serve("/rain.png", PNG)
        there = target.format(port=site.port)
        redirect = site.redirect("/moved.png", to=there)

        for url in (there, redirect):
            with pytest.raises(AddressRefused):
                fetch(database, tmp_path, url)
        assert private.requests == []


@pytest.mark.slow
def test_a_picture_that_failed_is_not_asked_for_again_for_five_minutes(
    database: Database, tmp_path: Path, site: Publisher
) -> None:
    clock = Clock()
    url = site.script("/rain.png", Answer(status=404), Answer(PNG))

    async def read(proxy: MediaProxy) -> bytes:
        for _ in range(3):
            with pytest.raises(HttpError):
                await proxy.picture(url)
        assert len(site.requests) == 1
        clock.now = Instant(clock.now + FAILED_FOR_S * SECOND)
        return (await proxy.picture(url)).content

    assert with_proxy(database, tmp_path, read, clock) == PNG


@pytest.mark.slow
def test_a_large_picture_is_scaled_once_for_articles_and_once_for_rows(
    database: Database, tmp_path: Path, site: Publisher
) -> None:
    out = BytesIO()
    Image.new("RGB", (4000, 3000), (40, 90, 160)).save(out, "PNG")
    url = site.serve("/rain.png", out.getvalue())

    async def read(proxy: MediaProxy) -> list[Picture]:
        return [await proxy.picture(url, size) for size in (PictureSize.ROW, PictureSize.ARTICLE)]

    row, article = with_proxy(database, tmp_path, read)

    assert [Image.open(BytesIO(one.content)).size for one in (row, article)] == [(336, 252), (2048, 1536)]
    assert with_proxy(database, tmp_path, read) == [row, article]
    assert len(site.requests) == 1
    kept = sum(file.stat().st_size for file in (tmp_path / "media").iterdir())
    assert kept < len(row.content) + len(article.content) + 200


def test_what_cannot_be_shown_is_an_error(database: Database, tmp_path: Path, site: Publisher) -> None:
    cases: list[tuple[str, type[Exception]]] = [
        (site.serve("/page.png", "<html>Sign in</html>"), FetchError),
        (site.serve("/empty.png", b""), FetchError),
        (site.serve("/missing.png", status=404), HttpError),
        (site.script("/large.png", Endless(PNG + b"x" * 65536, total=4 * MIB)), BodyTooLarge),
        ("ftp://example.org/rain.png", InvalidInput),
    ]

    for url, kind in cases:
        with pytest.raises(kind):
            fetch(database, tmp_path, url)
    # Reading stopped at the limit.
    assert site.bytes_sent("/large.png") < 8 * MIB


@pytest.mark.slow
def test_a_picture_is_shown_although_it_cannot_be_stored(database: Database, tmp_path: Path, site: Publisher) -> None:
    url = site.serve("/rain.png", PNG)
    (tmp_path / "media").write_bytes(b"a file where the folder should be")

    assert with_proxy(database, tmp_path, lambda proxy: proxy.picture(url)).content == PNG


def test_paths_are_signed_by_the_secret_of_the_installation(database: Database, tmp_path: Path) -> None:
    async def path(proxy: MediaProxy) -> str:
        return proxy.path("http://example.org/rain.png", MediaKind.IMAGE)

    signature, encoded = with_proxy(database, tmp_path, path).removeprefix(PREFIX).split("/")

    async def url(proxy: MediaProxy) -> str:
        with pytest.raises(Forbidden):
            proxy.url("A" * len(signature), encoded)
        return proxy.url(signature, encoded)

    assert with_proxy(database, tmp_path, url) == "http://example.org/rain.png"


def test_a_sound_passes_with_the_range_that_the_reader_asked_for_and_without_its_address(
    database: Database, tmp_path: Path, site: Publisher
) -> None:
    headers = {"Content-Type": "audio/mpeg", "Content-Range": "bytes 2-5/9", "Set-Cookie": "a=b"}
    site.serve("/rain.mp3", b"2345", status=206, headers=headers)
    moved = site.redirect("/moved.mp3", to="/rain.mp3")

    async def read(proxy: MediaProxy) -> tuple[int, dict[str, str], bytes]:
        stream = await proxy.stream(moved, byte_range="bytes=2-5")
        return stream.status, stream.headers, b"".join([chunk async for chunk in stream.chunks])

    status, passed, body = with_proxy(database, tmp_path, read)

    assert (status, body) == (206, b"2345")
    assert passed == {"Content-Type": "audio/mpeg", "Content-Length": "4", "Content-Range": "bytes 2-5/9"}
    assert site.last.headers["range"] == "bytes=2-5"
    assert not {"cookie", "referer", "x-forwarded-for"} & site.last.headers.keys()
    assert not (tmp_path / "media").exists()


def test_only_sounds_and_films_from_public_addresses_pass(database: Database, tmp_path: Path, site: Publisher) -> None:
    site.serve("/page", "<html>", headers={"Content-Type": "text/html"})
    private = site.redirect("/private.mp3", to=f"http://127.0.0.2:{site.port}/rain.mp3")
    cases: list[tuple[str, type[Exception]]] = [
        (site.url("/page"), FetchError),
        (site.url("/missing.mp3"), HttpError),
        (private, AddressRefused),
        (site.redirect("/loop.mp3", to="/loop.mp3"), TooManyRedirects),
    ]

    for url, kind in cases:
        with pytest.raises(kind):
            with_proxy(database, tmp_path, lambda proxy, url=url: proxy.stream(url, byte_range=""))  # type: ignore[misc]
