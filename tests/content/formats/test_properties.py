"""Any document is parsed or refused, always with the same result."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.formats.documents import ADDRESS, atom, feed, rdf, rss
from tidings.content.errors import FeedError
from tidings.content.formats import parse_feed
from tidings.content.model import ParsedFeed

ITEMS = "".join(
    f"<item><title>Number {n}</title><link>https://site.example/{n}</link><guid>tag:{n}</guid>"
    f"<description>Text &amp;lt;b&amp;gt; &lt;p&gt;of {n}</description>"
    f'<pubDate>Mon, 02 Jan 2006 15:04:0{n} GMT</pubDate><enclosure url="/{n}.mp3" length="{n}"/></item>\n'
    for n in range(8)
)
ENTRIES = "".join(
    f'<entry><title type="html">Number {n}</title><link href="/{n}"/><id>urn:{n}</id>'
    f'<updated>2006-01-0{n + 1}</updated><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Text<br/></p></div></content></entry>\n'
    for n in range(8)
)
DOCUMENTS = {"item": [rss(ITEMS), rdf("<title>News</title>", ITEMS)], "entry": [atom(ENTRIES)]}
ALL = [(name, document) for name, documents in DOCUMENTS.items() for document in documents]

PIECES = st.sampled_from(
    ["<", ">", "&", "</", "/>", "<!--", "-->", "<![CDATA[", "]]>", "<?", "?>", "<!DOCTYPE", "<rss", "<rss>", "</rss>",
     "<channel>", "<item>", "</item>", "<feed>", "<entry>", "</entry>", "<title>", "</title>", "<link>", "<x:y>",
     ' xml:base="', ' xmlns="', ' type="xhtml"', "&amp;", "&#0;", "&#x110000;", "&nbsp;", "http://[", "//", "\0",
     "\ufeff", "\ud7ff\ue000", "{", '"items":[', "}", " ", "a"]
)  # fmt: skip


def summary(found: ParsedFeed) -> list[tuple[str, str, str]]:
    return [(entry.hash, entry.title, entry.content) for entry in found.entries]


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with suppress(FeedError):
        parse_feed(body, url=ADDRESS)


@pytest.mark.slow
@given(
    st.lists(PIECES, max_size=40).map("".join), st.sampled_from(["", "<rss>", "<feed>", "<rss><channel><item>", "{"])
)
def test_any_pieces_are_read_or_refused(noise: str, start: str) -> None:
    with suppress(FeedError):
        feed(start + noise)


@pytest.mark.slow
@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_document_url_is_accepted(address: str) -> None:
    found = parse_feed(rss(ITEMS, site="").encode(), url=address)

    assert len(found.entries) == 8


@pytest.mark.slow
@given(st.sampled_from(ALL), st.integers(0, 10_000), st.lists(PIECES, max_size=3).map("".join), st.integers(0, 20))
def test_items_before_the_damage_are_kept(kind: tuple[str, str], place: int, noise: str, lost: int) -> None:
    name, document = kind
    place = document.index(f"<{name}>") + place % (len(document) - document.index(f"<{name}>"))
    whole = document[:place].count(f"</{name}>")

    damaged = feed(document[:place] + noise + document[place + lost :])

    assert summary(damaged)[:whole] == summary(feed(document))[:whole]


@pytest.mark.slow
@given(st.sampled_from(ALL), st.integers(0, 10_000))
def test_a_document_cut_off_keeps_exactly_its_whole_items(kind: tuple[str, str], place: int) -> None:
    name, document = kind
    place = document.index(f"<{name}>") + place % (len(document) - document.index(f"<{name}>"))

    cut = feed(document[:place])

    assert summary(cut) == summary(feed(document))[: document[:place].count(f"</{name}>")]


@given(st.sampled_from(ALL), st.sampled_from(["utf-8", "utf-16", "utf-32", "iso-8859-1", "cp1252"]))
def test_the_encoding_changes_nothing(kind: tuple[str, str], codec: str) -> None:
    _, document = kind

    assert summary(feed(document.encode(codec))) == summary(feed(document))
