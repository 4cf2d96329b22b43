"""What is offered for the address of a page on a well-known site, with answers in the shape of the real ones."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from support.polling_fixtures import PollingFixture
from support.publisher import Publisher
from support.recorded_site import RecordedSite
from tidings.engine.database import Database

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

CHANNEL = "UCabcdefghijklmnopqrstuv"


def atom(title: str) -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><id>tag:x,2026:{title}</id>'
        f"<title>{title}</title><updated>2026-11-01T10:00:00Z</updated></feed>"
    )


def rss(title: str) -> str:
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>{title}</title></channel></rss>'


PAGE = "<!DOCTYPE html><html><head><title>A page</title></head><body></body></html>"
REPOSITORY = {
    "/rain/gauge/releases.atom": atom("Release notes from gauge"),
    "/rain/gauge/tags.atom": atom("Tags from gauge"),
    "/rain/gauge/commits.atom": atom("Recent Commits to gauge:main"),
    "/rain/gauge/commits/next.atom": atom("Recent Commits to gauge:next"),
}
YOUTUBE = "https://www.youtube.com/feeds/videos.xml"
SITES = [
    (
        "https://github.com/rain/gauge",
        REPOSITORY,
        ["Releases of rain/gauge", "Commits of rain/gauge", "Tags of rain/gauge"],
    ),
    (
        "https://github.com/rain/gauge/tags",
        REPOSITORY,
        ["Tags of rain/gauge", "Releases of rain/gauge", "Commits of rain/gauge"],
    ),
    (
        "https://github.com/rain/gauge/commits/next",
        REPOSITORY,
        ["Commits of rain/gauge: next", "Commits of rain/gauge", "Releases of rain/gauge", "Tags of rain/gauge"],
    ),
    ("https://github.com/rain", {"/rain.atom": atom("GitHub Public Timeline Feed")}, ["Activity of rain"]),
    (
        "https://gitlab.com/rain/gauge",
        {
            "/rain/gauge/-/releases.atom": atom("gauge releases"),
            "/rain/gauge/-/tags?format=atom": atom("gauge tags"),
            "/rain/gauge.atom": atom("gauge activity"),
        },
        ["Releases of rain/gauge", "Tags of rain/gauge", "Activity of rain/gauge"],
    ),
    (
        "https://codeberg.org/rain/gauge/src/branch/next",
        {
            "/rain/gauge/rss/branch/next": rss("Commits for rain/gauge"),
            "/rain/gauge/releases.rss": rss("Releases for rain/gauge"),
            "/rain/gauge.rss": rss("Feed of gauge"),
        },
        ["Commits of rain/gauge: next", "Releases of rain/gauge", "Activity of rain/gauge"],
    ),
    (
        "https://www.youtube.com/@rain",
        {
            "/@rain": f'<meta itemprop="identifier" content="{CHANNEL}">',
            f"/feeds/videos.xml?channel_id={CHANNEL}": atom("Rain"),
            f"/feeds/videos.xml?playlist_id=UULF{CHANNEL[2:]}": atom("Videos"),
        },
        ["Channel: everything", "Channel: videos"],
    ),
    ("https://www.reddit.com/user/rain/m/weather", {"/user/rain/m/weather/.rss": atom("weather")}, ["user/rain"]),
    ("https://mastodon.social/@rain", {"/@rain.rss": rss("Rain")}, ["Posts of @rain"]),
    ("https://bsky.app/profile/rain.example", {"/profile/rain.example/rss": rss("@rain")}, ["Posts of rain.example"]),
    (
        "https://podcasts.apple.com/us/podcast/rain/id1000000001",
        {
            "/us/podcast/rain/id1000000001": (
                '<script type="application/json" id="serialized-server-data">'
                '[{"data":{"name":"Rain","feedUrl":"https://podcasts.apple.com/rain.xml"}}]</script>'
            ),
            "/rain.xml": rss("Rain"),
        },
        ["Podcast"],
    ),
]


def titles(polling: PollingFixture, url: str) -> list[str]:
    user = polling.user("alice")

    async def find() -> list[str]:
        try:
            found = await polling.services.feeds.discovery.find(user.id, {"url": url})
            return [feed.title for feed in found]
        finally:
            await polling.services.disconnect()

    return asyncio.run(find())


@pytest.fixture
def polling(database: Database, database_url: str, tmp_path: Path) -> PollingFixture:
    return PollingFixture(database, database_url, tmp_path)


@pytest.mark.parametrize(("url", "answers", "expected"), SITES, ids=[url for url, _, _ in SITES])
def test_the_page_of_a_known_site_offers_its_feeds_by_name(
    polling: PollingFixture, site: Publisher, url: str, answers: dict[str, str], expected: list[str]
) -> None:
    host = url.split("/")[2]
    polling.services.polling.fetcher.detours.append(RecordedSite(site, host))
    site.serve("/" + url.split("/", 3)[3], PAGE)
    for path, body in answers.items():
        site.serve(path, body)

    assert titles(polling, url) == expected


def test_feeds_are_found_where_the_page_asks_strangers_to_sign_in(polling: PollingFixture, site: Publisher) -> None:
    polling.services.polling.fetcher.detours.append(RecordedSite(site, "www.reddit.com"))
    site.serve("/r/rain", "Blocked", status=403)
    site.serve("/r/rain/.rss", atom("Rain"))

    assert titles(polling, "https://www.reddit.com/r/rain") == ["r/rain"]


@pytest.mark.parametrize("url", [url for url, _, _ in SITES])
def test_the_handbook_lists_every_site(url: str) -> None:
    table = (Path(__file__).parents[2] / "docs" / "known-sites.md").read_text().split("\n\n")[2]

    assert f"| {url.split('/')[2]} " in table
