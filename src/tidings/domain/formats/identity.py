"""What makes an entry the same entry next time: its hash.

The hashes are those other readers of this kind compute, so that a moved database keeps its state:
SHA-256 over the publisher's id, else the link, else what the entry says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256

from msgspec import Struct


class Identity(Struct, frozen=True):
    """id: as the publisher wrote it; link: likewise, before resolving. says: what the entry says. date: as written.

    url: the resolved address, which tells entries with one id apart.
    """

    id: str = ""
    link: str = ""
    url: str = ""
    says: str = ""
    date: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.id or self.link or self.says or self.date)


def hashes(identities: Sequence[Identity]) -> list[str]:
    """One hash per entry, in order; equal ones mean a repeated entry, "" that there is nothing to go by.

    Of several entries with one id, the first keeps its hash and the later ones take in their address; of several
    with neither id nor link that say the same, the later ones take in their date. A link that several entries
    without an id share (often the home page) says little, so that each of them takes in its text.
    """
    links = Counter([each.link for each in identities if not each.id])
    seen: set[str] = set()
    found = []
    for each in identities:
        key = _key(each, links, seen)
        found.append(sha256(key.encode("utf-8", "replace")).hexdigest() if key else "")
    return found


def are_apart(identities: Sequence[Identity]) -> bool:
    """Whether each has an id or a link that no other has: then its hash says nothing but that."""
    own = {each.id or each.link for each in identities}
    return len(own) == len(identities) and "" not in own


def _key(identity: Identity, links: Mapping[str, int], seen: set[str]) -> str:
    """What is hashed. links: how many entries without an id have each. seen: ids and texts of the entries before."""
    if not identity.id and identity.link:
        return f"{identity.link}|{identity.says}" if links[identity.link] > 1 else identity.link
    key = identity.id or identity.says or identity.date or identity.url
    if key not in seen:
        seen.add(key)
        return key
    return f"{key}|{identity.url if identity.id else identity.date}"
