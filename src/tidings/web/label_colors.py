"""The colours of labels, as pages name them."""

from __future__ import annotations

from typing import Final

from tidings.web.language import N_

COLOR_NAMES: Final = {
    "red": N_("Red"),
    "orange": N_("Orange"),
    "yellow": N_("Yellow"),
    "green": N_("Green"),
    "teal": N_("Teal"),
    "blue": N_("Blue"),
    "purple": N_("Purple"),
    "pink": N_("Pink"),
}
