"""The appearance chosen for one device: kept in a cookie, and written on `<html>` so that the page does not reflow."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

import msgspec
from msgspec import Struct

from tidings.domain.accounts.users import User
from tidings.web.language import N_

MIN_SIZE, MAX_SIZE = 15, 22
SIZES = tuple(str(size) for size in range(MIN_SIZE, MAX_SIZE + 1))
# Of the columns of wide windows, in pixels; the same steps are in layout.css and columns.js.
_SIDEBAR_WIDTHS, _LIST_WIDTHS = range(192, 385, 32), range(288, 641, 32)

# By field: the values and their labels. "" follows the account.
CHOICES: dict[str, dict[str, str]] = {
    "theme": {
        "": N_("Same as my account"),
        "light": N_("Light"),
        "dark": N_("Dark"),
        "system": N_("Same as the system"),
        "contrast": N_("High contrast"),
    },
    "font": {"": N_("Same as my account"), "serif": N_("Serif"), "sans": N_("Sans serif")},
    "density": {
        "compact": N_("Compact"),
        "comfortable": N_("Comfortable"),
        "cards": N_("Cards"),
        "magazine": N_("Magazine"),
        "stream": N_("Full text"),
    },
    "columns": {"split": N_("List and article"), "list": N_("List only")},
    "passing": {"": N_("When opened"), "mark": N_("When opened or scrolled past")},
    "measure": {"narrow": N_("Narrow"), "medium": N_("Medium"), "wide": N_("Wide")},
    "size": {size: size for size in SIZES},
    "offline": {"": N_("The last 100 articles"), "none": N_("Nothing")},
    # Chosen by dragging; "" for the usual ones.
    "sidebar_width": {width: width for width in ("", *map(str, _SIDEBAR_WIDTHS))},
    "list_width": {width: width for width in ("", *map(str, _LIST_WIDTHS))},
}


class Device(Struct, frozen=True):
    theme: str = ""
    font: str = ""
    density: str = "comfortable"
    columns: str = "split"
    passing: str = ""
    measure: str = "medium"
    size: str = "18"
    offline: str = ""
    sidebar_width: str = ""
    list_width: str = ""

    @classmethod
    def read(cls, cookie: str) -> Device:
        """Return what the cookie says. Values that are not offered count as not chosen."""
        parameters = dict(parse_qsl(cookie, max_num_fields=50)) if len(cookie) < 500 else {}
        return cls(**{name: parameters[name] for name, known in CHOICES.items() if parameters.get(name, "?") in known})

    def packed(self) -> str:
        return urlencode(msgspec.structs.asdict(self))

    @property
    def is_stream(self) -> bool:
        """Whether lists show whole articles, one after another."""
        return self.density == "stream"

    @property
    def is_split(self) -> bool:
        """Whether list and article stand side by side. Whole articles need the width of both."""
        return self.columns == "split" and not self.is_stream

    def for_user(self, user: User | None) -> Device:
        """Return the appearance with the account's settings where the device has none.

        An article of a stream is read when it has been scrolled past, as others are when they are opened.
        """
        theme, _, font = (user.theme if user else "system_serif").partition("_")
        marks = self.is_stream and user is not None and user.mark_read_on_view
        return msgspec.structs.replace(
            self,
            theme=self.theme or theme,
            font=self.font or ("serif" if font == "serif" else "sans"),
            columns="split" if self.is_split else "list",
            passing="mark" if marks else self.passing,
        )
