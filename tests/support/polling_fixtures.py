"""Many users and their feeds in one database, polled in this process."""

from __future__ import annotations

import asyncio
from pathlib import Path

from sqlalchemy import func, select

from support.people import PASSWORD
from support.running import environment_for
from tidings.domain.accounts.users import User
from tidings.engine.database import Database
from tidings.services.polling.store import CheckResult
from tidings.settings import load
from tidings.storage.feeds import feeds
from tidings.storage.polling import sources
from tidings.storage.schema import entries as entry_table
from tidings.storage.schema import feeds as feed_table
from tidings.storage.schema import sources as source_table
from tidings.wiring.services import AllServices, build_services


class PollingFixture:
    def __init__(self, database: Database, database_url: str, folder: Path, **settings: str) -> None:
        self.database = database
        self.services: AllServices = build_services(
            database, load(environment_for(database_url, folder, **{"polling_limit_per_host": "50"} | settings), None)
        )

    def user(self, name: str) -> User:
        return self.services.accounts.users.create(name, PASSWORD)

    def subscribe(self, user: User, url: str, **values: object) -> int:
        """Add a feed that is due."""
        category = self.services.feeds.categories.create(user.id, f"Category of {url}")
        given = {"created_at": 0, "checked_at": 0, "next_check_at": 0, "icon_checked_at": 4_000_000_000_000_000}
        with self.database.writing() as db:
            return feeds.add(db, user.id, category_id=category.id, feed_url=url, title=url, **given | values)

    def poll(self, worker: str = "worker") -> dict[int, CheckResult]:
        async def check_all() -> dict[int, CheckResult]:
            try:
                claims = await asyncio.to_thread(self.services.polling.claims.claim, worker, 100)
                found = await asyncio.gather(*(self.services.polling.claims.check(one) for one in claims))
                return {feed_id: checked for each in found for feed_id, checked in each.items()}
            finally:
                await self.services.disconnect()

        return asyncio.run(check_all())

    def titles(self, feed_id: int) -> list[str]:
        wanted = select(entry_table.c.title).where(entry_table.c.feed_id == feed_id).order_by(entry_table.c.title)
        with self.database.reading() as db:
            return db.scalars(wanted)

    def due_again(self) -> None:
        with self.database.writing() as db:
            ids = db.scalars(select(feed_table.c.id))
            sources.set_next_check(db, ids, 0)  # type: ignore[arg-type]

    def sources(self) -> int:
        with self.database.reading() as db:
            return int(db.scalar(select(func.count()).select_from(source_table)))
