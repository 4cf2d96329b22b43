"""Writes the account of a user into an archive."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import IO, Any, Final, cast

import msgspec

from tidings.archives import records, store
from tidings.archives.archive_file import ArchiveWriter
from tidings.archives.archived_bridges import BridgeArchiver, archived_bridges
from tidings.archives.archived_list_settings import ListSettingArchiver, archived_list_settings
from tidings.archives.archived_live_opml import OpmlArchiver, archived_lists
from tidings.archives.archived_newsletters import NewsletterArchiver, archived_addresses, archived_newsletters
from tidings.archives.archived_old_unread import ReadAfterArchiver, archived_read_after
from tidings.archives.archived_rules import RuleArchiver, archived_rules
from tidings.archives.archived_views import ViewArchiver, archived
from tidings.archives.archived_webhooks import WebhookArchiver, archived_webhooks
from tidings.archives.integration_settings import IntegrationArchiver
from tidings.archives.records import (
    ArchivedCategory,
    ArchivedDeletion,
    ArchivedEnclosure,
    ArchivedEntry,
    ArchivedFeed,
    ArchivedLabel,
    Manifest,
)
from tidings.archives.store import StoredEntry
from tidings.base.times import to_datetime
from tidings.domain.accounts.user_changes import FOREIGN_IDS
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EntryStatus, stored_chapters
from tidings.domain.entries.labels import Label
from tidings.domain.feeds.categories import CategoryTree
from tidings.domain.feeds.feeds import Feed
from tidings.engine.database import Database
from tidings.services.clock import Clock
from tidings.storage.entries import labels
from tidings.storage.feeds import categories, feeds, further_categories

# Identity, rights and sign-ins belong to an account at one service, so they are not exported.
_OF_THIS_SERVICE: Final = frozenset({"id", "username", "is_admin", "last_login_at", *FOREIGN_IDS})
# Progress is reported once for this many entries.
_STEP: Final = 500

# Bytes that are sent in one piece.
_PIECE: Final = 64 * 1024

Progress = Callable[[int, int], None]


class _Pieces(io.RawIOBase):
    """A write-only file whose content is taken out piece by piece. size: bytes not yet taken."""

    def __init__(self) -> None:
        self._written: list[bytes] = []
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self._written.append(bytes(content))
        self.size += len(content)
        return len(content)

    def take(self) -> bytes:
        """Return what was written since the last call."""
        piece = b"".join(self._written)
        self._written, self.size = [], 0
        return piece


def _ignore(_done: int, _total: int) -> None:
    """Ignore the progress: the client sees how much it has received."""


class AccountExport:
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
        *,
        application: str,
    ) -> None:
        """Write `application`, a name and version, to the manifest."""
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
        self._application = application

    def write(self, user: User, file: IO[bytes], *, with_secrets: bool, progress: Progress) -> Manifest:
        """Write an archive of the user's account to a file, which need not be seekable. Returns its manifest.

        with_secrets: write passwords of feeds, secrets of integrations and secret addresses too. progress: called with
        the entries written and their total. Others can write in the meantime; entries that arrive later are not in it.
        """
        with closing(ArchiveWriter(file)) as archive:
            for _ in self._steps(user, archive, with_secrets=with_secrets, progress=progress):
                pass
            manifest = self._manifest(user, archive, with_secrets=with_secrets)
            archive.write_document(records.MANIFEST, manifest)
        return manifest

    def stream(self, user: User) -> Iterator[bytes]:
        """Yield an archive of the user's account, without secrets, in pieces; otherwise like `write`."""
        pieces = _Pieces()
        archive = ArchiveWriter(cast("IO[bytes]", pieces))
        for _ in self._steps(user, archive, with_secrets=False, progress=_ignore):
            if pieces.size >= _PIECE:
                yield pieces.take()
        archive.write_document(records.MANIFEST, self._manifest(user, archive, with_secrets=False))
        archive.close()
        yield pieces.take()

    def _manifest(self, user: User, archive: ArchiveWriter, *, with_secrets: bool) -> Manifest:
        return Manifest(
            format=records.FORMAT,
            version=records.VERSION,
            application=self._application,
            created_at=to_datetime(self._clock()),
            username=user.username,
            has_secrets=with_secrets,
            counts=archive.counts,
        )

    def _steps(self, user: User, archive: ArchiveWriter, *, with_secrets: bool, progress: Progress) -> Iterator[None]:
        """Write all members but the manifest; yields after each line of the long ones."""
        with self._database.reading() as db:
            folders = categories.list_all(db, user.id)
            owned = sorted(feeds.list_all(db, user.id), key=lambda feed: feed.id)
            own_labels = labels.list_all(db, user.id)
            own_views = self._views.list_all(db, user.id)
            further = further_categories.of_user(db, user.id)
            titles = {folder.id: folder.title for folder in folders}
            own_rules = list(archived_rules(self._rules, db, user.id, titles))
            own_webhooks = list(archived_webhooks(self._webhooks, db, user.id, titles))
            senders = list(archived_newsletters(self._newsletters, db, user.id))
            addresses = list(archived_addresses(self._newsletters, db, user.id, titles)) if with_secrets else []
            lists = list(archived_lists(self._live_opml, db, user.id, titles))
            read_after = list(archived_read_after(self._old_unread, db, user.id, titles))
            label_names = {label.id: label.name for label in own_labels}
            list_settings = list(archived_list_settings(self._list_settings, db, user.id, titles, label_names))
            own_bridges = list(archived_bridges(self._bridges, db, user.id)) if with_secrets else []
            total = store.count_entries(db, user.id)
        archive.write_document(records.SETTINGS, _settings(user))
        archive.write_document(records.INTEGRATIONS, self._integrations.for_archive(user.id, with_secrets=with_secrets))
        tree = CategoryTree(folders)
        archive.write_lines(
            records.CATEGORIES,
            (
                ArchivedCategory(
                    folder.title,
                    folder.hide_globally,
                    [one.name for one in tree.line(folder.id)],
                    folder.keep_duplicates,
                )
                for folder in folders
            ),
        )
        # PostgreSQL may have read a category of a feed that was added since the titles were read.
        named = {feed.id: [titles[one] for one in further.get(feed.id, ()) if one in titles] for feed in owned}
        archive.write_lines(
            records.FEEDS,
            (_feed(feed, [titles[feed.category_id], *named[feed.id]], with_secrets=with_secrets) for feed in owned),
        )
        archive.write_lines(records.LABELS, map(_label, enumerate(own_labels, 1)))
        archive.write_lines(records.VIEWS, archived(own_views))
        archive.write_lines(records.RULES, own_rules)
        archive.write_lines(records.WEBHOOKS, own_webhooks)
        archive.write_lines(records.NEWSLETTERS, senders)
        if with_secrets:
            archive.write_lines(records.NEWSLETTER_ADDRESSES, addresses)
        archive.write_lines(records.LIVE_OPML, lists)
        archive.write_lines(records.READ_AFTER, read_after)
        if with_secrets:
            archive.write_lines(records.BRIDGES, own_bridges)
        archive.write_lines(records.LIST_SETTINGS, list_settings)
        known = {feed.id for feed in owned}
        yield from archive.each_line(records.ENTRIES, self._entries(user.id, known, total, progress))
        yield from archive.each_line(records.DELETED_ENTRIES, self._deleted(user.id, sorted(known)))

    def _entries(self, user_id: int, feed_ids: set[int], total: int, progress: Progress) -> Iterator[ArchivedEntry]:
        for number, stored in enumerate(store.each_entry(self._database, user_id), 1):
            if number % _STEP == 0:
                progress(number, max(total, number))
            # An entry of a feed that was added during the export is not part of the archive.
            if stored.row.feed_id in feed_ids:
                yield _entry(stored)
        progress(total, total)

    def _deleted(self, user_id: int, feed_ids: list[int]) -> Iterator[ArchivedDeletion]:
        for feed_id in feed_ids:
            for hash_ in store.each_deleted(self._database, user_id, feed_id):
                yield ArchivedDeletion(feed_id, hash_.hex())


def _settings(user: User) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(user).items() if name not in _OF_THIS_SERVICE}


def _feed(feed: Feed, titles: Sequence[str], *, with_secrets: bool) -> ArchivedFeed:
    """titles: of its categories, the first one first."""
    names = (*records.FEED_SETTINGS, *(records.FEED_SECRETS if with_secrets else ()))
    defaults = {field.name: field.default for field in msgspec.structs.fields(Feed)}
    values = {name: getattr(feed, name) for name in names}
    return ArchivedFeed(
        number=feed.id,
        category=titles[0],
        further_categories=list(titles[1:]),
        feed_url=feed.feed_url,
        site_url=feed.site_url,
        title=feed.title,
        description=feed.description,
        language=feed.language,
        edited=feed.edited,
        created_at=to_datetime(feed.created_at),
        settings={name: value for name, value in values.items() if value != defaults[name]},
    )


def _entry(stored: StoredEntry) -> ArchivedEntry:
    row = stored.row
    return ArchivedEntry(
        feed=row.feed_id,
        hash=row.hash.hex(),
        fingerprint=(row.fingerprint or b"").hex(),
        status=EntryStatus(row.status).api_name,
        starred=row.starred,
        hidden=bool(row.hidden),
        published_at=to_datetime(row.published_at),
        created_at=to_datetime(row.created_at),
        changed_at=to_datetime(row.changed_at),
        snoozed_until=None if stored.snoozed_until is None else to_datetime(stored.snoozed_until),
        title=row.title,
        url=row.url,
        author=row.author,
        comments_url=row.comments_url,
        language=row.language,
        share_code=row.share_code,
        reading_time=row.reading_time,
        edited=row.edited,
        tags=msgspec.json.decode(row.tags),
        labels=stored.labels,
        enclosures=[
            ArchivedEnclosure(one.url, one.mime_type, one.size, one.media_progression, one.queue_position)
            for one in stored.enclosures
        ],
        content=stored.content,
        other_content=stored.extras.other_content,
        chapters=stored_chapters(stored.extras.chapters),
    )


def _label(placed: tuple[int, Label]) -> ArchivedLabel:
    """Return a label with its place in the order of the user, if it has one. placed: labels counted in their order."""
    place, label = placed
    return ArchivedLabel(label.name, label.color, None if label.position is None else place)
