"""The base URLs of relative URLs."""

from __future__ import annotations

import pytest

from content.formats.documents import ADDRESS, feed, rss

ATOM = """
    <feed xmlns="http://www.w3.org/2005/Atom" {feed_base}><link href="home"/>
    <entry {entry_base}><id>1</id><link href="post"/><link rel="enclosure" href="file"/>
    <content type="html" {content_base}>&lt;a href="more"&gt;</content></entry></feed>
"""


@pytest.mark.parametrize(
    ("feed_base", "entry_base", "content_base", "site", "url", "inside"),
    [
        ("", "", "", "https://news.example/feeds/home", "https://news.example/feeds/post", "https://news.example/feeds/post"),
        ("https://a.example/x/", "", "", "https://a.example/x/home", "https://a.example/x/post", "https://a.example/x/"),
        ("/x/", "y/", "", "https://news.example/x/home", "https://news.example/x/y/post", "https://news.example/x/y/"),
        ("/x/", "y/", "z/", "https://news.example/x/home", "https://news.example/x/y/post", "https://news.example/x/y/z/"),
        ("", "", "https://b.example/", "https://news.example/feeds/home", "https://news.example/feeds/post", "https://b.example/"),
        ("", "https://[", "", "https://news.example/feeds/home", "https://news.example/feeds/post", "https://news.example/feeds/post"),
    ],
)  # fmt: skip
def test_xml_base_counts_at_every_level(
    feed_base: str, entry_base: str, content_base: str, site: str, url: str, inside: str
) -> None:
    bases = {
        key: f'xml:base="{base}"' if base else ""
        for key, base in {"feed_base": feed_base, "entry_base": entry_base, "content_base": content_base}.items()
    }

    found = feed(ATOM.format(**bases))

    entry = found.entries[0]
    assert (found.site_url, entry.url, entry.base_url) == (site, url, inside)
    assert entry.enclosures[0].url == url.replace("post", "file")


@pytest.mark.parametrize(
    ("link", "url"),
    [
        ("post", "https://site.example/blog/post"),
        ("/post", "https://site.example/post"),
        ("//cdn.example/post", "https://cdn.example/post"),
        ("?p=1", "https://site.example/blog/?p=1"),
        ("HTTPS://site.example/Post", "https://site.example/Post"),
        ("http:/site.example/post", "http://site.example/post"),
        (" https://site.example/a\n b ", "https://site.example/a%20b"),
    ],
)
def test_an_rss_link_is_relative_to_the_site(link: str, url: str) -> None:
    site = "<link>https://site.example/blog/</link>"

    entry = feed(rss(f"<item><link>{link}</link></item>", site=site)).entries[0]

    assert (entry.url, entry.base_url) == (url, url)


def test_xml_base_counts_in_rss_too() -> None:
    document = rss('<item xml:base="/y/"><link>post</link><description>d</description></item>')

    entry = feed(document.replace("<rss ", '<rss xml:base="https://a.example/x/" ')).entries[0]

    assert (entry.url, entry.base_url) == ("https://a.example/y/post", "https://a.example/y/")


def test_an_entry_without_a_url_is_relative_to_the_document() -> None:
    assert feed("<rss><channel><item><title>t</title></item></channel></rss>").entries[0].base_url == ADDRESS
