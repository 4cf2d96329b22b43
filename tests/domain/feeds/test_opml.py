"""Reading and writing OPML, without a database."""

from __future__ import annotations

import contextlib
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.archives import members
from support.corpora import needs
from tidings.domain.errors import InvalidInput
from tidings.domain.feeds import opml, opml_settings
from tidings.domain.feeds.feeds import EditedFeedField, Feed
from tidings.domain.times import Instant

NOW = Instant(1_795_250_409_000_000)


def document(body: str, *, prolog: str = '<?xml version="1.0"?>', attributes: str = 'version="2.0"') -> bytes:
    return f"{prolog}<opml {attributes}><head/><body>{body}</body></opml>".encode()


def only(body: str, **more: str) -> opml.OpmlSubscription:
    found = opml.read(document(body, **more)).subscriptions
    assert len(found) == 1
    return found[0]


def urls(found: opml.OpmlDocument) -> list[str]:
    return [one.values["feed_url"] for one in found.subscriptions]


def test_folders_become_a_path() -> None:
    nested = (
        '<outline text="Tech"><outline title="Python" text="x"><outline xmlUrl="http://a/"/></outline></outline>'
        '<outline text="News"><outline xmlUrl="http://b/"/></outline><outline xmlUrl="http://c/"/>'
    )

    found = opml.read(document(nested)).subscriptions

    assert [one.category for one in found] == ["Tech / Python", "News", ""]


def test_a_nameless_folder_adds_nothing_to_the_path() -> None:
    assert only('<outline text="A"><outline><outline xmlUrl="http://a/"/></outline></outline>').category == "A"


def test_a_feed_with_children_is_a_feed_and_a_folder() -> None:
    found = opml.read(document('<outline text="A" xmlUrl="http://a/"><outline xmlUrl="http://b/"/></outline>'))

    assert [(one.values["feed_url"], one.category) for one in found.subscriptions] == [
        ("http://a/", ""),
        ("http://b/", "A"),
    ]


@pytest.mark.parametrize(
    ("attributes", "title"),
    [
        ('title="T" text="t" htmlUrl="http://h/"', "T"),
        ('title=" " text="t" htmlUrl="http://h/"', "t"),
        ('htmlUrl="http://h/"', "http://h/"),
        ("", "http://a/"),
    ],
)
def test_the_title_is_title_then_text_then_a_url(attributes: str, title: str) -> None:
    assert only(f'<outline {attributes} xmlUrl="http://a/"/>').values["title"] == title


def test_a_title_in_the_document_counts_as_edited_by_the_user() -> None:
    assert only('<outline text="Mine" xmlUrl="http://a/"/>').values["edited"] == EditedFeedField.TITLE
    assert only('<outline xmlUrl="http://a/"/>').values["edited"] == 0


@pytest.mark.parametrize(("html_url", "site_url"), [("http://h/", "http://h/"), ("", "http://a/"), ("h", "http://a/")])
def test_the_site_is_html_url_or_the_feed(html_url: str, site_url: str) -> None:
    assert only(f'<outline htmlUrl="{html_url}" xmlUrl="http://a/"/>').values["site_url"] == site_url


@pytest.mark.parametrize(
    "url", ["ftp://a/", "feed:javascript:alert(1)", "javascript:alert(1)", "http://a b/", "http://", "x"]
)
def test_a_url_that_cannot_be_used_is_reported_with_its_line(url: str) -> None:
    found = opml.read(document(f'\n<outline text="Bad" xmlUrl="{url}"/>\n<outline xmlUrl="http://good/"/>'))

    assert urls(found) == ["http://good/"]
    assert [(problem.line, problem.name) for problem in found.unusable] == [(2, "Bad")]
    assert "xmlUrl" in found.unusable[0].reason.english()


@pytest.mark.parametrize(
    ("written", "url"),
    [
        (" http://a/ ", "http://a/"),
        ("feed:http://a/", "http://a/"),
        ("feed://https://a/", "https://a/"),
        ("feed://a/rss", "https://a/rss"),
    ],
)
def test_blanks_and_the_feed_scheme_before_a_url_are_removed(written: str, url: str) -> None:
    assert only(f'<outline xmlUrl="{written}"/>').values["feed_url"] == url


def test_lines_are_counted_from_the_top_of_the_file() -> None:
    found = opml.read(document('\n\n<outline xmlUrl="x"/>', prolog="<?xml version='1.0'?>\n<!-- made\nby hand -->\n"))

    assert found.unusable[0].line == 6


def test_outlines_without_url_and_children_are_ignored() -> None:
    found = opml.read(document('<outline text="a"/><outline xmlUrl="  "/><outline xmlurl="http://a/"/>'))

    assert found == opml.OpmlDocument([], [], [])


def test_a_feed_without_url_is_reported() -> None:
    assert len(opml.read(document('<outline type="rss" text="lost"/>')).unusable) == 1


def test_credentials_move_out_of_the_url() -> None:
    values = only('<outline xmlUrl="http://me:p%40ss@a/feed"/>').values

    assert (values["feed_url"], values["username"], values["password"]) == ("http://a/feed", "me", "p@ss")


@pytest.mark.parametrize(
    "attributes",
    [
        'version="2.0" xmlns:miniflux="https://miniflux.app/opml"',
        'version="2.0"',  # a prefix that nobody declared
        f'version="2.0" xmlns:miniflux="{opml_settings.OWN_NAMESPACE}"',
    ],
)
def test_settings_are_known_by_their_local_name(attributes: str) -> None:
    outline = '<outline xmlUrl="http://a/" miniflux:crawler="true" miniflux:userAgent="X" ignoreHTTPCache="1"/>'

    values = only(outline, attributes=attributes).values

    assert (values["crawler"], values["user_agent"], values["ignore_http_cache"]) == (True, "X", True)


@pytest.mark.parametrize("setting", ['crawler="perhaps"', 'keeplistRules="("', 'urlRewriteRules="nonsense"'])
def test_a_setting_that_cannot_be_read_is_left_out_and_reported(setting: str) -> None:
    found = opml.read(document(f'<outline text="A" xmlUrl="http://a/" disabled="true" {setting}/>'))

    assert found.subscriptions[0].values["disabled"] is True
    assert not {"crawler", "keeplist_rules", "urlrewrite_rules"} & found.subscriptions[0].values.keys()
    assert len(found.ignored_settings) == 1
    assert found.unusable == []


def test_stray_ampersands_and_html_entities_are_read() -> None:
    values = only('<outline text="Caf&eacute; & Bar &amp; &nbsp;&unknown;" xmlUrl="http://a/?x=1&y=2"/>').values

    assert values["title"] == "Café & Bar & \xa0&unknown;"
    assert values["feed_url"] == "http://a/?x=1&y=2"


def test_unescaped_markup_in_a_description_is_read() -> None:
    outlines = '<outline text="x + y < 12" description="<b>bold</b>" xmlUrl="http://a/"/><outline xmlUrl="http://b/"/>'

    found = opml.read(document(outlines))

    assert found.subscriptions[0].values["description"] == "<b>bold</b>"
    assert urls(found) == ["http://a/", "http://b/"]


def test_entities_are_never_resolved(tmp_path_factory: pytest.TempPathFactory) -> None:
    secret = tmp_path_factory.mktemp("opml") / "secret"
    secret.write_text("secret")
    prolog = f'<!DOCTYPE opml [<!ENTITY a "b"><!ENTITY x SYSTEM "{secret.as_uri()}">]>'

    values = only('<outline text="&a;&x;" xmlUrl="http://a/"/>', prolog=prolog).values

    assert values["title"] == "&a;&x;"


def test_an_entity_expansion_bomb_is_harmless() -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 100}">' for n in range(1, 10))
    prolog = f'<!DOCTYPE opml [<!ENTITY e0 "boom">{entities}]>'

    assert only('<outline text="&e9;" xmlUrl="http://a/"/>', prolog=prolog).values["title"] == "&e9;"


@pytest.mark.parametrize("encoding", ["iso-8859-1", "windows-1252", "utf-16", "utf-8-sig"])
def test_a_declared_encoding_is_read(encoding: str) -> None:
    declared = encoding.removesuffix("-sig")
    text = (
        f'<?xml version="1.0" encoding="{declared}"?><opml><body><outline text="Zoë" xmlUrl="http://a/"/></body></opml>'
    )

    assert opml.read(text.encode(encoding)).subscriptions[0].values["title"] == "Zoë"


@pytest.mark.parametrize(
    "source", ["<opml/>", "<opml version='1.0'></opml>", "<opml><body/></opml>", "<x:opml></x:opml>"]
)
def test_a_document_without_outlines_is_empty(source: str) -> None:
    assert urls(opml.read(source.encode())) == []


@pytest.mark.parametrize(
    "source",
    [
        "",
        " \n",
        "hello",
        "{}",
        "<rss/>",
        "<html><opml/></html>",
        "<!-- <opml/> -->",
        "<opml><body>",
        '<opml><body><outline xmlUrl="http://a/"/></body>',
        '<opml><body><outline xmlUrl="http://a/"',
        "<opml",
        "\0\0",
    ],
)
def test_an_incomplete_or_other_document_is_refused(source: str) -> None:
    with pytest.raises(InvalidInput):
        opml.read(source.encode())


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("\n\n{}", "Line 3: this is no OPML document, there is no <opml> element."),
        ("<?xml version='1.0'?>\n<rss/>", "Line 2: this is no OPML document, it begins with <rss> instead of <opml>."),
        ("<opml>\n<body>\n<outline xmlUrl='http://a/'/>\n\n", "Line 3: the document breaks off before its end"),
        (
            "<!-- made\nby hand --><opml>\n<outline xmlUrl=http://a/ /><outline xmlUrl='http://b/'/></opml>",
            "Line 3: this OPML document cannot be read: AttValue: \" or ' expected.",
        ),
    ],
)
def test_a_refusal_names_line_and_reason(source: str, message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        opml.read(source.encode())

    assert str(refused.value).startswith(message)


def test_a_missing_close_tag_inside_costs_no_feed() -> None:
    found = opml.read(document('<outline text="A"><outline xmlUrl="http://a/"/><outline xmlUrl="http://b/"/>'))

    assert urls(found) == ["http://a/", "http://b/"]


@pytest.mark.parametrize("opening", ["<!--", "<!DOCTYPE x [", "<outline ", "<?x", '<a b="'])
def test_a_hostile_document_is_refused_quickly(opening: str) -> None:
    with pytest.raises(InvalidInput):
        opml.read(b"<opml>" + opening.encode() * 200_000 if opening == "<outline " else opening.encode() * 200_000)


def test_more_feeds_than_one_transaction_should_hold_are_refused_before_they_are_parsed() -> None:
    # A parser would complain of the end.
    with pytest.raises(InvalidInput, match="several parts"):
        opml.read(b"<opml>" + b"<outline xmlUrl='http://a/'/>" * (opml.MAX_FEEDS + 1))


def test_folders_too_deep_for_one_name_are_reported() -> None:
    found = opml.read(document(f'<outline text="{"é" * 1500}"><outline xmlUrl="http://a/"/></outline>'))

    assert len(found.unusable) == 1
    assert found.subscriptions == []


@needs("opml")
def test_every_document_of_the_corpus_is_read_or_refused_with_a_message() -> None:
    refused = []
    for name, source in members("opml"):
        if not name.endswith(("opml", "xml")):
            continue
        try:
            opml.read(source)
        except InvalidInput:
            refused.append(name)

    assert refused == ["errors/missingOpml.opml", "rss/twittergram.xml"]


@needs("opml")
@pytest.mark.parametrize(
    ("name", "feeds", "unusable"),
    [
        ("clean/subscriptionList.opml", 13, 0),
        ("errors/notwellformed.opml", 1, 0),
        ("errors/closedbody.opml", 1, 0),
        ("errors/subscriptionListErrors1.opml", 3, 2),
    ],
)
def test_the_feeds_of_the_corpus_are_found(name: str, feeds: int, unusable: int) -> None:
    found = opml.read(dict(members("opml"))[name])

    assert (len(found.subscriptions), len(found.unusable)) == (feeds, unusable)


LETTERS = st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff")
TEXTS = st.text(LETTERS, min_size=1, max_size=40).map(str.strip).filter(bool)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "crawler": st.booleans(),
        "disabled": st.booleans(),
        "hide_globally": st.booleans(),
        "disable_http2": st.booleans(),
        "user_agent": TEXTS,
        "check_interval_minutes": st.integers(5, 43_200),
        "scraper_rules": st.just("article > p"),
        "rewrite_rules": st.just('replace("a"|"<b>")'),
        "block_filter_entry_rules": st.just("EntryTitle=a\nEntryURL=b&c"),
    },
)


def stored(number: int, title: str, description: str, settings: dict[str, Any]) -> Feed:
    address = f"https://example.org/{number}?a=1&b=2"
    return Feed(number, 1, 1, address, title, NOW, NOW, site_url=address, description=description, edited=1, **settings)


@given(
    st.lists(st.tuples(TEXTS, st.lists(st.tuples(TEXTS, TEXTS, SETTINGS), min_size=1, max_size=3)), max_size=3),
)
def test_an_export_is_imported_unchanged(folders: list[tuple[str, list[tuple[str, str, dict[str, Any]]]]]) -> None:
    numbered = [
        (title, [stored(100 * place + number, *one) for number, one in enumerate(feeds)])
        for place, (title, feeds) in enumerate(folders)
    ]

    found = opml.read(opml.write(numbered, created_at=NOW))

    back = [(one.category, one.values) for one in found.subscriptions]
    fields = ("feed_url", "title", "site_url", "description", "edited", *opml_settings.SETTINGS.values())
    blank = msgspec.structs.asdict(stored(0, "", "", {}))
    assert [(category, {name: values.get(name, blank[name]) for name in fields}) for category, values in back] == [
        (category, {name: getattr(feed, name) for name in fields}) for category, feeds in numbered for feed in feeds
    ]
    assert found.unusable == found.ignored_settings == []


def test_an_export_has_its_date_and_no_default_settings() -> None:
    written = opml.write(
        [("Empty", []), ("Full", [stored(1, "A\x00B", "", {"crawler": True, "keep_read_days": 9})])], created_at=NOW
    ).decode()

    assert "<dateCreated>Sat, 21 Nov 2026 08:40:09 UTC</dateCreated>" in written
    assert "Empty" not in written
    # What Miniflux knows is in its namespace.
    assert re.findall(r' \w+:\w+="[^:"]*"', written) == [' miniflux:crawler="true"', ' tidings:keepReadDays="9"']
    assert 'xmlns:miniflux="https://miniflux.app/opml"' in written
    assert 'title="AB" text="AB"' in written
    assert "description" not in written


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused_as_invalid_input(source: bytes) -> None:
    for body in (source, b"<opml>" + source + b"</opml>", document(source.decode("latin-1"))):
        with contextlib.suppress(InvalidInput):
            assert isinstance(opml.read(body), opml.OpmlDocument)


@pytest.mark.parametrize("text", ["soon", "-5", "3", "43201", "1e3", "", "٣٠", "9" * 30])
def test_an_invalid_interval_is_left_out_and_reported(text: str) -> None:
    found = opml.read(document(f'<outline xmlUrl="http://a/" checkIntervalMinutes="{text}"/>'))

    assert "check_interval_minutes" not in found.subscriptions[0].values
    assert len(found.ignored_settings) == 1
    assert "checkIntervalMinutes was left out" in found.ignored_settings[0].reason.english()
