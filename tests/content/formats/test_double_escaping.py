"""Content that a publisher escaped twice is shown as HTML; tags that are the subject of a text stay as they are."""

from __future__ import annotations

import html
import json
from hashlib import sha256

import pytest

from content.formats.documents import entry, feed, item

MARKUP = '<p>A <a href="https://now.example/?a=1&amp;b=2">now page</a><br>tells.</p>\n<p>More &amp; <b>more</b>.</p>'
ONCE = html.escape(MARKUP)


@pytest.mark.parametrize(
    "source",
    [
        f"<description>{html.escape(ONCE)}</description>",
        f"<description><![CDATA[{ONCE}]]></description>",
        f"<description><![CDATA[\n {html.escape(MARKUP, quote=False)} ]]></description>",
        f"<description>short</description><content:encoded><![CDATA[<p>{ONCE}</p>]]></content:encoded>",
        f"<content:encoded><![CDATA[<div class='x'>{ONCE}</div>]]></content:encoded>",
        f"<description><![CDATA[{ONCE.replace('&lt;', '&#60;').replace('&gt;', '&#x3E;')}]]></description>",
    ],
)
def test_escaped_markup_of_rss_is_unescaped_once_more(source: str) -> None:
    assert item(f"<title>t</title>{source}").content.strip() == MARKUP


@pytest.mark.parametrize("kind", [' type="html"', "", ' type="text/html"'])
def test_escaped_markup_of_atom_is_html(kind: str) -> None:
    escaped = html.escape(ONCE) if kind else ONCE
    assert entry(f"<id>1</id><content{kind}>{escaped}</content>").content == MARKUP


def test_atom_that_is_declared_as_text_stays_text() -> None:
    assert entry(f'<id>1</id><content type="text">{ONCE}</content>').content == html.escape(MARKUP, quote=False)


def test_escaped_markup_of_a_json_feed_is_unescaped_once_more() -> None:
    document = {"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "content_html": ONCE}]}
    assert feed(json.dumps(document)).entries[0].content == MARKUP
    document["items"] = [{"id": "1", "content_text": MARKUP}]
    assert feed(json.dumps(document)).entries[0].content == html.escape(MARKUP, quote=False)


@pytest.mark.parametrize(
    "content",
    [
        "Use &lt;p&gt; for paragraphs and &lt;br&gt; for line breaks.",
        "&lt;p&gt; starts a paragraph and &lt;/p&gt; ends it.",
        "&lt;p&gt;a&lt;/p&gt; is a paragraph.",
        "&lt;p&gt;a",
        "&lt;p&gt;a&lt;/div&gt;",
        "&lt;div&gt;&lt;p&gt;a&lt;/div&gt;&lt;/p&gt;",
        "&lt;p&gt;1 &lt; 2&lt;/p&gt;",
        "&lt;marquee&gt;hello&lt;/marquee&gt;",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "&lt;b&gt;a&lt;/b&gt;",
        "<p>Write <code>&lt;b&gt;bold&lt;/b&gt;</code> like this.</p>",
        "<code>&lt;p&gt;a&lt;/p&gt;</code>",
        "<pre>&lt;p&gt;a&lt;/p&gt;</pre>",
        "<p>&lt;p&gt;a&lt;/p&gt;</p><p>b</p>",
        "&lt; a &gt;",
        "a &amp; b",
    ],
)
def test_tags_that_are_the_subject_of_the_text_stay(content: str) -> None:
    assert item(f"<description><![CDATA[{content}]]></description>").content == content


def test_an_entry_without_id_keeps_the_identity_of_what_was_written() -> None:
    # SHA-256 of the title and the content as written.
    entry_ = item(f"<title>t</title><description><![CDATA[{ONCE}]]></description>")
    assert entry_.hash == sha256(f"t{ONCE}".encode()).hexdigest()
