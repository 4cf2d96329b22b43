"""The service as it looks after a few weeks: feeds in categories, much read, some starred, one feed in trouble."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from sqlalchemy import text

from demo import pictures
from demo.content import FEEDS, Article, Feed
from support.people import Cast, Person
from support.publisher import Publisher
from support.running import RunningService, environment_for, running

# Of the entries, newest first: which are read, and which have a star.
_READ_EVERY, _STARRED = 3, frozenset({"The pencil and the tide machine", "A letter that took nine months to draw",
    "Dark enough: a map of the north", "Feeds, twenty-five years on", "Margins, measured"})  # fmt: skip
_LABELS = {
    "To build": ("The pencil and the tide machine", "A page that weighs nothing"),
    "Bread": ("Rye, and the virtue of tomorrow",),
}
_TIMEOUT_S = 60


@dataclass(frozen=True)
class DemoService:
    service: RunningService
    publisher: Publisher
    owner: Person

    def entry(self, title: str) -> int:
        (found,) = [entry["id"] for entry in self.owner.entries(limit=1000) if entry["title"] == title]
        return int(found)

    def feed(self, title: str) -> int:
        (found,) = [feed["id"] for feed in self.owner.get("/v1/feeds") if feed["title"] == title]
        return int(found)


@contextmanager
def demo_service(database_url: str, folder: Path) -> Iterator[DemoService]:
    """database_url: of a migrated database without anybody in it."""
    # A way to sign in, so that the pages about it can be looked at. Nobody asks the provider.
    provider = {
        "oauth2_provider": "oidc",
        "oauth2_oidc_provider_name": "Example ID",
        "oauth2_client_id": "demo",
        "oauth2_client_secret": "demo",
        "oauth2_oidc_discovery_endpoint": "http://localhost:9",
    }
    environment = environment_for(database_url, folder, http_client_timeout="20", **provider)
    with Publisher() as publisher, running("serve", environment, folder) as service:
        service.wait_until_ready()
        for feed in FEEDS:
            publish(publisher, feed)
        owner = Cast(service).person("marta", is_admin=True, username="marta")
        _furnish(owner, publisher)
        yield DemoService(service, publisher, owner)


def publish(publisher: Publisher, feed: Feed) -> None:
    base = f"/{feed.slug}"
    for name in pictures.NAMES:
        publisher.serve(f"/pictures/{name}.jpg", pictures.picture(name), headers={"Content-Type": "image/jpeg"})
    publisher.serve(f"{base}/icon.png", pictures.icon(feed.title.removeprefix("The ")[0], feed.colour))
    link = f'<link rel="icon" href="{publisher.url(base)}/icon.png">'
    publisher.serve(f"{base}/", f"<!doctype html><title>{escape(feed.title)}</title>{link}")
    items = "".join(_item(publisher, feed, number, one) for number, one in enumerate((*feed.articles, *_older(feed))))
    publisher.serve(f"{base}/feed.xml", (
        f'<?xml version="1.0"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" '
        f'xmlns:podcast="https://podcastindex.org/namespace/1.0"><channel>'
        f"<title>{escape(feed.title)}</title><link>{publisher.url(base)}/</link><language>{feed.language}</language>"
        f"{items}</channel></rss>"
    ))  # fmt: skip


def _older(feed: Feed) -> list[Article]:
    """The half year before, as often as the feed writes now: for charts, and to have been read."""
    every = max(feed.articles[-1].hours / len(feed.articles), 60)
    rng = random.Random(feed.slug)
    hours = [number * every * rng.uniform(0.8, 1.2) for number in range(len(feed.articles) + 1, int(4000 / every))]
    return [Article(f"From the archive, no. {number}", one, "Read a while ago.") for number, one in enumerate(hours)]


def _item(publisher: Publisher, feed: Feed, number: int, article: Article) -> str:
    picture = {name: _figure(publisher, name) for name in pictures.NAMES}
    shown = article.body or (picture[article.picture] if article.picture else "") + f"<p>{escape(article.summary)}</p>"
    for name, drawn in picture.items():
        shown = shown.replace(f"{{picture:{name}}}", drawn)
    url = publisher.url(f"/{feed.slug}/{number}")
    published = format_datetime(datetime.now(UTC) - timedelta(hours=article.hours))
    sound = ""
    if article.sound:
        episode = publisher.serve(f"/{feed.slug}/episode-{84 - number}.mp3", pictures.sound(article.sound))
        sound = f'<enclosure url="{episode}" length="{article.sound * 960_000}" type="audio/mpeg"/>'
        sound += f"<itunes:duration>{article.sound * 60}</itunes:duration>" + _episode_parts(publisher, feed, article)
    return (
        f"<item><title>{escape(article.title)}</title><link>{url}</link><guid>{url}</guid><pubDate>{published}</pubDate>"
        f"<dc:creator>{escape(article.author)}</dc:creator><description>{escape(shown)}</description>{sound}</item>"
    )


def _episode_parts(publisher: Publisher, feed: Feed, article: Article) -> str:
    parts = ""
    if article.chapters:
        listed = [{"startTime": start, "title": title} for start, title in article.chapters]
        url = publisher.serve(f"/{feed.slug}/chapters.json", json.dumps({"version": "1.2.0", "chapters": listed}))
        parts += f'<podcast:chapters url="{url}" type="application/json+chapters"/>'
    if article.transcript:
        url = publisher.serve(f"/{feed.slug}/transcript.vtt", article.transcript)
        parts += f'<podcast:transcript url="{url}" type="text/vtt"/>'
    return parts


def _figure(publisher: Publisher, name: str) -> str:
    width, height = pictures.SIZE
    return f'<img src="{publisher.url(f"/pictures/{name}.jpg")}" alt="" width="{width}" height="{height}">'


def _furnish(owner: Person, publisher: Publisher) -> None:
    categories = {category["title"]: category["id"] for category in owner.get("/v1/categories")}
    for feed in FEEDS:
        if feed.category not in categories:
            categories[feed.category] = owner.has_category(feed.category)["id"]
        url = publisher.url(f"/{feed.slug}/feed.xml")
        owner.post("/v1/feeds", {"feed_url": url, "category_id": categories[feed.category]})
    entries = owner.entries(limit=1000, direction="desc", order="published_at")
    old = {entry["id"] for entry in entries if entry["title"].startswith("From the archive")}
    read = [entry["id"] for entry in entries if entry["id"] not in old][2::_READ_EVERY]
    owner.put("/v1/entries", {"entry_ids": [*old, *read], "status": "read"})
    starred = [entry["id"] for entry in entries if entry["title"] in _STARRED]
    owner.put("/v1/entries", {"entry_ids": starred, "starred": True})
    with owner.service.services.database.writing() as db:
        # As if it had been read on the day.
        db.run(text("UPDATE entries SET changed_at = published_at WHERE title LIKE 'From the archive%'"))
    # As somebody who reads the newest first, in the colours of the system; what is looked at stays as it is.
    taste = {"theme": "system_serif", "entry_sorting_direction": "desc", "mark_read_on_view": False}
    owner.put(f"/v1/users/{owner.id}", taste, status=201)
    _use_everything(owner, publisher, {entry["title"]: entry for entry in entries})
    wait_until(lambda: all(feed["icon"] for feed in owner.get("/v1/feeds")))
    # One that has moved away without a word.
    publisher.forget("/river-lab/feed.xml")
    (lost,) = [feed["id"] for feed in owner.get("/v1/feeds") if feed["title"] == "River Lab"]
    owner.call("PUT", f"/v1/feeds/{lost}/refresh")
    wait_until(lambda: owner.get(f"/v1/feeds/{lost}")["parsing_error_count"] > 0)


def _use_everything(owner: Person, publisher: Publisher, entries: dict[str, Any]) -> None:
    """Labels, a queue, a public link, a rule, views, a webhook with a delivery, keys and passwords, a list link."""
    services = owner.service.services
    for color, (name, titles) in zip(("orange", "teal"), _LABELS.items(), strict=False):
        services.entries.labels.create(owner.id, name, color)
        services.entries.labels.change(owner.id, [entries[title]["id"] for title in titles], add=[name])
    for entry in entries.values():
        for enclosure in entry["enclosures"] or ():
            if enclosure["mime_type"].startswith("audio/"):
                services.media.queue.add(owner.id, enclosure["id"])
    services.entries.public_links.create(owner.id, entries["Rye, and the virtue of tomorrow"]["id"])
    owner.post("/v1/rules", {"name": "Long episodes", "query": "has:audio minutes>40", "actions": [{"type": "star"}]})
    owner.post("/v1/views", {"name": "Long reads", "query": "is:unread minutes>3", "icon": "article"})
    owner.post("/v1/views", {"name": "To listen to", "query": "has:audio", "icon": "play"})
    owner.put("/v1/integrations", {"webhook": {"enabled": True, "url": publisher.url("/hook")}}, status=201)
    owner.post(f"/v1/entries/{entries['The pencil and the tide machine']['id']}/save", status=202)


def wait_until(condition: Callable[[], bool], within_s: float = _TIMEOUT_S) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)
