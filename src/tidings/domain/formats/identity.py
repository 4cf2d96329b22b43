"""Entry hashes, by which an entry is recognized at the next poll.

Compatible with Miniflux, so that a moved database keeps its state: SHA-256 of the publisher's id, else of the link,
else of the entry's text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256

from msgspec import Struct


class EntryIdentity(Struct, frozen=True):
    """id, link, date: as the publisher wrote them. text: title and content.

    url: the resolved link, which distinguishes entries that share an id.
    """

    id: str = ""
    link: str = ""
    url: str = ""
    text: str = ""
    date: str = ""

    @property
    def is_empty(self) -> bool:
        """True if nothing distinguishes the entry."""
        return not (self.id or self.link or self.text or self.date)


def entry_hashes(identities: Sequence[EntryIdentity]) -> list[str]:
    """Returns one hash per entry, in order. Equal hashes mean a repeated entry; "" means an entry without identity.

    If entries share an id, the first keeps its hash and the hashes of the others include their URL. If entries have
    neither id nor link and the same text, the hashes of the later ones include their date. If entries without an id
    share a link (often the home page), each hash includes the entry's text.
    """
    links = Counter([each.link for each in identities if not each.id])
    seen: set[str] = set()
    found = []
    for each in identities:
        key = _key(each, links, seen)
        found.append(sha256(key.encode("utf-8", "replace")).hexdigest() if key else "")
    return found


def _key(identity: EntryIdentity, links: Mapping[str, int], seen: set[str]) -> str:
    """Returns the text to hash.

    links: number of entries without an id, per link. seen: ids and texts of the entries before.
    """
    if not identity.id and identity.link:
        return f"{identity.link}|{identity.text}" if links[identity.link] > 1 else identity.link
    key = identity.id or identity.text or identity.date or identity.url
    if key not in seen:
        seen.add(key)
        return key
    return f"{key}|{identity.url if identity.id else identity.date}"
