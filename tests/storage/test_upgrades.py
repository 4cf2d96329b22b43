"""A database of any earlier schema is upgraded with its rows, even if the first attempt is killed."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import delete, func, select, text, true, update

from support.every_table import described_tables, fill_described
from tidings import __version__
from tidings.base.text import sort_key
from tidings.base.times import Instant
from tidings.deliveries.store import webhooks
from tidings.deliveries.webhooks import WebhookFields
from tidings.domain.accounts.rights import ALL_RIGHTS
from tidings.domain.entries.entries import EntryStatus
from tidings.engine import full_text
from tidings.engine.columns import CompressedText
from tidings.engine.database import Database
from tidings.maintenance.integrity import IntegrityCheck
from tidings.services.entries.reading_times import ReadingTimes
from tidings.storage import migrate, schema_revision
from tidings.storage.accounts import api_keys
from tidings.storage.entries import search_index
from tidings.storage.schema import enclosures, entries, entry_contents, feeds, sources, users

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
REVISIONS = sorted(path.name.split("_")[0] for path in (schema_revision.MIGRATIONS / "versions").glob("[0-9]*_*.py"))
# Kills itself with the given number of statements of the upgrade executed.
KILLED_UPGRADE = """
import os, sys
from sqlalchemy import event
from tidings.storage import migrate
from tidings.engine.database import Database

left = int(sys.argv[2])
database = Database(sys.argv[1])

@event.listens_for(database.engine, "before_cursor_execute")
def count(*_):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), 9)

migrate.upgrade(database)
"""


@pytest.fixture
def empty(empty_database_url: str) -> Iterator[Database]:
    found = Database(empty_database_url)
    yield found
    found.close()


def fill(database: Database) -> dict[str, int]:
    """Put three rows into each table. Returns the number of rows of each."""
    fill_described(database, 3)
    if {"changes", "list_versions"} <= {table.name for table in described_tables(database)}:
        # A user's version is that of the last change.
        last = "SELECT max(number) FROM changes WHERE changes.user_id = list_versions.user_id"
        with database.writing() as db:
            db.run(text(f"UPDATE list_versions SET number = coalesce(({last}), number)"))
    return counts(database)


def counts(database: Database) -> dict[str, int]:
    with database.reading() as db:
        return {table.name: db.scalar(select(func.count()).select_from(table)) for table in described_tables(database)}


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
@pytest.mark.parametrize(
    "earlier",
    [pytest.param(one, marks=() if one in (REVISIONS[0], REVISIONS[-2]) else pytest.mark.long) for one in REVISIONS],
)
def test_every_earlier_schema_is_upgraded_with_its_rows(empty: Database, earlier: str) -> None:
    migrate.upgrade(empty, earlier)
    before = fill(empty)

    assert migrate.upgrade(empty) == REVISIONS[REVISIONS.index(earlier) + 1 :]

    migrate.check(empty)
    after = counts(empty)
    assert {name: after.get(name) for name in before if name in after} == {
        name: count for name, count in before.items() if name in after
    }
    found = {problem.area for problem in IntegrityCheck(empty).run(repair=False, progress=lambda *_: None)}
    assert not found & {"file", "references"}


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
@pytest.mark.parametrize("statements", [4, pytest.param(6, marks=pytest.mark.long)])
def test_a_killed_upgrade_changes_nothing_and_the_next_one_does_it(empty: Database, statements: int) -> None:
    migrate.upgrade(empty, REVISIONS[0])
    before = fill(empty)
    empty.close()

    url = empty.url.render_as_string(hide_password=False)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_UPGRADE, url, str(statements)], capture_output=True, timeout=120, check=False
    )

    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert counts(empty) == before
    assert migrate.upgrade(empty) == REVISIONS[1:]
    migrate.check(empty)


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_feeds_are_sorted_without_accents_after_the_upgrade(empty: Database) -> None:
    migrate.upgrade(empty, "0038")
    fill(empty)
    with empty.writing() as db:
        db.run(update(feeds).values(title="Ábaco", title_key="ábaco"))

    migrate.upgrade(empty)

    with empty.reading() as db:
        assert set(db.scalars(select(feeds.c.title_key))) == {"abaco"}


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_numbers_in_titles_are_sorted_by_value_after_the_upgrade(empty: Database) -> None:
    migrate.upgrade(empty, "0083")
    fill(empty)
    with empty.writing() as db:
        db.run(update(feeds).values(title="É 007 of 10", title_key="e 007 of 10"))

    migrate.upgrade(empty)

    with empty.reading() as db:
        assert set(db.scalars(select(feeds.c.title_key))) == {sort_key("É 007 of 10")} == {"e 17 of 210"}


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_sources_with_several_feeds_are_marked_by_the_upgrade(empty: Database) -> None:
    migrate.upgrade(empty, "0088")
    fill(empty)
    with empty.writing() as db:
        first, second, third = db.scalars(select(feeds.c.id).order_by(feeds.c.id))
        shared, alone = db.scalars(select(text("id")).select_from(text("sources")).order_by(text("id")).limit(2))
        db.run(update(feeds).where(feeds.c.id.in_([first, second])).values(source_id=shared))
        db.run(update(feeds).where(feeds.c.id == third).values(source_id=alone))

    migrate.upgrade(empty)

    with empty.reading() as db:
        assert db.scalars(select(sources.c.id).where(sources.c.is_shared == true())) == [shared]


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_searches_find_and_forget_what_was_indexed_before_the_upgrade(empty: Database) -> None:
    if not empty.is_sqlite:
        pytest.skip("PostgreSQL's index does not change")
    migrate.upgrade(empty, "0091")
    fill(empty)
    with empty.writing() as db:
        ids = db.scalars(select(entries.c.id).order_by(entries.c.id))
        db.run(update(entries).values(user_id=1))
        for id_, owner, body in zip(ids, ["1", "1de", "1"], ["sun wind", "regen", "rain " * 1000], strict=True):
            words = CompressedText().process_bind_param(f"title{id_}\n{body}", None)
            db.run(
                text(
                    "INSERT INTO search_documents (id, entry_id, user_id, language, words)"
                    " VALUES (:id, :id, 1, :language, :words)"
                ),
                id=id_,
                language=owner[1:],
                words=words,
            )
            db.run(
                text("INSERT INTO entry_words (rowid, title, body) VALUES (:id, :title, :body)"),
                id=id_,
                title=f"{owner}/title{id_}",
                body=" ".join(f"{owner}/{term}" for term in body.split()),
            )

    migrate.upgrade(empty)

    def found(expression: str) -> list[int]:
        with empty.reading() as db:
            return db.scalars(text("SELECT rowid FROM entry_words WHERE entry_words MATCH :query"), query=expression)

    assert found('"1/sun 1/wind"') == found(f'title : "1/title{ids[0]}"') == [ids[0]]
    assert found('body : "1/title1"') == []
    assert (found('"1de/regen"'), found('"1/rain 1/rain"')) == ([ids[1]], [ids[2]])
    with empty.writing() as db:
        db.run(delete(entries))
        assert search_index.remove_deleted(db, limit=100) == 3
        full_text.check_structure(db)
        db.run(text("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, entry_words, row)"))
        assert db.scalars(text("SELECT term FROM temp.vocabulary")) == []
        db.run(text("DROP TABLE temp.vocabulary"))


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_vectors_are_kept_and_shared_after_the_upgrade(empty: Database) -> None:
    if empty.is_sqlite:
        pytest.skip("only PostgreSQL has vectors")
    migrate.upgrade(empty, "0092")
    fill(empty)
    vectors = text("SELECT entry_id, CAST(words AS text) FROM search_vectors ORDER BY entry_id")
    with empty.writing() as db:
        first = db.scalar(select(func.min(sources.c.id)))
        db.run(update(sources).values(is_shared=sources.c.id == first, unshared_after=None))
        before = db.tuples(vectors)

    migrate.upgrade(empty)

    with empty.reading() as db:
        assert db.tuples(vectors) == before
        assert db.scalars(select(sources.c.id).where(sources.c.unshared_after == 0)) == [first]


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_reading_times_of_an_older_formula_are_computed_again_after_the_upgrade(empty: Database) -> None:
    migrate.upgrade(empty, "0041")
    fill(empty)
    with empty.writing() as db:
        db.run(update(users).values(reading_times_after=None, default_reading_speed=100))
        db.run(update(entries).values(reading_time=9, status=int(EntryStatus.READ)))
        db.run(update(entry_contents).values(content="<p>" + "ไทย" * 500 + "</p>"))
        db.run(delete(enclosures))

    migrate.upgrade(empty)

    work = ReadingTimes(empty)
    while work.work():
        pass
    with empty.reading() as db:
        assert set(db.scalars(select(entries.c.reading_time))) == {3}
        assert set(db.scalars(select(users.c.reading_times_after))) == {None}


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_api_keys_keep_their_tokens_and_all_rights_after_the_upgrade(empty: Database) -> None:
    migrate.upgrade(empty, "0062")
    fill(empty)
    with empty.writing() as db:
        tokens = db.scalars(text("SELECT token FROM api_keys ORDER BY id"))
        db.run(text("DELETE FROM api_keys WHERE id = 3"))

    migrate.upgrade(empty)

    with empty.writing() as db:
        callers = [api_keys.caller(db, token) for token in tokens]
        assert [one and (one.id, one.rights) for one in callers] == [(1, ALL_RIGHTS), (2, ALL_RIGHTS), None]
        assert [key.token for key in api_keys.list_all(db, 1)] == tokens[:1]
        # The rows of this test have ids that PostgreSQL's sequence does not know.
        if empty.is_sqlite:
            assert api_keys.add(db, 1, description="new", description_key="new", token="t", now=Instant(1)).id == 4


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_the_webhook_of_each_user_becomes_the_first_of_several_after_the_upgrade(empty: Database) -> None:
    migrate.upgrade(empty, "0071")
    fill(empty)
    kept = '{"url":"https://hooks.example/","secret":"abc"}'
    names = "enabled, changed_at, last_error, last_error_form"
    with empty.writing() as db:
        db.run(text("UPDATE integrations SET name = 'webhook', enabled = :on"), on=True)
        db.run(text("UPDATE integrations SET name = 'linkding' WHERE user_id = 2"))
        db.run(text("UPDATE integrations SET settings = :kept WHERE user_id = 3"), kept=kept)
        db.run(text("UPDATE feeds SET parsing_error_count = 2, failed_checks = 1 WHERE id = 1"))
        db.run(text("UPDATE feeds SET parsing_error_count = 0, failed_checks = 1 WHERE id = 2"))
        db.run(text("UPDATE feeds SET parsing_error_count = 2, failed_checks = 0 WHERE id = 3"))
        before = db.tuples(text(f"SELECT {names} FROM integrations WHERE user_id IN (1, 3) ORDER BY user_id"))

    migrate.upgrade(empty)

    with empty.reading() as db:
        hooks = webhooks.list_all(db, 1) + webhooks.list_all(db, 2) + webhooks.list_all(db, 3)
        assert [(one.user_id, one.name, one.is_main) for one in hooks] == [(1, "Webhook", True), (3, "Webhook", True)]
        assert db.tuples(text(f"SELECT {names} FROM webhooks ORDER BY user_id")) == before
        assert (hooks[1].own.url, hooks[1].own.secret) == ("https://hooks.example/", "abc")
        assert WebhookFields.of(hooks[1]) == WebhookFields(name="Webhook")
        assert db.scalars(text("SELECT name FROM integrations ORDER BY user_id")) == ["linkding"]
        failing = db.scalars(select(feeds.c.id).where(feeds.c.is_failing).order_by(feeds.c.id))
        assert failing == [1]


def test_every_version_in_the_changelog_names_a_schema_that_is_upgraded() -> None:
    page = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(
        r"^## (\d+\.\d+\.\d+) – (\d{4}-\d\d-\d\d)\n+Database schema: (\d{4})\.$", page, flags=re.MULTILINE
    )

    assert [version for version, _, _ in released] == re.findall(r"^## (\d\S*)", page, flags=re.MULTILINE)
    assert released
    assert released[0][0] == __version__
    assert {schema for _, _, schema in released} <= set(REVISIONS)
