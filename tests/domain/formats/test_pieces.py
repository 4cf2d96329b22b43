"""Documents cut into the texts of their entries: what is left out changes nothing about what is read of the rest."""

from __future__ import annotations

import pytest

from corpus.archives import members, needs
from domain.formats.documents import ADDRESS, atom, rdf, rss
from tidings.domain.errors import FeedError
from tidings.domain.formats import parse
from tidings.domain.formats.pieces import MOST_PIECES, Cut, Known, cut, packed, remembered

ITEMS = [f"<item><guid>{n}</guid><title>Item {n}</title></item>" for n in range(4)]
ENTRIES = [f"<entry><id>{n}</id><title>Entry {n}</title></entry>" for n in range(4)]


def cut_(document: str | bytes, **said: str) -> Cut | None:
    body = document.encode() if isinstance(document, str) else document
    return cut(body, **{"url": ADDRESS, "charset": ""} | said)


def known(document: Cut) -> dict[bytes, Known]:
    return {piece.digest: Known.of(bytes([n]) * 32, bytes([n]) * 16) for n, piece in enumerate(document.pieces)}


def titles(body: bytes | None) -> list[str]:
    assert body is not None
    return [entry.title for entry in parse(body, url=ADDRESS).entries]


@pytest.mark.parametrize(
    ("document", "name"),
    [(rss("".join(ITEMS)), "Item"), (rdf("", "\n".join(ITEMS)), "Item"), (atom("".join(ENTRIES)), "Entry")],
)
def test_what_is_left_out_is_not_read(document: str, name: str) -> None:
    found = cut_(document)
    assert found is not None
    first, second, third, fourth = (piece.digest for piece in found.pieces)

    assert titles(found.without({first, third})) == [f"{name} 1", f"{name} 3"]
    assert titles(found.without({second, fourth})) == [f"{name} 0", f"{name} 2"]
    assert titles(found.without({first, second, third, fourth})) == []
    assert found.without(()) == document.encode()


@pytest.mark.parametrize(
    "document",
    [
        rss(),
        rss('<item rdf:about="x"/>'),
        rss("<item><guid>1</guid></item >"),
        rss("<rss:item><guid>1</guid></rss:item>"),
        rss("<item><guid>1</guid>"),
        rss(ITEMS[0] + ITEMS[1] + ITEMS[0]),
        rss(f"<item><description><![CDATA[ {ITEMS[1]} ]]></description></item>"),
        rss(ITEMS[0]) + "x" * 5_000,
        rss("<!--" * 10_000 + ITEMS[0]),
        rss("<description>" + "x" * 70_000 + "</description>" + ITEMS[0]),
        rss("".join(f"<item><guid>{n}</guid></item>" for n in range(MOST_PIECES + 1))),
        '{"version": "https://jsonfeed.org/version/1.1", "items": []}',
        "\ufeff" + rss(ITEMS[0]),
        rss(ITEMS[0]).encode("utf-16"),
        rss("<item><title>caf\u00e9</title></item>").encode("latin-1"),
        "",
    ],
)
def test_what_cannot_be_cut_apart_stays_whole(document: str | bytes) -> None:
    assert cut_(document) is None


def test_an_element_of_a_longer_name_is_no_entry() -> None:
    found = cut_(rdf("<items><rdf:Seq/></items>", "".join(ITEMS)))

    assert found is not None
    assert len(found.pieces) == 4


def test_tags_that_are_only_text_are_noticed() -> None:
    tricky = "<item><guid>9</guid><description><![CDATA[ </item> and <item> ]]></description></item>"
    found = cut_(rss(ITEMS[0] + tricky))

    assert found is not None
    assert found.without({found.pieces[0].digest}) is None


def around(document: str, **said: str) -> bytes:
    found = cut_(document, **said)
    assert found is not None
    return found.around


def test_what_entries_have_in_common_tells_documents_apart() -> None:
    one = around(rss(ITEMS[0]))

    assert around(rss(ITEMS[1])) == one
    assert around(rss(ITEMS[0] + "\n" + ITEMS[1] + ITEMS[2])) == one
    assert around(rss(ITEMS[0] + "<ttl>60</ttl>" + ITEMS[1])) != one
    assert around(rss(ITEMS[0], site="<link>https://another.example/</link>")) != one
    assert around(rss(ITEMS[0]).replace("xmlns:dc=", 'xml:base="/x/" xmlns:dc=')) != one
    assert around(rss(ITEMS[0]), url="https://another.example/") != one
    assert around(rss(ITEMS[0]), charset="utf-8") != one


@pytest.mark.parametrize(
    "passing",
    [
        "<lastBuildDate>Sun, 22 Nov 2026 10:00:0{} GMT</lastBuildDate>",
        "<pubDate>{}</pubDate>",
        "<dc:date>{}</dc:date>",
        "<updated>{}</updated>",
        "<!-- made in {} ms -->",
    ],
)
def test_what_a_publisher_writes_anew_each_time_does_not(passing: str) -> None:
    assert around(rss(passing.format(1) + ITEMS[0])) == around(rss(passing.format(2) + ITEMS[0]))


def test_an_entry_in_a_comment_is_another_document() -> None:
    assert around(rss(f"<!--{ITEMS[0]}-->{ITEMS[1]}")) != around(rss(f"{ITEMS[0]}{ITEMS[1]}"))


def test_what_was_read_is_remembered() -> None:
    document = cut_(rss("".join(ITEMS)))
    later = cut_(rss("".join(ITEMS[1:])))
    assert document is not None
    assert later is not None
    all_known = known(document)
    some = dict(list(all_known.items())[1:])

    assert remembered(packed(document, all_known), document) == all_known
    assert remembered(packed(document, some), document) == some


def test_of_what_was_cut_off_the_whole_lines_count() -> None:
    document = cut_(rss("".join(ITEMS)))
    assert document is not None
    kept = packed(document, known(document))

    assert list(remembered(kept[:-1], document).items()) == list(known(document).items())[:-1]


@pytest.mark.parametrize("kept", [None, b"", b"\1", b"\1" + bytes(16), b"\0" * 65])
def test_what_is_not_of_this_form_is_nothing(kept: bytes | None) -> None:
    document = cut_(rss("".join(ITEMS)))
    assert document is not None

    assert remembered(kept, document) == {}


def test_a_fingerprint_is_known_by_its_beginning() -> None:
    one = Known.of(bytes(32), b"0123456789abcdef")

    assert one.is_that_of(b"0123456789abcdef")
    assert not one.is_that_of(b"x123456789abcdef")
    assert not one.is_that_of(None)


@needs("feeds-real")
def test_of_real_feeds_each_half_is_read_as_in_the_whole() -> None:
    looked_at = 0
    for name, body in members("feeds-real"):
        document = cut(body, url=ADDRESS, charset="")
        if document is None:
            continue
        try:
            whole = parse(body, url=ADDRESS)
        except FeedError:
            continue
        if not whole.is_plain or whole.skipped or len(whole.entries) != len(document.pieces):
            continue
        looked_at += 1
        for half in (0, 1):
            rest = document.without({piece.digest for piece in document.pieces[half::2]})
            assert rest is not None, name
            read = parse(rest, url=ADDRESS)
            assert (read.entries, read.title, read.hints) == (whole.entries[1 - half :: 2], whole.title, whole.hints), (
                name
            )
    # Of 200: the others have entries that are known by more than themselves, or are not in UTF-8, or damaged.
    assert looked_at > 100
