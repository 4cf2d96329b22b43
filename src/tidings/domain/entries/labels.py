"""Labels that users give to entries, and the rules for their names and colours.

The Google Reader API has one namespace for folders (categories) and labels. Neither can get the name of the other; if
an import makes a category with the name of a label, apps show the category.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.base.text import reject_nul, sort_key

# Names are indexed, and PostgreSQL limits an index entry to 2,704 bytes; case folding may make a name longer.
MAX_NAME = 200

# Names of colours; a page shows each in a tone that its theme makes readable.
COLORS = ("red", "orange", "yellow", "green", "teal", "blue", "purple", "pink")


class Label(Struct, frozen=True):
    """A name that a user gives to entries."""

    id: int
    user_id: int
    name: str
    color: str = ""
    """One of COLORS, or "" for none."""
    position: int | None = None
    """None if the user has not ordered the labels since it was created: then it is behind the others, by name."""

    @property
    def order(self) -> tuple[bool, int, str, str]:
        """The key by which labels are sorted everywhere."""
        return self.position is None, self.position or 0, sort_key(self.name), self.name


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


def validate_color(color: str) -> str:
    """Return the colour in lower case, "" for none. Raises InvalidInput if it is not one of COLORS."""
    color = color.strip().lower()
    if color and color not in COLORS:
        text = msg("{color} is not one of the colours {colors}.", color=repr(color[:40]), colors=", ".join(COLORS))
        raise InvalidInput(text, field="color")
    return color


def suggested_color(labels: Iterable[Label]) -> str:
    """Return the colour for a new label: the first of COLORS that the fewest labels have."""
    uses = Counter(label.color for label in labels)
    return min(COLORS, key=lambda color: uses[color])


def validate_position(position: int) -> int:
    """Return the position. Raises InvalidInput if it is below 1."""
    if position < 1:
        raise InvalidInput(msg("The first position is 1."), field="position")
    return position
