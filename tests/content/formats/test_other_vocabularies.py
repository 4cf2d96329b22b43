"""Elements of one format in another, and values that publishers write in ways of their own."""

from __future__ import annotations

import json

import pytest

from content.formats.documents import ADDRESS, atom, entry, feed, item, rss
from tidings.content.urls import tidy_url


@pytest.mark.parametrize(
    ("inside", "tags"),
    [
        ("<media:keywords>rain, snow</media:keywords>", ("rain", "snow")),
        ("<media:group><media:keywords>rain</media:keywords></media:group>", ("rain",)),
        ("<category>weather</category><media:keywords>rain</media:keywords>", ("weather",)),
        ("<media:category>weather</media:category>", ("weather",)),
        ('<media:category label="Weather">weather/rain</media:category>', ("Weather",)),
        ('<media:category scheme="urn:flickr:tags">rain snow</media:category>', ("rain", "snow")),
        ('<media:category scheme="urn:x">heavy rain</media:category>', ("heavy rain",)),
        ('<media:category label=" "/>', ()),
        ("<media:category>a</media:category><media:keywords>b</media:keywords>", ("a",)),
    ],
)
def test_categories_and_keywords_of_media_are_tags(inside: str, tags: tuple[str, ...]) -> None:
    assert item(f"<title>t</title>{inside}").tags == tags
    inside = inside.replace("<category>weather</category>", "<category term='weather'/>")
    assert entry(f"<id>1</id>{inside}").tags == tags


def test_categories_of_atom_in_rss_are_tags() -> None:
    inside = '<category>a</category><atom:category term="b"/><atom:category term="c" label="See"/>'
    assert item(f"<title>t</title>{inside}").tags == ("See", "a", "b")


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("https://a.example/?a=1&amp;amp;b=2", "https://a.example/?a=1&b=2"),
        ("https://a.example/?a=1&amp;#038;b=2", "https://a.example/?a=1&b=2"),
        ("https://a.example/?a=1&amp;#38;amp;b=2", "https://a.example/?a=1&b=2"),
        ("https://a.example/?a=1&amp;#x26;b=2", "https://a.example/?a=1&b=2"),
        ("https://a.example/?a=1&amp;copy=2", "https://a.example/?a=1&copy=2"),
        ("https://a.example/my file.html", "https://a.example/my%20file.html"),
        ("/my file.html?q=a b", "https://site.example/my%20file.html?q=a%20b"),
        ("https://a.example/a%20b", "https://a.example/a%20b"),
        ("https://a.example/&lt;a&gt;&quot;", "https://a.example/%3Ca%3E%22"),
    ],
)
def test_addresses_are_what_the_publisher_meant(written: str, url: str) -> None:
    assert item(f"<title>t</title><link>{written}</link>").url == url
    assert item(f'<title>t</title><enclosure url="{written}" type="audio/mpeg"/>').enclosures[0].url == url
    assert entry(f'<id>1</id><link href="{written}"/>').url == url


def test_the_host_of_an_address_is_not_encoded() -> None:
    assert tidy_url("https://a b.example/ c") == "https://a b.example/ c"
    assert tidy_url("mailto:a b") == "mailto:a b"


def test_a_tidied_address_is_no_other_entry() -> None:
    link = "https://a.example/a b?x=1&amp;amp;y=2"
    (raw,) = feed(rss(f"<item><link>{link}</link></item>")).entries
    (same,) = feed(rss(f"<item><guid>{link}</guid></item>")).entries
    assert raw.hash == same.hash


@pytest.mark.parametrize("thumbnail", ["", '<media:thumbnail url="https://a.example/a.jpg"/>'])
def test_an_entry_without_link_leads_to_its_enclosure(thumbnail: str) -> None:
    file = "https://a.example/a.mp3"
    assert item(f'<title>t</title>{thumbnail}<enclosure url="{file}" type="audio/mpeg"/>').url == file
    assert entry(f'<id>x</id>{thumbnail}<link rel="enclosure" href="{file}" type="audio/mpeg"/>').url == file


def test_a_json_item_without_url_leads_to_its_attachment() -> None:
    attachments = [{"url": "https://a.example/a.mp3", "mime_type": "audio/mpeg"}]
    document = {"items": [{"id": "1", "image": "https://a.example/a.jpg", "attachments": attachments}]}
    assert feed(json.dumps(document)).entries[0].url == "https://a.example/a.mp3"


@pytest.mark.parametrize("base", ["posts/", "/feeds/posts/", "https://news.example/feeds/posts/"])
def test_a_relative_base_of_content_is_relative_to_the_document(base: str) -> None:
    inside = f'<id>1</id><link href="https://site.example/2026/1"/><content xml:base="{base}">a</content>'
    assert entry(inside).base_url == "https://news.example/feeds/posts/"
    link = f'<id>1</id><link xml:base="{base}" href="1.html"/>'
    assert entry(link).url == "https://news.example/feeds/posts/1.html"
    file = f'<id>1</id><link rel="enclosure" xml:base="{base}" href="1.mp3"/>'
    assert entry(file).enclosures[0].url == "https://news.example/feeds/posts/1.mp3"


def test_a_link_in_the_way_of_html_has_its_address_behind_it() -> None:
    source = "<item><title>One</title><link/>https://a.example/1\n<guid>1</guid></item>"
    parsed = feed(rss(source, site="<link/>https://site.example/\n"))
    assert (parsed.site_url, parsed.entries[0].url) == ("https://site.example/", "https://a.example/1")


def test_other_text_behind_an_empty_link_is_no_address() -> None:
    assert item("<title>t</title><link/>Read more").url == "https://site.example/"
    assert item('<title>t</title><link href="https://a.example/1"/>https://a.example/2').url == "https://a.example/1"


@pytest.mark.parametrize(
    ("inside", "content"),
    [
        ("<summary>short</summary><content:encoded>&lt;p&gt;a&lt;/p&gt;</content:encoded>", "<p>a</p>"),
        ("<description>&lt;p&gt;a&lt;/p&gt;</description>", "<p>a</p>"),
        ("<dc:description>a</dc:description>", "a"),
        ("<content>own</content><content:encoded>a</content:encoded>", "own"),
        ("<summary>own</summary><description>a</description>", "own"),
    ],
)
def test_atom_with_elements_of_rss_has_their_content(inside: str, content: str) -> None:
    assert entry(f"<id>1</id>{inside}").content == content


def test_atom_with_dublin_core_has_its_title_and_date() -> None:
    parsed = entry("<id>1</id><dc:title>Rain</dc:title><dcterms:created>2026-11-01T10:00:00Z</dcterms:created>")
    assert (parsed.title, parsed.published_at is None) == ("Rain", False)


@pytest.mark.parametrize(
    "inside",
    [
        "<content>full</content>",
        "<yandex:full-text>full</yandex:full-text>",
        '<full-text xmlns="http://news.yandex.ru">full</full-text>',
        '<atom:content type="html">full</atom:content>',
    ],
)
def test_the_full_text_of_an_item_comes_before_its_description(inside: str) -> None:
    assert item(f"<description>short</description>{inside}").content == "full"
    assert item(f"{inside}<content:encoded>encoded</content:encoded>").content == "encoded"


def test_rss_with_elements_of_atom_has_their_values() -> None:
    document = rss(
        "<atom:subtitle>About rain</atom:subtitle><item><atom:title>t</atom:title><atom:id>urn:1</atom:id>"
        "<atom:summary>s</atom:summary><atom:updated>2026-11-01T10:00:00Z</atom:updated></item>"
    ).replace("<title>News</title>", "<atom:title>Rain</atom:title>")
    parsed = feed(document)
    assert (parsed.title, parsed.description) == ("Rain", "About rain")
    assert (parsed.entries[0].title, parsed.entries[0].content) == ("t", "s")
    (same,) = feed(rss("<item><guid>urn:1</guid></item>")).entries
    assert parsed.entries[0].hash == same.hash


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("<p>Rain</p>", "Rain"),
        ("<div><h2>Rain</h2></div>", "Rain"),
        ("<p>Rain</p><p>Snow</p>", "RainSnow"),
        ('Rain <div class="x">today</div>', "Rain today"),
        ("Nest <b>bold</b>", "Nest bold"),
        ("What <p> and </p> mean", "What <p> and </p> mean"),
        ("<div> or <p>? <p> or <div>", "<div> or <p>? <p> or <div>"),
        ("The <ul> element and </ul>", "The <ul> element and </ul>"),
    ],
)
def test_block_tags_format_a_title_if_they_enclose_all_of_it(written: str, title: str) -> None:
    escaped = written.replace("&", "&amp;").replace("<", "&lt;")
    assert item(f"<title>{escaped}</title>").title == title
    declared = entry(f'<id>1</id><title type="html">{escaped}</title>').title
    assert declared.replace(" ", "") == title.replace(" ", "")


def test_a_json_summary_of_blanks_is_none() -> None:
    items = [{"id": "1", "summary": " \n", "content_text": "text"}, {"id": "2", "summary": "\t", "content_text": " "}]
    first, second = feed(json.dumps({"items": items})).entries
    assert (first.title, first.content, second.content) == ("text", "text", "")


@pytest.mark.parametrize(
    "before",
    [
        "<html><body>",
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"></head>\n<body class="x">\n',
        "<html><head></head><body><!--?xml version='1.0'?-->",
    ],
)
@pytest.mark.parametrize("document", [rss("<item><guid>1</guid></item>"), atom("<entry><id>1</id></entry>")])
def test_a_feed_that_was_wrapped_into_a_page_is_a_feed(before: str, document: str) -> None:
    parsed = feed(f"{before}{document}</body></html>")
    assert (parsed.title, len(parsed.entries)) == ("News", 1)


def test_the_feed_of_software_for_html_is_read() -> None:
    item_ = "<item><title>One</title><link>https://a.example/1<pubdate>Mon, 10 Nov 2025 08:00:00 GMT</pubdate></item>"
    parsed = feed(f'<html><body><rss version="2.0"><channel><title>N</title>{item_}</channel></rss></body></html>')
    assert (parsed.entries[0].url, parsed.entries[0].title) == ("https://a.example/1", "One")
    assert parsed.entries[0].published_at is not None
    assert parsed.site_url == ADDRESS
