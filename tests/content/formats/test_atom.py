"""Atom 1.0 and 0.3."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from content.formats.documents import ADDRESS, atom, atom03, entry, feed
from tidings.base.times import from_datetime
from tidings.content.model import FeedFormat, ParsedEnclosure

XHTML = 'xmlns="http://www.w3.org/1999/xhtml"'


def test_the_feed_describes_itself() -> None:
    found = feed(
        atom(
            """
            <subtitle type="html">All the &lt;b&gt;news&lt;/b&gt;</subtitle><icon>/icon.png</icon><logo>/logo.png</logo>
            <link rel="self" href="/atom"/><link rel="hub" href="https://hub.example/"/>
            """
        )
    )

    assert (found.format, found.title, found.site_url) == (FeedFormat.ATOM, "News", "https://site.example/")
    assert (found.description, found.icon_url) == ("All the news", "https://news.example/icon.png")
    assert (found.self_url, found.hubs) == ("https://news.example/atom", ("https://hub.example/",))


@pytest.mark.parametrize(
    ("links", "url"),
    [
        ('<link href="https://a.example/"/>', "https://a.example/"),
        ('<link rel="alternate" type="application/pdf" href="https://a.example/"/>', "https://a.example/"),
        ('<link type="text/html" href="https://a.example/"/>', "https://a.example/"),
        ('<link type="image/png" href="https://a.example/"/><id>https://i.example/</id>', "https://i.example/"),
        ('<link rel="self" href="https://a.example/"/><id>https://i.example/</id>', "https://i.example/"),
        ('<link href="https://a.example/"/><link rel="alternate" href="https://b.example/"/>', "https://a.example/"),
        ('<link href="/relative"/>', "https://site.example/relative"),
        ("<link>https://a.example/</link>", "https://a.example/"),
        ('<link href="javascript:alert(1)"/><id>https://i.example/</id>', "https://i.example/"),
        ('<content src="https://c.example/" type="text/html"/><id>urn:1</id>', "https://c.example/"),
        ("<id>https://i.example/#one two</id>", "https://i.example/#one%20two"),
        ("<id>urn:1</id>", "https://site.example/"),
    ],
)
def test_the_url_is_the_page_of_the_entry(links: str, url: str) -> None:
    assert entry(links).url == url


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("<title>1 &lt; 2 &amp; 3</title>", "1 < 2 & 3"),
        ('<title type="text">Use &lt;b&gt; here</title>', "Use <b> here"),
        ('<title type="html">A &lt;b&gt;bold&lt;/b&gt; &amp;amp; plain</title>', "A bold & plain"),
        (f'<title type="xhtml"><div {XHTML}>A <b>bold</b> title</div></title>', "A bold title"),
        ("<media:title>media</media:title>", "media"),
        ('<title/><content type="html">&lt;p&gt;Text&lt;/p&gt;</content>', "Text"),
        ('<title/><link href="https://a.example/"/>', "https://a.example/"),
    ],
)
def test_titles_are_plain_text(written: str, title: str) -> None:
    assert entry(written).title == title


@pytest.mark.parametrize(
    ("written", "content"),
    [
        # RFC 4287, sections 3.1.1 and 4.1.3.3.
        ("<content>1 &lt; 2</content>", "1 &lt; 2"),
        ('<content type="text">&lt;b&gt;</content>', "&lt;b&gt;"),
        ('<content type="text/plain">a &amp; b</content>', "a &amp; b"),
        ('<content type="html">&lt;b&gt;x&lt;/b&gt;</content>', "<b>x</b>"),
        ('<content type="HTML"><![CDATA[<b>x</b>]]></content>', "<b>x</b>"),
        ('<content type="html">&lt;![CDATA[&lt;b&gt;x&lt;/b&gt;]]&gt;</content>', "<b>x</b>"),
        ('<content type="text/html; charset=utf-8">&lt;i&gt;</content>', "<i>"),
        (f'<content type="xhtml"><div {XHTML}>a <b>c</b><br/></div></content>', "a <b>c</b><br>"),
        (f'<content type="xhtml"><div {XHTML}>1 &lt; 2</div></content>', "1 &lt; 2"),
        (
            '<content type="xhtml"><h:div xmlns:h="http://www.w3.org/1999/xhtml"><h:p>a</h:p></h:div></content>',
            "<p>a</p>",
        ),
        (f'<content type="application/xhtml+xml"><p {XHTML}>a</p></content>', "<p>a</p>"),
        ('<content type="image/svg+xml"><svg xmlns="http://www.w3.org/2000/svg"/></content>', "<svg></svg>"),
        ('<content type="application/octet-stream">PGI+eDwvYj4=</content>', "<b>x</b>"),
        ('<content type="image/png">iVBORw0KGgo=</content>', ""),
        ('<content src="https://c.example/" type="text/html"/><summary>s</summary>', "s"),
        # Which element.
        ("<summary>s</summary><content>c</content>", "c"),
        ("<summary>s</summary><content> </content>", "s"),
        ("<media:group><media:description>m &lt;\nn</media:description></media:group>", "m &lt;<br>n"),
    ],
)
def test_content_becomes_html_by_its_type(written: str, content: str) -> None:
    assert entry(f"<id>urn:1</id>{written}").content == content


@pytest.mark.parametrize(
    ("around", "inside", "author"),
    [
        ("", "<author><name>B</name></author><author><name>A</name></author>", "A, B"),
        ("", "<author><name>A</name></author><author><name>A</name></author>", "A"),
        ("", "<author><email>a@b.example</email></author>", "a@b.example"),
        ("<author><name>Feed</name></author>", "<author><name>Own</name></author>", "Own"),
        ("<author><name>Feed</name></author>", "", "Feed"),
        ("<author><name>Feed</name></author>", "<source><author><name>S</name></author></source>", "S"),
        ("", "<contributor><name>C</name></contributor>", "C"),
        ("", "<author><name>A</name></author><contributor><name>C</name></contributor>", "A"),
        ("", "<dc:creator>D</dc:creator>", "D"),
    ],
)
def test_authors_are_joined_and_fall_back(around: str, inside: str, author: str) -> None:
    assert entry(f"<id>urn:1</id>{inside}", around).author == author


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("<updated>2006-01-03T00:00:00Z</updated><published>2006-01-02T00:00:00Z</published>", "2006-01-02"),
        ("<updated>2006-01-03T00:00:00Z</updated>", "2006-01-03"),
        ("<published>soon</published><updated>2006-01-03T00:00:00Z</updated>", "2006-01-03"),
        ("<published>0001-01-01T00:00:00Z</published><updated>2006-01-03T00:00:00Z</updated>", "2006-01-03"),
    ],
)
def test_the_date_is_that_of_publishing_else_of_updating(written: str, day: str) -> None:
    assert entry(f"<id>urn:1</id>{written}").published_at == from_datetime(
        datetime.fromisoformat(day).replace(tzinfo=UTC)
    )


def test_tags_are_labels_else_terms_and_fall_back_to_the_feed() -> None:
    around = '<category term="feed"/>'

    assert entry('<id>1</id><category term="b"/><category term="x" label="a"/>', around).tags == ("a", "b")
    assert entry("<id>1</id>", around).tags == ("feed",)


@pytest.mark.parametrize(
    ("link", "url"),
    [
        ('<link rel="replies" type="text/html" href="https://a.example/r"/>', "https://a.example/r"),
        ('<link rel="replies" type="application/xhtml+xml" href="https://a.example/r"/>', "https://a.example/r"),
        ('<link rel="replies" type="application/atom+xml" href="https://a.example/r"/>', ""),
        ('<link rel="replies" type="text/html" href="/r"/>', ""),
    ],
)
def test_comments_are_where_people_answer(link: str, url: str) -> None:
    assert entry(f"<id>1</id>{link}").comments_url == url


def test_enclosures_are_in_order_and_unique() -> None:
    inside = """
        <id>1</id>
        <media:content url="https://f.example/b.mp4" type="video/mp4"/>
        <link rel="enclosure" href="/a.mp3" type="audio/mpeg" length="7"/>
        <link rel="enclosure" href="https://f.example/b.mp4"/>
        <media:thumbnail url="https://f.example/t.jpg"/>
    """

    assert entry(inside).enclosures == (
        ParsedEnclosure("https://f.example/t.jpg", "image/*"),
        ParsedEnclosure("https://site.example/a.mp3", "audio/mpeg", 7),
        ParsedEnclosure("https://f.example/b.mp4"),
    )


@pytest.mark.parametrize(
    ("written", "language"),
    [
        ("<entry><id>1</id></entry>", "en"),
        ('<entry xml:lang="de_AT"><id>1</id></entry>', "de-at"),
        ('<entry xml:lang="de"><id>1</id><content xml:lang="fr">x</content></entry>', "fr"),
    ],
)
def test_the_language_is_that_of_the_nearest_element(written: str, language: str) -> None:
    assert feed(atom(written).replace("<feed ", '<feed xml:lang="EN" ')).entries[0].language == language


@pytest.mark.parametrize(
    ("written", "content"),
    [
        ('<content mode="escaped" type="text/html">&lt;b&gt;x&lt;/b&gt;</content>', "<b>x</b>"),
        ('<content mode="base64" type="text/html">PGI+eDwvYj4=</content>', "<b>x</b>"),
        (f'<content mode="xml" type="application/xhtml+xml"><div {XHTML}><b>x</b></div></content>', "<b>x</b>"),
        (f'<content type="application/xhtml+xml"><div {XHTML}><b>x</b></div></content>', "<b>x</b>"),
        ('<content mode="escaped" type="text/plain">1 &lt; 2</content>', "1 &lt; 2"),
    ],
)
def test_the_mode_of_atom_0_3_content_is_honoured(written: str, content: str) -> None:
    assert feed(atom03(f"<entry><id>1</id>{written}</entry>")).entries[0].content == content


def test_atom_0_3_has_its_own_names_for_dates() -> None:
    dates = "<modified>2006-01-03T00:00:00Z</modified><issued>2006-01-02T00:00:00Z</issued>"

    found = feed(atom03(f"<tagline>About</tagline><entry><id>1</id>{dates}</entry>"))

    assert found.description == "About"
    assert found.entries[0].published_at == from_datetime(datetime(2006, 1, 2, tzinfo=UTC))


def test_a_lone_entry_is_a_feed_of_one() -> None:
    document = '<entry xmlns="http://www.w3.org/2005/Atom"><title>One</title><id>https://site.example/1</id></entry>'

    (only,) = feed(document).entries

    assert (only.title, only.url) == ("One", "https://site.example/1")


def test_a_feed_without_links_is_named_by_its_own_url() -> None:
    found = feed('<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>t</title></entry></feed>')

    assert (found.title, found.site_url, found.entries[0].url) == (ADDRESS, ADDRESS, ADDRESS)
