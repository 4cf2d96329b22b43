"""Authors of entries and feeds, in RSS, Atom and their extensions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from lxml.etree import _Element

from tidings.content.formats import text
from tidings.content.xml.elements import ElementFields
from tidings.content.xml.namespaces import NamePriorities, TagNames


class PersonNamePriorities(NamePriorities, frozen=True):
    """The names of the elements that hold a person's name or mail address, the preferred one first."""

    person: tuple[str, ...] = ("atom:name", "itunes:name", "name", "atom:email", "itunes:email", "email")


# All names that `item_author` reads.
AUTHOR_NAMES: Final = (
    "googleplay:author", "itunes:author", "dc:creator", "atom:author", "author", "dc:author", "media:credit",
    "dc:contributor", "atom:contributor",
)  # fmt: skip


def item_author(item: ElementFields, names: TagNames) -> str:
    """Return the author of an item, "" if it names none."""
    return (
        _plain_name(item.text("googleplay:author", "itunes:author"))
        or join_names([_plain_name(creator) for creator in item.texts("dc:creator")])
        or join_names([person_name(each, names) for each in item.get("atom:author", ())])
        or _plain_name(item.text("author", "dc:author", "media:credit"))
        or _plain_name(", ".join(item.texts("dc:contributor")))
        or join_names([person_name(each, names) for each in item.get("atom:contributor", ())])
    )


def channel_author(channel: ElementFields, names: TagNames) -> str:
    """Return the author, owner or editor of the whole feed, "" if it names none."""
    owners = (person_name(owner, names) for owner in channel.get("itunes:owner", ()))
    return (
        _plain_name(channel.text("itunes:author", "googleplay:author"))
        or join_names(owners)
        or _plain_name(channel.text("managingeditor", "webmaster", "dc:creator", "author"))
        or join_names(person_name(each, names) for each in channel.get("atom:author", ()))
    )


def person_name(element: _Element, names: TagNames) -> str:
    """Return the name of an Atom person or podcast owner, else the mail address, else the element's text."""
    if len(element) == 0:
        return _plain_name(element.text or "")
    fields = ElementFields(element, names)
    return _plain_name(fields.text(*names.in_use(PersonNamePriorities).person))


def join_names(people: Iterable[str]) -> str:
    """Return the distinct non-empty names, sorted, joined by ", "."""
    names = [name for name in people if name]
    return ", ".join(sorted(set(names))) if len(names) > 1 else "".join(names)


def _plain_name(source: str) -> str:
    return text.html_to_text(source) if source else ""
