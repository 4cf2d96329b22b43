"""Documents that are not well-formed, and what is still read from them."""

from __future__ import annotations

import pytest

from content.formats.documents import atom, feed, item, rss
from tidings.content.errors import NotAFeed
from tidings.content.formats import detect_format
from tidings.content.model import FeedFormat

ONE = "<item><title>One</title><link>https://site.example/1</link></item>"
TWO = "<item><title>Two</title><link>https://site.example/2</link></item>"
PLAIN = f"<rss><channel><title>News</title>{ONE}{TWO}</channel></rss>"


def titles(document: str | bytes) -> list[str]:
    return [entry.title for entry in feed(document).entries]


@pytest.mark.parametrize(
    "document",
    [
        PLAIN,
        "\ufeff" + PLAIN,
        "\n\n <?xml version='1.0'?>" + PLAIN,
        "Warning: something in line 3\n<br />" + PLAIN,
        "<!-- note -->" * 200 + PLAIN,
        "<?xml version='1.1'?>" + PLAIN,
        "<?xml version='7.3' encoding='nonsense'?>" + PLAIN,
        "<?xml version='1.0'>" + PLAIN,
        "<!DOCTYPE rss SYSTEM 'https://site.example/rss.dtd'>" + PLAIN,
        PLAIN + "<script>tracker()</script>",
        PLAIN + "and so on",
        PLAIN.replace("<rss>", "<RSS>").replace("</rss>", "</RSS>"),
        PLAIN.upper().replace("ONE", "One").replace("TWO", "Two"),
        PLAIN.replace("<rss>", "<rss xmlns='https://nobody.knows/this'>"),
        PLAIN.replace("<rss>", "<rss xmlns='http://www.w3.org/2005/Atom'>"),
        PLAIN.replace("<rss>", "<r:rss xmlns:r='https://nobody.knows/this'>").replace("</rss>", "</r:rss>"),
        PLAIN.replace("<rss>", "<undeclared:rss>").replace("</rss>", "</undeclared:rss>"),
        PLAIN.removeprefix("<rss>").removesuffix("</rss>"),
        PLAIN.replace("<rss>", "<rss version=2.0 empty checked>"),
        PLAIN.replace("<rss>", "<rss a='1' a='2'>"),
        PLAIN.replace("</title><link>", "<link>"),
        PLAIN.replace("</link></item>", "</item>"),
        PLAIN.replace("</item><item>", "<item>"),
        PLAIN.replace("<title>News</title>", "<title>News"),
        PLAIN.replace("<title>News</title>", "<image><title>News</title>"),
        PLAIN.replace("<title>One</title>", "<title>One</title></nothing>"),
        PLAIN.replace("<title>One</title>", "</channel><title>One</title>"),
        PLAIN.replace("<title>One</title>", "</rss><title>One</title>"),
        PLAIN.replace("</item>", "</ITEM>"),
        PLAIN.replace("<title>", "<title\x00>").replace("News", "\x08N\x1fews"),
        PLAIN.replace("One", "<![CDATA[One]]>"),
        PLAIN.replace("News", "N<!-- unfinished ews"),
        PLAIN.replace("News", "<![CDATA[News"),
        PLAIN.removesuffix("</channel></rss>"),
        PLAIN.removesuffix("</rss>") + "<item><title>Three</title><link>https://si",
        PLAIN.removesuffix("</rss>") + "<item><title>Three</title></it",
    ],
)
def test_both_items_are_read(document: str) -> None:
    assert titles(document) == ["One", "Two"]


@pytest.mark.parametrize(
    "document",
    [
        "<feed><entry><title>One</title></entry></feed>",
        "<feed version='0.3'><entry><title>One</title></entry></feed>",
        "<FEED><ENTRY><TITLE>One</TITLE></ENTRY></FEED>",
        "<a:feed xmlns:a='http://www.w3.org/2005/Atom'><a:entry><a:title>One</a:title></a:entry></a:feed>",
        "<a:feed><a:entry><a:title>One</a:title></a:entry></a:feed>",
        "<feed xmlns='https://www.w3.org/2005/atom/'><entry><title>One</title></entry></feed>",
        "<feed xmlns='https://nobody.knows/this'><entry><title>One</title></entry></feed>",
    ],
)
def test_atom_is_known_by_its_local_names(document: str) -> None:
    assert feed(document).format is FeedFormat.ATOM
    assert titles(document) == ["One"]


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("Tom & Ann", "Tom & Ann"),
        ("Tom &amp Ann", "Tom & Ann"),
        ("Q&A; more", "Q&A; more"),
        ("1 < 2", "1 < 2"),
        ("a <- b <3", "a <- b <3"),
        ("caf&eacute;&nbsp;au lait &hellip;", "café\xa0au lait …"),
        ("&#99999999;&#x0;&#8;ok", "ok"),
        ("a<b>c", "ac"),
        ("a<br>b", "ab"),
    ],
)
def test_text_that_is_not_xml_stays_text(written: str, title: str) -> None:
    # An undeclared prefix makes the parser refuse the document, so that all of it goes through the repair.
    for damage in ("", "<undeclared:x/>"):
        assert item(f"{damage}<title>{written}</title><link>https://site.example/1</link>").title == title


@pytest.mark.parametrize(
    ("written", "content"),
    [
        ("a<br>b<br>c", "a<br>b<br>c"),
        ("<p>a<BR>b</p><p>c</p>", "<p>a<br>b</p><p>c</p>"),
        ("a<img src='https://a.example/1.png'>b<i>c</i>d", 'a<img src="https://a.example/1.png">b<i>c</i>d'),
        ("a<hr>b<br></br>c<br/>d", "a<hr>b<br>c<br>d"),
        ("a" + "<br>" * 500 + "b", "a" + "<br>" * 500 + "b"),
    ],
)
def test_html_that_is_not_escaped_goes_on_after_an_element_without_end_tag(written: str, content: str) -> None:
    found = item(f"<description>{written}</description><category>c</category>")

    assert (found.content.replace("BR>", "br>"), found.tags) == (content, ("c",))


def test_a_character_reference_of_many_digits_is_no_error() -> None:
    number = "1" * 5_000
    item = f"<item><guid>1</guid><title>A &amp;#{number}; b &amp;#{'0' * 5_000}65;</title></item>"

    assert feed(rss(item)).entries[0].title == "A \ufffd b A"


def test_elements_with_impossible_names_keep_their_text() -> None:
    assert item("<description>a <x:1>b</x:1> <ü:>c</description>").content.startswith("a <span>b</span>")


def test_undeclared_prefixes_have_their_usual_meaning() -> None:
    document = (
        "<rss><channel><item><dc:creator>Ann</dc:creator><content:encoded>c</content:encoded>"
        "<itunes:duration>2:00</itunes:duration><media:content url='https://f.example/a'/></item></channel></rss>"
    )

    (entry,) = feed(document).entries

    assert (entry.author, entry.content, entry.duration_minutes) == ("Ann", "c", 2)
    assert entry.enclosures


def test_attributes_without_quotes_are_read() -> None:
    document = (
        "<rss><channel><item><guid isPermaLink=false>1</guid><enclosure url=https://f.example/a.mp3 length=7 /></item>"
    )

    (entry,) = feed(document + "</channel></rss>").entries

    assert [(each.url, each.size) for each in entry.enclosures] == [("https://f.example/a.mp3", 7)]


def test_entities_of_the_document_itself_are_resolved_when_they_are_plain_text() -> None:
    doctype = '<!DOCTYPE rss [<!ENTITY who "Ann &#38; Tom"><!ENTITY file SYSTEM "file:///etc/passwd">]>'

    assert titles(doctype + rss("<item><title>&who;: &file;</title></item>")) == ["Ann & Tom: &file;"]


def test_a_damaged_item_does_not_affect_other_items() -> None:
    damaged = "<item><title>Lost <![CDATA[for ever</title><link>https://site.example/x</link></item>"

    found = feed(rss(f"{ONE}{damaged}{TWO.replace('Two', '<![CDATA[Two]]> & more')}"))

    assert [entry.title for entry in found.entries] == ["One", "Lost for ever", "Two & more"]


def test_an_item_cut_off_is_left_out_and_counted() -> None:
    found = feed(rss(f"{ONE}<item><title>Two</title><guid>2</guid><description>And th")[: -len("</channel></rss>")])

    assert ([entry.title for entry in found.entries], found.skipped) == (["One"], 1)


@pytest.mark.parametrize(
    "document",
    [
        "",
        "   ",
        "\ufeff",
        "Hello",
        "<html><head><title>Page</title></head></html>",
        "<!DOCTYPE html><html><body><p>See &lt;rss&gt;</body></html>",
        '<html><head><link rel="alternate" type="application/rss+xml" href="/rss"></head></html>',
        '<opml version="2.0"><body/></opml>',
        "<urlset/>",
        "<!-- <rss> -->",
        "<?xml version='1.0'?>",
        "%PDF-1.4",
        "\x00\x01\x02",
    ],
)
def test_a_document_without_a_feed_is_refused(document: str) -> None:
    assert detect_format(document.encode()) is None
    with pytest.raises(NotAFeed):
        feed(document)


@pytest.mark.parametrize(
    ("document", "form"),
    [
        (PLAIN, FeedFormat.RSS),
        (atom(), FeedFormat.ATOM),
        ("<rdf:RDF/>", FeedFormat.RDF),
        ("<RDF/>", FeedFormat.RDF),
        (' {"version": "https://jsonfeed.org/version/1"}', FeedFormat.JSON),
        (PLAIN[:40], FeedFormat.RSS),
    ],
)
def test_the_format_is_detected_by_the_first_element(document: str, form: FeedFormat) -> None:
    for codec in ("utf-8", "utf-16", "utf-16-le", "utf-8-sig"):
        assert detect_format(document.encode(codec)) is form
