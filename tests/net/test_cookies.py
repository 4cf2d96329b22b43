"""Cookies that a site sets while it redirects."""

from __future__ import annotations

import pytest

from net.fetching import fetch, names
from support.publisher import Answer, Publisher, ReceivedRequest, Reply
from tidings.net.errors import TooManyRedirects

FEED = "<rss><channel><title>Rain tomorrow</title></channel></rss>"


def moved(to: str, *set_cookies: str) -> Answer:
    return Answer(status=302, headers=[("Location", to), *(("Set-Cookie", each) for each in set_cookies)])


def gate(cookie: str, otherwise: Answer):  # type: ignore[no-untyped-def]
    def reply(seen: ReceivedRequest) -> Reply:
        return Answer(FEED) if cookie in seen.headers.get("cookie", "") else otherwise

    return reply


def test_a_cookie_that_another_page_sets_is_sent_back(site: Publisher) -> None:
    site.script("/feed.xml", gate("seen=1", moved("/check")))
    site.script("/check", moved("/feed.xml", "seen=1; Path=/"))

    assert fetch(site.url("/feed.xml")).body == FEED.encode()
    assert "cookie" not in site.requests[1].headers


def test_an_address_may_set_a_cookie_and_redirect_to_itself(site: Publisher) -> None:
    site.script("/", gate('a="x y"; b=2', moved("/", 'a="x y"; HttpOnly; Max-Age=60', "b=2; SameSite=Lax")))

    assert fetch(site.url("/")).body == FEED.encode()


def test_a_loop_in_spite_of_cookies_is_detected(site: Publisher) -> None:
    site.script("/", moved("/", "a=1"))

    with pytest.raises(TooManyRedirects, match="in a loop"):
        fetch(site.url("/"))

    assert len(site.requests) == 2


def test_a_cookie_that_changes_for_ever_ends_at_the_limit(site: Publisher) -> None:
    site.script("/", lambda seen: moved("/", f"a={len(seen.headers.get('cookie', ''))}" + "x" * len(site.requests)))

    with pytest.raises(TooManyRedirects, match="more than 10"):
        fetch(site.url("/"))


def test_a_new_value_replaces_the_one_that_the_user_gave(site: Publisher) -> None:
    site.script("/", gate("id=new", moved("/", "id=new")))

    fetch(site.url("/"), cookie="a=1; id=old;b=2")

    assert [seen.headers["cookie"] for seen in site.requests] == ["a=1; id=old;b=2", "a=1; b=2; id=new"]


@pytest.mark.parametrize(
    "set_cookie",
    [
        "a=1; Path=/private",
        "a=1; Domain=other.example",
        "a=1; Domain=example",
        "a=1; Domain=s.example",
        "a=1; Max-Age=0",
        "a=1; Max-Age=-1",
        "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
        "a=1; Secure",
        "a=1\x01",
        "a",
    ],
)
def test_a_cookie_that_does_not_apply_is_not_sent(site: Publisher, set_cookie: str) -> None:
    site.script("/start", moved("/feed.xml", set_cookie))
    site.serve("/feed.xml", FEED)

    fetch(site.url("/start", host="feeds.example"), lookup=names(feeds_example="127.0.0.1"))

    assert "cookie" not in site.last.headers


@pytest.mark.parametrize(
    "set_cookie",
    [
        'a="1"; Path=/a',
        "a=1=2; Domain=.feeds.EXAMPLE; Path=x",
        "a={1,2}; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
    ],
)
def test_a_cookie_is_sent_as_it_was_set(site: Publisher, set_cookie: str) -> None:
    site.script("/a/start", moved("/a/feed.xml", set_cookie))
    site.serve("/a/feed.xml", FEED)

    fetch(site.url("/a/start", host="feeds.example"), lookup=names(feeds_example="127.0.0.1"))

    assert site.last.headers["cookie"] == set_cookie.partition(";")[0]


def test_another_host_gets_no_cookies(site: Publisher) -> None:
    with Publisher() as stranger:
        target = stranger.serve("/feed.xml", FEED).replace("127.0.0.1", "other.example")
        site.script("/start", moved(target, "a=1; Path=/"))

        fetch(
            site.url("/start", host="feeds.example"),
            lookup=names(feeds_example="127.0.0.1", other_example="127.0.0.1"),
            cookie="secret=1",
        )

        assert "cookie" not in stranger.last.headers


def test_cookies_of_any_size_and_number_do_no_harm(site: Publisher) -> None:
    many = [f"name{number}={'x' * 2000}" for number in range(40)]
    site.script("/start", moved("/feed.xml", *many))
    site.serve("/feed.xml", FEED)

    assert fetch(site.url("/start")).body == FEED.encode()
    assert len(site.last.headers["cookie"]) < 10_000


def test_bytes_that_are_no_text_do_no_harm(site: Publisher) -> None:
    site.script("/start", moved("/feed.xml", "a=\udcff\udcfe; Path=/"))
    site.serve("/feed.xml", FEED)

    assert fetch(site.url("/start")).body == FEED.encode()
