"""Feeds that change in random ways between checks: what is stored agrees with a whole reading of the last document."""

from __future__ import annotations

import random
from html import escape
from pathlib import Path

import pytest
from sqlalchemy import select, update

from support.polling_fixtures import PollingFixture
from support.publisher import Publisher
from tidings.content.formats import parse_feed
from tidings.engine.database import Database
from tidings.storage.schema import entries

PATH = "/feed.xml"
POLLS = 6

Item = dict[str, str]


def new_item(chance: random.Random, number: int) -> Item:
    return {
        "guid": f"https://site.example/{number}",
        "link": f"https://site.example/{number}",
        "title": f"Entry {number}",
        "description": f"<p>Text {chance.randrange(1000)} &amp; more</p>",
        "spaces": "",
    }


def mutate(chance: random.Random, items: list[Item], number: int) -> list[Item]:
    """Return the next state of the feed: entries come, go, change, move, repeat, and are spelt in another way."""
    found = [dict(item) for item in items]
    for _ in range(chance.randrange(1, 5)):
        kind = chance.randrange(7)
        one = chance.choice(found) if found else None
        if kind == 0 or one is None:
            found.insert(chance.randrange(len(found) + 1), new_item(chance, number))
            number += 100
        elif kind == 1:
            change(found, one, "title", f"{one['title']} (corrected {chance.randrange(1000)})")
        elif kind == 2:
            change(found, one, "description", f"<p>Text {chance.randrange(1000)} <b>again</p>")
        elif kind == 3:
            chance.shuffle(found)
        elif kind == 4 and len(found) > 1:
            found.remove(one)
        elif kind == 5:
            found.insert(chance.randrange(len(found) + 1), dict(one))
        else:
            change(found, one, "spaces", chance.choice(["", " ", "\n\t"]))
    return found


def change(items: list[Item], one: Item, field: str, value: str) -> None:
    """Changes all copies of an item: copies that differ in their text are entries of their own."""
    for item in items:
        if item["guid"] == one["guid"]:
            item[field] = value


def document(chance: random.Random, items: list[Item]) -> bytes:
    written = []
    for item in items:
        fields = [(name, item[name]) for name in ("guid", "link", "title", "description")]
        chance.shuffle(fields)
        inside = "".join(
            f"<{name}>{item['spaces'] if name == 'guid' else ''}{escape(value)}</{name}>" for name, value in fields
        )
        written.append(f"<item>{inside}{chance.choice(['', '<!-- -->', '&', '<br>'])}</item>")
    return f"<rss version='2.0'><channel><title>T</title>{''.join(written)}</channel></rss>".encode()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_what_is_stored_agrees_with_the_last_document(
    database: Database, database_url: str, tmp_path: Path, site: Publisher, seed: int
) -> None:
    chance = random.Random(seed)
    fixture = PollingFixture(database, database_url, tmp_path)
    items = [new_item(chance, number) for number in range(4)]
    feed_id = 0
    ever: set[str] = set()
    read: set[str] = set()
    for number in range(POLLS):
        body = document(chance, items)
        url = site.serve(PATH, body)
        feed_id = feed_id or fixture.subscribe(fixture.user("alice"), url)
        fixture.due_again()
        fixture.poll()

        expected = {one.url: one.title for one in parse_feed(body, url=url).entries}
        columns = select(entries.c.url, entries.c.title, entries.c.status).where(entries.c.feed_id == feed_id)
        with database.reading() as db:
            rows = db.rows(columns)
        ever |= expected.keys()
        stored = {row["url"]: row["title"] for row in rows}
        assert len(rows) == len(stored), "an entry is stored twice"
        assert stored.keys() == ever
        assert {url: stored[url] for url in expected} == expected
        assert {row["url"] for row in rows if row["status"] == 1} == read

        with database.writing() as db:
            db.run(update(entries).where(entries.c.feed_id == feed_id).values(status=1))
        read = set(ever)
        items = mutate(chance, items, 1000 + 10 * number)
