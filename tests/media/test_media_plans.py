"""The queue and what comes after an episode are found through indexes, however many recordings there are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from storage.test_plans import explained
from support import archive as archives
from support import distributed
from support.archive import Archive
from support.databases import Databases
from tidings.engine.database import Database
from tidings.media import store

pytestmark = pytest.mark.slow

# A quarter of the entries is an episode; the first user has most of them.
SHARES = (12_000, 10_000, 8_000)
FILL = """
INSERT INTO enclosures (user_id, entry_id, url, mime_type, size, media_progression)
    SELECT user_id, id, 'https://example.org/' || id, 'audio/mpeg', 0, 0 FROM entries WHERE id % 4 = 0;
UPDATE enclosures SET queue_position = id WHERE id % 500 = 0;
ANALYZE
"""


@pytest.fixture(scope="module")
def archive(databases: Databases) -> Iterator[Archive]:
    distributed.skip_plans(databases)
    with databases.migrated() as url:
        database = Database(url)
        built = archives.build(database, SHARES)
        with database.writing() as db:
            for statement in FILL.split(";"):
                db.run(text(statement))
        yield built
        database.close()


def test_recordings_are_found_through_indexes(archive: Archive) -> None:
    with archive.database.reading() as db:
        some = text("SELECT id FROM enclosures WHERE user_id = :user ORDER BY id LIMIT 1 OFFSET 2000")
        episode_id = int(db.scalar(some, user=archive.user_id))

    with explained(archive.database) as plans, archive.database.reading() as db:
        assert store.list_all(db, archive.user_id)
        assert store.next_of_feed(db, archive.user_id, episode_id)

    assert [found for plan in plans if (found := plan.complaints())] == []
