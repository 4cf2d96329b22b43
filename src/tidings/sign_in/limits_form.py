"""The fields of limits in forms: empty for the default of the instance."""

from __future__ import annotations

from typing import Final

from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.http.binding import Form
from tidings.sign_in.limits_model import MAX_NUMBER, Limits
from tidings.web.language import N_, _, format_number

LABELS: Final = {
    "max_feeds": N_("Feeds"),
    "max_entries": N_("Entries"),
    "max_megabytes": N_("Megabytes of articles"),
}


class LimitsForm(Form, frozen=True):
    """The limits, as they were typed."""

    max_feeds: str = ""
    max_entries: str = ""
    max_megabytes: str = ""


def limits_of_form(form: LimitsForm) -> Limits:
    """Return the limits of a form. Raises InvalidField."""
    return Limits(**{name: _number(name, getattr(form, name).strip()) for name in LABELS}).validated()


def shown(limits: Limits) -> list[str]:
    """Return the limits that are set, in words."""
    return [
        f"{_(label)}: {limit_in_words(value)}"
        for name, label in LABELS.items()
        if (value := getattr(limits, name)) is not None
    ]


def limit_in_words(value: int) -> str:
    return _("at most %(number)s", number=format_number(value)) if value else _("without limit")


def _number(name: str, text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 11):
        raise InvalidField(name, msg("give a number from {min:,} to {max:,}.", min=0, max=MAX_NUMBER))
    return int(text)
