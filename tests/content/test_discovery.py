"""Candidates for feeds, from markup and from the form of URLs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.scaling import assert_linear
from tidings.content.discovery import (
    common_locations,
    declared_feeds,
    is_comments_feed,
    known_site_feeds,
    linked_feeds,
    page_links,
)
from tidings.content.model import FeedFormat

PAGE = "https://example.org/blog/post.html"
CHANNEL = "UC" + "x" * 22


def declared_in(markup: str, url: str = PAGE) -> list[tuple[str, str]]:
    return [(one.url, one.title) for one in declared_feeds(page_links.read_page_links(markup.encode(), url=url))]


def anchored_in(markup: str, most: int = 100) -> list[str]:
    return [one.url for one in linked_feeds(page_links.read_page_links(markup.encode(), url=PAGE), limit=most)]


def shapes(url: str, page: str = "") -> list[str]:
    return [one.url for one in known_site_feeds(url, page)]


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        ("application/rss+xml", FeedFormat.RSS),
        ("Application/RSS+XML", FeedFormat.RSS),
        (" application/atom+xml ; charset=utf-8", FeedFormat.ATOM),
        ("application/feed+json", FeedFormat.JSON),
        ("application/json", FeedFormat.JSON),
    ],
)
def test_a_link_with_the_type_of_a_feed_is_a_candidate(type_: str, kind: FeedFormat) -> None:
    page = page_links.read_page_links(
        f'<link rel="alternate" type="{type_}" href="/feed" title="T">'.encode(), url=PAGE
    )

    (found,) = declared_feeds(page)

    assert (found.url, found.title, found.type, found.is_declared) == ("https://example.org/feed", "T", kind, True)


@pytest.mark.parametrize(
    ("attributes", "counts"),
    [
        ('type="application/rss+xml"', True),
        ('rel="ALTERNATE home" type="application/rss+xml"', True),
        ('rel="feed" type="text/html"', True),
        ('rel="alternate" type="text/xml"', True),
        ('rel="stylesheet" type="application/rss+xml"', False),
        ('rel="alternate stylesheet" type="application/rss+xml"', False),
        ('rel="search" type="application/rss+xml"', False),
        ('rel="alternate" type="text/html"', False),
        ('rel="alternate" type="application/json+oembed"', False),
        ('rel="alternate"', False),
    ],
)
def test_the_relation_of_a_link_counts_as_well(attributes: str, counts: bool) -> None:
    assert bool(declared_in(f'<link {attributes} href="/feed">')) is counts


@pytest.mark.parametrize("href", ["/wp-json/wp/v2/posts/1", "/?rest_route=/wp/v2/posts/1"])
def test_the_rest_api_of_wordpress_is_no_feed(href: str) -> None:
    assert declared_in(f'<link rel="alternate" type="application/json" href="{href}">') == []


def test_links_are_in_document_order_and_unique() -> None:
    link = '<link type="application/rss+xml" href="{}" title="{}">'
    markup = link.format("/b", "1") + link.format("a", "2") + link.format("https://example.org/b#x", "3")

    assert declared_in(markup) == [("https://example.org/b", "1"), ("https://example.org/blog/a", "2")]


def test_links_in_the_body_count_as_well() -> None:
    assert declared_in('<body><p>x</p><link type="application/atom+xml" href="/a">')


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://cdn.example/x/", "https://cdn.example/x/feed"),
        ("/y/", "https://example.org/y/feed"),
        ("::", "https://example.org/blog/feed"),
    ],
)
def test_urls_are_relative_to_the_base_element(base: str, url: str) -> None:
    assert declared_in(f'<base href="{base}"><link type="application/rss+xml" href="feed">')[0][0] == url


def test_a_url_without_scheme_takes_that_of_the_page() -> None:
    link = '<link type="application/rss+xml" href="//feeds.example/x">'

    assert declared_in(link, "http://example.org/")[0][0] == "http://feeds.example/x"


@pytest.mark.parametrize("href", ["feed:https://a.example/f", "feed://a.example/f", "itpc://a.example/f"])
def test_urls_made_for_feed_readers_are_read(href: str) -> None:
    assert anchored_in(f'<a href="{href}">Subscribe to the feed</a>')[0].endswith("://a.example/f")


@pytest.mark.parametrize(
    "href", ["javascript:feed()", "mailto:feed@example.org", "http://", "http://[x", "data:image/png,x"]
)
def test_a_link_that_is_not_http_is_no_feed(href: str) -> None:
    assert declared_in(f'<link type="application/rss+xml" href="{href}">') == []
    assert anchored_in(f'<a href="{href}">RSS feed</a>') == []


@pytest.mark.parametrize(
    ("anchor", "is_likely"),
    [
        ('<a href="/rss">x</a>', True),
        ('<a href="/news/feed/">x</a>', True),
        ('<a href="/x.atom">x</a>', True),
        ('<a href="/all-rss2.xml">x</a>', True),
        ('<a href="/?feed=rss2">x</a>', True),
        ('<a href="/page?format=atom">x</a>', True),
        ('<a href="/x" type="application/rss+xml">x</a>', True),
        ('<a href="/subscribe">RSS</a>', True),
        ('<a href="/about">About us</a>', False),
        ('<a href="/rss.html">RSS</a>', False),
        ('<a href="/feed.png">feed</a>', False),
        ('<a href="/">RSS</a>', False),
        ('<a href="/feedback">Feedback</a>', False),
        ('<a href="/x">A long sentence in which somebody mentions an atom once</a>', False),
    ],
)
def test_links_that_look_like_feeds_are_found(anchor: str, is_likely: bool) -> None:
    assert bool(anchored_in(anchor)) is is_likely


@pytest.mark.parametrize(
    "anchor",
    [
        '<a href="/syndication"><img src="/i/rss.png"></a>',
        '<a href="/syndication"><img src="/i.png" alt="RSS"></a>',
        '<a href="/syndication"><i class="fa fa-rss"></i></a>',
        '<a href="/syndication" class="icon_rss"></a>',
        '<a href="/syndication" aria-label="Feed"><span> </span></a>',
        '<a href="/syndication"><svg><use xlink:href="#icon-rss"/></svg></a>',
        '<a href="/syndication"><svg><title>RSS</title></svg></a>',
    ],
)
def test_an_anchor_with_nothing_but_an_icon_may_lead_to_a_feed(anchor: str) -> None:
    page = page_links.read_page_links(anchor.encode(), url=PAGE)

    assert [each.url for each in linked_feeds(page, limit=5)] == ["https://example.org/syndication"]


@pytest.mark.parametrize(
    ("content", "url"),
    [
        ("0; url=/blog/", "https://example.org/blog/"),
        ("5;URL='https://other.example/'", "https://other.example/"),
        ("0, url = /blog/#top", "https://example.org/blog/"),
        ("0;url=javascript:alert(1)", ""),
        ("300", ""),
    ],
)
def test_the_page_that_browsers_are_led_to_is_found(content: str, url: str) -> None:
    page = f"""<meta charset="utf-8"><meta http-equiv="Refresh" content="{content}">"""

    assert page_links.read_page_links(page.encode(), url=PAGE).refresh == url


@pytest.mark.parametrize(
    ("url", "title", "has_comments"),
    [
        ("https://a.example/comments/feed/", "", True),
        ("https://a.example/feeds/comments/default", "", True),
        ("https://a.example/?feed=comments-rss2", "", True),
        ("https://a.example/2026/01/post/feed/", "Blog » Comments Feed", True),
        ("https://a.example/2026/01/post/feed/", "Blog » Kommentar-Feed", True),
        ("https://a.example/c.xml", "Comments on: A post", True),
        ("https://a.example/c.xml", "Commentaires sur un billet", True),
        ("https://a.example/feed/", "Blog » Feed", False),
        ("https://a.example/feed/", "Comment is free", False),
        ("https://a.example/no-comments/feed/", "", False),
        ("https://a.example/feeds/posts/default", "", False),
    ],
)
def test_feeds_of_comments_are_recognized(url: str, title: str, has_comments: bool) -> None:
    assert is_comments_feed(url, title) is has_comments


def test_links_that_look_most_like_feeds_come_first() -> None:
    assert anchored_in('<a href="/x">RSS</a><a href="/feed">y</a><a href="/rss">z</a>', most=2) == [
        "https://example.org/feed",
        "https://example.org/rss",
    ]


def test_a_canonical_url_is_found() -> None:
    assert (
        page_links.read_page_links(b'<link rel="canonical" href="/x?y#z">', url=PAGE).canonical
        == "https://example.org/x?y"
    )


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1251"])
def test_titles_are_read_in_the_encoding_of_the_page(encoding: str) -> None:
    markup = f'<meta charset="{encoding}"><link type="application/rss+xml" href="/f" title="Новости">'

    page = page_links.read_page_links(markup.encode(encoding), url=PAGE)

    assert declared_feeds(page)[0].title == "Новости"


def test_common_locations_are_in_the_folder_and_at_the_root() -> None:
    usual, unusual = common_locations("https://example.org/blog/post.html")

    assert {"https://example.org/blog/feed.xml", "https://example.org/feed.xml"} <= {one.url for one in usual}
    assert {"https://example.org/blog/index.rss", "https://example.org/rss/feed.xml"} <= {one.url for one in unusual}


def test_a_page_without_slash_may_be_a_folder() -> None:
    assert "https://example.org/blog/feed/" in [one.url for one in common_locations("https://example.org/blog")[0]]


YOUTUBE = "https://www.youtube.com/feeds/videos.xml"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (f"https://www.youtube.com/channel/{CHANNEL}", [f"{YOUTUBE}?channel_id={CHANNEL}"]),
        (f"https://m.youtube.com/channel/{CHANNEL}/videos", [f"{YOUTUBE}?playlist_id=UULF{CHANNEL[2:]}"]),
        ("https://www.youtube.com/playlist?list=PL123", [f"{YOUTUBE}?playlist_id=PL123"]),
        ("https://www.youtube.com/watch?v=abc&list=PL123", [f"{YOUTUBE}?playlist_id=PL123"]),
        ("https://www.youtube.com/user/somebody", [f"{YOUTUBE}?user=somebody"]),
        ("https://www.reddit.com/r/python", ["https://www.reddit.com/r/python/.rss"]),
        ("https://old.reddit.com/r/python/top/?t=week", ["https://www.reddit.com/r/python/top/.rss?t=week"]),
        ("https://www.reddit.com/user/somebody/", ["https://www.reddit.com/user/somebody/.rss"]),
        ("https://github.com/torvalds", ["https://github.com/torvalds.atom"]),
        (
            "https://github.com/torvalds/linux",
            [f"https://github.com/torvalds/linux/{one}.atom" for one in ("releases", "commits", "tags")],
        ),
        ("https://github.com/a/b/tree/my/branch", ["https://github.com/a/b/commits/my/branch.atom"]),
        ("https://github.com/a/b/commits/my/branch/", ["https://github.com/a/b/commits/my/branch.atom"]),
        ("https://github.com/a/b.git", ["https://github.com/a/b/releases.atom"]),
        ("https://github.com/orgs/python/repositories", ["https://github.com/python.atom"]),
        ("https://codeberg.org/a/b/src/branch/main", ["https://codeberg.org/a/b/rss/branch/main"]),
        ("https://code.example/a/b/commits/branch/main", ["https://code.example/a/b/rss/branch/main"]),
        ("https://code.example/a/b/tags", ["https://code.example/a/b/releases.rss"]),
        ("https://gist.github.com/somebody", ["https://gist.github.com/somebody.atom"]),
        ("https://gitlab.com/group/sub/project", ["https://gitlab.com/group/sub/project/-/tags?format=atom"]),
        ("https://gitlab.gnome.org/GNOME/gtk/-/issues", ["https://gitlab.gnome.org/GNOME/gtk.atom"]),
        ("https://codeberg.org/a/b", ["https://codeberg.org/a/b/releases.rss"]),
        ("https://mastodon.social/@Gargron", ["https://mastodon.social/@Gargron.rss"]),
        ("https://mastodon.social/@Gargron/12345", ["https://mastodon.social/@Gargron.rss"]),
        ("https://mastodon.social/tags/rss", ["https://mastodon.social/tags/rss.rss"]),
        ("https://mastodon.social/home", ["https://mastodon.social/api/v1/timelines/home"]),
        ("https://mastodon.social/lists/12", ["https://mastodon.social/api/v1/timelines/list/12"]),
        ("https://bsky.app/profile/a.bsky.social", ["https://bsky.app/profile/a.bsky.social/rss"]),
        (
            "https://en.wikipedia.org/wiki/RSS",
            ["https://en.wikipedia.org/w/index.php?title=RSS&action=history&feed=atom"],
        ),
        (
            "https://wiki.example/wiki/Main_Page",
            ["https://wiki.example/w/index.php?title=Special:RecentChanges&feed=atom"],
        ),
        ("https://medium.com/@somebody/story", ["https://medium.com/feed/@somebody"]),
        ("https://somebody.substack.com/p/story", ["https://somebody.substack.com/feed"]),
        ("https://somebody.tumblr.com/post/1", ["https://somebody.tumblr.com/rss"]),
        ("https://somebody.tumblr.com/tagged/birds", ["https://somebody.tumblr.com/tagged/birds/rss"]),
        ("https://www.tumblr.com/somebody", ["https://somebody.tumblr.com/rss"]),
        ("https://www.tumblr.com/somebody/123/a-post", ["https://somebody.tumblr.com/rss"]),
        ("https://www.tumblr.com/blog/view/somebody", ["https://somebody.tumblr.com/rss"]),
        ("https://stackoverflow.com/questions/tagged/python", ["https://stackoverflow.com/feeds/tag/python"]),
        ("https://lemmy.example/c/news", ["https://lemmy.example/feeds/c/news.xml"]),
        ("https://forum.example/t/some-topic/123/4", ["https://forum.example/t/some-topic/123.rss"]),
    ],
)
def test_feeds_of_well_known_sites_are_recognized_by_the_url(url: str, expected: list[str]) -> None:
    assert [one for one in expected if one not in shapes(url)] == []


@pytest.mark.parametrize(
    ("page", "first"),
    [
        ("", "Releases of a/b"),
        ("/tags", "Tags of a/b"),
        ("/commits", "Commits of a/b"),
        ("/commits/main", "Commits of a/b: main"),
        ("/releases/tag/v1", "Releases of a/b"),
    ],
)
def test_the_feed_of_the_page_itself_comes_first(page: str, first: str) -> None:
    assert known_site_feeds(f"https://github.com/a/b{page}")[0].title == first


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/features",
        "https://github.com/",
        "https://www.youtube.com/@handle",
        "https://www.tumblr.com/",
        "https://www.tumblr.com/tagged/birds",
        "https://www.youtube.com/channel/short",
        "https://example.org/",
        "https://example.org/about",
        "https://notgithub.com/x/y",
    ],
)
def test_other_urls_are_not_recognized(url: str) -> None:
    assert shapes(url) == []


@pytest.mark.parametrize(
    "page",
    [f'<meta itemprop="identifier" content="{CHANNEL}">', f'{{"externalId":"{CHANNEL}","x":"{CHANNEL[:-1]}y"}}'],
)
def test_the_channel_of_a_handle_is_found_in_its_page(page: str) -> None:
    assert shapes("https://www.youtube.com/@handle", page)[0] == f"{YOUTUBE}?channel_id={CHANNEL}"


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ('{"name":"Rain","feedUrl":"https://feeds.example/rain?a=1","id":"1"}', ["https://feeds.example/rain?a=1"]),
        (r'{"feedUrl" : "https:\/\/feeds.example\/rain?a=1\u0026b=2"}', ["https://feeds.example/rain?a=1&b=2"]),
        ('{"feedUrl":"https://a.example/1"},{"feedUrl":"https://b.example/2"}', ["https://a.example/1"]),
        ('{"feedUrl":"javascript:1"}', []),
        ('{"feedUrl":null}', []),
    ],
)
def test_the_feed_of_a_podcast_at_apple_is_found_in_its_page(page: str, expected: list[str]) -> None:
    script = f'<script type="application/json" id="serialized-server-data">[{page}]</script>'
    assert shapes("https://podcasts.apple.com/us/podcast/rain/id1000000001", script) == expected
    assert shapes("https://podcasts.example/us/podcast/rain/id1000000001", script) == []


def test_feeds_of_a_channel_have_titles() -> None:
    titles = [one.title for one in known_site_feeds(f"https://www.youtube.com/channel/{CHANNEL}")]

    assert len(set(titles)) == len(titles) == 4


@pytest.mark.slow
@given(
    st.binary(max_size=400),
    st.sampled_from(["", '<link type="application/rss+xml" href="', '<a href="feed:', '<base href="']),
)
def test_any_page_is_read_without_errors(body: bytes, start: str) -> None:
    page = page_links.read_page_links(start.encode() + body, url=PAGE)
    for one in [*declared_feeds(page), *linked_feeds(page, limit=10)]:
        assert one.url.startswith(("http://", "https://"))


@given(
    st.text(max_size=60),
    st.sampled_from(["", "https://github.com/", "https://www.youtube.com/", "https://x.example/@"]),
)
def test_any_url_is_parsed_without_errors(text: str, start: str) -> None:
    for one in known_site_feeds(start + text, text):
        assert one.url


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        lambda size: "<div>" * size,
        lambda size: "<a href=feed>" * size,
        lambda size: "<b a=1><p>" * (size // 2),
        lambda size: '<link type="application/rss+xml" href="' + "feed" * (2 * size) + '">',
        lambda size: "<meta " * size,
    ],
)
def test_a_hostile_page_is_read_in_linear_time(body: Callable[[int], str]) -> None:
    def read(size: int) -> None:
        page = page_links.read_page_links(body(size).encode(), url=PAGE)
        declared_feeds(page)
        linked_feeds(page, limit=10)

    assert_linear(read, 100_000 // 8)
