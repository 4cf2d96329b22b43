"""The appearance chosen for one device: kept in a cookie, and written on `<html>` so that the page does not reflow."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

import msgspec
from msgspec import Struct

from tidings.domain.accounts.users import User
from tidings.web.language import N_

MIN_SIZE, MAX_SIZE = 15, 22
SIZES = tuple(str(size) for size in range(MIN_SIZE, MAX_SIZE + 1))

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
    "density": {"compact": N_("Compact"), "comfortable": N_("Comfortable"), "cards": N_("Cards")},
    "columns": {"split": N_("List and article"), "list": N_("List only")},
    "passing": {"": N_("When opened"), "mark": N_("When opened or scrolled past")},
    "measure": {"narrow": N_("Narrow"), "medium": N_("Medium"), "wide": N_("Wide")},
    "size": {size: size for size in SIZES},
    "offline": {"": N_("The last 100 articles"), "none": N_("Nothing")},
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

    @classmethod
    def read(cls, cookie: str) -> Device:
        """Return what the cookie says. Values that are not offered count as not chosen."""
        parameters = dict(parse_qsl(cookie, max_num_fields=50)) if len(cookie) < 500 else {}
        return cls(**{name: parameters[name] for name, known in CHOICES.items() if parameters.get(name, "?") in known})

    def packed(self) -> str:
        return urlencode(msgspec.structs.asdict(self))

    def for_user(self, user: User | None) -> Device:
        """Return the appearance with the account's settings where the device has none."""
        theme, _, font = (user.theme if user else "system_serif").partition("_")
        return msgspec.structs.replace(
            self, theme=self.theme or theme, font=self.font or ("serif" if font == "serif" else "sans")
        )
