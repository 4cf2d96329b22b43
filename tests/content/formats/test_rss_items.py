"""RSS items, and which of several elements with the same meaning is read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from content.formats.documents import feed, item, rss
from tidings.base.times import Instant, from_datetime
from tidings.content.model import ParsedEnclosure

LINK = "<link>https://site.example/a</link>"


def instant(text: str) -> Instant:
    return from_datetime(datetime.fromisoformat(text).replace(tzinfo=UTC))


# Elements from the strongest to the weakest, each with what it would make of the field.
URL = [
    ("<feedburner:origLink>https://site.example/orig</feedburner:origLink>", "https://site.example/orig"),
    ("<link>https://site.example/link</link>", "https://site.example/link"),
    ('<atom:link href="https://site.example/atom"/>', "https://site.example/atom"),
    ("<guid>https://site.example/guid</guid>", "https://site.example/guid"),
    ('<enclosure url="https://site.example/file.mp3"/>', "https://site.example/file.mp3"),
    ("<title>nothing else</title>", "https://site.example/"),
]
TITLE = [
    ("<dc:title>dc</dc:title>", "dc"),
    ("<title>plain</title>", "plain"),
    ("<itunes:title>itunes</itunes:title>", "itunes"),
    ("<media:title>media</media:title>", "media"),
    ("<description>&lt;p&gt;First words.&lt;/p&gt;</description>", "First words."),
    (LINK, "https://site.example/a"),
]
CONTENT = [
    ("<content:encoded>encoded</content:encoded>", "encoded"),
    ("<description>description</description>", "description"),
    ("<googleplay:description>google</googleplay:description>", "google"),
    ("<itunes:summary>summary</itunes:summary>", "summary"),
    ("<itunes:subtitle>subtitle</itunes:subtitle>", "subtitle"),
    ("<media:description>media</media:description>", "media"),
]
AUTHOR = [
    ("<googleplay:author>Google</googleplay:author>", "Google"),
    ("<itunes:author>Itunes</itunes:author>", "Itunes"),
    ("<dc:creator>First</dc:creator><dc:creator>Last</dc:creator>", "First, Last"),
    ("<atom:author><atom:name>Atom</atom:name><atom:email>a@b.example</atom:email></atom:author>", "Atom"),
    ("<author>mail@b.example (<b>Plain</b>)</author>", "mail@b.example (Plain)"),
    ("<dc:contributor>Helper</dc:contributor>", "Helper"),
    (LINK, "Editor"),
]
PUBLISHED = [
    ("<dc:date>2006-01-01T00:00:00Z</dc:date>", "2006-01-01"),
    ("<pubDate>Mon, 02 Jan 2006 00:00:00 GMT</pubDate>", "2006-01-02"),
    ("<atom:published>2006-01-03T00:00:00Z</atom:published>", "2006-01-03"),
    ("<dcterms:issued>2006-01-04</dcterms:issued>", "2006-01-04"),
    ("<atom:updated>2006-01-05T00:00:00Z</atom:updated>", "2006-01-05"),
    ("<updated>2006-01-06T00:00:00Z</updated>", "2006-01-06"),
]


@pytest.mark.parametrize("index", range(len(URL)))
def test_the_url_is_read_from_the_preferred_element(index: int) -> None:
    assert item("".join(source for source, _ in reversed(URL[index:]))).url == URL[index][1]


@pytest.mark.parametrize("index", range(len(TITLE)))
def test_the_title_is_read_from_the_preferred_element(index: int) -> None:
    assert item("".join(source for source, _ in reversed(TITLE[index:]))).title == TITLE[index][1]


@pytest.mark.parametrize("index", range(len(CONTENT)))
def test_the_content_is_read_from_the_preferred_element(index: int) -> None:
    assert item("".join(source for source, _ in reversed(CONTENT[index:]))).content == CONTENT[index][1]


@pytest.mark.parametrize("index", range(len(AUTHOR)))
def test_the_author_is_read_from_the_preferred_element(index: int) -> None:
    sources = "".join(source for source, _ in reversed(AUTHOR[index:]))

    assert item(sources, channel="<managingEditor>Editor</managingEditor>").author == AUTHOR[index][1]


@pytest.mark.parametrize("index", range(len(PUBLISHED)))
def test_the_date_is_read_from_the_preferred_element(index: int) -> None:
    sources = "".join(source for source, _ in reversed(PUBLISHED[index:]))

    assert item(sources).published_at == instant(PUBLISHED[index][1])


def test_an_unreadable_date_is_skipped_for_the_next_one() -> None:
    inside = "<dc:date>soon</dc:date><pubDate>Mon, 02 Jan 2006 00:00:00 GMT</pubDate>"

    assert item(inside).published_at == instant("2006-01-02")
    assert item("<title>no date at all</title>").published_at is None


@pytest.mark.parametrize(
    ("channel", "author"),
    [
        ("<itunes:author>A</itunes:author><googleplay:author>B</googleplay:author>", "A"),
        ("<googleplay:author>B</googleplay:author><managingEditor>C</managingEditor>", "B"),
        ("<itunes:owner><itunes:name>O</itunes:name><itunes:email>o@b.example</itunes:email></itunes:owner>", "O"),
        ("<itunes:owner><itunes:email>o@b.example</itunes:email></itunes:owner>", "o@b.example"),
        ("<managingEditor>C</managingEditor><webMaster>D</webMaster>", "C"),
        ("<webMaster>D</webMaster>", "D"),
    ],
)
def test_an_item_without_an_author_has_that_of_the_channel(channel: str, author: str) -> None:
    assert item(LINK, channel).author == author


def test_of_repeated_elements_the_last_with_text_counts() -> None:
    inside = "<title>one</title><title>two</title><title> </title><link>https://a.example/</link><link>https://b.example/</link>"

    assert (item(inside).title, item(inside).url) == ("two", "https://b.example/")


@pytest.mark.parametrize(
    ("guid", "url"),
    [
        ("<guid>https://site.example/g</guid>", "https://site.example/g"),
        ('<guid isPermaLink="true">/g</guid>', "https://site.example/g"),
        ('<guid isPermaLink="false">https://site.example/g</guid>', "https://site.example/"),
        ("<guid>12345</guid>", "https://site.example/"),
    ],
)
def test_a_guid_is_a_url_if_declared_or_if_it_looks_like_one(guid: str, url: str) -> None:
    assert item(guid).url == url


@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "data:text/html,x", "mailto:a@b.example", "https://", "http:///x"]
)
def test_a_url_that_is_not_of_a_page_is_not_used(link: str) -> None:
    entry = feed(rss(f"<item><title>t</title><link>{link}</link></item>", site="")).entries[0]

    assert entry.url == "https://news.example/feeds/main.xml"


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("  two\n  lines ", "two lines"),
        ("a<b>c</b>d", "acd"),
        ("a<!-- note -->b", "ab"),
        ("<![CDATA[Q&A]]>", "Q&A"),
        ("<![CDATA[<![CDATA[Q&A]]>]]>", "Q&A"),
        ("&lt;![CDATA[ Q&amp;A ]]&gt;", "Q&A"),
        ("&lt;![CDATA[Q&amp;A", "Q&A"),
        ("&lt;![CDATA[Rain]]&gt; and &lt;![CDATA[sun]]&gt;", "Rain and sun"),
        ("What &lt;![CDATA[ is", "What <![CDATA[ is"),
        ("Tom &amp; Ann", "Tom & Ann"),
        ("Tom &amp;amp; Ann", "Tom & Ann"),
        ("Tom &amp;amp;amp; Ann", "Tom & Ann"),
        ("&lt;em&gt;Loud&lt;/em&gt; news", "Loud news"),
        ("&lt;a href=x&gt;a &lt;i&gt;b&lt;/i&gt;&lt;/a&gt;&lt;br/&gt;", "a b"),
        ("Why &lt;table&gt; is not &lt;grid&gt;", "Why <table> is not <grid>"),
        ("1 &lt; 2 and 3 > 2", "1 < 2 and 3 > 2"),
    ],
)
def test_titles_are_plain_text(written: str, title: str) -> None:
    assert item(f"<title>{written}</title>").title == title


def test_a_long_text_makes_a_short_title() -> None:
    entry = item(f"<description>{'word ' * 100}</description>")

    assert len(entry.title) <= 101
    assert entry.title.endswith("word…")


@pytest.mark.parametrize(
    ("inside", "url"),
    [
        ("<comments> https://site.example/talk </comments>", "https://site.example/talk"),
        ("<comments>/talk</comments>", ""),
        ('<atom:link rel="replies" type="text/html" href="https://site.example/r"/>', "https://site.example/r"),
        ('<atom:link rel="replies" type="application/atom+xml" href="https://site.example/r"/>', ""),
    ],
)
def test_comments_are_where_people_answer(inside: str, url: str) -> None:
    assert item(f"{LINK}{inside}").comments_url == url


def test_tags_are_trimmed_unique_and_sorted() -> None:
    inside = (
        "<category> b </category><category>a</category><category>b</category><category/>"
        '<media:category label="m">x</media:category><dc:subject>s</dc:subject>'
        "<itunes:keywords>k, a</itunes:keywords>"
    )

    assert item(inside).tags == ("a", "b", "k", "m", "s")


@pytest.mark.parametrize(
    ("channel", "tags"),
    [
        ("<category>c</category>", ("c",)),
        ('<itunes:category text="Arts"><itunes:category text="Books"/></itunes:category>', ("Arts", "Books")),
        ('<googleplay:category text="News"/>', ("News",)),
    ],
)
def test_an_item_without_tags_has_those_of_the_channel(channel: str, tags: tuple[str, ...]) -> None:
    assert item(LINK, channel).tags == tags
    assert item(f"{LINK}<category>own</category>", channel).tags == ("own",)


@pytest.mark.parametrize(
    ("written", "minutes"),
    [
        ("90", 1),
        ("3600", 60),
        ("12:30", 12),
        ("1:02:03", 62),
        (" 5:00 ", 5),
        ("3723.5", 62),
        ("01:02:03.500", 62),
        ("01:02:03,500", 62),
        ("PT1H2M3S", 62),
        ("pt62m", 62),
        ("P1DT2H", 1560),
        ("1h 2m 3s", 62),
        ("1 hour, 2 minutes", 62),
        ("62 min", 62),
        ("100:00:00", 6000),
        # No recording is that long: milliseconds, a date, a mistake.
        ("100:00:01", 0),
        ("3723500", 0),
        ("9" * 30, 0),
        ("P", 0),
        ("", 0),
        ("soon", 0),
        ("1:2:3:4", 0),
        ("-5", 0),
    ],
)
def test_the_duration_of_an_episode_counts_whole_minutes(written: str, minutes: int) -> None:
    assert item(f"{LINK}<itunes:duration>{written}</itunes:duration>").duration_minutes == minutes


def test_enclosures_are_in_order_and_unique() -> None:
    inside = """
        <media:peerLink href="https://f.example/torrent" type="application/x-bittorrent"/>
        <media:content url="https://f.example/b.jpg" medium="image" fileSize="12"/>
        <media:group>
            <media:content url="https://f.example/c.mp4" type="video/mp4"/>
            <media:thumbnail url="https://f.example/t2.jpg"/>
        </media:group>
        <media:content url="https://f.example/a.mp3" type="audio/mpeg"/>
        <media:content url="https://f.example/d"><media:thumbnail url="https://f.example/t3.jpg"/></media:content>
        <enclosure url="https://f.example/a.mp3" length="123" type="audio/mpeg"/>
        <enclosure url="/rel.mp3" length="unknown"/><enclosure url=""/>
        <link rel="enclosure" href="https://f.example/e.ogg" type="audio/ogg" length="7"/>
        <media:thumbnail url="https://f.example/t1.jpg"/>
    """

    assert item(inside).enclosures == (
        ParsedEnclosure("https://f.example/t1.jpg", "image/*"),
        ParsedEnclosure("https://f.example/t2.jpg", "image/*"),
        ParsedEnclosure("https://f.example/t3.jpg", "image/*"),
        ParsedEnclosure("https://f.example/a.mp3", "audio/mpeg", 123),
        ParsedEnclosure("https://site.example/rel.mp3"),
        ParsedEnclosure("https://f.example/e.ogg", "audio/ogg", 7),
        ParsedEnclosure("https://f.example/b.jpg", "image/*", 12),
        ParsedEnclosure("https://f.example/d", "application/octet-stream"),
        ParsedEnclosure("https://f.example/c.mp4", "video/mp4"),
        ParsedEnclosure("https://f.example/torrent", "application/x-bittorrent"),
    )


def test_pictures_chapters_and_transcripts_of_an_episode_are_enclosures() -> None:
    inside = """
        <itunes:image href="https://f.example/cover.jpg"/>
        <podcast:chapters url="https://f.example/c.json" type="application/json+chapters"/>
        <podcast:transcript url="https://f.example/t.vtt" type="text/vtt"/>
    """

    assert [(each.url, each.mime_type) for each in item(inside).enclosures] == [
        ("https://f.example/cover.jpg", "image/*"),
        ("https://f.example/c.json", "application/json+chapters"),
        ("https://f.example/t.vtt", "text/vtt"),
    ]


def test_the_url_of_feedburner_is_replaced_by_that_of_the_file() -> None:
    inside = (
        "<feedburner:origEnclosureLink>https://f.example/show/one.mp3</feedburner:origEnclosureLink>"
        '<enclosure url="https://feeds.example/~r/x/one.mp3"/><enclosure url="https://feeds.example/~r/x/two.mp3"/>'
    )

    assert [each.url for each in item(inside).enclosures] == [
        "https://f.example/show/one.mp3",
        "https://feeds.example/~r/x/two.mp3",
    ]


@pytest.mark.parametrize(
    "written",
    [
        "<![CDATA[<![CDATA[<p>x</p>]]>]]>",
        "<![CDATA[ <![CDATA[<p>x</p>]]>]]>",
        "&lt;![CDATA[&lt;p&gt;x&lt;/p&gt;]]&gt;",
        "&lt;![CDATA[&lt;p&gt;x&lt;/p&gt;",
    ],
)
def test_a_section_that_is_escaped_or_nested_is_content(written: str) -> None:
    assert item(f"<description>{written}</description>").content == "<p>x</p>"


def test_markup_that_is_not_escaped_is_kept_as_html() -> None:
    inside = "<description>one <p class='x'>two<br/></p> three &lt; four</description>"

    assert item(inside).content == 'one <p class="x">two<br></p> three &lt; four'


def test_elements_that_only_a_later_item_has_are_read() -> None:
    said = """
        <dc:date>2006-01-02T15:04:05Z</dc:date><dc:creator>Ann</dc:creator><comments>https://site.example/c</comments>
        <content:encoded>Whole</content:encoded><enclosure url="https://f.example/one.mp3"/>
        <media:group><media:category label="Sea"/><media:thumbnail url="https://f.example/one.jpg"/></media:group>
    """
    plain = "<item><title>One</title><guid>1</guid></item>"

    first, later = feed(rss(f"{plain}<item><title>Two</title><guid>2</guid>{said}</item>")).entries

    assert (first.content, first.author, first.tags, first.published_at) == ("", "", (), None)
    assert later == item(f"<title>Two</title><guid>2</guid>{said}")
    assert (later.content, later.author, later.tags, len(later.enclosures)) == ("Whole", "Ann", ("Sea",), 2)
