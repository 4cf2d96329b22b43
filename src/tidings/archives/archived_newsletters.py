"""What an archive contains of a user's newsletters, which another slice keeps: senders, and their secret addresses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from tidings.archives.parts import ArchivePart, PlannedChange, shown
from tidings.archives.records import ArchivedNewsletter, ArchivedNewsletterAddress
from tidings.base.errors import InvalidInput
from tidings.base.text import normalize_for_search
from tidings.engine.database import Read, Write

# Name of a sender or an address among the changes of a review.
NEWSLETTER = "newsletter"
# Members that are the same in an archive.
_SAME = ("key", "name", "address")
_SAME_OF_ADDRESS = ("name", "secret", "one_feed")
# Characters of a name in a report.
_MAX_NAME_CHARS = 200


class NewsletterArchiver(Protocol):
    """What archives need of newsletters."""

    def list_senders(self, db: Read, user_id: int) -> Sequence[dict[str, Any]]:
        """Return the senders of a user: key, name, address, feed_id and blocked."""

    def list_addresses(self, db: Read, user_id: int) -> Sequence[dict[str, Any]]:
        """Return the secret addresses of a user: name, secret, one_feed and category_id."""

    def add_sender(self, db: Write, user_id: int, values: Mapping[str, Any]) -> None:
        """Add a sender, with the same members. Raises InvalidInput."""

    def add_address(self, db: Write, user_id: int, values: Mapping[str, Any]) -> None:
        """Add a secret address, with the same members. Raises InvalidInput, also if another account has the secret."""


def archived_newsletters(archiver: NewsletterArchiver, db: Read, user_id: int) -> Iterator[ArchivedNewsletter]:
    """Yield the senders as an archive has them, by name."""
    for sender in archiver.list_senders(db, user_id):
        same = {name: sender[name] for name in _SAME}
        yield ArchivedNewsletter(feed=sender["feed_id"] or 0, blocked=sender["blocked"], **same)


def archived_addresses(
    archiver: NewsletterArchiver, db: Read, user_id: int, category_titles: Mapping[int, str]
) -> Iterator[ArchivedNewsletterAddress]:
    """Yield the secret addresses as an archive with secrets has them. category_titles: by id."""
    for address in archiver.list_addresses(db, user_id):
        category = category_titles.get(address["category_id"] or 0, "")
        same = {name: address[name] for name in _SAME_OF_ADDRESS}
        yield ArchivedNewsletterAddress(category=category, **same)


def store_newsletters(
    archiver: NewsletterArchiver,
    db: Write,
    user_id: int,
    senders: Iterable[ArchivedNewsletter],
    addresses: Iterable[ArchivedNewsletterAddress],
    parts: Collection[ArchivePart],
    *,
    feed_ids: Mapping[int, int],
    category_ids: Mapping[str, int],
) -> list[str]:
    """Add the senders and addresses that the user does not have. Returns what was left out, in words.

    A sender is blocked only if rules were asked for, since its letters are discarded. An address is added only if
    integrations were: whoever has made the archive knows its secret.
    feed_ids: by their number in the archive. category_ids: by case-folded title in the archive.
    """
    notes: list[str] = []
    known = {one["key"] for one in archiver.list_senders(db, user_id)}
    for sender in senders:
        if sender.key in known:
            continue
        is_blocked = sender.blocked and ArchivePart.RULES in parts
        same = {name: getattr(sender, name) for name in _SAME}
        try:
            archiver.add_sender(db, user_id, same | {"feed_id": feed_ids.get(sender.feed), "blocked": is_blocked})
        except InvalidInput as error:
            notes.append(f"newsletter {sender.name[:_MAX_NAME_CHARS]}: {error.message}")
            continue
        known.add(sender.key)
        if sender.blocked and not is_blocked:
            notes.append(f"newsletter {sender.name[:_MAX_NAME_CHARS]}: added, but not blocked")
    secrets = {one["secret"] for one in archiver.list_addresses(db, user_id)}
    for address in addresses:
        if address.secret in secrets:
            continue
        title = f"newsletter address {address.name[:_MAX_NAME_CHARS]}"
        if ArchivePart.INTEGRATIONS not in parts:
            notes.append(f"{title}: left out")
            continue
        category_id = category_ids.get(normalize_for_search(address.category)) if address.category else None
        same = {name: getattr(address, name) for name in _SAME_OF_ADDRESS}
        try:
            archiver.add_address(db, user_id, same | {"category_id": category_id})
        except InvalidInput as error:
            notes.append(f"{title}: {error.message}")
            continue
        secrets.add(address.secret)
    return notes


def planned_newsletters(
    archiver: NewsletterArchiver,
    db: Read,
    user_id: int,
    senders: Iterable[ArchivedNewsletter],
    addresses: Iterable[ArchivedNewsletterAddress],
) -> list[PlannedChange]:
    """Return the senders that are blocked, and the addresses that are added, if their parts are asked for."""
    known = {one["key"] for one in archiver.list_senders(db, user_id)}
    secrets = {one["secret"] for one in archiver.list_addresses(db, user_id)}
    blocked = [one.name or one.address for one in senders if one.blocked and one.key not in known]
    added = [one.name for one in addresses if one.secret not in secrets]
    return [
        *(PlannedChange(ArchivePart.RULES, NEWSLETTER, after=shown(name)) for name in blocked),
        *(PlannedChange(ArchivePart.INTEGRATIONS, NEWSLETTER, after=shown(name)) for name in added),
    ]
