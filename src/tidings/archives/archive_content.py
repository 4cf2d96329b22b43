"""Checks what an archive holds, and leaves out what this version or machine cannot use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from tidings.archives import records, salvage, validation
from tidings.archives.archive_file import ArchiveReader
from tidings.archives.integration_settings import ENABLED, IntegrationKind
from tidings.archives.records import (
    ArchivedBridge,
    ArchivedCategory,
    ArchivedDeletion,
    ArchivedEntry,
    ArchivedFeed,
    ArchivedLabel,
    ArchivedListSetting,
    ArchivedNewsletter,
    ArchivedNewsletterAddress,
    ArchivedOpmlSubscription,
    ArchivedReadAfter,
    ArchivedRule,
    ArchivedView,
    ArchivedWebhook,
)
from tidings.archives.salvage import Note
from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.base.text import normalize_for_search
from tidings.domain.entries.labels import validate_name
from tidings.domain.feeds.categories import validate_title
from tidings.services.accounts.users import known_zones

R = TypeVar("R", bound=Struct)
_KINDS: Final[dict[str, type[Struct]]] = {
    records.CATEGORIES: ArchivedCategory,
    records.FEEDS: ArchivedFeed,
    records.LABELS: ArchivedLabel,
    records.VIEWS: ArchivedView,
    records.RULES: ArchivedRule,
    records.WEBHOOKS: ArchivedWebhook,
    records.NEWSLETTERS: ArchivedNewsletter,
    records.NEWSLETTER_ADDRESSES: ArchivedNewsletterAddress,
    records.LIVE_OPML: ArchivedOpmlSubscription,
    records.READ_AFTER: ArchivedReadAfter,
    records.BRIDGES: ArchivedBridge,
    records.LIST_SETTINGS: ArchivedListSetting,
    records.ENTRIES: ArchivedEntry,
}
# Maximum number of characters of a name in a report.
_MAX_NAME_CHARS: Final = 200


class ArchiveContent:
    """What an archive holds, without what this version cannot use.

    settings: columns of the user. feeds: feeds by number, with the columns to store. problems: what cannot be used.
    """

    def __init__(self, archive: ArchiveReader, kinds: Mapping[str, IntegrationKind], *, is_ours: bool) -> None:
        """Open the content.

        kinds: the integrations of this version.
        is_ours: written by Tidings, perhaps a newer version; otherwise `ArchiveBuilder` reported what it left out.
        """
        self._archive = archive
        self._kinds = kinds
        self._is_ours = is_ours
        self.problems: list[str] = []
        self.settings: dict[str, Any] = {}
        self.integrations: dict[str, dict[str, Any]] = {}
        self.feeds: dict[int, tuple[ArchivedFeed, dict[str, Any]]] = {}
        # Numbers of unusable feeds, and lines of entries that have an unusable part.
        self._unusable_feeds: set[int] = set()
        self._odd_entries: set[int] = set()

    @property
    def entry_count(self) -> int:
        return self._archive.manifest.counts.get(records.ENTRIES, 0)

    def check(self, *, with_entries: bool) -> None:
        """Read all members. Raises InvalidInput if the archive is damaged."""
        noted = salvage.Problems()
        for name in self._archive.unknown_members() if self._is_ours else ():
            noted.note(f"{name[:_MAX_NAME_CHARS]}: this version does not know what it is")
        for name, kind in _KINDS.items() if self._is_ours else ():
            for field in self._archive.unknown_fields(name, kind):
                noted.note(f"{field[:_MAX_NAME_CHARS]} in {name}: this version does not have it")
        self.problems += noted.texts("members and fields")
        noted = salvage.Problems()
        document = self._archive.document(records.SETTINGS)
        self.settings = salvage.settings_of_user(document, known_zones(), noted.note, names_unknown=self._is_ours)
        self.problems += noted.texts("settings")
        self._check_feeds()
        if with_entries:
            self._check_entries()
        _check_lines(self._archive, records.DELETED_ENTRIES, ArchivedDeletion, self._check_deletion)
        if self._has_labels:
            self._check_labels()
        # Each line has to be read; what a view, a rule or a webhook says is checked when it is stored.
        for _ in (
            *self.views(),
            *self.rules(),
            *self.webhooks(),
            *self.newsletters(),
            *self.newsletter_addresses(),
            *self.opml_subscriptions(),
            *self.read_after(),
            *self.bridges(),
            *self.list_settings(),
        ):
            pass
        self._check_integrations()

    def categories(self) -> Iterator[ArchivedCategory]:
        """Yield the usable categories, and the category of feeds without one of these."""
        for category in self._archive.lines(records.CATEGORIES, ArchivedCategory):
            if salvage.is_category(category.title):
                yield category if salvage.is_path(category.path) else replace(category, path=[])
        if any(feed.category == salvage.NO_CATEGORY for feed, _ in self.feeds.values()):
            yield ArchivedCategory(salvage.NO_CATEGORY)

    def labels(self) -> Iterator[ArchivedLabel]:
        """Yield the usable labels of an archive; nothing for an archive from before labels existed."""
        if self._has_labels:
            for label in self._archive.lines(records.LABELS, ArchivedLabel):
                if salvage.is_label(label.name):
                    yield salvage.label(label)

    def views(self) -> Iterator[ArchivedView]:
        """Yield the saved views of an archive; nothing for an archive from before views existed."""
        if records.VIEWS in self._archive.manifest.counts:
            yield from self._archive.lines(records.VIEWS, ArchivedView)

    def rules(self) -> Iterator[ArchivedRule]:
        """Yield the rules of an archive; nothing for an archive from before rules existed."""
        if records.RULES in self._archive.manifest.counts:
            yield from self._archive.lines(records.RULES, ArchivedRule)

    def webhooks(self) -> Iterator[ArchivedWebhook]:
        """Yield the webhooks of an archive; nothing for an archive from before a user could have several."""
        if records.WEBHOOKS in self._archive.manifest.counts:
            yield from self._archive.lines(records.WEBHOOKS, ArchivedWebhook)

    def newsletters(self) -> Iterator[ArchivedNewsletter]:
        """Yield the senders of newsletters; nothing for an archive from before it had them."""
        if records.NEWSLETTERS in self._archive.manifest.counts:
            yield from self._archive.lines(records.NEWSLETTERS, ArchivedNewsletter)

    def newsletter_addresses(self) -> Iterator[ArchivedNewsletterAddress]:
        """Yield the secret addresses for newsletters; nothing for an archive without secrets."""
        if records.NEWSLETTER_ADDRESSES in self._archive.manifest.counts:
            yield from self._archive.lines(records.NEWSLETTER_ADDRESSES, ArchivedNewsletterAddress)

    def opml_subscriptions(self) -> Iterator[ArchivedOpmlSubscription]:
        """Yield the lists that the user follows; nothing for an archive from before it had them."""
        if records.LIVE_OPML in self._archive.manifest.counts:
            yield from self._archive.lines(records.LIVE_OPML, ArchivedOpmlSubscription)

    def read_after(self) -> Iterator[ArchivedReadAfter]:
        """Yield when unread entries become read; nothing for an archive from before it had that."""
        if records.READ_AFTER in self._archive.manifest.counts:
            yield from self._archive.lines(records.READ_AFTER, ArchivedReadAfter)

    def list_settings(self) -> Iterator[ArchivedListSetting]:
        """Yield order and layout of single lists; nothing for an archive from before lists had their own."""
        if records.LIST_SETTINGS in self._archive.manifest.counts:
            yield from self._archive.lines(records.LIST_SETTINGS, ArchivedListSetting)

    def bridges(self) -> Iterator[ArchivedBridge]:
        """Yield the bridges that the user has set up; nothing for an archive without secrets."""
        if records.BRIDGES in self._archive.manifest.counts:
            yield from self._archive.lines(records.BRIDGES, ArchivedBridge)

    def entries(self) -> Iterator[ArchivedEntry]:
        """Yield the usable entries of usable feeds."""
        for number, entry in enumerate(self._archive.lines(records.ENTRIES, ArchivedEntry), 1):
            if entry.feed in self._unusable_feeds:
                continue
            if number not in self._odd_entries:
                yield entry
                continue
            with suppress(InvalidInput):
                yield salvage.entry(entry)[0]

    def deletions(self) -> Iterator[ArchivedDeletion]:
        for deletion in self._archive.lines(records.DELETED_ENTRIES, ArchivedDeletion):
            if deletion.feed not in self._unusable_feeds:
                yield deletion

    @property
    def _has_labels(self) -> bool:
        return records.LABELS in self._archive.manifest.counts

    def _check_feeds(self) -> None:
        noted = salvage.Problems()
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
            for title in feed.further_categories:
                if normalize_for_search(title) not in titles:
                    noted.note(f"category {title[:_MAX_NAME_CHARS]} of feed {feed.feed_url[:_MAX_NAME_CHARS]}: missing")
            kept = salvage.feed(feed, noted.note, names_unknown=self._is_ours)
            if kept is None:
                self._unusable_feeds.add(feed.number)
            else:
                self.feeds[feed.number] = kept

        _check_lines(self._archive, records.CATEGORIES, ArchivedCategory, check_category, noted.note)
        _check_lines(self._archive, records.FEEDS, ArchivedFeed, check_feed, noted.note)
        self.problems += noted.texts("categories, feeds and settings of feeds")

    def _check_entries(self) -> None:
        noted = salvage.Problems()
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
        noted = salvage.Problems()
        for name, members in self._archive.document(records.INTEGRATIONS).items():
            if name not in self._kinds or not isinstance(members, dict):
                noted.note(f"integration {name[:_MAX_NAME_CHARS]}: this version does not know it")
                continue
            known = {ENABLED, *(field.name for field in self._kinds[name].fields)}
            for member in members.keys() - known:
                noted.note(f"{name}.{member[:_MAX_NAME_CHARS]}: this version does not have it")
            self.integrations[name] = {key: value for key, value in members.items() if key in known}
        self.problems += noted.texts("integrations and their settings")

    def _check_labels(self) -> None:
        noted = salvage.Problems()

        def check_label(label: ArchivedLabel) -> None:
            try:
                validate_name(label.name)
            except InvalidInput as error:
                noted.note(f"label {label.name[:_MAX_NAME_CHARS]}: {error.message}")
                return
            if salvage.label(label) != label:
                noted.note(f"label {label.name[:_MAX_NAME_CHARS]}: color {label.color[:_MAX_NAME_CHARS]!r}")

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
    """Report what cannot be used of an entry: a part of it, or all."""
    try:
        for problem in salvage.entry(entry)[1]:
            note(problem)
    except InvalidInput as error:
        note(f"entry {salvage.entry_name(entry)}: {error.message}")


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
