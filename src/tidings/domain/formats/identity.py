"""Entry hashes, by which an entry is recognized at the next poll.

SHA-256 of the publisher's id, else of the link, else of the entry's text, as in Miniflux, so that a moved database
keeps its state. Where Miniflux's hash would differ, or where the entry may have been stored under another one, that
hash is among the entry's other hashes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Final

from msgspec import Struct

from tidings.domain.cleaning import strip_tracking

_WEB: Final = ("http://", "https://")


class EntryIdentity(Struct, frozen=True):
    """id, link, date: as the publisher wrote them. texts: title and content.

    url: the resolved link, which distinguishes entries that share an id.
    """

    id: str = ""
    link: str = ""
    url: str = ""
    texts: tuple[str, ...] = ()
    date: str = ""

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def is_empty(self) -> bool:
        """True if nothing distinguishes the entry."""
        return not (self.id or self.link or any(self.texts) or self.date)


class EntryHashes(Struct, frozen=True):
    """hash: "" for an entry without identity. others: hashes under which it may be stored, likeliest first."""

    hash: str
    others: tuple[str, ...] = ()


def entry_hashes(identities: Sequence[EntryIdentity]) -> list[EntryHashes]:
    """Returns the hashes of each entry, in order. Equal hashes mean a repeated entry.

    An id counts without surrounding blanks and tracking parameters; with `http` and with `https` it is the same. If
    entries share an id, the hash of each includes its URL; its text as well if they share that too. If entries have
    neither id nor link and the same text, the hashes of the later ones include their date. If entries without an id
    share a link (often the home page), each hash includes the entry's text.
    """
    ids = [_canonical_id(each.id) for each in identities]
    counts = Counter(ids)
    repeated = zip(ids, identities, strict=True) if len(counts) < len(ids) else ()
    different = {(id_, each.url, each.text) for id_, each in repeated if id_ and counts[id_] > 1}
    shared = _Shared(
        ids=Counter(id_ for id_, _, _ in different),
        urls=Counter((id_, url) for id_, url, _ in different),
        links=Counter(each.link for each in identities if not each.id),
    )
    seen: set[str] = set()
    return [
        _hashes_by_id(id_, each, shared) if id_ else EntryHashes(_hash(_key_without_id(each, shared.links, seen)))
        for id_, each in zip(ids, identities, strict=True)
    ]


class _Shared(Struct, frozen=True):
    """How many different entries have an id, or an id and URL, if it is not one only; or a link without an id."""

    ids: Counter[str]
    urls: Counter[tuple[str, str]]
    links: Counter[str]


def _canonical_id(id_: str) -> str:
    id_ = id_.strip()
    return strip_tracking(id_) if id_.startswith(_WEB) and ("?" in id_ or "#" in id_) else id_


def _hashes_by_id(id_: str, identity: EntryIdentity, shared: _Shared) -> EntryHashes:
    key, others = id_, [identity.id, identity.id.strip()]
    if shared.ids[id_] > 1:
        key = f"{id_}|{identity.url}"
        others = [f"{identity.id}|{identity.url}", id_, *others]
        if shared.urls[id_, identity.url] > 1:
            key, others = f"{key}|{identity.text}", [key, *others]
    elif id_.startswith(_WEB):
        scheme, _, rest = id_.partition(":")
        others.append(f"{'http' if scheme == 'https' else 'https'}:{rest}")
    return EntryHashes(_hash(key), tuple(_hash(other) for other in dict.fromkeys(others) if other != key))


def _key_without_id(identity: EntryIdentity, links: Mapping[str, int], seen: set[str]) -> str:
    """Returns the text to hash.

    links: number of entries without an id, per link. seen: texts of the entries before.
    """
    if identity.link:
        return f"{identity.link}|{identity.text}" if links[identity.link] > 1 else identity.link
    key = identity.text or identity.date or identity.url
    if key not in seen:
        seen.add(key)
        return key
    return f"{key}|{identity.date}"


def _hash(key: str) -> str:
    return sha256(key.encode("utf-8", "replace")).hexdigest() if key else ""
