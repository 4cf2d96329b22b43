"""Whatever happens in between, clients have what the lists of the server have.

Three devices sync at random moments, a listener hears events, and an agent reads and changes through its tools.
"""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from sqlalchemy import make_url, select
from starlette.types import Message

from support.databases import Databases
from support.distributed import DistributedDatabases
from support.entry_fixtures import NOW, ready
from support.postgres import create_database, drop_database
from support.random_examples import examples, in_long_run
from sync.device import SMALL, Device
from sync.listener import OF_CHECK, STATE, Listener, members_of
from sync.reading_agent import ReadingAgent
from tidings.api.endpoints.entries import list_entries
from tidings.api.endpoints.feeds import list_feeds
from tidings.api.endpoints.labels import listed
from tidings.api.entry_filters import EntriesQuery
from tidings.api.feed_style import PLAIN
from tidings.api.fields import ALL_FIELDS
from tidings.base.errors import CursorExpired
from tidings.base.times import SECOND, Instant
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EntryStatus
from tidings.duplicates import store as duplicate_store
from tidings.duplicates.store import Found
from tidings.engine.database import Database
from tidings.http.requests import Request
from tidings.live import positions
from tidings.live.services import LiveServices
from tidings.maintenance.store import backup, restore
from tidings.rules import store as rule_store
from tidings.rules.model import Action, ActionType, RuleFields
from tidings.rules.services import RuleServices
from tidings.settings import load
from tidings.storage import migrate
from tidings.storage.accounts import change_log, users
from tidings.storage.entries import counters, entries, folded, tombstones
from tidings.storage.entries.tombstones import DeletedEntry
from tidings.storage.feeds import categories, feeds
from tidings.storage.polling import entry_writes
from tidings.storage.schema import entries as entry_table
from tidings.sync.endpoints import SyncQuery, sync
from tidings.sync.services import SyncServices
from tidings.sync.sync import KEPT, remove_old
from tidings.views.services import ViewServices
from tidings.wiring.services import AllServices, build_services

pytestmark = pytest.mark.slow


async def _no_body() -> Message:
    return {"type": "http.disconnect"}


# Only for the link to a next page.
REQUEST = Request({"type": "http", "path": "/v1/entries", "query_string": b"", "headers": []}, _no_body)
PICK = st.integers(min_value=0, max_value=2**16)
# Names that differ, since most have to be unique.
_OF_CHECKS = ("checked_at", "next_check_at", "etag_header", "last_modified_header")
_NOT_SYNCED = ("feed", "labels", "duplicates", "duplicate_of")


class House:
    """A database with its services, of which there can be a copy that takes its place later."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        self._numbers = iter(range(1, 10**9))
        self._name = make_url(url).database or ""
        self._server = url.replace(f"/{self._name}?", "/postgres?")
        self.open()

    def open(self) -> None:
        self.database = Database(self.url)
        self.services: AllServices = build_services(self.database, load({"DATA_DIR": str(self.folder)}))

    def close(self) -> None:
        self.services.of(LiveServices).hub.close()
        self.database.close()

    def name(self) -> str:
        return f"name-{next(self._numbers)}"

    def copy(self) -> str:
        """Return the name of a copy as it is now. A copy of a database is much faster than `tidings backup`."""
        name = f"{self._name}-{next(self._numbers)}"
        self._copy(self._name, name)
        return name

    def replace(self, name: str) -> None:
        """Let a copy take the place of what there is."""
        self.close()
        if not self.database.is_sqlite:
            drop_database(self._server, self._name)
        self._copy(name, self._name)

    def remove(self, name: str) -> None:
        if not self.database.is_sqlite:
            drop_database(self._server, name)

    def _copy(self, source: str, target: str) -> None:
        self.close()
        if self.database.is_sqlite:
            # The last connection has written the log into the file.
            shutil.copyfile(source, target)
        else:
            create_database(self._server, target, source)
        self.open()


class Model(RuleBasedStateMachine):
    house: House

    @initialize()
    def begin(self) -> None:
        self.copy = ""
        self.user_id = self.house.services.accounts.users.create(self.house.name(), "correct horse").id
        self.devices = [Device(partial(self.ask, limit=limit)) for limit in (1, 7, 500)]
        self.agent = ReadingAgent()
        # Most rules need something to begin with.
        for number in range(2):
            self.add_feed(number)
            self.entries_arrive(number, 5)
            self.labels_change(0, 0)
        self.listener = Listener(partial(self.ask, limit=500), self.list_for_listeners, self.user_id)

    # The server

    @property
    def services(self) -> AllServices:
        return self.house.services

    @property
    def user(self) -> User:
        with self.services.reading() as db:
            found = users.get(db, self.user_id)
        assert found is not None
        return found

    def ask(self, cursor: str, limit: int) -> dict[str, Any] | None:
        try:
            query = SyncQuery(cursor=cursor, limit=limit)
            found = sync(self.user, self.services.of(SyncServices), PLAIN, ALL_FIELDS, query)
        except CursorExpired:
            return None
        answer: dict[str, Any] = json.loads(bytes(found.body))
        assert len(answer["feeds"]) + len(answer["entries"]) <= limit
        return answer

    def truth(self) -> dict[str, Any]:
        user = self.user
        found = list_entries(user, self.services, PLAIN, ALL_FIELDS, REQUEST, EntriesQuery(limit=1000))
        shown = json.loads(bytes(found.body))["entries"]
        with self.services.reading() as db:
            small = {
                "categories": [{"id": one.id, "title": one.title} for one in categories.list_all(db, user.id)],
                "labels": [{"id": one.id, "title": one.title, "position": one.position} for one in listed(db, user.id)],
            }
        of_views = self.services.of(ViewServices).views.list_all(user.id)
        return {
            **small,
            "views": [{"id": one.id, "name": one.name, "position": one.position} for one in of_views],
            "rules": self.rule_ids(),
            "feeds": {
                feed["id"]: {name: value for name, value in feed.items() if name not in _OF_CHECKS}
                for feed in json.loads(msgspec.json.encode(list_feeds(user, self.services, PLAIN, ALL_FIELDS)))
            },
            "entries": {
                entry["id"]: {
                    **{name: value for name, value in entry.items() if name not in _NOT_SYNCED},
                    "label_ids": sorted(label["id"] for label in entry["labels"]),
                }
                for entry in shown
            },
            "settings": (user.username, user.duplicates_in_apps, user.entries_per_page),
        }

    def list_for_listeners(self, name: str) -> Any:
        """Return one of the lists that an event names, or the numbers of unread and read entries by feed."""
        if name == "counters":
            with self.services.reading() as db:
                return {one.feed_id: (one.unread, one.read) for one in folded.counters_for_apps(db, self.user)}
        return self.truth()[name]

    def rule_ids(self) -> list[int]:
        with self.services.reading() as db:
            return [one.id for one in rule_store.list_all(db, self.user_id)]

    def has(self, device: Device) -> dict[str, Any]:
        small = {kind: device.small[kind] for kind in SMALL}
        return {
            "categories": [{name: one[name] for name in ("id", "title")} for one in small["categories"]],
            "labels": [{name: one[name] for name in ("id", "title", "position")} for one in small["labels"]],
            "views": [{name: one[name] for name in ("id", "name", "position")} for one in small["views"]],
            "rules": [one["id"] for one in small["rules"]],
            "feeds": {
                id_: {name: value for name, value in feed.items() if name not in _OF_CHECKS}
                for id_, feed in device.feeds.items()
            },
            "entries": device.entries,
            "settings": tuple(device.settings[name] for name in ("username", "duplicates_in_apps", "entries_per_page")),
        }

    def entry_ids(self, pick: int, most: int = 3) -> list[int]:
        """Return a few entries, folded and removed ones among them."""
        with self.services.reading() as db:
            of_user = select(entry_table.c.id).where(entry_table.c.user_id == self.user_id).order_by(entry_table.c.id)
            ids = db.scalars(of_user)
        return [ids[(pick + step * 7) % len(ids)] for step in range(most)] if ids else []

    def stored_ids(self, *statuses: EntryStatus) -> set[int]:
        with self.services.reading() as db:
            of_user = select(entry_table.c.id).where(entry_table.c.user_id == self.user_id)
            return set(db.scalars(of_user.where(entry_table.c.status.in_(list(map(int, statuses))))))

    def feed_ids(self) -> list[int]:
        with self.services.reading() as db:
            return sorted(feed.id for feed in feeds.list_all(db, self.user_id))

    def category_ids(self) -> list[int]:
        with self.services.reading() as db:
            return sorted(one.id for one in categories.list_all(db, self.user_id))

    # Devices

    @rule(pick=PICK)
    def a_device_reads_a_page(self, pick: int) -> None:
        self.devices[pick % 3].read_page()

    @rule(pick=PICK)
    def a_device_syncs(self, pick: int) -> None:
        device = self.devices[pick % 3]
        device.sync()
        assert self.has(device) == self.truth()
        received, cursor = device.received, device.cursor
        device.sync()
        assert (device.received, device.cursor) == (received, cursor), "nothing is repeated"

    # A client of live events

    @rule()
    def a_listener_hears_what_happened(self) -> None:
        with self.services.reading() as db:
            last = change_log.last_point(db, self.user_id)
        assert last is not None
        self.listener.hear(self.services.of(LiveServices).hub, positions.encode(last, self.user_id))
        truth = self.truth()
        assert self.listener.entries == {id_: members_of(entry, STATE) for id_, entry in truth["entries"].items()}
        assert self.listener.feeds == {id_: members_of(feed, OF_CHECK) for id_, feed in truth["feeds"].items()}
        assert self.listener.counts == self.list_for_listeners("counters")
        assert self.listener.lists == {name: truth[name] for name in (*SMALL, "settings")}

    @rule()
    def the_connection_of_the_listener_is_lost(self) -> None:
        self.listener.leave()

    # An agent

    @rule(limit=st.sampled_from([1, 3, 50]))
    def an_agent_reads_what_is_unread_since(self, limit: int) -> None:
        listed = self.agent.read_unread(self.services, self.user, limit)
        unread, known = self.stored_ids(EntryStatus.UNREAD), self.stored_ids(*EntryStatus)
        assert len(set(listed)) == len(listed), "nothing is repeated"
        assert not set(listed) & self.agent.seen, "nothing is repeated"
        assert set(listed) <= unread
        assert unread - self.agent.known <= set(listed), "nothing is missed"
        self.agent.seen |= set(listed)
        self.agent.known = known

    @rule(limit=st.sampled_from([7, 50]))
    def an_agent_lists_everything(self, limit: int) -> None:
        use = partial(self.agent.use, self.services, self.user)
        with self.services.reading() as db:
            shown = entries.get_many(db, self.user_id, sorted(self.stored_ids(EntryStatus.UNREAD, EntryStatus.READ)))
            unread = {one.feed_id: one.unread for one in counters.list_all(db, self.user_id)}
        found = self.agent.search(self.services, self.user, limit)
        assert sorted((int(one["id"]), one["status"], one["starred"]) for one in found) == [
            (one.id, EntryStatus(one.status).api_name, bool(one.starred)) for one in shown
        ]
        assert {int(one["id"]): one["unread"] for one in use("list_feeds")["feeds"]} == unread
        truth = self.truth()
        for kind, of_truth in (("categories", "title"), ("labels", "title"), ("views", "name")):
            listed = {int(one["id"]) for one in use(f"list_{kind}")[kind]}
            assert listed == {one["id"] for one in truth[kind]}, of_truth

    @rule(pick=PICK, what=st.integers(0, 3), value=st.booleans())
    def an_agent_changes_entries(self, pick: int, what: int, value: bool) -> None:
        use = partial(self.agent.use, self.services, self.user)
        shown = sorted(self.stored_ids(EntryStatus.UNREAD, EntryStatus.READ))
        ids = [str(shown[(pick + step * 7) % len(shown)]) for step in range(3)] if shown else []
        known = [str(label["id"]) for label in self.truth()["labels"]]
        if what == 0 and ids:
            use("mark_entries", entry_ids=ids, status="read" if value else "unread")
        elif what == 1 and ids:
            use("star_entries", entry_ids=ids, starred=value)
        elif what == 2 and ids and known:
            use("label_entries", entry_ids=ids, **{"add" if value else "remove": known[pick % len(known) :][:1]})
        elif what == 3:
            feed = {"feed_id": str(self.feed_ids()[0])}
            told = use("mark_all_read", **feed)
            if told["count"]:
                use("mark_all_read", **feed, confirmation=told["confirmation"])

    # Pollers

    @rule(pick=PICK, count=st.integers(1, 9))
    def entries_arrive(self, pick: int, count: int) -> None:
        if not (ids := self.feed_ids()):
            return
        feed_id = ids[pick % len(ids)]
        with self.house.database.writing() as db:
            counters.lock(db, self.user_id, [feed_id])
            feed = feeds.get(db, self.user_id, feed_id)
            assert feed is not None
            new = [ready(self.house.name(), "<p>Text.</p>", tags=("a", "b")) for _ in range(count)]
            entry_writes.add(db, self.user_id, feed_id, feed.category_id, new, now=NOW)

    @rule(pick=PICK)
    def the_publisher_changes_entries(self, pick: int) -> None:
        changed = {id_: ready(self.house.name(), "<p>Changed.</p>") for id_ in self.entry_ids(pick, 2)}
        with self.house.database.writing() as db:
            counters.lock_all(db, self.user_id)
            entry_writes.change(db, self.user_id, changed, now=Instant(NOW + SECOND))

    @rule(pick=PICK)
    def the_publisher_identifies_entries_otherwise(self, pick: int) -> None:
        for feed_id in self.feed_ids()[pick % 3 :][:1]:
            with self.house.database.writing() as db:
                counters.lock(db, self.user_id, [feed_id])
                known = [one.id for one in entry_writes.stored(db, self.user_id, feed_id)][:2]
                names = {id_: self.house.name().encode().ljust(32) for id_ in known}
                entry_writes.rename(db, self.user_id, feed_id, names)

    @rule(pick=PICK)
    def a_check_fails(self, pick: int) -> None:
        if not (ids := self.feed_ids()):
            return
        with self.house.database.writing() as db:
            feed = feeds.get(db, self.user_id, ids[pick % len(ids)])
            assert feed is not None
            count = feed.parsing_error_count + pick % 2
            columns = {"checked_at": Instant(NOW + pick), "parsing_error_count": count}
            entry_writes.record(db, [(feed, columns)])

    # The user

    @rule(pick=PICK, status=st.sampled_from(["READ", "UNREAD", "REMOVED", None]), starred=st.booleans())
    def entries_are_marked(self, pick: int, status: str | None, starred: bool) -> None:
        ids = self.entry_ids(pick)
        if ids:
            chosen = EntryStatus[status] if status else None
            self.services.entries.changes.update(self.user, ids, status=chosen, starred=starred)

    @rule()
    def everything_is_marked_read(self) -> None:
        self.services.accounts.users.mark_read(self.user_id)

    @rule(pick=PICK)
    def an_entry_is_edited(self, pick: int) -> None:
        shown = list(self.truth()["entries"].values())
        if shown:
            entry = shown[pick % len(shown)]
            self.services.entries.changes.edit(self.user, entry["id"], title=self.house.name())
            if pick % 2:
                self.services.entries.public_links.create(self.user_id, entry["id"])

    @rule(pick=PICK, labels=st.integers(0, 2))
    def labels_change(self, pick: int, labels: int) -> None:
        with self.services.reading() as db:
            known = [one.id for one in listed(db, self.user_id)]
        change = self.services.entries.labels
        if labels == 0 or not known:
            change.create(self.user_id, self.house.name())
        elif labels == 1:
            change.update(self.user_id, known[pick % len(known)], name=self.house.name())
        else:
            change.delete(self.user_id, known[pick % len(known)])

    @rule(pick=PICK, gives=st.booleans())
    def entries_are_labelled(self, pick: int, gives: bool) -> None:
        with self.services.reading() as db:
            known = [one.id for one in listed(db, self.user_id)]
        ids = self.entry_ids(pick)
        if known and ids:
            chosen = {known[pick % len(known)]}
            add, remove = (chosen, set()) if gives else (set(), chosen)
            self.services.entries.labels.update_entries(self.user, ids, add=add, remove=remove)

    @rule(pick=PICK)
    def add_feed(self, pick: int) -> None:
        ids = self.category_ids()
        name = self.house.name()
        with self.house.database.writing() as db:
            feeds.add(
                db,
                self.user_id,
                category_id=ids[pick % len(ids)],
                feed_url=f"https://example.org/{name}",
                title=name,
                created_at=NOW,
                checked_at=NOW,
                next_check_at=NOW,
            )

    @rule(pick=PICK)
    def a_feed_changes(self, pick: int) -> None:
        if ids := self.feed_ids():
            others = self.category_ids()
            fields = {"title": self.house.name(), "category_id": others[pick % len(others)]}
            self.services.feeds.subscriptions.update(self.user_id, ids[pick % len(ids)], fields)

    @rule(pick=PICK)
    def a_feed_is_deleted(self, pick: int) -> None:
        if len(ids := self.feed_ids()) > 1:
            self.services.feeds.subscriptions.delete(self.user_id, ids[pick % len(ids)])

    @rule(pick=PICK, what=st.integers(0, 2))
    def categories_change(self, pick: int, what: int) -> None:
        ids = self.category_ids()
        if what == 0:
            self.services.feeds.categories.create(self.user_id, self.house.name(), parent_id=ids[pick % len(ids)])
        elif what == 1:
            self.services.feeds.categories.update(self.user_id, ids[pick % len(ids)], title=self.house.name())
        elif len(ids) > 1:
            self.services.feeds.categories.delete(self.user_id, ids[pick % len(ids)])

    @rule(pick=PICK, what=st.integers(0, 2))
    def views_change(self, pick: int, what: int) -> None:
        views = self.services.of(ViewServices).views
        known = [view.id for view in views.list_all(self.user_id)]
        if what == 0 or not known:
            views.create(self.user_id, {"name": self.house.name(), "query": "rain"})
        elif what == 1:
            views.update(self.user_id, known[pick % len(known)], {"position": 1, "name": self.house.name()})
        else:
            views.delete(self.user_id, known[pick % len(known)])

    @rule(pick=PICK, what=st.integers(0, 1))
    def rules_change(self, pick: int, what: int) -> None:
        rules = self.services.of(RuleServices).rules
        known = self.rule_ids()
        if what == 0 or not known:
            rules.create(self.user_id, RuleFields(query="rain", actions=(Action(ActionType.STAR),)))
        else:
            rules.delete(self.user_id, known[pick % len(known)])

    @rule(count=st.integers(1, 999), shown=st.sampled_from(["hide", "read", "all"]))
    def settings_change(self, count: int, shown: str) -> None:
        with self.house.database.writing() as db:
            users.change(
                db, self.user_id, entries_per_page=count, duplicates="fold", duplicates_in_apps=shown, timezone="UTC"
            )

    @rule(pick=PICK)
    def an_entry_is_folded(self, pick: int) -> None:
        ids = sorted(set(self.entry_ids(pick, 2)))
        with self.house.database.writing() as db:
            counters.lock_all(db, self.user_id)
            found = entries.get_many(db, self.user_id, ids)
            if len(found) < 2 or {one.status for one in found} - {0, 1} or found[0].feed_id == found[1].feed_id:
                return
            original, copy = found
            delta = counters.CounterDelta()
            delta.add(self.user_id, copy.feed_id, copy.status, starred=copy.starred, times=-1)
            pair = Found(copy.id, copy.feed_id, original.id, copy.status, original.status)
            duplicate_store.add(db, self.user_id, [pair], compared=True, now=NOW)
            duplicate_store.set_status(db, self.user_id, {copy.id: EntryStatus.FOLDED})
            delta.write(db)

    # The operator

    @rule(pick=PICK, hidden=st.booleans())
    def a_rule_hides_entries(self, pick: int, hidden: bool) -> None:
        with self.house.database.writing() as db:
            ids = [one.id for one in entries.get_many(db, self.user_id, self.entry_ids(pick)) if one.status < 2]
            if ids:
                entries.set_hidden(db, self.user_id, ids, hidden=hidden)

    @rule(pick=PICK)
    def an_old_entry_is_cleaned_up(self, pick: int) -> None:
        with self.house.database.writing() as db:
            counters.lock_all(db, self.user_id)
            ids = self.entry_ids(pick, 1)
            found = [one for one in entries.get_many(db, self.user_id, ids) if not one.starred and one.status < 2]
            deleted = [DeletedEntry(one.id, one.feed_id, one.status) for one in found]
            tombstones.add(db, self.user_id, deleted, now=NOW)

    @rule()
    def old_changes_are_forgotten(self) -> None:
        later = Instant(self.services.clock() + 2 * int(KEPT.total_seconds()) * SECOND)
        with self.house.database.writing() as db:
            remove_old(db, later, 10**6)

    @precondition(lambda self: not self.copy)
    @rule()
    def a_backup_is_written(self) -> None:
        self.listener.leave()
        self.copy = self.house.copy()

    @precondition(lambda self: self.copy)
    @rule(pick=PICK)
    def a_backup_is_restored(self, pick: int) -> None:
        """Sometimes with `tidings restore`, which lets all clients begin again, and sometimes without."""
        if pick % 3:
            return
        self.listener.leave()
        self.house.replace(self.copy)
        # Ids of entries are given again: agents ask from a time on.
        self.agent = ReadingAgent()
        self.house.remove(self.copy)
        self.copy = ""
        if pick % 2:
            with self.house.database.writing() as db:
                change_log.restart_all(db)

    def teardown(self) -> None:
        if not hasattr(self, "listener"):
            return
        try:
            for device in self.devices:
                device.sync()
                assert self.has(device) == self.truth()
            self.a_listener_hears_what_happened()
            self.an_agent_reads_what_is_unread_since(50)
            self.an_agent_lists_everything(50)
        finally:
            self.listener.leave()
        if self.copy:
            self.house.remove(self.copy)


def test_devices_have_what_the_server_has(databases: Databases, tmp_path: Path) -> None:
    if isinstance(databases, DistributedDatabases):
        pytest.skip("copies of a database are made on one server")
    with databases.empty() as url:
        house = House(url, tmp_path)
        try:
            migrate.upgrade(house.database)
            run_state_machine_as_test(
                type("OfHouse", (Model,), {"house": house}),
                settings=settings(
                    max_examples=examples(4),
                    stateful_step_count=in_long_run(100, otherwise=40),
                    deadline=None,
                    database=None,
                    derandomize=True,
                    suppress_health_check=list(HealthCheck),
                ),
            )
        finally:
            house.close()


def test_all_clients_begin_again_after_a_backup_was_restored(databases: Databases, tmp_path: Path) -> None:
    def sync_with(house: House, cursor: str) -> dict[str, Any]:
        with house.services.reading() as db:
            caller = users.get(db, user_id)
        assert caller is not None
        found = sync(caller, house.services.of(SyncServices), PLAIN, ALL_FIELDS, SyncQuery(cursor=cursor))
        answer: dict[str, Any] = json.loads(bytes(found.body))
        return answer

    # Nothing else may be connected to a database that is restored.
    with databases.empty() as url:
        house = House(url, tmp_path)
        migrate.upgrade(house.database)
        user_id = house.services.accounts.users.create("alice", "correct horse").id
        before = sync_with(house, "")["next_cursor"]
        path = tmp_path / "backup.db"
        backup.copy_to(house.database, path, _ignore)
        house.services.feeds.categories.create(user_id, "Lost")
        after = sync_with(house, before)["next_cursor"]
        house.database.close()

        restore.restore(house.database, path, overwrite=True, folder=tmp_path, progress=_ignore)
        house.database.close()
        house.open()

        for cursor in (before, after):
            with pytest.raises(CursorExpired):
                sync_with(house, cursor)
        house.services.feeds.categories.create(user_id, "Other")
        with pytest.raises(CursorExpired):
            sync_with(house, after)
        known = sync_with(house, "")
        assert [one["title"] for one in known["categories"]] == ["All", "Other"]
        assert sync_with(house, known["next_cursor"])["categories"] is None
        house.database.close()


def _ignore(_done: int, _total: int) -> None:
    pass
