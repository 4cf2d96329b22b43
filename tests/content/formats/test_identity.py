"""Hashes that identify entries."""

from __future__ import annotations

from hashlib import sha256

import pytest

from content.formats.documents import atom, feed, item, rdf, rss


def hash_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("inside", "identity"),
    [
        ("<guid> tag:1 </guid><link>https://site.example/1</link>", "tag:1"),
        ("<guid>https://site.example/1?a=1&amp;utm_source=feed</guid>", "https://site.example/1?a=1"),
        ("<link> /1 </link><title>t</title>", "/1"),
        ('<atom:link href="/2"/>', "/2"),
        (
            "<link>https://a.example/</link><feedburner:origLink>https://b.example/</feedburner:origLink>",
            "https://b.example/",
        ),
        ("<guid> </guid><link>/1</link>", "/1"),
        ("<title>t</title><description>d</description>", "td"),
    ],
)
def test_an_rss_item_is_known_by_guid_link_or_text(inside: str, identity: str) -> None:
    assert item(inside).hash == hash_of(identity)


def test_an_atom_entry_is_known_by_its_id_else_its_link() -> None:
    one, two = feed(atom('<entry><id>urn:1</id></entry><entry><link href="/2"/></entry>')).entries

    assert (one.hash, two.hash) == (hash_of("urn:1"), hash_of("/2"))


def test_an_rss_1_0_item_is_known_by_its_link_else_its_text() -> None:
    items = (
        '<item rdf:about="https://a.example/"><link> https://site.example/1 </link></item>'
        "<item><title>t</title><description>d</description></item>"
    )

    one, two = feed(rdf(items=items)).entries

    assert (one.hash, two.hash) == (hash_of("https://site.example/1"), hash_of("td"))


@pytest.mark.parametrize(
    ("fields", "identity"),
    [
        ('"id": " 1 ", "url": "https://a.example/"', "1"),
        ('"url": "https://a.example/", "external_url": "https://b.example/"', "https://a.example/"),
        ('"external_url": "https://b.example/"', "https://b.example/"),
        ('"content_text": "t", "content_html": "h", "summary": "s"', "ths"),
    ],
)
def test_a_json_item_is_known_by_the_first_that_it_has(fields: str, identity: str) -> None:
    found = feed(f'{{"version": "https://jsonfeed.org/version/1", "items": [{{{fields}}}]}}')

    assert found.entries[0].hash == hash_of(identity)


def test_entries_that_share_a_guid_are_distinguished_by_their_urls() -> None:
    items = "".join(f"<item><guid>same</guid><link>https://site.example/{n}</link></item>" for n in (1, 2, 3))

    found = feed(rss(items))

    assert [entry.hash for entry in found.entries] == [
        hash_of("same|https://site.example/1"),
        hash_of("same|https://site.example/2"),
        hash_of("same|https://site.example/3"),
    ]
    assert [found.other_hashes[entry.hash] for entry in found.entries] == [
        (hash_of("same"), hash_of(f"same|https://site.example/{n}|")) for n in (1, 2, 3)
    ]


def test_entries_that_share_guid_and_url_are_distinguished_by_their_texts() -> None:
    link = "<guid>same</guid><link>https://site.example/</link>"
    items = "".join(f"<item>{link}<title>{title}</title></item>" for title in ("a", "b", "b", "c"))

    found = feed(rss(items))

    assert [entry.title for entry in found.entries] == ["a", "b", "c"]
    assert found.entries[0].hash == hash_of("same|https://site.example/|a")


@pytest.mark.parametrize(
    ("guid", "others"),
    [
        ("https://site.example/1", ["http://site.example/1"]),
        ("http://site.example/1", ["https://site.example/1"]),
        (
            " http://site.example/1?utm_source=a ",
            [
                " http://site.example/1?utm_source=a ",
                "http://site.example/1?utm_source=a",
                "https://site.example/1",
            ],
        ),
        ("tag:1", []),
    ],
)
def test_an_entry_may_be_stored_under_another_spelling_of_its_guid(guid: str, others: list[str]) -> None:
    (entry,) = (found := feed(rss(f"<item><guid>{guid}</guid><title>t</title></item>"))).entries
    key = guid.strip().removesuffix("?utm_source=a")
    once_shared = [f"{key}|{entry.url}", f"{guid}|{entry.url}"]

    assert entry.hash == hash_of(key)
    assert found.other_hashes[entry.hash] == tuple(map(hash_of, dict.fromkeys(others + once_shared)))


@pytest.mark.parametrize(
    ("link", "others"),
    [
        ("https://site.example/1", ["http://site.example/1", "https://site.example/1|t"]),
        (
            "http://site.example/1?utm_source=a",
            [
                "http://site.example/1?utm_source=a",
                "https://site.example/1",
                "http://site.example/1|t",
                "http://site.example/1?utm_source=a|t",
            ],
        ),
        ("/1", ["/1|t"]),
    ],
)
def test_an_entry_without_a_guid_may_be_stored_under_another_spelling_of_its_link(link: str, others: list[str]) -> None:
    (entry,) = (found := feed(rss(f"<item><link>{link}</link><title>t</title></item>"))).entries

    assert entry.hash == hash_of(link.removesuffix("?utm_source=a"))
    assert found.other_hashes[entry.hash] == tuple(map(hash_of, others))


def test_a_link_that_all_items_share_does_not_make_them_one() -> None:
    titles = ["one", "two", "three"]
    items = [f"<item><link>https://site.example/</link><title>{title}</title></item>" for title in titles]

    now, later = feed(rss("".join(items[1:]))), feed(rss("".join(items)))

    assert [entry.title for entry in later.entries] == titles
    assert [entry.hash for entry in later.entries[1:]] == [entry.hash for entry in now.entries]


def test_a_text_shared_by_several_items_is_combined_with_the_date() -> None:
    items = "".join(f"<item><title>Again</title><pubDate>2006-01-0{day}</pubDate></item>" for day in (1, 2, 2))

    assert len(feed(rss(items)).entries) == 2


@pytest.mark.parametrize(
    "document",
    [
        atom("<entry><title>a</title></entry><entry><title>b</title></entry><entry><updated>2006</updated></entry>"),
        '{"items": [{"title": "a"}, {"title": "b"}, {"date_published": "2006"}]}',
        rss("<item><title>a</title></item><item><title>b</title></item><item><pubDate>2006</pubDate></item>"),
    ],
)
def test_entries_without_id_and_link_do_not_collapse(document: str) -> None:
    assert len({entry.hash for entry in feed(document).entries}) == 3


def test_an_entry_that_is_repeated_unchanged_is_kept_once() -> None:
    found = feed(rss("<item><guid>1</guid><title>new</title></item>" * 3))

    assert [(entry.title, entry.hash) for entry in found.entries] == [("new", hash_of("1"))]


def test_empty_items_are_skipped_and_counted() -> None:
    found = feed(rss("<item/><item> </item><item><title/></item><item><title>t</title></item>"))

    assert (len(found.entries), found.skipped) == (1, 3)
