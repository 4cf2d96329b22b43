"""The reading time of a video is how long it lasts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
from sqlalchemy import select

from support.people import rss
from support.polling_fixtures import PollingFixture
from support.publisher import Answer, Publisher, ReceivedRequest
from tidings.base.times import Instant
from tidings.content.videos import youtube_id
from tidings.domain.feeds.feeds import Feed
from tidings.engine.database import Database
from tidings.services.entries.reading_times import ReadingTimes
from tidings.sites.watch_times import WatchTimes
from tidings.storage.accounts import users
from tidings.storage.schema import entries as entry_table

KEY = "api-key"
API = "/youtube/v3/videos"
JSON = {"Content-Type": "application/json; charset=UTF-8"}


def video(number: int) -> str:
    return f"video-{number:05d}"


def watch(number: int) -> str:
    return f"https://www.youtube.com/watch?v={video(number)}"


def channel(*numbers: int, title: str = "Video") -> str:
    """Return the feed of a channel."""
    entries = "".join(
        f"<entry><id>yt:video:{video(number)}</id><title>{title} {number}</title>"
        f'<link rel="alternate" href="{watch(number)}"/>'
        f"<published>2026-11-{number % 28 + 1:02d}T10:00:00+00:00</published><media:group><media:description>Short."
        f'</media:description><media:content url="https://www.youtube.com/v/{video(number)}?version=3"'
        ' type="application/x-shockwave-flash" width="640" height="390"/></media:group></entry>'
        for number in numbers
    )
    return (
        '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:yt="http://www.youtube.com/xml/schemas/2015"'
        f' xmlns:media="http://search.yahoo.com/mrss/"><title>Rain</title>{entries}</feed>'
    )


def answer(**durations: str) -> Answer:
    """Return an answer of the API. durations: by number of the video."""
    items = [
        {
            "kind": "youtube#video",
            "id": video(int(number[1:])),
            "contentDetails": {"duration": duration, "definition": "hd"},
        }
        for number, duration in durations.items()
    ]
    return Answer(msgspec.json.encode({"kind": "youtube#videoListResponse", "items": items}), headers=JSON)


class VideoFixture:
    def __init__(self, polling: PollingFixture, site: Publisher, api_key: str = KEY) -> None:
        self.polling = polling
        self.site = site
        self.source = WatchTimes(
            polling.services.polling.fetcher, api_key=api_key, api_url=site.url(API), page_url=site.url("/watch")
        )
        # All services have the same listeners.
        self.listeners = polling.services.feeds.subscriptions._listeners
        self.listeners.duration_sources[:] = [self.source]

    def minutes(self, feed_id: int) -> dict[str, int]:
        wanted = select(entry_table.c.title, entry_table.c.reading_time).where(entry_table.c.feed_id == feed_id)
        with self.polling.database.reading() as db:
            return {row["title"]: row["reading_time"] for row in db.rows(wanted)}

    def durations(self, *urls: str, timeout_s: float = 60) -> dict[str, int]:
        feed = Feed(1, 1, 1, "https://www.youtube.com/feeds/videos.xml?x", "Rain", Instant(0), Instant(0))

        async def look_up() -> dict[str, int]:
            try:
                return dict(await self.source.minutes(feed, urls, timeout_s=timeout_s))
            finally:
                await self.polling.services.disconnect()

        return asyncio.run(look_up())


@pytest.fixture
def polling(database: Database, database_url: str, tmp_path: Path) -> PollingFixture:
    return PollingFixture(database, database_url, tmp_path)


@pytest.fixture
def videos(polling: PollingFixture, site: Publisher) -> VideoFixture:
    return VideoFixture(polling, site)


@pytest.fixture
def without_key(polling: PollingFixture, site: Publisher) -> VideoFixture:
    return VideoFixture(polling, site, api_key="")


def test_new_entries_have_the_duration_of_their_video(videos: VideoFixture) -> None:
    videos.site.script(API, answer(v1="PT1H2M3S", v2="PT45S", v3="P0D"))
    url = videos.site.serve("/feed.xml", channel(1, 2, 3))
    feed_id = videos.polling.subscribe(videos.polling.user("alice"), url)

    assert videos.polling.poll()[feed_id].error is None

    minutes = videos.minutes(feed_id)
    assert (minutes["Video 1"], minutes["Video 2"]) == (62, 1)
    (asked,) = videos.site.requests_for(API)
    assert asked.headers["x-goog-api-key"] == KEY
    assert KEY not in asked.path
    assert sorted(parse_qs(urlsplit(asked.path).query)["id"][0].split(",")) == [video(1), video(2), video(3)]


def test_an_unchanged_video_is_stored_once_and_looked_up_once(videos: VideoFixture) -> None:
    videos.site.script(API, answer(v1="PT10M"), answer(v2="PT20M"))
    url = videos.site.serve("/feed.xml", channel(1))
    feed_id = videos.polling.subscribe(videos.polling.user("alice"), url)
    videos.polling.poll()
    videos.polling.due_again()
    videos.site.serve("/feed.xml", channel(1, 2))

    result = videos.polling.poll()[feed_id]

    assert (len(result.new_ids), result.changed) == (1, 0)
    assert videos.minutes(feed_id) == {"Video 1": 10, "Video 2": 20}
    asked = [parse_qs(urlsplit(seen.path).query)["id"] for seen in videos.site.requests_for(API)]
    assert asked == [[video(1)], [video(2)]]


def test_a_changed_entry_keeps_the_duration(videos: VideoFixture) -> None:
    videos.site.script(API, answer(v1="PT10M"))
    url = videos.site.serve("/feed.xml", channel(1))
    feed_id = videos.polling.subscribe(videos.polling.user("alice"), url)
    videos.polling.poll()
    videos.polling.due_again()
    videos.site.serve("/feed.xml", channel(1, title="Renamed"))

    assert videos.polling.poll()[feed_id].changed == 1
    assert videos.minutes(feed_id) == {"Renamed 1": 10}


def test_another_reading_speed_does_not_change_durations(videos: VideoFixture) -> None:
    videos.site.script(API, answer(v1="PT10M"))
    alice = videos.polling.user("alice")
    url = videos.site.serve("/feed.xml", channel(1))
    feed_id = videos.polling.subscribe(alice, url)
    videos.polling.poll()
    with videos.polling.database.reading() as db:
        caller = users.get(db, alice.id)
    assert caller
    videos.polling.services.accounts.users.update(caller, alice.id, {"default_reading_speed": 53})

    reading_times = ReadingTimes(videos.polling.database)
    while reading_times.work():
        pass

    assert videos.minutes(feed_id) == {"Video 1": 10}


@pytest.mark.one_engine
def test_a_new_subscription_has_durations(videos: VideoFixture) -> None:
    videos.site.script(API, answer(v1="PT10M"))
    url, user = videos.site.serve("/feed.xml", channel(1)), videos.polling.user("alice")

    async def create() -> int:
        try:
            return await videos.polling.services.feeds.subscriptions.create(user, {"feed_url": url})
        finally:
            await videos.polling.services.disconnect()

    assert videos.minutes(asyncio.run(create())) == {"Video 1": 10}


@pytest.mark.one_engine
def test_the_api_is_asked_for_50_videos_at_a_time(videos: VideoFixture) -> None:
    def tell(seen: ReceivedRequest) -> Answer:
        ids = parse_qs(urlsplit(seen.path).query)["id"][0].split(",")
        return answer(**{f"v{int(one[-5:])}": "PT5M" for one in ids})

    videos.site.script(API, tell)

    found = videos.durations(*(watch(number) for number in range(120)))

    assert len(found) == 120
    asked = [parse_qs(urlsplit(seen.path).query)["id"][0] for seen in videos.site.requests_for(API)]
    assert [len(ids.split(",")) for ids in asked] == [50, 50, 20]


@pytest.mark.one_engine
@pytest.mark.parametrize(
    "refusal",
    [Answer("{}", status=403), Answer("<html>"), Answer("[]"), Answer('{"items": [{"id": 1, "contentDetails": 2}]}')],
)
def test_an_error_of_the_api_does_not_fail_the_feed(videos: VideoFixture, refusal: Answer) -> None:
    videos.site.script(API, refusal)
    url = videos.site.serve("/feed.xml", channel(1))
    feed_id = videos.polling.subscribe(videos.polling.user("alice"), url)

    assert videos.polling.poll()[feed_id].error is None
    assert list(videos.minutes(feed_id)) == ["Video 1"]


@pytest.mark.one_engine
def test_without_a_key_the_page_of_each_video_is_read(without_key: VideoFixture) -> None:
    head = '<meta itemprop="name" content="x"><meta itemprop="duration" content="PT12M34S">'
    without_key.site.serve(f"/watch?v={video(1)}", f"<html><head>{head}</head></html>")
    without_key.site.serve(f"/watch?v={video(2)}", '<script>var a = {"videoDetails":{"lengthSeconds":"615"}};</script>')
    without_key.site.serve(f"/watch?v={video(3)}", "<html>Before you continue</html>")

    assert without_key.durations(watch(1), watch(2), watch(3), watch(4)) == {watch(1): 12, watch(2): 10}


@pytest.mark.one_engine
def test_at_most_15_pages_are_read_for_one_document(without_key: VideoFixture) -> None:
    without_key.site.serve("/watch", '<meta itemprop="duration" content="PT9M">')

    assert len(without_key.durations(*(watch(number) for number in range(40)))) == 15


@pytest.mark.one_engine
def test_after_a_refusal_no_further_page_is_asked_for(without_key: VideoFixture) -> None:
    without_key.site.serve("/watch", "", status=429)

    assert without_key.durations(*(watch(number) for number in range(15))) == {}
    assert len(without_key.site.requests_for("/watch")) <= 2


@pytest.mark.one_engine
def test_documents_without_videos_are_not_looked_at(videos: VideoFixture) -> None:
    url = videos.site.serve("/feed.xml", rss(["Rain"], videos.site.url("/feed.xml")))
    videos.polling.subscribe(videos.polling.user("alice"), url)

    videos.polling.poll()

    assert not videos.site.requests_for(API)
    assert videos.durations("https://rain.example/watch?v=video-00001") == {}


@pytest.mark.one_engine
@pytest.mark.parametrize(("setting", "sources"), [({}, 0), ({"fetch_youtube_watch_time": "1"}, 1)])
def test_the_operator_switches_it_on(
    database: Database, database_url: str, tmp_path: Path, setting: dict[str, str], sources: int
) -> None:
    polling = PollingFixture(database, database_url, tmp_path, **setting)

    assert len(polling.services.feeds.subscriptions._listeners.duration_sources) == sources


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.youtube.com/watch?v=abcdefghijk", "abcdefghijk"),
        ("https://m.youtube.com/watch?list=x&v=abcdefghijk&t=3", "abcdefghijk"),
        ("https://www.youtube.com/shorts/abcdefghijk", "abcdefghijk"),
        ("https://www.youtube.com/live/abcdefghijk?feature=share", "abcdefghijk"),
        ("https://www.youtube-nocookie.com/embed/abcdefghijk", "abcdefghijk"),
        ("https://youtu.be/abcdefghijk?t=3", "abcdefghijk"),
        ("https://www.youtube.com/watch?v=short", ""),
        ("https://www.youtube.com/@rain", ""),
        ("https://youtu.be/", ""),
        ("https://notyoutube.com/watch?v=abcdefghijk", ""),
        ("https://[/watch?v=abcdefghijk", ""),
    ],
)
def test_videos_are_recognized_by_their_address(url: str, expected: str) -> None:
    assert youtube_id(url) == expected
