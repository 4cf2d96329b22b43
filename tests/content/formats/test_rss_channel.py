"""RSS channels, and RSS 1.0, where items are beside the channel."""

from __future__ import annotations

import pytest

from content.formats.documents import ADDRESS, feed, rdf, rss
from tidings.base.times import Instant
from tidings.content.model import FeedFormat, PublisherHints


def test_the_channel_describes_the_feed() -> None:
    found = feed(
        rss(
            """
            <description>All the  news</description><language>de_AT</language>
            <image><url>/logo.png</url><title>Picture</title><link>https://elsewhere.example/</link></image>
            <atom:link rel="self" href="https://news.example/rss"/>
            <atom:link rel="hub" href="https://hub.example/"/><atom:link rel="hub" href="https://hub2.example/"/>
            """
        )
    )

    assert found.format is FeedFormat.RSS
    assert (found.title, found.site_url) == ("News", "https://site.example/")
    assert (found.description, found.language) == ("All the news", "de-at")
    assert found.icon_url == "https://news.example/logo.png"
    assert found.self_url == "https://news.example/rss"
    assert found.hubs == ("https://hub.example/", "https://hub2.example/")


@pytest.mark.parametrize(
    ("written", "site"),
    [
        ("<link>https://site.example/</link>", "https://site.example/"),
        ('<atom:link href="https://other.example/"/><link>https://site.example/</link>', "https://site.example/"),
        ("<link>/home</link>", "https://news.example/home"),
        ('<atom:link rel="alternate" href="https://site.example/"/>', "https://site.example/"),
        ('<atom:link rel="self" href="https://site.example/"/>', ADDRESS),
        ("<link>javascript:void(0)</link>", ADDRESS),
        ("", ADDRESS),
    ],
)
def test_the_site_is_where_the_link_leads_or_the_document_itself(written: str, site: str) -> None:
    assert feed(rss(site=written)).site_url == site


def test_a_feed_without_a_title_is_named_by_its_site() -> None:
    assert feed(rss().replace("<title>News</title>", "<title> </title>")).title == "https://site.example/"


@pytest.mark.parametrize(
    ("written", "language"),
    [
        ("<language>EN-us</language>", "en-us"),
        ("<dc:language>fr</dc:language>", "fr"),
        ("<language>de</language><dc:language>fr</dc:language>", "de"),
        ("<language>not a language!</language>", ""),
    ],
)
def test_the_language_is_a_code_or_nothing(written: str, language: str) -> None:
    assert feed(rss(written)).language == language


@pytest.mark.parametrize(
    ("written", "hints"),
    [
        ("", PublisherHints()),
        ("<ttl> 180 </ttl>", PublisherHints(ttl_minutes=180)),
        ("<ttl>an hour</ttl>", PublisherHints()),
        ("<sy:updatePeriod>hourly</sy:updatePeriod>", PublisherHints(update_minutes=60)),
        (
            "<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>",
            PublisherHints(update_minutes=360),
        ),
        ("<sy:updateFrequency>2</sy:updateFrequency>", PublisherHints(update_minutes=720)),
        (
            "<sy:updatePeriod>hourly</sy:updatePeriod><sy:updateBase>2000-01-01T12:00+00:00</sy:updateBase>",
            PublisherHints(update_minutes=60, update_base=Instant(946_728_000_000_000)),
        ),
        ("<sy:updateBase>whenever</sy:updateBase>", PublisherHints()),
        (
            "<skipHours><hour>0</hour><hour>23</hour><hour>24</hour><hour>99</hour></skipHours>",
            PublisherHints(skip_hours=frozenset({0, 23})),
        ),
        (
            "<skipDays><day>Sunday</day><day>monday</day><day>Someday</day></skipDays>",
            PublisherHints(skip_days=frozenset({0, 6})),
        ),
    ],
)
def test_polling_hints_of_the_publisher_are_read(written: str, hints: PublisherHints) -> None:
    assert feed(rss(written)).hints == hints


def test_items_outside_the_channel_are_not_lost() -> None:
    document = "<rss><channel><item><title>a</title></item></channel><item><title>b</title></item></rss>"

    assert [entry.title for entry in feed(document).entries] == ["a", "b"]


def test_rss_1_0_has_its_items_beside_the_channel() -> None:
    found = feed(
        rdf(
            "<title>News</title><link>https://site.example/</link><dc:creator>Desk</dc:creator>",
            """
            <item><title>One</title><link> https://site.example/1 </link><description>d</description>
                <content:encoded>c</content:encoded><dc:date>2006-01-02</dc:date></item>
            <item><dc:title>Two</dc:title><description>d</description><dc:creator>Ann</dc:creator></item>
            """,
        )
    )

    assert (found.format, found.site_url) == (FeedFormat.RDF, "https://site.example/")
    one, two = found.entries
    assert (one.title, one.url, one.content, one.author) == ("One", "https://site.example/1", "c", "Desk")
    assert (two.title, two.url, two.content, two.author) == ("Two", "https://site.example/", "d", "Ann")


def test_rss_0_90_is_read_by_its_own_namespace() -> None:
    document = """
        <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://my.netscape.com/rdf/simple/0.9/">
        <channel><title>News</title></channel><item><title>Old</title><link>https://site.example/old</link></item>
        </rdf:RDF>
    """

    assert feed(document).entries[0].title == "Old"


def test_a_cdf_channel_is_read_like_rss() -> None:
    document = """
        <CHANNEL HREF="https://site.example/"><TITLE>News</TITLE><ABSTRACT>About</ABSTRACT>
        <ITEM HREF="https://site.example/1" LASTMOD="2006-01-02T15:04:05Z"><TITLE>One</TITLE>
        <ABSTRACT>Text</ABSTRACT></ITEM>
        </CHANNEL>
    """

    found = feed(document)

    assert (found.title, found.site_url, found.description) == ("News", "https://site.example/", "About")
    (entry,) = found.entries
    assert (entry.title, entry.url, entry.content) == ("One", "https://site.example/1", "Text")
    assert entry.published_at
