"""Stores the content of an archive in the account of a user.

The whole archive is checked before anything is written: a damaged one changes nothing. Entries are recognised by feed
and hash, so that an import that was interrupted can be repeated, and goes on where it ended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import IO, Any, Final, TypeVar

import msgspec
from msgspec import Struct

from tidings.domain.accounts.users import User
from tidings.domain.archives import records, validation
from tidings.domain.archives.records import ArchivedCategory, ArchivedDeletion, ArchivedEntry, ArchivedFeed
from tidings.domain.cleaning import CleaningPolicy
from tidings.domain.entries.entries import STATUS_BY_NAME, Enclosure, EntryStatus
from tidings.domain.errors import InvalidInput
from tidings.domain.feeds.categories import validate_title
from tidings.domain.integrations.changes import ENABLED
from tidings.domain.messages import msg
from tidings.domain.polling.ingestion import DEFAULT_INSTANCE, InstanceSettings
from tidings.domain.text import normalize_for_search
from tidings.domain.times import Instant, from_datetime
from tidings.services.accounts.users import known_zones
from tidings.services.archives.archive_file import ArchiveReader
from tidings.services.clock import Clock
from tidings.services.deliveries.integrations import Integrations
from tidings.storage.accounts import users
from tidings.storage.archives import archived_rows
from tidings.storage.archives.archived_rows import EntryRow, NewEntry
from tidings.storage.engine import notify
from tidings.storage.engine.database import Database, Write
from tidings.storage.entries import counters, entries
from tidings.storage.feeds import categories, feeds
from tidings.storage.polling import feed_store

BATCH: Final = 500

Progress = Callable[[int, int], None]
R = TypeVar("R", bound=Struct)


class AccountImportReport(Struct):
    """What an import did. problems: what could not be stored, in words."""

    new_feeds: int = 0
    known_feeds: int = 0
    new_entries: int = 0
    known_entries: int = 0
    deleted_entries: int = 0
    problems: list[str] = []


class _Target(Struct, frozen=True):
    """A feed of the user that receives the entries of an archived feed."""

    id: int
    category_id: int


class AccountImport:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        integrations: Integrations,
        *,
        instance: InstanceSettings = DEFAULT_INSTANCE,
    ) -> None:
        self._database = database
        self._clock = clock
        self._integrations = integrations
        self._policy = instance.policy

    def store(self, user: User, file: IO[bytes], progress: Progress) -> AccountImportReport:
        """Add the content of an archive to the user's account. file: seekable.

        Raises InvalidInput, and stores nothing, if the archive is damaged.
        A feed that the user has keeps its settings. An entry that the user has becomes read or starred if it is so in
        the archive. progress: called with the entries stored and their total.
        """
        archive = ArchiveReader(file)
        settings = validation.user_settings(archive.document(records.SETTINGS), known_zones())
        feed_rows = _check(archive)
        report = AccountImportReport()
        with self._database.writing() as db:
            users.change(db, user.id, **settings)
            targets = self._store_feeds(db, user.id, archive, feed_rows, report)
            notify.notify(db, notify.FEEDS)
        user = msgspec.structs.replace(user, **settings)
        total, done = archive.manifest.counts.get(records.ENTRIES, 0), 0
        for batch in _batches(archive.lines(records.ENTRIES, ArchivedEntry)):
            self._store_entries(user, batch, targets, report)
            done += len(batch)
            progress(done, total)
        for deletions in _batches(archive.lines(records.DELETED_ENTRIES, ArchivedDeletion)):
            self._store_deletions(user.id, deletions, targets)
        self._store_integrations(user.id, archive.document(records.INTEGRATIONS), report)
        return report

    def _store_feeds(
        self,
        db: Write,
        user_id: int,
        archive: ArchiveReader,
        rows: dict[int, tuple[ArchivedFeed, dict[str, Any]]],
        report: AccountImportReport,
    ) -> dict[int, _Target]:
        """Add categories and feeds that the user does not have. Returns the feeds by their number in the archive."""
        now = self._clock()
        category_ids = {normalize_for_search(stored.title): stored.id for stored in categories.list_all(db, user_id)}
        for category in archive.lines(records.CATEGORIES, ArchivedCategory):
            key = normalize_for_search(category.title)
            if key not in category_ids:
                category_ids[key] = categories.add(
                    db, user_id, title=category.title, title_key=key, hide_globally=category.hide_globally
                )
        by_url = {feed.feed_url: _Target(feed.id, feed.category_id) for feed in feeds.list_all(db, user_id)}
        new = {
            values["feed_url"]: values
            | {
                "category_id": category_ids[normalize_for_search(feed.category)],
                "created_at": now if feed.created_at is None else from_datetime(feed.created_at),
                "checked_at": now,
                "next_check_at": now,
            }
            for feed, values in rows.values()
            if values["feed_url"] not in by_url
        }
        ids = feeds.add_many(db, user_id, list(new.values())) if new else []
        for id_, (url, values) in zip(ids, new.items(), strict=True):
            by_url[url] = _Target(id_, values["category_id"])
        report.new_feeds, report.known_feeds = len(new), len(rows) - len(new)
        return {number: by_url[values["feed_url"]] for number, (_, values) in rows.items()}

    def _store_entries(
        self, user: User, batch: Sequence[ArchivedEntry], targets: dict[int, _Target], report: AccountImportReport
    ) -> None:
        by_feed: defaultdict[int, dict[bytes, ArchivedEntry]] = defaultdict(dict)
        for entry in batch:
            by_feed[targets[entry.feed].id][bytes.fromhex(entry.hash)] = entry
        new, stored = [], {}
        with self._database.writing() as db:
            locked = set(counters.lock(db, user.id, by_feed))
            known = feed_store.look_up(db, {feed_id: by_feed[feed_id] for feed_id in locked})
            for feed_id in sorted(locked):
                ids, deleted = known[feed_id].ids, known[feed_id].deleted
                for hash_, entry in by_feed[feed_id].items():
                    if hash_ in ids:
                        stored[ids[hash_]] = entry
                    elif hash_ not in deleted:
                        new.append(_row(entry, targets[entry.feed], user, self._policy))
                report.deleted_entries += len(deleted)
            # All feeds at once: entries of an archive alternate between them.
            archived_rows.add_entries(db, user.id, new)
            self._merge_state(db, user.id, stored)
        report.new_entries += len(new)
        report.known_entries += len(stored)

    def _merge_state(self, db: Write, user_id: int, archived: dict[int, ArchivedEntry]) -> None:
        """Mark stored entries read or starred if they are so in the archive; never the reverse."""
        stored = entries.get_many(db, user_id, list(archived)) if archived else []
        now = self._clock()
        read = [
            entry.id
            for entry in stored
            if entry.status == EntryStatus.UNREAD and archived[entry.id].status == EntryStatus.READ.api_name
        ]
        starred = [entry.id for entry in stored if archived[entry.id].starred and not entry.starred]
        if read:
            entries.set_state(db, user_id, read, status=EntryStatus.READ, now=now)
        if starred:
            entries.set_state(db, user_id, starred, starred=True, now=now)

    def _store_deletions(self, user_id: int, batch: Sequence[ArchivedDeletion], targets: dict[int, _Target]) -> None:
        by_feed: defaultdict[int, set[bytes]] = defaultdict(set)
        for deletion in batch:
            by_feed[targets[deletion.feed].id].add(bytes.fromhex(deletion.hash))
        with self._database.writing() as db:
            locked = set(counters.lock(db, user_id, by_feed))
            known = feed_store.look_up(db, {feed_id: by_feed[feed_id] for feed_id in locked})
            for feed_id in sorted(locked):
                missing = by_feed[feed_id] - known[feed_id].ids.keys() - known[feed_id].deleted
                archived_rows.add_deleted(db, feed_id, sorted(missing), now=self._clock())

    def _store_integrations(self, user_id: int, archived: dict[str, Any], report: AccountImportReport) -> None:
        """Set up the integrations one by one: one that cannot be set up does not prevent the others."""
        for name, members in archived.items():
            try:
                self._integrations.update(user_id, {name: members})
            except InvalidInput as error:
                report.problems.append(f"{name}: {error.message}")
                off = members | {ENABLED: False} if isinstance(members, dict) else {}
                try:
                    self._integrations.update(user_id, {name: off})
                except InvalidInput:
                    continue


def _check(archive: ArchiveReader) -> dict[int, tuple[ArchivedFeed, dict[str, Any]]]:
    """Read the whole archive. Returns its feeds with the columns to store, by number. Raises InvalidInput."""
    titles: set[str] = set()
    rows: dict[int, tuple[ArchivedFeed, dict[str, Any]]] = {}

    def check_category(category: ArchivedCategory) -> None:
        titles.add(normalize_for_search(validate_title(category.title)))

    def check_feed(feed: ArchivedFeed) -> None:
        if normalize_for_search(feed.category) not in titles:
            raise InvalidInput(msg("there is no category {title}.", title=repr(feed.category[:40])))
        rows[feed.number] = feed, validation.feed_values(feed)

    def check_entry(entry: ArchivedEntry) -> None:
        _check_reference(entry.feed, rows)
        validation.check_entry(entry)

    def check_deletion(deletion: ArchivedDeletion) -> None:
        _check_reference(deletion.feed, rows)
        validation.check_hash(deletion.hash)

    _check_lines(archive, records.CATEGORIES, ArchivedCategory, check_category)
    _check_lines(archive, records.FEEDS, ArchivedFeed, check_feed)
    _check_lines(archive, records.ENTRIES, ArchivedEntry, check_entry)
    _check_lines(archive, records.DELETED_ENTRIES, ArchivedDeletion, check_deletion)
    archive.document(records.INTEGRATIONS)
    return rows


def _check_lines(archive: ArchiveReader, name: str, kind: type[R], check: Callable[[R], None]) -> None:
    """Check each record of a member. Raises InvalidInput, which names the member and the line."""
    for number, record in enumerate(archive.lines(name, kind), 1):
        try:
            check(record)
        except InvalidInput as error:
            raise InvalidInput(
                msg(
                    "Line {line} of {name} in this archive cannot be used: {error}",
                    line=number, name=name, error=error.message,
                )
            ) from error  # fmt: skip


def _check_reference(number: int, feeds_by_number: Collection[int]) -> None:
    if number not in feeds_by_number:
        raise InvalidInput(msg("there is no feed with the number {number}.", number=number))


def _row(archived: ArchivedEntry, target: _Target, user: User, policy: CleaningPolicy) -> NewEntry:
    entry = validation.cleaned(archived, user, policy)
    published_at = from_datetime(entry.published_at)
    row = EntryRow(
        id=0,
        user_id=user.id,
        feed_id=target.id,
        category_id=target.category_id,
        status=int(STATUS_BY_NAME[entry.status]),
        starred=entry.starred,
        published_at=published_at,
        created_at=_instant(entry.created_at, published_at),
        changed_at=_instant(entry.changed_at, published_at),
        hash=bytes.fromhex(entry.hash),
        fingerprint=bytes.fromhex(entry.fingerprint),
        edited=entry.edited & 3,
        reading_time=entry.reading_time,
        title=entry.title,
        url=entry.url,
        author=entry.author,
        comments_url=entry.comments_url,
        language=entry.language,
        share_code=entry.share_code,
        tags=msgspec.json.encode(entry.tags).decode(),
    )
    attached = [
        Enclosure(0, user.id, 0, enclosure.url, enclosure.mime_type, enclosure.size, enclosure.media_progression)
        for enclosure in entry.enclosures
    ]
    return NewEntry(row, entry.content, entry.tags, attached)


def _instant(moment: datetime | None, default: Instant) -> Instant:
    return default if moment is None else from_datetime(moment)


def _batches(lines: Iterable[R]) -> Iterator[list[R]]:
    remaining = iter(lines)
    while batch := list(islice(remaining, BATCH)):
        yield batch
