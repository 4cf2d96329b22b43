"""Labels that users give to entries, and the rules for their names.

The Google Reader API has one namespace for folders (categories) and labels. Neither can get the name of the other; if
an import makes a category with the name of a label, apps show the category.
"""

from __future__ import annotations

from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.base.text import reject_nul

# Names are indexed, and PostgreSQL limits an index entry to 2,704 bytes; case folding may make a name longer.
MAX_NAME = 200


class Label(Struct, frozen=True):
    id: int
    user_id: int
    name: str


class LabelCounts(Struct, frozen=True):
    """How many entries have a label, without removed ones."""

    entries: int = 0
    unread: int = 0


def validate_name(name: str) -> str:
    """Return the name on one line and without surrounding blanks.

    Raises InvalidInput if it is blank, too long or holds a NUL.
    """
    name = reject_nul(name.replace("\n", " ").strip(), field="name")
    if not name:
        raise InvalidInput(msg("A label needs a name: give a text with at least one visible character."), field="name")
    if len(name) > MAX_NAME:
        raise InvalidInput(msg("This label is too long: {max} characters at most.", max=MAX_NAME), field="name")
    return name
