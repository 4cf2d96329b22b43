"""Timelines of a Mastodon account, with its access token."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from support.polling_fixtures import PollingFixture
from support.publisher import Answer, Publisher
from tidings.base.errors import NotFound
from tidings.engine.database import Database
from tidings.net.fetch import FetchRequest
from tidings.sites.mastodon import Mastodon, item_of

TOKEN = "token-of-alice"
HOME = "/api/v1/timelines/home"


def account(name: str) -> dict[str, Any]:
    return {
        "id": "7",
        "acct": f"{name}@other.example",
        "display_name": name.title(),
        "url": f"https://o.example/@{name}",
    }


def status(number: int, content: str, **more: Any) -> dict[str, Any]:
    """Return a status as the API lists it."""
    created = {
        "id": str(number), "uri": f"https://o.example/users/rain/statuses/{number}",
        "url": f"https://o.example/@rain/{number}", "created_at": "2026-11-01T10:00:00.000Z",
        "account": account("rain"), "content": f"<p>{content}</p>", "spoiler_text": "", "sensitive": False,
        "reblog": None, "language": "en",
        "media_attachments": [], "tags": [], "card": None, "poll": None, "favourites_count": number,
    }  # fmt: skip
    return created | more


@pytest.fixture
def polling(database: Database, database_url: str, tmp_path: Path) -> PollingFixture:
    return PollingFixture(database, database_url, tmp_path)


def serve(site: Publisher, *statuses: dict[str, Any], path: str = HOME) -> str:
    return site.serve(path, msgspec.json.encode(statuses), headers={"Content-Type": "application/json"})


def test_a_home_timeline_is_a_feed(polling: PollingFixture, site: Publisher) -> None:
    url = serve(site, status(2, "It snows."), status(1, "It rains."))
    feed_id = polling.subscribe(polling.user("alice"), url, password=TOKEN)

    assert polling.poll()[feed_id].error is None

    assert polling.titles(feed_id) == ["It rains.", "It snows."]
    assert site.last.path == f"{HOME}?limit=40"
    assert site.last.headers["authorization"] == f"Bearer {TOKEN}"


def test_the_title_of_a_boost_is_what_was_boosted(polling: PollingFixture, site: Publisher) -> None:
    url = serve(site, status(9, "", account=account("wind"), reblog=status(1, "Rain &lt;3 &amp; wind.")))
    feed_id = polling.subscribe(polling.user("alice"), url, password=TOKEN)

    polling.poll()

    assert polling.titles(feed_id) == ["Rain <3 & wind."]


def test_new_numbers_of_a_status_are_no_change(polling: PollingFixture, site: Publisher) -> None:
    url = serve(site, status(1, "It rains."))
    feed_id = polling.subscribe(polling.user("alice"), url, password=TOKEN)
    polling.poll()
    polling.due_again()
    serve(site, status(1, "It rains.", favourites_count=99))

    result = polling.poll()[feed_id]

    assert (result.error, list(result.new_ids), result.changed) == (None, [], 0)


@pytest.mark.one_engine
def test_users_with_tokens_of_their_own_have_timelines_of_their_own(polling: PollingFixture, site: Publisher) -> None:
    url = serve(site, status(1, "It rains."))
    for name in ("alice", "bob"):
        polling.subscribe(polling.user(name), url, password=f"token-of-{name}")

    polling.poll()

    assert {seen.headers["authorization"] for seen in site.requests} == {"Bearer token-of-alice", "Bearer token-of-bob"}


@pytest.mark.one_engine
def test_a_user_subscribes_with_a_token(polling: PollingFixture, site: Publisher) -> None:
    url = serve(site, status(1, "It rains."))
    services, user = polling.services, polling.user("alice")

    async def create() -> int:
        try:
            return await services.feeds.subscriptions.create(user, {"feed_url": url, "password": TOKEN})
        finally:
            await services.disconnect()

    assert polling.titles(asyncio.run(create())) == ["It rains."]


@pytest.mark.one_engine
@pytest.mark.parametrize(("password", "expected"), [(TOKEN, ["Home"]), ("", [])])
def test_the_page_of_a_timeline_offers_it_to_whoever_has_a_token(
    polling: PollingFixture, site: Publisher, password: str, expected: list[str]
) -> None:
    refused = Answer('{"error": "This method requires an authenticated user"}', status=422)
    timeline = Answer(msgspec.json.encode([status(1, "It rains.")]), headers={"Content-Type": "application/json"})
    site.script(HOME, lambda seen: timeline if "authorization" in seen.headers else refused)
    page = site.serve("/home", "<html><title>Mastodon</title></html>")
    services, user = polling.services, polling.user("alice")

    async def find() -> list[str]:
        try:
            found = await services.feeds.discovery.find(user.id, {"url": page, "password": password})
            return [feed.title for feed in found]
        except NotFound:
            return []
        finally:
            await services.disconnect()

    assert asyncio.run(find()) == expected


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("body", "status_code", "expected"),
    [
        ('{"error": "The access token is invalid"}', 401, "127.0.0.1 does not accept the access token"),
        ('{"error": "x"}', 200, "127.0.0.1 sent an answer that Tidings does not understand"),
        ("<html>", 200, "127.0.0.1 sent an answer that Tidings does not understand"),
    ],
)
def test_errors_name_the_server_and_not_the_token(
    polling: PollingFixture, site: Publisher, body: str, status_code: int, expected: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    url = site.serve(HOME, body, status=status_code)
    feed_id = polling.subscribe(polling.user("alice"), url, password=TOKEN)

    error = polling.poll()[feed_id].error

    assert error is not None
    assert expected in error.message
    assert TOKEN not in error.message + "".join(capsys.readouterr())


@pytest.mark.one_engine
def test_a_token_does_not_follow_a_redirect_to_another_host(
    polling: PollingFixture, site: Publisher, other_site: Publisher
) -> None:
    serve(other_site, status(1, "It rains."))
    url = site.redirect(HOME, to=other_site.url(HOME), status=302)
    polling.subscribe(polling.user("alice"), url, password=TOKEN)

    polling.poll()

    assert "authorization" not in other_site.last.headers


@pytest.mark.parametrize(
    ("path", "is_read"),
    [
        (HOME, True),
        ("/api/v1/timelines/list/12", True),
        ("/api/v1/timelines/tag/rain", True),
        ("/api/v1/bookmarks", True),
        ("/api/v1/accounts/12", False),
        ("/home", False),
    ],
)
def test_timelines_are_recognized_by_their_path_and_a_token(path: str, is_read: bool) -> None:
    url, reader = f"https://social.example{path}", Mastodon(timeout_s=20)

    assert reader.takes(FetchRequest(url=url, password="x")) is is_read
    assert not reader.takes(FetchRequest(url=url))
    assert not reader.takes(FetchRequest(url="https://[/api/v1/timelines/home", password="x"))


def test_a_boost_has_the_boosted_status_and_says_whose_boost_it_is() -> None:
    item = item_of(status(9, "", account=account("wind"), reblog=status(1, "It rains.")))

    assert item
    assert item["id"].endswith("/9")
    assert item["url"] == "https://o.example/@rain/1"
    assert item["authors"][0]["name"] == "Rain (@rain@other.example)"
    assert item["content_html"] == "<p>It rains.</p><p>Boosted by Wind (@wind@other.example)</p>"


def test_a_content_warning_is_the_title_and_hides_the_content() -> None:
    picture = {"type": "image", "url": "https://o.example/a.png", "description": 'A "drop"'}

    warned = item_of(status(1, "It rains.", spoiler_text="Weather", sensitive=True, media_attachments=[picture]))
    sensitive = item_of(status(1, "It rains.", sensitive=True, media_attachments=[picture]))

    assert warned is not None
    assert sensitive is not None
    assert warned["title"] == "Weather"
    assert warned["content_html"].startswith("<details><summary>Weather</summary><p>It rains.</p>")
    assert "title" not in sensitive
    assert sensitive["content_html"].startswith("<p>It rains.</p><details><summary>Sensitive content</summary>")
    assert 'alt="A &quot;drop&quot;"' in sensitive["content_html"]


def test_what_is_attached_to_a_status_is_in_its_content() -> None:
    item = item_of(
        status(
            1,
            "See",
            media_attachments=[
                {"type": "video", "url": "https://o.example/a.mp4", "preview_url": "https://o.example/a.png"},
                {"type": "audio", "url": "https://o.example/a.mp3"},
                {"type": "unknown", "url": None, "remote_url": "https://o.example/a.bin"},
                {"type": "image", "url": None},
            ],
            card={"url": "https://rain.example/", "title": "A <page>"},
            poll={"options": [{"title": "Rain"}, {"title": "Snow"}]},
            quote={"state": "accepted", "quoted_status": status(5, "Quoted")},
            tags=[{"name": "rain"}],
        )
    )

    assert item
    for part in (
        '<video controls src="https://o.example/a.mp4"', '<audio controls src="https://o.example/a.mp3"',
        '<a href="https://o.example/a.bin">', '<a href="https://rain.example/">A &lt;page&gt;</a>',
        "<ul><li>Rain</li><li>Snow</li></ul>", "<blockquote><p>Quoted</p>",
    ):  # fmt: skip
        assert part in item["content_html"]
    assert item["tags"] == ["rain"]


def test_a_status_with_values_of_the_wrong_type_costs_only_these() -> None:
    wrong = {"account": 3, "card": [], "poll": "x", "quote": {}, "tags": 1}
    item = item_of({"id": "1", "content": "<p>It rains.</p>"} | wrong)

    assert item
    assert (item["id"], item["content_html"]) == ("1", "<p>It rains.</p>")
    assert item_of({"content": "x"}) is None
