"""Stores the content of an archive in the account of a user.

The whole archive is checked before anything is written: a damaged one changes nothing. Entries are recognised by feed
and hash, so that an import that was interrupted can be repeated, and goes on where it ended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import IO, Any, Final, TypeVar

import msgspec
from msgspec import Struct

from tidings.domain.accounts.user_changes import CHOSEN
from tidings.domain.accounts.users import User
from tidings.domain.archives import records, usable, validation
from tidings.domain.archives.import_runs import AccountImportReport
from tidings.domain.archives.parts import (
    DEFAULT_PARTS,
    MAX_CHANGES,
    PART_OF_FEED_SETTING,
    ArchivePart,
    ImportReview,
    LeftOff,
    PlannedChange,
    grouped_by_setting,
    shown,
    split_feed_settings,
    split_settings,
)
from tidings.domain.archives.records import (
    ArchivedCategory,
    ArchivedDeletion,
    ArchivedEntry,
    ArchivedFeed,
    ArchivedLabel,
)
from tidings.domain.archives.usable import Note
from tidings.domain.entries.chapters import chapters_text
from tidings.domain.entries.entries import STATUS_BY_NAME, Enclosure, EntryStatus
from tidings.domain.entries.labels import validate_name
from tidings.domain.errors import InvalidInput
from tidings.domain.feeds.categories import validate_title
from tidings.domain.integrations import REGISTRY
from tidings.domain.integrations.changes import ENABLED
from tidings.domain.integrations.fields import FieldKind
from tidings.domain.messages import msg
from tidings.domain.polling.ingestion import DEFAULT_INSTANCE, InstanceSettings
from tidings.domain.text import normalize_for_search
from tidings.domain.times import Instant, from_datetime
from tidings.services.accounts.users import known_zones
from tidings.services.archives.archive_file import ArchiveReader
from tidings.services.archives.entry_cleaner import BATCH, ArchivedBatch, EntryCleaner, entry_batches
from tidings.services.clock import Clock
from tidings.services.deliveries.integrations import Integrations
from tidings.storage.accounts import users
from tidings.storage.archives import archived_rows
from tidings.storage.archives.archived_rows import EntryRow, NewEntry
from tidings.storage.engine import notify
from tidings.storage.engine.database import Database, Write
from tidings.storage.entries import counters, entries, labels
from tidings.storage.entries.contents import ContentExtras
from tidings.storage.feeds import categories, feeds
from tidings.storage.polling import feed_store

Progress = Callable[[int, int], None]
R = TypeVar("R", bound=Struct)
_KINDS: Final[dict[str, type[Struct]]] = {
    records.CATEGORIES: ArchivedCategory,
    records.FEEDS: ArchivedFeed,
    records.LABELS: ArchivedLabel,
    records.ENTRIES: ArchivedEntry,
}
# Characters of a name in a report.
_MAX_NAME_CHARS: Final = 200


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

    def store(
        self,
        user: User,
        file: IO[bytes],
        progress: Progress,
        *,
        parts: Collection[ArchivePart] = DEFAULT_PARTS,
        is_checked: bool = False,
    ) -> AccountImportReport:
        """Add the content of an archive to the user's account. file: seekable. is_checked: `ArchiveBuilder` wrote it.

        parts: what is applied besides feeds and entries; the report names what was left off.
        Raises InvalidInput, and stores nothing, if the archive is damaged.
        A feed that the user has keeps its settings. An entry that the user has becomes read or starred if it is so in
        the archive. progress: called with the entries stored and their total.
        """
        archive = ArchiveReader(file)
        content = _Content(archive, is_ours=not is_checked)
        content.check(with_entries=not is_checked)
        current = msgspec.structs.asdict(user)
        settings, left = split_settings(content.settings, current, parts)
        report = AccountImportReport(problems=content.problems, left_off=left)
        with self._database.writing() as db:
            users.change(db, user.id, **settings)
            targets = self._store_feeds(db, user.id, content, parts, report)
            labels.ensure(db, user.id, _by_key(label.name for label in content.labels()))
            notify.notify(db, notify.FEEDS)
        user = msgspec.structs.replace(user, **settings)
        self._store_entries(user, content, targets, report, progress)
        for deletions in _batches(content.deletions()):
            self._store_deletions(user.id, deletions, targets)
        self._store_integrations(user.id, content.integrations, parts, report)
        return report

    def review(self, user: User, file: IO[bytes]) -> ImportReview:
        """Returns what an archive would change besides adding feeds and entries. Raises InvalidInput if it is damaged.

        Entries are not read: `store` checks them.
        """
        archive = ArchiveReader(file)
        content = _Content(archive, is_ours=True)
        content.check(with_entries=False)
        with self._database.reading() as db:
            known = {feed.feed_url for feed in feeds.list_all(db, user.id)}
        current = msgspec.structs.asdict(user)
        _, left = split_settings(content.settings, current, ())
        changes = [
            PlannedChange(one.part, one.name, shown(current[one.name]), shown(content.settings[one.name]))
            for one in left
            if one.name not in CHOSEN.values()
        ]
        changes += self._planned_integrations(user.id, content.integrations)
        for _, values in content.feeds.values():
            if (url := values["feed_url"]) not in known:
                changes += [
                    PlannedChange(PART_OF_FEED_SETTING[name], name, after=shown(values[name]), feed=url)
                    for name in split_feed_settings(values, ())[1]
                ]
        return ImportReview(
            application=archive.manifest.application[:200],
            username=archive.manifest.username[:200],
            feeds=len(content.feeds),
            entries=archive.manifest.counts.get(records.ENTRIES, 0),
            changes=changes[:MAX_CHANGES],
            more_changes=max(0, len(changes) - MAX_CHANGES),
            problems=content.problems,
        )

    def _store_feeds(
        self,
        db: Write,
        user_id: int,
        content: _Content,
        parts: Collection[ArchivePart],
        report: AccountImportReport,
    ) -> dict[int, _Target]:
        """Add categories and feeds that the user does not have. Returns the feeds by their number in the archive."""
        now = self._clock()
        category_ids = {normalize_for_search(stored.title): stored.id for stored in categories.list_all(db, user_id)}
        for category in content.categories():
            key = normalize_for_search(category.title)
            if key not in category_ids:
                category_ids[key] = categories.add(
                    db, user_id, title=category.title, title_key=key, hide_globally=category.hide_globally
                )
        by_url = {feed.feed_url: _Target(feed.id, feed.category_id) for feed in feeds.list_all(db, user_id)}
        left: list[tuple[str, str]] = []

        def applied(values: dict[str, Any]) -> dict[str, Any]:
            kept, names = split_feed_settings(values, parts)
            left.extend((values["feed_url"], name) for name in names)
            return kept

        rows = content.feeds
        new = {
            values["feed_url"]: applied(values)
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
        report.left_off += grouped_by_setting(left)
        return {number: by_url[values["feed_url"]] for number, (_, values) in rows.items()}

    def _store_entries(
        self,
        user: User,
        content: _Content,
        targets: dict[int, _Target],
        report: AccountImportReport,
        progress: Progress,
    ) -> None:
        total, done = content.entry_count, 0
        policy = msgspec.structs.replace(self._policy, new_tab=user.open_external_links_in_new_tab)
        with EntryCleaner(policy, in_process=total > BATCH) as cleaner:
            for batch in cleaner.each(self._entry_batches(content, targets)):
                self._store_batch(user.id, batch, targets, report)
                done += len(batch.known) + len(batch.new)
                progress(done, total)

    def _entry_batches(self, content: _Content, targets: dict[int, _Target]) -> Iterator[ArchivedBatch]:
        """Yields all entries of an archive, and which of them the user has now."""
        for entries_ in entry_batches(content.entries()):
            by_feed = _by_feed_and_hash(entries_, targets)
            with self._database.reading() as db:
                known = feed_store.look_up(db, by_feed)
            batch = ArchivedBatch([], [])
            for feed_id, by_hash in by_feed.items():
                for hash_, entry in by_hash.items():
                    (batch.known if hash_ in known[feed_id] else batch.new).append(entry)
            yield batch

    def _store_batch(
        self, user_id: int, batch: ArchivedBatch, targets: dict[int, _Target], report: AccountImportReport
    ) -> None:
        by_feed = _by_feed_and_hash([*batch.known, *batch.new], targets)
        clean = {id(entry) for entry in batch.new}
        new: list[ArchivedEntry] = []
        stored: dict[int, ArchivedEntry] = {}
        with self._database.writing() as db:
            locked = set(counters.lock(db, user_id, by_feed))
            known = feed_store.look_up(db, {feed_id: by_feed[feed_id] for feed_id in locked})
            for feed_id in sorted(locked):
                ids, deleted = known[feed_id].ids, known[feed_id].deleted
                for hash_, entry in by_feed[feed_id].items():
                    if hash_ in ids:
                        stored[ids[hash_]] = entry
                    elif hash_ in deleted or id(entry) not in clean:  # the latter was deleted since it was looked up
                        report.deleted_entries += 1
                    else:
                        new.append(entry)
            # All feeds at once: entries of an archive alternate between them.
            rows = [_row(entry, targets[entry.feed], user_id) for entry in new]
            new_ids = archived_rows.add_entries(db, user_id, rows)
            self._merge_state(db, user_id, stored)
            _add_labels(db, user_id, stored | dict(zip(new_ids, new, strict=True)))
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

    def _store_integrations(
        self,
        user_id: int,
        archived: dict[str, dict[str, Any]],
        parts: Collection[ArchivePart],
        report: AccountImportReport,
    ) -> None:
        """Set up the integrations one by one: one that cannot be set up does not prevent the others.

        Unless they were asked for, new ones are switched off, and those that the user has set up stay as they are:
        another address would receive what the user saves.
        """
        stored = self._integrations.for_archive(user_id, with_secrets=True)
        for name, members in archived.items():
            if ArchivePart.INTEGRATIONS in parts:
                self._set_up(user_id, name, members, report)
                continue
            if name not in stored:
                self._set_up(user_id, name, members | {ENABLED: False}, report)
            if _is_changed(members, stored.get(name)):
                report.left_off.append(LeftOff(ArchivePart.INTEGRATIONS, name))

    def _set_up(self, user_id: int, name: str, members: dict[str, Any], report: AccountImportReport) -> None:
        """Store an integration without members that cannot be used. One that cannot work without them is off."""
        while True:
            try:
                self._integrations.update(user_id, {name: members})
            except InvalidInput as error:
                report.problems.append(f"{name}: {error.message}")
                member = error.field.partition(".")[2]
                if member in members and member != ENABLED:
                    members = {key: value for key, value in members.items() if key != member}
                elif members.get(ENABLED):
                    members = members | {ENABLED: False}
                else:
                    return
            else:
                return

    def _planned_integrations(self, user_id: int, archived: dict[str, dict[str, Any]]) -> list[PlannedChange]:
        stored = self._integrations.for_archive(user_id, with_secrets=True)
        return [
            PlannedChange(
                ArchivePart.INTEGRATIONS, name, _address(name, stored.get(name)), shown(_address(name, members))
            )
            for name, members in archived.items()
            if _is_changed(members, stored.get(name))
        ]


def _is_changed(members: dict[str, Any], stored: dict[str, Any] | None) -> bool:
    """Returns whether applying an integration of an archive would change more than storing it switched off."""
    if stored is None:
        return members.get(ENABLED) is True
    return any(value is not None and stored.get(name) != value for name, value in members.items() if name in stored)


def _address(name: str, members: dict[str, Any] | None) -> str:
    """Returns where an integration sends, "" for a service with one address and for an address that is a secret."""
    fields = (field.name for field in REGISTRY[name].fields if field.kind is FieldKind.ADDRESS and not field.is_secret)
    value = (members or {}).get(next(fields, ""), "")
    return value if isinstance(value, str) else ""


class _Content:
    """What an archive holds, without what this version cannot use.

    settings: columns of the user. feeds: with the columns to store, by number. problems: what cannot be used.
    """

    def __init__(self, archive: ArchiveReader, *, is_ours: bool) -> None:
        """is_ours: written by a Tidings, perhaps a newer one; otherwise `ArchiveBuilder` told what it left out."""
        self._archive = archive
        self._is_ours = is_ours
        self.problems: list[str] = []
        self.settings: dict[str, Any] = {}
        self.integrations: dict[str, dict[str, Any]] = {}
        self.feeds: dict[int, tuple[ArchivedFeed, dict[str, Any]]] = {}
        # Numbers of the feeds that cannot be used, and lines of entries of which something cannot be used.
        self._unusable_feeds: set[int] = set()
        self._odd_entries: set[int] = set()

    @property
    def entry_count(self) -> int:
        return self._archive.manifest.counts.get(records.ENTRIES, 0)

    def check(self, *, with_entries: bool) -> None:
        """Read all members. Raises InvalidInput if the archive is damaged."""
        noted = usable.Problems()
        for name in self._archive.unknown_members() if self._is_ours else ():
            noted.note(f"{name[:_MAX_NAME_CHARS]}: this version does not know what it is")
        for name, kind in _KINDS.items() if self._is_ours else ():
            for field in self._archive.unknown_fields(name, kind):
                noted.note(f"{field[:_MAX_NAME_CHARS]} in {name}: this version does not have it")
        self.problems += noted.texts("members and fields")
        noted = usable.Problems()
        document = self._archive.document(records.SETTINGS)
        self.settings = usable.settings_of_user(document, known_zones(), noted.note, names_unknown=self._is_ours)
        self.problems += noted.texts("settings")
        self._check_feeds()
        if with_entries:
            self._check_entries()
        _check_lines(self._archive, records.DELETED_ENTRIES, ArchivedDeletion, self._check_deletion)
        if self._has_labels:
            self._check_labels()
        self._check_integrations()

    def categories(self) -> Iterator[ArchivedCategory]:
        """Yields the usable categories, and the one of feeds that have none of these."""
        for category in self._archive.lines(records.CATEGORIES, ArchivedCategory):
            if usable.is_category(category.title):
                yield category
        if any(feed.category == usable.NO_CATEGORY for feed, _ in self.feeds.values()):
            yield ArchivedCategory(usable.NO_CATEGORY)

    def labels(self) -> Iterator[ArchivedLabel]:
        """Yields the usable labels of an archive; none of one that is older than they are."""
        if self._has_labels:
            for label in self._archive.lines(records.LABELS, ArchivedLabel):
                if usable.is_label(label.name):
                    yield label

    def entries(self) -> Iterator[ArchivedEntry]:
        """Yields the usable entries of usable feeds."""
        for number, entry in enumerate(self._archive.lines(records.ENTRIES, ArchivedEntry), 1):
            if entry.feed in self._unusable_feeds:
                continue
            if number not in self._odd_entries:
                yield entry
                continue
            with suppress(InvalidInput):
                yield usable.entry(entry)[0]

    def deletions(self) -> Iterator[ArchivedDeletion]:
        for deletion in self._archive.lines(records.DELETED_ENTRIES, ArchivedDeletion):
            if deletion.feed not in self._unusable_feeds:
                yield deletion

    @property
    def _has_labels(self) -> bool:
        return records.LABELS in self._archive.manifest.counts

    def _check_feeds(self) -> None:
        noted = usable.Problems()
        titles: set[str] = set()

        def check_category(category: ArchivedCategory) -> None:
            titles.add(normalize_for_search(category.title))
            try:
                validate_title(category.title)
            except InvalidInput as error:
                noted.note(f"category {category.title[:_MAX_NAME_CHARS]}: {error.message}")

        def check_feed(feed: ArchivedFeed) -> None:
            if normalize_for_search(feed.category) not in titles:
                raise InvalidInput(msg("there is no category {title}.", title=repr(feed.category[:40])))
            kept = usable.feed(feed, noted.note, names_unknown=self._is_ours)
            if kept is None:
                self._unusable_feeds.add(feed.number)
            else:
                self.feeds[feed.number] = kept

        _check_lines(self._archive, records.CATEGORIES, ArchivedCategory, check_category, noted.note)
        _check_lines(self._archive, records.FEEDS, ArchivedFeed, check_feed, noted.note)
        self.problems += noted.texts("categories, feeds and settings of feeds")

    def _check_entries(self) -> None:
        noted = usable.Problems()
        of_unusable_feeds = number = 0

        def check_entry(entry: ArchivedEntry) -> None:
            nonlocal of_unusable_feeds, number
            number += 1
            if entry.feed in self._unusable_feeds:
                of_unusable_feeds += 1
                return
            self._check_reference(entry.feed)
            validation.check_hash(entry.hash)
            try:
                validation.check_entry(entry)
            except InvalidInput:
                self._odd_entries.add(number)
                _note_entry(entry, noted.note)

        _check_lines(self._archive, records.ENTRIES, ArchivedEntry, check_entry, noted.note)
        self.problems += noted.texts("entries")
        if of_unusable_feeds:
            self.problems.append(f"{of_unusable_feeds} entries of feeds that cannot be used")

    def _check_integrations(self) -> None:
        """Keep the integrations and members of this version; their values are checked when they are stored."""
        noted = usable.Problems()
        for name, members in self._archive.document(records.INTEGRATIONS).items():
            if name not in REGISTRY or not isinstance(members, dict):
                noted.note(f"integration {name[:_MAX_NAME_CHARS]}: this version does not know it")
                continue
            known = {ENABLED, *(field.name for field in REGISTRY[name].fields)}
            for member in members.keys() - known:
                noted.note(f"{name}.{member[:_MAX_NAME_CHARS]}: this version does not have it")
            self.integrations[name] = {key: value for key, value in members.items() if key in known}
        self.problems += noted.texts("integrations and their settings")

    def _check_labels(self) -> None:
        noted = usable.Problems()

        def check_label(label: ArchivedLabel) -> None:
            try:
                validate_name(label.name)
            except InvalidInput as error:
                noted.note(f"label {label.name[:_MAX_NAME_CHARS]}: {error.message}")

        _check_lines(self._archive, records.LABELS, ArchivedLabel, check_label, noted.note)
        self.problems += noted.texts("labels")

    def _check_deletion(self, deletion: ArchivedDeletion) -> None:
        if deletion.feed not in self._unusable_feeds:
            self._check_reference(deletion.feed)
        validation.check_hash(deletion.hash)

    def _check_reference(self, number: int) -> None:
        if number not in self.feeds:
            raise InvalidInput(msg("there is no feed with the number {number}.", number=number))


def _note_entry(entry: ArchivedEntry, note: Note) -> None:
    """Tell what cannot be used of an entry: a part of it, or all."""
    try:
        for problem in usable.entry(entry)[1]:
            note(problem)
    except InvalidInput as error:
        note(f"entry {usable.entry_name(entry)}: {error.message}")


def _by_key(names: Iterable[str]) -> dict[str, str]:
    """Returns names of labels by case-folded name; of equal ones the first."""
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(normalize_for_search(name), validate_name(name))
    return found


def _add_labels(db: Write, user_id: int, archived: dict[int, ArchivedEntry]) -> None:
    """Give entries the labels that they have in the archive; those they have already stay. archived: by entry id."""
    names = _by_key(name for entry in archived.values() for name in entry.labels)
    if not names:
        return
    entry_ids: defaultdict[str, list[int]] = defaultdict(list)
    for entry_id, entry in archived.items():
        for key in _by_key(entry.labels):
            entry_ids[key].append(entry_id)
    for key, label_id in labels.ensure(db, user_id, names).items():
        labels.attach(db, user_id, [label_id], entry_ids[key])


def _check_lines(
    archive: ArchiveReader, name: str, kind: type[R], check: Callable[[R], None], note: Note | None = None
) -> None:
    """Check each record of a member. Raises InvalidInput, which names the member and the line."""
    for number, record in enumerate(archive.lines(name, kind, note), 1):
        try:
            check(record)
        except InvalidInput as error:
            raise InvalidInput(
                msg(
                    "Line {line} of {name} in this archive cannot be used: {error}",
                    line=number, name=name, error=error.message,
                )
            ) from error  # fmt: skip


def _row(entry: ArchivedEntry, target: _Target, user_id: int) -> NewEntry:
    published_at = from_datetime(entry.published_at)
    row = EntryRow(
        id=0,
        user_id=user_id,
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
        Enclosure(0, user_id, 0, one.url, one.mime_type, one.size, one.media_progression, one.queue_position)
        for one in entry.enclosures
    ]
    extras = ContentExtras(chapters_text(entry.chapters), entry.other_content)
    return NewEntry(row, entry.content, entry.tags, attached, extras)


def _by_feed_and_hash(
    batch: Iterable[ArchivedEntry], targets: dict[int, _Target]
) -> dict[int, dict[bytes, ArchivedEntry]]:
    """Returns entries by the id of their feed and their hash; of equal ones the last."""
    by_feed: defaultdict[int, dict[bytes, ArchivedEntry]] = defaultdict(dict)
    for entry in batch:
        by_feed[targets[entry.feed].id][bytes.fromhex(entry.hash)] = entry
    return by_feed


def _instant(moment: datetime | None, default: Instant) -> Instant:
    return default if moment is None else from_datetime(moment)


def _batches(lines: Iterable[R]) -> Iterator[list[R]]:
    remaining = iter(lines)
    while batch := list(islice(remaining, BATCH)):
        yield batch
