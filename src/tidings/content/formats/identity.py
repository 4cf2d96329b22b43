"""Entry hashes, by which an entry is recognized at the next poll.

SHA-256 of the publisher's id, else of the link, else of the entry's text, as in Miniflux, so that a moved database
keeps its state. Where Miniflux's hash would differ, or where the entry may have been stored under another one, that
hash is among the entry's other hashes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from msgspec import Struct

from tidings.content.cleaning import strip_tracking

_WEB: Final = ("http://", "https://")


class EntryIdentity(Struct, frozen=True):
    """What distinguishes an entry from the others of its feed.

    id, link and date are as the publisher wrote them.
    """

    id: str = ""
    link: str = ""
    url: str = ""
    """The resolved link, which distinguishes entries that share an id."""
    texts: tuple[str, ...] = ()
    """Title and content."""
    date: str = ""

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def is_empty(self) -> bool:
        """True if nothing distinguishes the entry."""
        return not (self.id or self.link or any(self.texts) or self.date)


class EntryHashes(Struct, frozen=True):
    """The hashes that identify an entry."""

    hash: str
    """The preferred hash; "" for an entry without identity."""
    others: tuple[str, ...] = ()
    """Other hashes under which it may be stored, the likeliest first."""


def entry_hashes(identities: Sequence[EntryIdentity]) -> list[EntryHashes]:
    """Return the hashes of each entry, in order. Equal hashes mean a repeated entry.

    An id, and the link of an entry without one, counts without surrounding blanks and tracking parameters; with `http`
    and with `https` it is the same. If entries share an id, the hash of each includes its URL; its text as well if
    they share that too. If entries without an id share a link (often the home page), each hash includes the entry's
    text. If entries have neither id nor link and the same text, the hashes of the later ones include their date.
    """
    ids = [_without_tracking(each.id) for each in identities]
    links = ["" if id_ else _without_tracking(each.link) for id_, each in zip(ids, identities, strict=True)]
    counts = Counter(ids)
    repeated = zip(ids, identities, strict=True) if len(counts) < len(ids) else ()
    different = {(id_, each.url, each.text) for id_, each in repeated if id_ and counts[id_] > 1}
    shared = _Shared(
        ids=Counter(id_ for id_, _, _ in different),
        urls=Counter((id_, url) for id_, url, _ in different),
        links=Counter(links),
    )
    seen: set[str] = set()
    return [
        _hashes_by_id(id_, each, shared)
        if id_
        else _hashes_by_link(link, each, shared)
        if link
        else EntryHashes(_hash(_key_by_text(each, seen)))
        for id_, link, each in zip(ids, links, identities, strict=True)
    ]


def id_hashes(id_: str, link: str) -> list[bytes]:
    """Return the raw hashes under which a feed may have the entry with this id or, without one, this link.

    The first is the one for a new entry.
    """
    (hashes,) = entry_hashes([EntryIdentity(id=id_, link=link, url=link)])
    return [bytes.fromhex(hash_) for hash_ in (hashes.hash, *hashes.others)]


class _Shared(Struct, frozen=True):
    """Numbers of distinct entries with the same id, with the same id and URL, and without an id with the same link."""

    ids: Counter[str]
    urls: Counter[tuple[str, str]]
    links: Counter[str]


def _without_tracking(address: str) -> str:
    address = address.strip()
    has_parameters = address.startswith(_WEB) and ("?" in address or "#" in address)
    return strip_tracking(address) if has_parameters else address


def _hashes_by_id(id_: str, identity: EntryIdentity, shared: _Shared) -> EntryHashes:
    url = identity.url
    keys = [
        [id_, identity.id, identity.id.strip(), _other_scheme(id_)],
        [f"{id_}|{url}", f"{identity.id}|{url}"],
    ]
    if shared.ids[id_] <= 1:
        # Hashing the text of every entry too takes nearly as long as parsing the document.
        return _hashes(keys, 0)
    keys.append([f"{id_}|{url}|{identity.text}"])
    return _hashes(keys, 1 if shared.urls[id_, url] <= 1 else 2)


def _hashes_by_link(link: str, identity: EntryIdentity, shared: _Shared) -> EntryHashes:
    text = identity.text
    keys = [
        [link, identity.link, _other_scheme(link)],
        [f"{link}|{text}", f"{identity.link}|{text}"],
    ]
    return _hashes(keys, 0 if shared.links[link] <= 1 else 1)


def _hashes(keys: Sequence[Sequence[str]], level: int) -> EntryHashes:
    """Return the hash of the first key of a level, and the hashes of all others.

    keys: what identifies the entry, the shortest first. It is stored under a key of another level if it shared less or
    more with other entries of the document then.
    """
    nearest = (keys[level], *reversed(keys[:level]), *keys[level + 1 :])
    key, *others = dict.fromkeys(key for same_length in nearest for key in same_length if key)
    return EntryHashes(_hash(key), tuple(map(_hash, others)))


def _other_scheme(address: str) -> str:
    """Return the address with `http` instead of `https` or the reverse, "" if it has neither."""
    if not address.startswith(_WEB):
        return ""
    scheme, _, rest = address.partition(":")
    return f"{'http' if scheme == 'https' else 'https'}:{rest}"


def _key_by_text(identity: EntryIdentity, seen: set[str]) -> str:
    """Return the text to hash. seen: the texts of the entries before it."""
    key = identity.text or identity.date or identity.url
    if key not in seen:
        seen.add(key)
        return key
    return f"{key}|{identity.date}"


def _hash(key: str) -> str:
    return sha256(key.encode("utf-8", "replace")).hexdigest() if key else ""
