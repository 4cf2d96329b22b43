"""From items that were read one by one to the entries of a feed."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from tidings.domain.feeds import ParsedEntry
from tidings.domain.formats.identity import Identity, are_apart, hashes
from tidings.domain.formats.size import MAX_ENTRIES, MAX_NAME, bounded


class Draft(Struct, frozen=True):
    """An entry whose hash is still missing, because that depends on the other entries."""

    identity: Identity
    entry: ParsedEntry


class Finished(Struct, frozen=True):
    """entries: in document order. skipped: how many items could not be used (None, or nothing to tell them by).
    are_apart: the hash of none depends on another.
    """

    entries: tuple[ParsedEntry, ...]
    skipped: int
    are_apart: bool


def finish(drafts: Iterable[Draft | None]) -> Finished:
    """All that is to be read of them.

    What comes behind `MAX_ENTRIES` items is not looked at.
    An entry that the document repeats stands once; the first one counts, which is the newest in most feeds.
    """
    usable, skipped = [], 0
    for draft in islice(drafts, MAX_ENTRIES):
        if draft is None:
            skipped += 1
        else:
            usable.append(draft)
    entries: dict[str, ParsedEntry] = {}
    identities = [draft.identity for draft in usable]
    for draft, hash_ in zip(usable, hashes(identities), strict=True):
        if not hash_:
            skipped += 1
        elif hash_ not in entries:
            entries[hash_] = bounded(replace(draft.entry, hash=hash_))
    return Finished(tuple(entries.values()), skipped, are_apart(identities))


def unique_sorted(values: Iterable[str]) -> tuple[str, ...]:
    """Trimmed, without empty and repeated ones, in the order of their code points."""
    kept = {value.strip()[:MAX_NAME] for value in values}
    kept.discard("")
    return tuple(sorted(kept)) if len(kept) > 1 else tuple(kept)
