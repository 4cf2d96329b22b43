"""What the operator decides for everybody: whose players are shown, and through which proxy feeds are fetched."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from support.people import PASSWORD
from support.publisher import Publisher
from support.running import environment_for
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EntryFilter, PageRequest
from tidings.engine.database import Database
from tidings.settings import load
from tidings.storage.entries import entry_lists
from tidings.wiring.services import AllServices, build_services

FRAMES = "".join(
    f'<iframe src="{src}"></iframe>'
    for src in (
        "https://videos.example/embed/1",
        "https://reader.example/settings",
        "https://www.youtube.com/embed/2",
        "https://player.example/embed/3",
        "https://stranger.example/4",
    )
)
SHOWN = ["https://videos.example/embed/1", "https://player.example/embed/2", "https://player.example/embed/3"]


def feed(*titles: str, content: str = FRAMES, link: str = "https://site.example/") -> str:
    items = "".join(
        f"<item><title>{title}</title><guid>{title}</guid><link>{link}{title}</link>"
        f"<description><![CDATA[{content}]]></description></item>"
        for title in titles
    )
    return f"<rss version='2.0'><channel><title>Feed</title>{items}</channel></rss>"


class SettingsFixture:
    """A user of a service with these settings."""

    def __init__(self, database: Database, folder: Path, **settings: str) -> None:
        self._environment = environment_for("sqlite:///unused", folder, **settings)
        self._database = database
        self.user: User = self._services().accounts.users.create("alice", PASSWORD)

    def run_with_services(self, work: Callable[[AllServices], Awaitable[Any]]) -> Any:
        async def run() -> Any:
            services = self._services()
            try:
                return await work(services)
            finally:
                await services.disconnect()

        return asyncio.run(run())

    def subscribe(self, url: str, **given: Any) -> int:
        return int(
            self.run_with_services(
                lambda services: services.feeds.subscriptions.create(self.user, {"feed_url": url, **given})
            )
        )

    def refresh(self, feed_id: int) -> None:
        self.run_with_services(lambda services: services.polling.claims.refresh_now(self.user.id, feed_id))

    def contents(self) -> dict[str, str]:
        """By title."""
        with self._database.reading() as db:
            found = entry_lists.page(db, self.user.id, EntryFilter(), PageRequest())
        return {entry.title: found.contents[entry.id] for entry in found.entries}

    def entry_id(self, title: str) -> int:
        with self._database.reading() as db:
            found = entry_lists.page(db, self.user.id, EntryFilter(), PageRequest())
        return next(entry.id for entry in found.entries if entry.title == title)

    def _services(self) -> AllServices:
        return build_services(self._database, load(self._environment, None))


def players(database: Database, folder: Path, **settings: str) -> SettingsFixture:
    given = {
        "base_url": "https://reader.example/news",
        "invidious_instance": "videos.example",
        "youtube_embed_url_override": "https://player.example/embed/",
    }
    return SettingsFixture(database, folder, **given | settings)


def sources(html: str) -> list[str]:
    return [part.partition('"')[0] for part in html.split(' src="')[1:]]


def test_only_configured_players_are_kept_however_an_entry_is_added(
    database: Database, tmp_path: Path, site: Publisher
) -> None:
    fixture = players(database, tmp_path)
    feed_id = fixture.subscribe(site.serve("/feed.xml", feed("one")))
    site.serve("/feed.xml", feed("two", "one"))
    fixture.refresh(feed_id)
    imported = {"url": "https://site.example/3", "title": "three", "content": FRAMES}
    fixture.run_with_services(
        lambda services: asyncio.to_thread(services.entries.changes.import_one, fixture.user, feed_id, imported)
    )
    entry_id = fixture.entry_id("one")
    fixture.run_with_services(
        lambda services: asyncio.to_thread(
            services.entries.changes.edit, fixture.user, entry_id, title="edited", content=FRAMES
        )
    )

    assert {title: sources(content) for title, content in fixture.contents().items()} == {
        "edited": SHOWN, "two": SHOWN, "three": SHOWN
    }  # fmt: skip


def test_our_own_host_is_never_a_player(database: Database, tmp_path: Path, site: Publisher) -> None:
    fixture = players(database, tmp_path, invidious_instance="reader.example")

    fixture.subscribe(site.serve("/feed.xml", feed("one")))

    assert not any("reader.example" in src for src in sources(fixture.contents()["one"]))


def test_the_invidious_rule_uses_the_configured_host(database: Database, tmp_path: Path, site: Publisher) -> None:
    fixture = players(database, tmp_path, invidious_instance="videos.example:8443")
    document = feed("one", content="Text", link="https://www.youtube.com/watch?v=")

    fixture.subscribe(site.serve("/feed.xml", document), rewrite_rules="add_youtube_video_using_invidious_player")

    assert sources(fixture.contents()["one"]) == ["https://videos.example:8443/embed/one"]


def test_feeds_with_the_setting_use_the_configured_proxy(database: Database, tmp_path: Path, site: Publisher) -> None:
    """It stands in a private network, where nothing may be fetched otherwise."""
    proxy = site.url("/").replace("//", "//pat:secret@")
    fixture = SettingsFixture(database, tmp_path, http_client_proxy=proxy, fetcher_allow_private_networks="0")
    site.serve("http://feeds.example/feed.xml", feed("one", content="Text"))

    feed_id = fixture.subscribe("http://feeds.example/feed.xml", fetch_via_proxy=True)
    site.serve("http://feeds.example/feed.xml", feed("two", "one", content="Text"))
    fixture.refresh(feed_id)

    assert fixture.contents().keys() == {"one", "two"}
    requested = site.requests_for("http://feeds.example/feed.xml")
    assert len(requested) == 2
    assert {seen.headers["proxy-authorization"] for seen in requested} == {"Basic cGF0OnNlY3JldA=="}


def test_the_proxy_of_a_feed_overrides_the_configured_one(database: Database, tmp_path: Path, site: Publisher) -> None:
    fixture = SettingsFixture(database, tmp_path, http_client_proxy="http://127.0.0.1:9")
    site.serve("http://feeds.example/feed.xml", feed("one", content="Text"))

    fixture.subscribe("http://feeds.example/feed.xml", fetch_via_proxy=True, proxy_url=site.url("/"))

    assert fixture.contents().keys() == {"one"}


def test_feeds_without_the_setting_use_no_proxy(database: Database, tmp_path: Path, site: Publisher) -> None:
    fixture = SettingsFixture(database, tmp_path, http_client_proxy="http://127.0.0.1:9")

    fixture.subscribe(site.serve("/feed.xml", feed("one", content="Text")))

    assert fixture.contents().keys() == {"one"}
