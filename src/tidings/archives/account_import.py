"""Stores the content of an archive in the account of a user.

The whole archive is checked before anything is written: a damaged archive changes nothing. Entries are recognised by
feed and hash, so that an import that was interrupted can be repeated, and continues where it ended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import IO, Any, TypeVar

import msgspec
from msgspec import Struct

from tidings.archives import records, store
from tidings.archives.archive_content import ArchiveContent
from tidings.archives.archive_file import ArchiveReader
from tidings.archives.archived_bridges import BridgeArchiver, planned_bridges, store_bridges
from tidings.archives.archived_integrations import planned_integrations, store_integrations
from tidings.archives.archived_list_settings import ListSettingArchiver, store_list_settings
from tidings.archives.archived_live_opml import OpmlArchiver, store_lists
from tidings.archives.archived_newsletters import NewsletterArchiver, planned_newsletters, store_newsletters
from tidings.archives.archived_old_unread import ReadAfterArchiver, planned_read_after, store_read_after
from tidings.archives.archived_rules import RuleArchiver, planned_rules, store_rules
from tidings.archives.archived_views import ViewArchiver, store_views
from tidings.archives.archived_webhooks import WebhookArchiver, has_main, planned_webhooks, store_webhooks
from tidings.archives.entry_cleaner import BATCH, ArchivedBatch, EntryCleaner, entry_batches
from tidings.archives.import_runs import AccountImportReport
from tidings.archives.integration_settings import IntegrationArchiver
from tidings.archives.parts import (
    DEFAULT_PARTS,
    MAX_CHANGES,
    PART_OF_FEED_SETTING,
    ArchivePart,
    ImportReview,
    PlannedChange,
    grouped_by_setting,
    shown,
    split_feed_settings,
    split_settings,
)
from tidings.archives.records import ArchivedDeletion, ArchivedEntry, ArchivedLabel
from tidings.archives.store import EntryRow, NewEntry
from tidings.base.text import normalize_for_search
from tidings.base.times import DAY, Instant, from_datetime
from tidings.domain.accounts.user_changes import CHOSEN
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import STATUS_BY_NAME, Enclosure, EntryStatus, chapters_text
from tidings.domain.entries.labels import validate_color, validate_name
from tidings.domain.feeds.feeds import SAVED_PAGES_URL
from tidings.domain.polling.entry_policy import DEFAULT_INSTANCE, InstanceSettings
from tidings.engine import notify
from tidings.engine.database import Database, Write
from tidings.services.clock import Clock
from tidings.services.feeds.categories import ensure_paths
from tidings.services.feeds.feeds import MAX_CATEGORIES
from tidings.services.listeners import FinishedImport, Listeners
from tidings.storage.accounts import users
from tidings.storage.entries import counters, entries, labels, snoozed
from tidings.storage.entries.contents import ContentExtras
from tidings.storage.feeds import categories, feeds, further_categories
from tidings.storage.polling import entry_writes

Progress = Callable[[int, int], None]
R = TypeVar("R", bound=Struct)


class _Target(Struct, frozen=True):
    """A feed of the user that receives the entries of an archived feed."""

    id: int
    category_id: int


class AccountImport:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        integrations: IntegrationArchiver,
        views: ViewArchiver,
        rules: RuleArchiver,
        webhooks: WebhookArchiver,
        newsletters: NewsletterArchiver,
        live_opml: OpmlArchiver,
        old_unread: ReadAfterArchiver,
        bridges: BridgeArchiver,
        list_settings: ListSettingArchiver,
        listeners: Listeners,
        *,
        instance: InstanceSettings = DEFAULT_INSTANCE,
    ) -> None:
        self._database = database
        self._clock = clock
        self._integrations = integrations
        self._views = views
        self._rules = rules
        self._webhooks = webhooks
        self._newsletters = newsletters
        self._live_opml = live_opml
        self._old_unread = old_unread
        self._bridges = bridges
        self._list_settings = list_settings
        self._listeners = listeners
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

        parts: what is applied in addition to feeds and entries; the report names what was left off.
        Raises InvalidInput, and stores nothing, if the archive is damaged.
        A feed that the user has keeps its settings. An entry that the user has becomes read or starred if it is so in
        the archive. progress: called with the entries stored and their total.
        """
        archive = ArchiveReader(file)
        content = ArchiveContent(archive, self._integrations.kinds, is_ours=not is_checked)
        content.check(with_entries=not is_checked)
        current = msgspec.structs.asdict(user)
        settings, left = split_settings(content.settings, current, parts)
        report = AccountImportReport(problems=content.problems, left_off=left)
        with self._database.writing() as db:
            users.change(db, user.id, **settings)
            categories.retitle(db, user.id)
            category_ids = _store_categories(db, user.id, content)
            targets = self._store_feeds(db, user.id, content, category_ids, parts, report)
            _store_labels(db, user.id, content.labels())
            feed_ids = {number: target.id for number, target in targets.items()}
            report.problems += store_views(self._views, db, user.id, content.views())
            report.problems += store_rules(
                self._rules,
                db,
                user.id,
                content.rules(),
                parts,
                feed_ids=feed_ids,
                category_ids=category_ids,
            )
            report.problems += store_newsletters(
                self._newsletters,
                db,
                user.id,
                content.newsletters(),
                content.newsletter_addresses(),
                parts,
                feed_ids=feed_ids,
                category_ids=category_ids,
            )
            places: dict[str, Any] = {"feed_ids": feed_ids, "category_ids": category_ids}
            report.problems += store_lists(self._live_opml, db, user.id, content.opml_subscriptions(), **places)
            report.problems += store_read_after(self._old_unread, db, user.id, content.read_after(), parts, **places)
            label_ids = {normalize_for_search(label.name): label.id for label in labels.list_all(db, user.id)}
            report.problems += store_list_settings(
                self._list_settings, db, user.id, content.list_settings(), label_ids=label_ids, **places
            )
            report.problems += store_bridges(self._bridges, db, user.id, content.bridges(), parts, report.left_off)
            keeps_main = has_main(self._webhooks, db, user.id)
            notify.notify(db, notify.FEEDS)
        user = msgspec.structs.replace(user, **settings)
        self._store_entries(user, content, targets, report, progress)
        for deletions in _batches(content.deletions()):
            self._store_deletions(user.id, deletions, targets)
        store_integrations(self._integrations, user.id, content.integrations, parts, report)
        with self._database.writing() as db:
            store_webhooks(
                self._webhooks,
                db,
                user.id,
                content.webhooks(),
                parts,
                report,
                feed_ids=feed_ids,
                category_ids=category_ids,
                keeps_main=keeps_main,
            )
        return report

    def tell_finished(self, result: FinishedImport) -> None:
        """Tell that an import has ended which does not run in the background."""
        with self._database.writing() as db:
            self._listeners.tell_import_finished(db, result)

    def review(self, user: User, file: IO[bytes]) -> ImportReview:
        """Return what an archive would change, apart from adding feeds and entries. Raises InvalidInput if damaged.

        Entries are not read: `store` checks them.
        """
        archive = ArchiveReader(file)
        content = ArchiveContent(archive, self._integrations.kinds, is_ours=True)
        content.check(with_entries=False)
        with self._database.reading() as db:
            known = {feed.feed_url: feed.id for feed in feeds.list_all(db, user.id)}
            places: dict[str, dict[Any, int]] = {
                "feed_ids": {
                    number: known[url]
                    for number, (_, values) in content.feeds.items()
                    if (url := values["feed_url"]) in known
                },
                "category_ids": {normalize_for_search(one.title): one.id for one in categories.list_all(db, user.id)},
            }
            rules = planned_rules(self._rules, db, user.id, content.rules(), **places)
            hooks = planned_webhooks(self._webhooks, db, user.id, content.webhooks(), **places)
            letters = planned_newsletters(
                self._newsletters, db, user.id, content.newsletters(), content.newsletter_addresses()
            )
            old_unread = planned_read_after(self._old_unread, db, user.id, content.read_after())
            bridges = planned_bridges(self._bridges, db, user.id, content.bridges())
        current = msgspec.structs.asdict(user)
        _, left = split_settings(content.settings, current, ())
        changes = [
            PlannedChange(one.part, one.name, shown(current[one.name]), shown(content.settings[one.name]))
            for one in left
            if one.name not in CHOSEN.values()
        ]
        changes += rules
        changes += planned_integrations(self._integrations, user.id, content.integrations)
        changes += hooks
        changes += letters
        changes += old_unread
        changes += bridges
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
        content: ArchiveContent,
        category_ids: Mapping[str, int],
        parts: Collection[ArchivePart],
        report: AccountImportReport,
    ) -> dict[int, _Target]:
        """Add the feeds that the user does not have. Returns the feeds by their number in the archive.

        category_ids: by case-folded title in the archive.
        """
        now = self._clock()
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
                # It was never checked here.
                "checked_at": now if feed.created_at is None else from_datetime(feed.created_at),
                "next_check_at": now,
            }
            for feed, values in rows.values()
            if values["feed_url"] not in by_url
        }
        self._listeners.ensure_room(db, user_id)
        # The feed of saved pages does not count as one.
        self._listeners.ensure_feeds(db, user_id, len(new.keys() - {SAVED_PAGES_URL}))
        ids = feeds.add_many(db, user_id, list(new.values())) if new else []
        for id_, (url, values) in zip(ids, new.items(), strict=True):
            by_url[url] = _Target(id_, values["category_id"])
        places: dict[int, list[int]] = {}
        for feed, values in rows.values():
            if (url := values["feed_url"]) in new:
                # Those that cannot be used are missing.
                named = (category_ids.get(normalize_for_search(title), 0) for title in feed.further_categories)
                others = dict.fromkeys(one for one in named if one not in (0, by_url[url].category_id))
                places[by_url[url].id] = list(others)[: MAX_CATEGORIES - 1]
        further_categories.set_all(db, user_id, places)
        report.new_feeds, report.known_feeds = len(new), len(rows) - len(new)
        report.left_off += grouped_by_setting(left)
        return {number: by_url[values["feed_url"]] for number, (_, values) in rows.items()}

    def _store_entries(
        self,
        user: User,
        content: ArchiveContent,
        targets: dict[int, _Target],
        report: AccountImportReport,
        progress: Progress,
    ) -> None:
        total, done, left_out = content.entry_count, 0, 0
        policy = msgspec.structs.replace(self._policy, new_tab=user.open_external_links_in_new_tab)
        with EntryCleaner(policy, in_process=total > BATCH) as cleaner:
            for batch in cleaner.each(self._entry_batches(user.id, content, targets)):
                left_out += self._store_batch(user.id, batch, targets, report)
                done += len(batch.known) + len(batch.new)
                progress(done, total)
        if left_out:
            with self._database.reading() as db:
                reason = self._listeners.full(db, [user.id]).get(user.id)
            report.problems.append(
                f"{left_out:,} entries were left out. {reason.message if reason else 'The account was full.'}"
                " Import the archive again when there is room."
            )

    def _entry_batches(
        self, user_id: int, content: ArchiveContent, targets: dict[int, _Target]
    ) -> Iterator[ArchivedBatch]:
        """Yield all entries of an archive, and which of them the user has now."""
        for entries_ in entry_batches(content.entries()):
            by_feed = _by_feed_and_hash(entries_, targets)
            with self._database.reading() as db:
                known = entry_writes.look_up(db, by_feed, [user_id])
            batch = ArchivedBatch([], [])
            for feed_id, by_hash in by_feed.items():
                for hash_, entry in by_hash.items():
                    (batch.known if hash_ in known[feed_id] else batch.new).append(entry)
            yield batch

    def _store_batch(
        self, user_id: int, batch: ArchivedBatch, targets: dict[int, _Target], report: AccountImportReport
    ) -> int:
        """Store entries, and return how many of them the account has no room for."""
        by_feed = _by_feed_and_hash([*batch.known, *batch.new], targets)
        clean = {id(entry) for entry in batch.new}
        new: list[ArchivedEntry] = []
        left_out = 0
        stored: dict[int, ArchivedEntry] = {}
        with self._database.writing() as db:
            room = self._listeners.lock_rooms(db, [user_id], is_exact=True).get(user_id)
            locked = set(counters.lock(db, user_id, by_feed))
            known = entry_writes.look_up(db, {feed_id: by_feed[feed_id] for feed_id in locked}, [user_id])
            for feed_id in sorted(locked):
                ids, deleted = known[feed_id].ids, known[feed_id].deleted
                for hash_, entry in by_feed[feed_id].items():
                    if hash_ in ids:
                        stored[ids[hash_]] = entry
                    elif hash_ in deleted or id(entry) not in clean:  # the entry was deleted since it was looked up
                        report.deleted_entries += 1
                    elif room is not None and not room.take(len(entry.content)):
                        left_out += 1
                    else:
                        new.append(entry)
            # All feeds together: entries of an archive alternate between them.
            rows = [_row(entry, targets[entry.feed], user_id) for entry in new]
            new_ids = store.add_entries(db, user_id, rows)
            self._listeners.tell_imported(db, user_id, sum(len(entry.content) for entry in new))
            self._merge_state(db, user_id, stored)
            archived = stored | dict(zip(new_ids, new, strict=True))
            _add_labels(db, user_id, archived)
            _snooze(db, user_id, archived, self._clock())
        report.new_entries += len(new)
        report.known_entries += len(stored)
        return left_out

    def _merge_state(self, db: Write, user_id: int, archived: dict[int, ArchivedEntry]) -> None:
        """Mark stored entries as read, starred or hidden if they are so in the archive; never the reverse.

        The caller has locked their feeds' counters.
        """
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
        if hidden := [entry.id for entry in stored if archived[entry.id].hidden and not entry.hidden]:
            entries.set_hidden(db, user_id, hidden, hidden=True)

    def _store_deletions(self, user_id: int, batch: Sequence[ArchivedDeletion], targets: dict[int, _Target]) -> None:
        by_feed: defaultdict[int, set[bytes]] = defaultdict(set)
        for deletion in batch:
            by_feed[targets[deletion.feed].id].add(bytes.fromhex(deletion.hash))
        with self._database.writing() as db:
            locked = set(counters.lock(db, user_id, by_feed))
            known = entry_writes.look_up(db, {feed_id: by_feed[feed_id] for feed_id in locked}, [user_id])
            for feed_id in sorted(locked):
                missing = by_feed[feed_id] - known[feed_id].ids.keys() - known[feed_id].deleted
                store.add_deleted(db, user_id, feed_id, sorted(missing), now=self._clock())


def _store_categories(db: Write, user_id: int, content: ArchiveContent) -> dict[str, int]:
    """Add the categories that the user does not have. Returns their ids by case-folded title in the archive."""
    archived = {normalize_for_search(one.title): one for one in content.categories()}
    present = {normalize_for_search(one.title): one.id for one in categories.list_all(db, user_id)}
    # An archive of an earlier version, or of another reader, has titles alone.
    paths = {key: tuple(one.path) or (one.title,) for key, one in archived.items() if one.path or key not in present}
    hidden = {paths[key] for key, one in archived.items() if key in paths and one.hide_globally}
    keeping = {paths[key] for key, one in archived.items() if key in paths and one.keep_duplicates}
    ids = ensure_paths(db, user_id, paths.values(), hidden=hidden, keeping=keeping)
    return present | {key: ids[path] for key, path in paths.items()}


def _by_key(names: Iterable[str]) -> dict[str, str]:
    """Return names of labels by case-folded name; of equal names the first one wins."""
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(normalize_for_search(name), validate_name(name))
    return found


def _store_labels(db: Write, user_id: int, archived: Iterable[ArchivedLabel]) -> None:
    """Add the labels that the user does not have, and put all in the order of the archive if the user has none."""
    labels.lock_all(db, user_id)
    known = labels.list_all(db, user_id)
    by_key: dict[str, ArchivedLabel] = {}
    for label in archived:
        by_key.setdefault(normalize_for_search(label.name), label)
    ids = labels.ensure(db, user_id, {key: validate_name(label.name) for key, label in by_key.items()})
    for key in by_key.keys() - {normalize_for_search(label.name) for label in known}:
        if color := validate_color(by_key[key].color):
            labels.change(db, user_id, ids[key], name=validate_name(by_key[key].name), name_key=key, color=color)
    if all(label.position is None for label in known):
        places = {ids[key]: label.position for key, label in by_key.items() if label.position is not None}
        ordered = [label for label in labels.list_all(db, user_id) if label.id in places]
        labels.set_order(db, user_id, sorted(ordered, key=lambda label: places[label.id]))


def _add_labels(db: Write, user_id: int, archived: dict[int, ArchivedEntry]) -> None:
    """Give entries the labels that they have in the archive; existing labels stay. archived: entries by their id."""
    names = _by_key(name for entry in archived.values() for name in entry.labels)
    if not names:
        return
    entry_ids: defaultdict[str, list[int]] = defaultdict(list)
    for entry_id, entry in archived.items():
        for key in _by_key(entry.labels):
            entry_ids[key].append(entry_id)
    for key, label_id in labels.ensure(db, user_id, names).items():
        labels.attach(db, user_id, [label_id], entry_ids[key])


def _snooze(db: Write, user_id: int, archived: dict[int, ArchivedEntry], now: Instant) -> None:
    """Snooze entries that are so in the archive and read here; what is snoozed already stays so. archived: by id."""
    times = {id_: from_datetime(one.snoozed_until) for id_, one in archived.items() if one.snoozed_until is not None}
    if not times:
        return
    read = [one.id for one in entries.get_many(db, user_id, list(times)) if one.status == EntryStatus.READ]
    known = snoozed.until(db, user_id, read)
    latest = Instant(now + snoozed.MAX_DAYS * DAY)
    snoozed.put(db, user_id, {id_: min(times[id_], latest) for id_ in read if id_ not in known})


def _row(entry: ArchivedEntry, target: _Target, user_id: int) -> NewEntry:
    published_at = from_datetime(entry.published_at)
    row = EntryRow(
        id=0,
        user_id=user_id,
        feed_id=target.id,
        category_id=target.category_id,
        status=int(STATUS_BY_NAME[entry.status]),
        starred=entry.starred,
        hidden=entry.hidden,
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
    """Return entries by the id of their feed and their hash; of equal hashes the last one wins."""
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
