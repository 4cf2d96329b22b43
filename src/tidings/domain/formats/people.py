"""Who wrote it, in RSS and its extensions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from lxml.etree import _Element

from tidings.domain.formats import text
from tidings.domain.formats.elements import Fields
from tidings.domain.formats.names import Names, Orders


class Heard(Orders, frozen=True):
    """person: what names one, the best first."""

    person: tuple[str, ...] = ("atom:name", "itunes:name", "name", "atom:email", "itunes:email", "email")


# All that `author_of_item` looks for.
PEOPLE: Final = (
    "googleplay:author", "itunes:author", "dc:creator", "atom:author", "author", "dc:author", "media:credit",
    "dc:contributor", "atom:contributor",
)  # fmt: skip


def author_of_item(item: Fields, names: Names) -> str:
    """The item's own author, "" if it names none."""
    return (
        _name(item.text("googleplay:author", "itunes:author", "dc:creator"))
        or joined([person(each, names) for each in item.get("atom:author", ())])
        or _name(item.text("author", "dc:author", "media:credit"))
        or _name(", ".join(item.texts("dc:contributor")))
        or joined([person(each, names) for each in item.get("atom:contributor", ())])
    )


def author_of_channel(channel: Fields, names: Names) -> str:
    """Who stands for the whole feed."""
    owners = (person(owner, names) for owner in channel.get("itunes:owner", ()))
    return (
        _name(channel.text("itunes:author", "googleplay:author"))
        or joined(owners)
        or _name(channel.text("managingeditor", "webmaster", "dc:creator", "author"))
        or joined(person(each, names) for each in channel.get("atom:author", ()))
    )


def person(element: _Element, names: Names) -> str:
    """The name of an Atom person or a podcast's owner, else the mail address, else the text as it stands."""
    if len(element) == 0:
        return _name(element.text or "")
    fields = Fields(element, names)
    return _name(fields.text(*names.heard(Heard).person))


def joined(people: Iterable[str]) -> str:
    """Several names as one line: sorted, each once."""
    names = [name for name in people if name]
    return ", ".join(sorted(set(names))) if len(names) > 1 else "".join(names)


def _name(source: str) -> str:
    return text.from_html(source) if source else ""
