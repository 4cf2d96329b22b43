"""Timelines of a Bluesky account, with an app password."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from support.polling_fixtures import PollingFixture
from support.publisher import Answer, Publisher
from tidings.engine.database import Database
from tidings.net.errors import HttpError
from tidings.net.fetch import FetchRequest
from tidings.services.clock import system_clock
from tidings.sites.bluesky import Bluesky
from tidings.sites.bluesky_posts import item_of, rich_text

TIMELINE = "/xrpc/app.bsky.feed.getTimeline"
SESSION = "/xrpc/com.atproto.server.createSession"
JSON = {"Content-Type": "application/json; charset=utf-8"}
ACCOUNT = {"username": "@alice.example", "password": "abcd-efgh-ijkl-mnop"}


def author(name: str) -> dict[str, Any]:
    return {"did": f"did:plc:{name}", "handle": f"{name}.example", "displayName": name.title()}


def post(key: str, text: str, **more: Any) -> dict[str, Any]:
    """Return a post as the API lists it. more: members of the post."""
    record = {"$type": "app.bsky.feed.post", "text": text, "createdAt": "2026-11-01T10:00:00.000Z", "langs": ["en"]}
    uri = f"at://did:plc:rain/app.bsky.feed.post/{key}"
    created = {"uri": uri, "author": author("rain"), "record": record, "likeCount": 3, "labels": []}
    return {"post": created | more}


def session(token: str) -> Answer:
    return Answer(msgspec.json.encode({"did": "did:plc:alice", "accessJwt": token, "refreshJwt": "r"}), headers=JSON)


@pytest.fixture
def polling(database: Database, database_url: str, tmp_path: Path) -> PollingFixture:
    return PollingFixture(database, database_url, tmp_path)


def serve(site: Publisher, *posts: dict[str, Any]) -> str:
    site.script(SESSION, session("jwt-1"), session("jwt-2"))
    return site.serve(TIMELINE, msgspec.json.encode({"cursor": "x", "feed": posts}), headers=JSON)


def test_a_home_timeline_is_a_feed_of_one_session(polling: PollingFixture, site: Publisher) -> None:
    url = serve(site, post("b", "It snows."), post("a", "It rains."))
    feed_id = polling.subscribe(polling.user("alice"), url, **ACCOUNT)

    assert polling.poll()[feed_id].error is None
    polling.due_again()
    polling.poll()

    assert polling.titles(feed_id) == ["It rains.", "It snows."]
    (began,) = site.requests_for(SESSION)
    assert (began.method, began.json()) == (
        "POST",
        {"identifier": "alice.example", "password": "abcd-efgh-ijkl-mnop"},
    )
    asked = [(seen.path, seen.headers["authorization"]) for seen in site.requests_for(TIMELINE)]
    assert asked == [(f"{TIMELINE}?limit=50", "Bearer jwt-1")] * 2


@pytest.mark.one_engine
def test_an_expired_session_is_replaced(polling: PollingFixture, site: Publisher) -> None:
    url = serve(site)
    timeline = msgspec.json.encode({"feed": [post("a", "It rains.")]})
    site.script(TIMELINE, Answer('{"error": "ExpiredToken"}', status=400), Answer(timeline, headers=JSON))
    feed_id = polling.subscribe(polling.user("alice"), url, **ACCOUNT)

    assert polling.poll()[feed_id].error is None
    assert [seen.headers["authorization"] for seen in site.requests_for(TIMELINE)] == ["Bearer jwt-1", "Bearer jwt-2"]


@pytest.mark.one_engine
def test_sessions_of_different_accounts_are_not_shared(polling: PollingFixture, site: Publisher) -> None:
    url = serve(site, post("a", "It rains."))
    polling.subscribe(polling.user("alice"), url, **ACCOUNT)
    polling.subscribe(polling.user("bob"), url, username="alice.example", password="another")

    polling.poll()

    assert {seen.headers["authorization"] for seen in site.requests_for(TIMELINE)} == {"Bearer jwt-1", "Bearer jwt-2"}


@pytest.mark.one_engine
def test_errors_name_the_server_and_not_the_password(
    polling: PollingFixture, site: Publisher, capsys: pytest.CaptureFixture[str]
) -> None:
    url = serve(site, post("a", "It rains."))
    site.serve(SESSION, '{"error": "AuthenticationRequired"}', status=401)
    feed_id = polling.subscribe(polling.user("alice"), url, **ACCOUNT)

    error = polling.poll()[feed_id].error

    assert isinstance(error, HttpError)
    assert "127.0.0.1 does not accept the handle and the app password" in error.message
    assert ACCOUNT["password"] not in error.message + "".join(capsys.readouterr())
    assert not site.requests_for(TIMELINE)


@pytest.mark.one_engine
@pytest.mark.parametrize("answer", ["[]", "{}", '{"feed": 1}', "<html>"])
def test_another_answer_is_an_error_of_the_server(polling: PollingFixture, site: Publisher, answer: str) -> None:
    url = serve(site)
    site.serve(TIMELINE, answer, headers=JSON)
    feed_id = polling.subscribe(polling.user("alice"), url, **ACCOUNT)

    error = polling.poll()[feed_id].error

    assert error is not None
    assert error.code == "unexpected-answer"
    assert "127.0.0.1" in error.message


@pytest.mark.one_engine
def test_a_redirected_session_does_not_take_the_password_along(
    polling: PollingFixture, site: Publisher, other_site: Publisher
) -> None:
    url = serve(site, post("a", "It rains."))
    other_site.script(SESSION, session("jwt"))
    site.redirect(SESSION, to=other_site.url(SESSION), status=307)
    feed_id = polling.subscribe(polling.user("alice"), url, **ACCOUNT)

    assert polling.poll()[feed_id].error is not None
    assert other_site.requests == []


def test_timelines_are_recognized_by_their_path_and_an_account() -> None:
    reader, url = Bluesky(system_clock, timeout_s=20), f"https://bsky.social{TIMELINE}"

    assert reader.takes(FetchRequest(url=url, username="alice.example", password="x"))
    assert not reader.takes(FetchRequest(url=url))
    assert not reader.takes(FetchRequest(url=url, username="alice.example"))
    assert not reader.takes(
        FetchRequest(url="https://bsky.social/xrpc/app.bsky.actor.getProfile", username="a", password="x")
    )


def test_posts_are_those_of_the_app() -> None:
    item = item_of(post("a", "It rains."))

    assert item
    assert item["id"] == "at://did:plc:rain/app.bsky.feed.post/a"
    assert item["url"] == "https://bsky.app/profile/rain.example/post/a"
    assert item["authors"][0]["name"] == "Rain (@rain.example)"
    assert item["date_published"] == "2026-11-01T10:00:00.000Z"


def test_a_repost_is_an_entry_of_its_own_that_says_whose_it_is() -> None:
    reason = {"$type": "app.bsky.feed.defs#reasonRepost", "by": author("wind"), "indexedAt": "2026-11-02T10:00:00Z"}

    item = item_of(post("a", "It rains.") | {"reason": reason})

    assert item
    assert item["id"] == "at://did:plc:rain/app.bsky.feed.post/a#repost-did:plc:wind"
    assert item["date_published"] == "2026-11-02T10:00:00Z"
    assert item["content_html"] == "<p>It rains.</p><p>Reposted by Wind (@wind.example)</p>"


def test_an_answer_begins_with_what_it_answers_but_has_its_own_title(polling: PollingFixture, site: Publisher) -> None:
    parent = post("z", "Does it rain?")["post"]
    url = serve(site, post("a", "Yes.") | {"reply": {"parent": parent, "root": parent}})
    feed_id = polling.subscribe(polling.user("alice"), url, **ACCOUNT)

    polling.poll()

    assert polling.titles(feed_id) == ["Yes."]
    item = item_of(post("a", "Yes.") | {"reply": {"parent": parent}})
    assert item
    assert item["content_html"].startswith("<blockquote><p>Does it rain?</p>")


def facet(start: int, stop: int, **feature: str) -> dict[str, Any]:
    return {"index": {"byteStart": start, "byteEnd": stop}, "features": [feature]}


def test_links_mentions_and_tags_are_found_by_their_bytes() -> None:
    text = "Überall <Regen>: rain.example @wind #wet\n\nMore"
    raw = text.encode()

    def at(part: str) -> tuple[int, int]:
        start = raw.index(part.encode())
        return start, start + len(part.encode())

    facets = [
        facet(*at("#wet"), tag="wet"),
        facet(*at("rain.example"), uri="https://rain.example/?a=1&b=2"),
        facet(*at("@wind"), did="did:plc:wind"),
    ]

    assert rich_text({"text": text, "facets": facets}) == (
        '<p>Überall &lt;Regen&gt;: <a href="https://rain.example/?a=1&amp;b=2">rain.example</a>'
        ' <a href="https://bsky.app/profile/did:plc:wind">@wind</a>'
        ' <a href="https://bsky.app/hashtag/wet">#wet</a></p><p>More</p>'
    )


@pytest.mark.parametrize(("start", "stop"), [(1, 3), (0, 99), (-1, 2), (3, 2), (0, 1)])
def test_a_facet_that_cannot_be_is_left_out(start: int, stop: int) -> None:
    assert rich_text({"text": "Über", "facets": [facet(start, stop, uri="https://x.example/")]}) == "<p>Über</p>"


def test_what_a_post_shows_is_in_its_content() -> None:
    images = {"images": [{"fullsize": "https://cdn.example/a.jpg", "thumb": "t", "alt": "A drop"}]}
    external = {"external": {"uri": "https://rain.example/", "title": "Rain", "description": "About <it>"}}
    quoted = {"record": {"uri": "at://x/y/q", "author": author("wind"), "value": {"text": "Quoted"}}}
    film = {"thumbnail": "https://cdn.example/film.jpg", "playlist": "https://cdn.example/a.m3u8"}

    def content(embed: dict[str, Any], **more: Any) -> str:
        item = item_of(post("a", "See", embed=embed, **more))
        assert item
        return str(item["content_html"])

    assert '<img src="https://cdn.example/a.jpg" alt="A drop">' in content(images)
    assert '<a href="https://rain.example/">Rain</a><br>About &lt;it&gt;' in content(external)
    assert "<blockquote><p>Quoted</p>" in content(quoted)
    assert "https://cdn.example/film.jpg" in content(film)
    both = content({"media": images, "record": quoted})
    assert both.index("a.jpg") < both.index("Quoted")
    assert "<details><summary>Sensitive content</summary>" in content(images, labels=[{"val": "nudity"}])


@pytest.mark.parametrize("listed", [{}, {"post": 3}, {"post": {}}])
def test_what_is_no_post_is_left_out(listed: dict[str, Any]) -> None:
    assert item_of(listed) is None


def test_a_post_with_values_of_the_wrong_type_costs_only_these() -> None:
    record = {"text": "It rains.", "facets": "x"}
    item = item_of({"post": {"uri": "at://x/y/z", "author": [], "record": record, "embed": 3}})

    assert item
    assert item["content_html"] == "<p>It rains.</p>"
