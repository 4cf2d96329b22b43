"""Documents without what their feed has already: what is stored is what whole documents would have brought."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, func, select, update

from domain.formats.documents import ADDRESS, rss
from domain.formats.test_properties import PIECES
from support.house import House
from support.publisher import Publisher
from tidings.domain.errors import FeedError
from tidings.domain.feeds import ParsedFeed
from tidings.domain.formats import parse
from tidings.domain.formats.pieces import cut, remembered
from tidings.domain.ingestion import fingerprint
from tidings.domain.times import Instant
from tidings.net.fetch import FetchResponse
from tidings.services import intake
from tidings.services.shortening import Shortened
from tidings.storage import sources, tombstones
from tidings.storage.database import Database
from tidings.storage.schema import entries, entry_contents, feeds, source_pieces
from tidings.storage.schema import tombstones as tombstone_table
from tidings.storage.tombstones import Doomed

NOW = Instant(1_800_000_000_000_000)


@pytest.fixture
def house(database: Database, database_url: str, tmp_path: Path) -> House:
    return House(database, database_url, tmp_path)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many entries each document had that was read."""
    counts: list[int] = []
    real = intake.parse

    def parse_and_count(response: FetchResponse, now: Instant) -> ParsedFeed:
        found = real(response, now)
        counts.append(len(found.entries))
        return found

    monkeypatch.setattr(intake, "parse", parse_and_count)
    return counts


def item(name: object, says: str = "") -> str:
    return f"<item><guid>{name}</guid><title>Item {name}</title><description>{says or name}</description></item>"


def serve(site: Publisher, *items: str, head: str = "", path: str = "/feed.xml") -> str:
    return site.serve(path, f"<rss><channel><title>News</title>{head}{''.join(items)}</channel></rss>".encode())


def polled(house: House) -> None:
    house.due_again()
    checked = house.poll()
    assert checked
    assert [one.error for one in checked.values() if one.error] == []


def contents(house: House, feed_id: int) -> list[tuple[str, str, str]]:
    wanted = select(entries.c.title, entries.c.url, entry_contents.c.content)
    joined = wanted.join(entry_contents, entry_contents.c.entry_id == entries.c.id)
    with house.database.reading() as db:
        return sorted(db.tuples(joined.where(entries.c.feed_id == feed_id)))


# What is read, and what is stored


def test_only_what_is_new_is_read(house: House, site: Publisher, read: list[int]) -> None:
    date = "<lastBuildDate>Sun, 22 Nov 2026 0{}:00:00 GMT</lastBuildDate>"
    feed_id = house.subscribe(house.user("alice"), serve(site, *map(item, range(1, 6)), head=date.format(1)))
    polled(house)
    serve(site, item(7), item(6), *map(item, range(1, 5)), head=date.format(2))
    polled(house)
    serve(site, *map(item, range(1, 5)), head=date.format(3))
    polled(house)

    assert read == [5, 2, 0]
    assert house.titles(feed_id) == [f"Item {n}" for n in range(1, 8)]


def test_what_has_changed_is_read_and_written(house: House, site: Publisher, read: list[int]) -> None:
    feed_id = house.subscribe(house.user("alice"), serve(site, item(1), item(2), item(3)))
    polled(house)
    serve(site, item(1), item(2, "corrected"), item(3))
    polled(house)
    serve(site, item(1), item(2, "corrected"), item(3), item(4))
    polled(house)

    assert read == [3, 1, 1]
    assert [content for _, _, content in contents(house, feed_id)] == ["1", "corrected", "3", "4"]


def test_another_head_is_another_document(house: House, site: Publisher, read: list[int]) -> None:
    user = house.user("alice")
    feed_id = house.subscribe(user, serve(site, item(1), item(2)))
    polled(house)
    serve(site, item(1), item(2), head="<category>Weather</category>")
    polled(house)

    assert read == [2, 2]
    assert {one.title for one in tagged(house, user.id, "weather")} == {"Item 1", "Item 2"}
    assert len(house.titles(feed_id)) == 2


def tagged(house: House, user_id: int, tag: str) -> list[Any]:
    with house.database.reading() as db:
        found = db.tuples(select(entries.c.title, entries.c.tags).where(entries.c.user_id == user_id))
    return [one for one in found if tag in one.tags.lower()]


def test_what_a_feed_lacks_is_read_again(house: House, site: Publisher, read: list[int]) -> None:
    """Stored otherwise than it was read, or not at all: whatever the reason, the document has it."""
    feed_id = house.subscribe(house.user("alice"), serve(site, *map(item, range(4))))
    polled(house)
    with house.database.writing() as db:
        db.run(update(entries).where(entries.c.title == "Item 1").values(fingerprint=b"another", title="Lost"))
        db.run(update(entries).where(entries.c.title == "Item 2").values(fingerprint=None, title="Lost too"))
        db.run(delete(entries).where(entries.c.title == "Item 3"))
    serve(site, *map(item, range(5)))
    polled(house)

    assert read == [4, 4]
    assert house.titles(feed_id) == [f"Item {n}" for n in range(5)]


def test_what_was_deleted_stays_away_and_counts_as_seen(house: House, site: Publisher, read: list[int]) -> None:
    user = house.user("alice")
    feed_id = house.subscribe(user, serve(site, item(1), item(2)))
    polled(house)
    with house.database.writing() as db:
        ((id_, status),) = db.tuples(select(entries.c.id, entries.c.status).where(entries.c.title == "Item 1"))
        tombstones.bury(db, user.id, [Doomed(id_, feed_id, status)], now=Instant(1))
    serve(site, item(1), item(2), item(3))
    polled(house)

    assert read == [2, 1]
    assert house.titles(feed_id) == ["Item 2", "Item 3"]
    with house.database.reading() as db:
        assert int(db.scalar(select(tombstone_table.c.seen_at))) > 1


def test_who_subscribes_later_gets_everything(house: House, site: Publisher, read: list[int]) -> None:
    url = serve(site, item(1), item(2))
    first = house.subscribe(house.user("alice"), url)
    polled(house)
    second = house.subscribe(house.user("bob"), url)
    serve(site, item(1), item(2), item(3))
    polled(house)
    serve(site, item(1), item(2), item(3), item(4))
    polled(house)

    assert read == [2, 3, 4], "what several feeds show is read whole"
    assert house.titles(first) == house.titles(second) == ["Item 1", "Item 2", "Item 3", "Item 4"]


def test_what_a_rule_keeps_out_is_looked_at_again(house: House, site: Publisher, read: list[int]) -> None:
    user = house.user("alice")
    feed_id = house.subscribe(user, serve(site, item(1), item(2)), block_filter_entry_rules="EntryTitle=(?i)item 1")
    polled(house)
    house.services.feeds.update(user.id, feed_id, {"block_filter_entry_rules": ""})
    serve(site, item(1), item(2), item(3))
    polled(house)

    assert read == [2, 2]
    assert house.titles(feed_id) == ["Item 1", "Item 2", "Item 3"]


def test_a_change_that_a_rule_keeps_out_is_looked_at_again(house: House, site: Publisher, read: list[int]) -> None:
    user = house.user("alice")
    feed_id = house.subscribe(user, serve(site, item(1)), block_filter_entry_rules="EntryContent=secret")
    polled(house)
    serve(site, item(1, "secret"))
    polled(house)
    house.services.feeds.update(user.id, feed_id, {"block_filter_entry_rules": ""})
    serve(site, item(1, "secret"), item(2))
    polled(house)

    assert [content for _, _, content in contents(house, feed_id)] == ["secret", "2"]


def test_a_feed_whose_habits_are_not_known_is_read_whole(house: House, site: Publisher, read: list[int]) -> None:
    house.subscribe(house.user("alice"), serve(site, item(1)))
    polled(house)
    with house.database.writing() as db:
        db.run(update(feeds).values(news_gap_s=0, news_at=None))
    serve(site, item(1), item(2))
    polled(house)

    assert read == [1, 2]


@pytest.mark.parametrize("choice", ["ignore_entry_updates", "match_entries_by_url", "crawler"])
def test_who_sees_to_entries_in_another_way_reads_them_all(
    choice: str, house: House, site: Publisher, read: list[int]
) -> None:
    house.subscribe(house.user("alice"), serve(site, item(1), item(2)), **{choice: True})
    polled(house)
    serve(site, item(1), item(2), item(3))
    polled(house)

    assert max(read) == 3


def test_an_id_that_comes_again_is_told_from_the_first(house: House, site: Publisher, read: list[int]) -> None:
    feed_id = house.subscribe(house.user("alice"), serve(site, item(1), item(2)))
    polled(house)
    twin = "<item><guid>2</guid><title>Twin</title><link>https://twin.example/</link></item>"
    serve(site, item(1), item(2), twin)
    polled(house)

    assert read == [2, 1, 3], "the short way led nowhere"
    assert house.titles(feed_id) == ["Item 1", "Item 2", "Twin"]


def test_documents_are_stored_where_the_short_way_is_barred(
    house: House, site: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("out of order")

    monkeypatch.setattr("tidings.services.answers.shortened", fail)
    feed_id = house.subscribe(house.user("alice"), serve(site, item(1)))
    polled(house)

    assert house.titles(feed_id) == ["Item 1"]


def test_what_is_remembered_goes_with_the_source(house: House, site: Publisher) -> None:
    user = house.user("alice")
    feed_id = house.subscribe(user, serve(site, item(1)))
    polled(house)
    assert remembered_sources(house) == 1

    house.services.feeds.delete(user.id, feed_id)

    assert remembered_sources(house) == 0


def remembered_sources(house: House) -> int:
    with house.database.reading() as db:
        return int(db.scalar(select(func.count()).select_from(source_pieces)))


# Whatever a publisher does


@pytest.mark.parametrize("seed", range(4))
def test_it_comes_to_the_same_as_whole_documents(seed: int, house: House, site: Publisher) -> None:
    chance = random.Random(seed)
    user = house.user("alice")
    short, whole = (house.subscribe(user, serve(site, path=path)) for path in ("/short.xml", "/whole.xml"))
    texts: dict[int, str] = {}
    for day in range(12):
        texts = altered(texts, chance)
        for path in ("/short.xml", "/whole.xml"):
            serve(site, *texts.values(), path=path, head=f"<ttl>{chance.randint(1, 2) if day == 6 else 1}</ttl>")
        with house.database.writing() as db:
            db.run(delete(source_pieces).where(source_pieces.c.source_id.in_(sources_of(house, whole))))
        polled(house)
        assert told(contents(house, short)) == told(contents(house, whole))


def told(stored: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Where an entry has no address of its own, it has its document's."""
    return [(title, url.replace("/short.xml", "/whole.xml"), content) for title, url, content in stored]


def sources_of(house: House, feed_id: int) -> list[int]:
    with house.database.reading() as db:
        return sources.of_feeds(db, [feed_id])


def altered(texts: Mapping[int, str], chance: random.Random) -> dict[int, str]:
    """Some more, some fewer, some others, some of them odd."""
    oddities = ["", "<link>https://site.example/same</link>", "<guid>again</guid>", "<![CDATA[ </item><item> ]]>"]
    kept = {n: text for n, text in texts.items() if chance.random() < 0.9}
    for n in list(kept):
        if chance.random() < 0.1:
            kept[n] = item(n, f"changed {chance.random()}")
    for _ in range(chance.randint(0, 3)):
        n = chance.randrange(1_000)
        kept[n] = item(n, chance.choice(oddities) if chance.random() < 0.3 else "")
    return dict(sorted(kept.items(), key=lambda _: chance.random()) if chance.random() < 0.2 else kept.items())


# Entries that are told apart in all the ways there are, and one that is none.
KINDS = [
    "<item><guid>{0}</guid><title>Item {0}</title></item>",
    "<item><guid>{0}</guid><title>Item {0}, corrected</title></item>",
    "<item><guid>{0}</guid><link>https://site.example/{0}</link><title>Item {0}</title></item>",
    "<item><link>https://site.example/{0}</link><title>Item {0}</title></item>",
    "<item><link>https://site.example/</link><title>Item {0}</title></item>",
    "<item><title>Item {0}</title></item>",
    "<item><title>Item</title><pubDate>Mon, {0} Jan 2006 15:04:05 GMT</pubDate></item>",
    "<item> </item>",
]
# Most are as most publishers write them: only then is there a short way.
ITEMS = st.lists(
    st.builds(str.format, st.sampled_from(KINDS[:1] * 20 + KINDS), st.integers(1, 1_000)), min_size=1, max_size=4
)
NOISE: st.SearchStrategy[list[tuple[int, str]]] = st.one_of(
    st.just([]), st.lists(st.tuples(st.integers(0, 400), PIECES), max_size=2)
)


def document(items: list[str], noise: list[tuple[int, str]]) -> bytes:
    text = "".join(items)
    for place, piece in noise:
        text = text[:place] + piece + text[place:]
    return rss(text).encode()


def is_read_as_in_the_whole(before: bytes, after: bytes) -> bool:
    """Whether what the short way makes of a document is what the whole one says. False where there is none."""
    former, latter = (cut(body, url=ADDRESS, charset="") for body in (before, after))
    if former is None or latter is None:
        return False
    try:
        first = parse(before, url=ADDRESS, now=NOW)
    except FeedError:
        return False
    kept = Shortened(former).to_remember(first, {bytes.fromhex(e.hash): fingerprint(e) for e in first.entries})
    texts = {piece.digest for piece in latter.pieces}
    known = {digest: one for digest, one in remembered(kept, latter).items() if digest in texts}
    answer = FetchResponse(url=ADDRESS, status=200, body=after)
    read = Shortened(latter, known).read(answer, NOW) if known else None
    if read is None:
        return False
    whole = {entry.hash: entry for entry in parse(after, url=ADDRESS, now=NOW).entries}
    assert {entry.hash: entry for entry in read.entries}.items() <= whole.items()
    assert {one.hash.hex(): True for one in known.values()} == {
        hash_: one.is_that_of(fingerprint(whole[hash_])) for one in known.values() for hash_ in [one.hash.hex()]
    }
    assert len(read.entries) + len(known) == len(whole)
    return True


@settings(deadline=None, max_examples=500)
@given(ITEMS, ITEMS, ITEMS, NOISE, NOISE)
def test_whatever_stands_in_documents_the_short_way_leads_to_the_same(
    before: list[str], both: list[str], after: list[str], noise: list[tuple[int, str]], more: list[tuple[int, str]]
) -> None:
    is_read_as_in_the_whole(document(before + both, noise), document(after + both, more))


def test_the_short_way_is_taken() -> None:
    first, second, third = (KINDS[0].format(number) for number in range(3))

    assert is_read_as_in_the_whole(document([first, second], []), document([third, second], []))
